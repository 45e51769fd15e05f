/*
 * winnow.h
 *	  Winnowing: a sample of a text's shingles such that texts that share a
 *	  passage share an element (Schleimer, Wilkerson and Aiken 2003).
 */
#ifndef SIMDUP_CORE_WINNOW_H
#define SIMDUP_CORE_WINNOW_H

#include "core/folded.h"
#include "core/shingle.h"

/* The most shingles of which one is sampled. */
#define SIMDUP_MAX_WINNOW_WINDOW 1024

/*
 * Fill *set, which begins as {0}, with the smallest element of every window of
 * consecutive shingles, ascending. A text with fewer shingles has the smallest of
 * all. Two texts that share shingling.w + window - 1 units in a row
 * share an element. Return false if the text has too many elements.
 */
extern bool simdup_winnow(SimdupFoldedShingling shingling, int window,
						  const char *text, size_t len, SimdupHashes *set);

#endif /* SIMDUP_CORE_WINNOW_H */

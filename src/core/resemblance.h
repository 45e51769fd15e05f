/*
 * resemblance.h
 *	  The resemblance of two texts: the Jaccard coefficient of the sets of their
 *	  folded shingles (Broder 1997).
 */
#ifndef SIMDUP_CORE_RESEMBLANCE_H
#define SIMDUP_CORE_RESEMBLANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/folded.h"
#include "core/shingle.h"

/*
 * Fill *set, which begins as {0}, with the distinct elements of a text in UTF-8,
 * ascending. Return false if the text has too many (see simdup_hashes_add).
 */
extern bool simdup_folded_set(SimdupFoldedShingling shingling, const char *text,
							  size_t len, SimdupHashes *set);

/* Return the resemblance of two ascending sets, one of which is not empty. */
extern double simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b);

/*
 * Return the resemblance of two ascending sets if it is at least
 * min_resemblance, else -1. An empty set resembles nothing. The comparison ends
 * as soon as the elements that are left cannot reach min_resemblance.
 */
extern double simdup_resemblance_from(const SimdupHashes *a,
									  const SimdupHashes *b,
									  double min_resemblance);

#endif /* SIMDUP_CORE_RESEMBLANCE_H */

/*
 * diff.h
 *	  What differs between two texts, by words and characters.
 *
 * A unit is a run of word characters in a script that writes spaces, or any one
 * other character, such as a blank or a Chinese character. Bytes that are not
 * UTF-8 are units, too, so every byte string is valid input.
 */
#ifndef SIMDUP_CORE_COMPARE_DIFF_H
#define SIMDUP_CORE_COMPARE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of both texts, which have at most 2^30: equal ones, or those of a that
 * those of b replace.
 */
typedef struct SimdupDiffPart
{
	bool same;
	uint32_t a_start;
	uint32_t a_len;
	uint32_t b_start;
	uint32_t b_len;
} SimdupDiffPart;

/* Parts leave no gap in either text. Equal and different ones alternate. */
typedef struct SimdupDiff
{
	SimdupDiffPart *parts;
	size_t n;
	size_t size;
} SimdupDiff;

/*
 * Compare two texts. The cost is bounded: texts that differ in very many places
 * get one last part that says they differ from there on. Checks for interrupts.
 */
extern SimdupDiff simdup_diff(const char *a, size_t a_len, const char *b,
							  size_t b_len);
extern void simdup_diff_free(SimdupDiff *diff);

#endif /* SIMDUP_CORE_COMPARE_DIFF_H */

/*
 * fold.h
 *	  Characters of profile 2: what each of them folds to.
 *
 * Folding ignores case, width, ligatures, accents and other nonspacing marks,
 * traditional Chinese, soft hyphens and zero-width characters. Each code point
 * folds by itself, to 0 to 18 code points. They are its NFKC_Casefold mapping,
 * less the marks of the canonical decomposition, in simplified Chinese. The tables are Unicode 15.0's and frozen, as are the
 * classes, which profile 1 defines: see charclass.h.
 */
#ifndef SIMDUP_CORE_FOLD_H
#define SIMDUP_CORE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/charclass.h"

/* The most code points that one folds to. */
#define SIMDUP_MAX_FOLDED 18

/*
 * How a code point folds. With n = 1, add value to the code point; otherwise
 * value is where the n code points begin in simdup_fold_expansions.
 */
typedef struct SimdupFoldProperty
{
	int32_t value;
	uint8_t char_class; /* of the folded code point, where n is 1 */
	uint8_t n;
} SimdupFoldProperty;

/* Properties of these numbers fold to themselves; the number is the class. */
#define SIMDUP_FOLD_SAME 3

/* An element of simdup_fold_expansions: code point and class. */
#define SIMDUP_EXPANSION_CHAR(e) ((e) &0x1FFFFF)
#define SIMDUP_EXPANSION_CLASS(e) ((SimdupCharClass) ((e) >> 24))

/* The tables: see tools/fold.pl. */
extern const SimdupFoldProperty simdup_fold_properties[];
extern const uint32_t simdup_fold_expansions[];
extern const uint32_t simdup_fold_same_han[];
extern const uint16_t simdup_fold_stage1[];
extern const uint16_t simdup_fold_stage2[];

/* The property of a code point, or of SIMDUP_INVALID_CHAR, by its number. */
static inline unsigned
simdup_fold_number(uint32_t cp)
{
	if (cp > 0x10FFFF)
		return SIMDUP_CHAR_SEPARATOR;
	return simdup_fold_stage2[simdup_fold_stage1[cp >> 7] * 128 + (cp & 127)];
}

/*
 * Does the code point, from U+4E00 to U+9FFF, fold to itself? The bits of these
 * 20,992 characters stay in the first-level cache, their numbers do not.
 */
static inline bool
simdup_is_same_han(uint32_t cp)
{
	uint32_t i = cp - 0x4E00;

	return simdup_fold_same_han[i >> 5] >> (i & 31) & 1;
}

#endif /* SIMDUP_CORE_FOLD_H */

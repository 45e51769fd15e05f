/*
 * foldtables.h
 *	  The tables of profile 2: see tools/fold.pl.
 */
#ifndef SIMDUP_CORE_UNICODE_FOLDTABLES_H
#define SIMDUP_CORE_UNICODE_FOLDTABLES_H

#include "core/unicode/charclass.h"

/* In place of a class: simdup_fold_expansions has the folded code points. */
#define SIMDUP_FOLD_LISTED 3

/* Added to a class: the code point folds to itself and is the second of pairs. */
#define SIMDUP_FOLD_SECOND 4

/*
 * How a code point folds: to the one that is value further, or, if listed, to the
 * n of simdup_fold_expansions from value on. If it is a second, n is the number of
 * its pairs, and value has bit first / 8 % 32 of each first.
 */
typedef struct SimdupFoldProperty
{
	int32_t value;
	uint8_t char_class; /* of the folded code point, or as above */
	uint8_t n;
} SimdupFoldProperty;

/*
 * An element of simdup_fold_expansions: code point, class, and the number of the
 * pairs of which it is the second, or 0.
 */
#define SIMDUP_EXPANSION(cp, char_class, pairs) \
	((cp) | (uint32_t) (char_class) << 21 | (uint32_t) (pairs) << 23)
#define SIMDUP_EXPANSION_CHAR(e) ((e) &0x1FFFFF)
#define SIMDUP_EXPANSION_CLASS(e) ((SimdupCharClass) ((e) >> 21 & 3))
#define SIMDUP_EXPANSION_PAIRS(e) ((e) >> 23)

/* The number of the pairs of Hangul, which are in no table. */
#define SIMDUP_FOLD_HANGUL 1

/* In place of the code point that a pair becomes: the two change places. */
#define SIMDUP_FOLD_EXCHANGE UINT32_MAX

/*
 * An element of simdup_fold_units, for a code point below U+10000: the UTF-8 that it
 * folds to, the first byte lowest, or one of these.
 */
#define SIMDUP_FOLD_SLOW 0 /* the other tables say it */
#define SIMDUP_FOLD_SEPARATOR 1
#define SIMDUP_FOLD_NOTHING 2

/*
 * The tables. The pairs of one second begin at its element of starts. Each has a
 * first, ascending, and the result of the two, all of one class.
 */
extern const SimdupFoldProperty simdup_fold_properties[];
extern const uint32_t simdup_fold_expansions[];
extern const uint16_t simdup_fold_starts[];
extern const uint32_t simdup_fold_firsts[];
extern const uint32_t simdup_fold_joined[];
extern const uint32_t simdup_fold_units[];
extern const uint16_t simdup_fold_stage1[];
extern const uint16_t simdup_fold_stage2[];

/* Return the property's number of a code point or SIMDUP_INVALID_CHAR. */
static inline unsigned
simdup_fold_number(uint32_t cp)
{
	if (cp > 0x10FFFF)
		return SIMDUP_CHAR_SEPARATOR;
	return simdup_fold_stage2[simdup_fold_stage1[cp >> 7] * 128 + (cp & 127)];
}

#endif /* SIMDUP_CORE_UNICODE_FOLDTABLES_H */

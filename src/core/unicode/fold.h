/*
 * fold.h
 *	  Characters of profile 2: what each of them folds to.
 */
#ifndef SIMDUP_CORE_UNICODE_FOLD_H
#define SIMDUP_CORE_UNICODE_FOLD_H

#include "core/unicode/charclass.h"

/*
 * Folding ignores case, width, ligatures, accents, the keyboard, radicals, traditional
 * Chinese, soft hyphens and zero-width characters. Each code point folds by itself,
 * to 0 to 18 code points. Then two side by side are joined if they are the canonical
 * decomposition of one. Examples are a kana and its mark, jamo and Indic vowels. Two
 * marks of a script change places if they are not in canonical order.
 * tools/fold.pl has the rule. The tables are Unicode 15.0's and frozen, as are the
 * classes, which profile 1 defines.
 */

/* The most code points that one folds to. */
#define SIMDUP_MAX_FOLDED 18

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
 * The tables: see tools/fold.pl. The pairs of one second begin at its element of
 * starts. Each has a first, ascending, and the result of the two, all of one class.
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

/* Receives a character of folded text and its class. */
typedef void (*SimdupFoldSink)(void *arg, uint32_t cp,
							   SimdupCharClass char_class);

/* Receives a character, of the same class, that takes the place of the last one. */
typedef void (*SimdupFoldReplacer)(void *arg, uint32_t cp);

/*
 * Return the elements that a code point folds to, *n of them. A single one may be
 * put into *self.
 */
extern const uint32_t *simdup_fold_elements(uint32_t cp, uint32_t *self,
											int *n);

/*
 * Hand on a code point that is listed, or is a second. last is the last code point
 * before. Returns the last one that was handed on.
 */
extern uint32_t simdup_fold_other(uint32_t cp, uint32_t last,
								  SimdupFoldSink sink,
								  SimdupFoldReplacer replace, void *arg);

/*
 * Hand on the folded form of a code point or SIMDUP_INVALID_CHAR. *last, 0 at the
 * beginning of a text, becomes the last code point that was handed on. Inline, and
 * the sink with it, because a call for each character would cost more than folding.
 */
static inline __attribute__((always_inline)) void
simdup_fold(uint32_t cp, uint32_t *last, SimdupFoldSink sink,
			SimdupFoldReplacer replace, void *arg)
{
	SimdupFoldProperty property =
		simdup_fold_properties[simdup_fold_number(cp)];

	if (property.char_class > SIMDUP_FOLD_LISTED &&
		((uint32_t) property.value >> (*last / 8 % 32) & 1) == 0)
	{
		property.value = 0;
		property.char_class -= SIMDUP_FOLD_SECOND;
	}
	if (property.char_class < SIMDUP_FOLD_LISTED)
	{
		uint32_t folded = (uint32_t) ((int32_t) cp + property.value);

		sink(arg, folded, (SimdupCharClass) property.char_class);
		*last = folded;
	}
	else if (property.n > 0)
		*last = simdup_fold_other(cp, *last, sink, replace, arg);
}

#endif /* SIMDUP_CORE_UNICODE_FOLD_H */

/*
 * fold.h
 *	  The characters that each character folds to, in profile 2.
 *
 * Folding ignores case, width, ligatures, accents, the keyboard, radicals, traditional
 * Chinese, soft hyphens and zero-width characters. Each code point folds by itself,
 * to 0 to 18 code points. Then two side by side are joined if they are the canonical
 * decomposition of one. Examples are a kana and its mark, jamo and Indic vowels. Two
 * marks of a script change places if they are not in canonical order.
 * tools/fold.pl has the rule. The tables are Unicode 15.0's and frozen, as are the
 * classes, which profile 1 defines.
 */
#ifndef SIMDUP_CORE_UNICODE_FOLD_H
#define SIMDUP_CORE_UNICODE_FOLD_H

#include "core/unicode/foldtables.h"

/* The most code points that one folds to. */
#define SIMDUP_MAX_FOLDED 18

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

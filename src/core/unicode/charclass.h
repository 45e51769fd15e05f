/*
 * charclass.h
 *	  Characters: UTF-8, classes, and the folding of profile 1.
 */
#ifndef SIMDUP_CORE_UNICODE_CHARCLASS_H
#define SIMDUP_CORE_UNICODE_CHARCLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in UTF-8. */
typedef struct SimdupUtf8
{
	const char *bytes;
	size_t len;
} SimdupUtf8;

/*
 * Characters of profile 1: UTF-8, folding and classes.
 *
 * Folding turns full-width forms (U+FF01 to FF5E) into ASCII and then takes
 * Unicode's simple lower case. A word character has General_Category L*, M*
 * or N*; it is unsegmented if its script writes no spaces between words. The
 * tables are Unicode 15.0's and frozen: stored fingerprints depend on them, so
 * neither the C library, ICU nor a collation has a say.
 */

typedef enum SimdupCharClass
{
	SIMDUP_CHAR_SEPARATOR = 0,
	SIMDUP_CHAR_SEGMENTED = 1,
	SIMDUP_CHAR_UNSEGMENTED = 2
} SimdupCharClass;

typedef struct SimdupCharProperty
{
	int32_t fold;		/* add this to get the folded code point */
	uint8_t char_class; /* of the folded code point */
} SimdupCharProperty;

/* What decoding gives for a byte that is not UTF-8; it is a separator. */
#define SIMDUP_INVALID_CHAR UINT32_C(0xFFFFFFFF)

/* The longest UTF-8 sequence. */
#define SIMDUP_MAX_UTF8 4

/* The tables: see tools/charclass.pl for how the two stages lead to a property. */
extern const SimdupCharProperty simdup_char_properties[];
extern const uint8_t simdup_char_stage1[];
extern const uint8_t simdup_char_stage2[];

/* Return the properties of a code point, or of SIMDUP_INVALID_CHAR. */
static inline SimdupCharProperty
simdup_char_property(uint32_t cp)
{
	if (cp > 0x10FFFF)
		return (SimdupCharProperty){0, SIMDUP_CHAR_SEPARATOR};
	return simdup_char_properties
		[simdup_char_stage2[simdup_char_stage1[cp >> 7] * 128 + (cp & 127)]];
}

/*
 * Decode one code point of [p, end), p < end, and set *len to the bytes it
 * takes. Anything ill-formed (overlong, surrogate, out of range, cut off) is
 * SIMDUP_INVALID_CHAR of one byte.
 */
static inline uint32_t
simdup_utf8_decode(const unsigned char *p, const unsigned char *end, int *len)
{
	uint32_t cp;

	*len = 1;
	if (p[0] < 0x80)
		return p[0];
	if (p[0] < 0xE0)
	{
		if (p[0] < 0xC2 || end - p < 2 || (p[1] & 0xC0) != 0x80)
			return SIMDUP_INVALID_CHAR;
		*len = 2;
		return (uint32_t) (p[0] & 0x1F) << 6 | (p[1] & 0x3F);
	}
	if (p[0] < 0xF0)
	{
		if (end - p < 3 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80)
			return SIMDUP_INVALID_CHAR;
		cp = (uint32_t) (p[0] & 0x0F) << 12 | (uint32_t) (p[1] & 0x3F) << 6 |
			 (p[2] & 0x3F);
		if (cp < 0x800 || (cp >= 0xD800 && cp <= 0xDFFF))
			return SIMDUP_INVALID_CHAR;
		*len = 3;
		return cp;
	}
	if (p[0] > 0xF4 || end - p < 4 || (p[1] & 0xC0) != 0x80 ||
		(p[2] & 0xC0) != 0x80 || (p[3] & 0xC0) != 0x80)
		return SIMDUP_INVALID_CHAR;
	cp = (uint32_t) (p[0] & 0x07) << 18 | (uint32_t) (p[1] & 0x3F) << 12 |
		 (uint32_t) (p[2] & 0x3F) << 6 | (p[3] & 0x3F);
	if (cp < 0x10000 || cp > 0x10FFFF)
		return SIMDUP_INVALID_CHAR;
	*len = 4;
	return cp;
}

/*
 * Check whether one of U+4E00 to U+9FFF, the bulk of Chinese text, stands at p,
 * where three bytes can be read. All of them are unsegmented and fold to
 * themselves.
 */
static inline bool
simdup_is_common_han(const unsigned char *p)
{
	unsigned lead = (unsigned) p[0] << 8 | p[1];

	return lead - 0xE4B8 <= 0xE9BF - 0xE4B8 &&
		   ((p[1] ^ 0x80) | (p[2] ^ 0x80)) < 0x40;
}

/* A character of a text. */
typedef struct SimdupChar
{
	uint32_t cp; /* SIMDUP_INVALID_CHAR for a byte that is not UTF-8 */
	int len;
	int32_t fold; /* as of its SimdupCharProperty */
	SimdupCharClass char_class;
} SimdupChar;

/*
 * Read the character at p. The common ones do not need the tables. Inline in
 * every loop, so that each skips the parts that it does not use.
 */
static inline __attribute__((always_inline)) SimdupChar
simdup_next_char(const unsigned char *p, const unsigned char *end)
{
	SimdupCharProperty property;
	uint32_t cp;
	int len;

	if (*p < 0x80)
	{
		if ((unsigned) (*p | 0x20) - 'a' < 26)
			return (SimdupChar){*p, 1, *p & 0x20 ? 0 : 0x20,
								SIMDUP_CHAR_SEGMENTED};
		return (SimdupChar){*p, 1, 0,
							(unsigned) *p - '0' < 10 ? SIMDUP_CHAR_SEGMENTED
													 : SIMDUP_CHAR_SEPARATOR};
	}
	if (end - p >= 3 && simdup_is_common_han(p))
	{
		cp = (uint32_t) (p[0] & 0x0F) << 12 | (uint32_t) (p[1] & 0x3F) << 6 |
			 (p[2] & 0x3F);
		return (SimdupChar){cp, 3, 0, SIMDUP_CHAR_UNSEGMENTED};
	}
	cp = simdup_utf8_decode(p, end, &len);
	property = simdup_char_property(cp);
	return (SimdupChar){cp, len, property.fold,
						(SimdupCharClass) property.char_class};
}

/* Return the folded code point of a character. */
static inline uint32_t
simdup_folded(SimdupChar c)
{
	return (uint32_t) ((int32_t) c.cp + c.fold);
}

/* Write a valid code point to out, which has room for SIMDUP_MAX_UTF8 bytes. */
static inline int
simdup_utf8_encode(uint32_t cp, unsigned char *out)
{
	if (cp < 0x80)
	{
		out[0] = (unsigned char) cp;
		return 1;
	}
	if (cp < 0x800)
	{
		out[0] = (unsigned char) (0xC0 | cp >> 6);
		out[1] = (unsigned char) (0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000)
	{
		out[0] = (unsigned char) (0xE0 | cp >> 12);
		out[1] = (unsigned char) (0x80 | (cp >> 6 & 0x3F));
		out[2] = (unsigned char) (0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (unsigned char) (0xF0 | cp >> 18);
	out[1] = (unsigned char) (0x80 | (cp >> 12 & 0x3F));
	out[2] = (unsigned char) (0x80 | (cp >> 6 & 0x3F));
	out[3] = (unsigned char) (0x80 | (cp & 0x3F));
	return 4;
}

/*
 * Ascending lists of code points. Marks beyond ASCII that end a sentence are listed
 * as ranges, by the first and the last mark of each. Most of them are Unicode's
 * Sentence_Terminal. The list of digits has the 0 of each ten.
 */
extern const uint32_t simdup_sentence_ends[];
extern const size_t simdup_n_sentence_ends;
extern const uint32_t simdup_digit_zeros[];
extern const size_t simdup_n_digit_zeros;
extern const uint32_t simdup_currency_signs[];
extern const size_t simdup_n_currency_signs;

/* Return how many code points of an ascending list are not above this one. */
static inline size_t
simdup_count_chars(const uint32_t *list, size_t n, uint32_t cp)
{
	size_t count = 0;

	/* of n code points from there on, half are passed or left out */
	for (size_t half; n > 0; n -= half)
	{
		half = (n + 1) / 2;
		count += list[count + half - 1] <= cp ? half : 0;
	}
	return count;
}

/* Unicode's White_Space, as of Unicode 15.0. */

static inline bool
simdup_is_white_space(uint32_t cp)
{
	if (cp < 0x80)
		return cp == ' ' || (cp >= '\t' && cp <= '\r');
	return cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
		   (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 ||
		   cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/*
 * Check whether cp is white space around a field: White_Space and the
 * information separators, as Python's str.strip() has it. Frozen with both
 * profiles.
 */
static inline bool
simdup_is_blank(uint32_t cp)
{
	return simdup_is_white_space(cp) || (cp >= 0x1C && cp <= 0x1F);
}

#endif /* SIMDUP_CORE_UNICODE_CHARCLASS_H */

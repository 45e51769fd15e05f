/*
 * charclass.h
 *	  Characters of profile 1: UTF-8, folding and classes.
 *
 * Folding turns full-width forms (U+FF01 to FF5E) into ASCII and then takes
 * Unicode's simple lower case. A word character has General_Category L*, M*
 * or N*; it is unsegmented if its script writes no spaces between words. The
 * tables are Unicode 15.0's and frozen: stored fingerprints depend on them, so
 * neither the C library, ICU nor a collation has a say.
 */
#ifndef SIMDUP_CORE_CHARCLASS_H
#define SIMDUP_CORE_CHARCLASS_H

#include <stddef.h>
#include <stdint.h>

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

/* Properties of a code point, or of SIMDUP_INVALID_CHAR. */
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

#endif /* SIMDUP_CORE_CHARCLASS_H */

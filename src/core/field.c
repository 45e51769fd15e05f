/*
 * field.c
 *	  A short field of a row, folded as profile 1 compares fields.
 */
#include "core/field.h"
#include "core/whitespace.h"

/*
 * White space around a field: White_Space and the information separators, as
 * Python's str.strip() has it. Frozen with profile 1.
 */
static bool
is_blank(uint32_t cp)
{
	return simdup_is_white_space(cp) || (cp >= 0x1C && cp <= 0x1F);
}

size_t
simdup_lower_field(const char *field, size_t len, char *out)
{
	const unsigned char *p = (const unsigned char *) field;
	const unsigned char *end = p + len;
	unsigned char *folded = (unsigned char *) out;
	size_t used = 0;
	size_t trimmed = 0;
	int bytes;

	for (; p < end; p += bytes)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &bytes);
		bool blank = is_blank(cp);

		if (blank && used == 0)
			continue;
		if (cp == SIMDUP_INVALID_CHAR)
			folded[used++] = *p;
		else
			used +=
				simdup_utf8_encode((uint32_t) ((int32_t) cp +
											   simdup_char_property(cp).fold),
								   folded + used);
		if (!blank)
			trimmed = used;
	}
	return trimmed;
}

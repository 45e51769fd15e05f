/*
 * field.c
 *	  A short field of a row as one feature of its fingerprint.
 */
#include "postgres.h"
#include "compat.h"

#include "core/charclass.h"
#include "core/host.h"
#include "server/arguments.h"
#include "text/field.h"

uint64
simdup_get_field_weight(FunctionCallInfo fcinfo, int argno)
{
	int weight;

	simdup_check_not_null(PG_ARGISNULL(argno), "field_weight");
	weight = PG_GETARG_INT32(argno);
	if (weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("field_weight must not be negative"),
				errdetail("The value given is %d.", weight));
	return (uint64) weight;
}

/* Unicode's White_Space, and the information separators as in Python. */
static bool
is_white(uint32_t cp)
{
	return (cp >= 0x09 && cp <= 0x0D) || (cp >= 0x1C && cp <= 0x20) ||
		   cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
		   (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 ||
		   cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/*
 * The characters of a field folded, without the white space around it, at most
 * four bytes for each byte of the field.
 */
static size_t
fold_field(SimdupUtf8 field, unsigned char *folded)
{
	const unsigned char *p = (const unsigned char *) field.bytes;
	const unsigned char *end = p + field.len;
	size_t used = 0;
	size_t trimmed = 0;
	int len;

	for (; p < end; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);

		if (is_white(cp) && used == 0)
			continue;
		if (cp == SIMDUP_INVALID_CHAR)
			folded[used++] = *p;
		else
			used +=
				simdup_utf8_encode((uint32_t) ((int32_t) cp +
											   simdup_char_property(cp).fold),
								   folded + used);
		if (!is_white(cp))
			trimmed = used;
	}
	return trimmed;
}

void
simdup_add_field(SimdupUtf8 field, uint64 weight, SimdupHash hash,
				 SimdupSum *sum)
{
	unsigned char *folded = simdup_alloc(field.len * SIMDUP_MAX_UTF8 + 1);
	size_t len = fold_field(field, folded);

	if (len > 0)
		simdup_sum_add(sum, simdup_hash64(hash, (char *) folded, len), weight);
	simdup_free(folded);
}

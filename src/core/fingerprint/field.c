/*
 * field.c
 *	  Short fields of a row, folded as profile 1 and as profile 2 compare them,
 *	  and their masks.
 */
#include "core/fingerprint/field.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* The step between the hashes of a field's mask. */
#define MASK_SEED UINT64_C(0x9e3779b97f4a7c15)

/*
 * Check whether cp is white space around a field: White_Space and the
 * information separators, as Python's str.strip() has it. Frozen with both
 * profiles.
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

typedef struct Field
{
	char *bytes;
	size_t used;
	size_t size;
	bool white; /* white space waits for what follows */
} Field;

/* Append a folded character; white space around the field is dropped. */
static void
append_to_field(Field *field, uint32_t cp)
{
	if (is_blank(cp))
	{
		field->white = field->used > 0;
		return;
	}
	field->bytes = simdup_grow(field->bytes, &field->size,
							   field->used + 1 + SIMDUP_MAX_UTF8, 1);
	if (field->white)
		field->bytes[field->used++] = ' ';
	field->white = false;
	field->used +=
		simdup_utf8_encode(cp, (unsigned char *) field->bytes + field->used);
}

/* Append what a code point folds to. */
static void
append_folded(Field *field, uint32_t cp)
{
	SimdupFoldProperty property =
		simdup_fold_properties[simdup_fold_number(cp)];

	if (property.n == 1)
		append_to_field(field, (uint32_t) ((int32_t) cp + property.value));
	else
		for (int i = 0; i < property.n; i++)
			append_to_field(field,
							SIMDUP_EXPANSION_CHAR(
								simdup_fold_expansions[property.value + i]));
}

char *
simdup_fold_field(const char *text, size_t len, size_t *folded_len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	Field field = {0};
	int char_len;

	field.bytes = simdup_grow(NULL, &field.size, len + 1, 1);
	for (; p < end; p += char_len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &char_len);

		if (cp != SIMDUP_INVALID_CHAR)
			append_folded(&field, cp);
		else
		{
			/* keep a byte that is not UTF-8 */
			append_to_field(&field, 'x');
			field.bytes[field.used - 1] = (char) *p;
		}
		look = simdup_look(p, look);
	}
	*folded_len = field.used;
	return field.bytes;
}

uint64_t
simdup_field_mask(const char *text, size_t len, uint32_t number, int n_bits)
{
	size_t folded_len;
	char *folded = simdup_fold_field(text, len, &folded_len);
	uint64_t hash =
		simdup_mix64(simdup_city64(folded, folded_len) ^ number * MASK_SEED);
	uint64_t mask = 0;

	simdup_free(folded);
	if (folded_len == 0)
		return 0;
	for (uint64_t r = 0; n_bits > 0; r++)
	{
		uint64_t bit = UINT64_C(1)
					   << (simdup_mix64(hash ^ r * MASK_SEED) >> 58);

		n_bits -= (mask & bit) == 0;
		mask |= bit;
	}
	return mask;
}

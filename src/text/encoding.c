/*
 * encoding.c
 *	  Text of the database's encoding as UTF-8, and back.
 *
 * The server's own conversion raises an error for a character that Unicode does
 * not have, and for a result of more than 1 GB. A text that a column holds must
 * not be refused because of its fingerprint. So such a character becomes a byte
 * that is no UTF-8, which separates like white space, and a text is converted
 * part by part. The conversion is always that of pg_catalog.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/unicode/html.h"
#include "text/encoding.h"

/* Bytes that are converted at a time. */
#define PART 65536

bool
simdup_is_utf8(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		   GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Return the conversion of the database's encoding, which does not change. */
static Oid
find_conversion(bool to_utf8)
{
	static Oid conversions[2];
	int encoding = GetDatabaseEncoding();

	if (!OidIsValid(conversions[to_utf8]))
		conversions[to_utf8] =
			FindDefaultConversion(PG_CATALOG_NAMESPACE,
								  to_utf8 ? encoding : PG_UTF8,
								  to_utf8 ? PG_UTF8 : encoding);
	return conversions[to_utf8];
}

/* Return how many bytes are ASCII, from the first one on. */
static size_t
ascii_length(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && !IS_HIGHBIT_SET(bytes[n]))
		n++;
	return n;
}

/*
 * Convert bytes from the start of a part on, as far as they have characters, to
 * out, and set *converted to their number. Return the bytes written.
 */
static size_t
convert_part(bool to_utf8, const char *bytes, size_t len, char *out,
			 size_t *converted)
{
	Oid conversion = find_conversion(to_utf8);
	int encoding = GetDatabaseEncoding();

	if (!OidIsValid(conversion))
	{
		*converted = ascii_length(bytes, len);
		memcpy(out, bytes, *converted);
		return *converted;
	}
	*converted =
		pg_do_encoding_conversion_buf(conversion, to_utf8 ? encoding : PG_UTF8,
									  to_utf8 ? PG_UTF8 : encoding,
									  (unsigned char *) bytes, (int) len,
									  (unsigned char *) out,
									  (int) len * MAX_CONVERSION_GROWTH + 1,
									  true);
	return strlen(out);
}

/*
 * Convert bytes to UTF-8, or back. Not inline: most databases are in UTF-8 and never
 * come here.
 */
static pg_noinline SimdupUtf8
convert(bool to_utf8, const char *bytes, size_t len)
{
	int encoding = to_utf8 ? GetDatabaseEncoding() : PG_UTF8;
	size_t size = 0;
	size_t out_len = 0;
	char *out = NULL;
	size_t at = 0;

	while (at < len)
	{
		size_t part = Min(len - at, PART);
		size_t converted;

		CHECK_FOR_INTERRUPTS();
		out = simdup_grow(out, &size,
						  out_len + part * MAX_CONVERSION_GROWTH + 1, 1);
		out_len +=
			convert_part(to_utf8, bytes + at, part, out + out_len, &converted);
		at += converted;
		if (converted == 0)
		{
			out[out_len++] = to_utf8 ? (char) SIMDUP_NO_CHARACTER : '?';
			at +=
				Min((size_t) pg_encoding_mblen(encoding, bytes + at), len - at);
		}
	}
	return (SimdupUtf8){out, out_len};
}

SimdupUtf8
simdup_bytes_to_utf8(const char *bytes, size_t len)
{
	if (simdup_is_utf8() || ascii_length(bytes, len) == len)
		return (SimdupUtf8){bytes, len};
	return convert(true, bytes, len);
}

SimdupUtf8
simdup_text_to_utf8(const text *value)
{
	return simdup_bytes_to_utf8(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

SimdupUtf8 *
simdup_utf8_texts(ArrayType *array, size_t *n)
{
	SimdupUtf8 *texts;
	Datum *values;
	bool *nulls;
	int n_values;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n_values);
	texts = simdup_alloc(((Size) n_values + 1) * sizeof(SimdupUtf8));
	*n = 0;
	for (int i = 0; i < n_values; i++)
		if (!nulls[i])
			texts[(*n)++] = simdup_text_to_utf8(DatumGetTextPP(values[i]));
	return texts;
}

text *
simdup_utf8_to_text(const char *bytes, size_t len)
{
	SimdupUtf8 value = {bytes, len};

	if (!simdup_is_utf8() && ascii_length(bytes, len) < len)
		value = convert(false, bytes, len);
	return cstring_to_text_with_len(value.bytes, (int) value.len);
}

size_t
simdup_encode_char(void *arg pg_attribute_unused(), uint32_t code_point,
				   char *out)
{
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1];
	unsigned char converted[SIMDUP_MAX_UTF8 * MAX_CONVERSION_GROWTH + 1];
	int len = simdup_utf8_encode(code_point, utf8);
	size_t converted_len;
	Oid conversion;

	if (simdup_is_utf8())
	{
		memcpy(out, utf8, len);
		return (size_t) len;
	}
	conversion = find_conversion(false);
	utf8[len] = '\0';
	if (!OidIsValid(conversion) ||
		pg_do_encoding_conversion_buf(conversion, PG_UTF8,
									  GetDatabaseEncoding(), utf8, len,
									  converted, sizeof(converted),
									  true) != len)
		return 0;
	converted_len = strlen((char *) converted);
	if (converted_len > SIMDUP_HTML_CHAR_MAX)
		return 0;
	memcpy(out, converted, converted_len);
	return converted_len;
}

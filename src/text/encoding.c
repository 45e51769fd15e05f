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

#include "catalog/namespace.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/host.h"
#include "core/unicode/charclass.h"
#include "core/unicode/html.h"
#include "text/encoding.h"

/* Bytes that are converted at a time. */
#define PART 65536

SimdupUtf8
simdup_text_to_utf8(const text *value)
{
	return simdup_bytes_to_utf8(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

static bool
is_ascii(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (IS_HIGHBIT_SET(bytes[i]))
			return false;
	return true;
}

bool
simdup_is_utf8(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		   GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Find the conversion of the database's encoding, which does not change. */
static Oid
find_conversion(int encoding)
{
	static Oid conversion = InvalidOid;

	if (!OidIsValid(conversion))
		conversion =
			FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding, PG_UTF8);
	return conversion;
}

/*
 * Convert bytes from the start of a part on, as far as they have characters, and
 * append them to out. Return how many bytes were converted.
 */
static size_t
convert_part(Oid conversion, int encoding, const char *bytes, size_t len,
			 char *out, size_t *out_len)
{
	int n;

	if (!OidIsValid(conversion))
	{
		/* as far as they are ASCII, then */
		for (n = 0; (size_t) n < len && !IS_HIGHBIT_SET(bytes[n]); n++)
			out[*out_len + n] = bytes[n];
		*out_len += n;
		return n;
	}
	n = pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
									  (unsigned char *) bytes, (int) len,
									  (unsigned char *) out + *out_len,
									  (int) len * MAX_CONVERSION_GROWTH + 1,
									  true);
	*out_len += strlen(out + *out_len);
	return n;
}

static SimdupUtf8
convert(const char *bytes, size_t len, int encoding)
{
	Oid conversion = find_conversion(encoding);
	size_t size = 0;
	size_t out_len = 0;
	char *out = NULL;
	size_t at = 0;

	while (at < len)
	{
		size_t part = Min(len - at, PART);
		size_t converted;

		CHECK_FOR_INTERRUPTS();
		if (out == NULL || size - out_len < part * MAX_CONVERSION_GROWTH + 1)
		{
			size += Max(size / 2, part * MAX_CONVERSION_GROWTH + 1);
			out = out == NULL ? simdup_alloc(size) : simdup_realloc(out, size);
		}
		converted =
			convert_part(conversion, encoding, bytes + at, part, out, &out_len);
		at += converted;
		if (converted == 0)
		{
			out[out_len++] = (char) SIMDUP_NO_CHARACTER;
			at +=
				Min((size_t) pg_encoding_mblen(encoding, bytes + at), len - at);
		}
	}
	return (SimdupUtf8){out, out_len};
}

SimdupUtf8
simdup_bytes_to_utf8(const char *bytes, size_t len)
{
	if (simdup_is_utf8() || is_ascii(bytes, len))
		return (SimdupUtf8){bytes, len};
	return convert(bytes, len, GetDatabaseEncoding());
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
	texts = palloc(((Size) n_values + 1) * sizeof(SimdupUtf8));
	*n = 0;
	for (int i = 0; i < n_values; i++)
		if (!nulls[i])
			texts[(*n)++] = simdup_text_to_utf8(DatumGetTextPP(values[i]));
	return texts;
}

text *
simdup_utf8_to_text(const char *bytes, size_t len)
{
	char *converted;

	if (simdup_is_utf8())
		return cstring_to_text_with_len(bytes, (int) len);
	converted = pg_any_to_server(bytes, (int) len, PG_UTF8);
	if (converted == bytes)
		return cstring_to_text_with_len(bytes, (int) len);
	return cstring_to_text(converted);
}

size_t
simdup_encode_char(void *arg, uint32_t code_point, char *out)
{
	Oid *conversion = arg;
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1];
	unsigned char converted[SIMDUP_MAX_UTF8 * MAX_CONVERSION_GROWTH + 1];
	int len = simdup_utf8_encode(code_point, utf8);
	size_t converted_len;

	if (conversion == NULL)
	{
		memcpy(out, utf8, len);
		return (size_t) len;
	}
	if (!OidIsValid(*conversion))
		return 0;
	utf8[len] = '\0';
	if (pg_do_encoding_conversion_buf(*conversion, PG_UTF8,
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

Oid *
simdup_conversion_from_utf8(void)
{
	static Oid conversion;

	if (simdup_is_utf8())
		return NULL;
	conversion = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
	return &conversion;
}

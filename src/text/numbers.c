/*
 * numbers.c
 *	  The numbers of a text: simdup_numbers.
 */
#include "postgres.h"
#include "compat.h"

#include "mb/pg_wchar.h"

#include "core/text.h"
#include "text/profile.h"

PG_FUNCTION_INFO_V1(simdup_numbers);
/* simdup_numbers(content) */
Datum
simdup_numbers(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	/* other encodings may have the fullwidth signs only */
	bool narrow_signs = GetDatabaseEncoding() == PG_UTF8 ||
						GetDatabaseEncoding() == PG_SQL_ASCII;
	size_t len;
	char *numbers =
		simdup_text_numbers(content.bytes, content.len, narrow_signs, &len);

	PG_RETURN_TEXT_P(simdup_utf8_to_text(numbers, len));
}

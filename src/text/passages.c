/*
 * passages.c
 *	  What a letter adds and what letters have in common: simdup_own_text and
 *	  simdup_common_text.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"

#include "core/text.h"
#include "text/profile.h"

/* Between two passages: an ellipsis, or full stops in encodings without it. */
#define ELLIPSIS " \xe2\x80\xa6 "
#define FULL_STOPS " ... "

static const char *
separator(void)
{
	static const char ellipsis[] = ELLIPSIS;
	int encoding = GetDatabaseEncoding();
	unsigned char converted[sizeof(ellipsis) * MAX_CONVERSION_GROWTH];
	Oid conversion;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		return ellipsis;
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	if (OidIsValid(conversion) &&
		pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
									  (unsigned char *) ELLIPSIS,
									  sizeof(ellipsis) - 1, converted,
									  sizeof(converted),
									  true) == sizeof(ellipsis) - 1)
		return ellipsis;
	return FULL_STOPS;
}

static SimdupPassageText
passage_text(const text *content)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(content);

	return (SimdupPassageText){utf8.bytes, utf8.len};
}

/* The result of a function that shows passages of a text; NULL for none. */
static Datum
join_passages(FunctionCallInfo fcinfo, SimdupPassageText content,
			  const SimdupPassage *passages, size_t n)
{
	StringInfoData joined;

	if (passages == NULL)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("text has too many words"));
	if (n == 0)
		PG_RETURN_NULL();
	initStringInfo(&joined);
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoString(&joined, separator());
		appendBinaryStringInfo(&joined, content.bytes + passages[i].from,
							   (int) (passages[i].to - passages[i].from));
	}
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.data, (size_t) joined.len));
}

PG_FUNCTION_INFO_V1(simdup_own_text);
/* simdup_own_text(content, template) */
Datum
simdup_own_text(PG_FUNCTION_ARGS)
{
	SimdupPassageText content = passage_text(PG_GETARG_TEXT_PP(0));
	SimdupPassageText other = passage_text(PG_GETARG_TEXT_PP(1));
	size_t n = 0;
	SimdupPassage *passages = simdup_own_passages(content, other, &n);

	return join_passages(fcinfo, content, passages, n);
}

PG_FUNCTION_INFO_V1(simdup_common_text);
/* simdup_common_text(contents, share) */
Datum
simdup_common_text(PG_FUNCTION_ARGS)
{
	double share = PG_GETARG_FLOAT8(1);
	SimdupPassageText *texts;
	SimdupPassage *passages;
	Datum *values;
	bool *nulls;
	int n_values;
	size_t n_texts = 0;
	size_t n = 0;

	if (!(share > 0 && share <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("share must be greater than 0 and at most 1"),
				errdetail("The value given is %g.", share));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false,
					  TYPALIGN_INT, &values, &nulls, &n_values);
	texts = palloc(((Size) n_values + 1) * sizeof(SimdupPassageText));
	for (int i = 0; i < n_values; i++)
		if (!nulls[i])
			texts[n_texts++] = passage_text(DatumGetTextPP(values[i]));
	if (n_texts == 0)
		PG_RETURN_NULL();
	passages = simdup_common_passages(texts, n_texts, share, &n);
	return join_passages(fcinfo, texts[0], passages, n);
}

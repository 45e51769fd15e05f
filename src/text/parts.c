/*
 * parts.c
 *	  Parts of a text: a page without its markup, the numbers, and the passages that
 *	  it has alone or in common with others.
 */
#include "postgres.h"
#include "compat.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "core/compare/words.h"
#include "core/unicode/html.h"
#include "server/arguments.h"
#include "text/encoding.h"

PG_FUNCTION_INFO_V1(simdup_strip_html);
Datum
simdup_strip_html(PG_FUNCTION_ARGS)
{
	text *html = PG_GETARG_TEXT_PP(0);
	size_t len = VARSIZE_ANY_EXHDR(html);
	text *result = simdup_alloc(VARHDRSZ + SIMDUP_HTML_ROOM(len));

	len = simdup_html_text(VARDATA_ANY(html), len, VARDATA(result),
						   simdup_encode_char, NULL);
	if (!AllocSizeIsValid(VARHDRSZ + len))
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("requested length too large"));
	SET_VARSIZE(result, VARHDRSZ + len);
	PG_RETURN_TEXT_P(result);
}

/* The numbers of a text: simdup_numbers. */

static SimdupUtf8
numbers_of(const text *content)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(content);
	size_t len;
	/* other encodings may have the fullwidth signs only */
	char *numbers =
		simdup_text_numbers(utf8.bytes, utf8.len, simdup_is_utf8(), &len);

	return (SimdupUtf8){numbers, len};
}

/* Return the next number at a position, and go on behind the blank that ends it. */
static SimdupUtf8
next_number(SimdupUtf8 numbers, size_t *at)
{
	const char *from = numbers.bytes + *at;
	const char *blank = memchr(from, ' ', numbers.len - *at);
	size_t len = blank == NULL ? numbers.len - *at : (size_t) (blank - from);

	*at += len + 1;
	return (SimdupUtf8){from, len};
}

static int
compare_numbers(const void *a, const void *b)
{
	const SimdupUtf8 *x = a;
	const SimdupUtf8 *y = b;

	simdup_check_interrupts();
	return simdup_bytes_order(x->bytes, x->len, y->bytes, y->len);
}

/* Return the numbers that are not among others, which has one or more. */
static SimdupUtf8
own_numbers(SimdupUtf8 numbers, SimdupUtf8 others)
{
	StringInfoData own;
	SimdupUtf8 *list = NULL;
	size_t n = 0;
	size_t room = 0;

	for (size_t at = 0; at < others.len;)
	{
		simdup_check_interrupts_at(n);
		list = simdup_grow(list, &room, n + 1, sizeof(SimdupUtf8));
		list[n++] = next_number(others, &at);
	}
	qsort(list, n, sizeof(SimdupUtf8), compare_numbers);
	initStringInfo(&own);
	for (size_t at = 0; at < numbers.len;)
	{
		SimdupUtf8 number = next_number(numbers, &at);

		if (bsearch(&number, list, n, sizeof(SimdupUtf8), compare_numbers) !=
			NULL)
			continue;
		if (own.len > 0)
			appendStringInfoChar(&own, ' ');
		appendBinaryStringInfo(&own, number.bytes, (int) number.len);
	}
	return (SimdupUtf8){own.data, (size_t) own.len};
}

PG_FUNCTION_INFO_V1(simdup_numbers);
/* Return simdup_numbers(content, without). */
Datum
simdup_numbers(PG_FUNCTION_ARGS)
{
	SimdupUtf8 numbers = numbers_of(PG_GETARG_TEXT_PP(0));
	SimdupUtf8 others = numbers_of(PG_GETARG_TEXT_PP(1));

	if (others.len > 0)
		numbers = own_numbers(numbers, others);
	PG_RETURN_TEXT_P(simdup_utf8_to_text(numbers.bytes, numbers.len));
}

/*
 * The passages that a letter adds, those that letters share, and a letter without its
 * boilerplate: simdup_own_text, simdup_common_text and simdup_without.
 */

/* The mark between passages: full stops in encodings without an ellipsis. */
static const char *
separator(void)
{
	char encoded[SIMDUP_HTML_CHAR_MAX];

	return simdup_encode_char(NULL, 0x2026, encoded) > 0 ? " \xe2\x80\xa6 "
														 : " ... ";
}

void
simdup_too_many_words(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many words"),
			errdetail("At most %zu are compared.", SIMDUP_MAX_WORDS));
}

SimdupUtf8
simdup_join_passages(SimdupUtf8 content, const SimdupPassage *passages,
					 size_t n, const char *between)
{
	StringInfoData joined;

	if (passages == NULL)
		simdup_too_many_words();
	initStringInfo(&joined);
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoString(&joined, between);
		appendBinaryStringInfo(&joined, content.bytes + passages[i].from,
							   (int) (passages[i].to - passages[i].from));
	}
	return (SimdupUtf8){joined.data, (size_t) joined.len};
}

/* The result of a function that shows passages of a text; NULL for none. */
static Datum
show_passages(FunctionCallInfo fcinfo, SimdupUtf8 content,
			  const SimdupPassage *passages, size_t n)
{
	SimdupUtf8 joined = simdup_join_passages(content, passages, n, separator());

	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.bytes, joined.len));
}

PG_FUNCTION_INFO_V1(simdup_own_text);
/* Return simdup_own_text(content, template). */
Datum
simdup_own_text(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupUtf8 other = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	size_t n = 0;
	SimdupPassage *passages = simdup_own_passages(content, other, &n);

	return show_passages(fcinfo, content, passages, n);
}

PG_FUNCTION_INFO_V1(simdup_common_text);
/* Return simdup_common_text(contents, share). */
Datum
simdup_common_text(PG_FUNCTION_ARGS)
{
	double share = simdup_check_fraction(PG_GETARG_FLOAT8(1), "share");
	size_t n_texts;
	SimdupUtf8 *texts = simdup_utf8_texts(PG_GETARG_ARRAYTYPE_P(0), &n_texts);
	SimdupPassage *passages;
	size_t which;
	size_t n = 0;

	if (n_texts == 0)
		PG_RETURN_NULL();
	passages = simdup_common_passages(texts, n_texts, share, &which, &n);
	return show_passages(fcinfo, texts[which], passages, n);
}

/* The boilerplate of an array of passages. */
typedef struct BoilerplateMemo
{
	SimdupMemo memo;
	SimdupBoilerplate boilerplate;
} BoilerplateMemo;

static void
make_boilerplate(void *arg)
{
	BoilerplateMemo *memo = arg;
	size_t n;
	SimdupUtf8 *texts = simdup_utf8_texts(memo->memo.arrays[0], &n);

	for (size_t i = 0; i < n; i++)
		if (!simdup_add_boilerplate(&memo->boilerplate, texts[i]))
			simdup_too_many_words();
}

PG_FUNCTION_INFO_V1(simdup_without);
/* Return simdup_without(content, passages). */
Datum
simdup_without(PG_FUNCTION_ARGS)
{
	const BoilerplateMemo *memo;
	SimdupUtf8 content;
	SimdupPassage *passages;
	SimdupUtf8 joined;
	size_t n = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	memo = simdup_memo(fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(1), NULL,
					   sizeof(BoilerplateMemo), make_boilerplate);
	content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	passages = simdup_without_boilerplate(content, &memo->boilerplate, &n);
	/* as it is, also where Unicode lacks one of its characters */
	if (n == 1 && passages[0].from == 0 && passages[0].to == content.len)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	joined = simdup_join_passages(content, passages, n, "\n");
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.bytes, joined.len));
}

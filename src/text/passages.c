/*
 * passages.c
 *	  Parts of texts: a page without its markup, the numbers of a text, and what it
 *	  has alone or in common with others: passages and features.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "core/compare/numbers.h"
#include "core/compare/passages.h"
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "core/unicode/html.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"

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

PG_FUNCTION_INFO_V1(simdup_numbers);
/* Return simdup_numbers(content). */
Datum
simdup_numbers(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	size_t len;
	/* other encodings may have the fullwidth signs only */
	char *numbers =
		simdup_text_numbers(content.bytes, content.len, simdup_is_utf8(), &len);

	PG_RETURN_TEXT_P(simdup_utf8_to_text(numbers, len));
}

/*
 * What a letter adds, what letters have in common, and a letter without its
 * boilerplate: simdup_own_text, simdup_common_text and simdup_without.
 */

/* What stands between passages: full stops in encodings without an ellipsis. */
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
			errmsg("text has too many words"));
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
	/* a character that Unicode lacks cannot come back */
	for (int i = 0; GetDatabaseEncoding() != PG_SQL_ASCII && i < joined.len;
		 i++)
		if ((unsigned char) joined.data[i] == SIMDUP_NO_CHARACTER)
			joined.data[i] = '?';
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
	size_t n = 0;

	if (n_texts == 0)
		PG_RETURN_NULL();
	passages = simdup_common_passages(texts, n_texts, share, &n);
	return show_passages(fcinfo, texts[0], passages, n);
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

/* Why two texts are near, or are not: simdup_explain. */

/* One of the texts, and its features or shingles as elements of JSON. */
typedef struct Side
{
	SimdupUtf8 content;
	SimdupHashes set; /* of shingles, ascending */
	bool has_fp;
	uint64 fp;
	const SimdupHashes *other_set;
	SimdupWordSet listed;  /* shingles in the lists */
	StringInfoData shared; /* what the other text has, too */
	StringInfoData only;
} Side;

/* Append a string to elements of JSON. */
static void
append_string(StringInfo json, const char *bytes, size_t len)
{
	char *string = text_to_cstring(simdup_utf8_to_text(bytes, len));

	if (json->len > 0)
		appendStringInfoString(json, ", ");
	escape_json(json, string);
	pfree(string);
}

/* Return the equal of a feature among others, which `order` has by hash, or NULL. */
static const SimdupTokenCount *
find_feature(const SimdupTokenCounts *others, const SimdupEntry *order,
			 const SimdupTokenCount *feature)
{
	const SimdupEntry *end = order + others->count;
	const SimdupEntry *entry = bsearch(&feature->hash, order, others->count,
									   sizeof(*order), simdup_compare_words);

	if (entry == NULL)
		return NULL;
	while (entry > order && entry[-1].value == feature->hash)
		entry--;
	for (; entry < end && entry->value == feature->hash; entry++)
	{
		const SimdupTokenCount *other = &others->features[entry->row];

		if (other->len == feature->len &&
			memcmp(other->bytes, feature->bytes, other->len) == 0)
			return other;
	}
	return NULL;
}

/*
 * List the features of a text, in falling weight: those that the other text has
 * too as "feature": [weight, its weight], the rest as "feature": weight.
 */
static void
list_features(Side *side, const SimdupTokenCounts *own,
			  const SimdupTokenCounts *other)
{
	SimdupEntry *order = simdup_alloc((other->count + 1) * sizeof(*order));

	for (size_t i = 0; i < other->count; i++)
		order[i] = (SimdupEntry){other->features[i].hash, i};
	simdup_sort_pairs(order, other->count);
	for (size_t i = 0; i < own->count; i++)
	{
		const SimdupTokenCount *feature = &own->features[i];
		const SimdupTokenCount *same = find_feature(other, order, feature);
		StringInfo json = same != NULL ? &side->shared : &side->only;
		uint32 weight = simdup_weight(own->weighting, feature->tf);

		append_string(json, feature->bytes, feature->len);
		if (same != NULL)
			appendStringInfo(json, ": [%u, %u]", weight,
							 simdup_weight(other->weighting, same->tf));
		else
			appendStringInfo(json, ": %u", weight);
		simdup_check_interrupts();
	}
	simdup_free(order);
}

/* Explain the distance of simhash(content) by the features of both texts. */
static void
explain_simhash(Side sides[2])
{
	SimdupTokenCounts features[2];

	for (int i = 0; i < 2; i++)
	{
		SimdupSum sum;

		simdup_sum_init(&sum);
		simdup_collect_features(&features[i], &simdup_default_profile,
								sides[i].content, &sum);
		simdup_token_counts_sort(&features[i]);
		sides[i].has_fp = features[i].count > 0;
		sides[i].fp = simdup_counters_signs(simdup_sum_finish(&sum), false);
	}
	for (int i = 0; i < 2; i++)
		list_features(&sides[i], &features[i], &features[1 - i]);
}

/* List shingles in the order of the text, each once: a SimdupTokenSink. */
static void
list_shingles(void *arg, const SimdupToken *shingles, int n)
{
	Side *side = arg;

	for (int i = 0; i < n; i++)
	{
		uint64 hash = simdup_city64(shingles[i].bytes, shingles[i].len);
		bool shared =
			simdup_hashes_find(side->other_set, hash) < side->other_set->n;

		if (simdup_new_shingle(&side->listed, hash))
			append_string(shared ? &side->shared : &side->only,
						  shingles[i].bytes, shingles[i].len);
	}
}

/* Explain the distance of minhash64 by the shingles of both texts. */
static void
explain_minhash64(Side sides[2], SimdupShingling shingling)
{
	for (int i = 0; i < 2; i++)
	{
		Side *side = &sides[i];

		side->other_set = &sides[1 - i].set;
		side->has_fp =
			simdup_utf8_minhash64(side->content, shingling, 0, &side->fp);
		simdup_folded_shingles(shingling, side->content.bytes,
							   side->content.len, list_shingles, side);
		simdup_wordset_free(&side->listed);
	}
}

/* Return elements of JSON as an object or an array. */
static Datum
json_result(bool object, const StringInfoData *elements)
{
	return CStringGetTextDatum(
		psprintf(object ? "{%s}" : "[%s]", elements->data));
}

PG_FUNCTION_INFO_V1(simdup_explain);
/* Return simdup_explain(a, b, fingerprint, w, unit). */
Datum
simdup_explain(PG_FUNCTION_ARGS)
{
	const text *name = PG_GETARG_TEXT_PP(2);
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 3, 4);
	bool is_simhash = simdup_text_is(name, "simhash");
	Side sides[2] = {0};
	Side *a = &sides[0];
	Side *b = &sides[1];
	Datum values[7] = {0};
	bool nulls[7] = {0};

	for (int i = 0; i < 2; i++)
	{
		sides[i].content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(i));
		sides[i].set = simdup_element_set(shingling, sides[i].content);
		initStringInfo(&sides[i].shared);
		initStringInfo(&sides[i].only);
	}
	if (is_simhash)
		explain_simhash(sides);
	else if (simdup_text_is(name, "minhash64"))
		explain_minhash64(sides, shingling);
	else
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized fingerprint: \"%s\"",
					   text_to_cstring(name)),
				errhint("Fingerprints are \"minhash64\" and \"simhash\"."));

	nulls[0] = !a->has_fp || !b->has_fp;
	values[0] = Int32GetDatum(simdup_hamming64(a->fp, b->fp));
	if (a->set.n == 0 || b->set.n == 0)
		nulls[1] = nulls[2] = nulls[3] = true;
	else
	{
		double common = (double) simdup_hashes_common(&a->set, &b->set);

		values[1] = Float8GetDatum(simdup_resemblance(&a->set, &b->set));
		values[2] = Float8GetDatum(common / (double) a->set.n);
		values[3] = Float8GetDatum(common / (double) b->set.n);
	}
	values[4] = json_result(is_simhash, &a->shared);
	values[5] = json_result(is_simhash, &a->only);
	values[6] = json_result(is_simhash, &b->only);
	return simdup_row_result(fcinfo, values, nulls);
}

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

#include "core/compare/numbers.h"
#include "core/compare/passages.h"
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/unicode/html.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/passages.h"
#include "text/simhash.h"

PG_FUNCTION_INFO_V1(simdup_strip_html);
Datum
simdup_strip_html(PG_FUNCTION_ARGS)
{
	text *html = PG_GETARG_TEXT_PP(0);
	size_t len = VARSIZE_ANY_EXHDR(html);
	text *result = palloc(VARHDRSZ + len);

	len = simdup_html_text(VARDATA_ANY(html), len, VARDATA(result),
						   simdup_encode_char, simdup_conversion_from_utf8());
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

	return simdup_encode_char(simdup_conversion_from_utf8(), 0x2026, encoded) >
				   0
			   ? " \xe2\x80\xa6 "
			   : " ... ";
}

void
simdup_too_many_words(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many words"));
}

StringInfoData
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
	return joined;
}

/* The result of a function that shows passages of a text; NULL for none. */
static Datum
show_passages(FunctionCallInfo fcinfo, SimdupUtf8 content,
			  const SimdupPassage *passages, size_t n)
{
	StringInfoData joined =
		simdup_join_passages(content, passages, n, separator());

	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.data, (size_t) joined.len));
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
	StringInfoData joined;
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
	PG_RETURN_TEXT_P(simdup_utf8_to_text(joined.data, (size_t) joined.len));
}

/*
 * Why two texts are near, or are not: simdup_explain.
 */

/* The result: distance, resemblance, a_in_b, b_in_a, and three lists. */
typedef struct Explanation
{
	Datum values[7];
	bool nulls[7];
} Explanation;

/* Compute resemblance and containments of two ascending sets. */
static void
explain_sets(Explanation *explanation, const SimdupHashes sets[2])
{
	bool none = sets[0].n == 0 || sets[1].n == 0;
	double common;

	for (int i = 1; i < 4; i++)
		explanation->nulls[i] = none;
	if (none)
		return;
	common = (double) simdup_hashes_common(&sets[0], &sets[1]);
	explanation->values[1] =
		Float8GetDatum(simdup_resemblance(&sets[0], &sets[1]));
	explanation->values[2] = Float8GetDatum(common / (double) sets[0].n);
	explanation->values[3] = Float8GetDatum(common / (double) sets[1].n);
}

/* simhash */

/* Collect features by the default profile, as simhash(content) does. */
static void
collect(SimdupTokenCounts *features, SimdupSum *sum, SimdupUtf8 content)
{
	simdup_sum_init(sum);
	simdup_collect_features(features, &simdup_default_profile, content, sum);
	simdup_token_counts_sort(features);
}

static int
compare_features(const void *a, const void *b)
{
	const SimdupTokenCount *x = *(const SimdupTokenCount *const *) a;
	const SimdupTokenCount *y = *(const SimdupTokenCount *const *) b;
	int order;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	order = memcmp(x->bytes, y->bytes, Min(x->len, y->len));
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Pointers to the features, for look-up. */
static const SimdupTokenCount **
sorted_pointers(const SimdupTokenCounts *features)
{
	const SimdupTokenCount **pointers =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   Max(features->count, 1) * sizeof(void *));

	for (size_t i = 0; i < features->count; i++)
		pointers[i] = &features->features[i];
	qsort(pointers, features->count, sizeof(void *), compare_features);
	return pointers;
}

static uint32
weight_of(const SimdupTokenCount *feature)
{
	return simdup_weight(SIMDUP_WEIGHTING_LOG, feature->tf);
}

/*
 * A JSON object of the features of one text, in falling weight, that the other
 * has too ("feature": [weight, its weight]) or has not ("feature": weight).
 */
static Datum
features_json(const SimdupTokenCounts *features, const SimdupTokenCounts *other,
			  bool shared)
{
	const SimdupTokenCount **others = sorted_pointers(other);
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	for (size_t i = 0; i < features->count; i++)
	{
		const SimdupTokenCount *feature = &features->features[i];
		const SimdupTokenCount **same =
			bsearch(&feature, others, other->count, sizeof(void *),
					compare_features);
		char *name;

		if ((same != NULL) != shared)
			continue;
		name =
			text_to_cstring(simdup_utf8_to_text(feature->bytes, feature->len));
		if (json.len > 1)
			appendStringInfoString(&json, ", ");
		escape_json(&json, name);
		if (shared)
			appendStringInfo(&json, ": [%u, %u]", weight_of(feature),
							 weight_of(*same));
		else
			appendStringInfo(&json, ": %u", weight_of(feature));
		pfree(name);
	}
	appendStringInfoChar(&json, '}');
	pfree(others);
	return PointerGetDatum(cstring_to_text_with_len(json.data, json.len));
}

/* Explain the distance by the features of both texts. */
static void
explain_simhash(Explanation *explanation, const SimdupUtf8 content[2])
{
	SimdupTokenCounts features[2];
	SimdupSum sums[2];

	for (int i = 0; i < 2; i++)
		collect(&features[i], &sums[i], content[i]);
	if (features[0].count == 0 || features[1].count == 0)
		explanation->nulls[0] = true;
	else
	{
		uint64 a = simdup_counters_signs(simdup_sum_finish(&sums[0]), false);
		uint64 b = simdup_counters_signs(simdup_sum_finish(&sums[1]), false);

		explanation->values[0] = Int32GetDatum(simdup_hamming64(a, b));
	}
	explanation->values[4] = features_json(&features[0], &features[1], true);
	explanation->values[5] = features_json(&features[0], &features[1], false);
	explanation->values[6] = features_json(&features[1], &features[0], false);
}

/* minhash64 */

/* JSON arrays of a text's shingles: those that the other has, and the rest. */
typedef struct SharedLists
{
	const SimdupHashes *own;
	const SimdupHashes *other;
	bool *listed; /* of own */
	StringInfoData shared;
	StringInfoData only;
} SharedLists;

/* List shingles: a SimdupTokenSink. */
static void
list_shingles(void *arg, const SimdupToken *shingles, int n)
{
	SharedLists *lists = arg;

	for (int i = 0; i < n; i++)
	{
		uint64 hash = simdup_city64(shingles[i].bytes, shingles[i].len);
		size_t at = simdup_hashes_find(lists->own, hash);
		bool shared = simdup_hashes_find(lists->other, hash) < lists->other->n;
		StringInfo json = shared ? &lists->shared : &lists->only;
		char *shingle;

		if (lists->listed[at])
			continue;
		lists->listed[at] = true;
		shingle = text_to_cstring(
			simdup_utf8_to_text(shingles[i].bytes, shingles[i].len));
		appendStringInfoString(json, json->len > 1 ? ", " : "");
		escape_json(json, shingle);
		pfree(shingle);
	}
}

/* Lists the shingles of a text in its order, each once. */
static void
make_lists(SharedLists *lists, SimdupShingling shingling, SimdupUtf8 content,
		   const SimdupHashes *own, const SimdupHashes *other)
{
	lists->own = own;
	lists->other = other;
	lists->listed =
		MemoryContextAllocExtended(CurrentMemoryContext, own->n + 1,
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	initStringInfo(&lists->shared);
	initStringInfo(&lists->only);
	appendStringInfoChar(&lists->shared, '[');
	appendStringInfoChar(&lists->only, '[');
	simdup_folded_shingles(shingling, content.bytes, content.len, list_shingles,
						   lists);
	appendStringInfoChar(&lists->shared, ']');
	appendStringInfoChar(&lists->only, ']');
}

static uint64
fingerprint_of(const SimdupHashes *set)
{
	SimdupSketch sketch;
	uint64 fingerprint;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	simdup_sketch_add(&sketch, set->hashes, set->n);
	fingerprint = simdup_sketch_fingerprint(simdup_sketch_keys(&sketch));
	simdup_sketch_free(&sketch);
	return fingerprint;
}

/* Explain the distance by the shingles of both texts. */
static void
explain_minhash64(Explanation *explanation, const SimdupUtf8 content[2],
				  SimdupShingling shingling, const SimdupHashes sets[2])
{
	SharedLists lists[2];

	if (sets[0].n == 0 || sets[1].n == 0)
		explanation->nulls[0] = true;
	else
		explanation->values[0] =
			Int32GetDatum(simdup_hamming64(fingerprint_of(&sets[0]),
										   fingerprint_of(&sets[1])));
	for (int i = 0; i < 2; i++)
		make_lists(&lists[i], shingling, content[i], &sets[i], &sets[1 - i]);
	explanation->values[4] =
		PointerGetDatum(cstring_to_text(lists[0].shared.data));
	explanation->values[5] =
		PointerGetDatum(cstring_to_text(lists[0].only.data));
	explanation->values[6] =
		PointerGetDatum(cstring_to_text(lists[1].only.data));
}

PG_FUNCTION_INFO_V1(simdup_explain);
/* Return simdup_explain(a, b, fingerprint, w, unit). */
Datum
simdup_explain(PG_FUNCTION_ARGS)
{
	const text *name = PG_GETARG_TEXT_PP(2);
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 3, 4);
	Explanation explanation = {0};
	SimdupUtf8 content[2];
	SimdupHashes sets[2];

	for (int i = 0; i < 2; i++)
	{
		content[i] = simdup_text_to_utf8(PG_GETARG_TEXT_PP(i));
		sets[i] = simdup_element_set(shingling, content[i]);
	}
	explain_sets(&explanation, sets);
	if (simdup_text_is(name, "minhash64"))
		explain_minhash64(&explanation, content, shingling, sets);
	else if (simdup_text_is(name, "simhash"))
		explain_simhash(&explanation, content);
	else
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized fingerprint: \"%s\"",
					   text_to_cstring(name)),
				errhint("Fingerprints are \"minhash64\" and \"simhash\"."));
	return simdup_row_result(fcinfo, explanation.values, explanation.nulls);
}

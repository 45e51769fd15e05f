/*
 * explain.c
 *	  Why two texts are near, or are not: the features or shingles of both.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"
#include "utils/json.h"

#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"

/* One of the texts, and its features or shingles as elements of JSON. */
typedef struct Side
{
	SimdupUtf8 content;
	SimdupHashes set; /* of shingles, ascending */
	bool has_fp;
	uint64 fp;
	const SimdupHashes *other_set;
	SimdupWordSet listed;  /* shingles in the lists */
	StringInfoData shared; /* the text that both have */
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

/* Order of features by hash, and then by their bytes. Checks for interrupts. */
static int
compare_features(const void *left, const void *right)
{
	const SimdupTokenCount *a = left;
	const SimdupTokenCount *b = right;

	simdup_check_interrupts();
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->len);
}

/*
 * List the features of a text, in falling weight: those that the other text has
 * too as "feature": [weight, its weight], the rest as "feature": weight.
 */
static void
list_features(Side *side, const SimdupTokenCounts *own,
			  const SimdupTokenCounts *other)
{
	size_t size = other->count * sizeof(SimdupTokenCount);
	SimdupTokenCount *sorted = simdup_alloc(size + 1);

	memcpy(sorted, other->features, size);
	simdup_sort(sorted, other->count, sizeof(*sorted), compare_features);
	for (size_t i = 0; i < own->count; i++)
	{
		const SimdupTokenCount *feature = &own->features[i];
		const SimdupTokenCount *same =
			bsearch(feature, sorted, other->count, sizeof(*sorted),
					compare_features);
		StringInfo json = same != NULL ? &side->shared : &side->only;
		uint32 weight = simdup_weight(own->weighting, feature->tf);

		append_string(json, feature->bytes, feature->len);
		if (same != NULL)
			appendStringInfo(json, ": [%u, %u]", weight,
							 simdup_weight(other->weighting, same->tf));
		else
			appendStringInfo(json, ": %u", weight);
	}
	simdup_free(sorted);
}

/* Explain the distance of simhash(content) by the features of both texts. */
static void
explain_simhash(Side sides[2])
{
	SimdupTokenCounts features[2];

	for (int i = 0; i < 2; i++)
	{
		SimdupCounters sum = {0};

		simdup_collect_features(&features[i], &simdup_default_profile,
								sides[i].content, &sum);
		simdup_token_counts_sort(&features[i]);
		sides[i].has_fp = features[i].count > 0;
		sides[i].fp = simdup_counters_signs(&sum, false);
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
		bool shared = simdup_hashes_has(side->other_set, hash);

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

		values[1] =
			Float8GetDatum(simdup_resemblance_from(&a->set, &b->set, 0));
		values[2] = Float8GetDatum(common / (double) a->set.n);
		values[3] = Float8GetDatum(common / (double) b->set.n);
	}
	values[4] = json_result(is_simhash, &a->shared);
	values[5] = json_result(is_simhash, &a->only);
	values[6] = json_result(is_simhash, &b->only);
	return simdup_row_result(fcinfo, values, nulls);
}

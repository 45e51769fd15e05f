/*
 * explain.c
 *	  simdup_explain: why two texts are near, or are not.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "core/hamming.h"
#include "core/probe.h"
#include "text/shingling.h"

/* The default profile, as simhash(content) has it. */
static void
collect(SimdupFeatures *features, SimdupSum *sum, const text *content)
{
	simdup_sum_init(sum);
	simdup_collect_features(features, &simdup_default_profile,
							simdup_text_to_utf8(content), sum);
	simdup_features_sort(features);
}

static int
compare_features(const void *a, const void *b)
{
	const SimdupFeature *x = *(const SimdupFeature *const *) a;
	const SimdupFeature *y = *(const SimdupFeature *const *) b;
	int order;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	order = memcmp(x->bytes, y->bytes, Min(x->len, y->len));
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Pointers to the features, for look-up. */
static const SimdupFeature **
sorted_pointers(const SimdupFeatures *features)
{
	const SimdupFeature **pointers =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   Max(features->count, 1) * sizeof(void *));

	for (size_t i = 0; i < features->count; i++)
		pointers[i] = &features->features[i];
	qsort(pointers, features->count, sizeof(void *), compare_features);
	return pointers;
}

static uint32
weight_of(const SimdupFeature *feature)
{
	return simdup_weight(SIMDUP_WEIGHTING_LOG, feature->tf);
}

/*
 * A JSON object of the features of one text, in falling weight, that the other
 * has too ("feature": [weight, its weight]) or has not ("feature": weight).
 */
static Datum
features_json(const SimdupFeatures *features, const SimdupFeatures *other,
			  bool shared)
{
	const SimdupFeature **others = sorted_pointers(other);
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	for (size_t i = 0; i < features->count; i++)
	{
		const SimdupFeature *feature = &features->features[i];
		const SimdupFeature **same = bsearch(&feature, others, other->count,
											 sizeof(void *), compare_features);
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

PG_FUNCTION_INFO_V1(simdup_explain);
Datum
simdup_explain(PG_FUNCTION_ARGS)
{
	text *content[2] = {PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1)};
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(2), PG_GETARG_TEXT_PP(3));
	SimdupFeatures features[2];
	SimdupSum sums[2];
	SimdupHashes sets[2];
	TupleDesc desc;
	Datum values[8] = {0};
	bool nulls[8] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < 2; i++)
	{
		collect(&features[i], &sums[i], content[i]);
		sets[i] = simdup_hash_set(content[i], shingling);
	}

	nulls[0] = nulls[1] = features[0].count == 0 || features[1].count == 0;
	if (!nulls[0])
	{
		int distance =
			simdup_hamming64(simdup_counts_signs(simdup_sum_finish(&sums[0]),
												 false),
							 simdup_counts_signs(simdup_sum_finish(&sums[1]),
												 false));

		values[0] = Int32GetDatum(distance);
		values[1] = Float8GetDatum(simdup_ball_fraction(distance));
	}
	nulls[2] = nulls[3] = nulls[4] = sets[0].n == 0 || sets[1].n == 0;
	if (!nulls[2])
	{
		double common =
			(double) simdup_hashes_common(sets[0].hashes, sets[0].n,
										  sets[1].hashes, sets[1].n);

		values[2] = Float8GetDatum(simdup_resemblance(&sets[0], &sets[1]));
		values[3] = Float8GetDatum(common / (double) sets[0].n);
		values[4] = Float8GetDatum(common / (double) sets[1].n);
	}
	values[5] = features_json(&features[0], &features[1], true);
	values[6] = features_json(&features[0], &features[1], false);
	values[7] = features_json(&features[1], &features[0], false);
	PG_RETURN_DATUM(HeapTupleGetDatum(
		heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

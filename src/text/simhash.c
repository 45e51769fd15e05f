/*
 * simhash.c
 *	  Fingerprints of texts and rows, and what they saw.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "core/charclass.h"
#include "core/host.h"
#include "funcapi.h"
#include "text/profile.h"
#include "type/simhash64.h"
#include "utils/array.h"
#include "utils/builtins.h"

/* No feature, or none that weighs anything: no fingerprint. */
static Datum
fingerprint(FunctionCallInfo fcinfo, SimdupSum *sum, bool ties)
{
	SimdupCounts *counts = simdup_sum_finish(sum);

	if (simdup_counts_empty(counts))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(simdup_counts_signs(counts, ties));
}

/* Add the features of the content at argument 0. */
static void
add_content(FunctionCallInfo fcinfo, const SimdupProfile *profile,
			SimdupSum *sum)
{
	SimdupFeatures features;

	simdup_collect_features(&features, profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), sum);
	simdup_features_free(&features);
}

PG_FUNCTION_INFO_V1(simhash);
/* simhash(content, n_features, tokenizer, weighting, hash, ties) */
Datum
simhash(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = 4,
													   .ties = 5});
	SimdupSum sum;

	simdup_sum_init(&sum);
	if (!PG_ARGISNULL(0))
		add_content(fcinfo, &profile, &sum);
	return fingerprint(fcinfo, &sum, profile.ties);
}

PG_FUNCTION_INFO_V1(simdup_features);
/* simdup_features(content, n_features, tokenizer, weighting) */
Datum
simdup_features(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 1,
													   .tokenizer = 2,
													   .weighting = 3,
													   .hash = -1,
													   .ties = -1});
	ReturnSetInfo *result;
	SimdupFeatures features;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	simdup_collect_features(&features, &profile,
							simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)), NULL);
	simdup_features_sort(&features);
	for (size_t i = 0; i < features.count; i++)
	{
		SimdupFeature *feature = &features.features[i];
		text *token = simdup_utf8_to_text(feature->bytes, feature->len);
		Datum values[2] = {PointerGetDatum(token),
						   Int64GetDatum(
							   simdup_weight(profile.weighting, feature->tf))};
		bool  nulls[2] = {false, false};

		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(token);
		simdup_check_interrupts();
	}
	simdup_features_free(&features);
	return (Datum) 0;
}

/* Unicode's White_Space, and the information separators as in Python. */
static bool
is_white(uint32_t cp)
{
	return (cp >= 0x09 && cp <= 0x0D) || (cp >= 0x1C && cp <= 0x20) ||
		   cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
		   (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 ||
		   cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/*
 * A field is one feature: its characters folded, without the white space
 * around. Folded bytes go to *folded, at most four for each byte of the field.
 */
static size_t
fold_field(SimdupUtf8 field, unsigned char *folded)
{
	const unsigned char *p = (const unsigned char *) field.bytes;
	const unsigned char *end = p + field.len;
	size_t               used = 0;
	size_t               trimmed = 0;
	int                  len;

	for (; p < end; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);

		if (is_white(cp) && used == 0)
			continue;
		if (cp == SIMDUP_INVALID_CHAR)
			folded[used++] = *p;
		else
			used +=
				simdup_utf8_encode((uint32_t) ((int32_t) cp +
											   simdup_char_property(cp).fold),
								   folded + used);
		if (!is_white(cp))
			trimmed = used;
	}
	return trimmed;
}

static void
add_fields(ArrayType *fields, int field_weight, SimdupHash hash, SimdupSum *sum)
{
	Datum *values;
	bool  *nulls;
	int    n;

	deconstruct_array(fields, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
	{
		SimdupUtf8     field;
		unsigned char *folded;
		size_t         len;

		if (nulls[i])
			continue;
		field = simdup_text_to_utf8(DatumGetTextPP(values[i]));
		folded = simdup_alloc(field.len * SIMDUP_MAX_UTF8 + 1);
		len = fold_field(field, folded);
		if (len > 0)
			simdup_sum_add(sum, simdup_hash64(hash, (char *) folded, len),
						   (uint64) field_weight);
		simdup_free(folded);
	}
}

PG_FUNCTION_INFO_V1(simhash_row);
/* simhash_row(content, fields, field_weight, n_features, tokenizer, ...) */
Datum
simhash_row(PG_FUNCTION_ARGS)
{
	SimdupProfile profile =
		simdup_get_profile(fcinfo, (SimdupProfileArgs){.n_features = 3,
													   .tokenizer = 4,
													   .weighting = 5,
													   .hash = 6,
													   .ties = 7});
	SimdupSum sum;
	int       field_weight;

	if (PG_ARGISNULL(2))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("%s must not be null", "field_weight")));
	field_weight = PG_GETARG_INT32(2);
	if (field_weight < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("field_weight must not be negative"),
						errdetail("The value given is %d.", field_weight)));

	simdup_sum_init(&sum);
	if (!PG_ARGISNULL(0))
		add_content(fcinfo, &profile, &sum);
	if (!PG_ARGISNULL(1))
		add_fields(PG_GETARG_ARRAYTYPE_P(1), field_weight, profile.hash, &sum);
	return fingerprint(fcinfo, &sum, profile.ties);
}

PG_FUNCTION_INFO_V1(simdup_hash);
/* simdup_hash(text, algorithm) */
Datum
simdup_hash(PG_FUNCTION_ARGS)
{
	SimdupUtf8 value = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupHash hash = simdup_parse_hash(PG_GETARG_TEXT_PP(1));

	PG_RETURN_INT64((int64) simdup_hash64(hash, value.bytes, value.len));
}

/*
 * minhash64.c
 *	  Fingerprints of texts by minhash64, and the shingles that they see.
 */
#include "postgres.h"
#include "compat.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

#include "core/hash.h"
#include "core/host.h"
#include "server/arguments.h"
#include "server/result.h"
#include "text/minhash64.h"
#include "text/shingling.h"
#include "type/simhash64.h"

/* Fewer are searched for one by one, so there is a limit. */
#define MAX_MIN_FEATURES 1000

const SimdupFoldedShingling simdup_default_shingling = {SIMDUP_FOLDED_CHAR, 4};

static int
check_folded_width(int w)
{
	if (w < 1 || w > SIMDUP_MAX_FOLDED_W)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("shingle width must be between 1 and %d",
					   SIMDUP_MAX_FOLDED_W),
				errdetail("The width given is %d.", w));
	return w;
}

static SimdupFoldedUnit
parse_unit(const text *name, bool raw)
{
	if (simdup_text_is(name, "char"))
		return SIMDUP_FOLDED_CHAR;
	if (simdup_text_is(name, "word"))
		return SIMDUP_FOLDED_WORD;
	if (raw && simdup_text_is(name, "raw"))
		return SIMDUP_FOLDED_RAW;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized shingle unit: \"%s\"", text_to_cstring(name)),
			raw ? errhint("Units are \"char\", \"word\" and \"raw\".")
				: errhint("Units are \"char\" and \"word\"."));
}

SimdupFoldedShingling
simdup_get_resemblance(int w, const text *unit)
{
	return (SimdupFoldedShingling){parse_unit(unit, true),
								   check_folded_width(w)};
}

SimdupFoldedShingling
simdup_get_folded_shingling(FunctionCallInfo fcinfo, int w, int unit)
{
	SimdupFoldedShingling shingling;

	simdup_check_not_null(PG_ARGISNULL(w), "w");
	simdup_check_not_null(PG_ARGISNULL(unit), "unit");
	shingling.w = check_folded_width(PG_GETARG_INT32(w));
	shingling.unit = parse_unit(PG_GETARG_TEXT_PP(unit), false);
	return shingling;
}

void
simdup_fewest_set(SimdupFewest *fewest, int min)
{
	if (min < 0 || min > MAX_MIN_FEATURES)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_features must be between 0 and %d",
					   MAX_MIN_FEATURES),
				errdetail("The value given is %d.", min));
	*fewest = (SimdupFewest){.min = min};
	if (min > 0)
		fewest->seen = palloc(min * sizeof(uint64_t));
}

/* Each hash is compared with at most min others, and only until min is met. */
void
simdup_fewest_add(SimdupFewest *fewest, const uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n && fewest->n < fewest->min; i++)
	{
		int j = 0;

		while (j < fewest->n && fewest->seen[j] != hashes[i])
			j++;
		if (j == fewest->n)
			fewest->seen[fewest->n++] = hashes[i];
	}
}

void
simdup_add_elements(void *sketch, const uint64_t *hashes, size_t n)
{
	simdup_sketch_add(sketch, hashes, n);
}

void
simdup_sketch_text(SimdupSketch *sketch, SimdupFoldedShingling shingling,
				   SimdupUtf8 content)
{
	simdup_folded_elements(shingling, content.bytes, content.len,
						   simdup_add_elements, sketch);
}

Datum
simdup_minhash64_result(FunctionCallInfo fcinfo, SimdupSketch *sketch)
{
	const uint64_t *keys = simdup_sketch_keys(sketch);

	if (keys == NULL)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(simdup_sketch_fingerprint(keys));
}

/* A sketch, and whether there are enough elements for it. */
typedef struct CountedSketch
{
	SimdupSketch sketch;
	SimdupFewest fewest;
} CountedSketch;

/* A SimdupElementSink. */
static void
add_counted(void *arg, const uint64_t *hashes, size_t n)
{
	CountedSketch *counted = arg;

	simdup_fewest_add(&counted->fewest, hashes, n);
	simdup_sketch_add(&counted->sketch, hashes, n);
}

SimdupHashes
simdup_element_set(SimdupFoldedShingling shingling, SimdupUtf8 content)
{
	SimdupHashes set = {0};

	if (!simdup_folded_set(shingling, content.bytes, content.len, &set))
		simdup_too_many_shingles();
	return set;
}

bool
simdup_texts_resemble(SimdupUtf8 a, SimdupUtf8 b, double min_resemblance)
{
	SimdupHashes x = simdup_element_set(simdup_default_shingling, a);
	SimdupHashes y = simdup_element_set(simdup_default_shingling, b);
	bool resemble = simdup_resemblance_from(&x, &y, min_resemblance) >= 0;

	simdup_hashes_free(&x);
	simdup_hashes_free(&y);
	return resemble;
}

PG_FUNCTION_INFO_V1(simdup_minhash64);
/* minhash64(content, w, unit, min_features) */
Datum
simdup_minhash64(PG_FUNCTION_ARGS)
{
	SimdupFoldedShingling shingling = simdup_get_folded_shingling(fcinfo, 1, 2);
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	CountedSketch counted;
	Datum result = (Datum) 0;

	simdup_fewest_set(&counted.fewest, PG_GETARG_INT32(3));
	simdup_sketch_begin(&counted.sketch, SIMDUP_MINHASH64_BINS);
	simdup_folded_elements(shingling, content.bytes, content.len, add_counted,
						   &counted);
	if (counted.fewest.n >= counted.fewest.min)
		result = simdup_minhash64_result(fcinfo, &counted.sketch);
	else
		fcinfo->isnull = true;
	simdup_sketch_free(&counted.sketch);
	return result;
}

/* Where distinct shingles go, in order of first occurrence. */
typedef struct ShingleRows
{
	ReturnSetInfo *result;
	HTAB *seen; /* of hashes */
} ShingleRows;

/* A SimdupFoldedSink. */
static void
put_shingles(void *arg, const char *bytes, const size_t *starts,
			 const size_t *ends, size_t n)
{
	ShingleRows *rows = arg;

	for (size_t i = 0; i < n; i++)
	{
		size_t len = ends[i] - starts[i];
		uint64 hash = simdup_city64(bytes + starts[i], len);
		bool found;
		bool isnull = false;
		Datum shingle;

		hash_search(rows->seen, &hash, HASH_ENTER, &found);
		if (found)
			continue;
		if (hash_get_num_entries(rows->seen) > (long) SIMDUP_MAX_SHINGLES)
			simdup_too_many_shingles();
		shingle = PointerGetDatum(simdup_utf8_to_text(bytes + starts[i], len));
		simdup_put_result(rows->result, &shingle, &isnull);
		pfree(DatumGetPointer(shingle));
	}
}

PG_FUNCTION_INFO_V1(simdup_minhash64_shingles);
/* minhash64_shingles(content, w, unit) */
Datum
simdup_minhash64_shingles(PG_FUNCTION_ARGS)
{
	SimdupFoldedShingling shingling = simdup_get_folded_shingling(fcinfo, 1, 2);
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	HASHCTL control = {0};
	ShingleRows rows;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	control.keysize = sizeof(uint64);
	control.entrysize = sizeof(uint64);
	control.hcxt = CurrentMemoryContext;
	rows.result = (ReturnSetInfo *) fcinfo->resultinfo;
	rows.seen = hash_create("minhash64 shingles", 256, &control,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	simdup_folded_shingles(shingling, content.bytes, content.len, put_shingles,
						   &rows);
	hash_destroy(rows.seen);
	return (Datum) 0;
}

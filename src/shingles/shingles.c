/*
 * shingles.c
 *	  Shingles, sketches and MinHash signatures of texts, in SQL.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "text/minhash64.h"

/*
 * Shingles, resemblance and containment, Rabin fingerprints, sketches and
 * super-shingles (Broder 1997; Broder et al. 1997).
 */

PG_FUNCTION_INFO_V1(simdup_shingles);
Datum
simdup_shingles(PG_FUNCTION_ARGS)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(2));
	SimdupShingleRows rows = simdup_begin_shingle_rows(fcinfo);

	simdup_shingle_strings(shingling, utf8.bytes, utf8.len,
						   simdup_put_shingle_rows, &rows);
	simdup_wordset_free(&rows.seen);
	return (Datum) 0;
}

/* Return the resemblance of arguments 0 and 1, or how much of 0 is in 1. */
static Datum
compare_sets(FunctionCallInfo fcinfo, bool containment)
{
	SimdupShingling shingling =
		simdup_get_resemblance(PG_GETARG_INT32(2), PG_GETARG_TEXT_PP(3));
	SimdupHashes sets[2];

	for (int i = 0; i < 2; i++)
		sets[i] = simdup_element_set(shingling,
									 simdup_text_to_utf8(PG_GETARG_TEXT_PP(i)));
	if (sets[0].n == 0 || sets[1].n == 0)
		PG_RETURN_NULL();
	if (!containment)
		PG_RETURN_FLOAT8(simdup_resemblance_from(&sets[0], &sets[1], 0));
	PG_RETURN_FLOAT8((double) simdup_hashes_common(&sets[0], &sets[1]) /
					 (double) sets[0].n);
}

PG_FUNCTION_INFO_V1(simdup_shingle_resemblance);
Datum
simdup_shingle_resemblance(PG_FUNCTION_ARGS)
{
	return compare_sets(fcinfo, false);
}

PG_FUNCTION_INFO_V1(simdup_shingle_containment);
Datum
simdup_shingle_containment(PG_FUNCTION_ARGS)
{
	return compare_sets(fcinfo, true);
}

PG_FUNCTION_INFO_V1(simdup_shingle_winnow);
/* Return shingle_winnow(content, w, window, unit). */
Datum
simdup_shingle_winnow(PG_FUNCTION_ARGS)
{
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupShingling shingling =
		simdup_get_resemblance(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(3));
	int window = simdup_check_range(PG_GETARG_INT32(2), 1,
									SIMDUP_MAX_WINNOW_WINDOW, "window");
	SimdupHashes set = {0};

	if (!simdup_winnow(shingling, window, content.bytes, content.len, &set))
		simdup_too_many_shingles();
	if (set.n == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(set.hashes, (int) set.n, INT8OID));
}

/* Rabin fingerprints */

static int64
rabin_fingerprint(const void *bytes, size_t len, int degree)
{
	if (degree == 32)
		return (int64) simdup_rabin32(bytes, len);
	if (degree != 64)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("degree must be 32 or 64"),
				errdetail("The degree given is %d.", degree));
	return (int64) simdup_rabin64(bytes, len);
}

PG_FUNCTION_INFO_V1(simdup_rabin_fingerprint_text);
Datum
simdup_rabin_fingerprint_text(PG_FUNCTION_ARGS)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));

	PG_RETURN_INT64(
		rabin_fingerprint(utf8.bytes, utf8.len, PG_GETARG_INT32(1)));
}

PG_FUNCTION_INFO_V1(simdup_rabin_fingerprint_bytea);
Datum
simdup_rabin_fingerprint_bytea(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_INT64(rabin_fingerprint(VARDATA_ANY(bytes),
									  VARSIZE_ANY_EXHDR(bytes),
									  PG_GETARG_INT32(1)));
}

/*
 * Sketches
 *
 * A Rabin fingerprint of few bytes is those bytes, so fingerprints are mixed
 * before they are sampled. They lose a bit: SQL's signed integers then agree
 * on their order and on divisibility.
 */

static inline uint64
sketch_value(const void *bytes, size_t len)
{
	return simdup_mix64(simdup_rabin64(bytes, len)) >> 1;
}

typedef struct Sketch
{
	SimdupHashes values;
	uint64 modulus;
	bool any; /* the text has a shingle */
} Sketch;

/* Sketch shingles: a SimdupTokenSink. */
static void
sketch_shingles(void *arg, const SimdupToken *shingles, int n)
{
	Sketch *sketch = arg;

	sketch->any = true;
	for (int i = 0; i < n; i++)
	{
		uint64 value = sketch_value(shingles[i].bytes, shingles[i].len);

		if (value % sketch->modulus == 0 &&
			!simdup_hashes_add(&sketch->values, value))
			simdup_too_many_shingles();
	}
}

/*
 * Return the sketch of a function's text, argument 0: of the values that are
 * divisible by the modulus the k smallest.
 */
static Datum
make_sketch(FunctionCallInfo fcinfo, SimdupShingling shingling, uint64 modulus,
			size_t k)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	Sketch sketch = {.modulus = modulus};

	simdup_shingle_strings(shingling, utf8.bytes, utf8.len, sketch_shingles,
						   &sketch);
	if (!sketch.any)
		PG_RETURN_NULL();
	simdup_hashes_unique(&sketch.values);
	if (sketch.values.n > SIMDUP_MAX_SHINGLES)
		simdup_too_many_shingles();
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(sketch.values.hashes,
											(int) Min(sketch.values.n, k),
											INT8OID));
}

PG_FUNCTION_INFO_V1(simdup_shingle_sketch);
Datum
simdup_shingle_sketch(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(3));
	int modulus =
		simdup_check_range(PG_GETARG_INT32(2), 1, PG_INT32_MAX, "modulus");

	return make_sketch(fcinfo, shingling, (uint64) modulus,
					   SIMDUP_MAX_SHINGLES);
}

PG_FUNCTION_INFO_V1(simdup_shingle_sketch_bottom);
Datum
simdup_shingle_sketch_bottom(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(1), PG_GETARG_TEXT_PP(3));
	int k =
		simdup_check_range(PG_GETARG_INT32(2), 1, PG_INT32_MAX, "sketch size");

	return make_sketch(fcinfo, shingling, 1, (size_t) k);
}

/* A sketch that came back from SQL is ascending and without repetitions. */
static const int64 *
get_sketch(ArrayType *array, int *n)
{
	const int64 *values = simdup_array_elements(array, "sketch", n);

	for (int i = 1; i < *n; i++)
		if (values[i - 1] >= values[i])
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("sketch must be in ascending order"),
					errdetail("Element %d is %lld, element %d is %lld.", i,
							  (long long) values[i - 1], i + 1,
							  (long long) values[i]));
	return values;
}

PG_FUNCTION_INFO_V1(simdup_sketch_resemblance);
/* Look at only the k smallest of the union. */
Datum
simdup_sketch_resemblance(PG_FUNCTION_ARGS)
{
	int k = PG_INT32_MAX;
	int n_a;
	int n_b;
	const int64 *a;
	const int64 *b;
	int i = 0;
	int j = 0;
	int common = 0;
	int in_union = 0;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(2))
		k = simdup_check_range(PG_GETARG_INT32(2), 1, PG_INT32_MAX,
							   "sketch size");
	a = get_sketch(PG_GETARG_ARRAYTYPE_P(0), &n_a);
	b = get_sketch(PG_GETARG_ARRAYTYPE_P(1), &n_b);
	if (n_a == 0 || n_b == 0)
		PG_RETURN_NULL();

	for (; (i < n_a || j < n_b) && in_union < k; in_union++)
	{
		bool take_a = j == n_b || (i < n_a && a[i] <= b[j]);
		bool take_b = i == n_a || (j < n_b && b[j] <= a[i]);

		common += take_a && take_b;
		i += take_a;
		j += take_b;
	}
	PG_RETURN_FLOAT8((double) common / in_union);
}

PG_FUNCTION_INFO_V1(simdup_super_shingles);
/* Return shingles of the sketch: windows of w values, fingerprinted once more. */
Datum
simdup_super_shingles(PG_FUNCTION_ARGS)
{
	int n;
	const int64 *values = get_sketch(PG_GETARG_ARRAYTYPE_P(0), &n);
	int w = simdup_check_range(PG_GETARG_INT32(1), 1, PG_INT32_MAX,
							   "super-shingle width");
	uint64 *bytes; /* big-endian */
	SimdupHashes set = {0};

	if (n == 0)
		PG_RETURN_ARRAYTYPE_P(simdup_make_array(NULL, 0, INT8OID));
	w = Min(w, n);
	bytes = palloc((Size) n * sizeof(int64));
	for (int i = 0; i < n; i++)
		bytes[i] = pg_hton64((uint64) values[i]);
	for (int i = 0; i + w <= n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!simdup_hashes_add(&set, sketch_value(bytes + i,
												  (size_t) w * sizeof(uint64))))
			simdup_too_many_shingles();
	}
	simdup_hashes_unique(&set);
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(set.hashes, (int) set.n, INT8OID));
}

/* MinHash signatures, their similarity and their bands for a GIN index. */

#define MAX_HASHES 4096

static int
checked_n_hashes(int n_hashes)
{
	return simdup_check_range(n_hashes, 1, MAX_HASHES, "number of hashes");
}

PG_FUNCTION_INFO_V1(simdup_minhash_signature);
Datum
simdup_minhash_signature(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling =
		simdup_get_shingling(PG_GETARG_INT32(2), PG_GETARG_TEXT_PP(3));
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	int n_hashes = checked_n_hashes(PG_GETARG_INT32(1));
	uint32 signature[MAX_HASHES];
	SimdupHashes list = {0};

	if (!simdup_shingle_hashes(shingling, content.bytes, content.len, &list))
		simdup_too_many_shingles();
	if (list.n == 0)
		PG_RETURN_NULL();
	simdup_minhash(list.hashes, list.n, signature, n_hashes);
	simdup_hashes_free(&list);
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(signature, n_hashes, INT4OID));
}

static const uint32 *
get_signature(ArrayType *array, int *n)
{
	const uint32 *elements = simdup_array_elements(array, "signature", n);

	if (*n == 0)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("signature must not be empty"));
	return elements;
}

PG_FUNCTION_INFO_V1(simdup_minhash_similarity);
Datum
simdup_minhash_similarity(PG_FUNCTION_ARGS)
{
	int n_a;
	int n_b;
	const uint32 *a = get_signature(PG_GETARG_ARRAYTYPE_P(0), &n_a);
	const uint32 *b = get_signature(PG_GETARG_ARRAYTYPE_P(1), &n_b);

	if (n_a != n_b)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("signatures must have the same number of hashes"),
				errdetail("They have %d and %d.", n_a, n_b));
	PG_RETURN_FLOAT8((double) simdup_minhash_equal(a, b, n_a) / n_a);
}

PG_FUNCTION_INFO_V1(simdup_minhash_bands);
Datum
simdup_minhash_bands(PG_FUNCTION_ARGS)
{
	int n;
	const uint32 *signature = get_signature(PG_GETARG_ARRAYTYPE_P(0), &n);
	int n_bands =
		simdup_check_range(PG_GETARG_INT32(1), 1, n, "number of bands");
	uint64 *bands = palloc((Size) n_bands * sizeof(uint64));

	simdup_band_hashes(signature, n, bands, n_bands);
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(bands, n_bands, INT8OID));
}

PG_FUNCTION_INFO_V1(simdup_minhash_bands_for);
/* Return minhash_bands_for(min_resemblance, n_hashes, recall). */
Datum
simdup_minhash_bands_for(PG_FUNCTION_ARGS)
{
	double resemblance =
		simdup_check_fraction(PG_GETARG_FLOAT8(0), "min_resemblance");
	double recall = simdup_check_fraction(PG_GETARG_FLOAT8(2), "recall");
	int n_hashes = checked_n_hashes(PG_GETARG_INT32(1));
	int n_bands = simdup_choose_bands(resemblance, n_hashes, recall);
	int n_rows = n_hashes / n_bands;
	double reached = simdup_band_recall(resemblance, n_bands, n_rows);
	Datum values[] = {Int32GetDatum(n_bands), Int32GetDatum(n_rows),
					  Float8GetDatum(reached)};
	bool nulls[3] = {false};

	return simdup_row_result(fcinfo, values, nulls);
}

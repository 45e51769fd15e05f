/*
 * minhash64.c
 *	  Fingerprints of texts and rows by minhash64, and the shingles that they see.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

#define MAX_MIN_FEATURES 1000

const SimdupShingling simdup_default_shingling = {SIMDUP_SHINGLE_CHAR, 4};

/* Return the unit of this name, raw only if it is allowed, or -1. */
static int
find_unit(const text *name, bool raw)
{
	static const char *const names[] = {[SIMDUP_SHINGLE_CHAR] = "char",
										[SIMDUP_SHINGLE_WORD] = "word",
										[SIMDUP_SHINGLE_RAW] = "raw"};

	for (int i = 0; i < (raw ? 3 : 2); i++)
		if (simdup_text_is(name, names[i]))
			return i;
	return -1;
}

static SimdupShingleUnit
parse_unit(const text *name, bool raw)
{
	int unit = find_unit(name, raw);

	if (unit >= 0)
		return (SimdupShingleUnit) unit;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized shingle unit: \"%s\"", text_to_cstring(name)),
			raw ? errhint("Units are \"char\", \"word\" and \"raw\".")
				: errhint("Units are \"char\" and \"word\"."));
}

SimdupShingling
simdup_get_shingling(int w, const text *unit)
{
	simdup_check_range(w, 1, PG_INT32_MAX, "shingle width");
	return (SimdupShingling){parse_unit(unit, true), w};
}

void
simdup_too_many_shingles(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many shingles"),
			errdetail("More than %zu of them are distinct.",
					  SIMDUP_MAX_SHINGLES));
}

static int
check_folded_width(int w)
{
	return simdup_check_range(w, 1, SIMDUP_MAX_FOLDED_W, "shingle width");
}

SimdupShingling
simdup_get_resemblance(int w, const text *unit)
{
	return (SimdupShingling){parse_unit(unit, true), check_folded_width(w)};
}

bool
simdup_is_resemblance(int w, const text *unit)
{
	return w >= 1 && w <= SIMDUP_MAX_FOLDED_W && find_unit(unit, true) >= 0;
}

SimdupShingling
simdup_get_folded_shingling(FunctionCallInfo fcinfo, int w, int unit)
{
	SimdupShingling shingling;

	simdup_check_not_null(PG_ARGISNULL(w), "w");
	simdup_check_not_null(PG_ARGISNULL(unit), "unit");
	shingling.w = check_folded_width(PG_GETARG_INT32(w));
	shingling.unit = parse_unit(PG_GETARG_TEXT_PP(unit), false);
	return shingling;
}

Datum
simdup_minhash64_result(FunctionCallInfo fcinfo, SimdupSketch *sketch)
{
	const uint64_t *keys = simdup_sketch_keys(sketch);

	if (keys == NULL)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(simdup_sketch_fingerprint(keys));
}

SimdupHashes
simdup_element_set(SimdupShingling shingling, SimdupUtf8 content)
{
	SimdupHashes set = {0};

	if (!simdup_folded_set(shingling, content.bytes, content.len, &set))
		simdup_too_many_shingles();
	return set;
}

/*
 * A sketch in the making, and the first of its distinct elements. A text with
 * fewer than min_features of them gets no fingerprint: a few shingles say little
 * about likeness.
 */
typedef struct CountedSketch
{
	SimdupSketch sketch;
	size_t min_features; /* 0: every text will do */
	SimdupWordSet seen;	 /* as many at most */
} CountedSketch;

/* Add elements, and count different ones: a SimdupElementSink. */
static void
add_counted(void *arg, const uint64_t *hashes, size_t n)
{
	CountedSketch *counted = arg;

	for (size_t i = 0; i < n && counted->seen.n < counted->min_features; i++)
		(void) simdup_wordset_add(&counted->seen, hashes[i]);
	simdup_sketch_add(&counted->sketch, hashes, n);
}

/* Set *fp to the fingerprint of a text. Return false if it has none. */
static bool
compute_minhash64(SimdupUtf8 content, SimdupShingling shingling,
				  int min_features, uint64 *fp)
{
	CountedSketch counted = {.min_features = (size_t) min_features};
	const uint64_t *keys = NULL;

	simdup_check_range(min_features, 0, MAX_MIN_FEATURES, "min_features");
	simdup_sketch_begin(&counted.sketch, SIMDUP_MINHASH64_BINS);
	simdup_folded_elements(shingling, content.bytes, content.len, add_counted,
						   &counted);
	if (counted.seen.n >= counted.min_features)
		keys = simdup_sketch_keys(&counted.sketch);
	if (keys != NULL)
		*fp = simdup_sketch_fingerprint(keys);
	simdup_sketch_free(&counted.sketch);
	simdup_wordset_free(&counted.seen);
	return keys != NULL;
}

/*
 * The last text and its fingerprint. A trigger computes that of a new row just before
 * a generated column and the indexes do. The width of none is 0.
 */
static struct
{
	SimdupShingling shingling;
	int min_features;
	Size len;
	bool has_fp;
	uint64 fp;
	char bytes[8192];
} last;

bool
simdup_utf8_minhash64(SimdupUtf8 content, SimdupShingling shingling,
					  int min_features, uint64 *fp)
{
	if (content.len > sizeof(last.bytes))
		return compute_minhash64(content, shingling, min_features, fp);
	if (last.len != content.len || last.shingling.w != shingling.w ||
		last.shingling.unit != shingling.unit ||
		last.min_features != min_features ||
		memcmp(last.bytes, content.bytes, content.len) != 0)
	{
		last.shingling.w = 0; /* until all is known */
		last.has_fp =
			compute_minhash64(content, shingling, min_features, &last.fp);
		memcpy(last.bytes, content.bytes, content.len);
		last.len = content.len;
		last.min_features = min_features;
		last.shingling = shingling;
	}
	*fp = last.fp;
	return last.has_fp;
}

bool
simdup_text_minhash64(const text *content, uint64 *fp)
{
	return simdup_utf8_minhash64(simdup_text_to_utf8(content),
								 simdup_default_shingling, 0, fp);
}

PG_FUNCTION_INFO_V1(simdup_minhash64);
/* Return minhash64(content, w, unit, min_features). */
Datum
simdup_minhash64(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 1, 2);
	uint64 fp;

	if (!simdup_utf8_minhash64(simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)),
							   shingling, PG_GETARG_INT32(3), &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}

/*
 * Rows
 *
 * Each field moves the fingerprint of the content by a mask of its own. So equal
 * fields cancel out, for any number of them and any length of the content.
 */

/* Return the masks of all fields of a row, by exclusive or. */
static uint64
fields_mask(ArrayType *fields, int field_bits)
{
	uint64 mask = 0;
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(fields, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
	{
		SimdupUtf8 field;

		if (nulls[i])
			continue;
		field = simdup_text_to_utf8(DatumGetTextPP(values[i]));
		mask ^= simdup_field_mask(field.bytes, field.len, (uint32) i + 1,
								  field_bits);
	}
	return mask;
}

PG_FUNCTION_INFO_V1(simdup_minhash64_row);
/* Return minhash64_row(content, fields, field_bits, w, unit, min_features). */
Datum
simdup_minhash64_row(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 3, 4);
	int field_bits;
	uint64 fp;

	simdup_check_not_null(PG_ARGISNULL(2), "field_bits");
	simdup_check_not_null(PG_ARGISNULL(5), "min_features");
	field_bits = simdup_check_range(PG_GETARG_INT32(2), 0,
									SIMDUP_MAX_FIELD_BITS, "field_bits");
	if (PG_ARGISNULL(0) ||
		!simdup_utf8_minhash64(simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)),
							   shingling, PG_GETARG_INT32(5), &fp))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		fp ^= fields_mask(PG_GETARG_ARRAYTYPE_P(1), field_bits);
	PG_RETURN_SIMHASH64(fp);
}

bool
simdup_new_shingle(SimdupWordSet *seen, uint64 hash)
{
	/* no word of a set is 0 */
	if (!simdup_wordset_add(seen, Max(hash, 1)))
		return false;
	if (seen->n > SIMDUP_MAX_SHINGLES)
		simdup_too_many_shingles();
	return true;
}

SimdupShingleRows
simdup_begin_shingle_rows(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	return (SimdupShingleRows){.result = (ReturnSetInfo *) fcinfo->resultinfo};
}

void
simdup_put_shingle_rows(void *arg, const SimdupToken *shingles, int n)
{
	SimdupShingleRows *rows = arg;

	for (const SimdupToken *token = shingles; token < shingles + n; token++)
	{
		Datum shingle;

		if (!simdup_new_shingle(&rows->seen,
								simdup_city64(token->bytes, token->len)))
			continue;
		if (simdup_is_utf8())
			shingle =
				PointerGetDatum(simdup_utf8_to_text(token->bytes, token->len));
		else
		{
			/* shingles are compared, so none may become another: an ERROR */
			char *converted =
				pg_any_to_server(token->bytes, (int) token->len, PG_UTF8);

			shingle = CStringGetTextDatum(converted);
			pfree(converted);
		}
		simdup_put_result(rows->result, &shingle, NULL);
		pfree(DatumGetPointer(shingle));
	}
}

PG_FUNCTION_INFO_V1(simdup_minhash64_shingles);
/* Return minhash64_shingles(content, w, unit). */
Datum
simdup_minhash64_shingles(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 1, 2);
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupShingleRows rows = simdup_begin_shingle_rows(fcinfo);

	simdup_folded_shingles(shingling, content.bytes, content.len,
						   simdup_put_shingle_rows, &rows);
	simdup_wordset_free(&rows.seen);
	return (Datum) 0;
}

/* Distances of minhash64 fingerprints as resemblances, and back. */

PG_FUNCTION_INFO_V1(simdup_minhash64_resemblance);
/* Return minhash64_resemblance(distance). */
Datum
simdup_minhash64_resemblance(PG_FUNCTION_ARGS)
{
	int distance =
		simdup_check_range(PG_GETARG_INT32(0), 0, SIMHASH64_BITS, "distance");

	PG_RETURN_FLOAT8(simdup_agreement_resemblance(distance, SIMHASH64_BITS));
}

PG_FUNCTION_INFO_V1(simdup_minhash64_distance);
/* Return minhash64_distance(min_resemblance, recall). */
Datum
simdup_minhash64_distance(PG_FUNCTION_ARGS)
{
	double resemblance =
		simdup_check_share(PG_GETARG_FLOAT8(0), "min_resemblance");
	double recall = simdup_check_share(PG_GETARG_FLOAT8(1), "recall");

	PG_RETURN_INT32(simdup_agreement_distance(resemblance, recall));
}

/* Sketches of many one-bit MinHashes: a second opinion without texts. */

#define MIN_BITS 64
#define MAX_BITS 8192

PG_FUNCTION_INFO_V1(simdup_minhash_bits);
/* Return minhash_bits(content, n_bits, w, unit): a bit of each bin's key. */
Datum
simdup_minhash_bits(PG_FUNCTION_ARGS)
{
	SimdupShingling shingling = simdup_get_folded_shingling(fcinfo, 2, 3);
	SimdupUtf8 content = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	int n_bits = simdup_check_range(PG_GETARG_INT32(1), MIN_BITS, MAX_BITS,
									"number of bits");
	CountedSketch counted = {0};
	const uint64_t *keys;
	Size size = VARBITTOTALLEN(n_bits);
	VarBit *bits;

	simdup_sketch_begin(&counted.sketch, n_bits);
	simdup_folded_elements(shingling, content.bytes, content.len, add_counted,
						   &counted);
	keys = simdup_sketch_keys(&counted.sketch);
	if (keys == NULL)
		PG_RETURN_NULL();
	bits = palloc0(size);
	SET_VARSIZE(bits, size);
	VARBITLEN(bits) = n_bits;
	for (int i = 0; i < n_bits; i += 8)
	{
		uint8 byte = 0;

		for (int j = i; j < Min(i + 8, n_bits); j++)
			byte |= (keys[j] & 1) << (7 - j % 8);
		VARBITS(bits)[i / 8] = byte;
	}
	simdup_sketch_free(&counted.sketch);
	PG_RETURN_VARBIT_P(bits);
}

void
simdup_check_sketch_bits(int a, int b)
{
	if (a != b)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot compare sketches of different sizes"),
				errdetail("They have %d and %d bits.", a, b));
	if (a == 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("sketches must not be empty"));
}

PG_FUNCTION_INFO_V1(simdup_minhash_bits_resemblance);
/* Return minhash_bits_resemblance(a, b). */
Datum
simdup_minhash_bits_resemblance(PG_FUNCTION_ARGS)
{
	VarBit *a = PG_GETARG_VARBIT_P(0);
	VarBit *b = PG_GETARG_VARBIT_P(1);
	int n = VARBITLEN(a);
	int distance = 0;

	simdup_check_sketch_bits(n, VARBITLEN(b));
	for (int i = 0; i < (int) VARBITBYTES(a); i++)
		distance += pg_number_of_ones[VARBITS(a)[i] ^ VARBITS(b)[i]];
	PG_RETURN_FLOAT8(simdup_agreement_resemblance(distance, n));
}

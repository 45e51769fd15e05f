/*
 * aggregate.c
 *	  Fingerprints of features in rows: simhash_agg and minhash64_agg.
 */
#include "postgres.h"
#include "compat.h"

#include "libpq/pqformat.h"
#include "utils/varbit.h"

#include "core/features.h"
#include "core/hash.h"
#include "text/minhash64.h"
#include "text/profile.h"
#include "type/simhash64.h"

/*
 * Fingerprints summed over rows: simhash_agg of features, and simhash_agg
 * of ready-made hashes of up to 65,536 bits.
 *
 * Both keep the counters of core/features.h, one set for every 64 bits of hash.
 * Sums are exact integers, so that rows may come in any order, be split among
 * workers, and leave a moving frame again.
 */

typedef struct AggState
{
	int64 rows;		/* rows in, less rows out again */
	int32 width;	/* bits of the hashes; -1 before the first */
	int32 n_counts; /* sets of counters, one for every 64 bits */
	SimdupCounts counts[FLEXIBLE_ARRAY_MEMBER];
} AggState;

/* A state that no row has given a width to. */
#define NO_WIDTH (-1)

/* Bits of the widest hash: its state takes a megabyte. */
#define MAX_WIDTH 65536

/* Bytes and words that a width takes. */
#define WIDTH_BYTES(width) (((Size) (width) + 7) / 8)
#define WIDTH_WORDS(width) (((Size) (width) + 63) / 64)

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

static AggState *
make_state(MemoryContext context, int32 width)
{
	Size n = width == NO_WIDTH ? 0 : WIDTH_WORDS(width);
	AggState *state =
		MemoryContextAllocExtended(context,
								   offsetof(AggState, counts) +
									   n * sizeof(SimdupCounts),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	state->width = width;
	state->n_counts = (int32) n;
	return state;
}

/* Return the state at argument 0, or NULL. */
static AggState *
get_state(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : (AggState *) PG_GETARG_POINTER(0);
}

/*
 * Return the result of a transition for a row without a feature. It is never
 * NULL, which moving aggregates do not allow.
 */
static Datum
unchanged_state(FunctionCallInfo fcinfo, MemoryContext context)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(make_state(context, NO_WIDTH));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Return the state for hashes of this width, or a new one without any. */
static AggState *
state_of_width(AggState *state, MemoryContext context, int32 width)
{
	if (state != NULL && state->width == width)
		return state;
	if (state != NULL && state->width != NO_WIDTH)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("hashes must all have the same width"),
				errdetail("One has %d bits, another %d.", state->width, width));
	if (state != NULL)
		pfree(state);
	return make_state(context, width);
}

/* simhash_agg(feature [, weight]) */

/* Get hash and weight of the feature in a call. Return false without one. */
static bool
get_feature(FunctionCallInfo fcinfo, uint64 *hash, uint64 *weight)
{
	SimdupUtf8 feature;

	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			return false;
	}
	feature = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	*hash = simdup_city64(feature.bytes, feature.len);
	*weight = simdup_fixed_weight(PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : 1, 0);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_accum);
Datum
simdup_simhash_agg_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggState *state = get_state(fcinfo);
	uint64 hash;
	uint64 weight;

	if (!get_feature(fcinfo, &hash, &weight))
		return unchanged_state(fcinfo, context);
	state = state_of_width(state, context, SIMHASH64_BITS);
	simdup_counts_add(&state->counts[0], hash, weight);
	state->rows++;
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_remove);
/*
 * Take a row that leaves the frame out again. Like simdup_simhash_agg_accum,
 * because it takes back what that added.
 */
Datum
simdup_simhash_agg_remove(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggState *state = get_state(fcinfo);
	uint64 hash;
	uint64 weight;

	if (!get_feature(fcinfo, &hash, &weight))
		return unchanged_state(fcinfo, context);
	if (state == NULL || state->rows == 0)
		elog(ERROR, "simhash_agg: a row leaves that never came");
	simdup_counts_subtract(&state->counts[0], hash, weight);
	state->rows--;
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_final);
Datum
simdup_simhash_agg_final(PG_FUNCTION_ARGS)
{
	AggState *state = get_state(fcinfo);

	if (state == NULL || state->width == NO_WIDTH)
		PG_RETURN_NULL();
	return simdup_fingerprint(fcinfo, &state->counts[0], false);
}

/* simhash_agg(hash varbit, weight) */

/* Return bits 64 * word on of a bit string, the first of them highest. */
static uint64
varbit_word(VarBit *bits, Size word)
{
	Size bytes = WIDTH_BYTES(VARBITLEN(bits));
	uint64 value = 0;

	for (Size i = word * 8; i < word * 8 + 8; i++)
		value = value << 8 | (i < bytes ? VARBITS(bits)[i] : 0);
	return value;
}

/* Check the width. 64 bits take a kilobyte of state, outside work_mem. */
static void
check_width(int32 width)
{
	if (width > MAX_WIDTH)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("hash is too wide"),
				errdetail("The hash has %d bits, and at most %d are allowed.",
						  width, MAX_WIDTH));
}

/* Hash and weight in a call; false if there is none. */
static bool
get_hash(FunctionCallInfo fcinfo, VarBit **hash, uint64 *weight)
{
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return false;
	*hash = PG_GETARG_VARBIT_P(1);
	check_width(VARBITLEN(*hash));
	if (PG_GETARG_INT64(2) < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must not be negative"),
				errdetail("The weight given is %lld.",
						  (long long) PG_GETARG_INT64(2)));
	*weight = (uint64) PG_GETARG_INT64(2);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_accum);
Datum
simdup_simhash_varbit_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggState *state = get_state(fcinfo);
	VarBit *hash;
	uint64 weight;

	if (!get_hash(fcinfo, &hash, &weight))
		return unchanged_state(fcinfo, context);
	state = state_of_width(state, context, VARBITLEN(hash));
	for (int32 i = 0; i < state->n_counts; i++)
		simdup_counts_add(&state->counts[i], varbit_word(hash, (Size) i),
						  weight);
	state->rows++;
	PG_RETURN_POINTER(state);
}

/* Like simdup_simhash_varbit_accum, because it takes back what that added. */
PG_FUNCTION_INFO_V1(simdup_simhash_varbit_remove);
Datum
simdup_simhash_varbit_remove(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggState *state = get_state(fcinfo);
	VarBit *hash;
	uint64 weight;

	if (!get_hash(fcinfo, &hash, &weight))
		return unchanged_state(fcinfo, context);
	if (state == NULL || state->rows == 0)
		elog(ERROR, "simhash_agg: a row leaves that never came");
	for (int32 i = 0; i < state->n_counts; i++)
		simdup_counts_subtract(&state->counts[i], varbit_word(hash, (Size) i),
							   weight);
	/* the next row may have another width */
	if (--state->rows == 0)
	{
		state->width = NO_WIDTH;
		state->n_counts = 0;
	}
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_final);
Datum
simdup_simhash_varbit_final(PG_FUNCTION_ARGS)
{
	AggState *state = get_state(fcinfo);
	Size bytes;
	Size size;
	VarBit *result;

	if (state == NULL || state->width == NO_WIDTH)
		PG_RETURN_NULL();
	bytes = WIDTH_BYTES(state->width);
	size = VARBITTOTALLEN(state->width);
	result = palloc0(size);
	SET_VARSIZE(result, size);
	VARBITLEN(result) = state->width;
	for (int32 i = 0; i < state->n_counts; i++)
	{
		uint64 word = simdup_counts_signs(&state->counts[i], false);

		for (Size byte = (Size) i * 8; byte < (Size) i * 8 + 8 && byte < bytes;
			 byte++)
			VARBITS(result)[byte] = (uint8) (word >> (56 - 8 * (byte % 8)));
	}
	PG_RETURN_VARBIT_P(result);
}

/* minhash64_agg(feature) */

typedef struct SketchState
{
	int64 mark; /* SKETCH_MARK, where an AggState has its rows */
	SimdupSketch sketch;
} SketchState;

#define SKETCH_MARK (-1)

/* A state in transit: the elements themselves, or the keys. */
#define FORM_ELEMENTS 0
#define FORM_KEYS 1

/* Return a new state in the current memory context. */
static SketchState *
make_sketch(void)
{
	SketchState *state = palloc(sizeof(SketchState));

	state->mark = SKETCH_MARK;
	simdup_sketch_begin(&state->sketch, SIMDUP_MINHASH64_BINS);
	return state;
}

/* Return the state at argument 0, or NULL. */
static SketchState *
get_sketch(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : (SketchState *) PG_GETARG_POINTER(0);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_accum);
Datum
simdup_minhash64_agg_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SketchState *state = get_sketch(fcinfo);
	SimdupUtf8 feature;
	uint64_t hash;

	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	feature = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	hash = simdup_city64(feature.bytes, feature.len);
	context = MemoryContextSwitchTo(context);
	if (state == NULL)
		state = make_sketch();
	simdup_sketch_add(&state->sketch, &hash, 1);
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_final);
Datum
simdup_minhash64_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SketchState *state = get_sketch(fcinfo);
	Datum result;

	if (state == NULL)
		PG_RETURN_NULL();
	context = MemoryContextSwitchTo(context);
	result = simdup_minhash64_result(fcinfo, &state->sketch);
	MemoryContextSwitchTo(context);
	return result;
}

/*
 * All: parallel plans
 */

static bool
is_sketch(const void *state)
{
	return *(const int64 *) state == SKETCH_MARK;
}

static void
combine_counts(AggState *state, const AggState *other)
{
	for (int32 i = 0; i < state->n_counts; i++)
		simdup_counts_merge(&state->counts[i], &other->counts[i]);
	state->rows += other->rows;
}

static void
combine_sketches(SketchState *state, const SketchState *other)
{
	simdup_sketch_merge(&state->sketch, other->sketch.keys);
	simdup_sketch_add(&state->sketch, other->sketch.pending,
					  other->sketch.n_pending);
}

PG_FUNCTION_INFO_V1(simdup_agg_combine);
Datum
simdup_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	void *state = get_state(fcinfo);
	void *other = PG_ARGISNULL(1) ? NULL : PG_GETARG_POINTER(1);
	MemoryContext old;

	if (other == NULL ||
		(!is_sketch(other) && ((AggState *) other)->width == NO_WIDTH))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	old = MemoryContextSwitchTo(context);
	if (is_sketch(other))
	{
		if (state == NULL)
			state = make_sketch();
		combine_sketches(state, other);
	}
	else
	{
		state = state_of_width(state, context, ((AggState *) other)->width);
		combine_counts(state, other);
	}
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

/* Return the number of planes up to the last that is not 0. */
static int
used_planes(const SimdupCounts *counts)
{
	int n = 0;

	for (int i = 0; i < SIMDUP_SUM_PLANES; i++)
	{
		if (counts->planes[i] != 0)
			n = i + 1;
	}
	return n;
}

static void
send_counts(StringInfo buf, const AggState *state)
{
	pq_sendint32(buf, (uint32) state->width);
	for (int32 i = 0; i < state->n_counts; i++)
	{
		const SimdupCounts *counts = &state->counts[i];
		int n = used_planes(counts);

		pq_sendint64(buf, counts->total_low);
		pq_sendint64(buf, counts->total_high);
		pq_sendint32(buf, (uint32) n);
		for (int plane = 0; plane < n; plane++)
			pq_sendint64(buf, counts->planes[plane]);
	}
}

static void
send_sketch(StringInfo buf, SimdupSketch *sketch)
{
	bool thrown = sketch->keys[0] != UINT64_MAX ||
				  sketch->n_pending >= SIMDUP_MINHASH64_BINS;
	const uint64_t *values =
		thrown ? simdup_sketch_keys(sketch) : sketch->pending;
	size_t n = thrown ? SIMDUP_MINHASH64_BINS : sketch->n_pending;

	pq_sendbyte(buf, thrown ? FORM_KEYS : FORM_ELEMENTS);
	for (size_t i = 0; i < n; i++)
		pq_sendint64(buf, values[i]);
}

PG_FUNCTION_INFO_V1(simdup_agg_serialize);
Datum
simdup_agg_serialize(PG_FUNCTION_ARGS)
{
	void *state = PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) aggregate_context(fcinfo);
	pq_begintypsend(&buf);
	pq_sendint64(&buf, *(uint64 *) state);
	if (is_sketch(state))
		send_sketch(&buf, &((SketchState *) state)->sketch);
	else
		send_counts(&buf, state);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

static AggState *
receive_counts(StringInfo buf, int64 rows)
{
	AggState *state =
		make_state(CurrentMemoryContext, (int32) pq_getmsgint(buf, 4));

	state->rows = rows;
	for (int32 i = 0; i < state->n_counts; i++)
	{
		SimdupCounts *counts = &state->counts[i];
		uint32 n;

		counts->total_low = (uint64) pq_getmsgint64(buf);
		counts->total_high = (uint64) pq_getmsgint64(buf);
		n = pq_getmsgint(buf, 4);
		if (n > SIMDUP_SUM_PLANES)
			elog(ERROR, "invalid simhash_agg state");
		for (uint32 plane = 0; plane < n; plane++)
			counts->planes[plane] = (uint64) pq_getmsgint64(buf);
	}
	return state;
}

static SketchState *
receive_sketch(StringInfo buf)
{
	int form = pq_getmsgbyte(buf);
	int n = (buf->len - buf->cursor) / 8;
	uint64_t values[SIMDUP_MINHASH64_BINS];
	SketchState *state = make_sketch();

	if ((form != FORM_KEYS && form != FORM_ELEMENTS) ||
		n > SIMDUP_MINHASH64_BINS ||
		(form == FORM_KEYS && n != SIMDUP_MINHASH64_BINS))
		elog(ERROR, "invalid minhash64_agg state");
	for (int i = 0; i < n; i++)
		values[i] = (uint64_t) pq_getmsgint64(buf);
	/* keys are sent once elements were thrown: no bin is empty then */
	for (int i = 0; form == FORM_KEYS && i < n; i++)
		if (values[i] >> 32 >= 2 * SIMDUP_MINHASH64_BINS)
			elog(ERROR, "invalid minhash64_agg state");
	if (form == FORM_KEYS)
		simdup_sketch_merge(&state->sketch, values);
	else
		simdup_sketch_add(&state->sketch, values, (size_t) n);
	return state;
}

PG_FUNCTION_INFO_V1(simdup_agg_deserialize);
Datum
simdup_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	StringInfoData buf;
	int64 first;
	void *state;

	(void) aggregate_context(fcinfo);
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes),
						   (int) VARSIZE_ANY_EXHDR(bytes));
	first = pq_getmsgint64(&buf);
	if (first == SKETCH_MARK)
		state = receive_sketch(&buf);
	else
		state = receive_counts(&buf, first);
	pq_getmsgend(&buf);
	pfree(buf.data);
	PG_RETURN_POINTER(state);
}

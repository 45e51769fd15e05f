/*
 * aggregate.c
 *	  Fingerprints of features in rows: simhash_agg and minhash64_agg.
 */
#include "postgres.h"
#include "compat.h"

#include "libpq/pqformat.h"
#include "utils/varbit.h"

#include "core/fingerprint/hash.h"
#include "core/fingerprint/sum.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"
#include "type/simhash64.h"

/*
 * Fingerprints summed over rows: simhash_agg of features, and simhash_agg
 * of ready-made hashes of up to 65,536 bits.
 *
 * Both keep the counters of core/fingerprint/sum.h, one set for every 64 bits
 * of hash. Sums are exact integers, so that rows may come in any order, be
 * split among workers, and leave a moving frame again.
 */

typedef struct CountsState
{
	int64 rows;		/* rows in, less rows out again */
	int32 width;	/* bits of the hashes; -1 before the first */
	int32 n_counts; /* sets of counters, one for every 64 bits */
	SimdupCounters counts[FLEXIBLE_ARRAY_MEMBER];
} CountsState;

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

static CountsState *
make_state(MemoryContext context, int32 width)
{
	Size n = width == NO_WIDTH ? 0 : WIDTH_WORDS(width);
	CountsState *state =
		MemoryContextAllocExtended(context,
								   offsetof(CountsState, counts) +
									   n * sizeof(SimdupCounters),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	state->width = width;
	state->n_counts = (int32) n;
	return state;
}

/* Return the state at argument 0, or NULL. */
static void *
get_state(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : PG_GETARG_POINTER(0);
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
static CountsState *
state_of_width(CountsState *state, MemoryContext context, int32 width)
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

/* What a row adds: the weight of a hash, of 64 bits or a string of them. */
typedef struct AggRow
{
	int32 width;
	uint64 weight;
	uint64 hash;
	VarBit *bits; /* NULL: the hash */
} AggRow;

/* Read the row of a call. Return false if it adds nothing. */
typedef bool (*AggRowReader)(FunctionCallInfo fcinfo, AggRow *row);

/* Return bits 64 * word on of a hash, the first of them highest. */
static uint64
hash_word(const AggRow *row, Size word)
{
	Size bytes = WIDTH_BYTES(row->width);
	uint64 value = 0;

	if (row->bits == NULL)
		return row->hash;
	for (Size i = word * 8; i < word * 8 + 8; i++)
		value = value << 8 | (i < bytes ? VARBITS(row->bits)[i] : 0);
	return value;
}

/* Add a row, or take back what was added for one that leaves the frame. */
static Datum
move_row(FunctionCallInfo fcinfo, AggRowReader read, bool leaves)
{
	MemoryContext context = aggregate_context(fcinfo);
	CountsState *state = get_state(fcinfo);
	AggRow row = {0};

	if (!read(fcinfo, &row))
		return unchanged_state(fcinfo, context);
	if (!leaves)
		state = state_of_width(state, context, row.width);
	else if (state == NULL || state->rows == 0)
		elog(ERROR, "simhash_agg: a row leaves that never came");
	for (int32 i = 0; i < state->n_counts; i++)
		(leaves ? simdup_counters_subtract
				: simdup_counters_add)(&state->counts[i],
									   hash_word(&row, (Size) i), row.weight);
	state->rows += leaves ? -1 : 1;
	/* the next row may have another width */
	if (state->rows == 0)
	{
		state->width = NO_WIDTH;
		state->n_counts = 0;
	}
	PG_RETURN_POINTER(state);
}

/* simhash_agg(feature [, weight]) */

/* Read a feature and its weight: an AggRowReader. */
static bool
read_feature(FunctionCallInfo fcinfo, AggRow *row)
{
	SimdupUtf8 feature;

	if (simdup_has_null(fcinfo, 1, PG_NARGS() - 1))
		return false;
	feature = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	row->width = SIMHASH64_BITS;
	row->hash = simdup_city64(feature.bytes, feature.len);
	row->weight =
		simdup_fixed_weight(PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : 1, 0);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_accum);
Datum
simdup_simhash_agg_accum(PG_FUNCTION_ARGS)
{
	return move_row(fcinfo, read_feature, false);
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_remove);
Datum
simdup_simhash_agg_remove(PG_FUNCTION_ARGS)
{
	return move_row(fcinfo, read_feature, true);
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_final);
Datum
simdup_simhash_agg_final(PG_FUNCTION_ARGS)
{
	CountsState *state = get_state(fcinfo);

	if (state == NULL || state->width == NO_WIDTH)
		PG_RETURN_NULL();
	return simdup_fingerprint(fcinfo, &state->counts[0], false);
}

/* simhash_agg(hash varbit, weight) */

/* Read a hash and its weight: an AggRowReader. */
static bool
read_varbit(FunctionCallInfo fcinfo, AggRow *row)
{
	if (simdup_has_null(fcinfo, 1, 2))
		return false;
	row->bits = PG_GETARG_VARBIT_P(1);
	row->width = VARBITLEN(row->bits);
	/* 64 bits take a kilobyte of state, outside work_mem */
	if (row->width > MAX_WIDTH)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("hash is too wide"),
				errdetail("The hash has %d bits, and at most %d are allowed.",
						  row->width, MAX_WIDTH));
	if (PG_GETARG_INT64(2) < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must not be negative"),
				errdetail("The weight given is %lld.",
						  (long long) PG_GETARG_INT64(2)));
	row->weight = (uint64) PG_GETARG_INT64(2);
	return true;
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_accum);
Datum
simdup_simhash_varbit_accum(PG_FUNCTION_ARGS)
{
	return move_row(fcinfo, read_varbit, false);
}

/* Like simdup_simhash_agg_remove, because each function fixes its reader. */
PG_FUNCTION_INFO_V1(simdup_simhash_varbit_remove);
Datum
simdup_simhash_varbit_remove(PG_FUNCTION_ARGS)
{
	return move_row(fcinfo, read_varbit, true);
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_final);
Datum
simdup_simhash_varbit_final(PG_FUNCTION_ARGS)
{
	CountsState *state = get_state(fcinfo);
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
		uint64 word = simdup_counters_signs(&state->counts[i], false);

		for (Size byte = (Size) i * 8; byte < (Size) i * 8 + 8 && byte < bytes;
			 byte++)
			VARBITS(result)[byte] = (uint8) (word >> (56 - 8 * (byte % 8)));
	}
	PG_RETURN_VARBIT_P(result);
}

/* minhash64_agg(feature) */

typedef struct SketchState
{
	int64 mark; /* SKETCH_MARK, where an CountsState has its rows */
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

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_accum);
Datum
simdup_minhash64_agg_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SketchState *state = get_state(fcinfo);
	SimdupUtf8 feature;
	uint64_t hash;

	if (PG_ARGISNULL(1) && state == NULL)
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
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
	SketchState *state = get_state(fcinfo);
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
combine_counts(CountsState *state, const CountsState *other)
{
	for (int32 i = 0; i < state->n_counts; i++)
		simdup_counters_merge(&state->counts[i], &other->counts[i]);
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
		(!is_sketch(other) && ((CountsState *) other)->width == NO_WIDTH))
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
		state = state_of_width(state, context, ((CountsState *) other)->width);
		combine_counts(state, other);
	}
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

static void
send_counts(StringInfo buf, const CountsState *state)
{
	pq_sendint32(buf, (uint32) state->width);
	for (int32 i = 0; i < state->n_counts; i++)
	{
		const SimdupCounters *counts = &state->counts[i];
		int n = SIMDUP_SUM_PLANES;

		/* planes up to the last that is not 0 */
		while (n > 0 && counts->planes[n - 1] == 0)
			n--;
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

static CountsState *
receive_counts(StringInfo buf, int64 rows)
{
	CountsState *state =
		make_state(CurrentMemoryContext, (int32) pq_getmsgint(buf, 4));

	state->rows = rows;
	for (int32 i = 0; i < state->n_counts; i++)
	{
		SimdupCounters *counts = &state->counts[i];
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

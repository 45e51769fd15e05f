/*
 * aggregate.c
 *	  Fingerprints over rows: simhash_agg of features, simhash_agg of ready-made
 *	  hashes of up to 65,536 bits, and minhash64_agg of features.
 *
 * simhash_agg keeps the counters of core/fingerprint/sum.h, one set for every 64
 * bits of hash, minhash64_agg keeps a sketch. Both are exact: rows may come in any
 * order and be split among workers. A sum lets rows leave a moving frame again.
 */
#include "postgres.h"
#include "compat.h"

#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/varbit.h"

#include "core/fingerprint/hash.h"
#include "core/fingerprint/simhash.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"
#include "type/simhash64.h"

typedef struct AggregateState
{
	int64 rows;	 /* rows in, less rows out again */
	int32 width; /* bits of the hashes, or SKETCH; any while there are no rows */
	SimdupSketch sketch;
	SimdupCounters counts[FLEXIBLE_ARRAY_MEMBER];
} AggregateState;

/* The width of a state with a sketch. It has no counters. */
#define SKETCH (-1)

/* Bits of the widest hash: its state takes a megabyte. */
#define MAX_WIDTH 65536

/* Sets of counters, one for every 64 bits. */
static inline int
n_counts(int32 width)
{
	return width == SKETCH ? 0 : (width + 63) / 64;
}

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/* Return the state at an argument, or NULL. */
static inline AggregateState *
get_state(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument)
			   ? NULL
			   : (AggregateState *) PG_GETARG_POINTER(argument);
}

/* Return a new state in the current memory context. */
static AggregateState *
make_state(int32 width)
{
	AggregateState *state =
		palloc0(offsetof(AggregateState, counts) +
				(Size) n_counts(width) * sizeof(SimdupCounters));

	state->width = width;
	if (width == SKETCH)
		simdup_sketch_begin(&state->sketch, SIMDUP_MINHASH64_BINS);
	return state;
}

/* Return the state for hashes of this width, or a new one without any. */
static inline AggregateState *
state_of_width(AggregateState *state, int32 width)
{
	if (state != NULL && state->width == width)
		return state;
	if (state != NULL && state->rows > 0)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("hashes must all have the same width"),
				errdetail("One has %d bits, another %d.", state->width, width));
	if (state != NULL)
		pfree(state);
	return make_state(width);
}

/* Transitions */

/* What a row adds: the weight of a hash, of 64 bits or a string of them. */
typedef struct AggregateRow
{
	int32 width; /* as in the state */
	uint64 weight;
	uint64_t hash;
	VarBit *bits; /* NULL: the hash */
} AggregateRow;

/* Read the row of a call. Return false if it adds nothing. */
typedef bool (*AggregateRowReader)(FunctionCallInfo fcinfo, AggregateRow *row);

/* Return bits 64 * word on of a hash, the first of them highest. */
static uint64
hash_word(const AggregateRow *row, int word)
{
	int at = word * 8;
	uint64 value = 0;

	if (row->bits == NULL)
		return row->hash;
	memcpy(&value, VARBITS(row->bits) + at,
		   Min(8, VARBITBYTES(row->bits) - at));
	return pg_ntoh64(value);
}

/*
 * Add a row. Inline, so that each function has its reader and its kind of state
 * built in.
 */
static pg_attribute_always_inline Datum
add_row(FunctionCallInfo fcinfo, AggregateRowReader read)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggregateState *state = get_state(fcinfo, 0);
	AggregateRow row = {0};
	bool adds = read(fcinfo, &row);

	context = MemoryContextSwitchTo(context);
	if (state == NULL || adds)
		state = state_of_width(state, row.width);
	if (adds)
	{
		Assert(state->width == row.width);
		for (int i = 0; i < n_counts(row.width); i++)
			simdup_counters_add(&state->counts[i], hash_word(&row, i),
								row.weight);
		if (row.width == SKETCH)
			simdup_sketch_add(&state->sketch, &row.hash, 1);
		state->rows++;
	}
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

/* Read a feature and its weight: an AggregateRowReader. */
static pg_attribute_always_inline bool
read_feature(FunctionCallInfo fcinfo, AggregateRow *row)
{
	SimdupUtf8 feature;

	if (PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2)))
		return false;
	feature = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	row->width = SIMHASH64_BITS;
	row->hash = simdup_city64(feature.bytes, feature.len);
	row->weight = PG_NARGS() > 2 ? simdup_fixed_weight(PG_GETARG_FLOAT8(2), 0)
								 : SIMDUP_WEIGHT_UNIT;
	return true;
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_accum);
Datum
simdup_simhash_agg_accum(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, read_feature);
}

/* Read a feature for a sketch: an AggregateRowReader. */
static inline bool
read_element(FunctionCallInfo fcinfo, AggregateRow *row)
{
	bool adds = read_feature(fcinfo, row);

	row->width = SKETCH;
	return adds;
}

/* Like simdup_simhash_agg_accum, because each function fixes its reader. */
PG_FUNCTION_INFO_V1(simdup_minhash64_agg_accum);
Datum
simdup_minhash64_agg_accum(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, read_element);
}

/* Read a hash and its weight: an AggregateRowReader. */
static inline bool
read_varbit(FunctionCallInfo fcinfo, AggregateRow *row)
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

/* Like simdup_simhash_agg_accum, because each function fixes its reader. */
PG_FUNCTION_INFO_V1(simdup_simhash_varbit_accum);
Datum
simdup_simhash_varbit_accum(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, read_varbit);
}

/* Results */

PG_FUNCTION_INFO_V1(simdup_simhash_agg_final);
Datum
simdup_simhash_agg_final(PG_FUNCTION_ARGS)
{
	AggregateState *state = get_state(fcinfo, 0);

	if (state == NULL || state->rows == 0)
		PG_RETURN_NULL();
	return simdup_fingerprint(fcinfo, &state->counts[0], false);
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_final);
Datum
simdup_simhash_varbit_final(PG_FUNCTION_ARGS)
{
	AggregateState *state = get_state(fcinfo, 0);
	Size size;
	VarBit *result;

	if (state == NULL || state->rows == 0)
		PG_RETURN_NULL();
	size = VARBITTOTALLEN(state->width);
	result = palloc0(size);
	SET_VARSIZE(result, size);
	VARBITLEN(result) = state->width;
	for (int i = 0; i < n_counts(state->width); i++)
	{
		uint64 word =
			pg_hton64(simdup_counters_signs(&state->counts[i], false));

		memcpy(VARBITS(result) + 8 * i, &word,
			   Min(8, VARBITBYTES(result) - 8 * i));
	}
	PG_RETURN_VARBIT_P(result);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_final);
Datum
simdup_minhash64_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggregateState *state = get_state(fcinfo, 0);
	Datum result;

	if (state == NULL || state->rows == 0)
		PG_RETURN_NULL();
	/* the sketch may grow, and more rows may follow */
	context = MemoryContextSwitchTo(context);
	result = simdup_minhash64_result(fcinfo, &state->sketch);
	MemoryContextSwitchTo(context);
	return result;
}

/* Parallel plans */

PG_FUNCTION_INFO_V1(simdup_agg_combine);
Datum
simdup_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggregateState *state = get_state(fcinfo, 0);
	const AggregateState *other = get_state(fcinfo, 1);

	if (other != NULL && other->rows > 0)
	{
		context = MemoryContextSwitchTo(context);
		state = state_of_width(state, other->width);
		for (int i = 0; i < n_counts(state->width); i++)
			simdup_counters_merge(&state->counts[i], &other->counts[i]);
		if (state->width == SKETCH)
		{
			simdup_sketch_merge(&state->sketch, other->sketch.keys);
			simdup_sketch_add(&state->sketch, other->sketch.pending,
							  other->sketch.n_pending);
		}
		state->rows += other->rows;
		MemoryContextSwitchTo(context);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/* Bytes of counters with their first n planes; the others are 0. */
#define COUNTERS_SIZE(n) \
	(offsetof(SimdupCounters, planes) + (Size) (n) * sizeof(uint64_t))

static void
send_counters(StringInfo buf, const SimdupCounters *counts)
{
	int n = SIMDUP_SUM_PLANES;

	while (n > 0 && counts->planes[n - 1] == 0)
		n--;
	pq_sendint32(buf, (uint32) n);
	pq_sendbytes(buf, (const char *) counts, (int) COUNTERS_SIZE(n));
}

static void
receive_counters(StringInfo buf, SimdupCounters *counts)
{
	uint32 n = pq_getmsgint(buf, 4);

	if (n > SIMDUP_SUM_PLANES)
		elog(ERROR, "invalid simhash_agg state");
	pq_copymsgbytes(buf, (char *) counts, (int) COUNTERS_SIZE(n));
}

/* Send few elements as they are, others as the keys of all bins. */
static void
send_sketch(StringInfo buf, SimdupSketch *sketch)
{
	const uint64_t *values = sketch->pending;
	size_t n = sketch->n_pending;

	if (sketch->keys[0] != UINT64_MAX || n >= SIMDUP_MINHASH64_BINS)
	{
		values = simdup_sketch_keys(sketch);
		n = SIMDUP_MINHASH64_BINS;
	}
	pq_sendbytes(buf, (const char *) values, (int) (n * sizeof(uint64_t)));
}

static void
receive_sketch(StringInfo buf, SimdupSketch *sketch)
{
	uint64_t values[SIMDUP_MINHASH64_BINS];
	int size = buf->len - buf->cursor;

	if (size > (int) sizeof(values))
		elog(ERROR, "invalid minhash64_agg state");
	pq_copymsgbytes(buf, (char *) values, size);
	if (size == sizeof(values))
		simdup_sketch_merge(sketch, values);
	else
		simdup_sketch_add(sketch, values, (size_t) size / sizeof(uint64_t));
}

PG_FUNCTION_INFO_V1(simdup_agg_serialize);
Datum
simdup_agg_serialize(PG_FUNCTION_ARGS)
{
	AggregateState *state = get_state(fcinfo, 0);
	StringInfoData buf;

	(void) aggregate_context(fcinfo);
	pq_begintypsend(&buf);
	pq_sendint64(&buf, (uint64) state->rows);
	pq_sendint32(&buf, (uint32) state->width);
	for (int i = 0; i < n_counts(state->width); i++)
		send_counters(&buf, &state->counts[i]);
	if (state->width == SKETCH)
		send_sketch(&buf, &state->sketch);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(simdup_agg_deserialize);
Datum
simdup_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	StringInfoData buf = {.data = VARDATA_ANY(bytes),
						  .len = (int) VARSIZE_ANY_EXHDR(bytes)};
	int64 rows;
	AggregateState *state;

	(void) aggregate_context(fcinfo);
	rows = pq_getmsgint64(&buf);
	state = make_state((int32) pq_getmsgint(&buf, 4));
	state->rows = rows;
	for (int i = 0; i < n_counts(state->width); i++)
		receive_counters(&buf, &state->counts[i]);
	if (state->width == SKETCH)
		receive_sketch(&buf, &state->sketch);
	pq_getmsgend(&buf);
	PG_RETURN_POINTER(state);
}

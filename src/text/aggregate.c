/*
 * aggregate.c
 *	  Fingerprints over rows: simhash_agg of features, simhash_agg of ready-made
 *	  hashes of up to 65,536 bits, and minhash64_agg of features.
 *
 * simhash_agg keeps the counters of core/fingerprint/sum.h, one set for every 64
 * bits of hash. minhash64_agg keeps a sketch. Both are exact: rows may come in any
 * order and be split among workers.
 */
#include "postgres.h"
#include "compat.h"

#include "libpq/pqformat.h"
#include "utils/varbit.h"

#include "server/arguments.h"
#include "text/minhash64.h"
#include "text/simhash.h"
#include "type/simhash64.h"

/* The sum of the rows so far. There is no state before the first of them. */
typedef struct AggregateState
{
	bool is_sketch; /* of minhash64_agg, without counters */
	int32 width;	/* bits of the hashes that are summed */
	SimdupSketch sketch;
	SimdupCounters counts[FLEXIBLE_ARRAY_MEMBER];
} AggregateState;

/* Bits of the widest hash: its state takes a megabyte. */
#define MAX_WIDTH 65536

/* Sets of counters for hashes of this width. */
static inline int
n_counts(int32 width)
{
	return (width + 63) / 64;
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

/* Return a new state in the current memory context. A sketch has width 0. */
static AggregateState *
make_state(bool is_sketch, int32 width)
{
	AggregateState *state =
		palloc0(offsetof(AggregateState, counts) +
				(Size) n_counts(width) * sizeof(SimdupCounters));

	state->is_sketch = is_sketch;
	state->width = width;
	if (is_sketch)
		simdup_sketch_begin(&state->sketch, SIMDUP_MINHASH64_BINS);
	return state;
}

/* Return the state for another row with a hash of this width: the first makes it. */
static inline AggregateState *
state_of_row(FunctionCallInfo fcinfo, bool is_sketch, int32 width)
{
	AggregateState *state = get_state(fcinfo, 0);
	MemoryContext old;

	if (state != NULL && state->width != width)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot combine hashes of different sizes"),
				errdetail("They have %d and %d bits.", state->width, width));
	if (state != NULL)
		return state;
	old = MemoryContextSwitchTo(aggregate_context(fcinfo));
	state = make_state(is_sketch, width);
	MemoryContextSwitchTo(old);
	return state;
}

/* Return the result of a transition: the state, or NULL. */
static inline Datum
state_result(FunctionCallInfo fcinfo, AggregateState *state)
{
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/* Transitions */

static inline uint64
feature_hash(FunctionCallInfo fcinfo)
{
	SimdupUtf8 feature = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));

	return simdup_city64(feature.bytes, feature.len);
}

PG_FUNCTION_INFO_V1(simdup_simhash_agg_accum);
/* simhash_agg_accum(state, feature) and simhash_agg_accum(state, feature, weight) */
Datum
simdup_simhash_agg_accum(PG_FUNCTION_ARGS)
{
	uint64 weight = SIMDUP_WEIGHT_UNIT;
	AggregateState *state;

	(void) aggregate_context(fcinfo);
	if (simdup_has_null(fcinfo, 1, PG_NARGS() - 1))
		return state_result(fcinfo, get_state(fcinfo, 0));
	if (PG_NARGS() > 2)
		weight = simdup_fixed_weight(PG_GETARG_FLOAT8(2), 0);
	state = state_of_row(fcinfo, false, SIMHASH64_BITS);
	simdup_counters_add(&state->counts[0], feature_hash(fcinfo), weight);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_accum);
Datum
simdup_minhash64_agg_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	AggregateState *state;
	uint64_t hash;

	if (PG_ARGISNULL(1))
		return state_result(fcinfo, get_state(fcinfo, 0));
	hash = feature_hash(fcinfo);
	state = state_of_row(fcinfo, true, 0);
	context = MemoryContextSwitchTo(context);
	simdup_sketch_add(&state->sketch, &hash, 1);
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

/* Return bits 64 * word on of a hash, the first of them highest. */
static uint64
hash_word(VarBit *hash, int word)
{
	int at = word * 8;
	uint64 value = 0;

	memcpy(&value, VARBITS(hash) + at, Min(8, VARBITBYTES(hash) - at));
	return pg_ntoh64(value);
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_accum);
Datum
simdup_simhash_varbit_accum(PG_FUNCTION_ARGS)
{
	AggregateState *state;
	VarBit *hash;
	int64 weight;

	(void) aggregate_context(fcinfo);
	if (simdup_has_null(fcinfo, 1, 2))
		return state_result(fcinfo, get_state(fcinfo, 0));
	hash = PG_GETARG_VARBIT_P(1);
	weight = PG_GETARG_INT64(2);
	/* 64 bits take a kilobyte of state, outside work_mem */
	if (VARBITLEN(hash) > MAX_WIDTH)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("hash must not have more than %d bits", MAX_WIDTH),
				errdetail("It has %d bits.", VARBITLEN(hash)));
	if (weight < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must not be negative"),
				errdetail("The weight given is %lld.", (long long) weight));
	state = state_of_row(fcinfo, false, VARBITLEN(hash));
	for (int i = 0; i < n_counts(state->width); i++)
		simdup_counters_add(&state->counts[i], hash_word(hash, i),
							(uint64) weight);
	PG_RETURN_POINTER(state);
}

/* Results */

PG_FUNCTION_INFO_V1(simdup_agg_final);
/* The fingerprint of simhash_agg, or of minhash64_agg. */
Datum
simdup_agg_final(PG_FUNCTION_ARGS)
{
	AggregateState *state = get_state(fcinfo, 0);
	MemoryContext context;
	Datum result;

	if (state == NULL)
		PG_RETURN_NULL();
	if (!state->is_sketch)
		return simdup_fingerprint(fcinfo, &state->counts[0], false);
	/* the sketch may grow, and more rows may follow */
	context = MemoryContextSwitchTo(aggregate_context(fcinfo));
	result = simdup_minhash64_result(fcinfo, &state->sketch);
	MemoryContextSwitchTo(context);
	return result;
}

PG_FUNCTION_INFO_V1(simdup_simhash_varbit_final);
Datum
simdup_simhash_varbit_final(PG_FUNCTION_ARGS)
{
	AggregateState *state = get_state(fcinfo, 0);
	Size size;
	VarBit *result;

	/* weights of 0 are no features; hashes of no bits have no counts */
	if (state == NULL ||
		(state->width > 0 && simdup_counters_empty(&state->counts[0])))
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

/* Parallel plans */

PG_FUNCTION_INFO_V1(simdup_agg_combine);
Datum
simdup_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	const AggregateState *other = get_state(fcinfo, 1);
	AggregateState *state;

	if (other == NULL)
		return state_result(fcinfo, get_state(fcinfo, 0));
	state = state_of_row(fcinfo, other->is_sketch, other->width);
	for (int i = 0; i < n_counts(state->width); i++)
		simdup_counters_merge(&state->counts[i], &other->counts[i]);
	context = MemoryContextSwitchTo(context);
	if (state->is_sketch)
	{
		simdup_sketch_merge(&state->sketch, other->sketch.keys);
		simdup_sketch_add(&state->sketch, other->sketch.pending,
						  other->sketch.n_pending);
	}
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

/* Return the bytes of a state's counters. */
static inline int
counters_size(const AggregateState *state)
{
	return n_counts(state->width) * (int) sizeof(SimdupCounters);
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
	pq_sendbyte(&buf, state->is_sketch);
	pq_sendint32(&buf, (uint32) state->width);
	pq_sendbytes(&buf, (const char *) state->counts, counters_size(state));
	if (state->is_sketch)
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
	AggregateState *state;
	bool is_sketch;

	(void) aggregate_context(fcinfo);
	is_sketch = pq_getmsgbyte(&buf);
	state = make_state(is_sketch, (int32) pq_getmsgint(&buf, 4));
	pq_copymsgbytes(&buf, (char *) state->counts, counters_size(state));
	if (is_sketch)
		receive_sketch(&buf, &state->sketch);
	pq_getmsgend(&buf);
	PG_RETURN_POINTER(state);
}

/*
 * minhash64_agg.c
 *	  minhash64_agg(feature): the fingerprint of a set of features in rows.
 *
 * The state is a sketch: some elements that wait and, once they were thrown, 64
 * keys. Both merge exactly, so rows may come in any order and be split among
 * workers in any way.
 */
#include "postgres.h"
#include "compat.h"

#include "libpq/pqformat.h"

#include "core/hash.h"
#include "text/minhash64.h"

/* A state in transit: the elements themselves, or the keys. */
#define FORM_ELEMENTS 0
#define FORM_KEYS 1

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "minhash64_agg called in non-aggregate context");
	return context;
}

/* A new state, in the current memory context. */
static SimdupSketch *
make_state(void)
{
	SimdupSketch *state = palloc(sizeof(SimdupSketch));

	simdup_sketch_begin(state, SIMDUP_MINHASH64_BINS);
	return state;
}

/* The state at an argument, or NULL. */
static SimdupSketch *
get_state(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL
							   : (SimdupSketch *) PG_GETARG_POINTER(argno);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_accum);
Datum
simdup_minhash64_agg_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SimdupSketch *state = get_state(fcinfo, 0);
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
		state = make_state();
	simdup_sketch_add(state, &hash, 1);
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_combine);
Datum
simdup_minhash64_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SimdupSketch *state = get_state(fcinfo, 0);
	SimdupSketch *other = get_state(fcinfo, 1);

	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	context = MemoryContextSwitchTo(context);
	if (state == NULL)
		state = make_state();
	simdup_sketch_merge(state, other->keys);
	simdup_sketch_add(state, other->pending, other->n_pending);
	MemoryContextSwitchTo(context);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_serialize);
Datum
simdup_minhash64_agg_serialize(PG_FUNCTION_ARGS)
{
	SimdupSketch *state = (SimdupSketch *) PG_GETARG_POINTER(0);
	bool thrown = state->keys[0] != UINT64_MAX;
	const uint64_t *values = state->pending;
	size_t n = state->n_pending;
	StringInfoData buf;

	(void) aggregate_context(fcinfo);
	if (thrown || n >= SIMDUP_MINHASH64_BINS)
	{
		values = simdup_sketch_keys(state);
		n = SIMDUP_MINHASH64_BINS;
		thrown = true;
	}
	pq_begintypsend(&buf);
	pq_sendbyte(&buf, thrown ? FORM_KEYS : FORM_ELEMENTS);
	for (size_t i = 0; i < n; i++)
		pq_sendint64(&buf, values[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_deserialize);
Datum
simdup_minhash64_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	uint64_t values[SIMDUP_MINHASH64_BINS];
	StringInfoData buf;
	SimdupSketch *state;
	int form;
	int n;

	(void) aggregate_context(fcinfo);
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes),
						   (int) VARSIZE_ANY_EXHDR(bytes));
	form = pq_getmsgbyte(&buf);
	n = (buf.len - 1) / 8;
	if ((form != FORM_KEYS && form != FORM_ELEMENTS) ||
		n > SIMDUP_MINHASH64_BINS ||
		(form == FORM_KEYS && n != SIMDUP_MINHASH64_BINS))
		elog(ERROR, "invalid minhash64_agg state");
	for (int i = 0; i < n; i++)
		values[i] = (uint64_t) pq_getmsgint64(&buf);
	pq_getmsgend(&buf);
	pfree(buf.data);
	/* keys are sent once elements were thrown: no bin is empty then */
	for (int i = 0; form == FORM_KEYS && i < n; i++)
		if (values[i] >> 32 >= 2 * SIMDUP_MINHASH64_BINS)
			elog(ERROR, "invalid minhash64_agg state");
	state = make_state();
	if (form == FORM_KEYS)
		simdup_sketch_merge(state, values);
	else
		simdup_sketch_add(state, values, (size_t) n);
	PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_agg_final);
Datum
simdup_minhash64_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	SimdupSketch *state = get_state(fcinfo, 0);
	Datum result;

	if (state == NULL)
		PG_RETURN_NULL();
	context = MemoryContextSwitchTo(context);
	result = simdup_minhash64_result(fcinfo, state);
	MemoryContextSwitchTo(context);
	return result;
}

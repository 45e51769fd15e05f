/*
 * gin.c
 *	  GIN operator class simhash64_ops: Hamming search and equality.
 *
 * Keys are simhash64 values made by core/probe.c, in the type's own unsigned
 * order. Parallel builds of PostgreSQL 18.0 and 18.1 sort keys by the type's
 * order, not by the class's. Inside a probe's range comparePartial checks
 * the whole distance, so a search visits the heap for matches only. A recheck
 * drops the few other rows that share a key with a match.
 */
#include "postgres.h"
#include "compat.h"

#include "access/gin.h"
#include "access/stratnum.h"

#include "core/probe.h"
#include "index/ball.h"
#include "index/strategy.h"
#include "type/simhash64.h"

/* What comparePartial needs to know of the query, one for each key number. */
typedef struct ProbeTarget
{
	uint64 key; /* the center's */
	int radius;
} ProbeTarget;

PG_FUNCTION_INFO_V1(simhash64_gin_extract_value);
Datum
simhash64_gin_extract_value(PG_FUNCTION_ARGS)
{
	uint64 fp = PG_GETARG_SIMHASH64(0);
	int32 *n_keys = (int32 *) PG_GETARG_POINTER(1);
	Datum *keys = palloc(sizeof(Datum) * SIMDUP_KEYS);

	for (int i = 0; i < SIMDUP_KEYS; i++)
		keys[i] = Simhash64GetDatum(simdup_key(fp, i));

	*n_keys = SIMDUP_KEYS;
	PG_RETURN_POINTER(keys);
}

/* Equality is one exact key; which one does not matter. */
static Datum *
equality_keys(uint64 fp, int32 *n_keys)
{
	Datum *keys = palloc(sizeof(Datum));

	keys[0] = Simhash64GetDatum(simdup_key(fp, 0));
	*n_keys = 1;
	return keys;
}

/* A ball is a partial match for each probe. */
static Datum *
ball_keys(const SimhashBall *ball, int32 *n_keys, bool **partial,
		  Pointer **extra)
{
	int radius = (int) ball->radius;
	int n = simdup_probe_count(radius);
	uint64 *starts = palloc(sizeof(uint64) * n);
	Datum *keys = palloc(sizeof(Datum) * n);
	ProbeTarget *targets = palloc(sizeof(ProbeTarget) * SIMDUP_KEYS);

	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		targets[i].key = simdup_key(ball->center, i);
		targets[i].radius = radius;
	}

	*partial = palloc(sizeof(bool) * n);
	*extra = palloc(sizeof(Pointer) * n);
	simdup_probes(ball->center, radius, starts);
	for (int i = 0; i < n; i++)
	{
		keys[i] = Simhash64GetDatum(starts[i]);
		(*partial)[i] = true;
		(*extra)[i] = (Pointer) &targets[simdup_key_number(starts[i])];
	}
	*n_keys = n;
	return keys;
}

PG_FUNCTION_INFO_V1(simhash64_gin_extract_query);
/* The planner calls this function too, to count the keys. */
Datum
simhash64_gin_extract_query(PG_FUNCTION_ARGS)
{
	int32 *n_keys = (int32 *) PG_GETARG_POINTER(1);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	bool **partial = (bool **) PG_GETARG_POINTER(3);
	Pointer **extra = (Pointer **) PG_GETARG_POINTER(4);
	int32 *search_mode = (int32 *) PG_GETARG_POINTER(6);
	Datum *keys = NULL;

	switch (strategy)
	{
		case SIMHASH_EQUAL_STRATEGY:
			keys = equality_keys(PG_GETARG_SIMHASH64(0), n_keys);
			break;
		case SIMHASH_IN_BALL_STRATEGY:
		{
			SimhashBall *ball = PG_GETARG_SIMHASH_BALL_P(0);

			if (ball->radius == 0)
				keys = equality_keys(ball->center, n_keys);
			else if (ball->radius <= SIMDUP_PROBE_MAX_RADIUS)
				keys = ball_keys(ball, n_keys, partial, extra);
			else
			{
				*search_mode = GIN_SEARCH_MODE_ALL;
				*n_keys = 0;
			}
			break;
		}
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
	PG_RETURN_POINTER(keys);
}

PG_FUNCTION_INFO_V1(simhash64_gin_compare_partial);
/* Called under a page's lock, so a cancel waits until GIN leaves the page. */
Datum
simhash64_gin_compare_partial(PG_FUNCTION_ARGS)
{
	uint64 start = PG_GETARG_SIMHASH64(0);
	uint64 key = PG_GETARG_SIMHASH64(1);
	ProbeTarget *target = (ProbeTarget *) PG_GETARG_POINTER(3);

	if (!simdup_key_in_range(key, start))
		PG_RETURN_INT32(1); /* keys come in order: the range is over */
	PG_RETURN_INT32(simdup_keys_near(key, target->key, target->radius) ? 0
																	   : -1);
}

/*
 * Is any of n bytes not 0? Both consistent functions are called once for each
 * probe, with the bytes of all probes, before the search begins. So the bytes
 * are read by words.
 */
static bool
any_set(const char *flags, int n)
{
	uint64 word;

	for (; n >= (int) sizeof(word); n -= sizeof(word), flags += sizeof(word))
	{
		memcpy(&word, flags, sizeof(word));
		if (word != 0)
			return true;
	}
	for (; n > 0; n--)
		if (*flags++ != 0)
			return true;
	return false;
}

PG_FUNCTION_INFO_V1(simhash64_gin_consistent);
Datum
simhash64_gin_consistent(PG_FUNCTION_ARGS)
{
	bool *check = (bool *) PG_GETARG_POINTER(0);
	int32 n_keys = PG_GETARG_INT32(3);
	bool *recheck = (bool *) PG_GETARG_POINTER(5);

	/* four fingerprints share each key; without a key, all rows match */
	*recheck = true;
	PG_RETURN_BOOL(n_keys == 0 || any_set((char *) check, n_keys));
}

PG_FUNCTION_INFO_V1(simhash64_gin_tri_consistent);
Datum
simhash64_gin_tri_consistent(PG_FUNCTION_ARGS)
{
	GinTernaryValue *check = (GinTernaryValue *) PG_GETARG_POINTER(0);
	int32 n_keys = PG_GETARG_INT32(3);

	if (n_keys == 0 || any_set((char *) check, n_keys))
		PG_RETURN_GIN_TERNARY_VALUE(GIN_MAYBE);
	PG_RETURN_GIN_TERNARY_VALUE(GIN_FALSE);
}

/*
 * chain.c
 *	  Decisions that contradict each other are refused, with the chain of
 *	  decisions that leads from one row to the other.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/typcache.h"

#include "groups/chain.h"
#include "server/keys.h"

/* Keys that "same" ties to the first one, and through which. */
typedef struct Chain
{
	Grouping *g;
	Datum skipped[2]; /* a decision that does not count */
	bool skips;
	bool hides; /* no key is told */
	int n;
	Datum *keys;
	int *from;
} Chain;

static bool
is_key(Grouping *g, Datum a, Datum b)
{
	TypeCacheEntry *type =
		lookup_type_cache(g->at->key_type, TYPECACHE_EQ_OPR_FINFO);

	return DatumGetBool(
		FunctionCall2Coll(&type->eq_opr_finfo, g->collation, a, b));
}

static int
find(const Chain *chain, Datum key)
{
	for (int i = 0; i < chain->n; i++)
		if (is_key(chain->g, chain->keys[i], key))
			return i;
	return -1;
}

static void
add(Chain *chain, Datum key, int from)
{
	int n = chain->n;

	if (n == 0)
	{
		chain->keys = palloc(16 * sizeof(Datum));
		chain->from = palloc(16 * sizeof(int));
	}
	else if (n % 16 == 0)
	{
		chain->keys = repalloc(chain->keys, (n + 16) * sizeof(Datum));
		chain->from = repalloc(chain->from, (n + 16) * sizeof(int));
	}
	chain->keys[n] = key;
	chain->from[n] = from;
	chain->n++;
}

static bool
is_skipped(const Chain *chain, Datum a, Datum b)
{
	const Datum *s = chain->skipped;

	return chain->skips &&
		   ((is_key(chain->g, a, s[0]) && is_key(chain->g, b, s[1])) ||
			(is_key(chain->g, a, s[1]) && is_key(chain->g, b, s[0])));
}

/* All keys that are the same as this one, whether their rows are there or not. */
static Chain
follow(Grouping *g, Datum key, const Datum *skipped, bool hides)
{
	Chain chain = {.g = g, .skips = skipped != NULL, .hides = hides};

	if (skipped != NULL)
		memcpy(chain.skipped, skipped, sizeof(chain.skipped));
	add(&chain, key, -1);
	for (int i = 0; i < chain.n; i++)
	{
		ArrivalFound found =
			simdup_grouping_run(g, GROUP_SAME_AS, &chain.keys[i], NULL);

		for (uint64 j = 0; j < found.n; j++)
		{
			Datum other = simdup_grouping_value(found, j, 1, NULL);

			if (find(&chain, other) < 0 &&
				!is_skipped(&chain, chain.keys[i], other))
				add(&chain, other, i);
		}
	}
	return chain;
}

/* "first = ... = key" */
static void
append_way(StringInfo buf, const Chain *chain, int i, bool backwards)
{
	if (backwards)
		for (; i >= 0; i = chain->from[i])
			appendStringInfo(buf, "%s%s",
							 simdup_key_text(chain->g->at->key_type,
											 chain->keys[i]),
							 chain->from[i] >= 0 ? " = " : "");
	else
	{
		if (chain->from[i] >= 0)
		{
			append_way(buf, chain, chain->from[i], false);
			appendStringInfoString(buf, " = ");
		}
		appendStringInfoString(buf, simdup_key_text(chain->g->at->key_type,
													chain->keys[i]));
	}
}

static void
refuse(Grouping *g, const Datum *keys, bool same, const char *way, bool hides)
{
	ereport(ERROR, errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			same
				? errmsg("decision that rows %s and %s are the same contradicts others",
						 simdup_key_text(g->at->key_type, keys[0]),
						 simdup_key_text(g->at->key_type, keys[1]))
				: errmsg("decision that rows %s and %s are not the same contradicts others",
						 simdup_key_text(g->at->key_type, keys[0]),
						 simdup_key_text(g->at->key_type, keys[1])),
			hides
				? errdetail(
					  "Row-level security hides the decisions between these rows.")
				: errdetail("It was decided that %s.", way),
			errhint("Take a decision back with simdup_undecide."));
}

/* Refuse "same" where a row of one chain was told apart from one of the other. */
static void
check_same(Grouping *g, const Datum *keys, const Chain *left,
		   const Chain *right)
{
	for (int i = 0; i < left->n; i++)
	{
		ArrivalFound found =
			simdup_grouping_run(g, GROUP_NOT_SAME_AS, &left->keys[i], NULL);

		for (uint64 j = 0; j < found.n; j++)
		{
			Datum other = simdup_grouping_value(found, j, 1, NULL);
			int end = find(right, other);
			StringInfoData way;

			if (end < 0 || is_skipped(left, left->keys[i], other))
				continue;
			initStringInfo(&way);
			append_way(&way, left, i, false);
			appendStringInfoString(&way, " <> ");
			append_way(&way, right, end, true);
			refuse(g, keys, true, way.data, left->hides);
		}
	}
}

void
simdup_group_check_chain(Grouping *g, const Datum *keys, bool same,
						 bool replaces, bool hides)
{
	const Datum *skipped = replaces ? keys : NULL;
	Chain left = follow(g, keys[0], skipped, hides);
	int end = find(&left, keys[1]);

	if (same)
	{
		Chain right = follow(g, keys[1], skipped, hides);

		check_same(g, keys, &left, &right);
	}
	else if (end >= 0)
	{
		StringInfoData way;

		initStringInfo(&way);
		append_way(&way, &left, end, false);
		refuse(g, keys, false, way.data, hides);
	}
}

/*
 * quality.c
 *	  How good found pairs are.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "server/arguments.h"
#include "server/query.h"

/*
 * Precision, recall and F1 of found pairs.
 */

/* found, true, both, precision, recall, F1 */
#define N_SCORES 6

/* Make a column of a result: a part of a whole, NULL of nothing. */
static void
put_share(double part, double whole, Datum *value, bool *isnull)
{
	*isnull = !(whole > 0);
	*value = Float8GetDatum(*isnull ? 0 : part / whole);
}

/* Make the scores columns of a result. */
static void
put_scores(int64 found, int64 truth, int64 both, Datum *values, bool *nulls)
{
	double hits = (double) both;

	memset(nulls, 0, N_SCORES * sizeof(bool));
	values[0] = Int64GetDatum(found);
	values[1] = Int64GetDatum(truth);
	values[2] = Int64GetDatum(both);
	put_share(hits, (double) found, &values[3], &nulls[3]);
	put_share(hits, (double) truth, &values[4], &nulls[4]);
	put_share(2 * hits, (double) (found + truth), &values[5], &nulls[5]);
}

/*
 * simdup_evaluate, simdup_evaluate_clusters: found against true.
 *
 * Each function runs one statement that contains the caller's two queries. So
 * the server's sorting, hashing and spilling do the work, for keys of any type.
 * The statement leaves no name to the search_path: LEAST, GREATEST, GROUP BY
 * and array_position compare by the type's default operator class.
 */

/* A SimdupColumnCheck. */
static bool
has_two_columns(void *arg pg_attribute_unused(), TupleDesc columns,
				const char *argument pg_attribute_unused())
{
	return columns->natts >= 2;
}

/*
 * Both %s are the queries. Each pair counts once, in either order of its keys.
 * A row with itself is no pair.
 */
static const char pairs_statement[] =
	"SELECT pg_catalog.count(*) FILTER (WHERE found),"
	" pg_catalog.count(*) FILTER (WHERE truth),"
	" pg_catalog.count(*) FILTER (WHERE found AND truth), false"
	" FROM (SELECT pg_catalog.bool_or(is_found) AS found,"
	" pg_catalog.bool_or(NOT is_found) AS truth"
	" FROM (SELECT LEAST(q.a, q.b) AS a, GREATEST(q.a, q.b) AS b, true AS is_found"
	" FROM %s AS q(a, b)"
	" UNION ALL SELECT LEAST(q.a, q.b), GREATEST(q.a, q.b), false"
	" FROM %s AS q(a, b)) AS pairs"
	" WHERE pg_catalog.record_ne(ROW(a), ROW(b))"
	" GROUP BY a, b) AS distinct_pairs";

/*
 * Each key counts once, with the cluster f that was found and the true cluster
 * t. Pairs are only counted, not made: n rows of one cluster are n (n - 1) / 2
 * pairs.
 */
static const char clusters_statement[] =
	"WITH labels AS MATERIALIZED (SELECT"
	" pg_catalog.first_value(f) OVER same_key AS f,"
	" pg_catalog.last_value(t) OVER same_key AS t,"
	" pg_catalog.row_number() OVER same_key AS number,"
	" pg_catalog.lag(is_found) OVER same_key AS last_is_found, is_found"
	" FROM (SELECT q.key, q.cluster AS f, NULL AS t, true AS is_found"
	" FROM %s AS q(key, cluster)"
	" UNION ALL SELECT q.key, NULL, q.cluster, false"
	" FROM %s AS q(key, cluster)) AS both_queries"
	" WHERE key IS NOT NULL"
	" WINDOW same_key AS (PARTITION BY key ORDER BY is_found DESC"
	" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)),"
	" keys AS (SELECT f, t FROM labels WHERE number OPERATOR(pg_catalog.=) 1)"
	" SELECT (SELECT pg_catalog.sum(n OPERATOR(pg_catalog.*) (n OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 2)"
	" FROM (SELECT pg_catalog.count(*) AS n FROM keys WHERE f IS NOT NULL GROUP BY f) AS s)::pg_catalog.int8,"
	" (SELECT pg_catalog.sum(n OPERATOR(pg_catalog.*) (n OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 2)"
	" FROM (SELECT pg_catalog.count(*) AS n FROM keys WHERE t IS NOT NULL GROUP BY t) AS s)::pg_catalog.int8,"
	" (SELECT pg_catalog.sum(n OPERATOR(pg_catalog.*) (n OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 2)"
	" FROM (SELECT pg_catalog.count(*) AS n FROM keys WHERE f IS NOT NULL AND t IS NOT NULL GROUP BY f, t) AS s)::pg_catalog.int8,"
	" (SELECT pg_catalog.bool_or(last_is_found OPERATOR(pg_catalog.=) is_found) FROM labels)";

static Datum
evaluate(FunctionCallInfo fcinfo, const char *statement, const char *columns,
		 const char *example)
{
	static const char *const names[2] = {"found", "truth"};
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupParameters *parameters;
	char *queries[2];
	StringInfoData query;
	Datum counts[4]; /* found, true, both; whether a key has two clusters */
	bool missing[4];
	Datum values[N_SCORES];
	bool nulls[N_SCORES];

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	parameters = simdup_parameters(fcinfo, 2);
	SPI_connect();
	for (int i = 0; i < 2; i++)
		queries[i] = simdup_subquery(&(SimdupQuery){text_to_cstring(
														PG_GETARG_TEXT_PP(i)),
													names[i], columns, example},
									 parameters, has_two_columns, NULL);
	initStringInfo(&query);
	appendStringInfo(&query, statement, queries[0], queries[1]);
	simdup_execute_statement(query.data, parameters);
	if (SPI_processed != 1)
		elog(ERROR, "evaluation did not yield one row");
	heap_deform_tuple(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, counts,
					  missing);
	if (!missing[3] && DatumGetBool(counts[3]))
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg(
					"a key has more than one cluster in one of the queries"));
	/* a sum of no rows is NULL */
	put_scores(missing[0] ? 0 : DatumGetInt64(counts[0]),
			   missing[1] ? 0 : DatumGetInt64(counts[1]),
			   missing[2] ? 0 : DatumGetInt64(counts[2]), values, nulls);
	/* before SPI's memory goes: on 32 bits a Datum may be a pointer */
	simdup_put_result(result, values, nulls);
	SPI_finish();
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_evaluate);
Datum
simdup_evaluate(PG_FUNCTION_ARGS)
{
	return evaluate(fcinfo, pairs_statement,
					"the two keys of a pair, and anything after them", "a, b");
}

PG_FUNCTION_INFO_V1(simdup_evaluate_clusters);
Datum
simdup_evaluate_clusters(PG_FUNCTION_ARGS)
{
	return evaluate(fcinfo, clusters_statement,
					"a key and its cluster, and anything after them",
					"key, cluster");
}

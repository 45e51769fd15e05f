/*
 * evaluate.c
 *	  simdup_evaluate, simdup_evaluate_clusters: found against true.
 *
 * Each function runs one statement that contains the caller's two queries. So
 * the server's sorting, hashing and spilling do the work, for keys of any type.
 * The statement leaves no name to the search_path: LEAST, GREATEST, GROUP BY
 * and array_position compare by the type's default operator class.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/spi.h"
#include "utils/builtins.h"

#include "batch/scores.h"
#include "server/arguments.h"
#include "server/query.h"

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

static int64
count_column(int column)
{
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
								column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

static Datum
evaluate(FunctionCallInfo fcinfo, const char *statement, const char *columns,
		 const char *example)
{
	Datum values[SIMDUP_N_SCORES];
	bool nulls[SIMDUP_N_SCORES];
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupParameters *parameters;
	char *found;
	char *truth;
	StringInfoData query;
	Datum twice;
	bool isnull;

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	parameters = simdup_parameters(fcinfo, 2);
	found = text_to_cstring(PG_GETARG_TEXT_PP(0));
	truth = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SPI_connect();
	found = simdup_subquery(&(SimdupQuery){found, "found", columns, example},
							parameters, has_two_columns, NULL);
	truth = simdup_subquery(&(SimdupQuery){truth, "truth", columns, example},
							parameters, has_two_columns, NULL);
	initStringInfo(&query);
	appendStringInfo(&query, statement, found, truth);
	simdup_execute_statement(query.data, parameters);
	if (SPI_processed != 1)
		elog(ERROR, "evaluation did not yield one row");
	twice =
		SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 4, &isnull);
	if (!isnull && DatumGetBool(twice))
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg(
					"a key has more than one cluster in one of the queries"));
	simdup_scores(count_column(1), count_column(2), count_column(3), values,
				  nulls);
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

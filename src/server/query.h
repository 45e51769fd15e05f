/*
 * query.h
 *	  The caller's query: checked, run with the caller's rights, streamed.
 */
#ifndef SIMDUP_SERVER_QUERY_H
#define SIMDUP_SERVER_QUERY_H

#include "executor/tuptable.h"
#include "fmgr.h"

#include "server/parameters.h"

/*
 * Checks the columns before the first row; an ERROR says what is wrong. Called
 * once. argument is the name of the SQL argument that held the query.
 */
typedef void (*SimdupColumnCheck)(void *arg, TupleDesc columns,
								  const char *argument);
typedef void (*SimdupRowSink)(void *arg, TupleTableSlot *row);

/* Run it and feed each row to the sink. Connects to SPI and leaves it. */
extern void simdup_run_query(const char *query, const char *argument,
							 SimdupParameters *parameters,
							 SimdupColumnCheck check, SimdupRowSink sink,
							 void *arg);

/*
 * The one SELECT of the text, without what may follow it, fit to stand in
 * parentheses; checked like the above. Needs an SPI connection.
 */
extern char *simdup_subquery(const char *query, const char *argument,
							 SimdupParameters *parameters,
							 SimdupColumnCheck check, void *arg);

/*
 * Run a statement of ours, of such subqueries, with their parameters. The rows
 * are in SPI_tuptable. Needs an SPI connection.
 */
extern void simdup_execute_statement(const char *statement,
									 SimdupParameters *parameters);

/* ERROR: the query has not the columns it should have. */
pg_noreturn extern void simdup_wrong_columns(const char *argument,
											 TupleDesc columns,
											 const char *expected);

#endif /* SIMDUP_SERVER_QUERY_H */

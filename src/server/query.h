/*
 * query.h
 *	  The caller's query: checked, run with the caller's rights, streamed. And how
 *	  far the batch is, told to the caller.
 */
#ifndef SIMDUP_SERVER_QUERY_H
#define SIMDUP_SERVER_QUERY_H

#include "datatype/timestamp.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "nodes/params.h"
#include "parser/parse_node.h"

/*
 * Values for the parameters $1, $2 ... of a caller's query.
 *
 * The values come as text, in the SQL argument params. The query's parser finds
 * the types, as it does for a prepared statement; each type's input function
 * reads the text.
 */

typedef struct SimdupParameters SimdupParameters;

/*
 * Return the values of the argument params, in the current memory context.
 * There are none where the function has no such argument. ERROR if the argument
 * is NULL. n_queries queries of the function share them.
 */
extern SimdupParameters *simdup_parameters(FunctionCallInfo fcinfo,
										   int n_queries);

/* A query, and what it should yield. */
typedef struct SimdupQuery
{
	const char *text;
	const char *argument; /* the SQL argument that held the text */
	const char *columns;  /* that it should yield, in words */
	const char *example;  /* the same as a SELECT lists them */
} SimdupQuery;

/* The last two of a key and a fingerprint. */
#define SIMDUP_KEY_AND_FP "a key and a simhash64", "id, minhash64(content)"

/*
 * Check whether the columns are those of the query, before the first row;
 * called once.
 */
typedef bool (*SimdupColumnCheck)(void *arg, TupleDesc columns,
								  const char *argument);

/*
 * Take a row, all of whose values are in the slot, in a memory context that is
 * reset after it.
 */
typedef void (*SimdupRowSink)(void *arg, TupleTableSlot *row);

/* Run a plan, and feed each row to the sink. Needs an SPI connection. */
extern void simdup_receive_rows(SPIPlanPtr plan, ParamListInfo params,
								SimdupRowSink sink, void *arg);

/* Set a setting until its nest level or subtransaction ends. */
extern void simdup_set_for_now(const char *name, const char *value);

/*
 * Begin to run under a search_path, for the caller's query and nothing else. The
 * level that is returned ends it; so does an error.
 */
extern int simdup_path_begin(const char *path);

/* Begin to write values as texts that are read as the same values. */
extern int simdup_exact_texts_begin(void);
extern void simdup_path_end(int level);

/* Run it and feed each row to the sink. Connects to SPI and leaves it. */
extern void simdup_run_query(const SimdupQuery *query,
							 SimdupParameters *parameters,
							 SimdupColumnCheck check, SimdupRowSink sink,
							 void *arg);

/* How far a batch is, told to the caller by NOTICEs. */

/* Define simdup.progress_interval, once, when the module loads. */
extern void simdup_progress_init(void);

/* Let the C library keep the scratch of texts (host.c), when the module loads. */
extern void simdup_keep_scratch(void);

/*
 * Begin to report for the named function, until the current memory context is
 * reset or deleted, on every way out. Without it the calls below do nothing.
 * *told is the time of the last report, 0 before the first one; it outlives many
 * short runs of one statement. NULL: there is one run.
 */
extern void simdup_progress_begin(const char *function, TimestampTz *told);

/* Begin a phase of total units, 0 if unknown. phase stays a pointer. */
extern void simdup_progress_phase(const char *phase, int64 total);

/*
 * Note that `done` units of the phase are done. Look at the clock, and report
 * if it is time. The number never goes back within a phase.
 */
extern void simdup_progress_look(int64 done);

/* Note the same in a tight loop. Look at the clock once in many calls. */
extern void simdup_progress_done(int64 done);

/* Tell how many rows lack a fingerprint or a text, beside the n that have both. */
extern void simdup_tell_skipped(int64 n_no_fp, int64 n_no_content, int64 n);

#endif /* SIMDUP_SERVER_QUERY_H */

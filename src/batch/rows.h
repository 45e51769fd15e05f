/*
 * rows.h
 *	  The rows of a batch, its distinct fingerprints, and the near pairs of these.
 *
 * A row has a key and a fingerprint, and a scope and a content where the query
 * has these columns. Rows are numbered from 0 in query order. They are kept in
 * memory, and in temporary files beyond maintenance_work_mem.
 */
#ifndef SIMDUP_BATCH_ROWS_H
#define SIMDUP_BATCH_ROWS_H

#include "fmgr.h"

#include "core/cluster/grouping.h"
#include "core/join/allpairs.h"
#include "server/keys.h"
#include "server/query.h"
#include "server/spill.h"
#include "shingles/stored_texts.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER	  /* the nearest leader: see core/cluster/grouping.h */
} SimdupClusterMethod;

/* What makes two rows near, and rows a cluster: one list for all functions. */
typedef struct SimdupOptions
{
	int max_distance;
	SimdupClusterMethod method;
	double min_resemblance; /* 0: contents do not count */
	SimdupShingling shingling;
} SimdupOptions;

/*
 * Return the options of a function, found by their names. ERROR for one that is
 * out of range, or NULL and not min_resemblance.
 */
extern SimdupOptions simdup_options(FunctionCallInfo fcinfo);

/*
 * Bytes that a fingerprint takes in memory while fingerprints are joined:
 * fingerprint and start, and two elements of the join. A row adds its number.
 */
#define SIMDUP_FINGERPRINT_BYTES (12 + 2 * (int64) sizeof(SimdupElement))
#define SIMDUP_ROW_BYTES (SIMDUP_FINGERPRINT_BYTES + 4)

/* Of a key as text, in bytes. A key that is longer ends in " ...". */
#define SIMDUP_MAX_KEY_TEXT 200

/* The most bytes of a text that a report looks at. */
#define SIMDUP_MAX_SAMPLE (1024 * 1024)

/* Columns that may follow the key and the fingerprint, by name. */
typedef enum SimdupNamedColumn
{
	SIMDUP_CONTENT,
	SIMDUP_SCOPE,
	SIMDUP_N_NAMED
} SimdupNamedColumn;

typedef struct SimdupRows
{
	MemoryContext context;	   /* all of the batch; deleted at the end */
	MemoryContext caller;	   /* the context before and after */
	MemoryContext row_context; /* for what is made of one row; then reset */
	int64 budget;			   /* bytes: maintenance_work_mem */
	Oid fp_type; /* InvalidOid: a key and a text, without a fingerprint */
	SimdupParameters *parameters;

	SimdupKeys *keys;		   /* by number */
	SimdupKeyNumbers *numbers; /* a key's number is its row's; NULL: no look-up */
	Oid key_type;
	FmgrInfo *key_output; /* NULL: keys keep their type */

	int column[SIMDUP_N_NAMED]; /* in the query that is read, from 0; -1: none */
	SimdupStoredTexts *contents; /* to compare; NULL: they do not count */
	double min_resemblance;
	SimdupKeys *samples; /* texts to show beside the keys; NULL: none */
	bool has_samples;	 /* the query has a column content */

	/* A number for each scope, from 1; NULL is scope 0. */
	SimdupKeyNumbers *scopes; /* NULL: the query has none */
	SimdupKeys *scope_keys;	  /* stay in memory */
	Oid scope_type;
	uint32 *scope; /* by number, until rows are distinct or go to disk */

	/* Where not NULL: gets each row too. */
	SimdupRowSink also;
	void *also_arg;

	uint32 n;		/* rows with a fingerprint */
	uint32 n_first; /* of them, from the first query */
	int n_queries;
	int64 n_null;		/* rows without a fingerprint */
	int64 n_no_content; /* rows with one, but without the content they need */

	/* The fingerprints, until they are distinct; in memory or in the sort. */
	uint64 *fps;		 /* by number */
	Size n_fps, n_scope; /* that there is room for */
	/* scope and high half of the fingerprint, low half and number */
	SimdupPairSort *sort;
} SimdupRows;

/*
 * Begin a batch of n_queries queries in a memory context of its own, which is
 * the current one until simdup_fingerprints_end deletes it. The fingerprint type is the one beside the
 * called function. The arguments key_type and params are found by their names.
 * With a min_resemblance the contents are kept, to be compared.
 */
extern SimdupRows *simdup_rows_begin(FunctionCallInfo fcinfo, int n_queries,
									 const SimdupOptions *options);

/*
 * Read keys and texts to be compared, without fingerprints. simdup_rows_end ends
 * the rows.
 */
extern void simdup_rows_without_fingerprints(SimdupRows *rows);
extern void simdup_rows_end(SimdupRows *rows);

/* Look rows up by key: ERROR for a key that the query yields twice. */
extern void simdup_rows_by_key(SimdupRows *rows);

/*
 * Read keys of any type as text, for reports. Keys are cut at
 * SIMDUP_MAX_KEY_TEXT. With samples, contents are kept to be shown.
 */
extern void simdup_rows_as_text(SimdupRows *rows, bool samples);

/*
 * Read the rows of a query; of two, the first first. Rows without a fingerprint
 * are skipped and counted. So are those without a content that counts.
 */
extern void simdup_rows_read(SimdupRows *rows, const char *text,
							 const char *argument);

/* Say what was skipped, in a NOTICE. */
extern void simdup_rows_tell_skipped(const SimdupRows *rows);

/*
 * Return the content of a row, up to SIMDUP_MAX_SAMPLE bytes, in the current
 * memory context. *cut tells whether the text goes on.
 */
extern text *simdup_rows_sample(SimdupRows *rows, uint32 number, bool *cut);

/* Add rows one by one, after simdup_keys_expect. */
extern void simdup_rows_add(SimdupRows *rows, Datum key, bool null_key,
							Datum fp, bool null_fp);

/*
 * The distinct fingerprints of a batch, each with its rows.
 *
 * A row has a position in the order of scopes and fingerprints. The rows of one
 * fingerprint stand at consecutive positions, in query order. In memory all
 * this is plain arrays, beyond maintenance_work_mem temporary files; the calls
 * below hide which.
 */

/* Rows of one fingerprint: those of the first query first. */
typedef struct SimdupFingerprint
{
	uint64 fp;
	uint32 start;	/* position of its first row */
	uint32 n_first; /* rows that came with the first query */
	uint32 n;		/* all of them */
} SimdupFingerprint;

typedef struct SimdupFingerprints
{
	SimdupRows *rows;
	int64 n;
	SimdupDistinctFingerprints in_memory; /* its arrays are NULL when on disk */
	SimdupTempFile *number_file;		  /* by position */
	SimdupTempFile *fingerprint_file;	  /* of SimdupFingerprint, ascending */
	/* by scope: where its fingerprints begin; one more */
	uint32 *scope_starts;
	uint32 n_scopes;
} SimdupFingerprints;

/*
 * Make the distinct fingerprints, after the last query. simdup_fingerprints_end
 * ends the rows, too.
 */
extern SimdupFingerprints *simdup_rows_distinct(SimdupRows *rows);
extern void simdup_fingerprints_end(SimdupFingerprints *fingerprints);

/* Return the fingerprint of that index, by scope, fingerprint and position. */
extern SimdupFingerprint simdup_fingerprint_at(SimdupFingerprints *fingerprints,
											   int64 index);

/*
 * Find the next fingerprint of several rows, from index *next on, and move
 * *next behind it. Return false if there is none.
 */
extern bool simdup_fingerprints_next_equal(SimdupFingerprints *fingerprints,
										   int64 *next,
										   SimdupFingerprint *fingerprint);

/* List the fingerprint and the scope of each row, by number. */
extern void simdup_fingerprints_by_row(SimdupFingerprints *fingerprints,
									   uint64 *fps, uint32 *scopes);

/* Return the number of the row at a position. */
extern uint32 simdup_row_at(SimdupFingerprints *fingerprints, uint32 position);

/* Set the bit of a position, in an array of bytes. */
static inline void
simdup_set_bit(uint8 *bits, uint32 position)
{
	bits[position / 8] |= (uint8) (1 << position % 8);
}

static inline bool
simdup_get_bit(const uint8 *bits, uint32 position)
{
	return (bits[position / 8] >> position % 8) & 1;
}

/*
 * All near pairs of a batch's fingerprints: join.c.
 */

typedef void (*SimdupFingerprintSink)(void *arg, const SimdupFingerprint *a,
									  const SimdupFingerprint *b, int distance);

/*
 * Find each pair of different fingerprints of one scope within the distance,
 * once, in no order. Leave out pairs whose rows are all of the second query.
 * The scopes are joined one after the other. Memory stays within the batch's
 * budget. The phase is what progress messages call it.
 */
extern void simdup_join_fingerprints(SimdupFingerprints *fingerprints,
									 int max_distance, const char *phase,
									 SimdupFingerprintSink sink, void *arg);

/*
 * Groups of rows: distinct_rows.c.
 */

/*
 * Return the first row of each row's group. These may be NULL: the constraints;
 * `also`, which gets each near pair of fingerprints once; and for leader with
 * contents the resemblance, which gets that of each row to its leader.
 */
extern uint32 *simdup_find_groups(SimdupFingerprints *fingerprints,
								  const SimdupOptions *options,
								  const SimdupConstraints *constraints,
								  SimdupFingerprintSink also, void *also_arg,
								  double *resemblance);

/*
 * What a refresh and a review of a grouping read alike: groups.c. Arguments of
 * the called function are found by their names.
 */

/* Run the query of the argument members, which yields keys and ids. */
extern void simdup_read_members(FunctionCallInfo fcinfo, SimdupKeys *keys,
								void (*take)(void *arg, Datum *keys,
											 Datum *values),
								void *arg);

/*
 * Read the rows of the query, which is the first argument, under the path, which
 * is the third. simdup_fingerprints_end ends them.
 */
extern SimdupFingerprints *simdup_read_fingerprints(
	FunctionCallInfo fcinfo, const SimdupOptions *options);

#endif /* SIMDUP_BATCH_ROWS_H */

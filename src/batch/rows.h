/*
 * rows.h
 *	  The rows of a batch, and its distinct fingerprints.
 *
 * A row has a key and a fingerprint, and perhaps a scope and a content. Rows are
 * numbered from 0 in the order in which they come. They are kept in
 * memory, and in temporary files beyond maintenance_work_mem.
 */
#ifndef SIMDUP_BATCH_ROWS_H
#define SIMDUP_BATCH_ROWS_H

#include "fmgr.h"

#include "core/cluster/grouping.h"
#include "core/join/allpairs.h"
#include "joins/stored_texts.h"
#include "server/progress.h"
#include "server/source.h"
#include "server/spill.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER,	  /* the nearest leader: see core/cluster/grouping.h */
	SIMDUP_CAMPAIGNS /* of simdup_campaign alone: see core/cluster/campaigns.h */
} SimdupClusterMethod;

/* What makes two rows near, and rows a cluster: one list for all functions. */
typedef struct SimdupOptions
{
	int max_distance;
	SimdupClusterMethod method;
	double min_resemblance; /* 0: contents do not count */
	double min_containment; /* of campaigns */
	SimdupShingling shingling;
} SimdupOptions;

/*
 * Return the options of a function, found by their names. ERROR for one that is
 * out of range, or NULL and not min_resemblance.
 */
extern SimdupOptions simdup_options(FunctionCallInfo fcinfo);

typedef struct SimdupRows
{
	MemoryContext context;	   /* all of the batch, a child of the caller's */
	MemoryContext row_context; /* for what is made of one row; then reset */
	int64 budget;			   /* bytes */
	int64 row_budget;		   /* where rows go to disk */
	SimdupOptions options;	   /* zeroed if the function has none */

	SimdupKeys *keys;		   /* by number, in memory; NULL: none */
	SimdupKeyNumbers *numbers; /* a key's number is its row's */
	Oid key_type;

	SimdupStoredTexts *contents; /* to compare; NULL: they do not count */
	/* A number for each scope, from 1; NULL is scope 0. */
	SimdupKeyNumbers *scopes; /* NULL: there are none */
	SimdupKeys *scope_keys;	  /* stay in memory */
	uint32 *scope; /* by number, until rows are distinct or go to disk */

	int64 n_before; /* rows of earlier batches, for progress messages */
	uint32 n;		/* rows with a fingerprint */
	int64 n_null;	/* rows without a fingerprint */

	/* The fingerprints, until they are distinct; in memory or in the sort. */
	uint64 *fps;		 /* by number */
	Size n_fps, n_scope; /* that there is room for */
	/* scope and high half of the fingerprint, low half and number */
	SimdupPairSort *sort;
	struct SimdupFingerprints *distinct; /* NULL: not yet */
} SimdupRows;

/*
 * Bytes that a fingerprint takes in memory while fingerprints are joined:
 * fingerprint and start, and two elements of the join. A row adds its number.
 */
#define SIMDUP_FINGERPRINT_BYTES (12 + 2 * (int64) sizeof(SimdupElement))
#define SIMDUP_ROW_BYTES (SIMDUP_FINGERPRINT_BYTES + 4)

/*
 * The rows of a batch that come one by one: what they have. They are numbered in
 * the order in which they are added.
 */
typedef struct SimdupFeed
{
	const char *function; /* that progress messages name */
	int64 budget;		  /* bytes of memory; more goes to disk */
	/*
	 * where rows go to disk, by what is counted of them: grouping takes as
	 * much again; 0: at the budget
	 */
	int64 row_budget;
	Oid key_type;	  /* ERROR for a key twice; InvalidOid: no keys */
	Oid scope_type;	  /* InvalidOid: no scopes */
	Oid content_type; /* where options have a min_resemblance */

	/* of a statement with many batches; else NULL and 0 */
	TimestampTz *told; /* as in simdup_progress_begin */
	int64 n_before;	   /* rows of the batches before */
} SimdupFeed;

typedef struct SimdupRow
{
	Datum key; /* of key_type */
	uint64 fp;
	Datum content; /* only where options have a min_resemblance */
	Datum scope;
	bool no_fp;
	bool no_content;
	bool no_scope; /* all rows without one are of one scope */
} SimdupRow;

/*
 * Begin such a batch, in a memory context of its own, which is the current one
 * until simdup_rows_end deletes it. Add all rows, then call simdup_rows_distinct,
 * and simdup_find_groups or simdup_join_fingerprints. End with simdup_rows_end.
 */
extern SimdupRows *simdup_rows_feed(const SimdupFeed *feed,
									const SimdupOptions *options);
extern void simdup_rows_end(SimdupRows *rows);

/* ERROR if a batch of n rows has no room for another one. */
extern void simdup_check_room(uint32 n);

/*
 * Add a row. Its values are copied. Return its number, or SIMDUP_NO_ROW for one
 * that takes no part: without a fingerprint, or without the content to compare.
 */
extern uint32 simdup_rows_add(SimdupRows *rows, const SimdupRow *row);

/*
 * The distinct fingerprints of a batch, each with its rows: fingerprints.c.
 *
 * A row has a position in the order of scopes and fingerprints. The rows of one
 * fingerprint stand at consecutive positions, in the order of their numbers. In
 * memory all this is plain arrays, beyond maintenance_work_mem temporary files; the
 * calls below hide which.
 */

/* Rows of one fingerprint. */
typedef struct SimdupFingerprint
{
	uint64 fp;
	uint32 start; /* position of its first row */
	uint32 n;	  /* rows */
} SimdupFingerprint;

typedef struct SimdupFingerprints
{
	SimdupRows *rows;
	int64 n;
	SimdupDistinctFingerprints in_memory; /* its arrays are NULL when on disk */
	bool has_first_rows;				  /* in its elements: see join.c */
	bool was_joined;					  /* a phase comes once */
	SimdupTempFile *number_file;		  /* by position */
	SimdupTempFile *fingerprint_file;	  /* of SimdupFingerprint, ascending */
	/* by scope: where its fingerprints begin; one more */
	uint32 *scope_starts;
	uint32 n_scopes;
} SimdupFingerprints;

/* Make the distinct fingerprints, after the last row. They end with the rows. */
extern SimdupFingerprints *simdup_rows_distinct(SimdupRows *rows);

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

/*
 * List the fingerprint and the scope of each row, by number. These may be NULL:
 * the scopes, and the bits of the rows that are wanted, for all rows.
 */
extern void simdup_fingerprints_by_row(SimdupFingerprints *fingerprints,
									   const uint8 *wanted, uint64 *fps,
									   uint32 *scopes);

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

#endif /* SIMDUP_BATCH_ROWS_H */

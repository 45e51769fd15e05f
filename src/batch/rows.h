/*
 * rows.h
 *	  The rows of a batch, its distinct fingerprints, which of these are near, and the
 *	  groups of rows.
 *
 * A row has a key and a fingerprint, and perhaps a scope and a content. Rows are
 * numbered from 0 in the order in which they come.
 */
#ifndef SIMDUP_BATCH_ROWS_H
#define SIMDUP_BATCH_ROWS_H

#include "fmgr.h"

#include "core/cluster/grouping.h"
#include "pairs/stored_texts.h"
#include "server/progress.h"
#include "server/source.h"
#include "server/spill.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER,	  /* the nearest leader: see core/cluster/grouping.h */
	SIMDUP_CAMPAIGNS, /* of simdup_campaign alone */
	SIMDUP_TEMPLATES, /* of simdup_template alone */
	SIMDUP_GIVEN	  /* of a report alone: a column of its source */
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
 * out of range, or that is NULL, except min_resemblance.
 */
extern SimdupOptions simdup_options(FunctionCallInfo fcinfo);

typedef struct SimdupRows
{
	MemoryContext context;	   /* all of the batch, a child of the caller's */
	MemoryContext row_context; /* reset after each row */
	int64 budget;			   /* bytes */
	SimdupOptions options;	   /* zeroed if the function has none */

	SimdupKeys *keys;	   /* by number; NULL: none */
	SimdupKeyIds *numbers; /* a key's number is its row's; NULL: not looked up */
	Oid key_type;

	SimdupStoredTexts *contents; /* to compare; NULL: they do not count */
	/* A number for each scope, from 1; NULL is scope 0. */
	SimdupKeyIds *scopes; /* NULL: there are none */
	SimdupKeys *scope_keys;

	int64 n_before; /* rows of earlier batches, for progress messages */
	uint32 n;		/* rows with a fingerprint */
	int64 n_null;	/* rows without a fingerprint */

	/* scope and high half of the fingerprint, low half and number; NULL: sorted */
	SimdupPairSort *sort;

	/* the distinct fingerprints: see below */
	int64 n_distinct;
	SimdupTempFile *number_file;	  /* by position */
	SimdupTempFile *fingerprint_file; /* ascending in each scope */
	SimdupBuffer buffer;			  /* of one item */
	/* by scope: where its fingerprints begin; one more */
	uint32 *scope_starts;
	uint32 n_scopes;
	/* rows that progress shows before the next join, and after it */
	double shown;
	double show;
} SimdupRows;

/*
 * Types and limits of a batch whose rows come one by one. They are numbered in the
 * order in which they are added.
 */
typedef struct SimdupFeed
{
	const char *function; /* that progress messages name */
	int64 budget;		  /* bytes of memory; more goes to disk */
	Oid key_type;		  /* InvalidOid: no keys */
	Oid key_collation;
	bool finds_keys; /* they are looked up: ERROR for a key twice */
	Oid scope_type;	 /* InvalidOid: no scopes */
	Oid scope_collation;
	Oid content_type; /* where options have a min_resemblance */
	int64 n_before;	  /* rows of the statement's batches before */
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
 * The distinct fingerprints of a batch, each with its rows.
 *
 * A row has a position in the order of scopes and fingerprints. The rows of one
 * fingerprint stand at consecutive positions, in the order of their numbers. Both
 * lists are files, which stay in memory where they fit.
 */

/* Rows of one fingerprint. */
typedef struct SimdupFingerprint
{
	uint64 fp;
	uint32 start; /* position of its first row */
	uint32 n;	  /* rows */
} SimdupFingerprint;

/* Make the distinct fingerprints, after the last row. */
extern void simdup_rows_distinct(SimdupRows *rows);

/* Return the fingerprint of that index, by scope, fingerprint and position. */
extern SimdupFingerprint simdup_fingerprint_at(SimdupRows *rows, int64 index);

/*
 * Find the next fingerprint of several rows, from index *next on, and move
 * *next behind it. Return false if there is none.
 */
extern bool simdup_fingerprints_next_equal(SimdupRows *rows, int64 *next,
										   SimdupFingerprint *fingerprint);

/* List the fingerprint and, unless scopes is NULL, the scope of each row, by number. */
extern void simdup_fingerprints_by_row(SimdupRows *rows, uint64 *fps,
									   uint32 *scopes);

/* Return the number of the row at a position. */
extern uint32 simdup_row_at(SimdupRows *rows, uint32 position);

typedef void (*SimdupRowPairSink)(void *arg, uint32 a, uint32 b,
								  uint32 distance);

/* Sides of a join, for units or fingerprints known by their first rows. */
#define SIMDUP_FIRST_SIDE 1
#define SIMDUP_SECOND_SIDE 2
typedef int (*SimdupSideOf)(void *arg, uint32 row);

/*
 * Find each pair of different fingerprints of one scope within the distance, once,
 * in no order: the first rows of both. The scopes are joined one after the other.
 * Memory stays within the batch's budget. With sides, a fingerprint of the first side
 * meets those of the second. One of both sides meets itself, too.
 */
extern void simdup_join_fingerprints(SimdupRows *rows, int max_distance,
									 SimdupSideOf side_of,
									 SimdupRowPairSink sink, void *arg);

/* The next step, a join or other, is done when this share of all comparing is. */
extern void simdup_show_join(SimdupRows *rows, double share);

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
 * Group the rows (methods.c): return the first row of each row's group, or the center
 * of its campaign. The sink gets each near pair of fingerprints once, as their first
 * rows. The constraints and the sink may be NULL.
 */
extern uint32 *simdup_find_groups(SimdupRows *rows,
								  const SimdupConstraints *constraints,
								  SimdupRowPairSink sink, void *sink_arg);

#endif /* SIMDUP_BATCH_ROWS_H */

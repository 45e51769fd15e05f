/*
 * near.h
 *	  The search for the rows near a new one, and which of them count.
 */
#ifndef SIMDUP_TRIGGERS_NEAR_H
#define SIMDUP_TRIGGERS_NEAR_H

#include "triggers/trigger.h"

/* The new row; an AFTER trigger sees its newest stored version. */
typedef struct NewRow
{
	HeapTuple tuple;	/* as the trigger got it or found it */
	HeapTuple complete; /* with the generated columns that are needed */
	bool has_fp;
	uint64 fp;
	NullableDatum key; /* of flag and log; NULL where a later trigger sets it */
	ItemPointerData stored_tid; /* of its version in the table, if there is one */
} NewRow;

/* A near row, at first only what an index tells of it: distance and TID. */
typedef struct NearRow
{
	Datum key; /* for flag and log */
	TriggerTarget *target;
	int distance;
	ItemPointerData tid;
	bool is_newer; /* of one command, and of a larger key */
} NearRow;

typedef struct NearSearch
{
	TriggerState *state;
	const NewRow *row;
	Snapshot snapshot; /* NULL: nothing may be found */
	CommandId command; /* that wrote the new row, if that decides what is newer */
	bool asks;		   /* for each row: does the user see it? */
	Datum new_row;	   /* for the condition; 0 if not made yet */

	/* nearest first; those of one distance are read at once */
	int64 n_rows;
	size_t max_rows;
	NearRow *rows;
	int64 next_row; /* to be reported */
	int64 end_row;	/* end of the rows that were read */
	int64 next_distance;
} NearSearch;

/* search.c */

/* Return how often this session has heard that some relation changed. */
extern uint64 simdup_trigger_relation_changes(void);

/*
 * Find the tables to search and their indexes, and lock them until the
 * transaction ends. An ERROR names the statement to run.
 */
extern void simdup_trigger_find_targets(TriggerState *state);

/*
 * Search for the rows near a row that has a fingerprint, and return the first one
 * that counts; NULL if there is none. A trigger that locks does so before the
 * search takes its snapshot.
 */
extern const NearRow *simdup_trigger_first_near(NearSearch *search,
												TriggerState *state,
												const NewRow *row);

/*
 * Return the next row that counts, nearest first, of equal distance by their
 * keys, or for reject by their places; NULL after the last. It is valid until the
 * search ends.
 */
extern const NearRow *simdup_trigger_next_near(NearSearch *search);

/* End a search, also one that found nothing. */
extern void simdup_trigger_end_search(NearSearch *search);

/* visibility.c */

/*
 * Find out what a search has to ask of near rows. Return false if it shall tell
 * the user what it finds, and may tell nothing.
 */
extern bool simdup_trigger_may_search(NearSearch *search);

/* Check whether a near row counts. */
extern bool simdup_trigger_counts(NearSearch *search, const NearRow *near);

/*
 * Add what a refusal tells of the near row, by its key "(names)=(values)":
 * nothing that a SELECT would not. Its distance is for users who may read the
 * table.
 */
extern int simdup_trigger_detail(const TriggerState *state, const char *key,
								 int distance);

#endif /* SIMDUP_TRIGGERS_NEAR_H */

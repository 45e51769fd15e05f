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
	bool key_isnull;
	Datum key;
	ItemPointerData stored_tid; /* of its version in the table, if there is one */
} NewRow;

/* An entry of an index near the new row. */
typedef struct NearEntry
{
	int distance;
	int target;
	ItemPointerData tid;
} NearEntry;

/* A near row that a search found. */
typedef struct NearRow
{
	int distance;
	Datum key;
	bool key_isnull;
	TriggerTarget *target;
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

	/* nearest first, and the next whose row is to be read */
	int64 n_entries;
	int64 next_entry;
	size_t max_entries;
	NearEntry *entries;

	/* the rows of one distance, and the next to be reported */
	int64 n_rows;
	int64 next_row;
	NearRow *rows;
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
 * keys; NULL after the last. It is valid until the next call.
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
 * Add what a refusal tells of the near row: nothing that a SELECT would not. Its
 * distance is for users who may read the table.
 */
extern int simdup_trigger_detail(const TriggerState *state, const char *key,
								 int distance);

#endif /* SIMDUP_TRIGGERS_NEAR_H */

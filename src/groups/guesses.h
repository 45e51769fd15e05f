/*
 * guesses.h
 *	  What BEFORE triggers guessed, for the AFTER triggers of the same rows.
 *
 * A BEFORE INSERT trigger searches for the row's group and writes its id into
 * the row, so no second version of the row is needed. The row is not stored
 * yet, and may never be. The AFTER trigger makes it a member. It need not
 * search again if nothing came between the two that the guess did not know of.
 * Nothing depends on guesses but speed: without one, AFTER triggers search.
 */
#ifndef SIMDUP_GROUPS_GUESSES_H
#define SIMDUP_GROUPS_GUESSES_H

#include "groups/grouping.h"

/* What the AFTER trigger may do without a search. */
typedef enum GuessUse
{
	GUESS_NONE, /* search */
	GUESS_JOIN,
	GUESS_OPEN
} GuessUse;

/* No row that is not stored yet. */
#define NO_WAITING (-1)

/* What rows that are not stored yet say of a row's group. */
typedef struct GuessNear
{
	int64 id; /* 0: none of them is near */
	int distance;
	int waiting;  /* number of the row; NO_WAITING: the table says so */
	bool several; /* connected: groups that the row would merge */
} GuessNear;

/*
 * The best group among those of waiting rows within k. With leader only rows
 * that open a group wait, and the nearest is the best, of equally near ones the
 * smallest id. With connected all rows wait, and the smallest id is the best.
 */
extern GuessNear simdup_guesses_near(Grouping *g, uint64 fp);

/* Is there room for another guess? */
extern bool simdup_guesses_room(void);

/*
 * Note a guess for a row. waiting: the row that has to be stored for it, or
 * NO_WAITING. opens: id is new, and the row's own.
 */
extern void simdup_guesses_add(Grouping *g, const ArrivalRow *row, int64 id,
							   int waiting, bool opens);

/* The guess for a row that is stored now, with that id. It is used up. */
extern GuessUse simdup_guesses_take(Grouping *g, const ArrivalRow *row,
									int64 id);

/* Groups were changed in a way that no guess knows of. */
extern void simdup_guesses_surprise(void);

#endif /* SIMDUP_GROUPS_GUESSES_H */

/*
 * guesses.c
 *	  What BEFORE triggers guessed, for the AFTER triggers of the same rows.
 *
 * A statement fires the BEFORE triggers of all its rows before the first AFTER
 * trigger. So a row may join a group whose opener is of the same statement and
 * not yet in the groups' table. Rows that others compare themselves with wait
 * here until their own AFTER trigger fires: with leader those that open a
 * group, with connected all. One that is never stored (ON CONFLICT DO NOTHING)
 * stays unconfirmed, and the rows that joined its group search again.
 *
 * Rows become members in the order of their guesses, as a rule. A row whose
 * guess is older than that of a row confirmed already searches again too.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/hamming.h"
#include "groups/guesses.h"

/*
 * Each row looks at all rows that wait: ten thousand cost about as much as
 * a search. The AFTER triggers of further rows search again.
 */
#define MAX_GUESSES 10000

typedef struct GuessKey
{
	int64 id;
	Oid table;
	uint32 hash; /* of the row's key */
} GuessKey;

typedef struct Guess
{
	GuessKey key;
	uint64 fp;
	uint64 number;	  /* in the order of guesses */
	uint64 surprises; /* how many there were by then */
	int needs;		  /* the waiting row that must be stored before */
	int waiting;	  /* the row's own number */
	bool opens;
} Guess;

typedef struct Waiting
{
	Oid table;
	int64 id;
	uint64 fp;
	bool confirmed;
} Waiting;

/* Of this transaction. */
typedef struct Guesses
{
	HTAB *table;
	Waiting *waiting;
	int n_waiting;
	uint64 n_guesses;
	uint64 newest_confirmed; /* the newest guess of a row that waited */
} Guesses;

static Guesses *guesses = NULL;
static uint64 surprises = 0;

static void
forget_guesses(void *arg pg_attribute_unused())
{
	guesses = NULL;
}

static void
begin_guesses(void)
{
	HASHCTL control = {0};
	MemoryContextCallback *callback;
	Guesses *new_guesses;

	if (guesses != NULL)
		return;
	control.keysize = sizeof(GuessKey);
	control.entrysize = sizeof(Guess);
	control.hcxt = TopTransactionContext;
	new_guesses =
		MemoryContextAllocZero(TopTransactionContext, sizeof(Guesses));
	new_guesses->table = hash_create("simdup guesses", 64, &control,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	new_guesses->waiting = MemoryContextAlloc(TopTransactionContext,
											  MAX_GUESSES * sizeof(Waiting));
	callback = MemoryContextAllocZero(TopTransactionContext, sizeof(*callback));
	callback->func = forget_guesses;
	MemoryContextRegisterResetCallback(TopTransactionContext, callback);
	guesses = new_guesses;
}

/* Once no guess waits for its AFTER trigger, all rows are in the tables. */
static void
drop_waiting(void)
{
	if (hash_get_num_entries(guesses->table) == 0)
		guesses->n_waiting = 0;
}

bool
simdup_guesses_room(void)
{
	if (guesses == NULL)
		return true;
	drop_waiting();
	return guesses->n_waiting < MAX_GUESSES &&
		   hash_get_num_entries(guesses->table) < MAX_GUESSES;
}

/* Is a waiting row's group the better one for a row at this distance? */
static bool
is_better(Grouping *g, const Waiting *waiting, int distance,
		  const GuessNear *near)
{
	if (near->id == 0)
		return true;
	if (g->connected || distance == near->distance)
		return waiting->id < near->id;
	return distance < near->distance;
}

GuessNear
simdup_guesses_near(Grouping *g, uint64 fp)
{
	GuessNear near = {.waiting = NO_WAITING};

	if (guesses == NULL)
		return near;
	drop_waiting();
	for (int i = 0; i < guesses->n_waiting; i++)
	{
		const Waiting *waiting = &guesses->waiting[i];
		int distance = simdup_hamming64(fp, waiting->fp);

		if (waiting->confirmed || distance > g->at->k ||
			waiting->table != g->at->table)
			continue;
		near.several |= g->connected && near.id != 0 && near.id != waiting->id;
		if (!is_better(g, waiting, distance, &near))
			continue;
		near.id = waiting->id;
		near.distance = distance;
		near.waiting = i;
	}
	return near;
}

static GuessKey
guess_key(Grouping *g, const ArrivalRow *row, int64 id)
{
	GuessKey key;
	int16 typlen;
	bool typbyval;

	get_typlenbyval(g->at->key_type, &typlen, &typbyval);
	memset(&key, 0, sizeof(key));
	key.id = id;
	key.table = g->at->table;
	key.hash = datum_image_hash(row->key, typbyval, typlen);
	return key;
}

void
simdup_guesses_add(Grouping *g, const ArrivalRow *row, int64 id, int waiting,
				   bool opens)
{
	GuessKey key = guess_key(g, row, id);
	Guess *guess;
	bool found;

	begin_guesses();
	guess = hash_search(guesses->table, &key, HASH_ENTER, &found);
	guess->fp = row->fp;
	guess->number = ++guesses->n_guesses;
	/* two rows that cannot be told apart are not trusted */
	guess->surprises = found ? PG_UINT64_MAX : surprises;
	guess->opens = opens;
	guess->needs = waiting;
	guess->waiting = NO_WAITING;
	if (!opens && !g->connected)
		return;
	guess->waiting = guesses->n_waiting++;
	guesses->waiting[guess->waiting] =
		(Waiting){.table = g->at->table, .id = id, .fp = row->fp};
}

static bool
holds(const Guess *guess, const ArrivalRow *row)
{
	if (guess->surprises != surprises || guess->fp != row->fp ||
		guess->number < guesses->newest_confirmed)
		return false;
	return guess->needs == NO_WAITING ||
		   guesses->waiting[guess->needs].confirmed;
}

GuessUse
simdup_guesses_take(Grouping *g, const ArrivalRow *row, int64 id)
{
	GuessKey key = guess_key(g, row, id);
	Guess *guess = NULL;
	GuessUse use;

	if (guesses != NULL)
		guess = hash_search(guesses->table, &key, HASH_FIND, NULL);
	if (guess == NULL || !holds(guess, row))
		use = GUESS_NONE;
	else
		use = guess->opens ? GUESS_OPEN : GUESS_JOIN;
	if (use != GUESS_NONE && guess->waiting != NO_WAITING)
	{
		guesses->waiting[guess->waiting].confirmed = true;
		guesses->newest_confirmed = guess->number;
	}
	if (guess != NULL)
		hash_search(guesses->table, &key, HASH_REMOVE, NULL);
	if (use == GUESS_NONE)
		simdup_guesses_surprise();
	return use;
}

void
simdup_guesses_surprise(void)
{
	surprises++;
}

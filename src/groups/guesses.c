/*
 * guesses.c
 *	  What BEFORE triggers guessed, for the AFTER triggers of the same rows.
 *
 * A statement fires the BEFORE triggers of all its rows before the first AFTER
 * trigger. So a row may join a group whose opener is of the same statement and
 * not yet in the groups' table. Openers are remembered here until their own
 * AFTER trigger fires. An opener that is never stored (ON CONFLICT DO NOTHING)
 * stays unconfirmed, and the rows that joined it search again.
 *
 * Rows become members in the order of their guesses, as a rule. A row whose
 * guess is older than a group that is confirmed already searches again too.
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
 * Each row looks at all openers that wait: ten thousand cost about as much as
 * a search. The AFTER triggers of further rows search again.
 */
#define MAX_GUESSES 10000

#define NO_OPENER (-1)

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
	int opener;		  /* that the group waits for, or is */
	bool opens;
} Guess;

typedef struct Opener
{
	Oid table;
	int64 id;
	uint64 fp;
	bool confirmed;
} Opener;

/* Of this transaction. */
typedef struct Guesses
{
	HTAB *table;
	Opener *openers;
	int n_openers;
	uint64 n_guesses;
	uint64 newest_confirmed; /* the newest guess that opened a group */
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
	new_guesses->openers =
		MemoryContextAlloc(TopTransactionContext, MAX_GUESSES * sizeof(Opener));
	callback = MemoryContextAllocZero(TopTransactionContext, sizeof(*callback));
	callback->func = forget_guesses;
	MemoryContextRegisterResetCallback(TopTransactionContext, callback);
	guesses = new_guesses;
}

/* Once no row waits for its AFTER trigger, all openers are in the table. */
static void
drop_openers(void)
{
	if (hash_get_num_entries(guesses->table) == 0)
		guesses->n_openers = 0;
}

bool
simdup_guesses_room(void)
{
	if (guesses == NULL)
		return true;
	drop_openers();
	return guesses->n_openers < MAX_GUESSES &&
		   hash_get_num_entries(guesses->table) < MAX_GUESSES;
}

bool
simdup_guesses_nearest(Grouping *g, uint64 fp, int64 *id, int *distance)
{
	bool found = false;

	if (guesses == NULL)
		return false;
	drop_openers();
	for (int i = 0; i < guesses->n_openers; i++)
	{
		const Opener *opener = &guesses->openers[i];
		int d = simdup_hamming64(fp, opener->fp);

		if (opener->confirmed || d > g->at->k ||
			opener->table != g->at->table ||
			(found && (d > *distance || (d == *distance && opener->id > *id))))
			continue;
		found = true;
		*id = opener->id;
		*distance = d;
	}
	return found;
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

static int
opener_of(Grouping *g, int64 id)
{
	for (int i = guesses->n_openers - 1; i >= 0; i--)
		if (guesses->openers[i].id == id &&
			guesses->openers[i].table == g->at->table)
			return i;
	return NO_OPENER;
}

void
simdup_guesses_add(Grouping *g, const ArrivalRow *row, int64 id, bool opens)
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
	guess->opener = opens ? guesses->n_openers : opener_of(g, id);
	if (opens)
		guesses->openers[guesses->n_openers++] =
			(Opener){.table = g->at->table, .id = id, .fp = row->fp};
}

static bool
holds(const Guess *guess, const ArrivalRow *row)
{
	if (guess->surprises != surprises || guess->fp != row->fp ||
		guess->number < guesses->newest_confirmed)
		return false;
	return guess->opens || guess->opener == NO_OPENER ||
		   guesses->openers[guess->opener].confirmed;
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
	if (use == GUESS_OPEN)
	{
		guesses->openers[guess->opener].confirmed = true;
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

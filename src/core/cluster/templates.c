/*
 * templates.c
 *	  The templates of a batch: letters of exchanged phrases, which share few of
 *	  them with any other letter.
 *
 * A letter and its relatives are a first template. Its phrases are the shingles
 * that several of its letters have and few others. Then the template becomes all
 * letters that its phrases cover, and so on until nothing changes. A template ends
 * with fewer than LEAST_LETTERS: then its letters are free again, but the first one
 * begins no other.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/letters.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"

#define LEAST_LETTERS 8
/* A phrase is of so many letters, and of one in so many of them. */
#define LEAST_SHARERS 3
#define SHARERS_OF 100
/* Of one in so many letters that have it, the template is one. */
#define OWN_OF 20
#define MOST_ROUNDS 6

typedef struct Templates
{
	const SimdupLetters *letters;
	SimdupNearLists *relatives;
	uint32 *template; /* by row */
	uint32 *members;  /* of the template that grows, ascending */
	uint32 *grown;	  /* in the next round */
	uint32 n_members;
	uint32 n_grown;
	SimdupPairSort
		*covered; /* letters, and the blocks of the phrases they have */
	SimdupListRoom room;
} Templates;

/* A shingle of members. */
typedef struct Phrase
{
	uint64 id;
	uint32 n; /* members that have it */
	/*
	 * The first two and the last two of these. Phrases that agree here stand in the
	 * same letters as a whole, so they are a block.
	 */
	uint32 first[2];
	uint32 last[2];
} Phrase;

/* Sort a phrase by the free letters that have it. */
static void
cover_by(Templates *t, const Phrase *phrase)
{
	uint32 least =
		Max(LEAST_SHARERS, (t->n_members + SHARERS_OF - 1) / SHARERS_OF);
	const uint32 *holders;
	Size n_holders;
	uint64 block;

	if (phrase->n < least)
		return;
	holders =
		simdup_shingle_holders(t->letters, phrase->id, &t->room, &n_holders);
	if ((Size) phrase->n * OWN_OF < n_holders)
		return;
	block = simdup_mix64((uint64) phrase->first[0] << 32 | phrase->first[1]);
	block ^= simdup_mix64((uint64) phrase->last[0] << 32 | phrase->last[1]) *
			 SIMDUP_GOLDEN;
	for (Size i = 0; i < n_holders; i++)
		if (t->template[holders[i]] == SIMDUP_NO_ROW &&
			t->letters->size[holders[i]] >= SIMDUP_LEAST_OF_TEMPLATE)
			simdup_pairsort_put(t->covered, holders[i], block);
}

/* Cover free letters by the phrases of the template. */
static void
find_phrases(Templates *t)
{
	SimdupPairSort *sort = simdup_pairsort_begin(t->letters->memory);
	Phrase phrase = {0};
	uint64 id;
	uint64 member;

	for (uint32 i = 0; i < t->n_members; i++)
	{
		Size n;
		const SimdupShared *shared =
			simdup_letter_shingles(t->letters, t->members[i], &t->room, &n);

		for (Size j = 0; j < n; j++)
			simdup_pairsort_put(sort, simdup_shared_id(shared[j]),
								t->members[i]);
	}
	simdup_pairsort_perform(sort);
	t->covered = simdup_pairsort_begin(t->letters->memory);
	while (simdup_pairsort_get(sort, &id, &member))
	{
		if (id != phrase.id)
		{
			cover_by(t, &phrase);
			phrase = (Phrase){.id = id};
		}
		if (phrase.n < 2)
			phrase.first[phrase.n] = (uint32) member;
		phrase.last[0] = phrase.last[1];
		phrase.last[1] = (uint32) member;
		phrase.n++;
	}
	cover_by(t, &phrase);
	simdup_pairsort_end(sort);
	simdup_pairsort_perform(t->covered);
}

/* Add a letter if enough of its shingles are phrases. */
static void
end_letter(Templates *t, uint64 letter, uint32 cover)
{
	if (cover >=
		t->letters->rows->options.min_containment * t->letters->size[letter])
		t->grown[t->n_grown++] = (uint32) letter;
}

/* Find the letters that the phrases cover. */
static void
find_covered(Templates *t)
{
	uint64 last[2] = {0};
	uint64 next[2];
	uint32 cover = 0;
	uint32 n = 0; /* of the block */

	t->n_grown = 0;
	while (simdup_pairsort_get(t->covered, &next[0], &next[1]))
	{
		if (cover > 0 && next[0] != last[0])
		{
			end_letter(t, last[0], cover);
			cover = 0;
		}
		n = cover > 0 && next[1] == last[1] ? n + 1 : 1;
		cover += n <= SIMDUP_MOST_OF_BLOCK;
		memcpy(last, next, sizeof(last));
	}
	if (cover > 0)
		end_letter(t, last[0], cover);
	simdup_pairsort_end(t->covered);
}

/* Grow the template. Return false if it is given up. */
static bool
grow(Templates *t)
{
	for (int round = 0; round < MOST_ROUNDS; round++)
	{
		uint32 *members = t->members;
		bool same;

		find_phrases(t);
		find_covered(t);
		if (t->n_grown < LEAST_LETTERS)
			return false;
		same = t->n_grown == t->n_members &&
			   memcmp(t->grown, members, t->n_grown * sizeof(uint32)) == 0;
		t->members = t->grown;
		t->n_members = t->n_grown;
		t->grown = members;
		if (same)
			break;
	}
	return true;
}

/*
 * Make a letter and its free relatives the members. Return their number, or 0 if that
 * begins no template: of SimdupGains.
 */
static uint32
gain_of(void *arg, uint32 seed)
{
	Templates *t = arg;
	Size n;
	const SimdupNear *relatives = simdup_near_list(t->relatives, seed, &n);

	t->n_members = 0;
	t->members[t->n_members++] = seed;
	for (Size i = 0; i < n; i++)
		if (t->template[relatives[i].row] == SIMDUP_NO_ROW)
			t->members[t->n_members++] = (uint32) relatives[i].row;
	return t->template[seed] == SIMDUP_NO_ROW && t->n_members >= LEAST_LETTERS
			   ? t->n_members
			   : 0;
}

/*
 * Grow the members, and give them a template, which is known by its seed or else its
 * first letter: of SimdupGains.
 */
static void
take(void *arg, uint32 seed)
{
	Templates *t = arg;
	uint32 template;

	if (!grow(t))
		return;
	template = t->members[0];
	for (uint32 i = 0; i < t->n_members; i++)
		if (t->members[i] == seed)
			template = seed;
	for (uint32 i = 0; i < t->n_members; i++)
		t->template[t->members[i]] = template;
}

uint32 *
simdup_find_templates(const SimdupLetters *letters, SimdupNearLists *relatives)
{
	Size size = ((Size) letters->rows->n + 1) * sizeof(uint32);
	Templates t = {.letters = letters, .relatives = relatives};

	simdup_progress_phase("finding templates", 0);
	t.template = memset(simdup_alloc(size), 0xff, size);
	t.members = simdup_alloc(size);
	t.grown = simdup_alloc(size);
	simdup_take_by_gain(letters->rows->n, &(SimdupGains){gain_of, take, &t});
	simdup_free(t.members);
	simdup_free(t.grown);
	simdup_free(t.room.list);
	return t.template;
}

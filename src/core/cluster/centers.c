/*
 * centers.c
 *	  Campaigns: candidates by shared values, centers by partners, and templates by
 *	  exchanged phrases.
 */
#include "core/cluster/grouping.h"

uint32_t
simdup_first_candidates(uint32_t n, uint32_t position)
{
	return n > SIMDUP_MANY_SHARERS && position > SIMDUP_FIRST_SHARERS
			   ? SIMDUP_FIRST_SHARERS
			   : position;
}

/*
 * Texts by their gain. That only falls, and a text of 0 is left out. The text that
 * gains most is taken next, of equal ones the earliest. It is asked just before.
 */
typedef struct Gains
{
	uint32_t (*of)(void *arg, uint32_t text);
	void (*take)(void *arg, uint32_t text);
	void *arg;
} Gains;

/* Put an entry where it belongs, at this place of a heap of n or below. */
static void
sift(uint64_t *heap, size_t n, size_t at, uint64_t entry)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child)
	{
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= entry)
			break;
		heap[at] = heap[child];
	}
	heap[at] = entry;
}

/*
 * A heap has gains and texts, the largest first. Gains only fall, so it may hold old
 * ones. A text that comes first with an old gain goes back with its present one.
 */
static void
take_by_gain(uint32_t n, const Gains *gains)
{
	uint64_t *heap = simdup_alloc(((size_t) n + 1) * sizeof(uint64_t));

	for (uint32_t text = n; text-- > 0;)
	{
		simdup_check_interrupts();
		sift(heap, n, text,
			 (uint64_t) gains->of(gains->arg, text) << 32 |
				 (UINT32_MAX - text));
	}
	while (n > 0)
	{
		uint32_t text = UINT32_MAX - (uint32_t) heap[0];
		uint32_t gain = gains->of(gains->arg, text);
		uint64_t entry = (uint64_t) gain << 32 | (UINT32_MAX - text);

		simdup_check_interrupts();
		if (gain == 0 || entry == heap[0])
		{
			if (gain > 0)
				gains->take(gains->arg, text);
			entry = heap[--n];
		}
		sift(heap, n, 0, entry);
	}
	simdup_free(heap);
}

/* Centers */

typedef struct Taking
{
	const SimdupPartners *partners;
	uint32_t *center; /* by text; SIMDUP_NO_ROW: not taken */
	uint32_t *gain;	  /* by text: the rows that it would take */
	uint32_t *taken;  /* by a center */
	size_t room;
} Taking;

static const SimdupNear *
partners_of(const Taking *t, uint32_t text, size_t *n)
{
	simdup_check_interrupts();
	return t->partners->of(t->partners->lists, text, n);
}

/* Return the rows that a text would take: of Gains. */
static uint32_t
gain_of_center(void *arg, uint32_t text)
{
	const Taking *t = arg;

	return t->center[text] == SIMDUP_NO_ROW ? t->gain[text] : 0;
}

/* Let a center take its partners, which others no longer gain: of Gains. */
static void
take_partners(void *arg, uint32_t center)
{
	Taking *t = arg;
	size_t n;
	size_t n_taken = 0;
	const SimdupNear *list = partners_of(t, center, &n);

	t->center[center] = center;
	t->taken = simdup_grow(t->taken, &t->room, n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		if (t->center[list[i].row] == SIMDUP_NO_ROW)
		{
			t->center[list[i].row] = center;
			t->taken[n_taken++] = (uint32_t) list[i].row;
		}
	for (size_t i = 0; i < n_taken; i++)
	{
		list = partners_of(t, t->taken[i], &n);
		for (size_t j = 0; j < n; j++)
			t->gain[list[j].row] -= t->partners->copies[t->taken[i]];
	}
}

/* Let each text that is no center join the nearest one. */
static void
join_nearest(Taking *t)
{
	for (uint32_t text = 0; text < t->partners->n; text++)
	{
		size_t n;
		const SimdupNear *list;
		const SimdupNear *nearest = NULL;

		if (t->center[text] == text)
			continue;
		list = partners_of(t, text, &n);
		for (size_t i = 0; i < n; i++)
			if (t->center[list[i].row] == list[i].row &&
				(nearest == NULL || list[i].weight > nearest->weight))
			{
				nearest = &list[i];
				t->center[text] = (uint32_t) nearest->row;
			}
	}
}

uint32_t *
simdup_find_centers(const SimdupPartners *partners)
{
	size_t n = (size_t) partners->n + 1;
	Taking t = {.partners = partners};

	t.center = simdup_alloc(n * sizeof(uint32_t));
	memset(t.center, 0xff, n * sizeof(uint32_t));
	t.gain = simdup_alloc(n * sizeof(uint32_t));
	for (uint32_t text = 0; text < partners->n; text++)
	{
		size_t n_near;
		const SimdupNear *list = partners_of(&t, text, &n_near);

		t.gain[text] = partners->copies[text];
		for (size_t i = 0; i < n_near; i++)
			t.gain[text] += partners->copies[list[i].row];
	}
	take_by_gain(partners->n, &(Gains){gain_of_center, take_partners, &t});
	join_nearest(&t);
	simdup_free(t.taken);
	simdup_free(t.gain);
	return t.center;
}

/*
 * Templates: letters of exchanged phrases, which share few of them with any other
 * letter.
 *
 * A letter and its relatives are a first template. Its phrases are the shingles
 * that several of its letters have and few others. Then the template becomes all
 * letters that its phrases cover, and so on until nothing changes. A template ends
 * with fewer than LEAST_LETTERS: then its letters are free again, but the first one
 * begins no other.
 */

#define LEAST_LETTERS 8
/* A phrase is in LEAST_SHARERS members, and in one of SHARERS_OF. */
#define LEAST_SHARERS 3
#define SHARERS_OF 100
/* One of OWN_OF letters that have it is a member. */
#define OWN_OF 20
#define MOST_ROUNDS 6

typedef struct Templates
{
	const SimdupTemplateLetters *letters;
	uint32_t *template; /* by letter */
	uint32_t *members;	/* of the template that grows, ascending */
	uint32_t *grown;	/* in the next round */
	uint32_t n_members;
	uint32_t n_grown;
	/* letters, and the blocks of the phrases they have */
	SimdupPairSort *covered;
} Templates;

/* A shingle of members. */
typedef struct Phrase
{
	uint64_t id;
	uint32_t n; /* members that have it */
	/*
	 * The first two and the last two of these. Phrases that agree here stand in the
	 * same letters as a whole, so they are a block.
	 */
	uint32_t first[2];
	uint32_t last[2];
} Phrase;

/* Sort a phrase by the free letters that have it. */
static void
cover_by(Templates *t, const Phrase *phrase)
{
	const SimdupTemplateLetters *letters = t->letters;
	const uint32_t *holders;
	size_t n_holders;
	uint64_t block;

	if (phrase->n < LEAST_SHARERS ||
		(uint64_t) phrase->n * SHARERS_OF < t->n_members)
		return;
	holders = letters->holders(letters->arg, phrase->id, &n_holders);
	if ((size_t) phrase->n * OWN_OF < n_holders)
		return;
	block = simdup_mix64((uint64_t) phrase->first[0] << 32 | phrase->first[1]);
	block ^= simdup_mix64((uint64_t) phrase->last[0] << 32 | phrase->last[1]) *
			 SIMDUP_GOLDEN;
	for (size_t i = 0; i < n_holders; i++)
		if (t->template[holders[i]] == SIMDUP_NO_ROW &&
			letters->size[holders[i]] >= SIMDUP_LEAST_OF_TEMPLATE)
			simdup_pairsort_put(t->covered, holders[i], block);
}

/* Cover free letters by the phrases of the template. */
static void
find_phrases(Templates *t)
{
	const SimdupTemplateLetters *letters = t->letters;
	SimdupPairSort *sort = simdup_pairsort_begin(letters->memory);
	Phrase phrase = {0};
	uint64_t id;
	uint64_t member;

	for (uint32_t i = 0; i < t->n_members; i++)
		letters->put_shingles(letters->arg, t->members[i], sort);
	simdup_pairsort_perform(sort);
	t->covered = simdup_pairsort_begin(letters->memory);
	while (simdup_pairsort_get(sort, &id, &member))
	{
		if (id != phrase.id)
		{
			cover_by(t, &phrase);
			phrase = (Phrase){.id = id};
		}
		if (phrase.n < 2)
			phrase.first[phrase.n] = (uint32_t) member;
		phrase.last[0] = phrase.last[1];
		phrase.last[1] = (uint32_t) member;
		phrase.n++;
	}
	cover_by(t, &phrase);
	simdup_pairsort_end(sort);
	simdup_pairsort_perform(t->covered);
}

/*
 * Add a letter if enough of its shingles are phrases. The block that has most of its
 * places is left out: a footer is no part of a letter, however long it is.
 */
static void
end_letter(Templates *t, uint64_t letter, uint32_t cover, uint32_t longest)
{
	uint32_t size = t->letters->size[letter];

	if (longest > SIMDUP_MOST_OF_BLOCK)
	{
		cover -= SIMDUP_MOST_OF_BLOCK;
		size -= longest;
	}
	if (cover > 0 && cover >= t->letters->min_containment * size)
		t->grown[t->n_grown++] = (uint32_t) letter;
}

/* Find the letters that the phrases cover. */
static void
find_covered(Templates *t)
{
	uint64_t last[2] = {0};
	uint64_t next[2];
	uint32_t cover = 0;
	uint32_t longest = 0;
	uint32_t n = 0; /* of the block */

	t->n_grown = 0;
	while (simdup_pairsort_get(t->covered, &next[0], &next[1]))
	{
		if (cover > 0 && next[0] != last[0])
		{
			end_letter(t, last[0], cover, longest);
			cover = longest = 0;
		}
		n = cover > 0 && next[1] == last[1] ? n + 1 : 1;
		cover += n <= SIMDUP_MOST_OF_BLOCK;
		longest = n > longest ? n : longest;
		memcpy(last, next, sizeof(last));
	}
	if (cover > 0)
		end_letter(t, last[0], cover, longest);
	simdup_pairsort_end(t->covered);
}

/* Grow the template. Return false if it is given up. */
static bool
grow(Templates *t)
{
	for (int round = 0; round < MOST_ROUNDS; round++)
	{
		uint32_t *members = t->members;
		bool same;

		find_phrases(t);
		find_covered(t);
		if (t->n_grown < LEAST_LETTERS)
			return false;
		same = t->n_grown == t->n_members &&
			   memcmp(t->grown, members, t->n_grown * sizeof(uint32_t)) == 0;
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
 * begins no template: of Gains.
 */
static uint32_t
gain_of_seed(void *arg, uint32_t seed)
{
	Templates *t = arg;
	size_t n;
	const SimdupNear *relatives =
		t->letters->relatives(t->letters->lists, seed, &n);

	t->n_members = 0;
	t->members[t->n_members++] = seed;
	for (size_t i = 0; i < n; i++)
		if (t->template[relatives[i].row] == SIMDUP_NO_ROW)
			t->members[t->n_members++] = (uint32_t) relatives[i].row;
	return t->template[seed] == SIMDUP_NO_ROW && t->n_members >= LEAST_LETTERS
			   ? t->n_members
			   : 0;
}

/*
 * Grow the members, and give them a template, which is known by its seed or else its
 * first letter: of Gains.
 */
static void
take_template(void *arg, uint32_t seed)
{
	Templates *t = arg;
	uint32_t template;

	if (!grow(t))
		return;
	template = t->members[0];
	for (uint32_t i = 0; i < t->n_members; i++)
		if (t->members[i] == seed)
			template = seed;
	for (uint32_t i = 0; i < t->n_members; i++)
		t->template[t->members[i]] = template;
}

uint32_t *
simdup_find_templates(const SimdupTemplateLetters *letters)
{
	size_t size = ((size_t) letters->n + 1) * sizeof(uint32_t);
	Templates t = {.letters = letters};

	t.template = memset(simdup_alloc(size), 0xff, size);
	t.members = simdup_alloc(size);
	t.grown = simdup_alloc(size);
	take_by_gain(letters->n, &(Gains){gain_of_seed, take_template, &t});
	simdup_free(t.members);
	simdup_free(t.grown);
	return t.template;
}

/*
 * templates.c
 *	  Letters of any shingles and relatives: templates, as the rule gives them letter
 *	  by letter and shingle by shingle.
 */
#include "core/cluster/grouping.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "input.h"

#define MOST_LETTERS 32
#define MOST_SHINGLES 60

typedef struct Letters
{
	uint32_t n;
	uint32_t n_shingles;
	double min_containment;
	uint32_t size[MOST_LETTERS]; /* those that it shares, and its own */
	bool has[MOST_LETTERS][MOST_SHINGLES];
	bool related[MOST_LETTERS][MOST_LETTERS];
	/* lists that are returned */
	uint32_t holders[MOST_LETTERS];
	SimdupNear near[MOST_LETTERS];
} Letters;

/* A letter has most shingles of its kind. A hash says which ones, so inputs are short. */
static void
take_letters(Input *in, Letters *letters)
{
	uint64_t seed = take_between(in, 0, UINT16_MAX);
	uint64_t n_kinds = take_between(in, 1, 4);
	uint64_t n_related = take_between(in, 1, 4);
	uint64_t n_changes = take_byte(in);

	memset(letters, 0, sizeof(*letters));
	letters->n =
		MOST_LETTERS - (uint32_t) take_between(in, 0, MOST_LETTERS - 1);
	letters->n_shingles =
		MOST_SHINGLES - (uint32_t) take_between(in, 0, MOST_SHINGLES - 1);
	letters->min_containment = (double) take_between(in, 0, 10) / 10;
	for (uint32_t i = 0; i < letters->n; i++)
	{
		uint64_t random = simdup_mix64(seed + i);
		uint64_t kind = random % n_kinds;

		letters->size[i] = (uint32_t) (random >> 32) % 40;
		for (uint32_t s = 0; s < letters->n_shingles; s++)
		{
			bool of_kind = simdup_mix64(seed + kind * 1000 + s / 4) % 3 == 0;
			bool changes =
				simdup_mix64(seed ^ (i * 1000 + s)) % 256 < n_changes;

			letters->has[i][s] = changes ? of_kind && s % 2 == 0 : of_kind;
			letters->size[i] += letters->has[i][s];
		}
		for (uint32_t j = 0; j < i; j++)
			letters->related[i][j] = letters->related[j][i] =
				simdup_mix64(seed + j * 1000 + i) % n_related == 0;
	}
}

/* --- what core asks for */

static void
put_shingles(void *arg, uint32_t letter, SimdupPairSort *sort)
{
	const Letters *letters = arg;

	for (uint32_t s = 0; s < letters->n_shingles; s++)
		if (letters->has[letter][s])
			simdup_pairsort_put(sort, s, letter);
}

static const uint32_t *
holders_of(void *arg, uint64_t id, size_t *n)
{
	Letters *letters = arg;

	*n = 0;
	for (uint32_t i = 0; i < letters->n; i++)
		if (letters->has[i][id])
			letters->holders[(*n)++] = i;
	return letters->holders;
}

static const SimdupNear *
relatives_of(void *arg, uint32_t letter, size_t *n)
{
	Letters *letters = arg;

	*n = 0;
	for (uint32_t i = 0; i < letters->n; i++)
		if (letters->related[letter][i])
			letters->near[(*n)++] = (SimdupNear){i, 1};
	return letters->near;
}

/* --- the same by the rule; a set of letters is an array of bool */

typedef struct Phrase
{
	bool is;
	uint32_t of[4]; /* the first two and the last two members that have it */
	uint32_t block; /* the first shingle that agrees in these */
} Phrase;

static void
naive_phrase(const Letters *letters, const bool *members, Phrase *phrases,
			 uint32_t s)
{
	uint32_t those[MOST_LETTERS];
	uint32_t n = 0;
	uint32_t n_members = 0;
	uint32_t n_holders = 0;

	for (uint32_t i = 0; i < letters->n; i++)
	{
		n_members += members[i];
		n_holders += letters->has[i][s];
		if (members[i] && letters->has[i][s])
			those[n++] = i;
	}
	phrases[s].is = n >= 3 && n * 100 >= n_members && n * 20 >= n_holders;
	if (!phrases[s].is)
		return;
	phrases[s] =
		(Phrase){true, {those[0], those[1], those[n - 2], those[n - 1]}, 0};
	while (!phrases[phrases[s].block].is ||
		   memcmp(phrases[phrases[s].block].of, phrases[s].of,
				  sizeof(phrases[s].of)) != 0)
		phrases[s].block++;
}

static bool
naive_covered(const Letters *letters, const Phrase *phrases, uint32_t letter)
{
	uint32_t n[MOST_SHINGLES] = {0};
	uint32_t cover = 0;
	uint32_t longest = 0;
	uint32_t size = letters->size[letter];

	for (uint32_t s = 0; s < letters->n_shingles; s++)
		if (phrases[s].is && letters->has[letter][s])
			n[phrases[s].block]++;
	for (uint32_t s = 0; s < letters->n_shingles; s++)
	{
		cover += n[s] < 12 ? n[s] : 12;
		if (n[s] > longest)
			longest = n[s];
	}
	if (longest > 12)
	{
		cover -= 12;
		size -= longest;
	}
	return letters->size[letter] >= 20 && cover > 0 &&
		   cover >= letters->min_containment * size;
}

static uint32_t
count(const bool *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MOST_LETTERS; i++)
		n += set[i];
	return n;
}

/* The letter with most free relatives that did not fail, and with them a template. */
static uint32_t
naive_seed(const Letters *letters, const uint32_t *template, const bool *failed,
		   bool *members)
{
	uint32_t seed = SIMDUP_NO_ROW;

	memset(members, 0, MOST_LETTERS * sizeof(bool));
	for (uint32_t i = 0; i < letters->n; i++)
	{
		bool those[MOST_LETTERS] = {false};

		if (template[i] != SIMDUP_NO_ROW || failed[i])
			continue;
		for (uint32_t j = 0; j < letters->n; j++)
			those[j] = j == i ||
					   (letters->related[i][j] && template[j] == SIMDUP_NO_ROW);
		if (count(those) >= 8 && count(those) > count(members))
		{
			seed = i;
			memcpy(members, those, sizeof(those));
		}
	}
	return seed;
}

static void
naive_grow(const Letters *letters, const uint32_t *template, bool *members)
{
	for (int round = 0; round < 6 && count(members) >= 8; round++)
	{
		Phrase phrases[MOST_SHINGLES];
		bool before[MOST_LETTERS];

		memcpy(before, members, sizeof(before));
		for (uint32_t s = 0; s < letters->n_shingles; s++)
			naive_phrase(letters, before, phrases, s);
		for (uint32_t i = 0; i < letters->n; i++)
			members[i] = template[i] == SIMDUP_NO_ROW &&
						 naive_covered(letters, phrases, i);
		if (memcmp(before, members, sizeof(before)) == 0)
			break;
	}
}

static void
naive_templates(const Letters *letters, uint32_t *template)
{
	bool failed[MOST_LETTERS] = {false};
	bool members[MOST_LETTERS];
	uint32_t seed;

	memset(template, 0xff, MOST_LETTERS * sizeof(uint32_t));
	while ((seed = naive_seed(letters, template, failed, members)) !=
		   SIMDUP_NO_ROW)
	{
		uint32_t name = seed;

		failed[seed] = true;
		naive_grow(letters, template, members);
		if (count(members) < 8)
			continue;
		for (uint32_t i = letters->n; !members[seed] && i-- > 0;)
			if (members[i])
				name = i;
		for (uint32_t i = 0; i < letters->n; i++)
			if (members[i])
				template[i] = name;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Letters letters;
	Input in = input_of(data, size);
	uint32_t expected[MOST_LETTERS];
	uint32_t *template;

	take_letters(&in, &letters);
	template = simdup_find_templates(
		&(SimdupTemplateLetters){.n = letters.n,
								 .size = letters.size,
								 .min_containment = letters.min_containment,
								 .relatives = relatives_of,
								 .lists = &letters,
								 .put_shingles = put_shingles,
								 .holders = holders_of,
								 .arg = &letters});
	naive_templates(&letters, expected);
	must(memcmp(template, expected, letters.n * sizeof(uint32_t)) == 0);
	simdup_free(template);
	return 0;
}

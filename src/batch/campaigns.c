/*
 * campaigns.c
 *	  The campaigns and templates of a batch: candidates, partners and relatives.
 *
 * Each letter is compared with the candidates before it that share most of its
 * sample. Partners and relatives are sorted and listed, on disk beyond their memory.
 * At most 60 bytes a row stay.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "batch/letters.h"

/* The candidates that a letter is compared with. */
#define MOST_CANDIDATES 16

/* Common shingles count whole if they are this much of both letters. */
#define MOST_OF_LETTER 0.8

/*
 * Relatives have this share of the shorter letter in common, in RELATED_PASSAGES
 * passages or more. The block that counts most is left out: a footer makes no relatives.
 */
#define RELATED_SHARE 0.06
#define RELATED_PASSAGES 3

/* Places on either side of one that may give it their block. */
#define AROUND 4

typedef struct Campaigns
{
	SimdupLetters letters;
	double least;		  /* the share that these have in common */
	SimdupPairSort *near; /* partners or relatives: see simdup_near_lists */
	/* by row: the sampled shingles in common with this letter */
	uint32 *n_common;
	SimdupSortItem *candidates; /* their complement, and the row */
	Size n_candidates;
	Size room;
	/* the letter that is compared */
	uint32 letter;
	SimdupWordSet ids; /* plus 1 */
	uint32 *block_of;  /* by slot: a number of the letter, or 0 */
	uint32 *of_block;  /* by that number: shingles in common */
	uint32 n_blocks;
} Campaigns;

static uint32 *
alloc_by_row(const SimdupRows *rows)
{
	return simdup_alloc0(((Size) rows->n + 1) * sizeof(uint32));
}

/*
 * Return the block of a place: that of the rarest shingle around it. A letter may have
 * words of a footer by chance, so their shingle is in more letters than the footer.
 */
static uint64
block_around(const SimdupShared *shared, Size n, Size place)
{
	uint64 rarest = simdup_shared_block(shared[place]);
	Size from = place;
	Size end = place + 1;

	while (from > 0 && place - from < AROUND && !shared[from].begins)
		from--;
	while (end < n && end - place <= AROUND && !shared[end].begins)
		end++;
	for (Size i = from; i < end; i++)
	{
		uint64 block = simdup_shared_block(shared[i]);

		if (block > 0 &&
			block >> SIMDUP_BLOCK_HASH_BITS < rarest >> SIMDUP_BLOCK_HASH_BITS)
			rarest = block;
	}
	return rarest;
}

/* Have a letter's shared shingles at hand, and number its blocks. */
static void
set_letter(Campaigns *c, uint32 letter)
{
	Size n;
	const SimdupShared *shared =
		simdup_letter_shingles(&c->letters, letter, &n);
	SimdupSortItem *blocks = simdup_alloc((n + 1) * sizeof(SimdupSortItem));

	c->letter = letter;
	simdup_wordset_free(&c->ids);
	/* with 8 slots for each, most lookups end at the first one */
	c->ids = (SimdupWordSet){.mask = pg_nextpower2_size_t(8 * n) - 1};
	c->ids.slots = simdup_alloc0((c->ids.mask + 1) * sizeof(uint64));
	for (Size i = 0; i < n; i++)
	{
		uint64 id = (uint64) shared[i].id + 1;

		simdup_wordset_add(&c->ids, id);
		blocks[i] = (SimdupSortItem){block_around(shared, n, i),
									 simdup_wordset_slot(&c->ids, id)};
	}
	simdup_sort_pairs(blocks, n);
	simdup_free(c->block_of);
	c->block_of = simdup_alloc((c->ids.mask + 1) * sizeof(uint32));
	c->n_blocks = 0;
	for (Size i = 0; i < n; i++)
	{
		if (blocks[i].value > 0 &&
			(i == 0 || blocks[i].value != blocks[i - 1].value))
			c->n_blocks++;
		c->block_of[blocks[i].row] = c->n_blocks;
	}
	simdup_free(c->of_block);
	c->of_block = simdup_alloc(((Size) c->n_blocks + 1) * sizeof(uint32));
	simdup_free(blocks);
}

/* Compare the letter with one before it. Sort them if they are partners or relatives. */
static void
compare(Campaigns *c, uint32 other)
{
	uint32 letter = c->letter;
	uint32 shorter = Min(c->letters.size[letter], c->letters.size[other]);
	uint32 longer = Max(c->letters.size[letter], c->letters.size[other]);
	uint32 common = 0;
	uint32 counted = 0;
	uint32 most = 0; /* counted of one block */
	uint32 passages = 0;
	bool before = false; /* the shingle before is common */
	bool by_template = c->letters.rows->options.method == SIMDUP_TEMPLATES;
	double containment;
	uint64 bits;
	Size n;
	const SimdupShared *shared = simdup_letter_shingles(&c->letters, other, &n);

	memset(c->of_block, 0, ((Size) c->n_blocks + 1) * sizeof(uint32));
	for (Size i = 0; i < n; i++)
	{
		uint64 id = (uint64) shared[i].id + 1;
		size_t slot = simdup_wordset_slot(&c->ids, id);
		bool both = c->ids.slots[slot] == id;

		passages += both && (!before || shared[i].begins);
		before = both;
		if (!both)
			continue;
		common++;
		if (c->block_of[slot] == 0)
			counted++;
		else if (++c->of_block[c->block_of[slot]] <= SIMDUP_MOST_OF_BLOCK)
		{
			counted++;
			most = Max(most, c->of_block[c->block_of[slot]]);
		}
	}
	if (common >= MOST_OF_LETTER * longer)
		counted = common;
	containment = (double) counted / shorter;
	if (by_template ? counted - most < c->least * shorter ||
						  passages < RELATED_PASSAGES ||
						  shorter < SIMDUP_LEAST_OF_TEMPLATE
					: containment < c->least)
		return;
	/* the bits of numbers that are not negative are in their order */
	memcpy(&bits, &containment, sizeof(bits));
	simdup_put_near(c->near, letter, other, bits);
	simdup_put_near(c->near, other, letter, bits);
}

/*
 * Compare a letter with the candidates that have most of its sample, and at least
 * half of the share that is expected of a near one.
 */
static void
compare_candidates(Campaigns *c, uint32 letter)
{
	const uint32 *size = c->letters.size;
	Size n = 0;

	for (Size i = 0; i < c->n_candidates; i++)
	{
		uint64 row = c->candidates[i].row;
		uint32 n_common = c->n_common[row];

		c->n_common[row] = 0;
		if (n_common * 2 * SIMDUP_SAMPLED >=
			c->least * Min(size[letter], size[row]))
			c->candidates[n++] =
				(SimdupSortItem){PG_UINT32_MAX - n_common, row};
	}
	c->n_candidates = 0;
	simdup_sort_pairs(c->candidates, n);
	if (n > 0)
		set_letter(c, letter);
	for (Size i = 0; i < Min(n, MOST_CANDIDATES); i++)
	{
		CHECK_FOR_INTERRUPTS();
		compare(c, (uint32) c->candidates[i].row);
	}
	simdup_progress_done(letter);
}

/* Compare all letters with their candidates. */
static void
compare_letters(Campaigns *c)
{
	uint32 others[SIMDUP_MANY_SHARERS];
	uint64 last = 0;
	uint64 letter;
	uint64 where;

	c->n_common = alloc_by_row(c->letters.rows);
	simdup_progress_phase("comparing texts", c->letters.rows->n);
	while (simdup_pairsort_get(c->letters.candidates, &letter, &where))
	{
		uint32 n = (uint32) (where & 255);

		if (letter != last)
			compare_candidates(c, (uint32) last);
		last = letter;
		simdup_tempfile_read(c->letters.sharers,
							 (int64) ((where >> 8) * sizeof(uint32)), others,
							 n * sizeof(uint32));
		c->candidates =
			simdup_grow(c->candidates, &c->room, c->n_candidates + n,
						sizeof(SimdupSortItem));
		for (uint32 i = 0; i < n; i++)
			if (c->n_common[others[i]]++ == 0)
				c->candidates[c->n_candidates++].row = others[i];
	}
	compare_candidates(c, (uint32) last);
	simdup_free(c->n_common);
	simdup_pairsort_end(c->letters.candidates);
	simdup_tempfile_close(c->letters.sharers);
}

static uint32 *
find_centers(const SimdupRows *rows, const uint32 *unit,
			 SimdupNearLists *partners)
{
	uint32 *copies = alloc_by_row(rows);
	uint32 *center;

	simdup_progress_phase("finding centers", 0);
	for (uint32 row = 0; row < rows->n; row++)
		copies[unit[row]]++;
	center = simdup_find_centers(
		&(SimdupPartners){rows->n, copies, simdup_near_list, partners});
	simdup_free(copies);
	return center;
}

/* Put the shingles of a letter: of SimdupTemplateLetters. */
static void
put_shingles(void *arg, uint32 letter, SimdupPairSort *sort)
{
	Size n;
	const SimdupShared *shared = simdup_letter_shingles(arg, letter, &n);

	for (Size i = 0; i < n; i++)
		simdup_pairsort_put(sort, shared[i].id, letter);
}

static uint32 *
find_templates(SimdupLetters *letters, SimdupNearLists *relatives)
{
	simdup_progress_phase("finding templates", 0);
	return simdup_find_templates(
		&(SimdupTemplateLetters){.n = letters->rows->n,
								 .size = letters->size,
								 .min_containment =
									 letters->rows->options.min_containment,
								 .memory = letters->memory,
								 .relatives = simdup_near_list,
								 .lists = relatives,
								 .put_shingles = put_shingles,
								 .holders = simdup_shingle_holders,
								 .arg = letters});
}

uint32 *
simdup_find_campaigns(const SimdupBatchUnits *units)
{
	SimdupRows *rows = units->fingerprints->rows;
	Campaigns c = {0};
	SimdupNearLists *near;
	bool by_template = rows->options.method == SIMDUP_TEMPLATES;
	uint32 *center;

	simdup_letters_begin(&c.letters, units);
	c.least = by_template ? RELATED_SHARE : rows->options.min_containment;
	c.near = simdup_pairsort_begin(c.letters.memory);
	compare_letters(&c);
	near = simdup_near_lists(c.near, rows->n, (Size) c.letters.memory);
	center = by_template ? find_templates(&c.letters, near)
						 : find_centers(rows, units->rows.unit, near);
	simdup_near_lists_end(near);
	simdup_letters_end(&c.letters);
	for (uint32 row = 0; row < rows->n; row++)
	{
		uint32 first = units->rows.unit[row];

		center[row] = center[first] == SIMDUP_NO_ROW ? first : center[first];
	}
	return center;
}

/*
 * campaigns.c
 *	  The campaigns and templates of a batch: letters by the shingles that they share,
 *	  candidates, partners and relatives.
 *
 * A letter is a unit with a shingle of three words. It has each of its shingles once,
 * at a place: places are numbered in the order of first occurrence. One sort brings
 * together the letters of each shingle, another one the shared shingles of each
 * letter. Only shingles that another letter has, too, are kept.
 *
 * Each letter is compared with the candidates before it that share most of its
 * sample. Partners and relatives are sorted and listed. All lists are on disk beyond
 * their memory. At most 60 bytes a row stay.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "batch/units.h"

/* A letter of fewer shingles has all of them in its sample. */
#define ALL_SAMPLED 20

/*
 * A block has shingles that are in LEAST_OF_BLOCK letters or more: each in about as
 * many letters, of which the first BLOCK_SAMPLE are the same.
 */
#define LEAST_OF_BLOCK 4
#define BLOCK_SAMPLE 64

/*
 * A place is a row, 25 bits for a shingle of it (SIMDUP_MAX_SHINGLES), and these bits.
 * They say whether the shingle is sampled, and later have the high bits of its block.
 */
#define PLACE_SHIFT 7

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

/* Letters */

/*
 * A shared shingle of a letter. Shingles that stand in the same letters are one block.
 * It has the rarity of its shingles above the hash of their letters.
 */
typedef struct Shared
{
	uint32 id;
	uint32 begins : 1;	   /* the place before it is not shared */
	uint32 block_high : 7; /* the bits above block_low */
	uint32 block_low;
} Shared;

#define BLOCK_HASH_BITS 28

/* Return the block; 0: one of its own, because few letters have the shingle. */
static inline uint64
block_of_shared(Shared shared)
{
	return (uint64) shared.block_high << 32 | shared.block_low;
}

/* One shingle of SAMPLED is in the sample of its letter. */
#define SAMPLED 4

typedef struct Letters
{
	SimdupRows *rows;
	int64 memory;	/* of a sort or a file */
	uint32 *size;	/* by row: shingles; 0: no letter */
	uint64 *starts; /* by row, and one more: in the file of shingles */
	SimdupTempFile *shingles; /* Shared, by row and place */
	uint64 next_id;			  /* of a shared shingle */
	/* of templates, by id: the number of letters, and the letters; or NULL */
	SimdupTempFile *holders;
	/*
	 * Lists of letters with a common sampled shingle. Sorted by row: where such a
	 * list is, and how many letters of it are candidates.
	 */
	SimdupTempFile *sharers;
	SimdupPairSort *candidates;
	SimdupBuffer list; /* that was returned last */
} Letters;

/* A letter as it is read. */
typedef struct LetterShingles
{
	SimdupWordSet seen;
	SimdupHashes shingles; /* distinct, in order */
} LetterShingles;

/* Take shingles in their order: a SimdupElementSink. */
static void
take_shingles(void *arg, const uint64_t *hashes, size_t n)
{
	LetterShingles *reading = arg;
	SimdupHashes *list = &reading->shingles;

	list->hashes = simdup_grow(list->hashes, &list->size, list->n + n,
							   sizeof(*list->hashes));
	for (size_t i = 0; i < n; i++)
		if (simdup_new_shingle(&reading->seen, hashes[i]))
			list->hashes[list->n++] = hashes[i];
}

/* Sort all shingles, each with its letter, its place, and whether it is sampled. */
static void
read_letters(Letters *letters, const uint32 *unit, SimdupPairSort *sort)
{
	SimdupRows *rows = letters->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);

	simdup_progress_phase("sampling texts", rows->n);
	for (uint32 row = 0; row < rows->n; row++)
	{
		LetterShingles reading = {0};
		SimdupUtf8 content;

		CHECK_FOR_INTERRUPTS();
		if (unit[row] != row)
			continue;
		content = simdup_text_to_utf8(
			DatumGetTextPP(simdup_stored_texts_get(rows->contents, row)));
		simdup_folded_elements(rows->options.shingling, content.bytes,
							   content.len, take_shingles, &reading);
		letters->size[row] = (uint32) reading.shingles.n;
		for (uint32 i = 0; i < letters->size[row]; i++)
		{
			uint64 hash = reading.shingles.hashes[i];
			bool sampled =
				hash % SAMPLED == 0 || letters->size[row] < ALL_SAMPLED;

			simdup_pairsort_put(sort, hash,
								(uint64) row << 32 | i << PLACE_SHIFT |
									sampled);
		}
		MemoryContextReset(rows->row_context);
		simdup_progress_done(row);
	}
	MemoryContextSwitchTo(old);
	simdup_pairsort_perform(sort);
}

/* List the n letters that have a sampled shingle, and sort the candidates of each. */
static void
list_sharers(Letters *letters, const uint32 *sharers, uint32 n)
{
	uint64 start = (uint64) letters->sharers->size / sizeof(uint32);

	if (n < 2)
		return;
	simdup_tempfile_append(letters->sharers, sharers, n * sizeof(uint32));
	for (uint32 i = 1; i < n; i++)
	{
		uint32 n_first = simdup_first_candidates(n, i);

		simdup_pairsort_put(letters->candidates, sharers[i],
							start << 8 | n_first);
		if (n_first < i)
			simdup_pairsort_put(letters->candidates, sharers[i],
								(start + i - 1) << 8 | 1);
	}
}

/* Return the block of shingles that n letters have: n by its first 7 bits, and a hash. */
static uint64
block_of(uint32 n, const uint32 *holders)
{
	uint64 hash = 0;
	uint32 exponent = 0;

	if (n < LEAST_OF_BLOCK)
		return 0;
	for (uint32 i = 0; i < Min(n, BLOCK_SAMPLE); i++)
		hash = simdup_mix64(hash * SIMDUP_GOLDEN + holders[i]);
	while (n >> exponent >= 128)
		exponent++;
	return ((uint64) (64 * exponent) + (n >> exponent)) << BLOCK_HASH_BITS |
		   hash >> (64 - BLOCK_HASH_BITS);
}

/* End a shingle of n letters. */
static void
end_shingle(Letters *letters, SimdupPairSort *shared, const uint64 *at,
			uint32 *holders, uint32 n)
{
	uint64 id = letters->next_id;
	uint32 n_sharers = 0;
	uint64 block;

	if (n < 2)
		return;
	if (id > PG_UINT32_MAX)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many common words for one partition"));
	for (uint32 i = 0; i < n; i++)
		holders[i] = (uint32) (at[i] >> 32);
	letters->next_id++;
	if (letters->holders != NULL)
	{
		simdup_tempfile_append(letters->holders, &n, sizeof(n));
		simdup_tempfile_append(letters->holders, holders, n * sizeof(uint32));
		letters->next_id += n;
	}
	block = block_of(n, holders);
	for (uint32 i = 0; i < n; i++)
	{
		bool sampled = (at[i] & 1) != 0;

		simdup_pairsort_put(shared, (at[i] ^ sampled) | block >> 32,
							id << 32 | (uint32) block);
		if (sampled)
			holders[n_sharers++] = holders[i];
	}
	list_sharers(letters, holders, n_sharers);
}

/* Find the letters of each shingle. */
static void
list_holders(Letters *letters, SimdupPairSort *sort, SimdupPairSort *shared)
{
	Size n_rows = (Size) letters->rows->n + 1;
	uint64 *at = simdup_alloc(n_rows * sizeof(uint64));
	uint32 *holders = simdup_alloc(n_rows * sizeof(uint32));
	uint32 n = 0;
	uint64 last = 0;
	uint64 hash;

	while (simdup_pairsort_get(sort, &hash, &at[n]))
	{
		if (hash != last)
		{
			uint64 first = at[n];

			end_shingle(letters, shared, at, holders, n);
			at[0] = first;
			n = 0;
		}
		last = hash;
		n++;
	}
	end_shingle(letters, shared, at, holders, n);
	simdup_free(at);
	simdup_free(holders);
}

/* List the shared shingles of each letter. */
static void
list_shingles(Letters *letters, SimdupPairSort *sort)
{
	uint64 at;
	uint64 last = PG_UINT64_MAX - 1; /* no place is the next one */
	uint64 shingle;

	while (simdup_pairsort_get(sort, &at, &shingle))
	{
		Shared shared = {.id = (uint32) (shingle >> 32),
						 .begins = at >> PLACE_SHIFT != last + 1,
						 .block_high = (uint32) at,
						 .block_low = (uint32) shingle};

		last = at >> PLACE_SHIFT;
		simdup_tempfile_append(letters->shingles, &shared, sizeof(shared));
		letters->starts[(at >> 32) + 1]++;
	}
	for (uint32 row = 0; row < letters->rows->n; row++)
		letters->starts[row + 1] += letters->starts[row];
}

/* Find the letters. */
static void
letters_begin(Letters *letters, const SimdupBatchUnits *units)
{
	SimdupRows *rows = units->rows;
	Size n = (Size) rows->n + 1;
	SimdupPairSort *sort = simdup_pairsort_begin(rows->budget / 4);
	SimdupPairSort *shared;

	*letters = (Letters){.rows = rows, .memory = rows->budget / 8};
	letters->size = simdup_alloc0(n * sizeof(uint32));
	letters->starts = simdup_alloc0(n * sizeof(uint64));
	read_letters(letters, units->core.unit, sort);
	if (rows->options.method == SIMDUP_TEMPLATES)
		letters->holders =
			simdup_tempfile_create_cached((Size) letters->memory, 0);
	letters->sharers = simdup_tempfile_create_cached((Size) letters->memory, 0);
	letters->shingles =
		simdup_tempfile_create_cached((Size) rows->budget / 4, 0);
	letters->candidates = simdup_pairsort_begin(letters->memory);
	shared = simdup_pairsort_begin(rows->budget / 4);
	list_holders(letters, sort, shared);
	simdup_pairsort_end(sort);
	simdup_pairsort_perform(shared);
	list_shingles(letters, shared);
	simdup_pairsort_end(shared);
	simdup_pairsort_perform(letters->candidates);
}

static void
letters_end(Letters *letters)
{
	simdup_tempfile_close(letters->holders);
	simdup_tempfile_close(letters->shingles);
	simdup_free(letters->list.bytes);
	simdup_free(letters->starts);
	simdup_free(letters->size);
}

/* Return the shared shingles of a letter, until the next list. */
static const Shared *
letter_shingles(Letters *letters, uint32 letter, Size *n)
{
	*n = letters->starts[letter + 1] - letters->starts[letter];
	return simdup_tempfile_get(letters->shingles,
							   (int64) (letters->starts[letter] *
										sizeof(Shared)),
							   *n * sizeof(Shared), &letters->list);
}

/* Return the letters that have a shingle, until the next list. */
static const uint32 *
shingle_holders(void *arg, uint64 id, Size *n)
{
	Letters *letters = arg;
	int64 offset = (int64) (id * sizeof(uint32));
	uint32 n_holders;

	simdup_tempfile_read(letters->holders, offset, &n_holders,
						 sizeof(n_holders));
	*n = n_holders;
	return simdup_tempfile_get(letters->holders,
							   offset + (int64) sizeof(n_holders),
							   *n * sizeof(uint32), &letters->list);
}

/* Campaigns */

typedef struct Campaigns
{
	Letters letters;
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
block_around(const Shared *shared, Size n, Size place)
{
	uint64 rarest = block_of_shared(shared[place]);
	Size from = place;
	Size end = place + 1;

	while (from > 0 && place - from < AROUND && !shared[from].begins)
		from--;
	while (end < n && end - place <= AROUND && !shared[end].begins)
		end++;
	for (Size i = from; i < end; i++)
	{
		uint64 block = block_of_shared(shared[i]);

		if (block > 0 && block >> BLOCK_HASH_BITS < rarest >> BLOCK_HASH_BITS)
			rarest = block;
	}
	return rarest;
}

/* Have a letter's shared shingles at hand, and number its blocks. */
static void
set_letter(Campaigns *c, uint32 letter)
{
	Size n;
	const Shared *shared = letter_shingles(&c->letters, letter, &n);
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
	const Shared *shared = letter_shingles(&c->letters, other, &n);

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
		if (n_common * 2 * SAMPLED >= c->least * Min(size[letter], size[row]))
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
	const Shared *shared = letter_shingles(arg, letter, &n);

	for (Size i = 0; i < n; i++)
		simdup_pairsort_put(sort, shared[i].id, letter);
}

static uint32 *
find_templates(Letters *letters, SimdupNearLists *relatives)
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
								 .holders = shingle_holders,
								 .arg = letters});
}

uint32 *
simdup_find_campaigns(const SimdupBatchUnits *units)
{
	SimdupRows *rows = units->rows;
	Campaigns c = {0};
	SimdupNearLists *near;
	bool by_template = rows->options.method == SIMDUP_TEMPLATES;
	uint32 *center;

	letters_begin(&c.letters, units);
	c.least = by_template ? RELATED_SHARE : rows->options.min_containment;
	c.near = simdup_pairsort_begin(c.letters.memory);
	compare_letters(&c);
	near = simdup_near_lists(c.near, rows->n, (Size) c.letters.memory);
	center = by_template ? find_templates(&c.letters, near)
						 : find_centers(rows, units->core.unit, near);
	simdup_near_lists_end(near);
	letters_end(&c.letters);
	for (uint32 row = 0; row < rows->n; row++)
	{
		uint32 first = units->core.unit[row];

		center[row] = center[first] == SIMDUP_NO_ROW ? first : center[first];
	}
	return center;
}

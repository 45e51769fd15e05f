/*
 * letters.c
 *	  The letters of a batch by the shingles that they share.
 *
 * One sort brings together the letters of each shingle, another one the shared
 * shingles of each letter.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/letters.h"
#include "core/host.h"
#include "text/minhash64.h"

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
read_letters(SimdupLetters *letters, const uint32 *unit, SimdupPairSort *sort)
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
				hash % SIMDUP_SAMPLED == 0 || letters->size[row] < ALL_SAMPLED;

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
list_sharers(SimdupLetters *letters, const uint32 *sharers, uint32 n)
{
	uint64 start =
		(uint64) simdup_tempfile_size(letters->sharers) / sizeof(uint32);

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
	return ((uint64) (64 * exponent) + (n >> exponent))
			   << SIMDUP_BLOCK_HASH_BITS |
		   hash >> (64 - SIMDUP_BLOCK_HASH_BITS);
}

/* End a shingle of n letters. */
static void
end_shingle(SimdupLetters *letters, SimdupPairSort *shared, const uint64 *at,
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
list_holders(SimdupLetters *letters, SimdupPairSort *sort,
			 SimdupPairSort *shared)
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
list_shingles(SimdupLetters *letters, SimdupPairSort *sort)
{
	uint64 at;
	uint64 last = PG_UINT64_MAX - 1; /* no place is the next one */
	uint64 shingle;

	while (simdup_pairsort_get(sort, &at, &shingle))
	{
		SimdupShared shared = {.id = (uint32) (shingle >> 32),
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

static SimdupTempFile *
create_file(Size memory)
{
	SimdupTempFile *file = simdup_tempfile_create();

	simdup_tempfile_cache(file, memory, 0);
	return file;
}

void
simdup_letters_begin(SimdupLetters *letters, const SimdupBatchUnits *units)
{
	SimdupRows *rows = units->fingerprints->rows;
	Size n = (Size) rows->n + 1;
	SimdupPairSort *sort = simdup_pairsort_begin(rows->budget / 4);
	SimdupPairSort *shared;

	*letters = (SimdupLetters){.rows = rows, .memory = rows->budget / 8};
	letters->size = simdup_alloc0(n * sizeof(uint32));
	letters->starts = simdup_alloc0(n * sizeof(uint64));
	read_letters(letters, units->rows.unit, sort);
	if (rows->options.method == SIMDUP_TEMPLATES)
		letters->holders = create_file((Size) letters->memory);
	letters->sharers = create_file((Size) letters->memory);
	letters->shingles = create_file((Size) rows->budget / 4);
	letters->candidates = simdup_pairsort_begin(letters->memory);
	shared = simdup_pairsort_begin(rows->budget / 4);
	list_holders(letters, sort, shared);
	simdup_pairsort_end(sort);
	simdup_pairsort_perform(shared);
	list_shingles(letters, shared);
	simdup_pairsort_end(shared);
	simdup_pairsort_perform(letters->candidates);
}

void
simdup_letters_end(SimdupLetters *letters)
{
	simdup_tempfile_close(letters->holders);
	simdup_tempfile_close(letters->shingles);
	simdup_free(letters->list.bytes);
	simdup_free(letters->starts);
	simdup_free(letters->size);
}

const SimdupShared *
simdup_letter_shingles(SimdupLetters *letters, uint32 letter, Size *n)
{
	*n = letters->starts[letter + 1] - letters->starts[letter];
	return simdup_tempfile_get(letters->shingles,
							   (int64) (letters->starts[letter] *
										sizeof(SimdupShared)),
							   *n * sizeof(SimdupShared), &letters->list);
}

const uint32 *
simdup_shingle_holders(void *arg, uint64 id, Size *n)
{
	SimdupLetters *letters = arg;
	int64 offset = (int64) (id * sizeof(uint32));
	uint32 n_holders;

	simdup_tempfile_read(letters->holders, offset, &n_holders,
						 sizeof(n_holders));
	*n = n_holders;
	return simdup_tempfile_get(letters->holders,
							   offset + (int64) sizeof(n_holders),
							   *n * sizeof(uint32), &letters->list);
}

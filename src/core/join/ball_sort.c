/*
 * ball_sort.c
 *	  Fingerprints into the buckets of a key: first into tiles by its high bits,
 *	  then each tile by its low bits. A tile fits the cache.
 */
#include <string.h>

#include "core/host.h"
#include "core/join/ball_parts.h"

/* The bucket of a fingerprint: the bits of the key, moved together. */
typedef struct Keys
{
	uint32_t of_byte[8][256];
} Keys;

static void
make_keys(uint64_t key, Keys *keys)
{
	int key_bit = 0;

	memset(keys, 0, sizeof(*keys));
	for (int bit = 0; bit < 64; bit++)
	{
		if (!(key >> bit & 1))
			continue;
		for (int value = 0; value < 256; value++)
			if (value >> bit % 8 & 1)
				keys->of_byte[bit / 8][value] |= UINT32_C(1) << key_bit;
		key_bit++;
	}
}

static inline uint32_t
key_of(const Keys *keys, uint64_t fp)
{
	uint32_t key = 0;

	for (int i = 0; i < 8; i++)
		key |= keys->of_byte[i][fp >> 8 * i & 0xff];
	return key;
}

/* Turn counts into starts, those of a part that begins at `sum`. */
static void
sum_up(uint32_t *counts, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
}

/* Sort one tile by the low bits of its keys. starts are those of its buckets. */
static void
sort_tile(SimdupSorted *set, const Keys *keys, uint32_t start, uint32_t end,
		  uint32_t *starts, int low_bits, uint64_t *codes, uint32_t *positions)
{
	uint32_t n = end - start;
	uint32_t mask = (UINT32_C(1) << low_bits) - 1;
	uint32_t next[1 << SIMDUP_TILE_BITS];

	memcpy(codes, set->codes + start, n * sizeof(*codes));
	memcpy(positions, set->positions + start, n * sizeof(*positions));
	memset(starts, 0, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
		starts[key_of(keys, codes[i]) & mask]++;
	sum_up(starts, UINT32_C(1) << low_bits, start);
	memcpy(next, starts, sizeof(*starts) << low_bits);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t to = next[key_of(keys, codes[i]) & mask]++;

		set->codes[to] = codes[i];
		set->positions[to] = positions[i];
	}
}

void
simdup_sort_by_key(const SimdupBallBlock *block, SimdupSorted *set)
{
	int low_bits =
		block->key_bits < SIMDUP_TILE_BITS ? block->key_bits : SIMDUP_TILE_BITS;
	uint32_t n_tiles = UINT32_C(1) << (block->key_bits - low_bits);
	uint32_t *tiles = simdup_alloc0((n_tiles + 1) * sizeof(uint32_t));
	Keys *keys = simdup_alloc(sizeof(Keys));
	uint32_t largest = 0;
	uint32_t start = 0;
	uint64_t *codes;
	uint32_t *positions;

	make_keys(block->key, keys);
	for (uint32_t i = 0; i < set->n; i++)
		tiles[key_of(keys, set->elements[i].fp) >> low_bits]++;
	for (uint32_t i = 0; i < n_tiles; i++)
		largest = tiles[i] > largest ? tiles[i] : largest;
	sum_up(tiles, n_tiles, 0);
	for (uint32_t i = 0; i < set->n; i++)
	{
		uint64_t fp = set->elements[i].fp;
		uint32_t to = tiles[key_of(keys, fp) >> low_bits]++;

		set->codes[to] = fp;
		set->positions[to] = i;
		simdup_check_interrupts_at(i);
	}

	codes = simdup_alloc((size_t) largest * sizeof(*codes) + 1);
	positions = simdup_alloc((size_t) largest * sizeof(*positions) + 1);
	for (uint32_t i = 0; i < n_tiles; i++)
	{
		sort_tile(set, keys, start, tiles[i],
				  set->starts + ((size_t) i << low_bits), low_bits, codes,
				  positions);
		simdup_check_interrupts();
		start = tiles[i];
	}
	set->starts[(size_t) n_tiles << low_bits] = set->n;
	memset(set->codes + set->n, 0, SIMDUP_COMPARED * sizeof(uint64_t));
	simdup_free(codes);
	simdup_free(positions);
	simdup_free(keys);
	simdup_free(tiles);
}

/*
 * bitmap.c
 *	  Feature bitmaps and the sliding window of class representatives.
 *
 * The ring lies in blocks of 64 slots, word by word: the first words of the 64
 * bitmaps, then the second words, and so on. A block is then plain vector
 * work of fixed length:
 *
 * 1. Popcounts of the intersections c. With the threshold t, a match of bitmaps with
 *	  s and r bits has c > (s + r) t / (1 + t). The test is in integers, rounded so
 *	  that it loses no match.
 * 2. The division itself decides on the few bitmaps that are left. A reader's
 *	  own SQL computes the same rounded quotient.
 */
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"

#define BLOCK_SLOTS 64

/* binary digits of the integer test: both its sides stay below 2^31 */
#define TEST_SCALE 15

/* blocks searched between two checks for interrupts */
#define BLOCKS_AT_ONCE 1024

/* A bitmap to search for. */
typedef struct WindowProbe
{
	const uint64_t *bitmap;
	uint32_t size;
} WindowProbe;

struct SimdupRepresentatives
{
	size_t n_words;
	int64_t window_size;
	double threshold;
	uint32_t slope; /* t / (1 + t) 2^TEST_SCALE, rounded down */

	int64_t next_class; /* class c is in slot c % window_size */
	size_t n_blocks;	/* blocks allocated */
	uint64_t *words;	/* [block][word][slot in block] */
	uint16_t *sizes;	/* [slot]; UINT16_MAX where there is none */
};

void
simdup_bitmap_counts(const uint64_t *a, const uint64_t *b, size_t n_words,
					 uint64_t *both, uint64_t *either)
{
	*both = *either = 0;
	for (size_t i = 0; i < n_words; i++)
	{
		*both += (uint64_t) simdup_popcount64(a[i] & b[i]);
		*either += (uint64_t) simdup_popcount64(a[i] | b[i]);
	}
}

static uint32_t
bitmap_size(const uint64_t *bitmap, size_t n_words)
{
	uint32_t size = 0;

	for (size_t i = 0; i < n_words; i++)
		size += (uint32_t) simdup_popcount64(bitmap[i]);
	return size;
}

/* Check whether part / whole is strictly above the threshold. */
static inline bool
above(double threshold, uint64_t part, uint64_t whole)
{
	return whole != 0 && (double) part / (double) whole > threshold;
}

/* Check whether any bitmap of the block passes the integer test. */
static inline __attribute__((always_inline)) bool
block_may_match(const SimdupRepresentatives *window, const WindowProbe *probe,
				size_t block, size_t n_words)
{
	const uint64_t *words = window->words + block * BLOCK_SLOTS * n_words;
	const uint16_t *sizes = window->sizes + block * BLOCK_SLOTS;
	uint32_t found = 0;

	for (int i = 0; i < BLOCK_SLOTS; i++)
	{
		uint64_t both = 0;

		for (size_t w = 0; w < n_words; w++)
			both += (uint64_t) simdup_popcount64(words[w * BLOCK_SLOTS + i] &
												 probe->bitmap[w]);
		found |= (uint32_t) both << TEST_SCALE >=
				 (probe->size + sizes[i]) * window->slope;
	}
	return found != 0;
}

/* Return the first block of [block, end) with a candidate, or end. */
SIMDUP_POPCNT_CLONES
static size_t
first_candidate(const SimdupRepresentatives *window, const WindowProbe *probe,
				size_t block, size_t end)
{
	for (; block < end; block++)
	{
		if (block % BLOCKS_AT_ONCE == 0)
			simdup_check_interrupts();
		/* 128 bits are the usual width, worth a loop of known length */
		if (window->n_words == 2
				? block_may_match(window, probe, block, 2)
				: block_may_match(window, probe, block, window->n_words))
			break;
	}
	return block;
}

SimdupRepresentatives *
simdup_representatives_create(size_t n_words, int64_t window_size,
							  double threshold)
{
	SimdupRepresentatives *window =
		simdup_alloc0(sizeof(SimdupRepresentatives));

	window->n_words = n_words;
	window->window_size = window_size;
	window->threshold = threshold;
	window->slope =
		(uint32_t) ((double) (1 << TEST_SCALE) * threshold / (1 + threshold));
	return window;
}

/* Return the first slot of the block that matches, or -1. Unused ones do not. */
static int64_t
match_in_block(const SimdupRepresentatives *window, const WindowProbe *probe,
			   size_t block)
{
	const uint64_t *words =
		window->words + block * BLOCK_SLOTS * window->n_words;

	for (size_t i = 0; i < BLOCK_SLOTS; i++)
	{
		size_t slot = block * BLOCK_SLOTS + i;
		uint64_t both = 0;

		for (size_t w = 0; w < window->n_words; w++)
			both += (uint64_t) simdup_popcount64(words[w * BLOCK_SLOTS + i] &
												 probe->bitmap[w]);
		if (above(window->threshold, both,
				  (uint64_t) probe->size + window->sizes[slot] - both))
			return (int64_t) slot;
	}
	return -1;
}

/* Return the first slot of the ring that matches, or -1. */
static int64_t
find_match(const SimdupRepresentatives *window, const uint64_t *bitmap)
{
	size_t n_slots = (size_t) (window->next_class < window->window_size
								   ? window->next_class
								   : window->window_size);
	size_t n_blocks = (n_slots + BLOCK_SLOTS - 1) / BLOCK_SLOTS;
	size_t block = 0;
	WindowProbe probe = {.bitmap = bitmap,
						 .size = bitmap_size(bitmap, window->n_words)};

	if (probe.size == 0)
		return -1;
	for (;
		 (block = first_candidate(window, &probe, block, n_blocks)) < n_blocks;
		 block++)
	{
		int64_t slot = match_in_block(window, &probe, block);

		if (slot >= 0)
			return slot;
	}
	return -1;
}

/* Make room for more slots. */
static void
add_blocks(SimdupRepresentatives *window)
{
	size_t n_blocks = window->n_blocks ? 2 * window->n_blocks : 1;
	size_t block_words = window->n_words * BLOCK_SLOTS;

	window->words = simdup_realloc(window->words,
								   n_blocks * block_words * sizeof(uint64_t));
	window->sizes = simdup_realloc(window->sizes,
								   n_blocks * BLOCK_SLOTS * sizeof(uint16_t));
	/* unused slots take part in the vector work: empty, of a size that has no match */
	memset(window->words + window->n_blocks * block_words, 0,
		   (n_blocks - window->n_blocks) * block_words * sizeof(uint64_t));
	memset(window->sizes + window->n_blocks * BLOCK_SLOTS, 0xff,
		   (n_blocks - window->n_blocks) * BLOCK_SLOTS * sizeof(uint16_t));
	window->n_blocks = n_blocks;
}

int64_t
simdup_representatives_add(SimdupRepresentatives *window,
						   const uint64_t *bitmap)
{
	size_t slot = (size_t) (window->next_class % window->window_size);
	uint64_t *words;

	if (slot == window->n_blocks * BLOCK_SLOTS)
		add_blocks(window);
	words = window->words + slot / BLOCK_SLOTS * BLOCK_SLOTS * window->n_words +
			slot % BLOCK_SLOTS;
	for (size_t w = 0; w < window->n_words; w++)
		words[w * BLOCK_SLOTS] = bitmap[w];
	window->sizes[slot] = (uint16_t) bitmap_size(bitmap, window->n_words);
	return window->next_class++;
}

int64_t
simdup_representatives_next(SimdupRepresentatives *window,
							const uint64_t *bitmap)
{
	int64_t slot = find_match(window, bitmap);
	int64_t last = window->next_class - 1;

	return slot >= 0 ? last - (last - slot) % window->window_size
					 : simdup_representatives_add(window, bitmap);
}

void
simdup_representatives_free(SimdupRepresentatives *window)
{
	simdup_free(window->words);
	simdup_free(window->sizes);
	simdup_free(window);
}

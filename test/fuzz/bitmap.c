/*
 * bitmap.c
 *	  The window of class representatives against a plain loop over them, for
 *	  thresholds that lie on, just below and just above similarities.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "input.h"

#define MAX_WORDS 16
#define MAX_ROWS 400

typedef struct Ring
{
	uint64_t bitmaps[MAX_ROWS][MAX_WORDS];
	int64_t classes[MAX_ROWS];
	int64_t next_class;
	int64_t size;
	size_t n_words;
	double threshold;
} Ring;

static Ring ring;

static void
count(const uint64_t *a, const uint64_t *b, size_t n_words, uint64_t *both,
	  uint64_t *either)
{
	*both = *either = 0;
	for (size_t i = 0; i < 64 * n_words; i++)
	{
		bool in_a = a[i / 64] >> i % 64 & 1;
		bool in_b = b[i / 64] >> i % 64 & 1;

		*both += in_a && in_b;
		*either += in_a || in_b;
	}
}

static int64_t
naive_add(const uint64_t *bitmap)
{
	int64_t at = ring.next_class % ring.size;

	memcpy(ring.bitmaps[at], bitmap, ring.n_words * sizeof(uint64_t));
	ring.classes[at] = ring.next_class;
	return ring.next_class++;
}

static int64_t
naive_next(const uint64_t *bitmap)
{
	for (int64_t i = 0; i < ring.size && i < ring.next_class; i++)
	{
		uint64_t both;
		uint64_t either;

		count(ring.bitmaps[i], bitmap, ring.n_words, &both, &either);
		if (either > 0 && (double) both / (double) either > ring.threshold)
			return ring.classes[i];
	}
	return naive_add(bitmap);
}

/* A fraction, or its neighbour among the numbers, from 0 to 1. */
static double
take_threshold(Input *in)
{
	double whole = (double) take_between(in, 1, 1024);
	double part = (double) take_between(in, 0, (uint64_t) whole);
	uint8_t to = take_byte(in) % 3;
	double threshold = part / whole;

	if (to > 0)
		threshold = nextafter(threshold, to == 1 ? 0 : 1);
	return threshold;
}

/* Few bytes make a bitmap: words repeat, or come from an earlier one. */
static void
take_bitmap(Input *in, uint64_t *bitmap)
{
	uint8_t kind = take_byte(in);
	uint64_t flips = kind >> 4;

	if (kind & 1 && ring.next_class > 0)
		memcpy(bitmap,
			   ring.bitmaps[take_byte(in) % ring.next_class % ring.size],
			   ring.n_words * sizeof(uint64_t));
	else
		for (size_t i = 0; i < ring.n_words; i++)
			bitmap[i] = kind & 2   ? ~UINT64_C(0) << (take_byte(in) & 63)
						: kind & 4 ? take_word(in)
								   : 0;
	while (flips-- > 0)
	{
		size_t bit = take_between(in, 0, 64 * ring.n_words - 1);

		bitmap[bit / 64] ^= UINT64_C(1) << bit % 64;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	uint64_t bitmap[MAX_WORDS];
	SimdupRepresentatives *window;

	ring.next_class = 0;
	ring.n_words = take_between(&in, 1, MAX_WORDS);
	ring.size = (int64_t) take_between(&in, 1, MAX_ROWS);
	ring.threshold = take_threshold(&in);
	window =
		simdup_representatives_create(ring.n_words, ring.size, ring.threshold);
	for (int rows = 0; rows < MAX_ROWS && input_left(&in) > 0; rows++)
	{
		uint64_t *exact;
		uint64_t got[2];
		uint64_t expected[2];

		take_bitmap(&in, bitmap);
		exact = (uint64_t *) (void *) exact_copy(bitmap, ring.n_words *
															 sizeof(uint64_t));
		simdup_bitmap_counts(exact, ring.bitmaps[0], ring.n_words, &got[0],
							 &got[1]);
		count(bitmap, ring.bitmaps[0], ring.n_words, &expected[0],
			  &expected[1]);
		must(got[0] == expected[0] && got[1] == expected[1]);
		if (take_byte(&in) % 8 == 7)
			must(simdup_representatives_add(window, exact) ==
				 naive_add(bitmap));
		else
			must(simdup_representatives_next(window, exact) ==
				 naive_next(bitmap));
		free(exact);
	}
	simdup_representatives_free(window);
	return 0;
}

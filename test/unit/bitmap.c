/*
 * bitmap.c
 *	  The window of class representatives against a plain loop.
 */
#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "random.h"
#include "tap.h"

#define N_ROWS 10000
#define MAX_WORDS 5

static uint64_t state = 1;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

static uint64_t rows[N_ROWS][MAX_WORDS];
static uint64_t ring[N_ROWS][MAX_WORDS];
static int64_t ring_class[N_ROWS];

static double
similarity(const uint64_t *a, const uint64_t *b, int n_words)
{
	int both = 0;
	int either = 0;

	for (int w = 0; w < n_words; w++)
	{
		both += simdup_popcount64(a[w] & b[w]);
		either += simdup_popcount64(a[w] | b[w]);
	}
	return either == 0 ? 0 : (double) both / either;
}

/* The document's function, line by line. */
static int64_t
naive_next(const uint64_t *value, int n_words, int64_t window_size,
		   double threshold, int64_t *current_id)
{
	int64_t pos;

	for (int64_t i = 0; i < window_size && i < *current_id; i++)
		if (similarity(ring[i], value, n_words) > threshold)
			return ring_class[i];
	pos = *current_id % window_size;
	ring_class[pos] = *current_id;
	memcpy(ring[pos], value, sizeof(ring[pos]));
	return (*current_id)++;
}

/* Bitmaps of any density, most of them a few bits away from an earlier one. */
static void
make_rows(int n_words)
{
	memset(rows, 0, sizeof(rows));
	for (int i = 0; i < N_ROWS; i++)
	{
		uint64_t kind = next_random() % 8;

		for (int w = 0; w < n_words; w++)
			rows[i][w] = kind == 0			   ? 0
						 : kind == 1 || i == 0 ? next_random()
						 : kind == 2
							 ? next_random() & next_random() & next_random()
							 : rows[next_random() % (uint64_t) i][w];
		if (kind > 3)
			for (uint64_t flips = next_random() % 12; flips > 0; flips--)
				rows[i][next_random() % (uint64_t) n_words] ^=
					UINT64_C(1) << next_random() % 64;
	}
}

static void
test_window(int n_words, int n_rows, int64_t window_size, double threshold)
{
	SimdupRepresentatives *window =
		simdup_representatives_create((size_t) n_words, window_size, threshold);
	int64_t current_id = 0;
	int differ = 0;

	make_rows(n_words);
	for (int row = 0; row < n_rows; row++)
		differ +=
			simdup_representatives_next(window, rows[row]) !=
			naive_next(rows[row], n_words, window_size, threshold, &current_id);
	ok(differ == 0 && current_id > 1,
	   "%d words, window %" PRId64 ", threshold %g: %" PRId64 " classes",
	   n_words, window_size, threshold, current_id);
	simdup_representatives_free(window);
}

int
main(void)
{
	static const int64_t windows[] = {1, 10, 64, 65, 1000};
	static const double thresholds[] = {0, 0.1, 1.0 / 3, 0.5, 0.8, 0.9, 1};
	uint64_t both;
	uint64_t either;

	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 7; j++)
			test_window(2, N_ROWS, windows[i], thresholds[j]);
	for (int j = 0; j < 7; j++)
	{
		test_window(1, 2000, 100, thresholds[j]);
		test_window(MAX_WORDS, 2000, INT64_MAX, thresholds[j]);
	}

	simdup_bitmap_counts(rows[1], rows[1], 0, &both, &either);
	ok(both == 0 && either == 0, "no words, no bits");
	simdup_bitmap_counts((uint64_t[]){0xF0F, 1}, (uint64_t[]){0x0FF, 1}, 2,
						 &both, &either);
	ok(both == 5 && either == 13, "bits in both, bits in either");
	return done_testing();
}

/*
 * bitmap.c
 *	  The sliding window of representatives: simdup_representatives_next against a plain
 *	  loop with a table of byte popcounts, on the same bitmaps. Prints the two
 *	  medians, the loop's first, in nanoseconds a representative.
 *
 *	  bitmap REPRESENTATIVES ROWS THRESHOLD
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/compare/resemblance.h"
#include "../unit/random.h"

#define RUNS 9

typedef struct Slot
{
	uint64_t value[2];
	unsigned int c_id;
} Slot;

static unsigned char numbits[256];
static Slot *ring;

/* The document's get1Count: 16 bytes, each looked up. */
static inline int
get1count(const unsigned char *p)
{
	return numbits[p[0]] + numbits[p[1]] + numbits[p[2]] + numbits[p[3]] +
		   numbits[p[4]] + numbits[p[5]] + numbits[p[6]] + numbits[p[7]] +
		   numbits[p[8]] + numbits[p[9]] + numbits[p[10]] + numbits[p[11]] +
		   numbits[p[12]] + numbits[p[13]] + numbits[p[14]] + numbits[p[15]];
}

/* The document's getClusterID_Window. */
static unsigned int
document_next(const uint64_t *value, unsigned int window_size, double threshold,
			  unsigned int *current_id)
{
	unsigned int pos;

	for (unsigned int i = 0; i < window_size && i < *current_id; i++)
	{
		uint64_t tt[2];
		int and_value;
		int or_value;

		tt[0] = ring[i].value[0] & value[0];
		tt[1] = ring[i].value[1] & value[1];
		and_value = get1count((unsigned char *) tt);
		tt[0] = ring[i].value[0] | value[0];
		tt[1] = ring[i].value[1] | value[1];
		or_value = get1count((unsigned char *) tt);
		if ((double) and_value / or_value > threshold)
			return ring[i].c_id;
	}
	pos = *current_id % window_size;
	ring[pos].c_id = *current_id;
	memcpy(ring[pos].value, value, sizeof(ring[pos].value));
	return (*current_id)++;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int) atoi(argv[1]) : 100000;
	int rows = argc > 2 ? atoi(argv[2]) : 200;
	double threshold = argc > 3 ? atof(argv[3]) : 0.8;
	SimdupRepresentatives *window =
		simdup_representatives_create(2, n, threshold);
	unsigned int current_id = 0;
	uint64_t state = 1;
	double ours[RUNS];
	double theirs[RUNS];

	for (int b = 1; b < 256; b++)
		numbits[b] = (unsigned char) ((b & 1) + numbits[b / 2]);
	ring = calloc(n, sizeof(Slot));

	/* fill both rings with the same representatives, without a search */
	for (unsigned int i = 0; i < n; i++)
	{
		uint64_t value[2] = {next_random_of(&state), next_random_of(&state)};

		memcpy(ring[i].value, value, sizeof(value));
		ring[i].c_id = current_id++;
		simdup_representatives_add(window, value);
	}
	for (int run = 0; run < RUNS; run++)
	{
		uint64_t saved = state;
		double start = seconds();
		int64_t sum = 0;
		int64_t document_sum = 0;

		for (int i = 0; i < rows; i++)
		{
			uint64_t value[2] = {next_random_of(&state),
								 next_random_of(&state)};

			sum += simdup_representatives_next(window, value);
		}
		ours[run] = seconds() - start;
		state = saved;
		start = seconds();
		for (int i = 0; i < rows; i++)
		{
			uint64_t value[2] = {next_random_of(&state),
								 next_random_of(&state)};

			document_sum += document_next(value, n, threshold, &current_id);
		}
		theirs[run] = seconds() - start;
		if (sum != document_sum)
		{
			puts("the two disagree");
			return 1;
		}
	}
	qsort(ours, RUNS, sizeof(double), compare_doubles);
	qsort(theirs, RUNS, sizeof(double), compare_doubles);
	printf("%.4f %.4f\n", theirs[RUNS / 2] / rows / n * 1e9,
		   ours[RUNS / 2] / rows / n * 1e9);
	return 0;
}

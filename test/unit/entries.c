/*
 * entries.c
 *	  Entries of a hamming index: searched, parted, put in buckets.
 */
#include "core/entries.h"
#include "core/hamming.h"
#include "core/radii.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 11;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* The loops over a page against one comparison after the other. */
static void
test_find(int n)
{
	uint64_t *values = malloc(sizeof(uint64_t) * (size_t) (n + 1));
	uint16_t *found = malloc(sizeof(uint16_t) * (size_t) (n + 1));
	uint8_t *distances = malloc((size_t) (n + 1));
	bool right = true;

	for (int i = 0; i < n; i++)
		values[i] = next_random() & next_random() & next_random();
	for (int k = 0; k <= 64; k += k < 3 ? 1 : 4)
	{
		int n_found = simdup_find_near(values, n, 5, k, found);
		int expected = 0;

		for (int i = 0; i < n; i++)
			if (simdup_hamming64(values[i], 5) <= k)
				right = right && expected < n_found && found[expected++] == i;
		right = right && expected == n_found;
	}
	simdup_distances(values, n, 5, distances);
	for (int i = 0; i < n; i++)
		right = right && distances[i] == simdup_hamming64(values[i], 5);
	ok(right, "%d values: those within each radius, and all distances", n);
	free(values);
	free(found);
	free(distances);
}

static int
compare(const void *a, const void *b)
{
	if (simdup_entry_less(a, b))
		return -1;
	return simdup_entry_less(b, a);
}

/* Values drawn from so many different ones, in no order. */
static void
test_part(size_t n, size_t rank, size_t size, uint64_t different)
{
	SimdupEntry *entries = malloc(sizeof(SimdupEntry) * (n + 1));
	SimdupEntry *sorted = malloc(sizeof(SimdupEntry) * (n + 1));
	bool right = true;

	for (size_t i = 0; i < n; i++)
	{
		entries[i].value = next_random() % different;
		entries[i].row = i;
		sorted[i] = entries[i];
	}
	qsort(sorted, n, sizeof(SimdupEntry), compare);
	simdup_part_entries(entries, n, rank, size);
	for (size_t start = 0; start < n;)
	{
		size_t end = start + size - (rank + start) % size;

		end = end < n ? end : n;
		right =
			right && compare(&sorted[start],
							 &(SimdupEntry){simdup_least_entry(entries + start,
															   end - start)
												.value,
											simdup_least_entry(entries + start,
															   end - start)
												.row}) == 0;
		qsort(entries + start, end - start, sizeof(SimdupEntry), compare);
		start = end;
	}
	right = right && memcmp(entries, sorted, n * sizeof(SimdupEntry)) == 0;
	ok(right, "%d entries of %d values in groups of %d from rank %d", (int) n,
	   (int) different, (int) size, (int) rank);
	free(entries);
	free(sorted);
}

/* Two lists go to buckets above `low`, behind a place that stays free. */
static void
test_place(int rotation, uint64_t low)
{
	enum
	{
		N = 5000,
		BITS = 6
	};
	SimdupEntry *entries = malloc(sizeof(SimdupEntry) * N);
	SimdupEntry *target = malloc(sizeof(SimdupEntry) * (N + 1));
	SimdupBuckets buckets = {.rotation = rotation,
							 .low = low,
							 .shift = 64 - BITS};
	size_t counts[1 << BITS] = {0};
	size_t places[1 << BITS];
	bool right = true;
	uint64_t sum = 0;
	size_t at = 1;

	for (size_t i = 0; i < N; i++)
	{
		uint64_t value = low + next_random() % (UINT64_MAX - low);

		entries[i] = (SimdupEntry){simdup_unrotate(value, rotation), i};
		sum += entries[i].value ^ i;
	}
	simdup_count_entries(entries, N / 3, &buckets, counts);
	simdup_count_entries(entries + N / 3, N - N / 3, &buckets, counts);
	for (size_t b = 0; b < 1 << BITS; at += counts[b++])
		places[b] = at;
	right = right && at == N + 1;
	simdup_place_entries(entries, N / 3, &buckets, places, target);
	simdup_place_entries(entries + N / 3, N - N / 3, &buckets, places, target);
	at = 1;
	for (size_t b = 0; b < 1 << BITS; b++)
		for (; at < places[b]; at++)
		{
			right = right && (target[at].value - low) >> (64 - BITS) == b;
			sum -= simdup_unrotate(target[at].value, rotation) ^ target[at].row;
		}
	ok(right && at == N + 1 && sum == 0,
	   "rotation %d: buckets by the leading bits", rotation);
	free(entries);
	free(target);
}

int
main(void)
{
	for (int n = 0; n < 70; n += 1 + n / 8)
		test_find(n);
	test_find(581);
	for (uint64_t different = 1; different < 1000000; different *= 31)
	{
		test_part(0, 0, 10, different);
		test_part(1, 9, 10, different);
		test_part(581, 291, 581, different);
		test_part(20000, 1234, 523, different);
		test_part(1000, 0, 2, different);
	}
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		test_place(i, i % 2 == 0 ? 0 : UINT64_C(1) << 62);
	return done_testing();
}

/*
 * sort.c
 *	  Pairs in order, against the C library's sort.
 */
#include <stdlib.h>
#include <string.h>

#include "core/search/sort.h"
#include "random.h"
#include "tap.h"

#define MAX_PAIRS 200000

static uint64_t state = 1;

static int
compare_pairs(const void *a, const void *b)
{
	return simdup_item_less(a, b) ? -1 : simdup_item_less(b, a);
}

/*
 * Return a number with this many different bits from shift on, or an extreme.
 * With 0 bits, numbers of each length are as frequent.
 */
static uint64_t
number_of(int bits, int shift)
{
	uint64_t number = next_random_of(&state);

	if (bits == 0)
		return number >> next_random_of(&state) % 64;

	if (number % 64 == 0)
		return number & 64 ? UINT64_MAX : 0;
	return (bits == 64 ? number : number & ((UINT64_C(1) << bits) - 1))
		   << shift;
}

/* Check whether each of n pairs of such numbers is in its place. */
static bool
in_order(size_t n, int first_bits, int first_shift, int second_bits)
{
	static SimdupSortItem pairs[MAX_PAIRS];
	static SimdupSortItem expected[MAX_PAIRS];

	for (size_t i = 0; i < n; i++)
		pairs[i] = (SimdupSortItem){number_of(first_bits, first_shift),
									number_of(second_bits, 0)};
	memcpy(expected, pairs, n * sizeof(SimdupSortItem));
	qsort(expected, n, sizeof(SimdupSortItem), compare_pairs);
	simdup_sort_pairs(pairs, n);
	return memcmp(pairs, expected, n * sizeof(SimdupSortItem)) == 0;
}

int
main(void)
{
	static SimdupSortItem equal[100];
	bool small = true;

	for (size_t n = 0; n < 300; n++)
		small = in_order(n, 64, 0, 64) && in_order(n, 3, 40, 5) && small;
	ok(small, "up to 300 pairs");
	ok(in_order(MAX_PAIRS, 64, 0, 64), "random pairs");
	ok(in_order(MAX_PAIRS, 20, 0, 32), "small numbers");
	ok(in_order(MAX_PAIRS, 10, 54, 64), "many of one first number");
	ok(in_order(MAX_PAIRS, 1, 63, 9), "many equal pairs");
	ok(in_order(MAX_PAIRS, 0, 0, 0) && in_order(5000, 0, 0, 0) &&
		   in_order(100, 0, 0, 0),
	   "numbers of all lengths");
	simdup_sort_pairs(equal, 100);
	ok(equal[0].value == 0 && equal[99].row == 0, "equal pairs only");
	return done_testing();
}

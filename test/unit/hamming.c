/*
 * hamming.c
 *	  Popcount and blocks against their definitions.
 */
#include "core/fingerprint/hamming.h"
#include "random.h"
#include "tap.h"

static int
slow_popcount(uint64_t x)
{
	int n = 0;

	for (; x; x >>= 1)
		n += (int) (x & 1);
	return n;
}

int
main(void)
{
	uint64_t state = 1;
	bool equal = true;

	for (int i = 0; i < 100000; i++)
	{
		uint64_t x = next_random_of(&state) & next_random_of(&state);

		equal = equal && simdup_popcount64(x) == slow_popcount(x);
	}
	ok(equal, "popcount equals bit by bit counting");
	ok(simdup_popcount64(0) == 0, "popcount of 0");
	ok(simdup_popcount64(~UINT64_C(0)) == 64, "popcount of all ones");
	ok(simdup_hamming64(0xDEADBEEF, 0xDEADBEAD) == 2, "published distance");

	for (int n = 1; n <= 64; n++)
	{
		uint64_t fp = next_random_of(&state);
		uint64_t joined = 0;
		bool fair = true;

		for (int i = 0; i < n; i++)
		{
			int start = simdup_block_start(i, n);
			int end = simdup_block_start(i + 1, n);

			fair = fair && end - start >= 64 / n && end - start <= 64 / n + 1;
			joined |= simdup_block_bits(fp, start, end) << start;
		}
		ok(fair && joined == fp && simdup_block_start(n, n) == 64,
		   "%d blocks are fair and join to the fingerprint", n);
	}
	return done_testing();
}

/*
 * resemblance.c
 *	  Sets of folded shingles, and their resemblance from a limit on.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/fingerprint/shingle.h"
#include "random.h"
#include "tap.h"

static SimdupHashes
set_of(const char *text, SimdupShingleUnit unit, int w)
{
	SimdupShingling shingling = {unit, w};
	SimdupHashes set = {0};

	if (!simdup_folded_set(shingling, text, strlen(text), &set))
		abort();
	return set;
}

static void
test_texts(const char *a, const char *b, SimdupShingleUnit unit, int w,
		   double expected)
{
	SimdupHashes x = set_of(a, unit, w);
	SimdupHashes y = set_of(b, unit, w);
	double got = simdup_resemblance_from(&x, &y, 0);

	if (!ok(fabs(got - expected) < 1e-12, "%.30s and %.30s, unit %d, w %d", a,
			b, unit, w))
		printf("# got %.17g\n", got);
	simdup_hashes_free(&x);
	simdup_hashes_free(&y);
}

/* Sets of any size and overlap, at limits around their resemblance. */
static void
test_limits(void)
{
	uint64_t state = 1;
	bool right = true;

	for (int round = 0; round < 2000; round++)
	{
		uint64_t range = 1 + next_random_of(&state) % 2000;
		SimdupHashes sets[2] = {{0}, {0}};
		double resemblance;
		double limits[4];

		for (int i = 0; i < 2; i++)
		{
			int n = 1 + (int) (next_random_of(&state) % 700);

			for (int j = 0; j < n; j++)
				simdup_hashes_add(&sets[i], next_random_of(&state) % range *
												UINT64_C(0x9e3779b97f4a7c15));
			simdup_hashes_unique(&sets[i]);
		}
		resemblance = simdup_resemblance_from(&sets[0], &sets[1], 0);
		limits[0] = resemblance;
		limits[1] = nextafter(resemblance, 2);
		limits[2] = nextafter(resemblance, -1);
		limits[3] = (double) (next_random_of(&state) % 101) / 100;
		for (int i = 0; i < 4; i++)
			right = right &&
					simdup_resemblance_from(&sets[0], &sets[1], limits[i]) ==
						(resemblance >= limits[i] ? resemblance : -1);
		for (int i = 0; i < 2; i++)
			simdup_hashes_free(&sets[i]);
	}
	ok(right, "a resemblance is given from its own value on, and not above");
}

int
main(void)
{
	test_texts("The lamp is dark.", "THE LAMP, IS DARK", SIMDUP_SHINGLE_CHAR, 4,
			   1);
	test_texts("请维修路灯", "請維修路燈", SIMDUP_SHINGLE_CHAR, 4, 1);
	test_texts("请维修路灯", "請維修路燈", SIMDUP_SHINGLE_WORD, 1, 1);
	test_texts("请维修路灯", "請維修路燈", SIMDUP_SHINGLE_RAW, 1, 0.25);
	test_texts("abcd", "ABCD", SIMDUP_SHINGLE_RAW, 4, 0);
	test_texts("ab cd\n\t",
			   "a\xc2\xa0"
			   "bcd\xff",
			   SIMDUP_SHINGLE_RAW, 2, 1);
	test_texts("abcde", "bcdef", SIMDUP_SHINGLE_CHAR, 4, 1.0 / 3);
	test_texts("a rose is a rose", "a rose is", SIMDUP_SHINGLE_WORD, 2,
			   2.0 / 3);
	test_texts("", "abc", SIMDUP_SHINGLE_CHAR, 4, -1);
	test_texts("***", "***", SIMDUP_SHINGLE_CHAR, 4, -1);
	test_texts("***", "* * *", SIMDUP_SHINGLE_RAW, 4, 1);
	test_limits();
	return done_testing();
}

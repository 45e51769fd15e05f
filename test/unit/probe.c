/*
 * probe.c
 *	  Keys and probes: no neighbour is missed, no probe is wasted.
 */
#include "core/hamming.h"
#include "core/probe.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 42;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* A word with exactly n ones. */
static uint64_t
random_ones(int n)
{
	uint64_t word = 0;

	while (simdup_popcount64(word) < n)
		word |= UINT64_C(1) << (next_random() & 63);
	return word;
}

/* How many of the probes find which key of the fingerprint as near? */
static int
count_found(const uint64_t *starts, int n, uint64_t center, uint64_t fp, int k)
{
	int found = 0;

	for (int i = 0; i < n; i++)
	{
		int number = simdup_key_number(starts[i]);
		uint64_t key = simdup_key(fp, number);

		if (simdup_key_in_range(key, starts[i]) &&
			simdup_keys_near(key, simdup_key(center, number), k))
			found++;
	}
	return found;
}

/* The search for a radius, tried on neighbours at every distance. */
static void
test_search(int k)
{
	uint64_t center = next_random();
	int n = simdup_probe_count(k);
	uint64_t *starts = malloc(sizeof(uint64_t) * n);
	bool complete = true;
	bool exact = true;
	bool distinct = true;
	int rounds = n > 1000 ? 20 : 200;

	simdup_probes(center, k, starts);
	for (int d = 0; d <= 20; d++)
		for (int r = 0; r < rounds; r++)
		{
			int found =
				count_found(starts, n, center, center ^ random_ones(d), k);

			if (d <= k)
				complete = complete && found > 0 && found <= SIMDUP_KEYS;
			else if (d + k < 31)
				exact = exact && found == 0;
		}
	for (int i = 0; i < n && n < 1000; i++)
		for (int j = 0; j < i; j++)
			distinct = distinct && starts[i] != starts[j];

	ok(complete, "radius %d: every neighbour is found, by each key once", k);
	ok(exact, "radius %d: nothing that is only a little farther passes", k);
	ok(distinct, "radius %d: no probe twice", k);
	free(starts);
}

/* The radii are a pigeonhole, and as equal as can be. */
static void
test_radii(void)
{
	bool pigeonhole = true;
	bool equal = true;

	for (int k = 0; k <= 64; k++)
	{
		int radii[SIMDUP_KEYS];
		int sum = 0;
		int smallest = 64;
		int largest = -1;

		simdup_probe_radii(k, radii);
		for (int i = 0; i < SIMDUP_KEYS; i++)
		{
			sum += radii[i] + 1;
			smallest = radii[i] < smallest ? radii[i] : smallest;
			largest = radii[i] > largest ? radii[i] : largest;
		}
		pigeonhole = pigeonhole && sum == k + 1;
		equal = equal && largest - smallest <= 1;
	}
	ok(pigeonhole, "radii leave no distribution of k bits out");
	ok(equal, "radii are as equal as can be");
}

/* The four fingerprints of a key are far from each other. */
static void
test_fold(void)
{
	bool far = true;
	bool same = true;

	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		uint64_t fp = next_random();
		int shared = 0;

		/* all words with up to 3 ones, and sums of two keys' differences */
		for (int a = 0; a < 64; a++)
			for (int b = 0; b < 64; b++)
				for (int c = 0; c < 64; c++)
				{
					uint64_t other = fp ^ (UINT64_C(1) << a | UINT64_C(1) << b |
										   UINT64_C(1) << c);

					shared += simdup_key(fp, i) == simdup_key(other, i);
				}
		far = far && shared == 0;
		for (int r = 0; r < 1000; r++)
		{
			uint64_t x = next_random();
			uint64_t y = next_random();

			same = same && (simdup_key(x, i) ^ simdup_key(y, i)) ==
							   (simdup_key(x ^ y, i) ^ simdup_key(0, i));
		}
	}
	ok(far, "fingerprints a few bits apart have different keys");
	ok(same, "keys are linear");
}

/* Nearness of keys against its definition: the nearest of those they fold. */
static void
test_near(void)
{
	bool right = true;

	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		uint64_t fold[4] = {0};
		const int width = 16;
		int start = 16 * i;
		int folds = 0;

		/*
		 * Find the fingerprints that share the key of 0. Flip the two bits that
		 * the key drops, then the bits in which the key changed.
		 */
		for (uint64_t two = 0; two < 4; two++)
		{
			uint64_t rest = two << (62 - width);
			uint64_t marks = 0;
			uint64_t fp;

			for (int pass = 0; pass < 2; pass++)
			{
				uint64_t all = rest | marks;

				/* put the block, of value 0, back into its place */
				fp =
					(all & ((UINT64_C(1) << start) - 1)) |
					(start + width == 64 ? 0 : all >> start << (start + width));
				marks |= simdup_key(fp, i) ^ simdup_key(0, i);
			}
			if (simdup_key(fp, i) == simdup_key(0, i))
				fold[folds++] = fp;
		}
		right = right && folds == 4;
		for (int r = 0; r < 20000; r++)
		{
			uint64_t x = random_ones((int) (next_random() % 40));
			int nearest = 64;
			int k = (int) (next_random() % 20);

			for (int f = 0; f < 4; f++)
				if (simdup_popcount64(x ^ fold[f]) < nearest)
					nearest = simdup_popcount64(x ^ fold[f]);
			right = right &&
					simdup_keys_near(simdup_key(x, i), simdup_key(0, i), k) ==
						(nearest <= k);
		}
		for (int f = 1; f < 4; f++)
			right = right && simdup_popcount64(fold[f] ^ fold[f - 1]) >= 31;
	}
	ok(right, "keys are near as the nearest of the fingerprints they fold");
}

int
main(void)
{
	double sum = 0;
	bool rises = true;

	test_radii();
	test_fold();
	test_near();
	for (int k = 0; k <= SIMDUP_PROBE_MAX_RADIUS; k++)
		test_search(k);
	ok(simdup_probe_count(0) == 1 && simdup_probe_count(3) == 4 &&
		   simdup_probe_count(5) == 36 && simdup_probe_count(7) == 68 &&
		   simdup_probe_count(8) == 188 && simdup_probe_count(11) == 548,
	   "probe counts");

	sum = simdup_ball_fraction(32) + simdup_ball_fraction(31);
	ok(sum > 1 - 1e-9 && sum < 1 + 1e-9, "half of all is nearer than 32");
	ok(simdup_ball_fraction(0) == 1.0 / 18446744073709551616.0 &&
		   simdup_ball_fraction(64) > 1 - 1e-9,
	   "ball of 0 and of 64");
	for (int k = 0; k <= 64; k++)
		rises = rises && simdup_ball_fraction(k) <= 1 &&
				(k == 0 ||
				 simdup_ball_fraction(k) >= simdup_ball_fraction(k - 1));
	ok(rises, "the fraction rises to 1, and not above");
	return done_testing();
}

/*
 * lock_blocks.c
 *	  Near fingerprints lock something in common at every distance, unrelated
 *	  ones as seldom as pigeonhole.h says.
 */
#include "core/join/pigeonhole.h"
#include "random.h"
#include "tap.h"

/* The locks of fp, by any hash of the values. Return their number. */
static int
locks_of(uint64_t fp, int k, uint32_t *locks)
{
	uint64_t values[SIMDUP_MAX_LOCK_BLOCKS];
	uint32_t hashes[SIMDUP_MAX_LOCK_BLOCKS];
	int n = simdup_lock_values(fp, k, values);

	for (int i = 0; i < n; i++)
	{
		uint64_t state = values[i] + 1;

		hashes[i] = (uint32_t) next_random_of(&state);
	}
	return simdup_lock_blocks(k, hashes, locks);
}

static bool
have_common(uint64_t a, uint64_t b, int k)
{
	uint32_t of_a[SIMDUP_MAX_LOCK_BLOCKS];
	uint32_t of_b[SIMDUP_MAX_LOCK_BLOCKS];
	int n = locks_of(a, k, of_a);

	(void) locks_of(b, k, of_b);
	for (int i = 0; i < n; i++)
		if (of_a[i] == of_b[i])
			return true;
	return false;
}

/* fp with k different bits changed. */
static uint64_t
change(uint64_t fp, int k, uint64_t *state)
{
	uint64_t changed = 0;

	while (simdup_popcount64(changed) < k)
		changed |= UINT64_C(1) << next_random_of(state) % 64;
	return fp ^ changed;
}

int
main(void)
{
	uint64_t state = 1;
	int common_8 = 0;

	for (int k = 0; k <= 64; k++)
	{
		bool meet = true;

		for (int i = 0; i < 500; i++)
		{
			uint64_t fp = next_random_of(&state);

			meet = meet && have_common(fp, change(fp, k, &state), k);
		}
		ok(meet, "fingerprints within %d lock something in common", k);
	}
	for (int i = 0; i < 16000; i++)
		common_8 +=
			have_common(next_random_of(&state), next_random_of(&state), 8);
	ok(common_8 > 50 && common_8 < 150,
	   "of 160 unrelated pairs one does, at distance 8");
	return done_testing();
}

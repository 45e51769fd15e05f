/*
 * lock_blocks.c
 *	  Near fingerprints lock something in common at every distance, unrelated
 *	  ones as seldom as pigeonhole.h says.
 */
#include "core/join/pigeonhole.h"
#include "random.h"
#include "tap.h"

static bool
have_common(uint64_t a, uint64_t b, int k)
{
	SimdupLockBlock of_a[SIMDUP_MAX_LOCK_BLOCKS];
	SimdupLockBlock of_b[SIMDUP_MAX_LOCK_BLOCKS];
	int n_a = simdup_lock_blocks(a, k, of_a);
	int n_b = simdup_lock_blocks(b, k, of_b);

	for (int i = 0; i < n_a; i++)
		for (int j = 0; j < n_b; j++)
			if (of_a[i].value == of_b[j].value &&
				of_a[i].number == of_b[j].number)
				return true;
	return false;
}

/* fp with k bits changed, at different places or not. */
static uint64_t
change(uint64_t fp, int k, uint64_t *state)
{
	for (int i = 0; i < k; i++)
		fp ^= UINT64_C(1) << next_random_of(state) % 64;
	return fp;
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

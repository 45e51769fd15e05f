/*
 * groupids.c
 *	  The ids of groups that were made anew.
 */
#include <stdbool.h>

#include "core/groupids.h"
#include "core/host.h"
#include "core/pairorder.h"
#include "core/wordset.h"

/* The rows that an old group shares with a new one, counted. */
typedef struct Share
{
	int64_t old;
	uint32_t group;
	uint32_t n;
	bool begins; /* the first one of its old group */
} Share;

/* The pairs (old id, new group) of all rows, in order. */
static SimdupPair *
order_rows(uint32_t n, const uint32_t *group, const int64_t *old,
		   size_t *n_pairs)
{
	SimdupPair *pairs = simdup_alloc(((size_t) n + 1) * sizeof(SimdupPair));

	*n_pairs = 0;
	for (uint32_t row = 0; row < n; row++)
		if (old[row] != SIMDUP_NO_ID)
			pairs[(*n_pairs)++] = (SimdupPair){(uint64_t) old[row], group[row]};
	simdup_order_pairs(pairs, *n_pairs);
	return pairs;
}

/* The runs of equal pairs become shares; their order becomes the pairs. */
static Share *
count_shares(SimdupPair *pairs, size_t n_pairs, size_t *n_shares)
{
	Share *shares;
	size_t n = 0;

	for (size_t i = 0; i < n_pairs; i++)
		n += i == 0 || simdup_pair_less(&pairs[i - 1], &pairs[i]);
	shares = simdup_alloc((n + 1) * sizeof(Share));
	n = 0;
	for (size_t i = 0; i < n_pairs; i++)
	{
		SimdupPair pair = pairs[i];
		bool same_old = n > 0 && (uint64_t) shares[n - 1].old == pair.first;

		if (!same_old || shares[n - 1].group != (uint32_t) pair.second)
			shares[n++] = (Share){(int64_t) pair.first, (uint32_t) pair.second,
								  0, !same_old};
		shares[n - 1].n++;
	}
	/* most rows first, then in the order of shares: old id, new group */
	for (size_t i = 0; i < n; i++)
		pairs[i] = (SimdupPair){UINT32_MAX - shares[i].n, i};
	simdup_order_pairs(pairs, n);
	*n_shares = n;
	return shares;
}

int64_t *
simdup_groupids_keep(uint32_t n, const uint32_t *group, const int64_t *old)
{
	int64_t *ids = simdup_alloc0(((size_t) n + 1) * sizeof(int64_t));
	size_t n_pairs;
	size_t n_shares;
	SimdupPair *pairs = order_rows(n, group, old, &n_pairs);
	Share *shares = count_shares(pairs, n_pairs, &n_shares);
	uint32_t *number = simdup_alloc((n_shares + 1) * sizeof(uint32_t));
	bool *taken = simdup_alloc0((n_shares + 1) * sizeof(bool));

	/* old groups are numbered by their first share */
	for (size_t i = 0; i < n_shares; i++)
		number[i] = shares[i].begins ? (uint32_t) i : number[i - 1];
	for (size_t i = 0; i < n_shares; i++)
	{
		const Share *share = &shares[pairs[i].second];
		bool *is_taken = &taken[number[pairs[i].second]];

		if (*is_taken || ids[share->group] != SIMDUP_NO_ID)
			continue;
		ids[share->group] = share->old;
		*is_taken = true;
	}
	simdup_free(taken);
	simdup_free(number);
	simdup_free(shares);
	simdup_free(pairs);
	return ids;
}

int64_t
simdup_groupids_give(uint32_t n, const uint32_t *group, const int64_t *last,
					 int64_t next_id, int64_t *ids)
{
	SimdupWordSet taken = {0};

	for (uint32_t row = 0; row < n; row++)
		if (group[row] == row && ids[row] != SIMDUP_NO_ID)
			(void) simdup_wordset_add(&taken, (uint64_t) ids[row]);
	for (uint32_t row = 0; row < n; row++)
	{
		if (group[row] != row || ids[row] != SIMDUP_NO_ID)
			continue;
		if (last[row] != SIMDUP_NO_ID &&
			simdup_wordset_add(&taken, (uint64_t) last[row]))
			ids[row] = last[row];
		else
			ids[row] = next_id++;
	}
	simdup_wordset_free(&taken);
	return next_id;
}

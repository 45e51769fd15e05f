/*
 * groupids.c
 *	  The ids of groups that were made anew.
 */
#include <stdbool.h>

#include "core/host.h"
#include "core/pairorder.h"
#include "core/place.h"
#include "core/wordset.h"

int64_t *
simdup_groupids_keep(uint32_t n, const uint32_t *group, const int64_t *old)
{
	int64_t *ids = simdup_alloc0(((size_t) n + 1) * sizeof(int64_t));
	SimdupPair *shares = simdup_alloc(((size_t) n + 1) * sizeof(SimdupPair));
	SimdupPair *order = simdup_alloc(((size_t) n + 1) * sizeof(SimdupPair));
	SimdupWordSet taken = {0};
	size_t n_rows = 0;
	size_t n_shares = 0;

	/* the rows of a share, an old id and a new group, stand together */
	for (uint32_t row = 0; row < n; row++)
		if (old[row] != SIMDUP_NO_ID)
			shares[n_rows++] = (SimdupPair){(uint64_t) old[row], group[row]};
	simdup_order_pairs(shares, n_rows);
	for (size_t i = 0; i < n_rows; i++)
	{
		if (n_shares == 0 ||
			simdup_pair_less(&shares[n_shares - 1], &shares[i]))
		{
			order[n_shares] = (SimdupPair){UINT32_MAX, n_shares};
			shares[n_shares++] = shares[i];
		}
		order[n_shares - 1].first--;
	}
	/* most rows first, then in the order of shares */
	simdup_order_pairs(order, n_shares);
	for (size_t i = 0; i < n_shares; i++)
	{
		SimdupPair share = shares[order[i].second];

		if (ids[share.second] == SIMDUP_NO_ID &&
			simdup_wordset_add(&taken, share.first))
			ids[share.second] = (int64_t) share.first;
	}
	simdup_wordset_free(&taken);
	simdup_free(order);
	simdup_free(shares);
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

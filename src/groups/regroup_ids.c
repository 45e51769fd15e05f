/*
 * regroup_ids.c
 *	  Groups that were made anew get ids by what they share with old groups.
 *
 * The pair of a new and an old group that shares most rows goes first, of equal
 * ones the older id, then the older new group. Each id is given once; the rest
 * get new ids. An id that nobody takes leads to the group with most of its rows.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/hsearch.h"

#include "core/host.h"
#include "groups/regrouping.h"

typedef struct Share
{
	uint32 rows;
	uint32 leader;
	int64 id;
} Share;

static int
compare_shares(const void *a, const void *b)
{
	const Share *left = a;
	const Share *right = b;

	if (left->rows != right->rows)
		return left->rows > right->rows ? -1 : 1;
	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->leader < right->leader ? -1 : left->leader > right->leader;
}

/* How many rows each new group shares with each old one. */
static Share *
count_shares(Regrouping *r, uint32 *n_shares)
{
	SimdupPairSort *sort = simdup_pairsort_begin(maintenance_work_mem);
	Share *shares = simdup_alloc((Size) r->n * sizeof(Share) + 1);
	uint64 leader;
	uint64 id;

	*n_shares = 0;
	for (uint32 i = 0; i < r->n; i++)
		if (r->old_id[i] != 0)
			simdup_pairsort_put(sort, r->leader[i], (uint64) r->old_id[i]);
	simdup_pairsort_perform(sort);
	while (simdup_pairsort_get(sort, &leader, &id))
	{
		Share *last = *n_shares == 0 ? NULL : &shares[*n_shares - 1];

		if (last != NULL && last->leader == leader && last->id == (int64) id)
			last->rows++;
		else
			shares[(*n_shares)++] =
				(Share){.rows = 1, .leader = (uint32) leader, .id = (int64) id};
	}
	simdup_pairsort_end(sort);
	return shares;
}

/* Groups that share rows with no old group whose id is free. */
static void
give_new_ids(Regrouping *r, bool dry, int64 newest)
{
	for (uint32 i = 0; i < r->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (r->leader[i] == i && r->new_id[i] == 0)
			r->new_id[i] = dry ? ++newest : simdup_grouping_new_id(r->g);
	}
}

/* The largest share of an id that was not given leads on. */
static void
note_ended(Regrouping *r, const Share *shares, uint32 n, HTAB *taken)
{
	r->ended_id = simdup_alloc((Size) n * sizeof(int64) + 1);
	r->ended_into = simdup_alloc((Size) n * sizeof(int64) + 1);
	for (uint32 i = 0; i < n; i++)
	{
		bool found;

		(void) hash_search(taken, &shares[i].id, HASH_ENTER, &found);
		if (found)
			continue;
		r->ended_id[r->n_ended] = shares[i].id;
		r->ended_into[r->n_ended++] = r->new_id[shares[i].leader];
	}
}

void
simdup_regroup_ids(Regrouping *r, bool dry, int64 newest)
{
	uint32 n;
	Share *shares = count_shares(r, &n);
	HASHCTL control = {0};
	HTAB *taken;

	r->new_id = simdup_alloc0((Size) r->n * sizeof(int64) + 1);
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(int64);
	taken = hash_create("simdup ids", 1024, &control, HASH_ELEM | HASH_BLOBS);
	qsort(shares, n, sizeof(Share), compare_shares);
	for (uint32 i = 0; i < n; i++)
	{
		bool found;

		CHECK_FOR_INTERRUPTS();
		if (r->new_id[shares[i].leader] != 0)
			continue;
		(void) hash_search(taken, &shares[i].id, HASH_ENTER, &found);
		if (!found)
			r->new_id[shares[i].leader] = shares[i].id;
	}
	give_new_ids(r, dry, newest);
	note_ended(r, shares, n, taken);
	hash_destroy(taken);
	simdup_free(shares);
}

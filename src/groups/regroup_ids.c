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

#include "core/hash.h"
#include "core/host.h"
#include "groups/regrouping.h"

typedef struct Share
{
	uint32 rows; /* 0: the new group has got the id */
	uint32 leader;
	int64 id;
} Share;

/* A set of ids. */
typedef struct Taken
{
	int64 id;
	char status;
} Taken;

#define SH_PREFIX taken
#define SH_ELEMENT_TYPE Taken
#define SH_KEY_TYPE int64
#define SH_KEY id
#define SH_HASH_KEY(table, key) ((uint32) simdup_mix64((uint64) (key)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static int
compare_shares(const void *a, const void *b)
{
	const Share *left = a;
	const Share *right = b;

	CHECK_FOR_INTERRUPTS();
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
note_ended(Regrouping *r, const Share *shares, uint32 n, taken_hash *taken)
{
	uint32 n_left = 0;

	for (uint32 i = 0; i < n; i++)
		n_left += shares[i].rows > 0;
	r->ended_id = simdup_alloc((Size) n_left * sizeof(int64) + 1);
	r->ended_into = simdup_alloc((Size) n_left * sizeof(int64) + 1);
	for (uint32 i = 0; i < n; i++)
	{
		bool found = shares[i].rows == 0;

		CHECK_FOR_INTERRUPTS();
		if (!found)
			(void) taken_insert(taken, shares[i].id, &found);
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
	taken_hash *taken = taken_create(CurrentMemoryContext, n, NULL);

	r->new_id = simdup_alloc0((Size) r->n * sizeof(int64) + 1);
	qsort(shares, n, sizeof(Share), compare_shares);
	for (uint32 i = 0; i < n; i++)
	{
		bool found;

		CHECK_FOR_INTERRUPTS();
		if (r->new_id[shares[i].leader] != 0)
			continue;
		(void) taken_insert(taken, shares[i].id, &found);
		if (found)
			continue;
		r->new_id[shares[i].leader] = shares[i].id;
		shares[i].rows = 0;
	}
	give_new_ids(r, dry, newest);
	note_ended(r, shares, n, taken);
	taken_destroy(taken);
	simdup_free(shares);
}

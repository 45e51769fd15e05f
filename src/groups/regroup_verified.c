/*
 * regroup_verified.c
 *	  Which group each row is in, where texts or a scope decide besides the
 *	  distance.
 *
 * Nearness is not transitive among equal fingerprints here, so rows come one by
 * one, in order of their age, as they do at the trigger. A row looks for earlier
 * rows within the distance, and an SQL statement compares each of them, the
 * nearest first, until one passes. By the method leader only representatives
 * can be found, by connected all rows.
 *
 * Fingerprints are found through their four blocks of 16 bits, by generalised
 * pigeonhole (core/probe.h). A row that can be found takes 64 bytes. A hash of
 * the scope sorts out most rows of other scopes before the statement.
 */
#include "postgres.h"
#include "compat.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/typcache.h"

#include "core/hamming.h"
#include "core/host.h"
#include "core/probe.h"
#include "core/unionfind.h"
#include "groups/regrouping.h"

#define BLOCK_BITS 16
#define N_VALUES (1 << BLOCK_BITS) /* of a block */

typedef struct Entry
{
	uint64 fp;
	uint32 row;
} Entry;

/* Rows whose fingerprints have the same value in one block. */
typedef struct Bucket
{
	Entry *entries;
	uint32 n;
	uint32 capacity;
} Bucket;

/* An earlier row within the distance. */
typedef struct Candidate
{
	int distance;
	uint32 row;
} Candidate;

typedef struct Search
{
	Regrouping *r;
	int radii[SIMDUP_KEYS];			/* of blocks; -1: not probed */
	uint16 *masks;					/* all, those with few bits first */
	uint32 n_masks[BLOCK_BITS + 1]; /* with at most so many bits */
	Bucket *buckets[SIMDUP_KEYS];	/* by value; NULL: not probed */
	Candidate *candidates;
	uint32 n;
	uint32 capacity;
	uint32 *parent; /* connected: of components */
} Search;

/*
 * SQL for a hash of a row's scope. Rows in one scope have equal hashes. A type
 * that cannot be hashed is left out.
 */
char *
simdup_regroup_scope(Grouping *g)
{
	const SimdupConditions *c = &g->at->conditions;
	StringInfoData buf;
	int n = 0;

	initStringInfo(&buf);
	for (int i = c->n_columns - list_length(c->within); i < c->n_columns; i++)
	{
		TypeCacheEntry *type =
			lookup_type_cache(c->columns[i].type,
							  TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);

		if (OidIsValid(type->hash_extended_proc))
			appendStringInfo(&buf, "%s%s", n++ == 0 ? "" : ", ",
							 simdup_conditions_column(c, i, "t", 0));
	}
	if (n == 0)
		return "0::pg_catalog.int8";
	return psprintf("pg_catalog.hash_record_extended(ROW(%s), 0)", buf.data);
}

bool
simdup_regroup_conditions_hold(Regrouping *r, uint32 stored, uint32 arriving)
{
	Datum values[2];
	ArrivalFound found;

	if (r->scope == NULL)
		return true;
	if (r->scope[stored] != r->scope[arriving])
		return false;
	values[0] = simdup_keys_get(r->rows->keys, stored, 0);
	values[1] = simdup_keys_get(r->rows->keys, arriving, 1);
	found = simdup_grouping_run(r->g, GROUP_BULK_ARE_NEAR, values, NULL);
	SPI_freetuptable(found.rows);
	return found.n > 0;
}

static uint32
block(uint64 fp, int i)
{
	return (uint32) (fp >> (BLOCK_BITS * i)) & (N_VALUES - 1);
}

static void
list_masks(Search *s)
{
	uint32 n = 0;

	s->masks = simdup_alloc(N_VALUES * sizeof(uint16));
	for (int bits = 0; bits <= BLOCK_BITS; bits++)
	{
		for (uint32 mask = 0; mask < N_VALUES; mask++)
			if (simdup_popcount64(mask) == bits)
				s->masks[n++] = (uint16) mask;
		s->n_masks[bits] = n;
	}
}

static void
begin_search(Search *s)
{
	simdup_probe_radii(s->r->g->at->k, s->radii);
	list_masks(s);
	for (int i = 0; i < SIMDUP_KEYS; i++)
		if (s->radii[i] >= 0)
			s->buckets[i] = simdup_alloc0(N_VALUES * sizeof(Bucket));
	s->capacity = 64;
	s->candidates = simdup_alloc(s->capacity * sizeof(Candidate));
}

/* Later rows can find this one. */
static void
add_row(Search *s, uint32 row)
{
	uint64 fp = s->r->fp[row];

	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		Bucket *bucket;

		if (s->radii[i] < 0)
			continue;
		bucket = &s->buckets[i][block(fp, i)];
		if (bucket->entries == NULL)
			bucket->entries =
				simdup_alloc((bucket->capacity = 2) * sizeof(Entry));
		else if (bucket->n == bucket->capacity)
			bucket->entries =
				simdup_realloc(bucket->entries,
							   (Size) (bucket->capacity *= 2) * sizeof(Entry));
		bucket->entries[bucket->n++] = (Entry){.fp = fp, .row = row};
	}
}

/* Does the search meet a difference in an earlier block than this one? */
static bool
was_met(const Search *s, uint64 difference, int i)
{
	for (int j = 0; j < i; j++)
		if (simdup_popcount64(block(difference, j)) <= s->radii[j])
			return true;
	return false;
}

static void
add_candidate(Search *s, uint32 row, int distance)
{
	if (s->n == s->capacity)
		s->candidates =
			simdup_realloc(s->candidates,
						   (Size) (s->capacity *= 2) * sizeof(Candidate));
	s->candidates[s->n++] = (Candidate){.distance = distance, .row = row};
}

/* The rows of a bucket that are within the distance, each once. */
static void
probe(Search *s, uint64 fp, int i, const Bucket *bucket)
{
	for (uint32 j = 0; j < bucket->n; j++)
	{
		const Entry *entry = &bucket->entries[j];
		int distance = simdup_hamming64(fp, entry->fp);

		if (distance <= s->r->g->at->k && !was_met(s, fp ^ entry->fp, i))
			add_candidate(s, entry->row, distance);
	}
}

/* The nearest first; of equally near ones the oldest. */
static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *left = a;
	const Candidate *right = b;

	if (left->distance != right->distance)
		return left->distance - right->distance;
	return left->row < right->row ? -1 : left->row > right->row;
}

static void
find_candidates(Search *s, uint32 row)
{
	uint64 fp = s->r->fp[row];

	s->n = 0;
	for (int i = 0; i < SIMDUP_KEYS; i++)
	{
		uint32 value = block(fp, i);

		if (s->radii[i] < 0)
			continue;
		for (uint32 j = 0; j < s->n_masks[Min(s->radii[i], BLOCK_BITS)]; j++)
			probe(s, fp, i, &s->buckets[i][value ^ s->masks[j]]);
	}
	qsort(s->candidates, s->n, sizeof(Candidate), compare_candidates);
}

static void
join_nearest(Search *s, uint32 row)
{
	s->r->leader[row] = row;
	for (uint32 i = 0; i < s->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!simdup_regroup_conditions_hold(s->r, s->candidates[i].row, row))
			continue;
		s->r->leader[row] = s->candidates[i].row;
		return;
	}
	add_row(s, row);
}

static void
join_all(Search *s, uint32 row)
{
	for (uint32 i = 0; i < s->n; i++)
	{
		uint32 other = s->candidates[i].row;

		CHECK_FOR_INTERRUPTS();
		if (simdup_component_root(s->parent, other) !=
				simdup_component_root(s->parent, row) &&
			simdup_regroup_conditions_hold(s->r, other, row))
			simdup_components_join(s->parent, other, row);
	}
	add_row(s, row);
}

void
simdup_regroup_verified(Regrouping *r)
{
	Search s = {.r = r};

	SPI_connect();
	begin_search(&s);
	s.parent = simdup_alloc((Size) r->n * sizeof(uint32) + 1);
	simdup_components_init(s.parent, r->n);
	for (uint32 i = 0; i < r->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		find_candidates(&s, i);
		if (r->g->connected)
			join_all(&s, i);
		else
			join_nearest(&s, i);
	}
	for (uint32 i = 0; r->g->connected && i < r->n; i++)
		r->leader[i] = simdup_component_root(s.parent, i);
	SPI_finish();
}

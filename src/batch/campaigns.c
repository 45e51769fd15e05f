/*
 * campaigns.c
 *	  The campaigns of a batch: candidates, partners, centers.
 *
 * Sorts bring together the texts of each value of their samples, the candidates of
 * each text, and its partners. Sorts and lists go to disk beyond their memory. At
 * most 40 bytes a row stay.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/distinct_rows.h"
#include "core/compare/resemblance.h"
#include "core/host.h"
#include "text/minhash64.h"

/* Samples are those of shingle_winnow, by default. */
static const SimdupShingling sample_shingling = {SIMDUP_SHINGLE_WORD, 8};
#define SAMPLE_WINDOW 8

typedef struct Campaigns
{
	SimdupRows *rows;
	int64 memory;				/* of a sort */
	const uint32 *distinct;		/* by row: the first with its text */
	uint32 *copies;				/* by distinct row */
	SimdupPairSort *candidates; /* row, and where its candidates are listed */
	SimdupPairSort *pairs;		/* of partners: see simdup_near_lists */
	SimdupTempFile *list;		/* rows by value */
} Campaigns;

static uint32 *
alloc_by_row(const Campaigns *c)
{
	return simdup_alloc0(((Size) c->rows->n + 1) * sizeof(uint32));
}

/* Sample each text once, and count its copies. */
static void
sample_texts(Campaigns *c, SimdupPairSort *values)
{
	SimdupRows *rows = c->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);

	simdup_progress_phase("sampling texts", rows->n);
	for (uint32 row = 0; row < rows->n; row++)
	{
		SimdupHashes sample = {0};
		SimdupUtf8 content;

		CHECK_FOR_INTERRUPTS();
		c->copies[c->distinct[row]]++;
		if (c->distinct[row] != row)
			continue;
		content = simdup_text_to_utf8(
			DatumGetTextPP(simdup_stored_texts_get(rows->contents, row)));
		if (!simdup_winnow(sample_shingling, SAMPLE_WINDOW, content.bytes,
						   content.len, &sample))
			simdup_too_many_shingles();
		for (Size i = 0; i < sample.n; i++)
			simdup_pairsort_put(values, sample.hashes[i], row);
		MemoryContextReset(rows->row_context);
		simdup_progress_done(row);
	}
	MemoryContextSwitchTo(old);
	simdup_pairsort_perform(values);
}

/* List the n rows that share a value, and sort the candidates of each. */
static void
end_value(Campaigns *c, const uint32 *sharers, uint32 n)
{
	uint64 start = (uint64) simdup_tempfile_size(c->list) / sizeof(uint32);

	if (n < 2)
		return;
	simdup_tempfile_append(c->list, sharers, n * sizeof(uint32));
	for (uint32 i = 1; i < n; i++)
	{
		uint32 n_first = simdup_first_candidates(n, i);

		simdup_pairsort_put(c->candidates, sharers[i], start << 8 | n_first);
		if (n_first < i)
			simdup_pairsort_put(c->candidates, sharers[i],
								(start + i - 1) << 8 | 1);
	}
}

/* Find the candidates of each row. */
static void
find_candidates(Campaigns *c)
{
	SimdupPairSort *values = simdup_pairsort_begin(c->memory);
	uint32 *sharers = alloc_by_row(c);
	uint32 n = 0;
	uint64 last = 0;
	uint64 value;
	uint64 row;

	sample_texts(c, values);
	c->list = simdup_tempfile_create();
	c->candidates = simdup_pairsort_begin(c->memory);
	while (simdup_pairsort_get(values, &value, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (value != last)
		{
			end_value(c, sharers, n);
			n = 0;
		}
		sharers[n++] = (uint32) row;
		last = value;
	}
	end_value(c, sharers, n);
	simdup_free(sharers);
	simdup_pairsort_end(values);
	simdup_pairsort_perform(c->candidates);
}

/* Compare two texts, and sort them as partners if they are. */
static void
compare(Campaigns *c, uint32 a, uint32 b)
{
	const SimdupHashes *x = simdup_stored_texts_set(c->rows->contents, a, 0);
	const SimdupHashes *y = simdup_stored_texts_set(c->rows->contents, b, 1);
	double containment =
		(double) simdup_hashes_common(x, y) / (double) Min(x->n, y->n);
	uint64 bits;

	if (containment < c->rows->options.min_containment)
		return;
	/* as a number, bits are in the order of what is not negative */
	memcpy(&bits, &containment, sizeof(bits));
	simdup_put_near(c->pairs, a, b, bits);
	simdup_put_near(c->pairs, b, a, bits);
}

/* Find the partners of each row among its candidates. */
static void
find_partners(Campaigns *c)
{
	/* by row: the last one that it was compared with; 0: none */
	uint32 *compared = alloc_by_row(c);
	uint32 others[SIMDUP_MANY_SHARERS];
	uint64 row;
	uint64 where;

	c->pairs = simdup_pairsort_begin(c->memory);
	simdup_progress_phase("comparing texts", c->rows->n);
	while (simdup_pairsort_get(c->candidates, &row, &where))
	{
		uint32 n = (uint32) (where & 255);

		simdup_tempfile_read(c->list, (int64) ((where >> 8) * sizeof(uint32)),
							 others, n * sizeof(uint32));
		for (uint32 i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (compared[others[i]] != row)
				compare(c, (uint32) row, others[i]);
			compared[others[i]] = (uint32) row;
		}
		simdup_progress_done((int64) row);
	}
	simdup_free(compared);
	simdup_pairsort_end(c->candidates);
	simdup_tempfile_close(c->list);
}

uint32 *
simdup_find_campaigns(const SimdupDistinct *distinct)
{
	SimdupRows *rows = distinct->fingerprints->rows;
	Campaigns c = {.rows = rows,
				   .memory = rows->budget / 8,
				   .distinct = distinct->rows.distinct};
	SimdupNearLists *partners;
	uint32 *center;

	c.copies = alloc_by_row(&c);
	find_candidates(&c);
	find_partners(&c);
	partners = simdup_near_lists(c.pairs, rows->n, (Size) c.memory);
	simdup_progress_phase("finding centers", 0);
	center = simdup_find_centers(
		&(SimdupPartners){rows->n, c.copies, simdup_near_list, partners});
	for (uint32 row = 0; row < rows->n; row++)
		center[row] = center[c.distinct[row]];
	simdup_near_lists_end(partners);
	return center;
}

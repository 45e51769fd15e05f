/*
 * distinct_fingerprints.c
 *	  The distinct fingerprints of rows, by scope, each with its rows.
 */
#include <string.h>

#include "core/cluster/distinct_fingerprints.h"
#include "core/host.h"
#include "core/search/index_entries.h"

/* Buckets, by leading bits, that are sorted one after the other in the cache. */
#define BUCKET_BITS 11

/*
 * List the rows as entries: scope and high half of the fingerprint, low half and
 * row. So they sort by all three.
 */
static SimdupEntry *
sort_rows(const uint64_t *fps, const uint32_t *scope, uint32_t n_scopes,
		  uint32_t n)
{
	SimdupEntry *entries = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));
	uint32_t ends[1 << BUCKET_BITS] = {0};
	int shift = 64 - BUCKET_BITS -
				__builtin_clzll((uint64_t) (n_scopes - 1) << 32 | UINT32_MAX);
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t of = n_scopes > 1 ? scope[i] : 0;

		ends[(of << 32 | fps[i] >> 32) >> shift]++;
	}
	for (int i = 0; i < 1 << BUCKET_BITS; i++)
	{
		uint32_t count = ends[i];

		ends[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t of = n_scopes > 1 ? scope[i] : 0;
		SimdupEntry entry = {of << 32 | fps[i] >> 32, fps[i] << 32 | i};

		entries[ends[entry.value >> shift]++] = entry;
		simdup_check_interrupts_at(i);
	}
	for (uint32_t i = 0, start = 0; i < 1 << BUCKET_BITS; start = ends[i++])
	{
		simdup_check_interrupts();
		simdup_sort_pairs(entries + start, ends[i] - start);
	}
	return entries;
}

SimdupDistinctFingerprints
simdup_distinct_fingerprints(uint64_t *fps, const uint32_t *scope,
							 uint32_t n_scopes, uint32_t n)
{
	SimdupDistinctFingerprints distinct = {.fps = fps};
	SimdupEntry *entries = sort_rows(fps, scope, n_scopes, n);
	uint32_t n_begun = 0; /* scopes */

	for (uint32_t i = 0; i < n; i++)
		distinct.n += i == 0 || entries[i].value != entries[i - 1].value ||
					  entries[i].row >> 32 != entries[i - 1].row >> 32;
	distinct.numbers = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	distinct.starts =
		simdup_alloc(((size_t) distinct.n + 1) * sizeof(uint32_t));
	distinct.scope_starts =
		simdup_alloc(((size_t) n_scopes + 1) * sizeof(uint32_t));
	distinct.elements = (SimdupElement *) entries;
	distinct.n = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t fp = entries[i].value << 32 | entries[i].row >> 32;
		uint64_t of = entries[i].value >> 32;

		distinct.numbers[i] = (uint32_t) entries[i].row;
		if (of < n_begun && fps[distinct.n - 1] == fp)
			continue;
		while (n_begun <= of)
			distinct.scope_starts[n_begun++] = distinct.n;
		distinct.starts[distinct.n] = i;
		fps[distinct.n] = fp;
		/* the entry there was read; a copy of bytes may change its type */
		memcpy(&distinct.elements[distinct.n], &(SimdupElement){fp, distinct.n},
			   sizeof(SimdupElement));
		distinct.n++;
	}
	distinct.starts[distinct.n] = n;
	while (n_begun <= n_scopes)
		distinct.scope_starts[n_begun++] = distinct.n;
	return distinct;
}

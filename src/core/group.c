/*
 * group.c
 *	  Rows grouped by scope and equal fingerprints.
 */
#include "core/entries.h"
#include "core/group.h"
#include "core/host.h"

/*
 * List the rows as entries: scope and high half of the fingerprint, low half and
 * row. So they sort by all three.
 */
static SimdupEntry *
sort_rows(const uint64_t *fps, const uint32_t *scope, uint32_t n_scopes,
		  uint32_t n)
{
	SimdupEntry *entries = simdup_alloc(((size_t) n + 1) * sizeof(SimdupEntry));

	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t of = n_scopes > 1 ? scope[i] : 0;

		entries[i] = (SimdupEntry){of << 32 | fps[i] >> 32, fps[i] << 32 | i};
	}
	simdup_sort_pairs(entries, n);
	return entries;
}

SimdupRowGroups
simdup_group_rows(uint64_t *fps, const uint32_t *scope, uint32_t n_scopes,
				  uint32_t n)
{
	SimdupRowGroups groups = {0, fps, NULL, NULL, NULL};
	SimdupEntry *entries = sort_rows(fps, scope, n_scopes, n);
	uint32_t n_begun = 0; /* scopes */

	for (uint32_t i = 0; i < n; i++)
		groups.n += i == 0 || entries[i].value != entries[i - 1].value ||
					entries[i].row >> 32 != entries[i - 1].row >> 32;
	groups.numbers = simdup_alloc(((size_t) n + 1) * sizeof(uint32_t));
	groups.starts = simdup_alloc(((size_t) groups.n + 1) * sizeof(uint32_t));
	groups.scope_starts =
		simdup_alloc(((size_t) n_scopes + 1) * sizeof(uint32_t));
	groups.n = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t fp = entries[i].value << 32 | entries[i].row >> 32;
		uint64_t of = entries[i].value >> 32;

		groups.numbers[i] = (uint32_t) entries[i].row;
		if (of < n_begun && fps[groups.n - 1] == fp)
			continue;
		while (n_begun <= of)
			groups.scope_starts[n_begun++] = groups.n;
		groups.starts[groups.n] = i;
		fps[groups.n++] = fp;
	}
	groups.starts[groups.n] = n;
	while (n_begun <= n_scopes)
		groups.scope_starts[n_begun++] = groups.n;
	simdup_free(entries);
	return groups;
}

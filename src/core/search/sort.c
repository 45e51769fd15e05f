/*
 * sort.c
 *	  The sort of entries.
 *
 * Entries are parted by the leading bits in which their values differ, or their
 * rows where all values are equal, and each part is sorted alone. Only a few
 * entries are compared. Each parting takes bits off, so no order and no distribution
 * makes the sort slow.
 */
#include "core/search/sort.h"

#include <string.h>

#include "core/host.h"

/* More entries are parted in place, fewer by way of spare room. */
#define MAX_SPARE 8192

/* Fewer entries are sorted by insertion. */
#define FEW_ENTRIES 24

/* Parts of entries that have spare room: some two entries each. */
#define SPARE_BITS 11

/* Parts of more entries, which the processor's cache holds if it can. */
#define MIN_BITS 8
#define MAX_BITS 10
#define PART_TARGET (MAX_SPARE / 2)

typedef struct Parting
{
	size_t number; /* where an entry has it: the value or the row */
	int shift;
	uint64_t mask; /* of a part's number */
} Parting;

static inline size_t
part_of(const SimdupSortItem *entry, Parting parting)
{
	uint64_t number;

	/* without a branch, which would cost a tenth of the sort */
	memcpy(&number, (const char *) entry + parting.number, sizeof(number));
	return (size_t) (number >> parting.shift & parting.mask);
}

/* Choose 2^bits parts at most. Return false if all entries are equal. */
static bool
choose_parts(const SimdupSortItem *entries, size_t n, int bits,
			 Parting *parting)
{
	uint64_t differing = 0;

	*parting = (Parting){.number = offsetof(SimdupSortItem, value),
						 .mask = (UINT64_C(1) << bits) - 1};
	for (size_t i = 1; i < n; i++)
		differing |= entries[i].value ^ entries[0].value;
	if (differing == 0)
	{
		parting->number = offsetof(SimdupSortItem, row);
		for (size_t i = 1; i < n; i++)
			differing |= entries[i].row ^ entries[0].row;
	}
	while (differing >> parting->shift >> bits != 0)
		parting->shift++;
	return differing != 0;
}

static void
insertion_sort(SimdupSortItem *entries, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		SimdupSortItem entry = entries[i];
		size_t j = i;

		for (; j > 0 && simdup_item_less(&entry, &entries[j - 1]); j--)
			entries[j] = entries[j - 1];
		entries[j] = entry;
	}
}

/* Sort entries by way of spare room for all. */
static void
sort_few(SimdupSortItem *entries, size_t n, SimdupSortItem *spare)
{
	uint16_t ends[(1 << SPARE_BITS) + 1];
	Parting parting;
	int bits = 1;
	size_t n_parts;

	if (n <= FEW_ENTRIES)
	{
		insertion_sort(entries, n);
		return;
	}
	while (bits < SPARE_BITS && n >> bits > 1)
		bits++;
	n_parts = (size_t) 1 << bits;
	if (!choose_parts(entries, n, bits, &parting))
		return;
	memset(ends, 0, n_parts * sizeof(ends[0]));
	for (size_t i = 0; i < n; i++)
		ends[part_of(&entries[i], parting)]++;
	for (size_t part = 1; part < n_parts; part++)
		ends[part] += ends[part - 1];
	for (size_t i = n; i-- > 0;)
		spare[--ends[part_of(&entries[i], parting)]] = entries[i];
	memcpy(entries, spare, n * sizeof(SimdupSortItem));
	/* `ends` now has where each part begins */
	ends[n_parts] = (uint16_t) n;
	for (size_t part = 0; part < n_parts; part++)
	{
		size_t size = (size_t) (ends[part + 1] - ends[part]);

		if (size > FEW_ENTRIES)
			sort_few(entries + ends[part], size, spare);
		else if (size > 1)
			insertion_sort(entries + ends[part], size);
	}
}

/*
 * Bring each entry into its part. An entry that is out of position is exchanged
 * for the first one of its part that may be, part by part, until none is left.
 */
static void
part_in_place(SimdupSortItem *entries, Parting parting, size_t n_parts,
			  size_t *next, const size_t *ends)
{
	for (size_t first = 0; first < n_parts;)
	{
		for (size_t part = first; part < n_parts; part++)
		{
			simdup_check_interrupts();
			for (size_t i = next[part]; i < ends[part]; i++)
			{
				size_t to = next[part_of(&entries[i], parting)]++;
				SimdupSortItem entry = entries[to];

				entries[to] = entries[i];
				entries[i] = entry;
			}
		}
		while (first < n_parts && next[first] == ends[first])
			first++;
	}
}

/* Sort entries. There is spare room for all, or for MAX_SPARE if they are more. */
static void
sort_entries(SimdupSortItem *entries, size_t n, SimdupSortItem *spare)
{
	size_t next[1 << MAX_BITS];
	size_t ends[1 << MAX_BITS];
	size_t start = 0;
	size_t n_parts;
	Parting parting;
	int bits = MIN_BITS;

	if (n <= MAX_SPARE)
	{
		sort_few(entries, n, spare);
		return;
	}
	while (bits < MAX_BITS && n >> bits > PART_TARGET)
		bits++;
	n_parts = (size_t) 1 << bits;
	if (!choose_parts(entries, n, bits, &parting))
		return;
	simdup_check_interrupts();
	memset(next, 0, n_parts * sizeof(next[0]));
	for (size_t i = 0; i < n; i++)
		next[part_of(&entries[i], parting)]++;
	for (size_t part = 0; part < n_parts; part++)
	{
		ends[part] = start + next[part];
		next[part] = start;
		start = ends[part];
	}
	part_in_place(entries, parting, n_parts, next, ends);
	start = 0;
	for (size_t part = 0; part < n_parts; start = ends[part++])
		sort_entries(entries + start, ends[part] - start, spare);
}

void
simdup_sort_pairs(SimdupSortItem *entries, size_t n)
{
	SimdupSortItem *spare = NULL;

	if (n > FEW_ENTRIES)
		spare = simdup_alloc((n < MAX_SPARE ? n : MAX_SPARE) *
							 sizeof(SimdupSortItem));
	sort_entries(entries, n, spare);
	simdup_free(spare);
}

/*
 * order.c
 *	  Entries in the order of a rotation, leaf by leaf.
 *
 * Entries that fit in memory are put in buckets that fit in the processor's
 * cache, and each bucket is sorted. More entries are split into files, at borders
 * taken from a sample of them. No two entries are equal, because TIDs differ. So
 * borders split any entries into parts of about the same size.
 */
#include "postgres.h"
#include "compat.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/hamming/building.h"

/* Entries of a bucket that the cache holds: 64 kB. */
#define BUCKET_TARGET 4096
#define MAX_BUCKET_BITS 12

/* Files that entries are split into; each has a buffer of 8 kB. */
#define MAX_PARTS 128

/* Entries of a sample, for each part. */
#define SAMPLE_OF_PART 32

/* Few parts are larger than the mean by this factor. */
#define PART_MARGIN 1.5

/* Parts of parts; each is at most half as large, unless entries are equal. */
#define MAX_DEPTH 48

/* The rotation that changes nothing. */
#define AS_IT_IS (SIMDUP_ROTATIONS - 1)

typedef struct Ordering
{
	int per_leaf;
	LeafReceiver receiver;
	void *arg;
	/* entries that do not fill a leaf yet, at the front, and room for more */
	SimdupEntry *entries;
	size_t n;
	size_t size;
} Ordering;

/* Entries, and the values that they can have once they are rotated. */
typedef struct Range
{
	EntrySource source;
	int rotation;
	uint64 low;
	uint64 high;
} Range;

/* Hand over whole leaves; keep what is left at the front, or with `all` nothing. */
static void
hand_over(Ordering *ordering, bool all)
{
	size_t per_leaf = (size_t) ordering->per_leaf;
	size_t n = ordering->n;
	size_t at = 0;

	for (; at < n && (all || n - at >= per_leaf); at += per_leaf)
	{
		CHECK_FOR_INTERRUPTS();
		ordering->receiver(ordering->arg, ordering->entries + at,
						   (int) Min(per_leaf, n - at));
	}
	ordering->n = at < n ? n - at : 0;
	if (at > 0 && ordering->n > 0)
		memmove(ordering->entries, ordering->entries + at,
				ordering->n * sizeof(SimdupEntry));
}

/* In memory */

typedef struct Placing
{
	SimdupBuckets buckets;
	size_t *places;
	SimdupEntry *target;
} Placing;

static void
count_list(void *arg, const SimdupEntry *entries, size_t n)
{
	Placing *placing = arg;

	simdup_count_entries(entries, n, &placing->buckets, placing->places);
}

static void
place_list(void *arg, const SimdupEntry *entries, size_t n)
{
	Placing *placing = arg;

	simdup_place_entries(entries, n, &placing->buckets, placing->places,
						 placing->target);
}

/* Return buckets for a range: all of its values go to the first 2^bits. */
static SimdupBuckets
buckets_of(const Range *range, int bits)
{
	SimdupBuckets buckets = {.rotation = range->rotation, .low = range->low};

	while ((range->high - range->low) >> buckets.shift >> bits != 0)
		buckets.shift++;
	return buckets;
}

/* Order entries that fit behind those that are kept, all of them below. */
static void
order_in_memory(Ordering *ordering, Range *range)
{
	size_t *places = palloc0(sizeof(size_t) << MAX_BUCKET_BITS);
	SimdupEntry *spare = palloc(sizeof(SimdupEntry) * SIMDUP_SORT_SPARE);
	size_t start = ordering->n;
	int bits = 1;
	Placing placing;

	while (bits < MAX_BUCKET_BITS && range->source.n >> bits > BUCKET_TARGET)
		bits++;
	placing = (Placing){buckets_of(range, bits), places, ordering->entries};
	simdup_entry_source_read(&range->source, count_list, &placing);
	for (size_t b = 0; b < (size_t) 1 << bits; b++)
	{
		size_t count = places[b];

		places[b] = ordering->n;
		ordering->n += count;
	}
	simdup_entry_source_read(&range->source, place_list, &placing);
	/* the place of a bucket's next entry is now the bucket's end */
	for (size_t b = 0; b < (size_t) 1 << bits; start = places[b++])
	{
		CHECK_FOR_INTERRUPTS();
		simdup_sort_entries(ordering->entries + start, places[b] - start,
							spare);
	}
	hand_over(ordering, false);
	pfree(spare);
	pfree(places);
}

/* In files */

typedef struct Splitting
{
	int rotation;
	int n_parts;
	SimdupEntry borders[MAX_PARTS]; /* part i ends before border i */
	EntryFile parts[MAX_PARTS];
	/* entries on their way to a file */
	int n_kept[MAX_PARTS];
	SimdupEntry kept[MAX_PARTS][32];
} Splitting;

static int
compare_entries(const void *a, const void *b)
{
	const SimdupEntry *left = a;
	const SimdupEntry *right = b;

	return simdup_entry_less(left, right)	? -1
		   : simdup_entry_less(right, left) ? 1
											: 0;
}

/* Choose borders between parts of about one size. The last part has no end. */
static void
choose_borders(Splitting *splitting, Range *range)
{
	int n = splitting->n_parts * SAMPLE_OF_PART;
	SimdupEntry *sample = palloc(n * sizeof(SimdupEntry));
	pg_prng_state random;

	/* the same files for the same rows */
	pg_prng_seed(&random, (uint64) range->source.n);
	for (int i = 0; i < n; i++)
	{
		int64 at =
			(int64) pg_prng_uint64_range(&random, 0, range->source.n - 1);

		CHECK_FOR_INTERRUPTS();
		sample[i] = simdup_entry_source_get(&range->source, at);
		sample[i].value = simdup_rotate(sample[i].value, range->rotation);
	}
	qsort(sample, n, sizeof(SimdupEntry), compare_entries);
	for (int part = 1; part < splitting->n_parts; part++)
		splitting->borders[part - 1] = sample[part * SAMPLE_OF_PART];
	pfree(sample);
}

static int
part_of(const Splitting *splitting, const SimdupEntry *entry)
{
	int low = 0;
	int high = splitting->n_parts - 1;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (simdup_entry_less(entry, &splitting->borders[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
flush_part(Splitting *splitting, int part)
{
	if (splitting->n_kept[part] > 0)
		simdup_entry_file_append(&splitting->parts[part], splitting->kept[part],
								 splitting->n_kept[part]);
	splitting->n_kept[part] = 0;
}

static void
split_list(void *arg, const SimdupEntry *entries, size_t n)
{
	Splitting *splitting = arg;

	for (size_t i = 0; i < n; i++)
	{
		SimdupEntry entry = {simdup_rotate(entries[i].value,
										   splitting->rotation),
							 entries[i].row};
		int part = part_of(splitting, &entry);

		splitting->kept[part][splitting->n_kept[part]++] = entry;
		if (splitting->n_kept[part] == lengthof(splitting->kept[part]))
			flush_part(splitting, part);
	}
}

static void order_range(Ordering *ordering, Range *range, int depth);

/* Put the parts in order, one after the other; closes their files. */
static void
order_parts(Ordering *ordering, Splitting *splitting, const Range *range,
			int depth)
{
	uint64 low = range->low;

	for (int part = 0; part < splitting->n_parts; part++)
	{
		bool is_last = part == splitting->n_parts - 1;
		EntryFile *file = &splitting->parts[part];
		Range below = {.source = {.n = file->n, .n_files = 1, .files = file},
					   .rotation = AS_IT_IS,
					   .low = low,
					   .high = is_last ? range->high
									   : splitting->borders[part].value};

		if (file->n > 0)
			order_range(ordering, &below, depth + 1);
		low = below.high;
		simdup_entry_file_close(file);
	}
}

static void
order_range(Ordering *ordering, Range *range, int depth)
{
	Splitting *splitting;
	double room = (double) (ordering->size - ordering->n);

	if ((double) range->source.n <= room)
	{
		order_in_memory(ordering, range);
		return;
	}
	if (depth == MAX_DEPTH)
		elog(ERROR, "too many equal index entries");
	splitting = palloc0(sizeof(Splitting));
	splitting->rotation = range->rotation;
	splitting->n_parts =
		(int) Min(range->source.n * PART_MARGIN / room + 2, MAX_PARTS);
	choose_borders(splitting, range);
	simdup_entry_source_read(&range->source, split_list, splitting);
	for (int part = 0; part < splitting->n_parts; part++)
		flush_part(splitting, part);
	/* the parts have all of it; the rows' own files serve every rotation */
	if (depth > 0)
		simdup_entry_file_close(&range->source.files[0]);
	order_parts(ordering, splitting, range, depth);
	pfree(splitting);
}

void
simdup_order_entries(EntrySource *source, int rotation, int per_leaf,
					 size_t memory, LeafReceiver receiver, void *arg)
{
	Ordering ordering = {.per_leaf = per_leaf,
						 .receiver = receiver,
						 .arg = arg};
	Range range = {.source = *source,
				   .rotation = rotation,
				   .low = 0,
				   .high = PG_UINT64_MAX};

	ordering.size = Max(memory, (size_t) 8 * per_leaf);
	ordering.size = Min(ordering.size, (size_t) source->n + 1);
	ordering.entries =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   ordering.size * sizeof(SimdupEntry));
	order_range(&ordering, &range, 0);
	hand_over(&ordering, true);
	pfree(ordering.entries);
}

/*
 * order.c
 *	  A store's entries in the order of a rotation, leaf by leaf.
 *
 * Entries need no order within a leaf: it is enough to part them into groups as
 * large as a leaf. Entries that fit in memory are scattered by their leading
 * bits into buckets that fit in the processor's cache, and then parted. Entries
 * that do not fit are split into files by some leading bits. A file that still
 * does not fit is split by the next bits, down to the last bit of the TID.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/hamming/building.h"

/* Entries of a bucket that the cache holds: 64 kB. */
#define BUCKET_TARGET 4096
#define MAX_BUCKET_BITS 12

/* Files that a file is split into. */
#define SPLIT_BITS 6
#define SPLIT_FILES (1 << SPLIT_BITS)

#define VALUE_BITS 64
#define ROW_BITS 48

typedef struct Ordering
{
	int rotation;
	int per_leaf;
	LeafReceiver receiver;
	void *arg;
	/* entries that do not fill a leaf yet, at the front, and room for more */
	SimdupEntry *entries;
	size_t n;
	size_t size;
} Ordering;

/* Hand over whole leaves; keep what is left, or with `all` nothing. */
static void
hand_over(Ordering *ordering, SimdupEntry *entries, size_t n, bool all)
{
	size_t per_leaf = (size_t) ordering->per_leaf;
	size_t at = 0;

	for (; at < n && (all || n - at >= per_leaf); at += per_leaf)
	{
		CHECK_FOR_INTERRUPTS();
		ordering->receiver(ordering->arg, entries + at,
						   (int) Min(per_leaf, n - at));
	}
	ordering->n = at < n ? n - at : 0;
	if (at > 0 && ordering->n > 0)
		memmove(ordering->entries, entries + at,
				ordering->n * sizeof(SimdupEntry));
}

static void
order_in_memory(Ordering *ordering, EntryStore *store)
{
	size_t *ends = palloc(sizeof(size_t) << MAX_BUCKET_BITS);
	SimdupEntry *sorted =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   Max(store->n, 1) * sizeof(SimdupEntry));
	size_t start = 0;
	int bits = 1;

	while (bits < MAX_BUCKET_BITS && store->n >> bits > BUCKET_TARGET)
		bits++;
	simdup_scatter_entries(store->entries, store->n, ordering->rotation, bits,
						   ends, sorted);
	for (size_t b = 0; b < (size_t) 1 << bits; start = ends[b++])
	{
		CHECK_FOR_INTERRUPTS();
		simdup_part_entries(sorted + start, ends[b] - start, start,
							ordering->per_leaf);
	}
	hand_over(ordering, sorted, store->n, true);
	pfree(sorted);
	pfree(ends);
}

/* SPLIT_BITS bits of an entry, from bit `depth` of value and row on. */
static int
part_of(const SimdupEntry *entry, int depth)
{
	uint64 high = entry->value;
	uint64 low = entry->row << (VALUE_BITS - ROW_BITS);

	if (depth >= VALUE_BITS)
		return (int) (low << (depth - VALUE_BITS) >> (64 - SPLIT_BITS));
	if (depth > 0)
		high = high << depth | low >> (VALUE_BITS - depth);
	return (int) (high >> (64 - SPLIT_BITS));
}

/* Read a file to its end and split it; `turn` the values on the way. */
static void
split_file(Ordering *ordering, EntryFile *file, int depth, bool turn,
		   EntryFile *parts)
{
	SimdupEntry chunk[512];
	SimdupEntry kept[SPLIT_FILES][32];
	int n_kept[SPLIT_FILES] = {0};
	size_t n;

	simdup_entry_file_rewind(file);
	while ((n = simdup_entry_file_read(file, chunk, lengthof(chunk))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
		{
			int part;

			if (turn)
				chunk[i].value =
					simdup_rotate(chunk[i].value, ordering->rotation);
			part = part_of(&chunk[i], depth);
			kept[part][n_kept[part]++] = chunk[i];
			if (n_kept[part] == lengthof(kept[part]))
			{
				simdup_entry_file_append(&parts[part], kept[part],
										 n_kept[part]);
				n_kept[part] = 0;
			}
		}
	}
	for (int part = 0; part < SPLIT_FILES; part++)
		if (n_kept[part] > 0)
			simdup_entry_file_append(&parts[part], kept[part], n_kept[part]);
}

/* A file of turned entries, all of which fit behind those that are kept. */
static void
order_small_file(Ordering *ordering, EntryFile *file)
{
	size_t n;

	simdup_entry_file_rewind(file);
	while ((n = simdup_entry_file_read(file, ordering->entries + ordering->n,
									   ordering->size - ordering->n)) > 0)
		ordering->n += n;
	simdup_part_entries(ordering->entries, ordering->n, 0, ordering->per_leaf);
	hand_over(ordering, ordering->entries, ordering->n, false);
}

/* A file whose entries agree in the first `depth` bits. */
static void
order_file(Ordering *ordering, EntryFile *file, int depth, bool turn)
{
	EntryFile parts[SPLIT_FILES] = {{0}};

	split_file(ordering, file, depth, turn, parts);
	/* the parts have all of it; the store's own file serves every rotation */
	if (depth > 0)
		simdup_entry_file_close(file);
	for (int part = 0; part < SPLIT_FILES; part++)
	{
		bool fits = (size_t) parts[part].n <= ordering->size - ordering->n;

		if (!fits && depth + SPLIT_BITS < VALUE_BITS + ROW_BITS)
			order_file(ordering, &parts[part], depth + SPLIT_BITS, false);
		else if (!fits)
			elog(ERROR, "too many equal index entries");
		else if (parts[part].n > 0)
			order_small_file(ordering, &parts[part]);
		simdup_entry_file_close(&parts[part]);
	}
}

void
simdup_order_entries(EntryStore *store, int rotation, int per_leaf,
					 size_t memory, LeafReceiver receiver, void *arg)
{
	Ordering ordering = {.rotation = rotation,
						 .per_leaf = per_leaf,
						 .receiver = receiver,
						 .arg = arg};

	if (store->file.file == NULL)
	{
		order_in_memory(&ordering, store);
		return;
	}
	ordering.size = Max(memory, (size_t) 4 * per_leaf);
	ordering.entries =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   ordering.size * sizeof(SimdupEntry));
	order_file(&ordering, &store->file, 0, true);
	hand_over(&ordering, ordering.entries, ordering.n, true);
	pfree(ordering.entries);
}

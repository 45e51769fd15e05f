/*
 * store.c
 *	  Entries of rows while an index is built: in memory, then in a file.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/memutils.h"

#include "index/hamming/building.h"

#define FIRST_SIZE 1024

void
simdup_entry_file_append(EntryFile *file, const SimdupEntry *entries, size_t n)
{
	if (file->file == NULL)
		file->file = BufFileCreateTemp(false);
	/* the cast is for servers before 16 */
	BufFileWrite(file->file, (void *) entries, n * sizeof(SimdupEntry));
	file->n += (int64) n;
}

void
simdup_entry_file_rewind(EntryFile *file)
{
	if (file->file != NULL && BufFileSeek(file->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not rewind temporary file: %m"));
}

size_t
simdup_entry_file_read(EntryFile *file, SimdupEntry *entries, size_t n)
{
	size_t length;

	if (file->file == NULL)
		return 0;
	length = BufFileRead(file->file, entries, n * sizeof(SimdupEntry));
	if (length % sizeof(SimdupEntry) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not read from temporary file: %m"));
	return length / sizeof(SimdupEntry);
}

void
simdup_entry_file_close(EntryFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
	file->n = 0;
}

void
simdup_entry_store_init(EntryStore *store, size_t limit)
{
	memset(store, 0, sizeof(*store));
	store->limit = Max(limit, FIRST_SIZE);
}

/* Make room for one more: grow, or empty the memory into the file. */
static void
make_room(EntryStore *store)
{
	if (store->size < store->limit)
	{
		store->size = Min(Max(2 * store->size, FIRST_SIZE), store->limit);
		if (store->entries == NULL)
			store->entries =
				MemoryContextAllocHuge(CurrentMemoryContext,
									   store->size * sizeof(SimdupEntry));
		else
			store->entries = repalloc_huge(store->entries,
										   store->size * sizeof(SimdupEntry));
		return;
	}
	simdup_entry_file_append(&store->file, store->entries, store->n);
	store->n = 0;
}

void
simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row)
{
	if (store->n == store->size)
		make_room(store);
	store->entries[store->n].value = value;
	store->entries[store->n].row = row;
	store->n++;
}

void
simdup_entry_store_finish(EntryStore *store)
{
	if (store->file.file == NULL)
		return;
	simdup_entry_file_append(&store->file, store->entries, store->n);
	pfree(store->entries);
	store->entries = NULL;
	store->n = store->size = 0;
}

void
simdup_entry_store_end(EntryStore *store)
{
	simdup_entry_file_close(&store->file);
	if (store->entries != NULL)
		pfree(store->entries);
	store->entries = NULL;
}

/*
 * collect.c
 *	  What each participant of a build does: collect the entries of rows, in
 *	  memory and then in files.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index/hamming/am.h"
#include "index/hamming/building.h"

/* Entries */

#define FIRST_SIZE 1024

/* Entries of a source that are passed on at once. */
#define LIST_SIZE 2048

void
simdup_entry_file_append(EntryFile *file, const SimdupEntry *entries, size_t n)
{
	if (file->file == NULL)
		file->file = BufFileCreateTemp(false);
	/* the cast is for servers before 16 */
	BufFileWrite(file->file, (void *) entries, n * sizeof(SimdupEntry));
	file->n += (int64) n;
}

static void
entry_file_rewind(EntryFile *file)
{
	if (file->file != NULL && BufFileSeek(file->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not rewind temporary file: %m"));
}

/* Read the next entries, at most n, and return their number. */
static size_t
entry_file_read(EntryFile *file, SimdupEntry *entries, size_t n)
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

/* Return entry i. The next one to be read is the one after it. */
static SimdupEntry
entry_file_get(EntryFile *file, int64 i)
{
	SimdupEntry entry;
	size_t n = 0;

	if (BufFileSeek(file->file, 0, (off_t) i * (off_t) sizeof(SimdupEntry),
					SEEK_SET) == 0)
		n = entry_file_read(file, &entry, 1);
	if (n != 1)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not read from temporary file: %m"));
	return entry;
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
simdup_entry_store_init(EntryStore *store, size_t *budget)
{
	memset(store, 0, sizeof(*store));
	store->budget = budget;
	store->size = FIRST_SIZE;
	store->entries = palloc(FIRST_SIZE * sizeof(SimdupEntry));
	*budget -= Min(*budget, FIRST_SIZE);
}

void
simdup_entry_store_share(EntryStore *store, FileSet *files, const char *name)
{
	store->file.file = BufFileCreateFileSet(files, name);
	store->is_shared = true;
}

/* Make room for one more: grow, or empty the memory into the file. */
static void
make_room(EntryStore *store)
{
	size_t more = Min(store->size, *store->budget);

	if (more > 0 && store->file.file == NULL)
	{
		store->size += more;
		*store->budget -= more;
		store->entries =
			repalloc_huge(store->entries, store->size * sizeof(SimdupEntry));
		return;
	}
	simdup_entry_file_append(&store->file, store->entries, store->n);
	store->n = 0;
}

static void
entry_store_add(EntryStore *store, uint64 value, uint64 row)
{
	if (store->n == store->size)
		make_room(store);
	store->entries[store->n].value = value;
	store->entries[store->n].row = row;
	store->n++;
}

int64
simdup_entry_store_finish(EntryStore *store)
{
	int64 n;

	if (store->file.file == NULL)
		return (int64) store->n;
	simdup_entry_file_append(&store->file, store->entries, store->n);
	n = store->file.n;
	if (store->is_shared)
	{
		BufFileExportFileSet(store->file.file);
		simdup_entry_file_close(&store->file);
	}
	pfree(store->entries);
	store->entries = NULL;
	*store->budget += store->size;
	store->n = store->size = 0;
	return n;
}

void
simdup_entry_store_end(EntryStore *store)
{
	simdup_entry_file_close(&store->file);
	if (store->entries != NULL)
		pfree(store->entries);
	store->entries = NULL;
}

EntrySource
simdup_entry_source(EntryStore *store)
{
	EntrySource source = {.n = (int64) store->n, .entries = store->entries};

	if (store->file.file != NULL)
	{
		source.n = store->file.n;
		source.n_files = 1;
		source.files = &store->file;
	}
	return source;
}

void
simdup_entry_source_read(EntrySource *source, EntryReceiver receiver, void *arg)
{
	SimdupEntry list[LIST_SIZE];
	size_t n;

	if (source->entries != NULL)
		for (int64 i = 0; i < source->n; i += LIST_SIZE)
		{
			CHECK_FOR_INTERRUPTS();
			receiver(arg, source->entries + i,
					 (size_t) Min(LIST_SIZE, source->n - i));
		}
	for (int i = 0; i < source->n_files; i++)
	{
		entry_file_rewind(&source->files[i]);
		while ((n = entry_file_read(&source->files[i], list, LIST_SIZE)) > 0)
		{
			CHECK_FOR_INTERRUPTS();
			receiver(arg, list, n);
		}
	}
}

SimdupEntry
simdup_entry_source_get(EntrySource *source, int64 i)
{
	int file = 0;

	if (source->entries != NULL)
		return source->entries[i];
	while (i >= source->files[file].n)
		i -= source->files[file++].n;
	return entry_file_get(&source->files[file], i);
}

/* Participants */

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	CollectedRows *collected = arg;
	uint64 row = hamming_row_of_tid(tid);
	uint64 fp;

	if (simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
		entry_store_add(&collected->rows, fp, row);
	else
		entry_store_add(&collected->nulls, 0, row);
}

void
simdup_collect_rows(Relation heap, Relation index, IndexInfo *info,
					TableScanDesc scan, bool progress, CollectedRows *collected)
{
	collected->heap_tuples =
		table_index_build_scan(heap, index, info, true, progress, add_row,
							   collected, scan);
}

/* Return the percentage to which leaves of the index are filled. */
static int
get_fillfactor(Relation index)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;

	return options == NULL ? HAMMING_DEFAULT_FILLFACTOR : options->fillfactor;
}

int
simdup_entries_per_leaf(Relation index)
{
	int n = HAMMING_LEAF_CAPACITY * get_fillfactor(index) / 100;

	return Max(n, 2);
}

size_t
simdup_build_memory(int n_participants)
{
	return (size_t) maintenance_work_mem * 1024 / sizeof(SimdupEntry) /
		   (size_t) n_participants;
}

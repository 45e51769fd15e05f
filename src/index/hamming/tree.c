/*
 * tree.c
 *	  The entries of rows, and the trees of a hamming index that are made of them.
 *
 * Entries are kept as they came. For each rotation they are sorted, and its tree
 * is written level by level, from the leaves up. The pages of a level are
 * neighbours in the file, so a page's right sibling is the next block. A page
 * waits in memory until the low key of the next is known, which is its own high
 * key.
 */
#include "postgres.h"
#include "compat.h"

#include <fcntl.h>

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "pgstat.h"

#include "index/hamming/page.h"

/* Entries as they came */

#define FIRST_SIZE 1024

/* Entries that are read from a file at once. */
#define LIST_SIZE 2048

/* Entries beyond the memory are sorted in this number of runs, unless these are small. */
#define N_RUNS 64
#define MIN_RUN_KB 4096

void
simdup_entry_store_init(EntryStore *store, size_t *budget, FileSet *set,
						const char *name, int participant)
{
	memset(store, 0, sizeof(*store));
	store->rotation = SIMDUP_ROTATIONS - 1; /* the one that changes nothing */
	store->budget = budget;
	store->size = FIRST_SIZE;
	store->entries = palloc(FIRST_SIZE * sizeof(SimdupSortItem));
	*budget -= Min(*budget, FIRST_SIZE);
	store->set = set;
	store->name = name;
	store->files = palloc(sizeof(BufFile *));
	if (set != NULL)
		store->files[store->n_files++] =
			BufFileCreateFileSet(set, psprintf("%s.%d", name, participant));
}

static void
write_entries(EntryStore *store)
{
	/* the cast is for servers before 16 */
	BufFileWrite(store->files[0], (void *) store->entries,
				 store->n * sizeof(SimdupSortItem));
	store->n_written += (int64) store->n;
	store->n = 0;
}

/* Make room for one more: grow, or go on to the file. */
static void
make_room(EntryStore *store)
{
	size_t more = Min(store->size, *store->budget);

	if (more > 0 && store->n_files == 0)
	{
		store->size += more;
		*store->budget -= more;
		store->entries =
			repalloc_huge(store->entries, store->size * sizeof(SimdupSortItem));
		return;
	}
	if (store->n_files == 0)
		store->files[store->n_files++] = BufFileCreateTemp(false);
	write_entries(store);
}

void
simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row)
{
	if (store->n == store->size)
		make_room(store);
	store->entries[store->n++] = (SimdupSortItem){value, row};
}

int64
simdup_entry_store_finish(EntryStore *store)
{
	if (store->n_files == 0)
		return (int64) store->n;
	write_entries(store);
	if (store->set != NULL)
	{
		BufFileExportFileSet(store->files[0]);
		BufFileClose(store->files[0]);
		store->n_files = 0;
	}
	pfree(store->entries);
	store->entries = NULL;
	*store->budget += store->size;
	return store->n_written;
}

void
simdup_entry_store_open(EntryStore *store, int n_participants)
{
	store->files = repalloc(store->files, sizeof(BufFile *) * n_participants);
	for (; store->n_files < n_participants; store->n_files++)
		store->files[store->n_files] =
			BufFileOpenFileSet(store->set,
							   psprintf("%s.%d", store->name, store->n_files),
							   O_RDONLY, false);
}

void
simdup_entry_store_end(EntryStore *store)
{
	for (int i = 0; i < store->n_files; i++)
		BufFileClose(store->files[i]);
	pfree(store->files);
	if (store->entries != NULL)
		pfree(store->entries);
}

/*
 * Writes the pages of a new relation, in the order of their blocks.
 *
 * From 17 on the server has a way to write pages past the buffers; on older servers,
 * this file does the same. All pages must be on disk before the transaction commits,
 * the logged ones too: the next checkpoint may move the start of recovery past their
 * log records. The file gets its full length first, as several processes write.
 */

/* Blocks reserved at once: a cancel request waits no longer than for these. */
#define RESERVED_AT_ONCE 131072

#ifdef SIMDUP_HAVE_BULK_WRITE
#include "storage/bulk_write.h"
#else
typedef RelationData BulkWriteState;
#define smgr_bulk_start_rel(index, fork) (index)
#define smgr_bulk_finish(index) ((void) (index))
#endif

/* Write a page. Several writers may be at work, each in its own range. */
static void
put_page(BulkWriteState *writer, BlockNumber block, Page page)
{
#ifdef SIMDUP_HAVE_BULK_WRITE
	BulkWriteBuffer buffer = smgr_bulk_get_buf(writer);

	memcpy(buffer, page, BLCKSZ);
	smgr_bulk_write(writer, block, buffer, true);
#else
	/* aligned as 16 wants the pages that it writes directly */
	char memory[BLCKSZ + 4096];
	Page copy = (Page) TYPEALIGN(4096, memory);

	memcpy(copy, page, BLCKSZ);
	if (RelationNeedsWAL(writer))
		log_newpage(&writer->rd_locator, MAIN_FORKNUM, block, copy, true);
	PageSetChecksumInplace(copy, block);
	smgrwrite(RelationGetSmgr(writer), MAIN_FORKNUM, block, copy, true);
#endif
}

/* Trees */

typedef struct TreeWriter
{
	BulkWriteState *pages;
	pg_atomic_uint64 *n_written;
	int tree;
	int level;
	PGAlignedBlock page; /* the page that waits for its high key */
	BlockNumber next;	 /* its block */
	/* the low keys of the level's pages, up to that one */
	SimdupSortItem *low;
	int64 n;
	Size size;
} TreeWriter;

#define CHILDREN_PER_PAGE \
	(HAMMING_INNER_CAPACITY * HAMMING_INNER_FILLFACTOR / 100)

/*
 * The leaves are full but for the last one, and so are the pages of each level
 * above. So the number of entries decides on the number of pages.
 */
void
simdup_lay_out_trees(TreeLayout *layout, int per_leaf, int64 n_rows,
					 int64 n_nulls)
{
	layout->per_leaf = per_leaf;
	layout->n_blocks = HAMMING_META_BLOCK + 1;
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		int64 n = tree == HAMMING_NULL_TREE ? n_nulls : n_rows;
		int64 pages = Max(n - 1, 0) / per_leaf + 1;
		int64 in_tree = pages;
		int level = 0;

		for (; pages > 1; level++)
		{
			pages = (pages - 1) / CHILDREN_PER_PAGE + 1;
			in_tree += pages;
		}
		if (in_tree > (int64) MaxBlockNumber - layout->n_blocks)
			ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("a hamming index cannot have more than %u blocks",
						   MaxBlockNumber));
		layout->n_entries[tree] = n;
		layout->first[tree] = layout->n_blocks;
		layout->n_blocks += (BlockNumber) in_tree;
		layout->root[tree] = layout->n_blocks - 1;
		layout->level[tree] = level;
	}
}

/* Write the page that waits; `high` is NULL after the last of a level. */
static void
write_page(TreeWriter *writer, const SimdupSortItem *high)
{
	Page page = writer->page.data;

	if (high != NULL)
		simdup_hamming_set_right(page, writer->next + 1, high);
	put_page(writer->pages, writer->next++, page);
}

/* Begin a page of the level, after writing the page before. */
static Page
begin_page(TreeWriter *writer, const SimdupSortItem *low)
{
	if (writer->n > 0)
		write_page(writer, low);
	writer->low = simdup_grow(writer->low, &writer->size, (Size) writer->n + 1,
							  sizeof(SimdupSortItem));
	writer->low[writer->n++] = *low;
	simdup_hamming_init_page(writer->page.data, writer->tree, writer->level);
	return writer->page.data;
}

static void
add_leaf(TreeWriter *writer, const SimdupSortItem *entries, int n)
{
	CHECK_FOR_INTERRUPTS();
	simdup_hamming_fill_leaf(begin_page(writer, &entries[0]), entries, n);
	/* no view shows that of a worker */
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
								 (int64)
									 pg_atomic_add_fetch_u64(writer->n_written,
															 n));
}

static void
rotate_all(SimdupSortItem *entries, size_t n, int rotation)
{
	for (size_t i = 0; i < n; i++)
		entries[i].value = simdup_rotate(entries[i].value, rotation);
}

/* Sort the entries where they are, and write the leaves. */
static void
add_leaves_in_memory(TreeWriter *writer, int per_leaf, EntryStore *store)
{
	/* from the present rotation to the wanted one */
	int turn = (writer->tree - store->rotation - 1) & (SIMDUP_ROTATIONS - 1);

	rotate_all(store->entries, store->n, turn);
	store->rotation = writer->tree;
	simdup_sort_pairs(store->entries, store->n);
	for (size_t i = 0; i < store->n; i += per_leaf)
		add_leaf(writer, store->entries + i,
				 (int) Min((size_t) per_leaf, store->n - i));
}

/* Read all entries of a file into a sort. */
static void
sort_file(SimdupPairSort *sort, BufFile *file, int rotation)
{
	SimdupSortItem list[LIST_SIZE];
	size_t length;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not rewind temporary file: %m"));
	while ((length = BufFileRead(file, list, sizeof(list))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (length % sizeof(SimdupSortItem) != 0)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read from temporary file: %m"));
		rotate_all(list, length / sizeof(SimdupSortItem), rotation);
		for (size_t i = 0; i < length / sizeof(SimdupSortItem); i++)
			simdup_pairsort_put(sort, list[i].value, list[i].row);
	}
}

/*
 * Sort the entries that are in files, and write the leaves. Entries that do not
 * fit in memory take less of it: the cache holds more of a short run, and the
 * kernel has less to clear.
 */
static void
add_leaves_of_files(TreeWriter *writer, const TreeLayout *layout,
					EntryStore *store, int memory_kb)
{
	int64 all_kb =
		layout->n_entries[writer->tree] * (int64) sizeof(SimdupSortItem) / 1024;
	SimdupSortItem leaf[HAMMING_LEAF_CAPACITY];
	SimdupPairSort *sort;
	Size n;

	if (all_kb > memory_kb)
		memory_kb =
			(int) Min((int64) memory_kb, Max(all_kb / N_RUNS, MIN_RUN_KB));
	sort = simdup_pairsort_begin((int64) memory_kb * 1024);
	for (int i = 0; i < store->n_files; i++)
		sort_file(sort, store->files[i], writer->tree);
	simdup_pairsort_perform(sort);
	while ((n = simdup_pairsort_get_list(sort, leaf, layout->per_leaf)) > 0)
		add_leaf(writer, leaf, (int) n);
	simdup_pairsort_end(sort);
}

/*
 * Write the level above. The low keys of its pages take the place of those of
 * the level below, which have been read by then.
 */
static void
write_level(TreeWriter *writer)
{
	int64 n = writer->n;
	BlockNumber first_child = writer->next - (BlockNumber) n;

	writer->level++;
	writer->n = 0;
	for (int64 i = 0; i < n; i += CHILDREN_PER_PAGE)
	{
		Page page = begin_page(writer, &writer->low[i]);
		int count = (int) Min(CHILDREN_PER_PAGE, n - i);

		CHECK_FOR_INTERRUPTS();
		simdup_hamming_set_count(page, count);
		for (int j = 0; j < count; j++)
			simdup_hamming_set_child(page, j, &writer->low[i + j],
									 first_child + (BlockNumber) (i + j));
	}
	write_page(writer, NULL);
}

void
simdup_write_tree(Relation index, const TreeLayout *layout, int tree,
				  EntryStore *store, int memory_kb, pg_atomic_uint64 *n_written)
{
	SimdupSortItem lowest = {0, 0};
	TreeWriter writer = {.pages = smgr_bulk_start_rel(index, MAIN_FORKNUM),
						 .n_written = n_written,
						 .tree = tree,
						 .next = layout->first[tree]};

	/* the value of a NULL's entry is 0, which is the same in any rotation */
	if (store->n_files > 0)
		add_leaves_of_files(&writer, layout, store, memory_kb);
	else
		add_leaves_in_memory(&writer, layout->per_leaf, store);
	if (writer.n == 0)
		(void) begin_page(&writer, &lowest);
	write_page(&writer, NULL);
	while (writer.n > 1)
		write_level(&writer);
	smgr_bulk_finish(writer.pages);
	if (writer.next != layout->root[tree] + 1 ||
		writer.level != layout->level[tree])
		elog(ERROR, "tree %d of index \"%s\" ends at block %u, not %u", tree,
			 RelationGetRelationName(index), writer.next,
			 layout->root[tree] + 1);
	pfree(writer.low);
}

void
simdup_begin_trees(Relation index, const TreeLayout *layout)
{
	BlockNumber done = 0;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 layout->n_entries[0] * SIMDUP_ROTATIONS +
									 layout->n_entries[HAMMING_NULL_TREE]);
	while (done < layout->n_blocks)
	{
		BlockNumber step = Min(layout->n_blocks - done, RESERVED_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		smgrzeroextend(RelationGetSmgr(index), MAIN_FORKNUM, done, (int) step,
					   true);
		done += step;
	}
}

void
simdup_end_trees(Relation index, const TreeLayout *layout)
{
	BulkWriteState *pages = smgr_bulk_start_rel(index, MAIN_FORKNUM);
	PGAlignedBlock meta;

	simdup_hamming_init_meta(meta.data, layout->root, layout->level);
	put_page(pages, HAMMING_META_BLOCK, meta.data);
	smgr_bulk_finish(pages);
#ifndef SIMDUP_HAVE_BULK_WRITE
	/* all pages, also those that other processes wrote */
	if (!RelationUsesLocalBuffers(index))
		smgrimmedsync(RelationGetSmgr(index), MAIN_FORKNUM);
#endif
}

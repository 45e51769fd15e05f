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

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "index/hamming/am.h"
#include "server/spill.h"

/* Entries as they came */

#define FIRST_SIZE 1024

/* Entries that are read from a file at once. */
#define LIST_SIZE 2048

/* Entries beyond the memory are sorted in this number of runs, unless these are small. */
#define N_RUNS 64
#define MIN_RUN_KB 4096

void
simdup_entry_store_init(EntryStore *store, size_t *budget)
{
	memset(store, 0, sizeof(*store));
	store->rotation = SIMDUP_ROTATIONS - 1; /* the one that changes nothing */
	store->budget = budget;
	store->size = FIRST_SIZE;
	store->entries = palloc(FIRST_SIZE * sizeof(SimdupEntry));
	*budget -= Min(*budget, FIRST_SIZE);
}

static void
use_file(EntryStore *store, BufFile *file)
{
	store->files = palloc(sizeof(BufFile *));
	store->files[store->n_files++] = file;
}

void
simdup_entry_store_share(EntryStore *store, FileSet *files, const char *name)
{
	use_file(store, BufFileCreateFileSet(files, name));
	store->is_shared = true;
}

/* Empty the memory into the file. */
static void
write_entries(EntryStore *store)
{
	/* the cast is for servers before 16 */
	BufFileWrite(store->files[0], (void *) store->entries,
				 store->n * sizeof(SimdupEntry));
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
			repalloc_huge(store->entries, store->size * sizeof(SimdupEntry));
		return;
	}
	if (store->n_files == 0)
		use_file(store, BufFileCreateTemp(false));
	write_entries(store);
}

void
simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row)
{
	if (store->n == store->size)
		make_room(store);
	store->entries[store->n++] = (SimdupEntry){value, row};
}

int64
simdup_entry_store_finish(EntryStore *store)
{
	if (store->n_files == 0)
		return (int64) store->n;
	write_entries(store);
	if (store->is_shared)
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
simdup_entry_store_end(EntryStore *store)
{
	for (int i = 0; i < store->n_files; i++)
		BufFileClose(store->files[i]);
	if (store->files != NULL)
		pfree(store->files);
	if (store->entries != NULL)
		pfree(store->entries);
}

/*
 * Writes the pages of a new relation, in the order of their blocks.
 *
 * The pages of an index that is being built need no buffers: no other session
 * reads them. From 17 on the server has a way to write them past the buffers; on
 * older servers, this file does the same. All pages must be on disk before the
 * transaction commits, the logged ones too: the next checkpoint may move the
 * start of recovery past their log records.
 *
 * The file gets its full length first. So several processes can write pages,
 * each in a range of its own.
 */

/* Blocks reserved at once: a cancel request waits no longer than for these. */
#define RESERVED_AT_ONCE 131072

/* Make room for n pages, before the first of them is written. */
static void
reserve_pages(Relation index, BlockNumber n)
{
	BlockNumber done = 0;

	while (done < n)
	{
		BlockNumber step = Min(n - done, RESERVED_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		smgrzeroextend(RelationGetSmgr(index), MAIN_FORKNUM, done, (int) step,
					   true);
		done += step;
	}
}

#ifdef SIMDUP_HAVE_BULK_WRITE

#include "storage/bulk_write.h"

typedef struct PageWriter
{
	BulkWriteState *bulk;
	BlockNumber next;
} PageWriter;

/* Begin to write. Several writers may be at work, each from its own block. */
static PageWriter *
page_writer_begin(Relation index, BlockNumber first)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->bulk = smgr_bulk_start_rel(index, MAIN_FORKNUM);
	writer->next = first;
	return writer;
}

static void
page_writer_add(PageWriter *writer, Page page)
{
	BulkWriteBuffer buffer = smgr_bulk_get_buf(writer->bulk);

	memcpy(buffer, page, BLCKSZ);
	smgr_bulk_write(writer->bulk, writer->next++, buffer, true);
}

static void
page_writer_end(PageWriter *writer)
{
	smgr_bulk_finish(writer->bulk);
	pfree(writer);
}

/* Do nothing: each writer has taken care of its pages. */
static void
sync_pages(Relation index pg_attribute_unused())
{
}

#else

typedef struct PageWriter
{
	Relation index;
	BlockNumber next;
	char *memory;
} PageWriter;

static PageWriter *
page_writer_begin(Relation index, BlockNumber first)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->index = index;
	writer->next = first;
	writer->memory = palloc(BLCKSZ + 4096);
	return writer;
}

static void
page_writer_add(PageWriter *writer, Page page)
{
	/* aligned as 16 wants what it writes directly */
	Page copy = (Page) TYPEALIGN(4096, writer->memory);

	memcpy(copy, page, BLCKSZ);
	if (RelationNeedsWAL(writer->index))
		log_newpage(&writer->index->rd_locator, MAIN_FORKNUM, writer->next,
					copy, true);
	PageSetChecksumInplace(copy, writer->next);
	smgrwrite(RelationGetSmgr(writer->index), MAIN_FORKNUM, writer->next++,
			  copy, true);
}

static void
page_writer_end(PageWriter *writer)
{
	pfree(writer->memory);
	pfree(writer);
}

/* Sync all pages, also those that other processes wrote. */
static void
sync_pages(Relation index)
{
	if (!RelationUsesLocalBuffers(index))
		smgrimmedsync(RelationGetSmgr(index), MAIN_FORKNUM);
}

#endif

/* Trees */

typedef struct TreeWriter
{
	PageWriter *pages;
	const BuildProgress *progress;
	int tree;
	int level;
	PGAlignedBlock page; /* the page that waits for its high key */
	bool waits;
	/* the low keys and blocks of the level's pages */
	SimdupEntry *low;
	BlockNumber *block;
	int64 n;
	int64 size;
} TreeWriter;

#define CHILDREN_PER_PAGE \
	(HAMMING_INNER_CAPACITY * HAMMING_INNER_FILLFACTOR / 100)

/*
 * Lay out a tree. The leaves are full but for the last one, and so are the
 * pages of each level above. So the number of entries decides on the number of
 * pages.
 */
static void
lay_out_tree(TreeLayout *layout, int tree)
{
	int64 pages = (layout->n_entries[tree] - 1) / layout->per_leaf + 1;
	int64 in_tree;

	pages = Max(pages, 1);
	in_tree = pages;
	layout->level[tree] = 0;
	for (; pages > 1; in_tree += pages, layout->level[tree]++)
		pages = (pages - 1) / CHILDREN_PER_PAGE + 1;
	if (in_tree > (int64) MaxBlockNumber - layout->n_blocks)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("a hamming index cannot have more than %u blocks",
					   MaxBlockNumber));
	layout->first[tree] = layout->n_blocks;
	layout->n_blocks += (BlockNumber) in_tree;
	layout->root[tree] = layout->n_blocks - 1;
}

void
simdup_lay_out_trees(TreeLayout *layout, int per_leaf, int64 n_rows,
					 int64 n_nulls)
{
	layout->per_leaf = per_leaf;
	layout->n_blocks = HAMMING_META_BLOCK + 1;
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		layout->n_entries[tree] = tree == HAMMING_NULL_TREE ? n_nulls : n_rows;
		lay_out_tree(layout, tree);
	}
}

static void
begin_tree(TreeWriter *writer)
{
	writer->size = 1024;
	writer->low = palloc(writer->size * sizeof(SimdupEntry));
	writer->block = palloc(writer->size * sizeof(BlockNumber));
}

/* Write the page that waits; `high` is NULL after the last of a level. */
static void
write_page(TreeWriter *writer, const SimdupEntry *high)
{
	Page page = writer->page.data;

	if (!writer->waits)
		return;
	if (high != NULL)
		simdup_hamming_set_right(page, writer->pages->next + 1, high);
	page_writer_add(writer->pages, page);
	writer->waits = false;
}

/* Begin a page of the level, after writing the page before. */
static Page
begin_page(TreeWriter *writer, const SimdupEntry *low)
{
	Page page = writer->page.data;

	write_page(writer, low);
	if (writer->n == writer->size)
	{
		writer->size *= 2;
		writer->low =
			repalloc_huge(writer->low, writer->size * sizeof(SimdupEntry));
		writer->block =
			repalloc_huge(writer->block, writer->size * sizeof(BlockNumber));
	}
	writer->low[writer->n] = *low;
	writer->block[writer->n++] = writer->pages->next;
	simdup_hamming_init_page(page, writer->tree, writer->level);
	writer->waits = true;
	return page;
}

static void
add_leaf(TreeWriter *writer, const SimdupEntry *entries, int n)
{
	const BuildProgress *progress = writer->progress;
	uint64 n_written;

	CHECK_FOR_INTERRUPTS();
	simdup_hamming_fill_leaf(begin_page(writer, &entries[0]), entries, n);
	n_written = pg_atomic_add_fetch_u64(progress->n_written, n);
	if (progress->reports)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 (int64) n_written);
}

static void
rotate_all(SimdupEntry *entries, size_t n, int rotation)
{
	for (size_t i = 0; i < n; i++)
		entries[i].value = simdup_rotate(entries[i].value, rotation);
}

/* Sort the entries where they are, and write the leaves. */
static void
add_leaves_in_memory(TreeWriter *writer, int per_leaf, EntryStore *store,
					 int rotation)
{
	/* from the present rotation to the wanted one */
	int turn = (rotation - store->rotation - 1) & (SIMDUP_ROTATIONS - 1);

	rotate_all(store->entries, store->n, turn);
	store->rotation = rotation;
	simdup_sort_pairs(store->entries, store->n);
	for (size_t i = 0; i < store->n; i += per_leaf)
		add_leaf(writer, store->entries + i,
				 (int) Min((size_t) per_leaf, store->n - i));
}

/* Read all entries of a file into a sort. */
static void
sort_file(SimdupPairSort *sort, BufFile *file, int rotation)
{
	SimdupEntry list[LIST_SIZE];
	size_t length;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not rewind temporary file: %m"));
	while ((length = BufFileRead(file, list, sizeof(list))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (length % sizeof(SimdupEntry) != 0)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read from temporary file: %m"));
		rotate_all(list, length / sizeof(SimdupEntry), rotation);
		simdup_pairsort_put_list(sort, list, length / sizeof(SimdupEntry));
	}
}

/*
 * Sort the entries that are in files, and write the leaves. Entries that do not
 * fit in memory take less of it: the cache holds more of a short run, and the
 * kernel has less to clear.
 */
static void
add_leaves_of_files(TreeWriter *writer, const TreeLayout *layout,
					EntryStore *store, int rotation, int memory_kb)
{
	int64 all_kb =
		layout->n_entries[writer->tree] * (int64) sizeof(SimdupEntry) / 1024;
	SimdupEntry leaf[HAMMING_LEAF_CAPACITY];
	SimdupPairSort *sort;
	Size n;

	if (all_kb > memory_kb)
		memory_kb =
			(int) Min((int64) memory_kb, Max(all_kb / N_RUNS, MIN_RUN_KB));
	sort = simdup_pairsort_begin(memory_kb);
	for (int i = 0; i < store->n_files; i++)
		sort_file(sort, store->files[i], rotation);
	simdup_pairsort_perform(sort);
	while ((n = simdup_pairsort_get_list(sort, leaf, layout->per_leaf)) > 0)
		add_leaf(writer, leaf, (int) n);
	simdup_pairsort_end(sort);
}

/* Write the level above; the writer then holds the low keys of that level. */
static void
write_level(TreeWriter *writer)
{
	int per_page = CHILDREN_PER_PAGE;
	SimdupEntry *low = writer->low;
	BlockNumber *block = writer->block;
	int64 n = writer->n;

	writer->level++;
	writer->n = 0;
	writer->low = MemoryContextAllocHuge(CurrentMemoryContext,
										 writer->size * sizeof(SimdupEntry));
	writer->block = MemoryContextAllocHuge(CurrentMemoryContext,
										   writer->size * sizeof(BlockNumber));
	for (int64 i = 0; i < n; i += per_page)
	{
		Page page = begin_page(writer, &low[i]);
		int count = (int) Min(per_page, n - i);

		CHECK_FOR_INTERRUPTS();
		simdup_hamming_set_count(page, count);
		for (int j = 0; j < count; j++)
			simdup_hamming_set_child(page, j, &low[i + j], block[i + j]);
	}
	write_page(writer, NULL);
	pfree(low);
	pfree(block);
}

static void
end_tree(TreeWriter *writer)
{
	SimdupEntry lowest = {0, 0};

	if (writer->n == 0)
		begin_page(writer, &lowest);
	write_page(writer, NULL);
	while (writer->n > 1)
		write_level(writer);
	pfree(writer->low);
	pfree(writer->block);
}

void
simdup_write_tree(Relation index, const TreeLayout *layout, int tree,
				  EntryStore *store, int memory_kb,
				  const BuildProgress *progress)
{
	TreeWriter *writer = palloc0(sizeof(TreeWriter));
	/* entries of NULLs have no value to rotate */
	int rotation = tree == HAMMING_NULL_TREE ? 0 : tree;
	BlockNumber next;

	writer->pages = page_writer_begin(index, layout->first[tree]);
	writer->progress = progress;
	writer->tree = tree;
	begin_tree(writer);
	if (store->n_files > 0)
		add_leaves_of_files(writer, layout, store, rotation, memory_kb);
	else
		add_leaves_in_memory(writer, layout->per_leaf, store, rotation);
	end_tree(writer);
	next = writer->pages->next;
	page_writer_end(writer->pages);
	if (next != layout->root[tree] + 1 || writer->level != layout->level[tree])
		elog(ERROR, "tree %d of index \"%s\" ends at block %u, not %u", tree,
			 RelationGetRelationName(index), next, layout->root[tree] + 1);
	pfree(writer);
}

double
simdup_laid_out_rows(const TreeLayout *layout)
{
	return (double) layout->n_entries[0] +
		   (double) layout->n_entries[HAMMING_NULL_TREE];
}

void
simdup_begin_trees(Relation index, const TreeLayout *layout)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 layout->n_entries[0] * SIMDUP_ROTATIONS +
									 layout->n_entries[HAMMING_NULL_TREE]);
	reserve_pages(index, layout->n_blocks);
}

void
simdup_end_trees(Relation index, const TreeLayout *layout)
{
	PageWriter *pages = page_writer_begin(index, HAMMING_META_BLOCK);
	PGAlignedBlock meta;

	simdup_hamming_init_meta(meta.data, layout->root, layout->level);
	page_writer_add(pages, meta.data);
	page_writer_end(pages);
	sync_pages(index);
}

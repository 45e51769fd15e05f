/*
 * tree.c
 *	  Writes a tree of a hamming index, level by level, from its leaves up.
 *
 * The pages of a level are neighbours in the file, so a page's right sibling
 * is the next block. A page waits in memory until the low key of the next is
 * known, which is its own high key.
 */
#include "postgres.h"
#include "compat.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index/hamming/building.h"

#define CHILDREN_PER_PAGE \
	(HAMMING_INNER_CAPACITY * HAMMING_INNER_FILLFACTOR / 100)

/*
 * The leaves are full but for the last one, and so are the pages of each level
 * above. So the number of entries decides on the number of pages.
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
		simdup_hamming_set_right(page,
								 simdup_page_writer_next(writer->pages) + 1,
								 high);
	simdup_page_writer_add(writer->pages, page);
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
	writer->block[writer->n++] = simdup_page_writer_next(writer->pages);
	simdup_hamming_init_page(page, writer->tree, writer->level);
	writer->waits = true;
	return page;
}

static void
add_leaf(void *arg, const SimdupEntry *entries, int n)
{
	TreeWriter *writer = arg;
	const BuildProgress *progress = writer->progress;
	uint64 n_written;

	simdup_hamming_fill_leaf(begin_page(writer, &entries[0]), entries, n);
	n_written = pg_atomic_add_fetch_u64(progress->n_written, n);
	if (progress->reports)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 (int64) n_written);
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
				  EntrySource *source, size_t memory,
				  const BuildProgress *progress)
{
	TreeWriter *writer = palloc0(sizeof(TreeWriter));
	/* entries of NULLs have no value to rotate */
	int rotation = tree == HAMMING_NULL_TREE ? 0 : tree;
	BlockNumber next;

	writer->pages = simdup_page_writer_begin(index, layout->first[tree]);
	writer->progress = progress;
	writer->tree = tree;
	begin_tree(writer);
	simdup_order_entries(source, rotation, layout->per_leaf, memory, add_leaf,
						 writer);
	end_tree(writer);
	next = simdup_page_writer_next(writer->pages);
	simdup_page_writer_end(writer->pages);
	if (next != layout->root[tree] + 1 || writer->level != layout->level[tree])
		elog(ERROR, "tree %d of index \"%s\" ends at block %u, not %u", tree,
			 RelationGetRelationName(index), next, layout->root[tree] + 1);
	pfree(writer);
}

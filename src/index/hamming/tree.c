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

void
simdup_tree_writer_begin(TreeWriter *writer, PageWriter *pages, int tree)
{
	memset(writer, 0, sizeof(*writer));
	writer->pages = pages;
	writer->tree = tree;
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

void
simdup_tree_writer_add_leaf(void *arg, const SimdupEntry *entries, int n)
{
	TreeWriter *writer = arg;
	SimdupEntry low = simdup_least_entry(entries, n);

	simdup_hamming_fill_leaf(begin_page(writer, &low), entries, n);
	writer->rows += n;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, writer->rows);
}

/* Write the level above; the writer then holds the low keys of that level. */
static void
write_level(TreeWriter *writer)
{
	int per_page = HAMMING_INNER_CAPACITY * HAMMING_INNER_FILLFACTOR / 100;
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

BlockNumber
simdup_tree_writer_end(TreeWriter *writer, int *level)
{
	SimdupEntry lowest = {0, 0};
	BlockNumber root;

	if (writer->n == 0)
		begin_page(writer, &lowest);
	write_page(writer, NULL);
	while (writer->n > 1)
		write_level(writer);
	root = writer->block[0];
	*level = writer->level;
	pfree(writer->low);
	pfree(writer->block);
	return root;
}

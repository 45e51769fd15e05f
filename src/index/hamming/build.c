/*
 * build.c
 *	  CREATE INDEX: all rows are read, then the five trees are written.
 *
 * Memory is bounded by maintenance_work_mem: rows beyond it go to temporary
 * files (store.c, order.c). Workers may help (parallel.c).
 */
#include "postgres.h"
#include "compat.h"

#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "index/hamming/building.h"

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	CollectedRows *collected = arg;
	uint64 row = hamming_row_of_tid(tid);

	if (isnull[0])
		simdup_entry_store_add(&collected->nulls, 0, row);
	else
		simdup_entry_store_add(&collected->rows,
							   simdup_hamming_fingerprint(index, values[0]),
							   row);
}

void
simdup_collect_rows(Relation heap, Relation index, IndexInfo *info,
					TableScanDesc scan, bool progress, CollectedRows *collected)
{
	collected->heap_tuples =
		table_index_build_scan(heap, index, info, true, progress, add_row,
							   collected, scan);
}

int
simdup_entries_per_leaf(Relation index)
{
	int n = HAMMING_LEAF_CAPACITY * simdup_hamming_fillfactor(index) / 100;

	return Max(n, 2);
}

size_t
simdup_build_memory(int n_participants)
{
	return (size_t) maintenance_work_mem * 1024 / sizeof(SimdupEntry) /
		   (size_t) n_participants;
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
	simdup_reserve_pages(index, layout->n_blocks);
}

void
simdup_end_trees(Relation index, const TreeLayout *layout)
{
	PageWriter *pages = simdup_page_writer_begin(index, HAMMING_META_BLOCK);
	PGAlignedBlock meta;

	simdup_hamming_init_meta(meta.data, layout->root, layout->level);
	simdup_page_writer_add(pages, meta.data);
	simdup_page_writer_end(pages);
	simdup_sync_pages(index);
}

/* Without workers. */
static void
build_alone(Relation heap, Relation index, IndexInfo *info,
			IndexBuildResult *result)
{
	/* half for the rows as they come, half for putting them in order */
	size_t half = simdup_build_memory(1) / 2;
	size_t budget = half;
	CollectedRows collected = {.heap_tuples = 0};
	TreeLayout layout;
	pg_atomic_uint64 n_written;
	BuildProgress progress = {.n_written = &n_written, .reports = true};

	simdup_entry_store_init(&collected.rows, &budget);
	simdup_entry_store_init(&collected.nulls, &budget);
	simdup_collect_rows(heap, index, info, NULL, true, &collected);
	simdup_lay_out_trees(&layout, simdup_entries_per_leaf(index),
						 simdup_entry_store_finish(&collected.rows),
						 simdup_entry_store_finish(&collected.nulls));
	pg_atomic_init_u64(&n_written, 0);
	simdup_begin_trees(index, &layout);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		EntrySource source = simdup_entry_source(
			tree == HAMMING_NULL_TREE ? &collected.nulls : &collected.rows);

		/* what went to files has given its memory back */
		simdup_write_tree(index, &layout, tree, &source, half + budget,
						  &progress);
	}
	simdup_end_trees(index, &layout);
	simdup_entry_store_end(&collected.rows);
	simdup_entry_store_end(&collected.nulls);
	result->heap_tuples = collected.heap_tuples;
	result->index_tuples = simdup_laid_out_rows(&layout);
}

IndexBuildResult *
simdup_hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	if (!simdup_build_in_parallel(heap, index, info, result))
		build_alone(heap, index, info, result);
	return result;
}

/* The init fork of an unlogged index: copied over the index after a crash. */
static void
write_empty_page(Relation index, Page image)
{
	Buffer buffer = simdup_hamming_extend(index, INIT_FORKNUM);

	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), image, BLCKSZ);
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

void
simdup_hamming_build_empty(Relation index)
{
	BlockNumber roots[HAMMING_TREES];
	int levels[HAMMING_TREES] = {0};
	PGAlignedBlock page;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
		roots[tree] = HAMMING_META_BLOCK + 1 + tree;
	simdup_hamming_init_meta(page.data, roots, levels);
	write_empty_page(index, page.data);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		simdup_hamming_init_page(page.data, tree, 0);
		simdup_hamming_set_count(page.data, 0);
		write_empty_page(index, page.data);
	}
}

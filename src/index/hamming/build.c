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
		write_empty_page(index, page.data);
	}
}

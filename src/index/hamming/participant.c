/*
 * participant.c
 *	  What a build does, alone or as one of several participants.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "index/hamming/building.h"
#include "index/hamming/fingerprint.h"

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	CollectedRows *collected = arg;
	uint64 row = hamming_row_of_tid(tid);
	uint64 fp;

	if (simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
		simdup_entry_store_add(&collected->rows, fp, row);
	else
		simdup_entry_store_add(&collected->nulls, 0, row);
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

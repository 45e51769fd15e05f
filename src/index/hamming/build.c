/*
 * build.c
 *	  CREATE INDEX: all rows are read, then the five trees are written.
 *
 * Memory is bounded by maintenance_work_mem: rows beyond it go to temporary
 * files (store.c, order.c).
 */
#include "postgres.h"
#include "compat.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "index/hamming/building.h"

/* Rows with a NULL are few as a rule; they get this fraction of the memory. */
#define NULLS_PART 16

typedef struct Build
{
	Relation index;
	EntryStore rows;
	EntryStore nulls;
	double n_rows;
} Build;

static void
add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool is_alive pg_attribute_unused(), void *arg)
{
	Build *build = arg;
	uint64 row = hamming_row_of_tid(tid);

	if (isnull[0])
		simdup_entry_store_add(&build->nulls, 0, row);
	else
		simdup_entry_store_add(&build->rows,
							   simdup_hamming_fingerprint(index, values[0]),
							   row);
	build->n_rows++;
}

static BlockNumber
write_tree(Build *build, PageWriter *pages, int tree, int *level)
{
	bool is_rotation = tree != HAMMING_NULL_TREE;
	TreeWriter *writer = palloc(sizeof(TreeWriter));
	int per_leaf =
		HAMMING_LEAF_CAPACITY * simdup_hamming_fillfactor(build->index) / 100;
	BlockNumber root;

	simdup_tree_writer_begin(writer, pages, tree);
	writer->rows = is_rotation ? (int64) build->n_rows * tree : 0;
	/* entries of NULLs have no value to rotate */
	simdup_order_entries(is_rotation ? &build->rows : &build->nulls,
						 is_rotation ? tree : 0, Max(per_leaf, 2),
						 build->rows.limit, simdup_tree_writer_add_leaf,
						 writer);
	root = simdup_tree_writer_end(writer, level);
	pfree(writer);
	return root;
}

static void
write_index(Build *build)
{
	PageWriter *pages = simdup_page_writer_begin(build->index);
	BlockNumber roots[HAMMING_TREES];
	int levels[HAMMING_TREES];
	PGAlignedBlock meta;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) build->n_rows * SIMDUP_ROTATIONS);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
		roots[tree] = write_tree(build, pages, tree, &levels[tree]);
	simdup_hamming_init_meta(meta.data, roots, levels);
	simdup_page_writer_end(pages, meta.data);
}

IndexBuildResult *
simdup_hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	Build build = {.index = index};
	size_t memory = (size_t) maintenance_work_mem * 1024 / sizeof(SimdupEntry);
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	/* half for the rows as they come, half for putting them in order */
	simdup_entry_store_init(&build.rows, memory / 2);
	simdup_entry_store_init(&build.nulls, memory / NULLS_PART);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 add_row, &build, NULL);
	result->index_tuples = build.n_rows;
	simdup_entry_store_finish(&build.rows);
	simdup_entry_store_finish(&build.nulls);
	write_index(&build);
	simdup_entry_store_end(&build.rows);
	simdup_entry_store_end(&build.nulls);
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

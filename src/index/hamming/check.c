/*
 * check.c
 *	  simhash_index_check: is a hamming index what it should be?
 *
 * The table is locked against writers and VACUUM, so nothing moves. Level by
 * level, from the root down, the pages of each tree are read by their right
 * links and compared with the links of the level above. The rotations are then
 * compared with each other and, if the caller asks for it, with the rows of the
 * table.
 *
 * Rotations are compared by the number of their entries and the sum of the
 * entries' hashes. Different sets have equal sums as seldom as a 64-bit number
 * is guessed. Rotations may differ in the entries of dead rows: an insert or a
 * VACUUM may have ended between one rotation and the next. If they differ, the
 * check looks up the table's rows in all rotations.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/bloomfilter.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "index/hamming/am.h"
#include "index/hamming/find.h"

/* A page as the level above knows it. */
typedef struct ExpectedPage
{
	SimdupEntry low;
	BlockNumber block;
} ExpectedPage;

typedef struct Level
{
	int64 n;
	int64 size;
	ExpectedPage *pages;
} Level;

typedef struct Check
{
	Relation heap;
	Relation index;
	BlockNumber heap_blocks;
	BlockNumber n_blocks;
	uint8 *visited; /* a byte for each block */
	int64 n_entries[HAMMING_TREES];
	uint64 sum[HAMMING_TREES];
	Tuplesortstate *rows; /* of rotation 0 and of the NULLs */
	/* the entries of each tree, where rows are looked up */
	bloom_filter *filter[HAMMING_TREES];
	int64 n_missing;
	SimdupEntry missing; /* one of them */
} Check;

static void
expect_page(Level *level, const SimdupEntry *low, BlockNumber block)
{
	if (level->n == level->size)
	{
		level->size = 2 * level->size + 64;
		level->pages = level->pages == NULL
						   ? palloc(level->size * sizeof(ExpectedPage))
						   : repalloc_huge(level->pages,
										   level->size * sizeof(ExpectedPage));
	}
	level->pages[level->n].low = *low;
	level->pages[level->n++].block = block;
}

/* Note a leaf's entry, which lies in the range of its page. */
static void
check_row(Check *check, BlockNumber block, int tree, const SimdupEntry *entry)
{
	SimdupEntry row = *entry;
	BlockNumber heap_block = (BlockNumber) (entry->row >> 16);

	if ((entry->row & 0xffff) == 0 || heap_block >= check->heap_blocks)
		simdup_hamming_corrupted(check->index, block,
								 "A TID is not one of the table.");
	if (tree != HAMMING_NULL_TREE)
		row.value = simdup_unrotate(entry->value, tree);
	else if (entry->value != 0)
		simdup_hamming_corrupted(check->index, block,
								 "A NULL has a fingerprint.");
	check->n_entries[tree]++;
	check->sum[tree] += hash_bytes_extended((unsigned char *) &row, sizeof(row),
											tree == HAMMING_NULL_TREE);
	if (tree == 0 || tree == HAMMING_NULL_TREE)
		tuplesort_putdatum(check->rows, Int64GetDatum((int64) row.row), false);
	if (check->filter[tree] != NULL)
		bloom_add_element(check->filter[tree], (unsigned char *) &row,
						  sizeof(row));
}

/*
 * All entries of a page: in its range, and in order on an inner page and in the
 * sorted part of a leaf.
 */
static void
check_entries(Check *check, Page page, BlockNumber block,
			  const SimdupEntry *low, Level *below)
{
	int tree = hamming_head(page)->tree;
	bool is_leaf = hamming_is_leaf(page);
	int n_sorted = is_leaf ? hamming_head(page)->n_sorted : hamming_count(page);
	SimdupEntry previous = *low;

	for (int i = 0; i < hamming_count(page); i++)
	{
		SimdupEntry entry =
			is_leaf ? hamming_leaf_entry(page, i) : hamming_low_key(page, i);

		/* the first link covers all entries below the second */
		if (!is_leaf && i == 0)
			entry = *low;
		if (simdup_entry_less(&entry, low) ||
			!hamming_below_high_key(page, &entry) ||
			(i > 0 && i < n_sorted && !simdup_entry_less(&previous, &entry)))
			simdup_hamming_corrupted(check->index, block,
									 "An entry is out of order.");
		previous = entry;
		if (is_leaf)
			check_row(check, block, tree, &entry);
		else
			expect_page(below, &entry, hamming_child(page, i));
	}
}

/* Is this the page that the level above expects as its n-th? */
static void
check_link(Check *check, BlockNumber block, const Level *level, int64 n,
		   const SimdupEntry *low)
{
	if (n >= level->n || level->pages[n].block != block ||
		level->pages[n].low.value != low->value ||
		level->pages[n].low.row != low->row)
		simdup_hamming_corrupted(check->index, block,
								 "The level above has another link.");
}

/* Read a level from left to right; fills in what the level below must be. */
static void
check_level(Check *check, int tree, int height, const Level *level,
			Level *below)
{
	BlockNumber block = level->pages[0].block;
	SimdupEntry low = {0, 0};
	bool linked = true; /* the level above has a link to the page */
	int64 n = 0;

	while (block != InvalidBlockNumber)
	{
		Buffer buffer;
		Page page;

		CHECK_FOR_INTERRUPTS();
		buffer = simdup_hamming_read(check->index, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		simdup_hamming_check_page(check->index, buffer, tree, height);
		if (block >= check->n_blocks || check->visited[block]++)
			simdup_hamming_corrupted(check->index, block,
									 "Two links lead to the page.");
		if (linked)
			check_link(check, block, level, n++, &low);
		check_entries(check, page, block, &low, below);
		if (!hamming_is_last(page))
		{
			SimdupEntry high = hamming_high_key(page);

			if (!simdup_entry_less(&low, &high))
				simdup_hamming_corrupted(check->index, block,
										 "High keys do not rise.");
			low = high;
		}
		linked = (hamming_head(page)->flags & HAMMING_INCOMPLETE_SPLIT) == 0;
		block = hamming_head(page)->right;
		UnlockReleaseBuffer(buffer);
	}
	if (n != level->n)
		simdup_hamming_corrupted(check->index, level->pages[n].block,
								 "No right link leads to the page.");
}

static void
check_tree(Check *check, int tree, BlockNumber root, int height)
{
	Level level = {0};
	SimdupEntry lowest = {0, 0};

	expect_page(&level, &lowest, root);
	/* an inner page has links, so that the level below is empty at leaves only */
	for (; level.n > 0; height--)
	{
		Level below = {0};

		check_level(check, tree, height, &level, &below);
		pfree(level.pages);
		level = below;
	}
}

/* Check that a page without a link to it, left by a failed split, is zero. */
static void
check_unreached(Check *check)
{
	for (BlockNumber block = 0; block < check->n_blocks; block++)
	{
		Buffer buffer;

		if (check->visited[block])
			continue;
		CHECK_FOR_INTERRUPTS();
		buffer = simdup_hamming_read(check->index, block);
		if (!PageIsNew(BufferGetPage(buffer)))
			simdup_hamming_corrupted(check->index, block,
									 "No link leads to the page.");
		ReleaseBuffer(buffer);
	}
}

static bool
rotations_differ(const Check *check)
{
	for (int tree = 1; tree < SIMDUP_ROTATIONS; tree++)
		if (check->n_entries[tree] != check->n_entries[0] ||
			check->sum[tree] != check->sum[0])
			return true;
	return false;
}

static void
check_uniqueness(Check *check)
{
	int64 previous = -1;
	Datum value;
	bool is_null;

	tuplesort_performsort(check->rows);
	while (simdup_tuplesort_getdatum(check->rows, &value, &is_null))
	{
		int64 row = DatumGetInt64(value);

		CHECK_FOR_INTERRUPTS();
		if (row == previous)
			ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
					errmsg("index \"%s\" has a row twice",
						   RelationGetRelationName(check->index)),
					errdetail("The row's TID is (%u,%u).",
							  (BlockNumber) (row >> 16),
							  (OffsetNumber) (row & 0xffff)),
					errhint("Please REINDEX it."));
		previous = row;
	}
}

static bool
lacks_row(const Check *check, int tree, SimdupEntry *row)
{
	return bloom_lacks_element(check->filter[tree], (unsigned char *) row,
							   sizeof(*row));
}

/* A row of the table that a new snapshot sees. */
static void
look_up_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			bool is_alive pg_attribute_unused(), void *arg)
{
	Check *check = arg;
	SimdupEntry row = {0, hamming_row_of_tid(tid)};
	bool is_missing = false;

	if (simdup_hamming_fingerprint(index, values[0], isnull[0], &row.value))
		for (int tree = 0; tree < SIMDUP_ROTATIONS; tree++)
			is_missing = is_missing || lacks_row(check, tree, &row);
	else
		is_missing = lacks_row(check, HAMMING_NULL_TREE, &row);
	if (is_missing && check->n_missing++ == 0)
		check->missing = row;
}

static void
check_heap(Check *check)
{
	IndexInfo *info = BuildIndexInfo(check->index);
	Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());

	/* nothing is to be inserted, so nothing can be in conflict */
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	/* CREATE INDEX CONCURRENTLY leaves out what only older snapshots see */
	info->ii_Concurrent = true;
	table_index_build_scan(check->heap, check->index, info, true, false,
						   look_up_row, check,
						   table_beginscan_strat(check->heap, snapshot, 0, NULL,
												 true, true));
	UnregisterSnapshot(snapshot);
	if (check->n_missing > 0)
		ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" lacks rows of table \"%s\"",
					   RelationGetRelationName(check->index),
					   RelationGetRelationName(check->heap)),
				errdetail(INT64_FORMAT
						  " rows are missing, one of them with TID (%u,%u).",
						  check->n_missing,
						  (BlockNumber) (check->missing.row >> 16),
						  (OffsetNumber) (check->missing.row & 0xffff)),
				errhint("Please REINDEX it."));
}

/* Read all pages; with filters, also prepare to look up rows. */
static void
check_pages(Check *check, bool with_filters)
{
	HammingRoots roots = simdup_hamming_roots(check->index, true);
	int64 most = (int64) check->n_blocks * HAMMING_LEAF_CAPACITY;

	memset(check->visited, 0, check->n_blocks);
	memset(check->n_entries, 0, sizeof(check->n_entries));
	memset(check->sum, 0, sizeof(check->sum));
	check->visited[HAMMING_META_BLOCK] = 1;
	check->rows =
		tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
							  maintenance_work_mem, NULL, TUPLESORT_NONE);
	for (int tree = 0; with_filters && tree < HAMMING_TREES; tree++)
		check->filter[tree] =
			bloom_create(most / SIMDUP_ROTATIONS,
						 maintenance_work_mem / HAMMING_TREES, 0);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
		check_tree(check, tree, roots.root[tree], (int) roots.level[tree]);
	check_unreached(check);
	check_uniqueness(check);
	tuplesort_end(check->rows);
}

static void
check_index(Check *check, bool every_row)
{
	check->heap_blocks = RelationGetNumberOfBlocks(check->heap);
	check->n_blocks = RelationGetNumberOfBlocks(check->index);
	check->visited =
		MemoryContextAllocHuge(CurrentMemoryContext, Max(check->n_blocks, 1));
	check_pages(check, every_row);
	if (!every_row && rotations_differ(check))
	{
		every_row = true;
		check_pages(check, true);
	}
	if (every_row)
		check_heap(check);
}

PG_FUNCTION_INFO_V1(simdup_index_check);
Datum
simdup_index_check(PG_FUNCTION_ARGS)
{
	Check check = {0};
	InspectedIndex opened = simdup_inspect_index(PG_GETARG_OID(0), ShareLock);

	check.heap = opened.heap;
	check.index = opened.index;
	check_index(&check, PG_GETARG_BOOL(1));
	simdup_inspect_end(&opened);
	PG_RETURN_VOID();
}

/* simhash_index_stat: what a hamming index holds. */

#define N_BLOCK_VALUES (1 << SIMDUP_BLOCK_BITS)
#define N_COLUMNS 8

typedef struct Statistics
{
	int64 leaf_pages;
	int64 inner_pages;
	int64 unused_pages;
	int64 entries[HAMMING_TREES];
	/* entries by the first block, of each rotation */
	int64 *blocks[SIMDUP_ROTATIONS];
} Statistics;

static void
count_page(Statistics *statistics, Page page)
{
	HammingHead *head = hamming_head(page);

	if (head->level > 0)
	{
		statistics->inner_pages++;
		return;
	}
	statistics->leaf_pages++;
	statistics->entries[head->tree] += hamming_count(page);
	if (head->tree == HAMMING_NULL_TREE)
		return;
	for (int i = 0; i < hamming_count(page); i++)
		statistics
			->blocks[head->tree][simdup_first_block(hamming_values(page)[i])]++;
}

/*
 * Count pages in the order of their blocks: a split meanwhile may count twice.
 */
static void
count_pages(Relation index, Statistics *statistics)
{
	BlockNumber n_blocks = RelationGetNumberOfBlocks(index);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (BlockNumber block = HAMMING_META_BLOCK + 1; block < n_blocks; block++)
	{
		Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block,
										   RBM_NORMAL, strategy);
		Page page = BufferGetPage(buffer);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (PageIsNew(page))
			statistics->unused_pages++;
		else
		{
			simdup_hamming_check_any_page(index, buffer);
			count_page(statistics, page);
		}
		UnlockReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
}

static int64
largest_block(const Statistics *statistics)
{
	int64 largest = 0;

	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		for (int b = 0; b < N_BLOCK_VALUES; b++)
			largest = Max(largest, statistics->blocks[i][b]);
	return largest;
}

static Datum
make_row(TupleDesc columns, Relation index, const Statistics *statistics)
{
	HammingRoots roots = simdup_hamming_roots(index, true);
	Datum values[N_COLUMNS];
	bool nulls[N_COLUMNS] = {false};
	int64 entries = 0;
	int levels = 0;

	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		entries += statistics->entries[tree];
		levels = Max(levels, (int) roots.level[tree] + 1);
	}
	values[0] = Int64GetDatum(statistics->entries[0]);
	values[1] = Int64GetDatum(statistics->entries[HAMMING_NULL_TREE]);
	values[2] = Int32GetDatum(levels);
	values[3] = Int64GetDatum(statistics->leaf_pages);
	values[4] = Int64GetDatum(statistics->inner_pages);
	values[5] = Int64GetDatum(statistics->unused_pages);
	values[6] = Float8GetDatum((double) entries /
							   ((double) HAMMING_LEAF_CAPACITY *
								(double) Max(statistics->leaf_pages, 1)));
	values[7] = Int64GetDatum(largest_block(statistics));
	return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}

PG_FUNCTION_INFO_V1(simdup_index_stat);
Datum
simdup_index_stat(PG_FUNCTION_ARGS)
{
	InspectedIndex opened =
		simdup_inspect_index(PG_GETARG_OID(0), AccessShareLock);
	Statistics statistics = {0};
	TupleDesc columns;
	Datum row;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
		statistics.blocks[i] = palloc0(sizeof(int64) * N_BLOCK_VALUES);
	count_pages(opened.index, &statistics);
	row = make_row(columns, opened.index, &statistics);
	simdup_inspect_end(&opened);
	PG_RETURN_DATUM(row);
}

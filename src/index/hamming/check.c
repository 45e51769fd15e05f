/*
 * check.c
 *	  simdup_index_check and simdup_index_stat: the structure of a hamming index, checked
 *	  and counted.
 *
 * The check takes the locks of a search, so writers go on meanwhile, and it runs
 * on a standby. A snapshot is taken first. Each tree is then read level by level,
 * from the root down. The pages of a level are read by their right links and
 * compared with the links of the level above, which was read before. A page that
 * has been split since is no fault. By now the level above has a link to the new
 * page, or the page before it is marked.
 *
 * At last the rotations are compared, as sorted lists of TIDs and fingerprints.
 * They may differ in rows that come or go meanwhile. A row that the snapshot sees
 * does neither: all its entries were there before, and VACUUM keeps them. So a
 * difference in such a row is a fault. If the caller asks for it, the rows of the
 * table are one more list.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"
#include "server/arguments.h"

/* The lists: one for each rotation, the first one with the NULLs, and the table. */
#define TABLE_LIST SIMDUP_ROTATIONS
#define MAX_LISTS (TABLE_LIST + 1)

/* An index, opened by its owner, and its check. */
typedef struct Check
{
	Relation heap;
	Relation index;
	/* of the caller; functions of the index run as the table's owner */
	Oid user;
	int security;
	int guc_level;

	Snapshot snapshot;
	BlockNumber heap_blocks; /* at least */
	int n_lists;
	SimdupPairSort *lists[MAX_LISTS];
} Check;

/* The links of a level to the one below, in order. */
typedef struct Links
{
	PGAlignedBlock page;
	int at; /* the link on the page; its child has this low key: */
	SimdupSortItem low;
} Links;

/* Lock table and index. ERROR unless it is the caller's hamming index. */
static Check
open_index(Oid index_oid)
{
	Check opened = {0};
	/* the table is locked before the index, as everywhere */
	Oid heap_oid = IndexGetRelation(index_oid, true);
	char *name = get_rel_name(index_oid);

	if (name == NULL)
		simdup_no_such_table(index_oid);
	if (!OidIsValid(heap_oid))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a hamming index", name));
	if (!object_ownercheck(RelationRelationId, heap_oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, name);
	opened.heap = table_open(heap_oid, AccessShareLock);
	opened.index = index_open(index_oid, AccessShareLock);
	if (opened.index->rd_indam->ambuild != simdup_hamming_build)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a hamming index", name));
	if (opened.index->rd_rel->relkind != RELKIND_INDEX)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partitioned index", name),
				errhint(
					"Name the index of a partition. pg_partition_tree lists them."));
	if (RELATION_IS_OTHER_TEMP(opened.index))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	simdup_refuse_distributed(heap_oid,
							  gettext_noop(
								  "Name the index of each shard, with run_command_on_shards."));
	if (!opened.index->rd_index->indisvalid)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("index \"%s\" is not valid", name));
	GetUserIdAndSecContext(&opened.user, &opened.security);
	SetUserIdAndSecContext(opened.heap->rd_rel->relowner,
						   opened.security | SECURITY_RESTRICTED_OPERATION);
	opened.guc_level = NewGUCNestLevel();
	RestrictSearchPath();
	return opened;
}

static void
close_index(Check *opened)
{
	AtEOXact_GUC(false, opened->guc_level);
	SetUserIdAndSecContext(opened->user, opened->security);
	index_close(opened->index, AccessShareLock);
	table_close(opened->heap, AccessShareLock);
}

/* Lists of rows */

/* Add a row to a list, so that lists are sorted by TID. */
static void
add_row(Check *check, int list, uint64 row, bool is_null, uint64 fp)
{
	simdup_pairsort_put(check->lists[list], row << 1 | (is_null ? 1 : 0),
						is_null ? 0 : fp);
}

/* Add a row of the table that the snapshot sees. */
static void
add_table_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			  bool is_alive pg_attribute_unused(), void *arg)
{
	uint64 fp = 0;
	bool has_fp = simdup_hamming_fingerprint(index, values[0], isnull[0], &fp);

	add_row(arg, TABLE_LIST, hamming_row_of_tid(tid), !has_fp, fp);
}

static void
read_table(Check *check)
{
	IndexInfo *info = BuildIndexInfo(check->index);

	/* nothing is to be inserted, so nothing can be in conflict */
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	/* CREATE INDEX CONCURRENTLY leaves out rows that only older snapshots see */
	info->ii_Concurrent = true;
	table_index_build_scan(check->heap, check->index, info, true, false,
						   add_table_row, check,
						   table_beginscan_strat(check->heap, check->snapshot,
												 0, NULL, true, true));
}

/* ERROR if the snapshot sees the row of this TID. */
static void
report_row(const Check *check, uint64 row, const char *what)
{
	ItemPointerData tid;

	hamming_tid_of_row(row, &tid);
	if (table_index_fetch_tuple_check(check->heap, &tid, check->snapshot, NULL))
		ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" is corrupted for the row with TID (%u,%u)",
					   RelationGetRelationName(check->index),
					   (BlockNumber) (row >> 16),
					   (OffsetNumber) (row & 0xffff)),
				errdetail_internal("%s", what), errhint("Please REINDEX it."));
}

static bool
is_equal(const SimdupSortItem *a, const SimdupSortItem *b)
{
	return a->value == b->value && a->row == b->row;
}

/* Get the next row of a list. After the last, its value is PG_UINT64_MAX. */
static SimdupSortItem
next_row(SimdupPairSort *list)
{
	SimdupSortItem row = {PG_UINT64_MAX, PG_UINT64_MAX};

	(void) simdup_pairsort_get(list, &row.value, &row.row);
	return row;
}

/* Compare the lists, which have the same rows but for those not visible. */
static void
compare_lists(Check *check)
{
	SimdupSortItem next[MAX_LISTS];
	uint64 previous = PG_UINT64_MAX;

	for (int i = 0; i < check->n_lists; i++)
	{
		simdup_pairsort_perform(check->lists[i]);
		next[i] = next_row(check->lists[i]);
	}
	for (;;)
	{
		SimdupSortItem least = {PG_UINT64_MAX, PG_UINT64_MAX};

		for (int i = 0; i < check->n_lists; i++)
			if (simdup_item_less(&next[i], &least))
				least = next[i];
		if (least.value == PG_UINT64_MAX)
			return;
		if (least.value >> 1 == previous)
			report_row(check, previous, "The row has several fingerprints.");
		previous = least.value >> 1;
		for (int i = 0; i < check->n_lists; i++)
			if (is_equal(&next[i], &least))
				next[i] = next_row(check->lists[i]);
			else if (i == TABLE_LIST)
				report_row(check, previous,
						   "The index has an entry that is not the row's.");
			else if ((least.value & 1) == 0 || i == 0)
				report_row(check, previous, "An entry is missing.");
	}
}

/* Pages */

/* Copy a page, checked, so that nothing is locked meanwhile. */
static Page
read_page(Check *check, BlockNumber block, int tree, int level,
		  PGAlignedBlock *copy)
{
	Buffer buffer = simdup_hamming_read(check->index, block);

	CHECK_FOR_INTERRUPTS();
	simdup_hamming_lock(check->index, buffer, BUFFER_LOCK_SHARE, tree, level);
	memcpy(copy->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	return copy->data;
}

/* Go to the next link. Return false after the last. */
static bool
next_link(Check *check, Links *links)
{
	Page page = links->page.data;

	if (++links->at < hamming_count(page))
		links->low = hamming_low_key(page, links->at);
	else if (hamming_is_last(page))
		return false;
	else
	{
		/* the first link covers all entries below the second */
		links->low = hamming_high_key(page);
		links->at = 0;
		(void) read_page(check, hamming_head(page)->right,
						 hamming_head(page)->tree, hamming_head(page)->level,
						 &links->page);
	}
	return true;
}

/* Check the entries of a page: their range, their order, and a leaf's rows. */
static void
check_entries(Check *check, Page page, BlockNumber block,
			  const SimdupSortItem *low)
{
	bool is_leaf = hamming_is_leaf(page);
	int n_sorted = is_leaf ? hamming_head(page)->n_sorted : hamming_count(page);
	int tree = hamming_head(page)->tree;
	bool is_null = tree == HAMMING_NULL_TREE;
	SimdupSortItem previous = *low;

	for (int i = is_leaf ? 0 : 1; i < hamming_count(page); i++)
	{
		SimdupSortItem entry =
			is_leaf ? hamming_leaf_entry(page, i) : hamming_low_key(page, i);

		if (simdup_item_less(&entry, low) ||
			!hamming_below_high_key(page, &entry) ||
			(i > 0 && i < n_sorted && !simdup_item_less(&previous, &entry)))
			simdup_hamming_corrupted(check->index, block,
									 "An entry is out of order.");
		previous = entry;
		if (!is_leaf)
			continue;
		simdup_hamming_check_tid(check->index, block, hamming_tid(page, i),
								 &check->heap_blocks);
		if (is_null && entry.value != 0)
			simdup_hamming_corrupted(check->index, block,
									 "A NULL has a fingerprint.");
		add_row(check, is_null ? 0 : tree, entry.row, is_null,
				simdup_unrotate(entry.value, tree));
	}
}

/* Check that the level above has a link to a page by now. */
static void
require_link(Check *check, int tree, int level, BlockNumber block,
			 const SimdupSortItem *low)
{
	Buffer buffer = simdup_hamming_descend(check->index, tree, low, level + 1,
										   BUFFER_LOCK_SHARE);
	Page page = BufferGetPage(buffer);
	int i = simdup_hamming_find_child(page, 0, low);
	SimdupSortItem key = hamming_low_key(page, i);
	/* the low key of the first child is not looked at */
	bool found =
		hamming_child(page, i) == block && (i == 0 || is_equal(&key, low));

	UnlockReleaseBuffer(buffer);
	if (!found)
		simdup_hamming_corrupted(check->index, block,
								 "The level above has another link.");
}

/* Read a level from its first page on, to which the first link leads. */
static void
check_level(Check *check, int tree, int level, Links *links)
{
	BlockNumber block = hamming_child(links->page.data, 0);
	SimdupSortItem low = {0, 0};
	PGAlignedBlock copy;
	bool is_expected = true; /* is there a link to come? */
	bool is_marked = false;	 /* the page before */

	links->at = 0;
	links->low = low;
	while (block != InvalidBlockNumber)
	{
		Page page = read_page(check, block, tree, level, &copy);

		if (is_expected && hamming_child(links->page.data, links->at) == block)
		{
			if (is_marked || !is_equal(&links->low, &low))
				simdup_hamming_corrupted(check->index, block,
										 "The level above has another link.");
			is_expected = next_link(check, links);
		}
		else if (!is_marked)
			require_link(check, tree, level, block, &low);
		check_entries(check, page, block, &low);
		is_marked = hamming_is_marked(page);
		block = hamming_head(page)->right;
		if (block != InvalidBlockNumber)
		{
			SimdupSortItem high = hamming_high_key(page);

			if (!simdup_item_less(&low, &high))
				simdup_hamming_corrupted(check->index, block,
										 "High keys do not rise.");
			low = high;
		}
	}
	if (is_expected)
		simdup_hamming_corrupted(check->index,
								 hamming_child(links->page.data, links->at),
								 "No right link leads to the page.");
}

static void
check_tree(Check *check, int tree, BlockNumber root, int height)
{
	SimdupSortItem lowest = {0, 0};
	Links links;

	/* the metapage's link, as a page above the root would have it */
	simdup_hamming_init_page(links.page.data, tree, height + 1);
	simdup_hamming_set_count(links.page.data, 1);
	simdup_hamming_set_child(links.page.data, 0, &lowest, root);
	for (int level = height; level >= 0; level--)
	{
		BlockNumber first = hamming_child(links.page.data, 0);

		check_level(check, tree, level, &links);
		if (level > 0)
			(void) read_page(check, first, tree, level, &links.page);
	}
}

PG_FUNCTION_INFO_V1(simdup_index_check);
Datum
simdup_index_check(PG_FUNCTION_ARGS)
{
	Check check = open_index(PG_GETARG_OID(0));
	HammingMeta roots;

	check.n_lists = PG_GETARG_BOOL(1) ? MAX_LISTS : TABLE_LIST;
	check.snapshot = RegisterSnapshot(GetLatestSnapshot());
	for (int i = 0; i < check.n_lists; i++)
		check.lists[i] = simdup_pairsort_begin((int64) maintenance_work_mem *
											   1024 / check.n_lists);
	roots = simdup_hamming_roots(check.index, true);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
		check_tree(&check, tree, roots.root[tree], (int) roots.level[tree]);
	if (check.n_lists > TABLE_LIST)
		read_table(&check);
	compare_lists(&check);
	for (int i = 0; i < check.n_lists; i++)
		simdup_pairsort_end(check.lists[i]);
	UnregisterSnapshot(check.snapshot);
	close_index(&check);
	PG_RETURN_VOID();
}

/* simdup_index_stat: entries and pages of a hamming index */

typedef struct Statistics
{
	int64 leaf_pages;
	int64 inner_pages;
	int64 unused_pages;
	int64 entries[HAMMING_TREES];
	/* entries of leaves by their first block */
	int64 (*blocks)[SIMDUP_BLOCKS];
} Statistics;

static void
count_page(Statistics *statistics, Page page)
{
	HammingHead *head = hamming_head(page);

	if (PageIsNew(page))
		statistics->unused_pages++;
	else if (head->level > 0)
		statistics->inner_pages++;
	else
	{
		statistics->leaf_pages++;
		statistics->entries[head->tree] += hamming_count(page);
		for (int i = 0; i < hamming_count(page); i++)
			statistics->blocks[head->tree]
							  [simdup_first_block(hamming_values(page)[i])]++;
	}
}

/* Count pages in the order of their blocks: a split meanwhile may count twice. */
static void
count_pages(Relation index, Statistics *statistics)
{
	BlockNumber n_blocks = RelationGetNumberOfBlocks(index);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (BlockNumber block = HAMMING_META_BLOCK + 1; block < n_blocks; block++)
	{
		Buffer buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = simdup_hamming_lock_any(index, block, strategy);
		count_page(statistics, BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
}

PG_FUNCTION_INFO_V1(simdup_index_stat);
Datum
simdup_index_stat(PG_FUNCTION_ARGS)
{
	Check opened = open_index(PG_GETARG_OID(0));
	Statistics statistics = {0};
	HammingMeta roots = simdup_hamming_roots(opened.index, true);
	Datum values[8];
	bool nulls[8] = {false};
	int64 entries = 0;
	int64 largest = 0;
	int levels = 0;

	statistics.blocks = palloc0(HAMMING_TREES * sizeof(*statistics.blocks));
	count_pages(opened.index, &statistics);
	close_index(&opened);
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		entries += statistics.entries[tree];
		levels = Max(levels, (int) roots.level[tree] + 1);
	}
	for (int tree = 0; tree < SIMDUP_ROTATIONS; tree++)
		for (int b = 0; b < SIMDUP_BLOCKS; b++)
			largest = Max(largest, statistics.blocks[tree][b]);
	values[0] = Int64GetDatum(statistics.entries[0]);
	values[1] = Int64GetDatum(statistics.entries[HAMMING_NULL_TREE]);
	values[2] = Int32GetDatum(levels);
	values[3] = Int64GetDatum(statistics.leaf_pages);
	values[4] = Int64GetDatum(statistics.inner_pages);
	values[5] = Int64GetDatum(statistics.unused_pages);
	values[6] = Float8GetDatum((double) entries /
							   ((double) HAMMING_LEAF_CAPACITY *
								(double) Max(statistics.leaf_pages, 1)));
	values[7] = Int64GetDatum(largest);
	return simdup_row_result(fcinfo, values, nulls);
}

/*
 * stat.c
 *	  simhash_index_stat: what a hamming index holds.
 */
#include "postgres.h"
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "index/hamming/inspect.h"

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

/* Pages in the order of their blocks: a split meanwhile may count twice. */
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

/*
 * vacuum.c
 *	  VACUUM removes dead rows' entries from a hamming index.
 *
 * New pages are only made at the end of the file, and none is used twice. So a
 * split moves entries to a page that VACUUM has still to visit. It asks for the
 * end of the file again until it no longer moves.
 *
 * Every leaf is locked for cleanup, even if nothing is to be removed there. A
 * scan without an MVCC snapshot keeps its pin on the leaf where it read a TID.
 * A split may have moved the TID's entry to another page since.
 */
#include "postgres.h"
#include "compat.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "utils/spccache.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"

typedef struct HammingVacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void *callback_state;
} HammingVacuum;

static void
remove_entries(Relation index, Buffer buffer, const bool *is_dead)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page page = GenericXLogRegisterBuffer(state, buffer, 0);
	HammingHead *head = hamming_head(page);
	int n_sorted = head->n_sorted;
	int n = 0;

	for (int i = 0; i < hamming_count(page); i++)
		if (!is_dead[i])
		{
			hamming_values(page)[n] = hamming_values(page)[i];
			*hamming_tid(page, n++) = *hamming_tid(page, i);
		}
		else if (i < n_sorted)
			head->n_sorted--;
	simdup_hamming_set_count(page, n);
	GenericXLogFinish(state);
}

static void
vacuum_leaf(HammingVacuum *vacuum, Buffer buffer)
{
	Page page = BufferGetPage(buffer);
	int tree = hamming_head(page)->tree;
	bool is_dead[HAMMING_LEAF_CAPACITY] = {false};
	int n_dead = 0;

	for (int i = 0; i < hamming_count(page); i++)
	{
		is_dead[i] =
			vacuum->callback(hamming_tid(page, i), vacuum->callback_state);
		n_dead += is_dead[i];
	}
	if (n_dead > 0)
		remove_entries(vacuum->info->index, buffer, is_dead);
	/* these two trees together have each row once */
	if (tree == 0 || tree == HAMMING_NULL_TREE)
	{
		vacuum->stats->tuples_removed += n_dead;
		vacuum->stats->num_index_tuples += hamming_count(page);
	}
}

/* Vacuum a page of any kind. Its kind never changes once it is written. */
static void
vacuum_page(HammingVacuum *vacuum, BlockNumber block)
{
	Buffer buffer = simdup_hamming_lock_any(vacuum->info->index, block,
											vacuum->info->strategy);
	Page page = BufferGetPage(buffer);
	bool is_leaf = !PageIsNew(page) && hamming_is_leaf(page);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (is_leaf)
	{
		LockBufferForCleanup(buffer);
		vacuum_leaf(vacuum, buffer);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buffer);
}

IndexBulkDeleteResult *
simdup_hamming_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
						   IndexBulkDeleteCallback callback, void *state)
{
	HammingVacuum vacuum = {info, stats, callback, state};
	BlockNumber block = HAMMING_META_BLOCK + 1;
	BlockNumber ahead = block; /* the first that was not asked for */
	int distance = get_tablespace_maintenance_io_concurrency(
		info->index->rd_rel->reltablespace);
	BlockNumber n_blocks;

	if (stats == NULL)
		vacuum.stats = stats = palloc0(sizeof(IndexBulkDeleteResult));
	/* an index of another version is an error */
	(void) simdup_hamming_roots(info->index, false);
	stats->num_index_tuples = 0;
	stats->estimated_count = false;
	while (block < (n_blocks = RelationGetNumberOfBlocks(info->index)))
		for (; block < n_blocks; block++)
		{
			SIMDUP_VACUUM_DELAY();
			for (ahead = Max(ahead, block + 1);
				 ahead < n_blocks && ahead <= block + distance; ahead++)
				PrefetchBuffer(info->index, MAIN_FORKNUM, ahead);
			vacuum_page(&vacuum, block);
		}
	return stats;
}

IndexBulkDeleteResult *
simdup_hamming_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	/* nothing was deleted: an entry for each row, as far as they are known */
	if (stats == NULL)
	{
		stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = info->num_heap_tuples;
		stats->estimated_count = info->estimated_count;
	}
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}

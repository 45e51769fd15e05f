/*
 * page.c
 *	  Pages of a hamming index: written as images, read with checks.
 *
 * A search that follows right links checks that high keys rise. So it ends on a
 * damaged page too, with an error.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "pgstat.h"
#include "storage/lmgr.h"

#include "index/hamming/page.h"

/* A page of any tree and level is expected, or a new one. */
#define ANY_TREE (-1)

void
simdup_hamming_init_page(Page page, int tree, int level)
{
	HammingHead *head = hamming_head(page);

	PageInit(page, BLCKSZ, 0);
	head->right = InvalidBlockNumber;
	head->tree = (uint8) tree;
	head->level = (uint8) level;
	head->page_id = HAMMING_PAGE_ID;
	simdup_hamming_set_count(page, 0);
}

void
simdup_hamming_init_meta(Page page, const BlockNumber *roots, const int *levels)
{
	HammingMeta *meta = (HammingMeta *) PageGetContents(page);

	PageInit(page, BLCKSZ, 0);
	meta->magic = HAMMING_MAGIC;
	meta->version = HAMMING_VERSION;
	for (int tree = 0; tree < HAMMING_TREES; tree++)
	{
		meta->root[tree] = roots[tree];
		meta->level[tree] = levels[tree];
	}
	((PageHeader) page)->pd_lower =
		(LocationIndex) (PageGetContents(page) + sizeof(HammingMeta) -
						 (char *) page);
}

/*
 * Return where n TIDs or links begin, which is pd_upper. More than a page holds
 * would begin before it: the result is negative then.
 */
static int
end_of_hole(Page page, int n)
{
	Size width =
		hamming_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(HammingLink);

	return BLCKSZ - n * (int) width;
}

void
simdup_hamming_set_count(Page page, int n)
{
	PageHeader header = (PageHeader) page;

	header->pd_lower =
		(LocationIndex) (HAMMING_VALUES_OFFSET + n * sizeof(uint64));
	header->pd_upper = (LocationIndex) end_of_hole(page, n);
}

void
simdup_hamming_set_right(Page page, BlockNumber right,
						 const SimdupSortItem *high)
{
	HammingHead *head = hamming_head(page);

	head->right = right;
	head->high_value = high->value;
	hamming_tid_of_row(high->row, &head->high_tid);
}

void
simdup_hamming_fill_leaf(Page page, const SimdupSortItem *entries, int n)
{
	uint64 *values = hamming_values(page);

	for (int i = 0; i < n; i++)
	{
		values[i] = entries[i].value;
		hamming_tid_of_row(entries[i].row, hamming_tid(page, i));
	}
	simdup_hamming_set_count(page, n);
	hamming_head(page)->n_sorted = (uint16) n;
}

int
simdup_hamming_sorted_entries(Page page, SimdupSortItem *entries)
{
	int n = hamming_count(page);

	for (int i = 0; i < n; i++)
		entries[i] = hamming_leaf_entry(page, i);
	simdup_sort_pairs(entries, n);
	return n;
}

void
simdup_hamming_set_child(Page page, int i, const SimdupSortItem *low,
						 BlockNumber child)
{
	HammingLink *link = hamming_link(page, i);

	hamming_values(page)[i] = low->value;
	hamming_tid_of_row(low->row, &link->tid);
	BlockIdSet(&link->child, child);
}

void
simdup_hamming_corrupted(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
			errmsg("index \"%s\" is corrupted at block %u",
				   RelationGetRelationName(index), block),
			errdetail_internal("%s", what), errhint("Please REINDEX it."));
}

Buffer
simdup_hamming_read(Relation index, BlockNumber block)
{
	if (block == InvalidBlockNumber)
		simdup_hamming_corrupted(index, block, "A link leads nowhere.");
	/* the storage manager's error would not tell that the index is wrong */
	if (RelationGetTargetBlock(index) == InvalidBlockNumber ||
		block >= RelationGetTargetBlock(index))
	{
		BlockNumber n_blocks = RelationGetNumberOfBlocks(index);

		if (block >= n_blocks)
			simdup_hamming_corrupted(index, block,
									 "The block is behind the end of the file.");
		RelationSetTargetBlock(index, n_blocks);
	}
	return ReadBuffer(index, block);
}

/* Return the fault of a page of this tree and level, or NULL. */
static const char *
find_fault(Page page, int tree, int level)
{
	PageHeader header = (PageHeader) page;
	HammingHead *head = hamming_head(page);
	int count = hamming_count(page);

	if (PageIsNew(page))
		return tree == ANY_TREE ? NULL : "The page is zero.";
	if (PageGetPageSize(page) != BLCKSZ || header->pd_special != BLCKSZ)
		return "The page header is not that of such a page.";
	if (head->page_id != HAMMING_PAGE_ID)
		return "The page is not one of a hamming index.";
	if (tree == ANY_TREE &&
		(head->tree >= HAMMING_TREES || head->level >= HAMMING_MAX_LEVELS))
		return "The page is of no tree or level.";
	if (tree != ANY_TREE && (head->tree != tree || head->level != level))
		return "The page is of another tree or level.";
	if (header->pd_lower < HAMMING_VALUES_OFFSET ||
		header->pd_lower != HAMMING_VALUES_OFFSET + count * sizeof(uint64) ||
		header->pd_upper != end_of_hole(page, count) ||
		header->pd_lower > header->pd_upper ||
		(head->level > 0 && (count == 0 || head->n_sorted > 0)) ||
		head->n_sorted > count)
		return "The number of entries is impossible.";
	return NULL;
}

void
simdup_hamming_lock(Relation index, Buffer buffer, int mode, int tree,
					int level)
{
	const char *fault;

	LockBuffer(buffer, mode);
	fault = find_fault(BufferGetPage(buffer), tree, level);
	if (fault != NULL)
		simdup_hamming_corrupted(index, BufferGetBlockNumber(buffer), fault);
}

Buffer
simdup_hamming_lock_any(Relation index, BlockNumber block,
						BufferAccessStrategy strategy)
{
	Buffer buffer =
		ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);

	simdup_hamming_lock(index, buffer, BUFFER_LOCK_SHARE, ANY_TREE, 0);
	return buffer;
}

void
simdup_hamming_check_tid(Relation index, BlockNumber block,
						 const ItemPointerData *tid, BlockNumber *heap_blocks)
{
	BlockNumber heap_block = ItemPointerGetBlockNumberNoCheck(tid);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(tid);

	if (heap_block >= *heap_blocks)
	{
		/* a bitmap scan is not told of the table, which the executor has locked */
		Relation heap = table_open(index->rd_index->indrelid, NoLock);

		*heap_blocks = RelationGetNumberOfBlocks(heap);
		table_close(heap, NoLock);
	}
	if (offset == InvalidOffsetNumber || offset > MaxHeapTuplesPerPage ||
		heap_block >= *heap_blocks)
		simdup_hamming_corrupted(index, block,
								 "A TID is not one of the table.");
}

HammingCache *
simdup_hamming_cache(Relation index)
{
	if (index->rd_amcache == NULL)
		index->rd_amcache =
			MemoryContextAllocZero(index->rd_indexcxt,
								   offsetof(HammingCache, hints));
	return index->rd_amcache;
}

HammingMeta
simdup_hamming_roots(Relation index, bool fresh)
{
	HammingCache *cache = simdup_hamming_cache(index);
	HammingMeta meta;
	Buffer buffer;
	Page page;

	if (!fresh && cache->roots.magic != 0)
		return cache->roots;
	buffer = simdup_hamming_read(index, HAMMING_META_BLOCK);
	page = BufferGetPage(buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	meta = *(HammingMeta *) PageGetContents(page);
	if (PageIsNew(page) || meta.magic != HAMMING_MAGIC)
		simdup_hamming_corrupted(index, HAMMING_META_BLOCK,
								 "The metapage is not one of a hamming index.");
	if (meta.version != HAMMING_VERSION)
		ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" has version %u, but version %u is supported",
					   RelationGetRelationName(index), meta.version,
					   HAMMING_VERSION),
				errhint("Please REINDEX it."));
	for (int tree = 0; tree < HAMMING_TREES; tree++)
		if (meta.level[tree] >= HAMMING_MAX_LEVELS)
			simdup_hamming_corrupted(index, HAMMING_META_BLOCK,
									 "A tree is too high.");
	UnlockReleaseBuffer(buffer);
	/* an invalidation may have freed the cache since */
	simdup_hamming_cache(index)->roots = meta;
	return meta;
}

Buffer
simdup_hamming_step_right(Relation index, Buffer buffer, int mode, int tree,
						  int level)
{
	Page page = BufferGetPage(buffer);
	SimdupSortItem high = hamming_high_key(page);
	BlockNumber right = hamming_head(page)->right;
	Buffer next;

	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	next = simdup_hamming_read(index, right);
	simdup_hamming_lock(index, next, mode, tree, level);
	if (!hamming_below_high_key(BufferGetPage(next), &high))
		simdup_hamming_corrupted(index, right, "High keys do not rise.");
	return next;
}

Buffer
simdup_hamming_extend(Relation index, ForkNumber fork)
{
#ifdef SIMDUP_HAVE_EXTEND_BUFFERED_REL
	return ExtendBufferedRel(BMR_REL(index), fork, NULL, EB_LOCK_FIRST);
#else
	bool lock = !RELATION_IS_LOCAL(index);
	Buffer buffer;

	if (lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
#endif
}

/*
 * Where a backend last found the pages of a hamming index.
 *
 * A search reads a hundred pages or more, and most are in memory. To find their
 * buffers in the server's table takes a large part of its time. So a backend
 * remembers them, which saves 42 % of it (RESULTS.md). They are guesses:
 * ReadRecentBuffer looks whether the page is still there. The same array tells
 * which pages the server is to read ahead. To prefetch a page reads no byte of
 * it, so it takes no lock and no pin: a wrong guess costs a line of the cache.
 *
 * The server does not count such a use of a buffer when it chooses the next one
 * to be evicted. So some reads go through the table all the same. After a wrong
 * guess, pages are being evicted, and a number of reads in a row do.
 */

/* More pages than this share hints. */
#define MAX_HINTS 262144

/* One read of this number goes through the server's table. */
#define COUNTED_READS 64

/* So do this number of reads after a wrong guess. */
#define DOUBTFUL_READS 256

#define CACHE_LINE 64

/* Values before and behind the guessed one that are loaded. */
#define VALUES_BEFORE 16
#define VALUES_BEHIND 24

/* Reads that are still to go through the table. */
static int n_doubtful = 0;

void
simdup_hamming_make_hints(Relation index)
{
	HammingCache *cache = simdup_hamming_cache(index);
	uint32 n_hints = cache->n_hints;
	BlockNumber n_blocks = RelationGetTargetBlock(index);

	if (n_blocks == InvalidBlockNumber || RelationUsesLocalBuffers(index) ||
		n_hints >= Min(n_blocks, MAX_HINTS))
		return;
	n_hints = Min(n_blocks + n_blocks / 4, MAX_HINTS);
	cache = repalloc_huge(cache, offsetof(HammingCache, hints) +
									 n_hints * sizeof(HammingHint));
	memset(&cache->hints[cache->n_hints], 0,
		   (n_hints - cache->n_hints) * sizeof(HammingHint));
	cache->n_hints = n_hints;
	index->rd_amcache = cache;
}

static HammingHint *
hint_of(Relation index, BlockNumber block)
{
	HammingCache *cache = index->rd_amcache;

	/* an invalidation may have freed it since */
	if (cache == NULL || cache->n_hints == 0)
		return NULL;
	return &cache->hints[block < cache->n_hints ? block
												: block % cache->n_hints];
}

Buffer
simdup_hamming_read_again(Relation index, BlockNumber block)
{
	static uint32 n_reads = 0;
	HammingHint *hint = hint_of(index, block);
	Buffer buffer;

	if (n_doubtful > 0)
		n_doubtful--;
	else if (hint != NULL && hint->buffer != InvalidBuffer &&
			 ++n_reads % COUNTED_READS != 0)
	{
		if (ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, block,
							 hint->buffer))
		{
			pgstat_count_buffer_read(index);
			pgstat_count_buffer_hit(index);
			return hint->buffer;
		}
		n_doubtful = DOUBTFUL_READS;
	}
	buffer = simdup_hamming_read(index, block);
	/* the metapage may have been read for the first time */
	if (hint != NULL)
		hint->buffer = buffer;
	return buffer;
}

void
simdup_hamming_remember(Relation index, Buffer buffer)
{
	HammingHint *hint = hint_of(index, BufferGetBlockNumber(buffer));
	Page page = BufferGetPage(buffer);

	if (hint == NULL)
		return;
	hint->n = (uint16) hamming_count(page);
	hint->n_sorted =
		hamming_is_leaf(page) ? hamming_head(page)->n_sorted : hint->n;
}

void
simdup_hamming_read_ahead(Relation index, BlockNumber block)
{
	HammingHint *hint = hint_of(index, block);
	PrefetchBufferResult result;

	if ((hint != NULL && hint->buffer != InvalidBuffer && n_doubtful == 0) ||
		RelationGetTargetBlock(index) == InvalidBlockNumber ||
		block >= RelationGetTargetBlock(index))
		return;
	result = PrefetchBuffer(index, MAIN_FORKNUM, block);
	if (hint != NULL && BufferIsValid(result.recent_buffer))
		hint->buffer = result.recent_buffer;
}

/* Prefetch values. This is inlined, because gcc drops calls that only prefetch. */
static pg_attribute_always_inline void
prefetch_values(const uint64 *values, int from, int to)
{
	for (int i = from; i < to; i += CACHE_LINE / (int) sizeof(uint64))
		__builtin_prefetch(values + i);
}

void
simdup_hamming_prefetch(Relation index, BlockNumber block, uint64 low,
						uint64 near, uint64 until)
{
	HammingHint *hint = hint_of(index, block);
	Page page;
	int at;

	if (hint == NULL || hint->buffer == InvalidBuffer)
		return;
	page = BufferGetPage(hint->buffer);
	at = simdup_guess_position(near, low, until, hint->n_sorted);
	__builtin_prefetch(page);
	prefetch_values(hamming_values(page), Max(at - VALUES_BEFORE, 0),
					Min(at + VALUES_BEHIND, hint->n_sorted));
	prefetch_values(hamming_values(page), hint->n_sorted, hint->n);
}

/*
 * The search begins where the child would be if keys were evenly spread. Low
 * keys of one value are in the order of their TIDs.
 */
int
simdup_hamming_find_child(Page page, int from, const SimdupSortItem *key)
{
	const uint64 *values = hamming_values(page);
	int n = hamming_count(page);
	int guess =
		from + 1 +
		simdup_guess_position(key->value, values[from],
							  hamming_high_key(page).value, n - from - 1);
	int next = simdup_first_not_below(values, from + 1, n, key->value, guess);
	int high = n;

	if (next < n && values[next] == key->value && key->value < PG_UINT64_MAX)
		high = simdup_first_not_below(values, next, n, key->value + 1, next);
	while (next < high && values[next] == key->value)
	{
		int middle = (next + high) / 2;
		SimdupSortItem low = hamming_low_key(page, middle);

		if (simdup_item_less(key, &low))
			high = middle;
		else
			next = middle + 1;
	}
	return next - 1;
}

/* Descents */

/*
 * A root that was split since it was cached has a right sibling. Ask for the
 * new one then; if there is none yet, right links serve.
 */
Buffer
simdup_hamming_lock_root(Relation index, int tree, int level, int mode,
						 int *root_level)
{
	for (bool fresh = false;; fresh = true)
	{
		HammingMeta roots = simdup_hamming_roots(index, fresh);
		Buffer buffer;

		*root_level = (int) roots.level[tree];
		if (*root_level < level)
		{
			if (fresh)
				simdup_hamming_corrupted(index, roots.root[tree],
										 "The tree is not high enough.");
			continue;
		}
		buffer = simdup_hamming_read_again(index, roots.root[tree]);
		simdup_hamming_lock(index, buffer,
							*root_level == level ? mode : BUFFER_LOCK_SHARE,
							tree, *root_level);
		if (fresh || hamming_is_last(BufferGetPage(buffer)))
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
}

Buffer
simdup_hamming_descend(Relation index, int tree, const SimdupSortItem *key,
					   int level, int mode)
{
	int at;
	Buffer buffer;

	CHECK_FOR_INTERRUPTS();
	buffer = simdup_hamming_lock_root(index, tree, level, mode, &at);
	for (;;)
	{
		int mode_here = at == level ? mode : BUFFER_LOCK_SHARE;
		Page page = BufferGetPage(buffer);
		BlockNumber child;

		if (!hamming_below_high_key(page, key) &&
			!(mode_here == BUFFER_LOCK_EXCLUSIVE && hamming_is_marked(page)))
		{
			buffer =
				simdup_hamming_step_right(index, buffer, mode_here, tree, at);
			continue;
		}
		if (at == level)
			return buffer;
		child = hamming_child(page, simdup_hamming_find_child(page, 0, key));
		UnlockReleaseBuffer(buffer);
		at--;
		buffer = simdup_hamming_read_again(index, child);
		simdup_hamming_lock(index, buffer,
							at == level ? mode : BUFFER_LOCK_SHARE, tree, at);
	}
}

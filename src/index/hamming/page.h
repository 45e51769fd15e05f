/*
 * page.h
 *	  Pages of a hamming index: their layout, how they are read, and how the trees of
 *	  a new index are made of them.
 *
 * A page holds the entries of its tree from its low key up to its high key. Its
 * parent stores the low key. The high key is the low key of its right sibling. A
 * head of fixed size stands between the server's page header and the values. Values
 * grow upwards from there. The TIDs of a leaf, or the links of an inner page, grow
 * downwards from the page's end. Their number follows from pd_lower. The entries of an
 * inner page are the low keys of its children, sorted. The first one covers all
 * keys below the second.
 */
#ifndef SIMDUP_INDEX_HAMMING_PAGE_H
#define SIMDUP_INDEX_HAMMING_PAGE_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "core/search/search.h"
#include "core/search/sort.h"

#define HAMMING_TREES (SIMDUP_ROTATIONS + 1)
#define HAMMING_NULL_TREE SIMDUP_ROTATIONS

/* 400 children of an inner page make this more than any file can hold. */
#define HAMMING_MAX_LEVELS 10

#define HAMMING_META_BLOCK 0
#define HAMMING_MAGIC 0x68616d6d
#define HAMMING_VERSION 2
#define HAMMING_PAGE_ID 0xff51

/* The page has a right half to which its parent has no link yet. */
#define HAMMING_INCOMPLETE_SPLIT 1

/* A search reads all of a leaf's tail. A full one is sorted in (insert.c). */
#define HAMMING_MAX_TAIL 128

#define HAMMING_MIN_FILLFACTOR 10
#define HAMMING_DEFAULT_FILLFACTOR 90
#define HAMMING_INNER_FILLFACTOR 90

/*
 * The head of a page. The high key means nothing where right is invalid.
 * The values behind it begin at a cache line.
 */
typedef struct HammingHead
{
	uint64 high_value;
	ItemPointerData high_tid;
	uint16 flags;
	BlockNumber right; /* InvalidBlockNumber on the last page of a level */
	uint16 n_sorted;   /* entries of a leaf, from the first on */
	uint8 tree;
	uint8 level; /* 0 is a leaf */
	uint16 page_id;
	uint16 unused[7];
} HammingHead;

typedef struct HammingMeta
{
	uint32 magic;
	uint32 version;
	BlockNumber root[HAMMING_TREES];
	uint32 level[HAMMING_TREES]; /* of the root */
} HammingMeta;

/* The child of a low key on an inner page. */
typedef struct HammingLink
{
	ItemPointerData tid;
	BlockIdData child;
} HammingLink;

/* Where the first value is. */
#define HAMMING_VALUES_OFFSET \
	(MAXALIGN(SizeOfPageHeaderData) + sizeof(HammingHead))
#define HAMMING_CONTENT_SIZE (BLCKSZ - HAMMING_VALUES_OFFSET)
#define HAMMING_LEAF_CAPACITY \
	((int) (HAMMING_CONTENT_SIZE / (sizeof(uint64) + sizeof(ItemPointerData))))
#define HAMMING_INNER_CAPACITY \
	((int) (HAMMING_CONTENT_SIZE / (sizeof(uint64) + sizeof(HammingLink))))

StaticAssertDecl(HAMMING_LEAF_CAPACITY <= SIMDUP_MAX_FOUND,
				 "a page's values fit in a search");
StaticAssertDecl(sizeof(HammingLink) == 10, "links are packed");
StaticAssertDecl(HAMMING_VALUES_OFFSET == 64, "values begin at a cache line");

static inline HammingHead *
hamming_head(Page page)
{
	return (HammingHead *) PageGetContents(page);
}

static inline uint64 *
hamming_values(Page page)
{
	return (uint64 *) (page + HAMMING_VALUES_OFFSET);
}

static inline int
hamming_count(Page page)
{
	return (int) ((((PageHeader) page)->pd_lower - HAMMING_VALUES_OFFSET) /
				  sizeof(uint64));
}

/* Return TID i of a leaf, counted downwards from the page's end. */
static inline ItemPointer
hamming_tid(Page page, int i)
{
	return (ItemPointer) (page + BLCKSZ) - (i + 1);
}

static inline HammingLink *
hamming_link(Page page, int i)
{
	return (HammingLink *) (page + BLCKSZ) - (i + 1);
}

static inline BlockNumber
hamming_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&hamming_link(page, i)->child);
}

static inline bool
hamming_is_leaf(Page page)
{
	return hamming_head(page)->level == 0;
}

static inline bool
hamming_is_marked(Page page)
{
	return (hamming_head(page)->flags & HAMMING_INCOMPLETE_SPLIT) != 0;
}

static inline bool
hamming_is_last(Page page)
{
	return hamming_head(page)->right == InvalidBlockNumber;
}

static inline uint64
hamming_row_of_tid(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		   ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
hamming_tid_of_row(uint64 row, ItemPointer tid)
{
	ItemPointerSet(tid, (BlockNumber) (row >> 16),
				   (OffsetNumber) (row & 0xffff));
}

/* Return the high key, or a key above all on the last page. */
static inline SimdupSortItem
hamming_high_key(Page page)
{
	HammingHead *head = hamming_head(page);

	if (hamming_is_last(page))
		return (SimdupSortItem){PG_UINT64_MAX, PG_UINT64_MAX};
	return (SimdupSortItem){head->high_value,
							hamming_row_of_tid(&head->high_tid)};
}

/* Check whether the key is on this page, or on one before it. */
static inline bool
hamming_below_high_key(Page page, const SimdupSortItem *key)
{
	SimdupSortItem high = hamming_high_key(page);

	return simdup_item_less(key, &high);
}

static inline SimdupSortItem
hamming_leaf_entry(Page page, int i)
{
	return (SimdupSortItem){hamming_values(page)[i],
							hamming_row_of_tid(hamming_tid(page, i))};
}

static inline SimdupSortItem
hamming_low_key(Page page, int i)
{
	return (SimdupSortItem){hamming_values(page)[i],
							hamming_row_of_tid(&hamming_link(page, i)->tid)};
}

/* Writing a page image */
extern void simdup_hamming_init_page(Page page, int tree, int level);
extern void simdup_hamming_init_meta(Page page, const BlockNumber *roots,
									 const int *levels);
extern void simdup_hamming_set_count(Page page, int n);
extern void simdup_hamming_set_right(Page page, BlockNumber right,
									 const SimdupSortItem *high);
/* Write all entries of a leaf, sorted. */
extern void simdup_hamming_fill_leaf(Page page, const SimdupSortItem *entries,
									 int n);
/* Store all entries of a leaf, sorted; their number. */
extern int simdup_hamming_sorted_entries(Page page, SimdupSortItem *entries);
extern void simdup_hamming_set_child(Page page, int i,
									 const SimdupSortItem *low,
									 BlockNumber child);

/* Reading pages, checked */

/* The place of a page when it was read last, and its contents then. */
typedef struct HammingHint
{
	Buffer buffer;
	uint16 n;
	uint16 n_sorted;
} HammingHint;

/* The state of an index that a backend remembers, in rd_amcache. */
typedef struct HammingCache
{
	HammingMeta roots; /* all zero before they are read */
	/* how each rotation's values are distributed: see walk.c */
	BlockNumber histogram_blocks; /* size of the file then; 0: unknown */
	SimdupHistogram histogram[SIMDUP_ROTATIONS];
	/* by block: see page.c */
	uint32 n_hints;
	HammingHint hints[FLEXIBLE_ARRAY_MEMBER];
} HammingCache;

extern HammingCache *simdup_hamming_cache(Relation index);

/* Pin a page that exists, without a lock or a check. */
extern Buffer simdup_hamming_read(Relation index, BlockNumber block);
pg_noreturn extern void simdup_hamming_corrupted(Relation index,
												 BlockNumber block,
												 const char *what);
/* Lock a pinned page. ERROR if it is not one of this tree and level. */
extern void simdup_hamming_lock(Relation index, Buffer buffer, int mode,
								int tree, int level);
/*
 * Return a page of any tree and level, locked for reading. It may be new: one
 * that was made for a split that failed stays so.
 */
extern Buffer simdup_hamming_lock_any(Relation index, BlockNumber block,
									  BufferAccessStrategy strategy);
/*
 * ERROR if the TID on a page is not one of the table, which has *heap_blocks at
 * least. Renews that number where it is too small.
 */
extern void simdup_hamming_check_tid(Relation index, BlockNumber block,
									 const ItemPointerData *tid,
									 BlockNumber *heap_blocks);
/*
 * Return where the trees begin: the metapage as it is with `fresh`, or as it was
 * read last.
 */
extern HammingMeta simdup_hamming_roots(Relation index, bool fresh);
/* Return the page right of a locked one, locked in the same mode. */
extern Buffer simdup_hamming_step_right(Relation index, Buffer buffer, int mode,
										int tree, int level);
/* Return a new page at the end of the file, locked exclusively. */
extern Buffer simdup_hamming_extend(Relation index, ForkNumber fork);

/* Pages that are read again and again */

/* Make room for hints of this index's pages. Before a search. */
extern void simdup_hamming_make_hints(Relation index);
/* Pin a page that was probably read before. */
extern Buffer simdup_hamming_read_again(Relation index, BlockNumber block);
/* Remember the contents of the page, which is locked. */
extern void simdup_hamming_remember(Relation index, Buffer buffer);
/* Ask the server for a page that will be read, unless it is in memory. */
extern void simdup_hamming_read_ahead(Relation index, BlockNumber block);
/*
 * Let the processor load a page that will be read, above all where the value
 * `near` may be, of those from `low` to `until`.
 */
extern void simdup_hamming_prefetch(Relation index, BlockNumber block,
									uint64 low, uint64 near, uint64 until);

/*
 * Return the child of an inner page whose range holds the key. It is `from` or
 * one after it.
 */
extern int simdup_hamming_find_child(Page page, int from,
									 const SimdupSortItem *key);

/*
 * Return the root of a tree, locked in the mode if its level is `level`, else
 * for reading. Set its level, which is at least `level`.
 */
extern Buffer simdup_hamming_lock_root(Relation index, int tree, int level,
									   int mode, int *root_level);
/*
 * Return the locked page of a level whose range holds the key. With an
 * exclusive lock, a marked page on the way is returned instead.
 */
extern Buffer simdup_hamming_descend(Relation index, int tree,
									 const SimdupSortItem *key, int level,
									 int mode);

/* The trees of a new index, written out of collected rows: tree.c */

/* Subphases in pg_stat_progress_create_index; 1 is the server's. */
#define HAMMING_PHASE_SCAN 2
#define HAMMING_PHASE_WRITE 3

/* Entries as they came: all in memory, or all in temporary files. */
typedef struct EntryStore
{
	SimdupSortItem *entries;
	size_t n; /* in memory */
	size_t size;
	size_t *budget; /* entries that all stores may still take into memory */
	int rotation;	/* of the values in memory */
	int64 n_written;
	int n_files;
	BufFile **files;
	FileSet *set; /* of the files that processes share, or NULL */
	const char *name;
} EntryStore;

/*
 * Begin a store. Stores can share a budget; each takes a first part at once. With
 * a set of files, all entries go to this participant's file of this name.
 */
extern void simdup_entry_store_init(EntryStore *store, size_t *budget,
									FileSet *set, const char *name,
									int participant);
extern void simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row);
/*
 * End adding: the entries are all in memory or all in the file. Close a shared
 * file, for others to open. Return the number of entries.
 */
extern int64 simdup_entry_store_finish(EntryStore *store);
/* Open the files of this name that all participants have finished. */
extern void simdup_entry_store_open(EntryStore *store, int n_participants);
extern void simdup_entry_store_end(EntryStore *store);

/* Where the trees stand in the file. It follows from the numbers of rows. */
typedef struct TreeLayout
{
	int per_leaf;
	int64 n_entries[HAMMING_TREES];
	BlockNumber first[HAMMING_TREES];
	BlockNumber root[HAMMING_TREES]; /* the tree's last block */
	int level[HAMMING_TREES];		 /* of the root */
	BlockNumber n_blocks;			 /* of the file */
} TreeLayout;

/* Lay out the trees for these numbers of rows with and without fingerprints. */
extern void simdup_lay_out_trees(TreeLayout *layout, int per_leaf, int64 n_rows,
								 int64 n_nulls);

/* Begin before the first tree, and end after the last one. */
extern void simdup_begin_trees(Relation index, const TreeLayout *layout);
extern void simdup_end_trees(Relation index, const TreeLayout *layout);

/*
 * Put the entries in order and write a tree. Entries in memory are sorted where
 * they are; others with this memory. Adds to the entries that all participants
 * have written.
 */
extern void simdup_write_tree(Relation index, const TreeLayout *layout,
							  int tree, EntryStore *store, int memory_kb,
							  pg_atomic_uint64 *n_written);

#endif /* SIMDUP_INDEX_HAMMING_PAGE_H */

/*
 * am.h
 *	  The access method hamming: its callbacks, and what its files share.
 */
#ifndef SIMDUP_INDEX_HAMMING_AM_H
#define SIMDUP_INDEX_HAMMING_AM_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "port/atomics.h"
#include "storage/buffile.h"
#include "utils/rel.h"

#include "index/hamming/page.h"
#include "server/spill.h"
#include "type/simhash64.h"

/*
 * Support function of an operator class, not needed for simhash64: the
 * fingerprint of a column's value. NULL says that the value has none.
 */
#define HAMMING_FINGERPRINT_PROC 1
#define HAMMING_N_PROCS 1

/* Strategies. The first two are those of the operator class simhash64_ops. */
#define SIMHASH_IN_BALL_STRATEGY 1	/* simhash64 <@ simhash_ball */
#define SIMHASH_EQUAL_STRATEGY 2	/* simhash64 = simhash64 */
#define HAMMING_DISTANCE_STRATEGY 3 /* <~> or <~~>, for order */
#define HAMMING_MUTUAL_STRATEGY 4	/* simhash_ball ~= simhash_ball */
#define HAMMING_N_STRATEGIES 4

/* Define the options, once, when the module is loaded. */
extern void simdup_hamming_init(void);

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
									 const SimdupEntry *key, int level,
									 int mode);

/* build.c */
extern IndexBuildResult *simdup_hamming_build(Relation heap, Relation index,
											  IndexInfo *info);
extern void simdup_hamming_build_empty(Relation index);

/* insert.c */
extern bool simdup_hamming_insert(Relation index, Datum *values, bool *isnull,
								  ItemPointer tid, Relation heap,
								  IndexUniqueCheck check_unique,
								  bool index_unchanged, IndexInfo *info);

/* scan.c */
extern IndexScanDesc simdup_hamming_begin_scan(Relation index, int n_keys,
											   int n_orders);
extern void simdup_hamming_rescan(IndexScanDesc scan, ScanKey keys, int n_keys,
								  ScanKey orders, int n_orders);
extern bool simdup_hamming_get_tuple(IndexScanDesc scan,
									 ScanDirection direction);
extern int64 simdup_hamming_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void simdup_hamming_end_scan(IndexScanDesc scan);
/* Return the fingerprint of the row returned last. */
extern uint64 simdup_hamming_returned(IndexScanDesc scan);

/* vacuum.c */
extern IndexBulkDeleteResult *simdup_hamming_bulk_delete(
	IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
	IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *simdup_hamming_cleanup(
	IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* cost.c */
extern void simdup_hamming_cost(PlannerInfo *root, IndexPath *path,
								double loop_count, Cost *startup, Cost *total,
								Selectivity *selectivity, double *correlation,
								double *pages);

/* handler.c: operator classes */
extern bool simdup_hamming_validate(Oid opclass);

/*
 * Set *fp to the fingerprint of the index's column, whose value FormIndexDatum
 * gave. Return false if the row has none: the value is NULL, or the operator
 * class finds no fingerprint for it.
 */
extern bool simdup_hamming_fingerprint(Relation index, Datum value,
									   bool is_null, uint64 *fp);

/*
 * Check whether the operator class computes the fingerprint of a value. Such a
 * value may be without a fingerprint and still not be NULL.
 */
extern bool simdup_hamming_computes(Relation index);

/*
 * Building: rows are collected, then written as trees.
 */

/* Subphases in pg_stat_progress_create_index; 1 is the server's. */
#define HAMMING_PHASE_SCAN 2
#define HAMMING_PHASE_WRITE 3

typedef struct HammingOptions
{
	int32 vl_len_;
	int fillfactor;
} HammingOptions;

/* tree.c: entries, and a tree out of them */

/* Entries as they came: all in memory, or all in temporary files. */
typedef struct EntryStore
{
	SimdupEntry *entries;
	size_t n; /* in memory */
	size_t size;
	size_t *budget; /* entries that all stores may still take into memory */
	int rotation;	/* of the values in memory */
	int64 n_written;
	int n_files;
	BufFile **files;
	bool is_shared; /* the file belongs to a set of files */
} EntryStore;

/* Begin a store. Stores can share a budget; each takes a first part at once. */
extern void simdup_entry_store_init(EntryStore *store, size_t *budget);
/* Send all entries to a file of this name, which other processes can open. */
extern void simdup_entry_store_share(EntryStore *store, FileSet *files,
									 const char *name);
extern void simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row);
/*
 * End adding: the entries are all in memory or all in the file. Close a shared
 * file, for others to open. Return the number of entries.
 */
extern int64 simdup_entry_store_finish(EntryStore *store);
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

/* How many entries have been written, by all who write. */
typedef struct BuildProgress
{
	pg_atomic_uint64 *n_written;
	bool reports; /* in this process's progress view */
} BuildProgress;

/*
 * Put the entries in order and write a tree. Entries in memory are sorted where
 * they are; others with this memory.
 */
extern void simdup_write_tree(Relation index, const TreeLayout *layout,
							  int tree, EntryStore *store, int memory_kb,
							  const BuildProgress *progress);

/* Begin before the first tree, and end after the last one. */
extern void simdup_begin_trees(Relation index, const TreeLayout *layout);
extern void simdup_end_trees(Relation index, const TreeLayout *layout);
/* Return the number of rows in the index. */
extern double simdup_laid_out_rows(const TreeLayout *layout);

/*
 * Scanning.
 */

/* The leaves of one tree that hold a block near the center, in order. */

/* A page to visit: the key range that its parent gave for it. */
typedef struct HammingListed
{
	BlockNumber block;
	bool is_last;	   /* the range has no end */
	uint64 low;		   /* the value where it begins */
	uint64 near;	   /* the first value in it that may be near */
	SimdupEntry until; /* where it ends */
} HammingListed;

/* How far a walk has come on one level of the tree. */
typedef struct HammingLevel
{
	SimdupEntry next; /* everything below it has been read */
	int near;		  /* the first near block not below `next` */
	bool finished;	  /* so has everything else */

	HammingListed current; /* what was listed for the page read last */
	BlockNumber right;	   /* its right sibling then, if that is next */

	/* pages to visit: `at` comes next, those before `ahead` were asked for */
	int n;
	int at;
	int ahead;
	int size;
	HammingListed *listed;
} HammingLevel;

typedef struct HammingWalk
{
	IndexScanDesc scan;
	int tree;
	bool is_whole; /* every leaf is read */

	/* the blocks near the center, ascending */
	int n_near;
	int near_size;
	uint16 *near;

	/* the near blocks that the leaf read last may hold */
	int leaf_near;
	int n_leaf_near;

	bool started;
	Buffer root; /* locked, between the start and the first visit */
	int root_level;
	int distance; /* pages that the server reads ahead */
	HammingLevel level[HAMMING_MAX_LEVELS];
} HammingWalk;

/*
 * Walk through the leaves with a block within radius of the center. 16 means all
 * leaves. The walk keeps its memory for the next one.
 */
extern void simdup_hamming_begin_walk(HammingWalk *walk, IndexScanDesc scan,
									  int tree, uint32 center, int radius);
/* Return the next leaf, locked for reading, or InvalidBuffer after the last. */
extern Buffer simdup_hamming_next_leaf(HammingWalk *walk);

/*
 * As many operands of ORDER BY fp <~> a, fp <~> b, ... decide the order here.
 * The executor orders by the others.
 */
#define HAMMING_MAX_ORDERS 8

/* nearest.c: rows in the order of their distance, stage by stage */
typedef struct HammingOrder
{
	int n;
	uint64 centers[HAMMING_MAX_ORDERS];
	bool is_null[HAMMING_MAX_ORDERS];

	bool grows;	  /* around the center; else one stage finds all */
	int limit;	  /* no row farther away is wanted */
	int complete; /* rows so near have been returned or are candidates */
	double batch; /* rows that a stage over a whole rotation keeps */
	bool wants_nulls;
	bool nulls; /* rows without a fingerprint are being returned */

	/* distances and TIDs of this stage's candidates; NULL between stages */
	SimdupPairSort *sort;
} HammingOrder;

typedef struct HammingScan
{
	/* what can fulfil the conditions: rows with a fingerprint, and without */
	bool reads_values;
	bool reads_nulls;
	/* a condition that the index cannot decide, for all rows or those without */
	bool recheck;
	bool recheck_nulls;
	int n_balls;
	SimhashBall *balls; /* the one with the least radius first */

	bool started;
	bool searches;		/* else the trees are read as a whole */
	SimhashBall search; /* what is walked through */
	bool walking;
	int tree;
	int radii[HAMMING_TREES]; /* -1: the tree is not read */
	HammingWalk walk;

	/* what radii around a center cost: see cost.c */
	bool costs_known;
	int costs_largest;
	uint64 costs_center;
	SimdupPageCosts costs[SIMDUP_ROTATIONS];

	/* the matches of a leaf, and the next to be returned */
	Buffer pin;
	int at;
	int n_matches;
	ItemPointerData matches[HAMMING_LEAF_CAPACITY];
	uint64 values[HAMMING_LEAF_CAPACITY]; /* as in the rotation */

	BlockNumber heap_blocks; /* of the table, at least */
	HammingOrder *order;	 /* NULL where no order is asked for */
	TupleTableSlot *slot;	 /* for rows looked up on a standby */
} HammingScan;

/* Walk from the start, for `search` if there is one. */
extern void simdup_hamming_begin_search(IndexScanDesc scan);
/* Go on to the next leaf with matches; false at the end. */
extern bool simdup_hamming_next_matches(IndexScanDesc scan);
/* Let go of the leaf whose matches were returned. */
extern void simdup_hamming_release_pin(HammingScan *state);

/* nearest.c */
extern void simdup_hamming_begin_order(IndexScanDesc scan);
extern bool simdup_hamming_next_nearest(IndexScanDesc scan);
/* Forget the candidates. */
extern void simdup_hamming_end_stage(HammingOrder *order);

/*
 * Return the pages that each radius around the center is expected to read in
 * each rotation, up to the largest radius at least. Valid until the next call.
 */
extern const SimdupPageCosts *simdup_hamming_page_costs(IndexScanDesc scan,
														uint64 center,
														int largest);

#endif /* SIMDUP_INDEX_HAMMING_AM_H */

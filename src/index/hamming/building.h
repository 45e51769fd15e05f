/*
 * building.h
 *	  Parts of CREATE INDEX: rows are collected, then written as trees.
 */
#ifndef SIMDUP_INDEX_HAMMING_BUILDING_H
#define SIMDUP_INDEX_HAMMING_BUILDING_H

#include "access/genam.h"
#include "port/atomics.h"
#include "storage/buffile.h"

#include "index/hamming/page.h"

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

#endif /* SIMDUP_INDEX_HAMMING_BUILDING_H */

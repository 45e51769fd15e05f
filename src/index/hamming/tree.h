/*
 * tree.h
 *	  Trees of a new hamming index, written out of collected rows.
 */
#ifndef SIMDUP_INDEX_HAMMING_TREE_H
#define SIMDUP_INDEX_HAMMING_TREE_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "utils/rel.h"

#include "index/hamming/page.h"

/* Subphases in pg_stat_progress_create_index; 1 is the server's. */
#define HAMMING_PHASE_SCAN 2
#define HAMMING_PHASE_WRITE 3

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

#endif /* SIMDUP_INDEX_HAMMING_TREE_H */

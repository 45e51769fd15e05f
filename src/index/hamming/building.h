/*
 * building.h
 *	  Parts of CREATE INDEX: rows are collected, then written as trees.
 */
#ifndef SIMDUP_INDEX_HAMMING_BUILDING_H
#define SIMDUP_INDEX_HAMMING_BUILDING_H

#include "access/genam.h"
#include "access/tableam.h"
#include "nodes/execnodes.h"
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

/* collect.c: entries in memory, and in temporary files beyond that */

/* Entries in a temporary file, read from the first to the last. */
typedef struct EntryFile
{
	BufFile *file; /* NULL: none was needed yet */
	int64 n;
} EntryFile;

extern void simdup_entry_file_append(EntryFile *file,
									 const SimdupEntry *entries, size_t n);
extern void simdup_entry_file_close(EntryFile *file);

/* Entries in the order in which they came: in memory, or else all in a file. */
typedef struct EntryStore
{
	SimdupEntry *entries;
	size_t n; /* in memory */
	size_t size;
	size_t *budget; /* entries that all stores may still take into memory */
	EntryFile file;
	bool is_shared; /* the file belongs to a set of files */
} EntryStore;

/* Begin a store. Stores can share a budget; each takes a first part at once. */
extern void simdup_entry_store_init(EntryStore *store, size_t *budget);
/* Send all entries to a file of this name, which other processes can open. */
extern void simdup_entry_store_share(EntryStore *store, FileSet *files,
									 const char *name);
/*
 * End a store: its entries are all in memory or all in the file. Close a shared
 * file, for others to open. Return the number of entries.
 */
extern int64 simdup_entry_store_finish(EntryStore *store);
extern void simdup_entry_store_end(EntryStore *store);

/* Entries that are read several times: in memory, or in files. */
typedef struct EntrySource
{
	int64 n;
	const SimdupEntry *entries; /* in memory; NULL: in the files */
	int n_files;
	EntryFile *files;
} EntrySource;

extern EntrySource simdup_entry_source(EntryStore *store);

/* Receives some of a source's entries. */
typedef void (*EntryReceiver)(void *arg, const SimdupEntry *entries, size_t n);

/* Pass all entries of the source on, list by list. */
extern void simdup_entry_source_read(EntrySource *source,
									 EntryReceiver receiver, void *arg);
/* Return entry i of the source. */
extern SimdupEntry simdup_entry_source_get(EntrySource *source, int64 i);

/* order.c: entries in the order of a rotation, leaf by leaf */

/* Receives a leaf's entries, leaf by leaf, all in ascending order. */
typedef void (*LeafReceiver)(void *arg, const SimdupEntry *entries, int n);

/* Order a source's entries. per_leaf and memory are numbers of entries. */
extern void simdup_order_entries(EntrySource *source, int rotation,
								 int per_leaf, size_t memory,
								 LeafReceiver receiver, void *arg);

/* tree.c: a tree out of leaves */

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

/* Put the entries in order and write a tree; memory in entries. */
extern void simdup_write_tree(Relation index, const TreeLayout *layout,
							  int tree, EntrySource *source, size_t memory,
							  const BuildProgress *progress);

/* Begin before the first tree, and end after the last one. */
extern void simdup_begin_trees(Relation index, const TreeLayout *layout);
extern void simdup_end_trees(Relation index, const TreeLayout *layout);
/* Return the number of rows in the index. */
extern double simdup_laid_out_rows(const TreeLayout *layout);

/* collect.c: what each participant of a build does */

/* The rows of a table, or of the part that a parallel scan gives. */
typedef struct CollectedRows
{
	EntryStore rows;
	EntryStore nulls;
	double heap_tuples;
} CollectedRows;

extern void simdup_collect_rows(Relation heap, Relation index, IndexInfo *info,
								TableScanDesc scan, bool progress,
								CollectedRows *collected);
extern int simdup_entries_per_leaf(Relation index);
/* Return the memory of each of n participants, in entries. */
extern size_t simdup_build_memory(int n_participants);

#endif /* SIMDUP_INDEX_HAMMING_BUILDING_H */

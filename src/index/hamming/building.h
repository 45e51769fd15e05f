/*
 * building.h
 *	  Parts of CREATE INDEX: rows are collected, then written as trees.
 */
#ifndef SIMDUP_INDEX_HAMMING_BUILDING_H
#define SIMDUP_INDEX_HAMMING_BUILDING_H

#include "storage/buffile.h"

#include "index/hamming/am.h"

/* Subphases in pg_stat_progress_create_index; 1 is the server's. */
#define HAMMING_PHASE_SCAN 2
#define HAMMING_PHASE_WRITE 3

typedef struct HammingOptions
{
	int32 vl_len_;
	int fillfactor;
} HammingOptions;

extern int simdup_hamming_fillfactor(Relation index);

/*
 * store.c: entries in memory, and in temporary files beyond that
 */

/* Entries in a temporary file, read from the first to the last. */
typedef struct EntryFile
{
	BufFile *file; /* NULL: none was needed yet */
	int64 n;
} EntryFile;

extern void simdup_entry_file_append(EntryFile *file,
									 const SimdupEntry *entries, size_t n);
extern void simdup_entry_file_rewind(EntryFile *file);
/* The next entries, at most n; their number. */
extern size_t simdup_entry_file_read(EntryFile *file, SimdupEntry *entries,
									 size_t n);
extern void simdup_entry_file_close(EntryFile *file);

/* Entries in the order in which they came: in memory, or else all in a file. */
typedef struct EntryStore
{
	SimdupEntry *entries;
	size_t n; /* in memory */
	size_t size;
	size_t limit; /* of entries in memory */
	EntryFile file;
} EntryStore;

extern void simdup_entry_store_init(EntryStore *store, size_t limit);
extern void simdup_entry_store_add(EntryStore *store, uint64 value, uint64 row);
/* The last has been added: all are in memory or all in the file. */
extern void simdup_entry_store_finish(EntryStore *store);
extern void simdup_entry_store_end(EntryStore *store);

/*
 * order.c: a store's entries in the order of a rotation, leaf by leaf
 */

/* Receives a leaf's entries, in any order, leaf by leaf in ascending order. */
typedef void (*LeafReceiver)(void *arg, const SimdupEntry *entries, int n);

/* The entries of a leaf and the memory to work in, in entries. */
extern void simdup_order_entries(EntryStore *store, int rotation, int per_leaf,
								 size_t memory, LeafReceiver receiver,
								 void *arg);

/*
 * pages.c: pages go to a new relation, in the order of their blocks
 */

typedef struct PageWriter PageWriter;

extern PageWriter *simdup_page_writer_begin(Relation index);
/* Block 0 is kept free for simdup_page_writer_end. */
extern BlockNumber simdup_page_writer_next(PageWriter *writer);
extern void simdup_page_writer_add(PageWriter *writer, Page page);
extern void simdup_page_writer_end(PageWriter *writer, Page first);

/*
 * tree.c: a tree out of leaves
 */

typedef struct TreeWriter
{
	PageWriter *pages;
	int tree;
	int level;
	PGAlignedBlock page; /* the page that waits for its high key */
	bool waits;
	/* the low keys and blocks of the level's pages */
	SimdupEntry *low;
	BlockNumber *block;
	int64 n;
	int64 size;
	int64 rows;
} TreeWriter;

extern void simdup_tree_writer_begin(TreeWriter *writer, PageWriter *pages,
									 int tree);
extern void simdup_tree_writer_add_leaf(void *writer,
										const SimdupEntry *entries, int n);
/* The inner pages; the root's block and level. */
extern BlockNumber simdup_tree_writer_end(TreeWriter *writer, int *level);

#endif /* SIMDUP_INDEX_HAMMING_BUILDING_H */

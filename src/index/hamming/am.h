/*
 * am.h
 *	  The access method hamming: its callbacks, strategies and fingerprints.
 */
#ifndef SIMDUP_INDEX_HAMMING_AM_H
#define SIMDUP_INDEX_HAMMING_AM_H

#include "access/amapi.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

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

/* Check whether the operator class is text_ops, which takes texts as prose. */
extern bool simdup_hamming_reads_prose(Relation index);

/* Support function 1 of text_ops: index/support.c. */
extern PGDLLEXPORT Datum simdup_text_fingerprint(PG_FUNCTION_ARGS);

/* Callbacks: build.c */

/* Check an index that is built concurrently: triggers. */
extern void (*simdup_hamming_check_late)(Relation index);

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

/*
 * Ask the caller of a scan about each leaf, which is locked. One that it knows is passed
 * over. A leaf of another LSN has changed. Nothing is asked where changes are not logged.
 */
typedef bool (*HammingKnowsLeaf)(void *arg, BlockNumber leaf, XLogRecPtr lsn);
extern void simdup_hamming_pass_over(IndexScanDesc scan, HammingKnowsLeaf knows,
									 void *arg);

/* vacuum.c */
extern IndexBulkDeleteResult *simdup_hamming_bulk_delete(
	IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
	IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *simdup_hamming_cleanup(
	IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* scan_cost.c */
extern void simdup_hamming_cost(PlannerInfo *root, IndexPath *path,
								double loop_count, Cost *startup, Cost *total,
								Selectivity *selectivity, double *correlation,
								double *pages);

#endif /* SIMDUP_INDEX_HAMMING_AM_H */

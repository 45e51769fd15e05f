/*
 * compat.h
 *	  What differs between the server versions simdup builds for (15 to 19),
 *	  in one place. Include it right after postgres.h.
 */
#ifndef SIMDUP_COMPAT_H
#define SIMDUP_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simdup needs PostgreSQL 15 or later"
#endif

/* varlena macros left postgres.h in 16 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* soft input errors came with 16; before, an input error is an error */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define ereturn(context, result, ...) ereport(ERROR, __VA_ARGS__)
#endif

/* fmgr.h declares it from 16 */
#if PG_VERSION_NUM < 160000
extern void _PG_init(void);
#endif

/* pg_noreturn took the place of pg_attribute_noreturn() in 18 */
#ifndef pg_noreturn
#define pg_noreturn pg_attribute_noreturn()
#endif

/* PG_MODULE_MAGIC_EXT came with 18 */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#endif

/* tuplesort_getdatum can do without a copy since 16; before, it always copies */
#if PG_VERSION_NUM >= 160000
#define simdup_tuplesort_getdatum(state, value, isnull) \
	tuplesort_getdatum(state, true, true, value, isnull, NULL)
#else
#define simdup_tuplesort_getdatum(state, value, isnull) \
	tuplesort_getdatum(state, true, value, isnull, NULL)
#endif

/* LockHeldByMe took a third argument in 17: do stronger locks count? */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_LOCK_HELD(tag, mode) LockHeldByMe(tag, mode, false)
#else
#define SIMDUP_LOCK_HELD(tag, mode) LockHeldByMe(tag, mode)
#endif

/* from 18 on, vacuum_delay_point takes whether ANALYZE waits */
#if PG_VERSION_NUM >= 180000
#define SIMDUP_VACUUM_DELAY() vacuum_delay_point(false)
#else
#define SIMDUP_VACUUM_DELAY() vacuum_delay_point()
#endif

/* 18 shows in EXPLAIN ANALYZE how often a scan went down its index */
#if PG_VERSION_NUM >= 180000
#define SIMDUP_COUNT_SEARCH(scan) \
	do \
	{ \
		if ((scan)->instrument != NULL) \
			(scan)->instrument->nsearches++; \
	} while (0)
#else
#define SIMDUP_COUNT_SEARCH(scan) ((void) (scan))
#endif

/* snapshots could be too old for what a page shows, until 17 */
#if PG_VERSION_NUM < 170000
#define SIMDUP_TEST_OLD_SNAPSHOT(scan, buffer) \
	TestForOldSnapshot((scan)->xs_snapshot, (scan)->indexRelation, \
					   BufferGetPage(buffer))
#else
#define SIMDUP_TEST_OLD_SNAPSHOT(scan, buffer) ((void) (buffer))
#endif

/* a relation is extended under a lock of one's own before 16 */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_HAVE_EXTEND_BUFFERED_REL
#endif

/* new files are written in bulk since 17 */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_HAVE_BULK_WRITE
#endif

/*
 * A new file grows by n pages of zeros. Before 16 the last one is written,
 * and the system gives zeros for the others.
 */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_EXTEND_WITH_ZEROS(smgr, first, n) \
	smgrzeroextend(smgr, MAIN_FORKNUM, first, (int) (n), true)
#else
#define SIMDUP_EXTEND_WITH_ZEROS(smgr, first, n) \
	do \
	{ \
		PGAlignedBlock zeros_ = {{0}}; \
		smgrextend(smgr, MAIN_FORKNUM, (first) + (n) -1, zeros_.data, true); \
	} while (0)
#endif

/*
 * How many workers a build of an index of ours may ask for. Before 17 the server
 * plans them for btree only.
 */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_INDEX_WORKERS(heap, index, info) ((info)->ii_ParallelWorkers)
#else
#define SIMDUP_INDEX_WORKERS(heap, index, info) \
	(RelationGetNumberOfBlocks(heap) == 0 \
		 ? 0 \
		 : plan_create_index_workers(RelationGetRelid(heap), \
									 RelationGetRelid(index)))
#endif

/* scans take flags since 19 */
#if PG_VERSION_NUM >= 190000
#define SIMDUP_BEGINSCAN_PARALLEL(heap, scan) \
	table_beginscan_parallel(heap, scan, SO_NONE)
#else
#define SIMDUP_BEGINSCAN_PARALLEL(heap, scan) \
	table_beginscan_parallel(heap, scan)
#endif

/* the name of a relation's file, in the relation */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_RD_LOCATOR rd_locator
#else
#define SIMDUP_RD_LOCATOR rd_node
#endif

/* estimate_array_length takes the planner's state since 17 */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_ARRAY_LENGTH(root, array) estimate_array_length(root, array)
#else
#define SIMDUP_ARRAY_LENGTH(root, array) \
	((void) (root), (double) estimate_array_length(array))
#endif

/* object_ownercheck took the place of pg_class_ownercheck in 16 */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_OWNS_TABLE(table, user) \
	object_ownercheck(RelationRelationId, table, user)
#else
#define SIMDUP_OWNS_TABLE(table, user) pg_class_ownercheck(table, user)
#endif

/* rights of functions: object_aclcheck took the place of others in 16 */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_FUNCTION_ACLCHECK(function, user) \
	object_aclcheck(ProcedureRelationId, function, user, ACL_EXECUTE)
#else
#define SIMDUP_FUNCTION_ACLCHECK(function, user) \
	pg_proc_aclcheck(function, user, ACL_EXECUTE)
#endif

/* columns that have no counterpart are an error, or since 16 may be missing */
#if PG_VERSION_NUM >= 160000
#define SIMDUP_ATTRMAP_BY_NAME(in, out) build_attrmap_by_name(in, out, true)
#else
#define SIMDUP_ATTRMAP_BY_NAME(in, out) build_attrmap_by_name(in, out)
#endif

/* index scans are counted since 18, and take flags since 19 */
#if PG_VERSION_NUM >= 190000
#define SIMDUP_INDEX_BEGINSCAN(heap, index, snapshot, n_keys, n_orders) \
	index_beginscan(heap, index, snapshot, NULL, n_keys, n_orders, SO_NONE)
#elif PG_VERSION_NUM >= 180000
#define SIMDUP_INDEX_BEGINSCAN(heap, index, snapshot, n_keys, n_orders) \
	index_beginscan(heap, index, snapshot, NULL, n_keys, n_orders)
#else
#define SIMDUP_INDEX_BEGINSCAN(heap, index, snapshot, n_keys, n_orders) \
	index_beginscan(heap, index, snapshot, n_keys, n_orders)
#endif

/* the flag for parallel builds of an index access method came with 17 */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_CAN_BUILD_PARALLEL .amcanbuildparallel = true
#else
#define SIMDUP_CAN_BUILD_PARALLEL .amcanparallel = false
#endif

/*
 * The server keeps a pointer to an access method's routine since 19. Before, it
 * copies the routine and frees what the handler returned.
 */
#if PG_VERSION_NUM >= 190000
#define SIMDUP_AM_ROUTINE(routine) (&(routine))
#else
#define SIMDUP_AM_ROUTINE(routine) \
	memcpy(palloc(sizeof(routine)), &(routine), sizeof(routine))
#endif

/*
 * hamming/insert.c writes generic WAL records itself on servers where replay of
 * them was verified. On a later one it leaves that to the server, until somebody
 * has run hamming_crash.pl there.
 */
#if PG_VERSION_NUM < 200000
#define SIMDUP_KNOWS_GENERIC_RECORDS
#endif

/* from 17 on, maintenance runs functions with a search_path of its own */
#if PG_VERSION_NUM >= 170000
#define SIMDUP_RESTRICT_SEARCH_PATH() RestrictSearchPath()
#else
#define SIMDUP_RESTRICT_SEARCH_PATH() ((void) 0)
#endif

#endif /* SIMDUP_COMPAT_H */

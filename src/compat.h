/*
 * compat.h
 *	  What differs between the server versions simdup builds for (15 to 19),
 *	  in one place. Include it right after postgres.h.
 *
 * There is a section for each version that changed something. An older server
 * gets the newer name where it can have it.
 */
#ifndef SIMDUP_COMPAT_H
#define SIMDUP_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simdup needs PostgreSQL 15 or later"
#elif PG_VERSION_NUM >= 200000
#error \
	"hamming/insert.c writes generic WAL records: verify them by hamming_crash.pl"
#endif

#if PG_VERSION_NUM >= 160000
/* varlena macros left postgres.h, and soft input errors came */
#include "nodes/miscnodes.h"
#include "varatt.h"

/* before 16, the caller takes the lock to extend a relation */
#define SIMDUP_HAVE_EXTEND_BUFFERED_REL

/* columns that have no counterpart may be missing; before, they are an error */
#define SIMDUP_ATTRMAP_BY_NAME(in, out) build_attrmap_by_name(in, out, true)

/* columns say which outer joins may make them NULL */
#define SIMDUP_HAVE_NULLING_RELIDS

/* and clauses whether they were cloned for that */
#define SIMDUP_MAKE_RESTRICTINFO(root, clause, like) \
	make_restrictinfo(root, clause, (like)->is_pushed_down, (like)->has_clone, \
					  (like)->is_clone, (like)->pseudoconstant, \
					  (like)->security_level, (like)->required_relids, \
					  (like)->incompatible_relids, (like)->outer_relids)
#else
/* fmgr.h did not declare it */
extern void _PG_init(void);

/* an input error is an error */
#define ereturn(context, result, ...) ereport(ERROR, __VA_ARGS__)

#define SIMDUP_ATTRMAP_BY_NAME(in, out) build_attrmap_by_name(in, out)

#define SIMDUP_MAKE_RESTRICTINFO(root, clause, like) \
	make_restrictinfo(root, clause, (like)->is_pushed_down, \
					  (like)->outerjoin_delayed, (like)->pseudoconstant, \
					  (like)->security_level, (like)->required_relids, \
					  (like)->outer_relids, (like)->nullable_relids)

/* the name of a relation's file, in the relation */
#define rd_locator rd_node

/* rights had a function for each kind of object */
#define object_ownercheck(class, table, user) pg_class_ownercheck(table, user)
#define object_aclcheck(class, function, user, mode) \
	pg_proc_aclcheck(function, user, mode)

/* of n new pages the last one is written; the system gives zeros for the others */
#define smgrzeroextend(smgr, fork, first, n, skip_fsync) \
	do \
	{ \
		PGAlignedBlock zeros_ = {{0}}; \
		smgrextend(smgr, fork, (first) + (n) -1, zeros_.data, skip_fsync); \
	} while (0)
#endif

#if PG_VERSION_NUM >= 170000
/* new files are written in bulk */
#define SIMDUP_HAVE_BULK_WRITE

/* LockHeldByMe takes whether stronger locks count */
#define SIMDUP_LOCK_HELD(tag, mode) LockHeldByMe(tag, mode, false)

/* the server gates a join that is a custom scan by its clauses without columns */
#define SIMDUP_GATES_JOINS true
#define SIMDUP_SET_GATES(path, clauses) \
	((path)->custom_restrictinfo = (clauses))

/* estimate_array_length takes the planner's state */
#define SIMDUP_ARRAY_LENGTH(root, array) estimate_array_length(root, array)

/*
 * The server plans how many workers a build of an index of ours may ask for.
 * Before, it plans them for btree only.
 */
#define SIMDUP_CAN_BUILD_PARALLEL .amcanbuildparallel = true
#define SIMDUP_INDEX_WORKERS(heap, index, info) ((info)->ii_ParallelWorkers)

/* no snapshot is too old for a page */
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#else
#define SIMDUP_LOCK_HELD(tag, mode) LockHeldByMe(tag, mode)
#define SIMDUP_GATES_JOINS false
#define SIMDUP_SET_GATES(path, clauses) ((void) 0)
#define SIMDUP_ARRAY_LENGTH(root, array) \
	((void) (root), (double) estimate_array_length(array))
#define SIMDUP_CAN_BUILD_PARALLEL .amcanparallel = false
#define SIMDUP_INDEX_WORKERS(heap, index, info) \
	(RelationGetNumberOfBlocks(heap) == 0 \
		 ? 0 \
		 : plan_create_index_workers(RelationGetRelid(heap), \
									 RelationGetRelid(index)))

/* maintenance had no search_path of its own for functions */
#define RestrictSearchPath() ((void) 0)
#endif

#if PG_VERSION_NUM >= 180000
/* vacuum_delay_point takes whether ANALYZE waits */
#define SIMDUP_VACUUM_DELAY() vacuum_delay_point(false)

/* a path counts the disabled nodes in it */
#define SIMDUP_COUNT_DISABLED(path, input) \
	((path)->disabled_nodes += (input)->disabled_nodes)
#define SIMDUP_PRECHECK_PATH(rel, cost) \
	add_path_precheck(rel, 0, cost, cost, NIL, NULL)

/* the functions of EXPLAIN have headers of their own */
#define SIMDUP_EXPLAIN_FORMAT "commands/explain_format.h"
#define SIMDUP_EXPLAIN_STATE "commands/explain_state.h"

/* EXPLAIN ANALYZE shows how often a scan went down its index */
#define SIMDUP_COUNT_SEARCH(scan) \
	do \
	{ \
		if ((scan)->instrument != NULL) \
			(scan)->instrument->nsearches++; \
	} while (0)

/* NOT NULL constraints may be NOT VALID */
#define SIMDUP_IS_NOT_NULL(tupdesc, i) \
	(TupleDescCompactAttr(tupdesc, i)->attnullability == ATTNULLABLE_VALID)
#else
#ifndef pg_noreturn
#define pg_noreturn pg_attribute_noreturn()
#endif
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#define SIMDUP_VACUUM_DELAY() vacuum_delay_point()
#define SIMDUP_COUNT_DISABLED(path, input) ((void) 0)
#define SIMDUP_PRECHECK_PATH(rel, cost) \
	add_path_precheck(rel, cost, cost, NIL, NULL)
#define SIMDUP_EXPLAIN_FORMAT "commands/explain.h"
#define SIMDUP_EXPLAIN_STATE "commands/explain.h"
#define SIMDUP_COUNT_SEARCH(scan) ((void) (scan))
#define SIMDUP_IS_NOT_NULL(tupdesc, i) (TupleDescAttr(tupdesc, i)->attnotnull)

/* no generated column is virtual */
#define ATTRIBUTE_GENERATED_VIRTUAL 'v'
#define build_generation_expression build_column_default
#endif

/* index scans are counted since 18, and scans take flags since 19 */
#if PG_VERSION_NUM >= 190000
#define SIMDUP_INDEX_BEGINSCAN(heap, index, snapshot, n_keys, n_orders) \
	index_beginscan(heap, index, snapshot, NULL, n_keys, n_orders, SO_NONE)
#define SIMDUP_INDEX_FETCH_BEGIN(heap) table_index_fetch_begin(heap, SO_NONE)
#define SIMDUP_BEGINSCAN_PARALLEL(heap, scan) \
	table_beginscan_parallel(heap, scan, SO_NONE)

/* window functions may be asked to ignore NULLs, and refuse */
#define SIMDUP_REFUSE_NULL_TREATMENT(winobj, fcinfo) \
	WinCheckAndInitializeNullTreatment(winobj, false, fcinfo)

/* a join that advice rules out is disabled */
#define SIMDUP_COUNT_RULED_OUT(path, extra) \
	((path)->disabled_nodes += ((extra)->pgs_mask & PGS_FOREIGNJOIN) == 0)

/*
 * The server keeps a pointer to an access method's routine. Before, it copies
 * the routine and frees the handler's.
 */
#define SIMDUP_AM_ROUTINE(routine) (&(routine))
#else
#define SIMDUP_REFUSE_NULL_TREATMENT(winobj, fcinfo) ((void) 0)

#define SIMDUP_COUNT_RULED_OUT(path, extra) ((void) (extra))
/* no aggregate is computed below a join */
#define IS_GROUPED_REL(rel) false

#if PG_VERSION_NUM >= 180000
#define SIMDUP_INDEX_BEGINSCAN(heap, index, snapshot, n_keys, n_orders) \
	index_beginscan(heap, index, snapshot, NULL, n_keys, n_orders)
#else
#define SIMDUP_INDEX_BEGINSCAN index_beginscan
#endif
#define SIMDUP_INDEX_FETCH_BEGIN table_index_fetch_begin
#define SIMDUP_BEGINSCAN_PARALLEL table_beginscan_parallel
#define SIMDUP_AM_ROUTINE(routine) \
	memcpy(palloc(sizeof(routine)), &(routine), sizeof(routine))
#endif

#endif /* SIMDUP_COMPAT_H */

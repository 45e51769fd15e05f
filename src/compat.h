/*
 * compat.h
 *	  What differs between the server versions simdup builds for (15 to 18,
 *	  with 19 in view), in one place. Include it right after postgres.h.
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
#ifndef PG_MODULE_MAGIC_EXT
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

/* 19 wants to be told that a tuple descriptor has all its columns */
#if PG_VERSION_NUM >= 190000
#define SIMDUP_TUPLEDESC_DONE(desc) TupleDescFinalize(desc)
#else
#define SIMDUP_TUPLEDESC_DONE(desc) ((void) (desc))
#endif

#endif /* SIMDUP_COMPAT_H */

/*
 * groups.h
 *	  What a refresh and a review of a grouping read alike: the rows of its
 *	  query, and tables of keys. Arguments of the called function are found by
 *	  their names.
 */
#ifndef SIMDUP_BATCH_GROUPS_H
#define SIMDUP_BATCH_GROUPS_H

#include "batch/rows.h"

/* A query of keys and other columns, which are not null. */
typedef struct SimdupKeyReader
{
	FunctionCallInfo fcinfo;
	const char *argument;
	SimdupKeys *keys;
	const char *columns; /* in words */
	const char *example; /* and as a SELECT lists them */
	int n_keys;
	Oid types[3]; /* of the other columns; InvalidOid: no more */
	void (*take)(void *arg, Datum *keys, Datum *values);
	void *arg;
	MemoryContext context; /* reset after each row */
} SimdupKeyReader;

/* Run the query of the reader's argument; NULL is no rows. */
extern void simdup_read_keys(SimdupKeyReader reader);

/* Run the query of the argument members, which yields keys and ids. */
extern void simdup_read_members(FunctionCallInfo fcinfo, SimdupKeys *keys,
								void (*take)(void *arg, Datum *keys,
											 Datum *values),
								void *arg);

/*
 * Read the rows of the query, which is the first argument, under the path, which
 * is the third. simdup_fingerprints_end ends them.
 */
extern SimdupFingerprints *simdup_read_fingerprints(
	FunctionCallInfo fcinfo, const SimdupOptions *options);

#endif /* SIMDUP_BATCH_GROUPS_H */

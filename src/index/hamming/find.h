/*
 * find.h
 *	  Hamming indexes found and opened by functions.
 */
#ifndef SIMDUP_INDEX_HAMMING_FIND_H
#define SIMDUP_INDEX_HAMMING_FIND_H

#include "utils/rel.h"

#include "index/hamming/am.h"

/* The hamming index by which a table is searched without the planner. */

/*
 * Return the index of this name, or any if all that can be used are alike. For
 * a child that inherits from a parent, they must be like the parent's. An ERROR
 * names the CREATE INDEX to run.
 */
extern Oid simdup_hamming_choose(Relation table, const char *name,
								 Relation parent, Relation parent_index);

/* Raise the error for a table without a hamming index, or the named one. */
pg_noreturn extern void simdup_hamming_missing(Oid table, const char *name);

/* A hamming index opened by its owner, to be checked or described. */

typedef struct InspectedIndex
{
	Relation heap;
	Relation index;
	LOCKMODE mode;
	/* of the caller; functions of the index run as the table's owner */
	Oid user;
	int security;
	int guc_level;
} InspectedIndex;

/* Lock table and index. ERROR unless it is the caller's hamming index. */
extern InspectedIndex simdup_inspect_index(Oid index, LOCKMODE mode);
extern void simdup_inspect_end(InspectedIndex *opened);

#endif /* SIMDUP_INDEX_HAMMING_FIND_H */

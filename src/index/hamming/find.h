/*
 * find.h
 *	  The hamming index by which a table is searched without the planner.
 */
#ifndef SIMDUP_INDEX_HAMMING_FIND_H
#define SIMDUP_INDEX_HAMMING_FIND_H

#include "utils/rel.h"

/*
 * The index of this name, or any if all that can be used are alike. For a child
 * that inherits from a parent, they must be like the parent's. An ERROR names
 * the CREATE INDEX to run.
 */
extern Oid simdup_hamming_choose(Relation table, const char *name,
								 Relation parent, Relation parent_index);

/* The error for a table without a hamming index, or without the named one. */
pg_noreturn extern void simdup_hamming_missing(Oid table, const char *name);

#endif /* SIMDUP_INDEX_HAMMING_FIND_H */

/*
 * inspect.h
 *	  A hamming index opened by its owner, to be checked or described.
 */
#ifndef SIMDUP_INDEX_HAMMING_INSPECT_H
#define SIMDUP_INDEX_HAMMING_INSPECT_H

#include "index/hamming/am.h"

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

/*
 * Lock the table and the index; ERROR where it is no hamming index or not the
 * caller's own.
 */
extern InspectedIndex simdup_inspect_index(Oid index, LOCKMODE mode);
extern void simdup_inspect_end(InspectedIndex *opened);

#endif /* SIMDUP_INDEX_HAMMING_INSPECT_H */

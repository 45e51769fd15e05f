/*
 * chain.h
 *	  Decisions that contradict each other.
 */
#ifndef SIMDUP_GROUPS_CHAIN_H
#define SIMDUP_GROUPS_CHAIN_H

#include "groups/grouping.h"

/*
 * ERROR if a decision about two keys contradicts others. replaces: a decision
 * about the same two is there, and does not count. hides: the user may not see
 * all rows, and is not told the keys of others.
 */
extern void simdup_group_check_chain(Grouping *g, const Datum *keys, bool same,
									 bool replaces, bool hides);

#endif /* SIMDUP_GROUPS_CHAIN_H */

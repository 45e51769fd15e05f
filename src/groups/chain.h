/*
 * chain.h
 *	  Decisions that contradict each other.
 */
#ifndef SIMDUP_GROUPS_CHAIN_H
#define SIMDUP_GROUPS_CHAIN_H

#include "groups/grouping.h"

/*
 * ERROR if a decision about two keys contradicts others. With replaces, there is
 * a decision about the same two, which does not count. With hides, the user may
 * not see all rows, and the message does not have the keys of others.
 */
extern void simdup_group_check_chain(Grouping *g, const Datum *keys, bool same,
									 bool replaces, bool hides);

#endif /* SIMDUP_GROUPS_CHAIN_H */

/*
 * chain.h
 *	  Decisions that contradict each other.
 */
#ifndef SIMDUP_GROUPS_CHAIN_H
#define SIMDUP_GROUPS_CHAIN_H

#include "groups/grouping.h"

/*
 * ERROR if a decision about two keys contradicts others. replaces: a decision
 * about the same two is there, and does not count.
 */
extern void simdup_group_check_chain(Grouping *g, const Datum *keys, bool same,
									 bool replaces);

#endif /* SIMDUP_GROUPS_CHAIN_H */

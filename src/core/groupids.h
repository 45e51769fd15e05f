/*
 * groupids.h
 *	  The ids of groups that were made anew.
 *
 * Each new group takes the id of the old group with which it shares most rows.
 * Of several such pairs the one with most rows goes first, then the older id,
 * then the group with the earlier first row. Each id is taken once. A group left
 * without takes back the id that its first row last had before, if it is free,
 * else a new one.
 */
#ifndef SIMDUP_CORE_GROUPIDS_H
#define SIMDUP_CORE_GROUPIDS_H

#include <stdint.h>

/* No id: ids are above 0. */
#define SIMDUP_NO_ID 0

/*
 * Ids by shared rows. group holds the first row of each row's group, old the id
 * that each row has. Return the ids under the first rows, to be freed.
 */
extern int64_t *simdup_groupids_keep(uint32_t n, const uint32_t *group,
									 const int64_t *old);

/*
 * The rest, in the order of first rows. last holds under them the id that each
 * had last. Return the first id that was never given.
 */
extern int64_t simdup_groupids_give(uint32_t n, const uint32_t *group,
									const int64_t *last, int64_t next_id,
									int64_t *ids);

#endif /* SIMDUP_CORE_GROUPIDS_H */

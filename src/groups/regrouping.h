/*
 * regrouping.h
 *	  All rows of a table in groups anew: who is where, by which id, and what
 *	  is to be written.
 *
 * Rows are numbered from 0 in order of their age; rows that are not members
 * yet come last, in the order of their keys. Arrays take about seventy bytes a
 * row, outside maintenance_work_mem; with conditions about a hundred.
 */
#ifndef SIMDUP_GROUPS_REGROUPING_H
#define SIMDUP_GROUPS_REGROUPING_H

#include "batch/clustering.h"
#include "groups/grouping.h"

/* What is known of a row before. */
#define ROW_IS_MEMBER 1
#define ROW_LEADS 2	 /* it is its group's representative, as it is now */
#define ROW_HAS_ID 4 /* its column says the id of its group */

typedef struct Regrouping
{
	Grouping *g;
	SimdupRows *rows;
	SimdupGroups *equal; /* rows of equal fingerprint */
	uint32 n;
	uint32 capacity;
	uint64 *fp;
	int64 *old_id; /* 0: none */
	uint8 *flags;
	int64 *scope; /* a hash of it; NULL: near rows need fulfil nothing else */

	uint32 *leader; /* the number of the group's representative */
	int64 *new_id;	/* of the group, under that number */

	int64 n_gone;	/* members without a row; -1: not known */
	int64 n_groups; /* that there were; -1: not known */

	/* old ids that no group has now, and where most of their rows are */
	uint32 n_ended;
	int64 *ended_id;
	int64 *ended_into;
} Regrouping;

/* regroup_read.c: all rows, and what is known of each */
extern void simdup_regroup_read(FunctionCallInfo fcinfo, Regrouping *r);

/* regroup_rows.c: rows into groups */
extern void simdup_regroup_rows(Regrouping *r);

/* regroup_verified.c: the same, where conditions decide besides the distance */
extern void simdup_regroup_verified(Regrouping *r);
extern char *simdup_regroup_scope(Grouping *g);

/* Are the conditions fulfilled by two rows? Needs an SPI connection. */
extern bool simdup_regroup_conditions_hold(Regrouping *r, uint32 stored,
										   uint32 arriving);

/* regroup_decisions.c: what people decided comes on top */
extern void simdup_regroup_decide(Regrouping *r);

/*
 * regroup_ids.c: groups get ids. newest is the newest that there was; in a dry
 * run, new ones only follow it and are not taken from the sequence.
 */
extern void simdup_regroup_ids(Regrouping *r, bool dry, int64 newest);

/* regroup_write.c: the tables follow */
extern void simdup_regroup_write(Regrouping *r, int64 newest_old_id);

#endif /* SIMDUP_GROUPS_REGROUPING_H */

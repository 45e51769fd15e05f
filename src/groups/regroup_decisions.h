/*
 * regroup_decisions.h
 *	  The decisions of a table, by numbers of its rows, and the groups that they
 *	  rearrange.
 */
#ifndef SIMDUP_GROUPS_REGROUP_DECISIONS_H
#define SIMDUP_GROUPS_REGROUP_DECISIONS_H

#include "groups/regrouping.h"

/* Leaders of rows that are in no group now, and come again soon. */
#define STRAY (PG_UINT32_MAX - 1)
#define SENT_AWAY PG_UINT32_MAX

/* No row, no group, no rank. */
#define NONE PG_UINT32_MAX

typedef struct Decision
{
	uint32 a;
	uint32 b;
	bool same;
} Decision;

/* A row that a decision is about. */
typedef struct Decided
{
	uint32 row;
	uint32 bundle; /* equal for rows that are the same */
} Decided;

/*
 * A group is known by the number of its leader, which is a row of it. The rank
 * of a group stands for its id. An older group has a smaller rank.
 */
typedef struct Decisions
{
	Regrouping *r;
	int n;
	Decision *list;
	uint32 n_decided;
	Decided *decided; /* by row */
	uint32 *rank;	  /* of a group, under its leader's number */
	uint32 *brought;  /* by row: the rank of a group that ended; or NONE */
	uint32 n_ranks;

	/* groups near a row */
	uint32 *near;
	uint32 n_near;
	uint32 capacity;
} Decisions;

/* Fills list and decided; the rest is the caller's. */
extern void simdup_regroup_read_decisions(Decisions *d);

/* Are two rows the same, by decisions? */
extern bool simdup_regroup_tied(const Decisions *d, uint32 a, uint32 b);

/* The group of the rows that are tied to a row; NONE if none is in a group. */
extern uint32 simdup_regroup_tied_group(const Decisions *d, uint32 row);

/* Do people keep a row, with the group that it is to be in, from another? */
extern bool simdup_regroup_apart(const Decisions *d, uint32 row, uint32 group,
								 uint32 other);

#endif /* SIMDUP_GROUPS_REGROUP_DECISIONS_H */

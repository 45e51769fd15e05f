/*
 * grouping.h
 *	  Rows into groups, by either method, with people's decisions, and into
 *	  campaigns. Rows are numbered in their order.
 */
#ifndef SIMDUP_CORE_CLUSTER_GROUPING_H
#define SIMDUP_CORE_CLUSTER_GROUPING_H

#include "core/cluster/components.h"
#include "core/search/sort.h"

/*
 * Groups, each known by its first row. Rows that are equal in fingerprint, scope and
 * content form a unit, which is known by its first row, too. Nearness is defined
 * between units. Each unit is near itself, at distance 0. Constraints may be NULL: no
 * decisions.
 *
 * leader: a row whose component has a group joins it. Any other row joins the
 * group of the nearest leader near it, the earliest of equally near ones.
 * Groups with a component that is not the same as its own are passed over.
 * If no leader is left, it opens a group. A row that found no leader leads,
 * also where its component has a group.
 *
 * connected: each component is a group. Then the near pairs of rows unite their
 * groups, in order of distance, earlier row and later row. A pair is skipped if
 * it would bring together two components that are not the same.
 *
 * Neither is quadratic in the size of a group or of a unit, nor in the
 * number of decisions.
 */

#define SIMDUP_NO_ROW UINT32_MAX

/* A row that is near another one. */
typedef struct SimdupNear
{
	uint64_t row;	 /* a uint32_t, without padding */
	uint64_t weight; /* the distance, or of campaigns the containment */
} SimdupNear;

/* Return the rows near a row, itself left out; valid until the next call. */
typedef const SimdupNear *(*SimdupNearOf)(void *lists, uint32_t row, size_t *n);

typedef struct SimdupUnits
{
	uint32_t n_rows;
	uint32_t *unit; /* of each row: the first of its equals */

	/*
	 * Checks whether two units that seem near are, the later one first.
	 * NULL: all are.
	 */
	bool (*verify)(void *arg, uint32_t unit, uint32_t other);
	void *arg;

	/*
	 * For connected: the units of one fingerprint are at distance 0,
	 * and verify tells them apart. NULL: each unit is a fingerprint.
	 */
	uint32_t *same_fp; /* of each: the first of its fingerprint */
} SimdupUnits;

/*
 * The groups by leaders, by ranges of rows in their order. After a range, the
 * units of later rows are offered its leaders, and keep the nearest one.
 * So a row is compared with leaders alone.
 */
typedef struct SimdupLeading
{
	const SimdupUnits *units;
	const SimdupConstraints *constraints;
	uint32_t *group;		   /* of each row: its first row */
	uint32_t *component_group; /* of each component; NULL constraints: group */
	SimdupWordSet cannot_link; /* (component, group) */
	uint32_t *first_leader;	   /* of each unit: its first row that leads */
	uint32_t *next_leader;	   /* of a row that leads: the next of its unit */
	uint32_t *nearest;		   /* of each unit: the nearest leader so far */
	uint8_t *distance;		   /* of that one */
	SimdupSortItem *found;	   /* leaders of one row: distance, row */
	size_t room;
} SimdupLeading;

extern SimdupLeading *simdup_leading_begin(
	const SimdupUnits *units, const SimdupConstraints *constraints);

/* Check whether a row has cannot-links, and so may pass over the nearest leader. */
extern bool simdup_needs_all_leaders(const SimdupLeading *l, uint32_t row);

/* Check whether a row may lead, after the leaders before its range were offered. */
extern bool simdup_may_lead(const SimdupLeading *l, uint32_t row);

/*
 * Group the rows of the next range. near lists the units near one in which
 * a row of the range may lead, in any order. If a row of the range has cannot-links,
 * the list of its unit also has all that lead before. Leaders that are no
 * nearer than the nearest one may be missing elsewhere.
 */
extern void simdup_leading_range(SimdupLeading *l, uint32_t from, uint32_t end,
								 SimdupNearOf near, void *lists);

/* Offer a unit the first leader of another one that is near. */
extern void simdup_leading_offer(SimdupLeading *l, uint32_t unit,
								 uint32_t other, uint32_t distance);

/* Return the first row of each row's group, to be freed. Free the rest. */
extern uint32_t *simdup_leading_finish(SimdupLeading *l);

/*
 * The groups of connected rows, in steps. Distance 0 is done at first. Without
 * constraints and same_fp, the array unit is overwritten.
 */
typedef struct SimdupConnected SimdupConnected;

extern SimdupConnected *simdup_connected_begin(
	const SimdupUnits *units, const SimdupConstraints *constraints);

/*
 * Return the first representative of a unit: the first row of each
 * group in it is one. The near pairs of these rows are enough. SIMDUP_NO_ROW
 * ends them.
 */
extern uint32_t simdup_connected_first(const SimdupConnected *c, uint32_t unit);
extern uint32_t simdup_connected_next(const SimdupConnected *c, uint32_t row);

/* Check whether two rows are in different groups that may be united. */
extern bool simdup_connected_may_join(SimdupConnected *c, uint32_t a,
									  uint32_t b);

/* Unite the groups of two near rows, if that is so and their contents agree. */
extern void simdup_connected_join(SimdupConnected *c, uint32_t a, uint32_t b);

/* Return the first row of each row's group, to be freed. Free the rest. */
extern uint32_t *simdup_connected_finish(SimdupConnected *c);

/*
 * Ids. Each new group takes the id of the old group with which it shares most rows.
 * Among several such pairs the one with most rows goes first, then the older id,
 * then the group with the earlier first row. Each id is taken once.
 */

/* No id: ids are above 0. */
#define SIMDUP_NO_ID 0

/*
 * Find ids by shared rows. group holds the first row of each row's group, old
 * the id that each row has. Return the ids under the first rows, to be freed.
 */
extern int64_t *simdup_group_ids_keep(uint32_t n, const uint32_t *group,
									  const int64_t *old);

/*
 * Campaigns (centers.c): letters of which each is partly that of a center. Texts
 * are numbers from 0, in their order.
 *
 * Candidates: texts that share a value of their samples. If more than
 * SIMDUP_MANY_SHARERS texts share one, each is a candidate with the first
 * SIMDUP_FIRST_SHARERS of them and with the next one. So candidates are linear in
 * values, and no value is dropped.
 */
#define SIMDUP_MANY_SHARERS 20
#define SIMDUP_FIRST_SHARERS 10

/*
 * Return how many of the first of n texts that share a value are candidates of the
 * one at this position. If these are not all before it, the one just before it is
 * another.
 */
extern uint32_t simdup_first_candidates(uint32_t n, uint32_t position);

/*
 * Centers. A text takes its own rows, and those of its partners that are not taken
 * yet. The text that takes most rows is the next center, of equal ones the earliest,
 * until all texts are taken. Then each text that is no center joins the one that is
 * its partner with the largest containment, of equal ones the earliest.
 */

typedef struct SimdupPartners
{
	uint32_t n;				/* texts */
	const uint32_t *copies; /* by text: its rows */
	/* the partners of a text, ascending; larger containments have larger weights */
	SimdupNearOf of;
	void *lists;
} SimdupPartners;

/* Return the center of each text, to be freed. A text without partners is its own. */
extern uint32_t *simdup_find_centers(const SimdupPartners *partners);

/* Templates: letters of exchanged phrases. */

/*
 * The shingles of a block that count. A greeting, a footer and a quoted law stand in
 * the same letters as a whole, however long they are. Senders of a campaign change
 * different words of it.
 */
#define SIMDUP_MOST_OF_BLOCK 12

/* The shingles of the shortest letter that a template takes. */
#define SIMDUP_LEAST_OF_TEMPLATE 20

typedef struct SimdupTemplateLetters
{
	uint32_t n;			  /* letters */
	const uint32_t *size; /* by letter: its shingles */
	double min_containment;
	int64_t memory;			/* of a sort */
	SimdupNearOf relatives; /* of a letter, ascending */
	void *lists;
	/* Put the ids of the shingles that a letter shares, each with the letter. */
	void (*put_shingles)(void *arg, uint32_t letter, SimdupPairSort *sort);
	/* Return the letters that have a shingle, ascending; until the next call. */
	const uint32_t *(*holders)(void *arg, uint64_t id, size_t *n);
	void *arg;
} SimdupTemplateLetters;

/*
 * Return one of its letters for each template, by letter, or SIMDUP_NO_ROW. To be
 * freed.
 */
extern uint32_t *simdup_find_templates(const SimdupTemplateLetters *letters);

#endif /* SIMDUP_CORE_CLUSTER_GROUPING_H */

/*
 * grouping.h
 *	  Rows by distinct fingerprints, and into groups, by either method, with
 *	  people's decisions. Rows are numbered in their order.
 */
#ifndef SIMDUP_CORE_CLUSTER_GROUPING_H
#define SIMDUP_CORE_CLUSTER_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cluster/components.h"
#include "core/join/allpairs.h"

/*
 * Distinct fingerprints, ascending within each scope. Fingerprint i has the rows
 * numbers[starts[i]] to numbers[starts[i + 1] - 1], which ascend, too. Those of
 * scope s are scope_starts[s] to scope_starts[s + 1] - 1.
 */
typedef struct SimdupDistinctFingerprints
{
	uint32_t n;
	uint64_t *fps;
	uint32_t *starts; /* n + 1 */
	uint32_t *numbers;
	uint32_t *scope_starts;	 /* n_scopes + 1 */
	SimdupElement *elements; /* the fingerprints, to be joined */
} SimdupDistinctFingerprints;

/*
 * Find the distinct fingerprints of rows 0 to n - 1 in their scopes. Scopes are
 * numbers from 0 to n_scopes - 1; scope may be NULL if there is one. The array of
 * fingerprints becomes that of the distinct ones; the other arrays are allocated.
 */
extern SimdupDistinctFingerprints simdup_distinct_fingerprints(
	uint64_t *fps, const uint32_t *scope, uint32_t n_scopes, uint32_t n);

/*
 * Groups, each known by its first row. Rows that nothing tells from each other (one
 * fingerprint, one scope, one content) form a distinct row, which is known by its
 * first row, too. Being near is a matter of distinct rows: each distinct row is near
 * itself, at distance 0. Constraints may be NULL: no decisions.
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
 * Neither is quadratic in the size of a group or of a distinct row, nor in the
 * number of decisions.
 */

#define SIMDUP_NO_ROW UINT32_MAX

typedef struct SimdupNearRow
{
	uint32_t distinct;
	uint32_t distance;
} SimdupNearRow;

typedef struct SimdupDistinctRows
{
	uint32_t n_rows;
	uint32_t *distinct; /* of each row: the first of its equals */
	uint32_t *last_row; /* of each distinct row; for leader */
	uint32_t max_distance;

	/*
	 * For leader: the near distinct rows of a distinct row in which a row
	 * leads, itself left out, in any order; valid until the next call. Distinct
	 * rows are asked for in ascending order, but for those with a row that has
	 * a cannot-link. Distinct rows whose rows all come before that row
	 * may be missing.
	 */
	const SimdupNearRow *(*near)(void *arg, uint32_t distinct, size_t *n);

	/*
	 * The resemblance of two distinct rows, the later one first; below 0: they
	 * are not near. NULL: all are.
	 */
	double (*verify)(void *arg, uint32_t distinct, uint32_t other);
	void *arg;

	/* For leader: gets each row's resemblance to its leader; NULL: not wanted. */
	double *resemblance;

	/*
	 * For connected: the distinct rows of one fingerprint are at distance 0,
	 * and verify tells them apart. NULL: each distinct row is a fingerprint.
	 */
	uint32_t *same_fp; /* of each: the first of its fingerprint */
} SimdupDistinctRows;

/*
 * Return which distinct rows may have a row that leads, one byte a distinct
 * row. This is for leader without verify. first_near holds the first distinct
 * row before each one that is near it, or SIMDUP_NO_ROW.
 */
extern uint8_t *simdup_may_lead(const SimdupDistinctRows *distinct_rows,
								const SimdupConstraints *constraints,
								const uint32_t *first_near);

/*
 * Return the groups by leaders: the first row of each row's group, to be freed.
 */
extern uint32_t *simdup_group_by_leaders(const SimdupDistinctRows *distinct_rows,
										 const SimdupConstraints *constraints);

/*
 * The groups of connected rows, in steps. Distance 0 is done at first. Without
 * constraints and same_fp, the array distinct is overwritten.
 */
typedef struct SimdupConnected SimdupConnected;

extern SimdupConnected *simdup_connected_begin(
	const SimdupDistinctRows *distinct_rows,
	const SimdupConstraints *constraints);

/*
 * Return the first representative of a distinct row: the first row of each
 * group in it is one. The near pairs of these rows are enough. SIMDUP_NO_ROW
 * ends them.
 */
extern uint32_t simdup_connected_first(const SimdupConnected *c,
									   uint32_t distinct);
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
 * Of several such pairs the one with most rows goes first, then the older id,
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

#endif /* SIMDUP_CORE_CLUSTER_GROUPING_H */

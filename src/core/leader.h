/*
 * leader.h
 *	  The single pass: elements come in order, and each joins the first earlier
 *	  leader near it, or becomes a leader itself.
 *
 * The naive pass compares each element with every leader. Here the near pairs
 * come from the all-pairs join instead, in any order, in two rounds:
 *
 * 1. simdup_leader_near takes every near pair, and keeps the first near
 *	  predecessor of each element, four bytes. An element without one is a
 *	  leader. An element whose first near predecessor is a leader belongs to
 *	  it. simdup_leaders_settle decides these two cases, in order.
 * 2. The other elements follow an element that is not a leader itself (a
 *	  chain), and need all their near predecessors. The caller gives these to
 *	  simdup_leader_offer, ordered by element and then by predecessor.
 *
 * So memory does not grow with the number of pairs, and without chains there
 * is no second round.
 */
#ifndef SIMDUP_CORE_LEADER_H
#define SIMDUP_CORE_LEADER_H

#include <stdbool.h>
#include <stdint.h>

/* Not decided; as a predecessor: none. */
#define SIMDUP_NO_LEADER UINT32_MAX

typedef struct SimdupLeaders
{
	uint32_t n;
	uint32_t *leader;	  /* of each element; a leader is its own */
	uint32_t *first_near; /* its first near predecessor */
} SimdupLeaders;

extern void simdup_leaders_init(SimdupLeaders *leaders, uint32_t n);

/* Two elements are near each other. */
static inline void
simdup_leader_near(SimdupLeaders *leaders, uint32_t a, uint32_t b)
{
	uint32_t first = a < b ? a : b;
	uint32_t later = a < b ? b : a;

	if (first < leaders->first_near[later])
		leaders->first_near[later] = first;
}

/* Decide what round 1 can; how many elements are left for round 2. */
extern uint32_t simdup_leaders_settle(SimdupLeaders *leaders);

/* Does round 2 need this near pair? Then element and predecessor. */
extern bool simdup_leader_wants(const SimdupLeaders *leaders, uint32_t a,
								uint32_t b, uint32_t *element,
								uint32_t *predecessor);

/* Round 2, by ascending element and, within one, ascending predecessor. */
extern void simdup_leader_offer(SimdupLeaders *leaders, uint32_t element,
								uint32_t predecessor);

/*
 * The end of the last round: what found no leader is one. Frees all but the
 * array of leaders, which is the caller's from then on.
 */
extern void simdup_leaders_finish(SimdupLeaders *leaders);

#endif /* SIMDUP_CORE_LEADER_H */

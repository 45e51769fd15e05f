/*
 * leader.c
 *	  The single pass over elements whose near pairs come in any order.
 */
#include "core/host.h"
#include "core/leader.h"

void
simdup_leaders_init(SimdupLeaders *leaders, uint32_t n)
{
	leaders->n = n;
	leaders->leader = simdup_alloc((size_t) n * sizeof(uint32_t));
	leaders->first_near = simdup_alloc((size_t) n * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
	{
		leaders->leader[i] = SIMDUP_NO_LEADER;
		leaders->first_near[i] = SIMDUP_NO_LEADER;
	}
}

uint32_t
simdup_leaders_settle(SimdupLeaders *leaders)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < leaders->n; i++)
	{
		uint32_t near = leaders->first_near[i];

		if (near == SIMDUP_NO_LEADER)
			leaders->leader[i] = i;
		else if (leaders->leader[near] == near)
			leaders->leader[i] = near;
		else
			left++;
	}
	return left;
}

/* Is element i a leader, or may it still become one? */
static bool
may_lead(const SimdupLeaders *leaders, uint32_t i)
{
	return leaders->leader[i] == i || leaders->leader[i] == SIMDUP_NO_LEADER;
}

bool
simdup_leader_wants(const SimdupLeaders *leaders, uint32_t a, uint32_t b,
					uint32_t *element, uint32_t *predecessor)
{
	*element = a < b ? b : a;
	*predecessor = a < b ? a : b;
	return leaders->leader[*element] == SIMDUP_NO_LEADER &&
		   may_lead(leaders, *predecessor);
}

/*
 * All offers to the predecessor came before this one. So a predecessor that has
 * found no leader by now is a leader itself.
 */
void
simdup_leader_offer(SimdupLeaders *leaders, uint32_t element,
					uint32_t predecessor)
{
	if (leaders->leader[element] == SIMDUP_NO_LEADER &&
		may_lead(leaders, predecessor))
		leaders->leader[element] = predecessor;
}

void
simdup_leaders_finish(SimdupLeaders *leaders)
{
	for (uint32_t i = 0; i < leaders->n; i++)
		if (leaders->leader[i] == SIMDUP_NO_LEADER)
			leaders->leader[i] = i;
	simdup_free(leaders->first_near);
	leaders->first_near = NULL;
}

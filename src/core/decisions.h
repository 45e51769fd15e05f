/*
 * decisions.h
 *	  What people decided about pairs of elements, and what follows from it.
 *
 * Elements decided the same form a block, closed over chains. "Not the same"
 * then holds between two blocks. Within a block it is a contradiction.
 */
#ifndef SIMDUP_CORE_DECISIONS_H
#define SIMDUP_CORE_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SimdupDecision
{
	uint32_t a;
	uint32_t b;
	bool same;
} SimdupDecision;

typedef struct SimdupDecisions
{
	SimdupDecision *items;
	size_t n;
	size_t capacity;
} SimdupDecisions;

typedef struct SimdupBlocks
{
	uint32_t n;
	uint32_t *block; /* of each element: the smallest one of its block */
	size_t *start;	 /* by block: its part of apart; n + 1 */
	uint32_t *apart; /* the blocks that it is not the same as */
	size_t n_apart;	 /* length of apart */
} SimdupBlocks;

extern void simdup_decisions_add(SimdupDecisions *decisions, uint32_t a,
								 uint32_t b, bool same);

/*
 * Find the blocks of elements 0 to n - 1. Return the first decision that
 * contradicts others, or NULL and the blocks.
 */
extern const SimdupDecision *simdup_blocks_find(
	SimdupBlocks *blocks, uint32_t n, const SimdupDecisions *decisions);
extern void simdup_blocks_free(SimdupBlocks *blocks);

/*
 * Find the shortest chain of elements decided the same that leads from a to b.
 * Return its length, a and b included, and the chain, to be freed; 0 without.
 */
extern uint32_t simdup_decisions_chain(const SimdupDecisions *decisions,
									   uint32_t n, uint32_t a, uint32_t b,
									   uint32_t **chain);

/* The elements of a block's list. */
static inline size_t
simdup_n_apart(const SimdupBlocks *blocks, uint32_t block)
{
	return blocks->n_apart == 0
			   ? 0
			   : blocks->start[block + 1] - blocks->start[block];
}

static inline const uint32_t *
simdup_apart(const SimdupBlocks *blocks, uint32_t block)
{
	return blocks->apart + blocks->start[block];
}

#endif /* SIMDUP_CORE_DECISIONS_H */

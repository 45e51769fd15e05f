/*
 * smallest.h
 *	  The smallest of many triples of numbers, in bounded memory.
 *
 * The order in which triples come does not matter. So a page is the same whether
 * a batch ran in memory or on disk.
 */
#ifndef SIMDUP_REPORT_SMALLEST_H
#define SIMDUP_REPORT_SMALLEST_H

typedef struct SimdupTriple
{
	uint32 x;
	uint32 y;
	uint32 z;
} SimdupTriple;

typedef struct SimdupSmallest
{
	uint32 limit;
	uint32 n;
	bool full; /* the first limit triples are the smallest of so many or more */
	SimdupTriple *triples; /* twice the limit */
} SimdupSmallest;

extern void simdup_smallest_init(SimdupSmallest *list, uint32 limit);

/* False if so many smaller ones are there that this one can't matter. */
extern bool simdup_smallest_add(SimdupSmallest *list, SimdupTriple triple);

/* Sort what is left: n triples, ascending. */
extern void simdup_smallest_finish(SimdupSmallest *list);

#endif /* SIMDUP_REPORT_SMALLEST_H */

/*
 * pairsort.h
 *	  Pairs of numbers, sorted: in memory, and on disk beyond it.
 */
#ifndef SIMDUP_SERVER_PAIRSORT_H
#define SIMDUP_SERVER_PAIRSORT_H

typedef struct SimdupPairSort SimdupPairSort;

/* A new sort with so many kilobytes of memory, in the current context. */
extern SimdupPairSort *simdup_pairsort_begin(int memory_kb);
extern void simdup_pairsort_end(SimdupPairSort *sort);

/* Add all pairs, then perform, then get them in order. */
extern void simdup_pairsort_put(SimdupPairSort *sort, uint64 first,
								uint64 second);
extern void simdup_pairsort_perform(SimdupPairSort *sort);

/* The next pair, by first and then second, unsigned; false at the end. */
extern bool simdup_pairsort_get(SimdupPairSort *sort, uint64 *first,
								uint64 *second);

#endif /* SIMDUP_SERVER_PAIRSORT_H */

/*
 * group.h
 *	  Rows grouped by equal fingerprints.
 */
#ifndef SIMDUP_CORE_GROUP_H
#define SIMDUP_CORE_GROUP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sort fingerprints with their row numbers, stably, by radix: equal ones stay
 * in the order of their rows. The scratch arrays are as long.
 */
extern void simdup_sort_rows(uint64_t *fps, uint32_t *rows,
							 uint64_t *fp_scratch, uint32_t *row_scratch,
							 size_t n);

/*
 * Rows grouped by equal fingerprints, which ascend. Group i holds the rows
 * numbers[starts[i]] to numbers[starts[i + 1] - 1], which ascend, too.
 */
typedef struct SimdupRowGroups
{
	uint32_t n;
	uint64_t *fps;
	uint32_t *starts; /* n + 1 */
	uint32_t *numbers;
} SimdupRowGroups;

/*
 * Group the rows 0 to n - 1 by their fingerprints. The array of fingerprints
 * becomes that of the groups; the other arrays are allocated.
 */
extern SimdupRowGroups simdup_group_rows(uint64_t *fps, uint32_t n);

#endif /* SIMDUP_CORE_GROUP_H */

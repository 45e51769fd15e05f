/*
 * group.h
 *	  Rows grouped by equal fingerprints, and a group found by its value.
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

/* A table of ascending distinct values and a directory by their first bits. */
typedef struct SimdupGroupIndex
{
	const uint64_t *fps;
	uint32_t n;
	uint32_t *directory; /* first position of each prefix */
	int left_shift;		 /* leading bits that all values share */
	int right_shift;
} SimdupGroupIndex;

extern void simdup_group_index_init(SimdupGroupIndex *index,
									const uint64_t *fps, uint32_t n);
extern void simdup_group_index_free(SimdupGroupIndex *index);

/* Position of a value that is in the table. */
static inline uint32_t
simdup_group_find(const SimdupGroupIndex *index, uint64_t fp)
{
	uint64_t prefix = (fp << index->left_shift) >> index->right_shift;
	uint32_t low = index->directory[prefix];
	uint32_t high = index->directory[prefix + 1];

	while (high - low > 1)
	{
		uint32_t middle = low + (high - low) / 2;

		if (index->fps[middle] <= fp)
			low = middle;
		else
			high = middle;
	}
	return low;
}

#endif /* SIMDUP_CORE_GROUP_H */

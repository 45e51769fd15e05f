/*
 * groups.h
 *	  The rows of a batch, grouped by equal fingerprint.
 *
 * A row has a position in the order of fingerprints. The rows of one group
 * stand at consecutive positions, in query order. In memory all this is plain
 * arrays, beyond maintenance_work_mem temporary files; the calls below hide
 * which.
 */
#ifndef SIMDUP_BATCH_GROUPS_H
#define SIMDUP_BATCH_GROUPS_H

#include "batch/rows.h"
#include "core/group.h"
#include "server/spill.h"

/* Rows of one fingerprint: those of the first query first. */
typedef struct SimdupGroup
{
	uint64 fp;
	uint32 start;	/* position of its first row */
	uint32 n_first; /* rows that came with the first query */
	uint32 n;		/* all of them */
} SimdupGroup;

typedef struct SimdupGroups
{
	SimdupRows *rows;
	int64 n;
	SimdupRowGroups in_memory;	 /* its arrays are NULL when on disk */
	SimdupTempFile *number_file; /* by position */
	SimdupTempFile *group_file;	 /* of SimdupGroup, ascending */
} SimdupGroups;

/*
 * After the last query: group the rows, and say in a NOTICE what was skipped.
 * simdup_groups_end ends the rows, too.
 */
extern SimdupGroups *simdup_rows_group(SimdupRows *rows);
extern void simdup_groups_end(SimdupGroups *groups);

/* The group of that index, by ascending fingerprint and position. */
extern SimdupGroup simdup_groups_get(SimdupGroups *groups, int64 index);

/* The number of the row at a position. */
extern uint32 simdup_groups_row(SimdupGroups *groups, uint32 position);

/* One bit a position, in an array of bytes. */
static inline void
simdup_set_bit(uint8 *bits, uint32 position)
{
	bits[position / 8] |= (uint8) (1 << position % 8);
}

static inline bool
simdup_get_bit(const uint8 *bits, uint32 position)
{
	return (bits[position / 8] >> position % 8) & 1;
}

#endif /* SIMDUP_BATCH_GROUPS_H */

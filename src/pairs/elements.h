/*
 * elements.h
 *	  The near pairs of any number of fingerprints: core's join where they fit in
 *	  memory, and beyond it through files.
 */
#ifndef SIMDUP_PAIRS_ELEMENTS_H
#define SIMDUP_PAIRS_ELEMENTS_H

#include "server/spill.h"

/*
 * A bit in an element's index: the element is of the second set of a cross join.
 * The rest of the index is the caller's.
 */
#define SIMDUP_SECOND_SET (UINT64_C(1) << 63)

/* One join, or one join after the other of the same kind. */
typedef struct SimdupElementJoin
{
	bool cross;		/* pairs of an element of each set, else all pairs */
	int64 capacity; /* elements that fit in memory, beside their scratch */
	/* sink, progress, helpers, distance; of a cross join, a is of either set */
	SimdupPairJoin pairs;

	/* added elements; beyond the capacity in the file, in runs of the capacity */
	SimdupElement *elements;
	Size room;
	int64 n;
	SimdupTempFile *file;
	SimdupElement *scratch;
	Size scratch_room;
	int64 disk;	  /* bytes of files that are closed */
	double done;  /* share of the join that is over */
	double share; /* of the join in memory that runs */
} SimdupElementJoin;

/* Return the share of the whole join that is over, by that of the one in memory. */
static inline double
simdup_elements_share(const SimdupElementJoin *join, double done)
{
	return join->done + join->share * done;
}

/* Return how many elements fit in this memory. */
extern int64 simdup_elements_in(int64 memory);

/* Add an element to the sets that are joined next. */
extern void simdup_elements_add(SimdupElementJoin *join, uint64 fp,
								uint64 index);

/*
 * Report the near pairs, and begin the next sets. Fingerprints that are equal are
 * no pair: the fingerprints of a set are distinct.
 */
extern void simdup_elements_join(SimdupElementJoin *join);

extern void simdup_elements_end(SimdupElementJoin *join);

#endif /* SIMDUP_PAIRS_ELEMENTS_H */

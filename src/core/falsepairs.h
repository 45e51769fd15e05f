/*
 * falsepairs.h
 *	  How far apart unrelated fingerprints of a table are.
 */
#ifndef SIMDUP_CORE_FALSEPAIRS_H
#define SIMDUP_CORE_FALSEPAIRS_H

#include <stddef.h>
#include <stdint.h>

/* Size of a sample of which all pairs are compared. */
#define SIMDUP_SAMPLE_SIZE 4096

/*
 * chance[d] becomes the chance that two unrelated fingerprints are within
 * distance d of each other, for d = 0 to 64. It is estimated from the distances
 * of all pairs of the sample. All are 0 for fewer than two fingerprints.
 */
extern void simdup_false_pair_chances(const uint64_t *sample, size_t n,
									  double *chance);

/* The part of random fingerprints that are within distance k of one. */
extern double simdup_ball_fraction(int k);

#endif /* SIMDUP_CORE_FALSEPAIRS_H */

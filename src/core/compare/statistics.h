/*
 * statistics.h
 *	  What distances of fingerprints say about their texts.
 *
 * Two bins of minhash64 agree with chance J, the resemblance of the two sets. If
 * two bins do not agree, their bits are still equal by chance in half of the
 * cases. So each of the 64 bits agrees with chance (1 + J) / 2.
 */
#ifndef SIMDUP_CORE_COMPARE_STATISTICS_H
#define SIMDUP_CORE_COMPARE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Return the estimate of the resemblance where d of n bits differ, 0 to 1. */
extern double simdup_agreement_resemblance(int d, int n);

/*
 * Return the smallest distance, 0 to 64, that holds a pair of this resemblance
 * with a chance of at least recall. Both are in [0, 1].
 */
extern int simdup_agreement_distance(double resemblance, double recall);

/* How far apart unrelated fingerprints of a table are. */

/* Size of a sample of which all pairs are compared. */
#define SIMDUP_SAMPLE_SIZE 4096

/*
 * Set chance[d] to the chance that two unrelated fingerprints are within
 * distance d of each other, for d = 0 to 64. It is estimated from the distances
 * of all pairs of the sample. All are 0 for fewer than two fingerprints.
 */
extern void simdup_false_pair_chances(const uint64_t *sample, size_t n,
									  double *chance);

/* Return the part of all numbers of `bits` bits that are within distance k of one. */
extern double simdup_ball_fraction(int bits, int k);

#endif /* SIMDUP_CORE_COMPARE_STATISTICS_H */

/*
 * agreement.h
 *	  What the distance of two minhash64 fingerprints says about their texts.
 *
 * Two bins agree with chance J, the resemblance of the two sets. If two bins do
 * not agree, their bits are still equal by chance in half of the cases. So each
 * of the 64 bits agrees with chance (1 + J) / 2.
 */
#ifndef SIMDUP_CORE_AGREEMENT_H
#define SIMDUP_CORE_AGREEMENT_H

/* The estimate of the resemblance where d of n bits differ, 0 to 1. */
extern double simdup_agreement_resemblance(int d, int n);

/*
 * The smallest distance, 0 to 64, that holds a pair of this resemblance with a
 * chance of at least recall. Both are in [0, 1].
 */
extern int simdup_agreement_distance(double resemblance, double recall);

#endif /* SIMDUP_CORE_AGREEMENT_H */

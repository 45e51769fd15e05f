/*
 * entropy.h
 *	  Blocks of bits that tell fingerprints from each other equally well.
 */
#ifndef SIMDUP_CORE_JOIN_ENTROPY_H
#define SIMDUP_CORE_JOIN_ENTROPY_H

#include <stdint.h>

/* Return the entropy of the bits of `varying`, which ones[bit] tell as below. */
extern double simdup_total_entropy(uint64_t varying, const uint32_t *ones,
								   uint32_t n_sampled);

/*
 * Cut the bits of `varying` into n blocks (masks) of like entropy, which
 * ones[bit] of n_sampled fingerprints tell. varying has n bits or more.
 */
extern void simdup_cut_blocks(uint64_t varying, const uint32_t *ones,
							  uint32_t n_sampled, int n, uint64_t *blocks);

#endif /* SIMDUP_CORE_JOIN_ENTROPY_H */

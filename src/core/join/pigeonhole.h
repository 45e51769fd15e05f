/*
 * pigeonhole.h
 *	  Fingerprints cut into blocks, of which near ones have some in common.
 *
 * Two fingerprints within distance k, cut into k + 1 blocks, agree in one block
 * or more (Manku et al. 2007).
 */
#ifndef SIMDUP_CORE_JOIN_PIGEONHOLE_H
#define SIMDUP_CORE_JOIN_PIGEONHOLE_H

#include "core/fingerprint/hamming.h"

/*
 * Joins: blocks that tell fingerprints from each other equally well. A sample of
 * n_sampled fingerprints has ones[bit] ones in each bit.
 */

/* Return the entropy of the bits of `varying`. */
extern double simdup_total_entropy(uint64_t varying, const uint32_t *ones,
								   uint32_t n_sampled);

/*
 * Cut the bits of `varying` into n blocks (masks) of like entropy. varying has n
 * bits or more.
 */
extern void simdup_cut_blocks(uint64_t varying, const uint32_t *ones,
							  uint32_t n_sampled, int n, uint64_t *blocks);

/*
 * Pieces of a table, which are joined apart. A fingerprint is in the piece of
 * each of its k + 1 blocks, so a near pair is together in one piece at least.
 * Pieces depend on the arguments only, since those of one table are made on one
 * server and joined on others.
 */
#define SIMDUP_MAX_PIECE_BLOCKS (SIMDUP_MAX_PAIR_DISTANCE + 1)

typedef struct SimdupPieces
{
	uint32_t n;
	int n_blocks;
} SimdupPieces;

/*
 * List the pieces of a fingerprint, each once and ascending, in `list`, which has
 * room for SIMDUP_MAX_PIECE_BLOCKS. Return their number.
 */
extern int simdup_pieces_of(const SimdupPieces *pieces, uint64_t fp,
							uint32_t *list);

/*
 * What to lock of a fingerprint, so that near fingerprints lock one thing in
 * common and unrelated ones seldom do. For the middle distances, k + 1 blocks are
 * short, and unrelated fingerprints agree in one too often (k = 8: one pair in
 * 15). Pairs of k + 2 blocks are taken there. Near fingerprints agree in two of
 * the blocks (k = 8: one pair of unrelated fingerprints in 160 does).
 */

/* Most blocks, or pairs of blocks, that one fingerprint has. */
#define SIMDUP_MAX_LOCK_BLOCKS 65

/* Cut fp into the blocks for distance k, 0 to 64. Return their number. */
extern int simdup_lock_values(uint64_t fp, int k, uint64_t *values);

/*
 * Make the locks of the blocks, whose values have these hashes. Locks of two
 * fingerprints meet where they have one number and are equal. Return their number.
 */
extern int simdup_lock_blocks(int k, const uint32_t *hashes, uint32_t *locks);

#endif /* SIMDUP_CORE_JOIN_PIGEONHOLE_H */

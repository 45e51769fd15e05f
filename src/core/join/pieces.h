/*
 * pieces.h
 *	  Which of several pieces of a table hold a fingerprint, and which of them
 *	  reports a pair.
 *
 * Two fingerprints within distance k, cut into k + 1 blocks, agree in one block
 * or more (Manku et al. 2007). A fingerprint is in the piece of each of its
 * blocks, so a near pair is together in one piece at least. The piece of the
 * first block that the pair shares reports it.
 */
#ifndef SIMDUP_CORE_JOIN_PIECES_H
#define SIMDUP_CORE_JOIN_PIECES_H

#include <stdint.h>

#include "core/fingerprint/hamming.h"

#define SIMDUP_MAX_PIECE_BLOCKS (SIMDUP_MAX_PAIR_DISTANCE + 1)

typedef struct SimdupPieces
{
	uint32_t n;
	int n_blocks;
	int start[SIMDUP_MAX_PIECE_BLOCKS + 1]; /* first bits; then 64 */
} SimdupPieces;

extern void simdup_pieces_cut(SimdupPieces *pieces, int max_distance,
							  uint32_t n);

/*
 * List the pieces of a fingerprint, each once, in `list`, which has room for
 * SIMDUP_MAX_PIECE_BLOCKS. Return their number.
 */
extern int simdup_pieces_of(const SimdupPieces *pieces, uint64_t fp,
							uint32_t *list);

/* Return the piece that reports a pair within the distance. */
extern uint32_t simdup_piece_of_pair(const SimdupPieces *pieces, uint64_t a,
									 uint64_t b);

#endif /* SIMDUP_CORE_JOIN_PIECES_H */

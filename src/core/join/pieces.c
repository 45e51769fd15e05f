/*
 * pieces.c
 *	  The pieces of a table that hold a fingerprint.
 *
 * They depend on the arguments only, since the pieces of one table are made on one
 * server and joined on others.
 */
#include "core/join/pieces.h"

void
simdup_pieces_cut(SimdupPieces *pieces, int max_distance, uint32_t n)
{
	pieces->n = n;
	pieces->n_blocks = max_distance + 1;
	for (int i = 0; i <= pieces->n_blocks; i++)
		pieces->start[i] = simdup_block_start(i, pieces->n_blocks);
}

/* Return a block's piece: value and place hashed, scaled to the pieces. */
static uint32_t
piece_of_block(const SimdupPieces *pieces, uint64_t fp, int block)
{
	uint64_t x =
		simdup_block_bits(fp, pieces->start[block], pieces->start[block + 1]);

	x += (uint64_t) (block + 1) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t) ((x >> 32) * pieces->n >> 32);
}

int
simdup_pieces_of(const SimdupPieces *pieces, uint64_t fp, uint32_t *list)
{
	int n = 0;

	for (int block = 0; block < pieces->n_blocks; block++)
	{
		uint32_t piece = piece_of_block(pieces, fp, block);
		int i = 0;

		while (i < n && list[i] != piece)
			i++;
		if (i == n)
			list[n++] = piece;
	}
	return n;
}

uint32_t
simdup_piece_of_pair(const SimdupPieces *pieces, uint64_t a, uint64_t b)
{
	uint64_t differing = a ^ b;
	int block = 0;

	while (block < pieces->n_blocks - 1 &&
		   simdup_block_bits(differing, pieces->start[block],
							 pieces->start[block + 1]) != 0)
		block++;
	return piece_of_block(pieces, a, block);
}

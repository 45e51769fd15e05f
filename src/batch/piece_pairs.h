/*
 * piece_pairs.h
 *	  A table cut into pieces that can be joined apart: the SQL arguments, and
 *	  the packed rows.
 */
#ifndef SIMDUP_BATCH_PIECE_PAIRS_H
#define SIMDUP_BATCH_PIECE_PAIRS_H

#include "batch/rows.h"
#include "core/hamming.h"

/* Cut into n pieces; ERROR if n is out of range. */
extern void simdup_check_pieces(SimdupPieces *pieces, int max_distance, int n);

/* The number of one of them, from 0. */
extern uint32 simdup_check_piece(const SimdupPieces *pieces, int piece);

/* Read a query of arrays (keys, fingerprints), as simdup_pieces packs rows. */
extern void simdup_rows_read_packed(SimdupRows *rows, const char *text,
									const char *argument);

#endif /* SIMDUP_BATCH_PIECE_PAIRS_H */

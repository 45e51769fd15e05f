/*
 * blocks.c
 *	  simhash_blocks: a fingerprint as the array that GIN's array operators
 *	  can search (Manku et al. 2007).
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "core/hamming.h"
#include "type/simhash64.h"

/* A block of half the bits and its index fit in a bigint. 16 is k = 15. */
#define SIMHASH_MIN_BLOCKS 2
#define SIMHASH_MAX_BLOCKS 16

PG_FUNCTION_INFO_V1(simdup_simhash_blocks);
Datum
simdup_simhash_blocks(PG_FUNCTION_ARGS)
{
	uint64 fp = PG_GETARG_SIMHASH64(0);
	int n = PG_GETARG_INT32(1);
	Datum blocks[SIMHASH_MAX_BLOCKS];

	if (n < SIMHASH_MIN_BLOCKS || n > SIMHASH_MAX_BLOCKS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("number of blocks must be between %d and %d",
					   SIMHASH_MIN_BLOCKS, SIMHASH_MAX_BLOCKS),
				errdetail("The number given is %d.", n),
				errhint(
					"Fingerprints within distance k share a block of k + 1."));

	for (int i = 0; i < n; i++)
	{
		uint64 value = simdup_block_bits(fp, simdup_block_start(i, n),
										 simdup_block_start(i + 1, n));

		blocks[i] = Int64GetDatum((int64) ((uint64) i << 32 | value));
	}

	PG_RETURN_ARRAYTYPE_P(construct_array(blocks, n, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

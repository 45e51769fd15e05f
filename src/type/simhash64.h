/*
 * simhash64.h
 *	  The fingerprint type as C sees it: a uint64 passed by value, like int8.
 */
#ifndef SIMDUP_TYPE_SIMHASH64_H
#define SIMDUP_TYPE_SIMHASH64_H

#include "fmgr.h"

/* Bits in a fingerprint, and so the largest Hamming distance. */
#define SIMHASH64_BITS 64

static inline uint64
DatumGetSimhash64(Datum d)
{
	return (uint64) DatumGetInt64(d);
}

static inline Datum
Simhash64GetDatum(uint64 fp)
{
	return Int64GetDatum((int64) fp);
}

#define PG_GETARG_SIMHASH64(n) DatumGetSimhash64(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH64(fp) return Simhash64GetDatum(fp)

#endif /* SIMDUP_TYPE_SIMHASH64_H */

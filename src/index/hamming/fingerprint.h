/*
 * fingerprint.h
 *	  The fingerprint that a hamming index stores of a row.
 */
#ifndef SIMDUP_INDEX_HAMMING_FINGERPRINT_H
#define SIMDUP_INDEX_HAMMING_FINGERPRINT_H

#include "utils/relcache.h"

/*
 * Set *fp to the fingerprint of the index's column, whose value FormIndexDatum
 * gave. Return false if the row has none: the value is NULL, or the operator
 * class finds no fingerprint for it.
 */
extern bool simdup_hamming_fingerprint(Relation index, Datum value,
									   bool is_null, uint64 *fp);

/*
 * Check whether the operator class computes the fingerprint of a value. Such a
 * value may be without a fingerprint and still not be NULL.
 */
extern bool simdup_hamming_computes(Relation index);

#endif /* SIMDUP_INDEX_HAMMING_FINGERPRINT_H */

/*
 * distinct_fingerprints.h
 *	  Rows by their distinct fingerprints.
 */
#ifndef SIMDUP_CORE_CLUSTER_DISTINCT_FINGERPRINTS_H
#define SIMDUP_CORE_CLUSTER_DISTINCT_FINGERPRINTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/join/allpairs.h"

/*
 * Distinct fingerprints, ascending within each scope. Fingerprint i has the rows
 * numbers[starts[i]] to numbers[starts[i + 1] - 1], which ascend, too. Those of
 * scope s are scope_starts[s] to scope_starts[s + 1] - 1.
 */
typedef struct SimdupDistinctFingerprints
{
	uint32_t n;
	uint64_t *fps;
	uint32_t *starts; /* n + 1 */
	uint32_t *numbers;
	uint32_t *scope_starts;	 /* n_scopes + 1 */
	SimdupElement *elements; /* the fingerprints, to be joined */
} SimdupDistinctFingerprints;

/*
 * Find the distinct fingerprints of rows 0 to n - 1 in their scopes, numbers
 * from 0 to n_scopes - 1. scope may be NULL where there is one. The array of
 * fingerprints becomes that of the distinct ones; the other arrays are allocated.
 */
extern SimdupDistinctFingerprints simdup_distinct_fingerprints(
	uint64_t *fps, const uint32_t *scope, uint32_t n_scopes, uint32_t n);

#endif /* SIMDUP_CORE_CLUSTER_DISTINCT_FINGERPRINTS_H */

/*
 * sketch.h
 *	  One-permutation MinHash sketches of sets that come in any order, in any
 *	  parts, with any repetitions.
 */
#ifndef SIMDUP_CORE_SKETCH_H
#define SIMDUP_CORE_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bins of the fingerprint minhash64. */
#define SIMDUP_MINHASH64_BINS 64

typedef struct SimdupSketch
{
	int n_bins;
	uint64_t *keys;	   /* the smallest key of each bin, UINT64_MAX if none */
	uint64_t *pending; /* elements that wait until they are a batch */
	size_t n_pending;
	size_t room;	  /* for elements in pending, grows to a batch */
	size_t batch;	  /* elements of a batch, a power of two */
	uint64_t *thrown; /* some of the elements that were thrown, or NULL */
} SimdupSketch;

extern void simdup_sketch_begin(SimdupSketch *sketch, int n_bins);

/* Add elements, hashes of 64 well spread bits. Checks for interrupts. */
extern void simdup_sketch_add(SimdupSketch *sketch, const uint64_t *hashes,
							  size_t n);

/* Add the set that has these keys, as many as the sketch has bins. */
extern void simdup_sketch_merge(SimdupSketch *sketch, const uint64_t *keys);

/*
 * The keys, one a bin: a function of the set alone. Bits 32 on are the round
 * that filled the bin, the bits below are random. NULL for the empty set. More
 * elements may follow.
 */
extern const uint64_t *simdup_sketch_keys(SimdupSketch *sketch);

extern void simdup_sketch_free(SimdupSketch *sketch);

/* The fingerprint: the lowest bit of each of 64 keys, bin 0's the lowest. */
extern uint64_t simdup_sketch_fingerprint(const uint64_t *keys);

#endif /* SIMDUP_CORE_SKETCH_H */

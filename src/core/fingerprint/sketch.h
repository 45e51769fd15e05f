/*
 * sketch.h
 *	  One-permutation MinHash sketches of sets that come in any order, in any
 *	  parts, with any repetitions; signatures and their bands (Broder 1997;
 *	  Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3).
 */
#ifndef SIMDUP_CORE_FINGERPRINT_SKETCH_H
#define SIMDUP_CORE_FINGERPRINT_SKETCH_H

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
 * Return the keys, one a bin: a function of the set alone. Bits 32 on are the
 * round that filled the bin, the bits below are random. NULL for the empty set.
 * More elements may follow.
 */
extern const uint64_t *simdup_sketch_keys(SimdupSketch *sketch);

extern void simdup_sketch_free(SimdupSketch *sketch);

/* Return the fingerprint: the lowest bits of 64 keys, bin 0's lowest. */
extern uint64_t simdup_sketch_fingerprint(const uint64_t *keys);

/* MinHash signatures and their bands. */

/*
 * Compute the signature of a set of hashes, repetitions allowed, not empty. Two
 * sets agree in an element with a probability of their Jaccard similarity.
 */
extern void simdup_minhash(const uint64_t *hashes, size_t n,
						   uint32_t *signature, int n_hashes);

/* Return the number of elements in which two signatures agree. */
extern int simdup_minhash_equal(const uint32_t *a, const uint32_t *b,
								int n_hashes);

/*
 * Compute one hash for each band of n_hashes / n_bands consecutive elements;
 * a remainder takes no part. 1 <= n_bands <= n_hashes.
 */
extern void simdup_band_hashes(const uint32_t *signature, int n_hashes,
							   uint64_t *bands, int n_bands);

/* Return the probability that two sets of this similarity share a band. */
extern double simdup_band_recall(double similarity, int n_bands, int n_rows);

/*
 * Return the bands, of as many rows as possible, that find a pair at the
 * threshold with min_recall. If none does, return the number that finds most.
 */
extern int simdup_choose_bands(double threshold, int n_hashes,
							   double min_recall);

#endif /* SIMDUP_CORE_FINGERPRINT_SKETCH_H */

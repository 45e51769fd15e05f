/*
 * minhash.h
 *	  MinHash signatures and their bands (Broder 1997; Leskovec, Rajaraman and
 *	  Ullman, Mining of Massive Datasets, chapter 3).
 */
#ifndef SIMDUP_CORE_MINHASH_H
#define SIMDUP_CORE_MINHASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The signature of a set of hashes, repetitions allowed, not empty: two sets
 * agree in an element with a probability of their Jaccard similarity.
 */
extern void simdup_minhash(const uint64_t *hashes, size_t n,
						   uint32_t *signature, int n_hashes);

/* Elements in which two signatures agree. */
extern int simdup_minhash_equal(const uint32_t *a, const uint32_t *b,
								int n_hashes);

/*
 * One hash for each band of n_hashes / n_bands consecutive elements; what is
 * left over takes no part. 1 <= n_bands <= n_hashes.
 */
extern void simdup_band_hashes(const uint32_t *signature, int n_hashes,
							   uint64_t *bands, int n_bands);

/* How probably two sets of this similarity share a band. */
extern double simdup_band_recall(double similarity, int n_bands, int n_rows);

/*
 * The fewest bands, of as many rows as can be, that find a pair at the
 * threshold with min_recall; those that find most if none does.
 */
extern int simdup_choose_bands(double threshold, int n_hashes,
							   double min_recall);

#endif /* SIMDUP_CORE_MINHASH_H */

/*
 * token_counts.h
 *	  The counts of a text's distinct tokens, and their weights: step 4 of profile 1.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_TOKEN_COUNTS_H
#define SIMDUP_CORE_FINGERPRINT_TOKEN_COUNTS_H

#include "core/fingerprint/sum.h"
#include "core/fingerprint/tokenizer.h"

typedef enum SimdupWeighting
{
	SIMDUP_WEIGHTING_LOG, /* 1 + floor(log2 tf) */
	SIMDUP_WEIGHTING_TF,  /* occurrences */
	SIMDUP_WEIGHTING_SET  /* 1 */
} SimdupWeighting;

/* A distinct token. */
typedef struct SimdupTokenCount
{
	uint64_t hash;
	const char *bytes;
	uint32_t len;
	uint32_t tf; /* occurrences */
} SimdupTokenCount;

/* Bytes of tokens that do not lie in the text. */
typedef struct SimdupTokenChunk SimdupTokenChunk;

/* An open-addressing table; features lie in order of first occurrence. */
typedef struct SimdupTokenCounts
{
	SimdupHash hash;
	SimdupWeighting weighting;
	SimdupCounters *sum; /* takes the tokens as they come, or NULL */
	const char *text;	 /* tokens that lie in it need no copy */
	size_t text_len;
	SimdupTokenCount *features;
	size_t count;
	size_t capacity;		  /* of features */
	uint64_t *slots;		  /* hash tag and 1 + index of a feature, or 0 */
	size_t mask;			  /* slots - 1, slots a power of 2 */
	SimdupTokenChunk *chunks; /* copies of tokens, newest first */
	char *chunk_at;			  /* the free part of the newest */
	size_t chunk_left;
} SimdupTokenCounts;

/*
 * Begin an empty table for the tokens of a text, which must live as long as
 * the table. With a sum, every feature is added to it with its weight.
 */
extern void simdup_token_counts_begin(SimdupTokenCounts *features,
									  SimdupHash hash,
									  SimdupWeighting weighting,
									  SimdupCounters *sum, const char *text,
									  size_t len);

/* Count tokens: a SimdupTokenSink, arg being the table. */
extern void simdup_token_counts_add(void *arg, const SimdupToken *tokens,
									int count);

/* Add a token that occurs tf times, tf at least 1, and was not there before. */
extern void simdup_token_counts_add_distinct(SimdupTokenCounts *features,
											 const char *bytes, size_t len,
											 uint32_t tf);

extern void simdup_token_counts_free(SimdupTokenCounts *features);

/*
 * Keep only the n features with the largest frequencies, ties by byte order;
 * more than there are keeps all.
 */
extern void simdup_token_counts_keep_top(SimdupTokenCounts *features, size_t n);

/* Sort by frequency descending, then bytes ascending. */
extern void simdup_token_counts_sort(SimdupTokenCounts *features);

/* Return the weight of a feature that occurs tf times, tf at least 1. */
static inline uint32_t
simdup_weight(SimdupWeighting weighting, uint32_t tf)
{
	if (weighting == SIMDUP_WEIGHTING_LOG)
		return 32 - (uint32_t) __builtin_clz(tf);
	return weighting == SIMDUP_WEIGHTING_TF ? tf : 1;
}

/* Add all features to a sum, after the fact. */
extern void simdup_token_counts_sum(const SimdupTokenCounts *features,
									SimdupCounters *sum);

#endif /* SIMDUP_CORE_FINGERPRINT_TOKEN_COUNTS_H */

/*
 * simhash.h
 *	  Simhash of texts, and how SQL says that it is made.
 */
#ifndef SIMDUP_TEXT_SIMHASH_H
#define SIMDUP_TEXT_SIMHASH_H

#include "fmgr.h"

#include "core/fingerprint/token_counts.h"
#include "text/encoding.h"

typedef struct SimdupProfile
{
	SimdupTokenizer tokenizer;
	SimdupWeighting weighting;
	SimdupHash hash;
	int n_features; /* the most frequent ones, or 0: all */
	bool ties;		/* a counter of zero gives a 1 */
} SimdupProfile;

/* The profile of simhash(content), as the install script's defaults. */
extern const SimdupProfile simdup_default_profile;

/* Parse a name. Raise 22023, with the list of the names. */
extern SimdupTokenizer simdup_parse_tokenizer(const text *name);

/*
 * The features of a text under a profile, limited to n_features; where sum is
 * given they are added to it.
 */
extern void simdup_collect_features(SimdupTokenCounts *features,
									const SimdupProfile *profile,
									SimdupUtf8 content, SimdupCounters *sum);

/* Return the result of a function for its counters: NULL for no weight. */
extern Datum simdup_fingerprint(FunctionCallInfo fcinfo,
								const SimdupCounters *counts, bool ties);

/* A weight of 1, in the exact integers that the sums count in. */
#define SIMDUP_WEIGHT_UNIT 65536

/*
 * Raise 22023 for NaN, infinite and negative weights. The DETAIL names the position,
 * unless it is 0.
 */
extern void simdup_check_weight(float8 weight, int position);

/* Return such a weight in these units, rounded. Raise 22003 from 2^47 on. */
extern uint64 simdup_fixed_weight(float8 weight, int position);

#endif /* SIMDUP_TEXT_SIMHASH_H */

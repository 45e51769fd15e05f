/*
 * profile.h
 *	  What SQL says about how to fingerprint a text, checked.
 */
#ifndef SIMDUP_TEXT_PROFILE_H
#define SIMDUP_TEXT_PROFILE_H

#include "fmgr.h"

#include "core/fingerprint/shingle.h"
#include "core/fingerprint/sum.h"
#include "core/fingerprint/token_counts.h"
#include "text/encoding.h"

typedef struct SimdupProfile
{
	SimdupTokenizer tokenizer;
	SimdupWeighting weighting;
	SimdupHash hash;
	bool limited; /* keep only n_features */
	int n_features;
	bool ties; /* a counter of zero gives a 1 */
} SimdupProfile;

/* The profile of simhash(content), as the install script's defaults. */
extern const SimdupProfile simdup_default_profile;

/* The argument of this number by name, for errors; -1 if there is none. */
typedef struct SimdupProfileArgs
{
	int n_features;
	int tokenizer;
	int weighting;
	int hash;
	int ties;
} SimdupProfileArgs;

/*
 * Read the profile from a call's arguments; those at -1 take the default.
 * Raises 22023 for values that are not allowed and 22004 for NULLs, except for
 * n_features, where NULL means all.
 */
extern SimdupProfile simdup_get_profile(FunctionCallInfo fcinfo,
										SimdupProfileArgs args);

/* Parse one name; they raise 22023 with the list of what is allowed. */
extern SimdupTokenizer simdup_parse_tokenizer(const text *name);
extern SimdupHash simdup_parse_hash(const text *name);

/*
 * The features of a text under a profile, limited to n_features; where sum is
 * given they are added to it.
 */
extern void simdup_collect_features(SimdupTokenCounts *features,
									const SimdupProfile *profile,
									SimdupUtf8 content, SimdupSum *sum);

/* Return the result of a function for its counters: NULL for no weight. */
extern Datum simdup_fingerprint(FunctionCallInfo fcinfo,
								const SimdupCounters *counts, bool ties);

/* Return a shingling. Raise 22023 for w below 1 and for an unknown unit. */
extern SimdupShingling simdup_get_shingling(int w, const text *unit);

/* Return the unit of this name; raw only if it is allowed. */
extern SimdupShingleUnit simdup_parse_unit(const text *name, bool raw);

/* Raise 54000 for a text with more than SIMDUP_MAX_SHINGLES. */
pg_noreturn extern void simdup_too_many_shingles(void);

/* Real weights as the exact integers that the sums count in. */

/*
 * Return a weight in units of 2^-16, rounded. Raise 22023 for NaN, infinite and
 * negative weights, and 22003 for weights of 2^47 and more. The DETAIL names
 * the position, unless it is 0.
 */
extern uint64 simdup_fixed_weight(float8 weight, int position);

#endif /* SIMDUP_TEXT_PROFILE_H */

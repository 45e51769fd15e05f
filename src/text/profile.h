/*
 * profile.h
 *	  What SQL says about how to fingerprint a text, checked.
 */
#ifndef SIMDUP_TEXT_PROFILE_H
#define SIMDUP_TEXT_PROFILE_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "core/features.h"
#include "core/shingle.h"
#include "core/text.h"

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

/* Text as UTF-8 bytes, under every server encoding. */
typedef SimdupPassageText SimdupUtf8;

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
 * Return a text in the database's encoding as UTF-8. SQL_ASCII says nothing about
 * its bytes, so they are taken as they are. A character that Unicode does not
 * have becomes a byte that separates.
 */
extern SimdupUtf8 simdup_text_to_utf8(const text *value);
extern SimdupUtf8 simdup_bytes_to_utf8(const char *bytes, size_t len);

/* Return UTF-8 as a text in the database's encoding. */
extern text *simdup_utf8_to_text(const char *bytes, size_t len);

/*
 * The features of a text under a profile, limited to n_features; where sum is
 * given they are added to it.
 */
extern void simdup_collect_features(SimdupFeatures *features,
									const SimdupProfile *profile,
									SimdupUtf8 content, SimdupSum *sum);

/* Return the result of a function for its counters: NULL for no weight. */
extern Datum simdup_fingerprint(FunctionCallInfo fcinfo,
								const SimdupCounts *counts, bool ties);

/* The shingles of a text as hashes, as SQL asks for them. */

/* How a text is cut into shingles, checked. */
typedef struct SimdupShingling
{
	SimdupShingleUnit unit;
	int w;
} SimdupShingling;

/* Return a shingling. Raise 22023 for w below 1 and for an unknown unit. */
extern SimdupShingling simdup_get_shingling(int w, const text *unit);

/* Raise 54000 for a text with more than SIMDUP_MAX_SHINGLES. */
pg_noreturn extern void simdup_too_many_shingles(void);

/* Raise 54000 for a text with too many words for its passages. */
pg_noreturn extern void simdup_too_many_words(void);

/* Return passages of a text as one text; too many words if they are NULL. */
extern StringInfoData simdup_join_passages(SimdupUtf8 content,
										   const SimdupPassage *passages,
										   size_t n, const char *between);

/* Real weights as the exact integers that the sums count in. */

/*
 * Return a weight in units of 2^-16, rounded. Raise 22023 for NaN, infinite and
 * negative weights, and 22003 for weights of 2^47 and more. The DETAIL names
 * the position, unless it is 0.
 */
extern uint64 simdup_fixed_weight(float8 weight, int position);

#endif /* SIMDUP_TEXT_PROFILE_H */

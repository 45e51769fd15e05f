/*
 * minhash64.h
 *	  Fingerprints of texts by minhash64, and options of shingles in SQL.
 */
#ifndef SIMDUP_TEXT_MINHASH64_H
#define SIMDUP_TEXT_MINHASH64_H

#include "fmgr.h"

#include "core/fingerprint/hash.h"
#include "core/fingerprint/shingle.h"
#include "core/fingerprint/sketch.h"
#include "text/encoding.h"

/* Return a shingling. Raise 22023 for w below 1 and for an unknown unit. */
extern SimdupShingling simdup_get_shingling(int w, const text *unit);

/* Raise 54000 for a text with more than SIMDUP_MAX_SHINGLES. */
pg_noreturn extern void simdup_too_many_shingles(void);

/*
 * Return the options w and unit at these arguments of a call. Raise 22004 for
 * NULLs, 22023 for a width out of range or an unknown unit.
 */
extern SimdupShingling simdup_get_folded_shingling(FunctionCallInfo fcinfo,
												   int w, int unit);

/*
 * Return the shingles that a resemblance is of: those options, or the unit raw.
 * Raises 22023 as above.
 */
extern SimdupShingling simdup_get_resemblance(int w, const text *unit);

/* Check whether there are such shingles. */
extern bool simdup_is_resemblance(int w, const text *unit);

/* The shingles that resemblance means by default, as in the install script. */
extern const SimdupShingling simdup_default_shingling;

/* Return a text's distinct elements, ascending. Raise 54000 for too many. */
extern SimdupHashes simdup_element_set(SimdupShingling shingling,
									   SimdupUtf8 content);

/*
 * Add a shingle's hash to those that were seen. Return false if it is there
 * already. Raise 54000 for too many.
 */
extern bool simdup_new_shingle(SimdupWordSet *seen, uint64 hash);

/* Where distinct shingles go, in order of first occurrence. */
typedef struct SimdupShingleRows
{
	struct ReturnSetInfo *result;
	SimdupWordSet seen;
} SimdupShingleRows;

/* Begin the result of a function that returns a set of texts. */
extern SimdupShingleRows simdup_begin_shingle_rows(FunctionCallInfo fcinfo);

/*
 * Put shingles, each unless it is there already: a SimdupTokenSink, arg being the
 * rows. Raise 54000 for too many.
 */
extern void simdup_put_shingle_rows(void *arg, const SimdupToken *shingles,
									int n);

/*
 * Set *fp to the fingerprint of a text. Return false if it has none: it has no
 * shingle, or fewer than min_features distinct ones.
 */
extern bool simdup_utf8_minhash64(SimdupUtf8 content, SimdupShingling shingling,
								  int min_features, uint64 *fp);

/* Set *fp to minhash64(content). Return false if the content has no shingle. */
extern bool simdup_text_minhash64(const text *content, uint64 *fp);

/* Return the result of a function for its sketch: NULL for the empty set. */
extern Datum simdup_minhash64_result(FunctionCallInfo fcinfo,
									 SimdupSketch *sketch);

/*
 * Check that sketches of a and b bits can be compared. Raise 22026 for
 * different numbers and 22023 for none.
 */
extern void simdup_check_sketch_bits(int a, int b);

#endif /* SIMDUP_TEXT_MINHASH64_H */

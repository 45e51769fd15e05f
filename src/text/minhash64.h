/*
 * minhash64.h
 *	  Fingerprints of profile 2 for what cuts text in SQL.
 */
#ifndef SIMDUP_TEXT_MINHASH64_H
#define SIMDUP_TEXT_MINHASH64_H

#include "core/folded.h"
#include "core/shingle.h"
#include "core/sketch.h"
#include "fmgr.h"
#include "text/profile.h"

/*
 * The options w and unit, at these arguments of a call. Raises 22004 for NULLs
 * and 22023 for a width out of range and a unit that there is not.
 */
extern SimdupFoldedShingling simdup_get_folded_shingling(
	FunctionCallInfo fcinfo, int w, int unit);

/*
 * Return the shingles that a resemblance is of: those options, or the unit raw.
 * Raises 22023 as above.
 */
extern SimdupFoldedShingling simdup_get_resemblance(int w, const text *unit);

/* The shingles that resemblance means by default, as in the install script. */
extern const SimdupFoldedShingling simdup_default_shingling;

/*
 * Return the distinct elements of a text, ascending. Raises 54000 for a text
 * with too many.
 */
extern SimdupHashes simdup_element_set(SimdupFoldedShingling shingling,
									   SimdupUtf8 content);

/* Set *fp to minhash64(content). Return false if the content has no shingle. */
extern bool simdup_text_minhash64(const text *content, uint64 *fp);

/* What a function returns for its sketch: NULL for the empty set. */
extern Datum simdup_minhash64_result(FunctionCallInfo fcinfo,
									 SimdupSketch *sketch);

/*
 * Can sketches of minhash_bits of so many bits be compared? Raises 22026 for
 * different numbers and 22023 for none.
 */
extern void simdup_check_sketch_bits(int a, int b);

#endif /* SIMDUP_TEXT_MINHASH64_H */

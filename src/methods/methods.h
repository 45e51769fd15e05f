/*
 * methods.h
 *	  What the functions of this room share: arguments, shingles and arrays.
 */
#ifndef SIMDUP_METHODS_METHODS_H
#define SIMDUP_METHODS_METHODS_H

#include "core/shingle.h"
#include "fmgr.h"
#include "text/profile.h"
#include "utils/array.h"

/* How a text is cut into shingles, checked. */
typedef struct SimdupShingling
{
	SimdupShingleUnit unit;
	int               w;
} SimdupShingling;

/* Raises 22023 for w below 1 and for a unit that there is not. */
extern SimdupShingling simdup_get_shingling(int w, const text *unit);

/*
 * The shingle hashes of a text, as they come or as an ascending set. Raises
 * 54000 for a text with too many.
 */
extern SimdupHashes simdup_hashes_of(const text     *content,
									 SimdupShingling shingling);
extern SimdupHashes simdup_hash_set(const text     *content,
									SimdupShingling shingling);

/* That error, for lists that grow elsewhere. */
pg_noreturn extern void simdup_too_many_shingles(void);

/* Jaccard similarity of two ascending sets, one of which is not empty. */
extern double simdup_resemblance(const SimdupHashes *a, const SimdupHashes *b);

/*
 * The elements of a one-dimensional array without NULLs; of an empty one none.
 * Raises 2202E or 22004 with the argument's name.
 */
extern const int64 *simdup_int8_elements(ArrayType *array, const char *name,
										 int *n);
extern const int32 *simdup_int4_elements(ArrayType *array, const char *name,
										 int *n);

/* Their way back. */
extern ArrayType *simdup_int8_array(const uint64 *elements, int n);
extern ArrayType *simdup_int4_array(const uint32 *elements, int n);

#endif /* SIMDUP_METHODS_METHODS_H */

/*
 * shingling.h
 *	  The shingles of a text as hashes, as SQL asks for them.
 */
#ifndef SIMDUP_TEXT_SHINGLING_H
#define SIMDUP_TEXT_SHINGLING_H

#include "core/shingle.h"
#include "fmgr.h"
#include "text/profile.h"

/* How a text is cut into shingles, checked. */
typedef struct SimdupShingling
{
	SimdupShingleUnit unit;
	int w;
} SimdupShingling;

/* Raises 22023 for w below 1 and for a unit that there is not. */
extern SimdupShingling simdup_get_shingling(int w, const text *unit);

/* Raises 54000 for a text with more than SIMDUP_MAX_SHINGLES. */
pg_noreturn extern void simdup_too_many_shingles(void);

#endif /* SIMDUP_TEXT_SHINGLING_H */

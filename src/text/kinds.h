/*
 * kinds.h
 *	  The kinds of fingerprints of rows, by name.
 */
#ifndef SIMDUP_TEXT_KINDS_H
#define SIMDUP_TEXT_KINDS_H

#include "text/fingerprinter.h"

/*
 * A fingerprinter of this name, "simhash" or "minhash64", with the default
 * options. NULL if there is none. The SQL functions NAME, NAME_row and
 * NAME_update_trigger give the same fingerprints.
 */
extern SimdupFingerprinter *simdup_make_fingerprinter(const char *name);

#endif /* SIMDUP_TEXT_KINDS_H */

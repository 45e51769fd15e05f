/*
 * kinds.c
 *	  The kinds of fingerprints of rows, by name.
 */
#include "postgres.h"

#include "text/kinds.h"
#include "text/minhash64_row.h"
#include "text/simhash_row.h"

SimdupFingerprinter *
simdup_make_fingerprinter(const char *name)
{
	if (strcmp(name, "simhash") == 0)
		return simdup_simhash_row_make();
	if (strcmp(name, "minhash64") == 0)
		return simdup_minhash_row_make();
	return NULL;
}

/*
 * knowntext.h
 *	  What is known of a text that a function is called with again and again.
 */
#ifndef SIMDUP_TEXT_KNOWNTEXT_H
#define SIMDUP_TEXT_KNOWNTEXT_H

#include "core/hash.h"
#include "core/shingle.h"
#include "fmgr.h"

/* Begins as {0}. */
typedef struct SimdupKnownText
{
	char *bytes; /* a copy of the text, unless it is too long to remember */
	size_t len;
	size_t size; /* of bytes */
	bool is_known;
	bool has_fp;
	uint64 fp; /* minhash64(content) */
	bool has_set;
	SimdupHashes set;
} SimdupKnownText;

/*
 * Fill in the fingerprint of a text, unless it is the text of the last call.
 * The context holds what is remembered.
 */
extern void simdup_know_text(SimdupKnownText *known, MemoryContext context,
							 const text *content);

/* The elements of that text, ascending. Raises 54000 for too many. */
extern const SimdupHashes *simdup_known_set(SimdupKnownText *known,
											MemoryContext context,
											const text *content);

#endif /* SIMDUP_TEXT_KNOWNTEXT_H */

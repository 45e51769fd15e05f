/*
 * shingle.h
 *	  Texts as sets of shingles.
 *
 * Shingles are the windows of w consecutive units of a text (Broder 1997). A
 * unit is a token of the word tokenizer (word), a folded word character (char),
 * or any character but white space, unchanged (raw). A text of fewer than w units
 * is one shingle. A text without a unit has none.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_SHINGLE_H
#define SIMDUP_CORE_FINGERPRINT_SHINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/hash.h"
#include "core/fingerprint/tokenizer.h"

typedef enum SimdupShingleUnit
{
	SIMDUP_SHINGLE_CHAR,
	SIMDUP_SHINGLE_WORD,
	SIMDUP_SHINGLE_RAW
} SimdupShingleUnit;

typedef struct SimdupShingling
{
	SimdupShingleUnit unit;
	int w; /* 1 or more */
} SimdupShingling;

/*
 * The most distinct shingles of a text. A list has room for twice as many hashes,
 * 512 MB, so that it drops repetitions seldom.
 */
#define SIMDUP_MAX_SHINGLES ((size_t) 1 << 25)

/* A growing list of hashes; begin with {0}. */
typedef struct SimdupHashes
{
	uint64_t *hashes;
	size_t n;
	size_t size;
} SimdupHashes;

/*
 * Append to the list, dropping repetitions where that helps against growth.
 * Return false if it has outgrown its room, which is more than a text may have.
 */
extern bool simdup_hashes_add(SimdupHashes *list, uint64_t hash);

/*
 * Put the 64-bit hashes of all shingles into the list, repeated as the text
 * repeats them, more or less. Stored MinHash signatures depend on these hashes,
 * so they are frozen. False if the text has too many distinct ones.
 */
extern bool simdup_shingle_hashes(SimdupShingling shingling, const char *text,
								  size_t len, SimdupHashes *list);

/* Sort ascending and drop repetitions. */
extern void simdup_hashes_unique(SimdupHashes *list);

/* Return the position of the hash in an ascending set, or the set's size. */
extern size_t simdup_hashes_find(const SimdupHashes *set, uint64_t hash);

extern void simdup_hashes_free(SimdupHashes *list);

/* Return the number of elements in both of two ascending sets. */
extern size_t simdup_hashes_common(const SimdupHashes *a,
								   const SimdupHashes *b);

/*
 * Hand on all shingles as tokens in UTF-8, in text order, repeated as the text
 * repeats them; words are joined by one space.
 */
extern void simdup_shingle_strings(SimdupShingling shingling, const char *text,
								   size_t len, SimdupTokenSink sink, void *arg);

#endif /* SIMDUP_CORE_FINGERPRINT_SHINGLE_H */

/*
 * shingle.h
 *	  Texts as sets of shingles, folded as in profile 1 or as in profile 2.
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
 * Append to the list of a set: repetitions are dropped where that helps against
 * growth, so nobody can count them. Return false if it has outgrown its room, which
 * is more than a text may have.
 */
extern bool simdup_hashes_add(SimdupHashes *list, uint64_t hash);

/*
 * Put the 64-bit hashes of all shingles into the list, repeated as the text
 * repeats them, more or less. Stored MinHash signatures depend on these hashes,
 * so they are frozen. False if the text has too many distinct ones.
 */
extern bool simdup_shingle_hashes(SimdupShingling shingling, const char *text,
								  size_t len, SimdupHashes *list);

/* Sort ascending. The hashes must be well mixed. Checks for interrupts. */
extern void simdup_hashes_sort(SimdupHashes *list);

/* Sort likewise, and drop repetitions. */
extern void simdup_hashes_unique(SimdupHashes *list);

/* Check whether an ascending set has a hash. */
extern bool simdup_hashes_has(const SimdupHashes *set, uint64_t hash);

extern void simdup_hashes_free(SimdupHashes *list);

/*
 * Hand on all shingles as tokens in UTF-8, in text order, repeated as the text
 * repeats them; words are joined by one space.
 */
extern void simdup_shingle_strings(SimdupShingling shingling, const char *text,
								   size_t len, SimdupTokenSink sink, void *arg);

/*
 * Shingles of profile 2, of the folded text. Units are its word characters
 * (char), its words as the word tokenizer finds them (word), or those of the
 * text itself (raw). Characters that fold to nothing do not separate. Bytes that
 * are not UTF-8 separate. Checks for interrupts.
 */

/* The widest shingle of a folded text. */
#define SIMDUP_MAX_FOLDED_W 64

/* Hand on the shingles in text order, repeated as the text repeats them. */
extern void simdup_folded_shingles(SimdupShingling shingling, const char *text,
								   size_t len, SimdupTokenSink sink, void *arg);

/* Hand on the CityHash64 of each shingle: a sketch's elements. */
extern void simdup_folded_elements(SimdupShingling shingling, const char *text,
								   size_t len, SimdupElementSink sink,
								   void *arg);

/*
 * Return a field of a row, folded, with white space trimmed and each run of it
 * inside as one blank. The bytes are allocated, and *folded_len is their
 * number.
 */
extern char *simdup_fold_field(const char *text, size_t len,
							   size_t *folded_len);

/* The most bits of a field's mask. */
#define SIMDUP_MAX_FIELD_BITS 32

/*
 * Return the mask of field number of a row, from 1: n_bits bits that depend on
 * the folded field and its number. A blank field has none. The masks of two
 * different fields have 2 n_bits - n_bits^2 / 32 bits apart on average.
 */
extern uint64_t simdup_field_mask(const char *text, size_t len, uint32_t number,
								  int n_bits);

#endif /* SIMDUP_CORE_FINGERPRINT_SHINGLE_H */

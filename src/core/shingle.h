/*
 * shingle.h
 *	  Texts as sets of shingles and as weighted terms.
 *
 * Shingles are the windows of w consecutive units of a text (Broder 1997). A
 * unit is a token of the word tokenizer (word), a folded word character (char),
 * or any character but white space, unchanged (raw). A text of fewer than w units
 * is one shingle. A text without a unit has none.
 */
#ifndef SIMDUP_CORE_SHINGLE_H
#define SIMDUP_CORE_SHINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"

typedef enum SimdupShingleUnit
{
	SIMDUP_SHINGLE_WORD,
	SIMDUP_SHINGLE_CHAR,
	SIMDUP_SHINGLE_RAW
} SimdupShingleUnit;

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
 * so they are frozen. False if the text has too many distinct ones. w is 1 or
 * more.
 */
extern bool simdup_shingle_hashes(SimdupShingleUnit unit, int w,
								  const char *text, size_t len,
								  SimdupHashes *list);

/* Sort ascending and drop repetitions. */
extern void simdup_hashes_unique(SimdupHashes *list);

/* Return the position of the hash in an ascending set, or the set's size. */
extern size_t simdup_hashes_find(const SimdupHashes *set, uint64_t hash);

extern void simdup_hashes_free(SimdupHashes *list);

/* Return the number of elements in both of two ascending sets. */
extern size_t simdup_hashes_common(const uint64_t *a, size_t n_a,
								   const uint64_t *b, size_t n_b);

/* Receives a shingle; the bytes are valid until the call returns. */
typedef void (*SimdupShingleSink)(void *arg, const char *bytes, size_t len);

/*
 * All shingles as UTF-8 strings, in text order, repeated as the text repeats
 * them; words are joined by one space.
 */
extern void simdup_shingle_strings(SimdupShingleUnit unit, int w,
								   const char *text, size_t len,
								   SimdupShingleSink sink, void *arg);

/*
 * Texts as weighted terms: the cosine of the vector space model, and
 * I-Match's signature of the terms in a lexicon.
 */

typedef struct SimdupTerm
{
	uint64_t hash;
	double weight;
} SimdupTerm;

/* Sort terms by hash, as the functions below expect them. */
extern void simdup_terms_sort(SimdupTerm *terms, size_t n);

/* Return the term with this hash, or NULL. */
extern const SimdupTerm *simdup_terms_find(const SimdupTerm *terms, size_t n,
										   uint64_t hash);

/* Compute the cosine of two vectors. Return false if one has no length. */
extern bool simdup_cosine(const SimdupTerm *a, size_t n_a, const SimdupTerm *b,
						  size_t n_b, double *cosine);

/*
 * Compute signature number i of the terms that are in the lexicon. Number 0
 * uses the whole lexicon. Other numbers each choose a share `keep` of the
 * lexicon at random. False if no term is left.
 */
extern bool simdup_imatch(const SimdupTerm *terms, size_t n,
						  const SimdupTerm *lexicon, size_t n_lexicon,
						  uint32_t i, double keep, uint64_t *signature);

#endif /* SIMDUP_CORE_SHINGLE_H */

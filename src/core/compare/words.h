/*
 * words.h
 *	  The words of a text, folded as minhash64 folds them, and their sentences.
 */
#ifndef SIMDUP_CORE_COMPARE_WORDS_H
#define SIMDUP_CORE_COMPARE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/hash.h"
#include "core/unicode/charclass.h"

/* Any odd number with bits all over, for hashes of words and of runs. */
#define SIMDUP_WORDS_CHAIN UINT64_C(0x9e3779b97f4a7c15)

typedef struct SimdupWord
{
	size_t from;
	size_t to;
	uint64_t hash;
	bool begins; /* a sentence */
} SimdupWord;

typedef struct SimdupWords
{
	SimdupWord *words;
	size_t n;
	size_t size;
	bool overflow; /* there are more */
	bool open;	   /* the last word goes on */
	bool begins;   /* the next word begins a sentence */
} SimdupWords;

/* Return the words of a text. In scripts without blanks, each character is one. */
extern SimdupWords simdup_read_words(SimdupUtf8 text);

/* Return the key of the n words from word i on: a hash of them in their order. */
static inline uint64_t
simdup_words_key(const SimdupWords *words, size_t i, size_t n)
{
	uint64_t key = n;

	for (size_t j = i; j < i + n; j++)
		key = key * SIMDUP_WORDS_CHAIN + words->words[j].hash;
	return simdup_mix64(key);
}

/* Check whether a character is one of these, a string in UTF-8. */
extern bool simdup_is_among(const char *chars, uint32_t cp);

#endif /* SIMDUP_CORE_COMPARE_WORDS_H */

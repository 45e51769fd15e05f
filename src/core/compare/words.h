/*
 * words.h
 *	  The words of a text, and the sentences that they stand in.
 *
 * Words are folded as minhash64 folds them. In scripts without blanks, each
 * character is a word. A sentence ends with its mark, at an empty line, or before an
 * item of a list. Other ends of lines say nothing, since mail programs break lines
 * anywhere.
 */
#ifndef SIMDUP_CORE_COMPARE_WORDS_H
#define SIMDUP_CORE_COMPARE_WORDS_H

#include "core/fingerprint/hash.h"
#include "core/unicode/charclass.h"

/* The most words of a text: their list takes 1 GB. */
#define SIMDUP_MAX_WORDS ((size_t) 1 << 25)

typedef struct SimdupWord
{
	size_t from;
	size_t to;
	uint64_t hash;
	bool begins;  /* a sentence */
	bool is_char; /* of a script without blanks */
} SimdupWord;

typedef struct SimdupWords
{
	SimdupWord *words;
	size_t n;
	size_t size;
	bool overflow; /* there are more */
	/* while they are read: */
	bool open;	 /* the last word goes on */
	bool begins; /* the next word begins a sentence */
	size_t from; /* where the character stands that is being folded */
	size_t to;
	uint64_t before; /* the last word's hash without its last character */
} SimdupWords;

/* Return the words of a text, to be freed. */
extern SimdupWords simdup_read_words(SimdupUtf8 text);

/* Return the key of the n words from word i on: a hash of them in their order. */
static inline uint64_t
simdup_words_key(const SimdupWords *words, size_t i, size_t n)
{
	uint64_t key = n;

	for (size_t j = i; j < i + n; j++)
		key = key * SIMDUP_GOLDEN + words->words[j].hash;
	return simdup_mix64(key);
}

/*
 * Some words of a text are the bytes [*from, *to). Extend these by the marks that
 * belong to the first and to the last word, within the bytes [low, high).
 */
extern void simdup_add_marks(SimdupUtf8 text, size_t *from, size_t *to,
							 size_t low, size_t high);

#endif /* SIMDUP_CORE_COMPARE_WORDS_H */

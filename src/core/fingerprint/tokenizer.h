/*
 * tokenizer.h
 *	  Text into tokens, by rules or by a breaker from outside core/.
 *
 * Text is UTF-8. Bytes that are not UTF-8 separate tokens, so every byte
 * string is valid input. Rules and Unicode tables are frozen: see charclass.h.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_TOKENIZER_H
#define SIMDUP_CORE_FINGERPRINT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/ngrams.h"

/* The most bytes that a breaker is given at a time. */
#define SIMDUP_BREAK_WINDOW (1 << 15)

/*
 * Split text[0..len), len from 1 to SIMDUP_BREAK_WINDOW, into segments without a
 * gap. Write their ends in rising order to breaks, which has room for len of
 * them, and return their number. A failure is a non-local exit.
 */
typedef struct SimdupBreaker
{
	int (*find)(void *arg, const char *text, size_t len, uint32_t *breaks);
	void *arg;
} SimdupBreaker;

typedef enum SimdupTokenizerKind
{
	SIMDUP_TOKENIZER_WORD,	/* segmented runs; bigrams of unsegmented ones */
	SIMDUP_TOKENIZER_ALPHA, /* runs of ASCII letters, lower-cased */
	SIMDUP_TOKENIZER_SPACE, /* runs of non-blank bytes, unchanged */
	SIMDUP_TOKENIZER_CHAR_NGRAM, /* windows of n word characters, folded */
	SIMDUP_TOKENIZER_WORD_NGRAM, /* windows of n word tokens, one space between */
	SIMDUP_TOKENIZER_SEGMENTS	 /* a breaker's with a word character, folded */
} SimdupTokenizerKind;

typedef struct SimdupTokenizer
{
	SimdupTokenizerKind kind;
	int n;				   /* window of the n-gram kinds, 1 or more */
	SimdupBreaker breaker; /* of segments */
} SimdupTokenizer;

/*
 * Tokenize len bytes of UTF-8. A text with fewer than n characters (words)
 * gives one n-gram of all of them; a text without any gives none. Checks for
 * interrupts.
 */
extern void simdup_tokenize(SimdupTokenizer tokenizer, const char *text,
							size_t len, SimdupTokenSink sink, void *arg);

/*
 * Write a short field of a row to out: its characters in lower case, without the
 * white space around them. Bytes that are not UTF-8 stay as they are. Returns
 * the length, which is 0 for a blank field. out has room for SIMDUP_MAX_UTF8
 * bytes for each byte of the field.
 */
extern size_t simdup_lower_field(const char *field, size_t len, char *out);

#endif /* SIMDUP_CORE_FINGERPRINT_TOKENIZER_H */

/*
 * tokenizer.h
 *	  Text into tokens: profile 1 of the fingerprint, and the shingles of the
 *	  other methods.
 *
 * Text is UTF-8. Bytes that are not UTF-8 separate tokens, so every byte
 * string is valid input. Rules and Unicode tables are frozen: see charclass.h.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_TOKENIZER_H
#define SIMDUP_CORE_FINGERPRINT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/segments.h"

typedef enum SimdupTokenizerKind
{
	SIMDUP_TOKENIZER_WORD,	/* segmented runs; bigrams of unsegmented ones */
	SIMDUP_TOKENIZER_ALPHA, /* runs of ASCII letters, lower-cased */
	SIMDUP_TOKENIZER_SPACE, /* runs of non-blank bytes, unchanged */
	SIMDUP_TOKENIZER_CHAR_NGRAM, /* windows of n word characters, folded */
	SIMDUP_TOKENIZER_WORD_NGRAM, /* windows of n word tokens, one space between */
	SIMDUP_TOKENIZER_SEGMENTS,	 /* a breaker's with a word character, folded */
	SIMDUP_TOKENIZER_RAW_NGRAM	 /* windows of n characters but white space */
} SimdupTokenizerKind;

typedef struct SimdupTokenizer
{
	SimdupTokenizerKind kind;
	int n;				   /* window of the n-gram kinds, 1 or more */
	SimdupBreaker breaker; /* of segments */
} SimdupTokenizer;

typedef struct SimdupToken
{
	const char *bytes; /* not terminated */
	uint32_t len;
} SimdupToken;

/* The most tokens in a batch. */
#define SIMDUP_BATCH_TOKENS 128

/*
 * Receives tokens in text order, a batch at a time. Their bytes are valid
 * until the call returns, and those that lie in the text as long as the text.
 * It may leave by a non-local exit.
 */
typedef void (*SimdupTokenSink)(void *arg, const SimdupToken *tokens,
								int count);

/*
 * Tokenize len bytes of UTF-8. A text with fewer than n characters (words)
 * gives one n-gram of what it has; a text without any gives none. Checks for
 * interrupts.
 */
extern void simdup_tokenize(SimdupTokenizer tokenizer, const char *text,
							size_t len, SimdupTokenSink sink, void *arg);

#endif /* SIMDUP_CORE_FINGERPRINT_TOKENIZER_H */

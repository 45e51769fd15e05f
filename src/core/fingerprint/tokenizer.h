/*
 * tokenizer.h
 *	  Text into tokens, windows of them, and the counts of distinct ones.
 *
 * Text is UTF-8. Bytes that are not UTF-8 separate tokens, so every byte
 * string is valid input. Rules and Unicode tables are frozen: see charclass.h.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_TOKENIZER_H
#define SIMDUP_CORE_FINGERPRINT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/fingerprint/segments.h"
#include "core/fingerprint/sum.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

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

/*
 * Write a short field of a row to out: its characters in lower case, without the
 * white space around them. Bytes that are not UTF-8 stay as they are. Returns
 * the length, which is 0 for a blank field. out has room for SIMDUP_MAX_UTF8
 * bytes for each byte of the field.
 */
extern size_t simdup_lower_field(const char *field, size_t len, char *out);

/*
 * Windows of w consecutive units of a text: characters, or words with one blank
 * between them. A text of fewer than w units is one window.
 *
 * Units lie one after another in a buffer. Whenever it is full, its windows are
 * handed on, and only the last w - 1 units stay. A window is a stretch of the
 * buffer, so nothing is copied for it.
 */

/* Receives the CityHash64 of each window, in text order. */
typedef void (*SimdupElementSink)(void *arg, const uint64_t *hashes, size_t n);

/* Units that a buffer takes beyond the past. Its arrays fit the first-level cache. */
#define SIMDUP_WINDOW_UNITS 512

/* Windows up to this width need no array of starts of their own. */
#define SIMDUP_SMALL_WINDOW 64

/* Room for units beyond `full`: those of one code point, and the next start. */
#define SIMDUP_SPARE_UNITS (SIMDUP_MAX_FOLDED + 1)

/* Units at which the buffer of windows of this width is full. */
#define SIMDUP_FULL_UNITS(w) (SIMDUP_WINDOW_UNITS + (w) + (w) / 4)

typedef struct SimdupWindows
{
	SimdupTokenSink tokens;		/* receives the windows, or ... */
	SimdupElementSink elements; /* ... their hashes; the other one is NULL */
	void *arg;
	size_t w;
	size_t blank; /* bytes between two units: 0 or 1 */
	size_t full;  /* units at which the buffer is full */
	bool any;	  /* a window was handed on */
	char *bytes;
	size_t used;
	size_t size;
	size_t n;		/* units that are complete */
	size_t *starts; /* where each unit begins, small_starts where they suffice */
	size_t small_starts[SIMDUP_FULL_UNITS(SIMDUP_SMALL_WINDOW) +
						SIMDUP_SPARE_UNITS];
} SimdupWindows;

/* Begin windows of words or of characters. The caller sets one of the sinks. */
extern void simdup_windows_begin(SimdupWindows *windows, size_t w, bool words);

/*
 * Hand on all windows that are complete, but for those with one of the last `held`
 * units, which may still change. Checks for interrupts.
 */
extern void simdup_windows_flush(SimdupWindows *windows, size_t held);

/* Hand on what is left, and free the buffer. */
extern void simdup_windows_end(SimdupWindows *windows);

/* Add a character. The caller flushes when there are `full` units. */
static inline void
simdup_windows_add_char(SimdupWindows *windows, uint32_t cp)
{
	windows->starts[windows->n++] = windows->used;
	windows->used += simdup_utf8_encode(cp, (unsigned char *) windows->bytes +
												windows->used);
}

/* Bytes from which on a buffer with windows is emptied early: words may be long. */
#define SIMDUP_WINDOW_BYTES (1 << 16)

/* Begin a word; the one before it is complete. */
static inline void
simdup_windows_begin_word(SimdupWindows *windows)
{
	if (windows->n >= windows->full ||
		(windows->used >= SIMDUP_WINDOW_BYTES && windows->n >= 2 * windows->w))
		simdup_windows_flush(windows, 0);
	if (windows->n > 0)
		windows->bytes[windows->used++] = ' ';
	windows->starts[windows->n] = windows->used;
}

/* Make room for len bytes of a word, and a blank behind it. */
static inline void
simdup_windows_reserve(SimdupWindows *windows, size_t len)
{
	size_t needed = windows->used + len + 1;

	if (needed > windows->size)
		windows->bytes = simdup_grow(windows->bytes, &windows->size, needed, 1);
}

/* Counts of distinct tokens, and their weights: step 4 of profile 1. */

typedef enum SimdupWeighting
{
	SIMDUP_WEIGHTING_LOG, /* 1 + floor(log2 tf) */
	SIMDUP_WEIGHTING_TF,  /* occurrences */
	SIMDUP_WEIGHTING_SET  /* 1 */
} SimdupWeighting;

/* A distinct token. */
typedef struct SimdupTokenCount
{
	uint64_t hash;
	const char *bytes;
	uint32_t len;
	uint32_t tf; /* occurrences */
} SimdupTokenCount;

/* Bytes of tokens that do not lie in the text. */
typedef struct SimdupTokenChunk SimdupTokenChunk;

/* An open-addressing table; features lie in order of first occurrence. */
typedef struct SimdupTokenCounts
{
	SimdupHash hash;
	SimdupWeighting weighting;
	SimdupSum *sum;	  /* takes the tokens as they come, or NULL */
	const char *text; /* tokens that lie in it need no copy */
	size_t text_len;
	SimdupTokenCount *features;
	size_t count;
	size_t capacity;		  /* of features */
	uint64_t *slots;		  /* hash tag and 1 + index of a feature, or 0 */
	size_t mask;			  /* slots - 1, slots a power of 2 */
	SimdupTokenChunk *chunks; /* copies of tokens, newest first */
	char *chunk_at;			  /* what is free of the newest */
	size_t chunk_left;
} SimdupTokenCounts;

/*
 * Begin an empty table for the tokens of a text, which must live as long as
 * the table. With a sum, every feature is added to it with its weight.
 */
extern void simdup_token_counts_begin(SimdupTokenCounts *features,
									  SimdupHash hash,
									  SimdupWeighting weighting, SimdupSum *sum,
									  const char *text, size_t len);

/* Count tokens: a SimdupTokenSink, arg being the table. */
extern void simdup_token_counts_add(void *arg, const SimdupToken *tokens,
									int count);

/* Add a token that occurs tf times, tf at least 1, and was not there before. */
extern void simdup_token_counts_add_distinct(SimdupTokenCounts *features,
											 const char *bytes, size_t len,
											 uint32_t tf);

extern void simdup_token_counts_free(SimdupTokenCounts *features);

/*
 * Keep only the n features with the largest frequencies, ties by byte order;
 * more than there are keeps all.
 */
extern void simdup_token_counts_keep_top(SimdupTokenCounts *features, size_t n);

/* Sort by frequency descending, then bytes ascending. */
extern void simdup_token_counts_sort(SimdupTokenCounts *features);

/* Return the weight of a feature that occurs tf times, tf at least 1. */
static inline uint32_t
simdup_weight(SimdupWeighting weighting, uint32_t tf)
{
	if (weighting == SIMDUP_WEIGHTING_LOG)
		return 32 - (uint32_t) __builtin_clz(tf);
	return weighting == SIMDUP_WEIGHTING_TF ? tf : 1;
}

/* Add all features to a sum, after the fact. */
extern void simdup_token_counts_sum(const SimdupTokenCounts *features,
									SimdupSum *sum);

#endif /* SIMDUP_CORE_FINGERPRINT_TOKENIZER_H */

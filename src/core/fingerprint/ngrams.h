/*
 * ngrams.h
 *	  Windows of w consecutive units of a text: characters, or words with one blank
 *	  between them. A text of fewer than w units is one window.
 *
 * Units lie one after another in a buffer. Whenever it is full, its windows are
 * handed on, and only the last w - 1 units stay. A window is a stretch of the
 * buffer, so nothing is copied for it.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_NGRAMS_H
#define SIMDUP_CORE_FINGERPRINT_NGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* A token of a text, or a window of it. */
typedef struct SimdupToken
{
	const char *bytes; /* not terminated */
	uint32_t len;
} SimdupToken;

/* Return the order of two tokens by their bytes. */
static inline int
simdup_bytes_order(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

/* The most tokens in a batch. */
#define SIMDUP_BATCH_TOKENS 128

/*
 * Receives tokens in text order, a batch at a time. Their bytes are valid
 * until the call returns, and those that lie in the text as long as the text.
 * It may leave by a non-local exit.
 */
typedef void (*SimdupTokenSink)(void *arg, const SimdupToken *tokens,
								int count);

/* Receives the CityHash64 of each token, in text order. */
typedef void (*SimdupElementSink)(void *arg, const uint64_t *hashes, size_t n);

typedef struct SimdupNgrams
{
	SimdupTokenSink sink; /* receives the windows */
	void *arg;
	size_t w;
	size_t blank; /* bytes between two units: 0 or 1 */
	size_t full;  /* units at which the buffer is full */
	bool any;	  /* a window was handed on */
	char *bytes;
	size_t used;
	size_t size;
	size_t n;		/* units that are complete */
	size_t *starts; /* where each unit begins */
} SimdupNgrams;

/* Begin windows of words or of characters. */
extern void simdup_ngrams_begin(SimdupNgrams *ngrams, size_t w, bool words,
								SimdupTokenSink sink, void *arg);

/* Hand on all windows that are complete. Checks for interrupts. */
extern void simdup_ngrams_flush(SimdupNgrams *ngrams);

/* Hand on the last tokens, and free the buffer. */
extern void simdup_ngrams_end(SimdupNgrams *ngrams);

/*
 * Return the unit of a character: the bytes of its UTF-8 in a word, the first one
 * lowest. All of them have the highest bit, but for ASCII.
 */
static inline uint32_t
simdup_unit_of(uint32_t cp)
{
	unsigned char bytes[SIMDUP_MAX_UTF8] = {0};

	(void) simdup_utf8_encode(cp, bytes);
	return simdup_load32((char *) bytes);
}

/* Return its number of bytes. */
static inline uint32_t
simdup_unit_len(uint32_t unit)
{
	return 1 + (unit >> 15 & 1) + (unit >> 23 & 1) + (unit >> 31);
}

/* Add a character. */
static inline void
simdup_ngrams_add_unit(SimdupNgrams *ngrams, uint32_t unit)
{
	if (ngrams->n >= ngrams->full)
		simdup_ngrams_flush(ngrams);
	ngrams->starts[ngrams->n++] = ngrams->used;
	simdup_store32(ngrams->bytes + ngrams->used, unit);
	ngrams->used += simdup_unit_len(unit);
}

/* Add the word characters of a text, folded, or if raw all but white space. */
extern void simdup_ngrams_add_text(SimdupNgrams *ngrams, bool raw,
								   const char *text, size_t len);

/* The widest windows of characters that are hashed in blocks, without a buffer. */
#define SIMDUP_MAX_BLOCK_W 16

/* Hand on the hash of each window of the same characters. */
extern void simdup_hash_chars(size_t w, bool raw, const char *text, size_t len,
							  SimdupElementSink sink, void *arg);

/* Bytes from which on a buffer with windows is emptied early: words may be long. */
#define SIMDUP_NGRAM_BYTES (1 << 16)

/* Make room for len bytes of a word, and a blank behind it. */
static inline void
simdup_ngrams_reserve(SimdupNgrams *ngrams, size_t len)
{
	size_t needed = ngrams->used + len + 1;

	if (needed > ngrams->size)
		ngrams->bytes = simdup_grow(ngrams->bytes, &ngrams->size, needed, 1);
}

/* Begin a word, with room for len bytes. The one before it is complete. */
static inline void
simdup_ngrams_begin_word(SimdupNgrams *ngrams, size_t len)
{
	if (ngrams->n >= ngrams->full ||
		(ngrams->used >= SIMDUP_NGRAM_BYTES && ngrams->n >= 2 * ngrams->w))
		simdup_ngrams_flush(ngrams);
	if (ngrams->n > 0)
		ngrams->bytes[ngrams->used++] = ' ';
	ngrams->starts[ngrams->n] = ngrams->used;
	simdup_ngrams_reserve(ngrams, len);
}

#endif /* SIMDUP_CORE_FINGERPRINT_NGRAMS_H */

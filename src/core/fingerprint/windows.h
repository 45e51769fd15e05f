/*
 * windows.h
 *	  Windows of w consecutive units of a text: characters, or words with one blank
 *	  between them. A text of fewer than w units is one window.
 *
 * Units lie one after another in a buffer. Whenever it is full, its windows are
 * handed on, and only the last w - 1 units stay. A window is a stretch of the
 * buffer, so nothing is copied for it.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_WINDOWS_H
#define SIMDUP_CORE_FINGERPRINT_WINDOWS_H

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

/* Units that a buffer takes beyond the past. Its arrays fit the first-level cache. */
#define SIMDUP_WINDOW_UNITS 512

/* Windows up to this width need no array of starts of their own. */
#define SIMDUP_SMALL_WINDOW 64

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
	size_t small_starts[SIMDUP_FULL_UNITS(SIMDUP_SMALL_WINDOW) + 1];
} SimdupWindows;

/* Begin windows of words or of characters. The caller sets one of the sinks. */
extern void simdup_windows_begin(SimdupWindows *windows, size_t w, bool words);

/* Hand on all windows that are complete. Checks for interrupts. */
extern void simdup_windows_flush(SimdupWindows *windows);

/* Hand on what is left, and free the buffer. */
extern void simdup_windows_end(SimdupWindows *windows);

/* Add the first len bytes of a word, the first one lowest. */
static inline void
simdup_windows_add_unit(SimdupWindows *windows, uint32_t bytes, size_t len)
{
	if (windows->n >= windows->full)
		simdup_windows_flush(windows);
	windows->starts[windows->n++] = windows->used;
	simdup_store32(windows->bytes + windows->used, bytes);
	windows->used += len;
}

/* Add a character. */
static inline void
simdup_windows_add_char(SimdupWindows *windows, uint32_t cp)
{
	unsigned char bytes[SIMDUP_MAX_UTF8] = {0};
	size_t len = (size_t) simdup_utf8_encode(cp, bytes);

	simdup_windows_add_unit(windows, simdup_load32((char *) bytes), len);
}

/* Add the word characters of a text, folded, or if raw all but white space. */
extern void simdup_windows_add_text(SimdupWindows *windows, bool raw,
									const char *text, size_t len);

/* The widest windows of characters that are hashed in blocks, without a buffer. */
#define SIMDUP_MAX_BLOCK_W 16

/* Hand on the hash of each window of the same characters. */
extern void simdup_hash_chars(size_t w, bool raw, const char *text, size_t len,
							  SimdupElementSink sink, void *arg);

/* Bytes from which on a buffer with windows is emptied early: words may be long. */
#define SIMDUP_WINDOW_BYTES (1 << 16)

/* Make room for len bytes of a word, and a blank behind it. */
static inline void
simdup_windows_reserve(SimdupWindows *windows, size_t len)
{
	size_t needed = windows->used + len + 1;

	if (needed > windows->size)
		windows->bytes = simdup_grow(windows->bytes, &windows->size, needed, 1);
}

/* Begin a word, with room for len bytes. The one before it is complete. */
static inline void
simdup_windows_begin_word(SimdupWindows *windows, size_t len)
{
	if (windows->n >= windows->full ||
		(windows->used >= SIMDUP_WINDOW_BYTES && windows->n >= 2 * windows->w))
		simdup_windows_flush(windows);
	if (windows->n > 0)
		windows->bytes[windows->used++] = ' ';
	windows->starts[windows->n] = windows->used;
	simdup_windows_reserve(windows, len);
}

#endif /* SIMDUP_CORE_FINGERPRINT_WINDOWS_H */

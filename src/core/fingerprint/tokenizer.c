/*
 * tokenizer.c
 *	  One pass over the bytes, tokens handed on in batches.
 *
 * A token that reads in the text as it reads folded is not copied: it points
 * into the text. Only folded tokens and n-grams are written to a buffer.
 */
#include <string.h>

#include "core/fingerprint/tokenizer.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* Room that a buffer has at first beyond what is needed. */
#define SPARE_BYTES 1024

/* A growing buffer of bytes that do not lie in the text. */
typedef struct Buffer
{
	char *bytes;
	size_t used;
	size_t size;
} Buffer;

typedef struct Batch
{
	SimdupTokenSink sink;
	void *arg;
	Buffer folded;	   /* bytes of tokens that are not in the text */
	size_t unfinished; /* where the token being folded begins */
	int count;
	SimdupToken tokens[SIMDUP_BATCH_TOKENS];
} Batch;

static void
batch_begin(Batch *batch, SimdupTokenSink sink, void *arg)
{
	memset(batch, 0, offsetof(Batch, tokens));
	batch->sink = sink;
	batch->arg = arg;
}

/* Hand the batch on; of the folded bytes only the unfinished token stays. */
static void
flush(Batch *batch)
{
	if (batch->count > 0)
		batch->sink(batch->arg, batch->tokens, batch->count);
	batch->count = 0;
	if (batch->unfinished > 0)
	{
		batch->folded.used -= batch->unfinished;
		memmove(batch->folded.bytes, batch->folded.bytes + batch->unfinished,
				batch->folded.used);
		batch->unfinished = 0;
	}
	simdup_check_interrupts();
}

static void
batch_end(Batch *batch)
{
	flush(batch);
	simdup_free(batch->folded.bytes);
}

static inline void
emit(Batch *batch, const void *bytes, size_t len)
{
	batch->tokens[batch->count].bytes = bytes;
	batch->tokens[batch->count].len = (uint32_t) len;
	if (++batch->count == SIMDUP_BATCH_TOKENS)
		flush(batch);
}

/* Emit what was folded since the last such token. */
static inline void
emit_folded(Batch *batch)
{
	size_t start = batch->unfinished;

	batch->unfinished = batch->folded.used;
	emit(batch, batch->folded.bytes + start, batch->folded.used - start);
}

/*
 * Make room for need more bytes. The buffer may move, so the tokens that wait
 * in the batch are handed on before.
 */
static void
enlarge(Buffer *buffer, size_t need, Batch *batch)
{
	flush(batch);
	/* with some room to spare: each time hands on a batch that is not full */
	buffer->bytes = simdup_grow(buffer->bytes, &buffer->size,
								buffer->used + need + SPARE_BYTES, 1);
}

static inline void
reserve(Buffer *buffer, size_t need, Batch *batch)
{
	if (buffer->size - buffer->used < need)
		enlarge(buffer, need, batch);
}

static inline void
append(Buffer *buffer, const void *bytes, size_t len, Batch *batch)
{
	reserve(buffer, len + 1, batch); /* never without a buffer */
	memcpy(buffer->bytes + buffer->used, bytes, len);
	buffer->used += len;
}

/*
 * Check whether one of U+4E00 to U+9FFF, the bulk of Chinese text, stands at p,
 * where three bytes can be read. All of them are unsegmented and fold to
 * themselves.
 */
static inline bool
is_common_han(const unsigned char *p)
{
	unsigned lead = (unsigned) p[0] << 8 | p[1];

	return lead - 0xE4B8 <= 0xE9BF - 0xE4B8 &&
		   ((p[1] ^ 0x80) | (p[2] ^ 0x80)) < 0x40;
}

/* Decode a character of profile 1; the common ones do not need the tables. */
static inline SimdupCharClass
next_char(const unsigned char *p, const unsigned char *end, int *len,
		  int32_t *fold, uint32_t *cp)
{
	SimdupCharProperty property;

	*fold = 0;
	if (*p < 0x80)
	{
		*len = 1;
		*cp = *p;
		if ((unsigned) (*p | 0x20) - 'a' < 26)
		{
			*fold = (*p & 0x20) ? 0 : 0x20;
			return SIMDUP_CHAR_SEGMENTED;
		}
		return (unsigned) *p - '0' < 10 ? SIMDUP_CHAR_SEGMENTED
										: SIMDUP_CHAR_SEPARATOR;
	}
	if (end - p >= 3 && is_common_han(p))
	{
		*len = 3;
		*cp = 0; /* not asked for, as it does not fold */
		return SIMDUP_CHAR_UNSEGMENTED;
	}
	*cp = simdup_utf8_decode(p, end, len);
	property = simdup_char_property(*cp);
	*fold = property.fold;
	return (SimdupCharClass) property.char_class;
}

/* Append a character, folded. */
static inline void
append_folded(Buffer *buffer, const unsigned char *p, int len, int32_t fold,
			  uint32_t cp, Batch *batch)
{
	reserve(buffer, SIMDUP_MAX_UTF8, batch);
	if (fold == 0)
		memcpy(buffer->bytes + buffer->used, p, len);
	else
		len =
			simdup_utf8_encode((uint32_t) ((int32_t) cp + fold),
							   (unsigned char *) buffer->bytes + buffer->used);
	buffer->used += len;
}

/* Read a run of segmented characters at p, one folded token, to its end. */
static inline const unsigned char *
segmented_run(const unsigned char *p, const unsigned char *end, Batch *batch)
{
	const unsigned char *start = p;
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	bool copied = false;
	int len;
	int32_t fold;
	uint32_t cp;

	while (p < end &&
		   next_char(p, end, &len, &fold, &cp) == SIMDUP_CHAR_SEGMENTED)
	{
		if (fold != 0 && !copied)
		{
			/* from the first character that folds, the token is a copy */
			append(&batch->folded, start, (size_t) (p - start), batch);
			copied = true;
		}
		if (copied)
			append_folded(&batch->folded, p, len, fold, cp, batch);
		p += len;
		look = simdup_look(p, look);
	}
	if (copied)
		emit_folded(batch);
	else
		emit(batch, start, (size_t) (p - start));
	return p;
}

/*
 * A maximal run of unsegmented characters gives its overlapping bigrams, or
 * itself. None of them folds, so all lie in the text. The character at p, of
 * len bytes, is the first. Returns the run's end.
 */
static inline const unsigned char *
unsegmented_run(const unsigned char *p, int len, const unsigned char *end,
				Batch *batch)
{
	const unsigned char *first = p;
	const unsigned char *last = p;
	int32_t fold;
	uint32_t cp;

	for (p += len;; p += len)
	{
		while (end - p >= 3 && is_common_han(p))
		{
			emit(batch, last, (size_t) (p + 3 - last));
			last = p;
			p += 3;
		}
		if (p >= end ||
			next_char(p, end, &len, &fold, &cp) != SIMDUP_CHAR_UNSEGMENTED)
			break;
		emit(batch, last, (size_t) (p + len - last));
		last = p;
	}
	if (last == first)
		emit(batch, first, (size_t) (p - first));
	return p;
}

static void
tokenize_word(const unsigned char *p, const unsigned char *end, Batch *batch)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	int len;
	int32_t fold;
	uint32_t cp;

	while (p < end)
	{
		switch (next_char(p, end, &len, &fold, &cp))
		{
			case SIMDUP_CHAR_SEGMENTED:
				p = segmented_run(p, end, batch);
				break;
			case SIMDUP_CHAR_UNSEGMENTED:
				p = unsegmented_run(p, len, end, batch);
				break;
			case SIMDUP_CHAR_SEPARATOR:
				p += len;
				break;
		}
		look = simdup_look(p, look);
	}
}

static inline bool
is_ascii_letter(unsigned char c)
{
	return (unsigned) (c | 0x20) - 'a' < 26;
}

/* Check for all but the default delimiters of Java's StringTokenizer. */
static inline bool
is_no_delimiter(unsigned char c)
{
	return c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
}

/*
 * Maximal runs of bytes are tokens, as they are or in lower case. Inline, so that
 * each kind of byte has a loop of its own.
 */
static inline __attribute__((always_inline)) void
tokenize_runs(const unsigned char *p, const unsigned char *end,
			  bool (*is_in_token)(unsigned char), bool lower, Batch *batch)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	const unsigned char *start = NULL;

	for (;; p++)
	{
		if (p < end && is_in_token(*p))
		{
			if (start == NULL)
				start = p;
		}
		else if (start != NULL && lower)
		{
			reserve(&batch->folded, (size_t) (p - start), batch);
			for (; start < p; start++)
				batch->folded.bytes[batch->folded.used++] =
					(char) (*start | 0x20);
			emit_folded(batch);
			start = NULL;
		}
		else if (start != NULL)
		{
			emit(batch, start, (size_t) (p - start));
			start = NULL;
		}
		if (p >= end)
			return;
		look = simdup_look(p, look);
	}
}

/*
 * Windows of n items laid end to end in one growing buffer. The starts of the
 * last n items are kept in a ring.
 */
typedef struct Windows
{
	Batch *batch;
	Buffer buffer;
	int n;
	uint64_t items;	  /* items so far */
	size_t *starts;	  /* offset of item i at [i % n] */
	size_t separator; /* bytes between two items: 0 or 1 */
} Windows;

/* Bytes in the buffer from which on the past is dropped. */
#define WINDOW_BYTES (1 << 16)

static void
windows_begin(Windows *windows, int n, size_t separator, Batch *batch)
{
	memset(windows, 0, sizeof(*windows));
	windows->batch = batch;
	windows->n = n;
	windows->separator = separator;
	windows->buffer.bytes =
		simdup_grow(NULL, &windows->buffer.size, SPARE_BYTES, 1);
	windows->starts = simdup_alloc(n * sizeof(size_t));
}

/* Make the items that later windows still need the first in the buffer. */
static void
windows_drop_past(Windows *windows)
{
	uint64_t kept = windows->n - 1;
	size_t from;

	flush(windows->batch);
	if (kept > windows->items)
		kept = windows->items;
	from = kept == 0 ? windows->buffer.used
					 : windows->starts[(windows->items - kept) % windows->n];
	memmove(windows->buffer.bytes, windows->buffer.bytes + from,
			windows->buffer.used - from);
	windows->buffer.used -= from;
	for (uint64_t i = windows->items - kept; i < windows->items; i++)
		windows->starts[i % windows->n] -= from;
}

/* Start the next item at the end of the buffer, with room for len bytes. */
static inline void
windows_start_item(Windows *windows, size_t len)
{
	Buffer *buffer = &windows->buffer;

	/* half-full of past: the move costs less than what was written since */
	if (buffer->used >= WINDOW_BYTES &&
		windows->items >= (uint64_t) windows->n &&
		windows->starts[(windows->items + 1) % windows->n] >= buffer->used / 2)
		windows_drop_past(windows);
	reserve(buffer, len + 1, windows->batch);
	if (windows->separator && windows->items > 0)
		buffer->bytes[buffer->used++] = ' ';
	windows->starts[windows->items % windows->n] = buffer->used;
}

/* End an item that is written: hand on the window that it completes. */
static inline void
windows_end_item(Windows *windows)
{
	size_t start;

	windows->items++;
	if (windows->items < (uint64_t) windows->n)
		return;
	start = windows->starts[windows->items % windows->n];
	emit(windows->batch, windows->buffer.bytes + start,
		 windows->buffer.used - start);
}

static void
windows_end(Windows *windows)
{
	/* fewer than n items: all there is, is one token */
	if (windows->items > 0 && windows->items < (uint64_t) windows->n)
		emit(windows->batch, windows->buffer.bytes, windows->buffer.used);
	flush(windows->batch); /* its tokens lie in the buffer */
	simdup_free(windows->starts);
	simdup_free(windows->buffer.bytes);
}

/* Decode a character that does not fold. Return whether it is a unit. */
static inline bool
next_raw_char(const unsigned char *p, const unsigned char *end, int *len,
			  int32_t *fold, uint32_t *cp)
{
	*fold = 0;
	*cp = simdup_utf8_decode(p, end, len);
	return *cp != SIMDUP_INVALID_CHAR && !simdup_is_white_space(*cp);
}

static inline __attribute__((always_inline)) void
tokenize_char_ngram(const unsigned char *p, const unsigned char *end, int n,
					bool raw, Batch *batch)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	Windows windows;
	int len;
	int32_t fold;
	uint32_t cp;

	windows_begin(&windows, n, 0, batch);
	for (; p < end; p += len)
	{
		if (raw ? next_raw_char(p, end, &len, &fold, &cp)
				: next_char(p, end, &len, &fold, &cp) != SIMDUP_CHAR_SEPARATOR)
		{
			windows_start_item(&windows, SIMDUP_MAX_UTF8);
			append_folded(&windows.buffer, p, len, fold, cp, batch);
			windows_end_item(&windows);
		}
		look = simdup_look(p, look);
	}
	windows_end(&windows);
}

/* Receive the word tokens that word n-grams are made of. */
static void
word_ngram_sink(void *arg, const SimdupToken *tokens, int count)
{
	Windows *windows = arg;

	for (int i = 0; i < count; i++)
	{
		windows_start_item(windows, tokens[i].len);
		append(&windows->buffer, tokens[i].bytes, tokens[i].len,
			   windows->batch);
		windows_end_item(windows);
	}
}

static void
tokenize_word_ngram(const unsigned char *p, const unsigned char *end, int n,
					Batch *batch)
{
	Windows windows;
	Batch words;

	windows_begin(&windows, n, 1, batch);
	batch_begin(&words, word_ngram_sink, &windows);
	tokenize_word(p, end, &words);
	batch_end(&words);
	windows_end(&windows);
}

/* Append a segment of valid UTF-8, folded. */
static void
append_segment(Batch *batch, const SimdupSegment *segment)
{
	const unsigned char *p = (const unsigned char *) segment->bytes;
	const unsigned char *end = p + segment->len;
	int len;
	int32_t fold;
	uint32_t cp;

	for (; p < end; p += len)
	{
		next_char(p, end, &len, &fold, &cp);
		append_folded(&batch->folded, p, len, fold, cp, batch);
	}
}

static void
tokenize_segments(SimdupBreaker breaker, const char *text, size_t len,
				  Batch *batch)
{
	SimdupSegments segments;
	SimdupSegment segment;

	simdup_segments_begin(&segments, breaker, text, len);
	while (simdup_segments_next(&segments, &segment))
	{
		if (!segment.is_word)
			continue;
		if (segment.folds)
		{
			append_segment(batch, &segment);
			emit_folded(batch);
		}
		else
			emit(batch, segment.bytes, segment.len);
	}
	simdup_segments_free(&segments);
}

void
simdup_tokenize(SimdupTokenizer tokenizer, const char *text, size_t len,
				SimdupTokenSink sink, void *arg)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	Batch batch;

	batch_begin(&batch, sink, arg);
	switch (tokenizer.kind)
	{
		case SIMDUP_TOKENIZER_WORD:
			tokenize_word(p, end, &batch);
			break;
		case SIMDUP_TOKENIZER_ALPHA:
			tokenize_runs(p, end, is_ascii_letter, true, &batch);
			break;
		case SIMDUP_TOKENIZER_SPACE:
			tokenize_runs(p, end, is_no_delimiter, false, &batch);
			break;
		case SIMDUP_TOKENIZER_CHAR_NGRAM:
			tokenize_char_ngram(p, end, tokenizer.n, false, &batch);
			break;
		case SIMDUP_TOKENIZER_RAW_NGRAM:
			tokenize_char_ngram(p, end, tokenizer.n, true, &batch);
			break;
		case SIMDUP_TOKENIZER_WORD_NGRAM:
			tokenize_word_ngram(p, end, tokenizer.n, &batch);
			break;
		case SIMDUP_TOKENIZER_SEGMENTS:
			tokenize_segments(tokenizer.breaker, text, len, &batch);
			break;
	}
	batch_end(&batch);
}

/*
 * tokenizer.c
 *	  One pass over the bytes, tokens handed on in batches.
 *
 * A token that reads in the text as it reads folded is not copied: it points
 * into the text. Only folded tokens and n-grams are written to a buffer.
 */
#include "core/fingerprint/tokenizer.h"

/* Bytes that are allocated beyond those needed for folded text. */
#define SPARE_BYTES 1024

typedef struct Batch
{
	SimdupTokenSink sink;
	void *arg;
	char *folded; /* bytes of tokens that are not in the text */
	size_t used;
	size_t size;
	size_t unfinished; /* where the token being folded begins */
	int count;
	SimdupToken tokens[SIMDUP_BATCH_TOKENS];
} Batch;

/* Hand the batch on; of the folded bytes only the unfinished token stays. */
static void
flush(Batch *batch)
{
	if (batch->count > 0)
		batch->sink(batch->arg, batch->tokens, batch->count);
	batch->count = 0;
	if (batch->unfinished > 0)
	{
		batch->used -= batch->unfinished;
		memmove(batch->folded, batch->folded + batch->unfinished, batch->used);
		batch->unfinished = 0;
	}
	simdup_check_interrupts();
}

static inline void
emit(Batch *batch, const void *bytes, size_t len)
{
	batch->tokens[batch->count].bytes = bytes;
	batch->tokens[batch->count].len = (uint32_t) len;
	if (++batch->count == SIMDUP_BATCH_TOKENS)
		flush(batch);
}

/* Emit the bytes that were folded since the last such token. */
static inline void
emit_folded(Batch *batch)
{
	size_t start = batch->unfinished;

	batch->unfinished = batch->used;
	emit(batch, batch->folded + start, batch->used - start);
}

/*
 * Make room for need more folded bytes. They may move, so the tokens that wait
 * in the batch are handed on before.
 */
static void
enlarge(Batch *batch, size_t need)
{
	flush(batch);
	/* with some room to spare: each time hands on a batch that is not full */
	batch->folded = simdup_grow(batch->folded, &batch->size,
								batch->used + need + SPARE_BYTES, 1);
}

static inline void
reserve(Batch *batch, size_t need)
{
	if (batch->size - batch->used < need)
		enlarge(batch, need);
}

/* Write the character at p, folded. Return its length. */
static inline size_t
write_folded(char *out, const unsigned char *p, SimdupChar c)
{
	if (c.fold != 0)
		return (size_t) simdup_utf8_encode(simdup_folded(c),
										   (unsigned char *) out);
	memcpy(out, p, (size_t) c.len);
	return (size_t) c.len;
}

static inline void
append_folded(Batch *batch, const unsigned char *p, SimdupChar c)
{
	reserve(batch, SIMDUP_MAX_UTF8);
	batch->used += write_folded(batch->folded + batch->used, p, c);
}

/* Read a run of segmented characters at p, one folded token, to its end. */
static inline const unsigned char *
segmented_run(const unsigned char *p, const unsigned char *end, Batch *batch)
{
	const unsigned char *start = p;
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	bool copied = false;

	while (p < end)
	{
		SimdupChar c = simdup_next_char(p, end);

		if (c.char_class != SIMDUP_CHAR_SEGMENTED)
			break;
		if (c.fold != 0 && !copied)
		{
			/* from the first character that folds, the token is a copy */
			reserve(batch, (size_t) (p - start) + SIMDUP_MAX_UTF8);
			memcpy(batch->folded + batch->used, start, (size_t) (p - start));
			batch->used += (size_t) (p - start);
			copied = true;
		}
		if (copied)
			append_folded(batch, p, c);
		p += c.len;
		poll_at = simdup_poll(p, poll_at);
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

	for (p += len;; p += len)
	{
		SimdupChar c;

		/* most characters need a step of fixed length and no more */
		for (; end - p >= 3 && simdup_is_common_han(p); p += 3)
		{
			emit(batch, last, (size_t) (p + 3 - last));
			last = p;
		}
		if (p >= end)
			break;
		c = simdup_next_char(p, end);
		if (c.char_class != SIMDUP_CHAR_UNSEGMENTED)
			break;
		len = c.len;
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
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;

	while (p < end)
	{
		SimdupChar c = simdup_next_char(p, end);

		if (c.char_class == SIMDUP_CHAR_SEGMENTED)
			p = segmented_run(p, end, batch);
		else if (c.char_class == SIMDUP_CHAR_UNSEGMENTED)
			p = unsegmented_run(p, c.len, end, batch);
		else
			p += c.len;
		poll_at = simdup_poll(p, poll_at);
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
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
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
			reserve(batch, (size_t) (p - start));
			for (; start < p; start++)
				batch->folded[batch->used++] = (char) (*start | 0x20);
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
		poll_at = simdup_poll(p, poll_at);
	}
}

/* Take words, the units of word n-grams: a SimdupTokenSink. */
static void
add_words(void *arg, const SimdupToken *tokens, int count)
{
	SimdupNgrams *ngrams = arg;

	for (int i = 0; i < count; i++)
	{
		simdup_ngrams_begin_word(ngrams, tokens[i].len);
		memcpy(ngrams->bytes + ngrams->used, tokens[i].bytes, tokens[i].len);
		ngrams->used += tokens[i].len;
		ngrams->n++;
	}
}

static void
add_chars(SimdupNgrams *ngrams, const unsigned char *p,
		  const unsigned char *end)
{
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;

	while (p < end)
	{
		SimdupChar c = simdup_next_char(p, end);

		p += c.len;
		if (c.char_class != SIMDUP_CHAR_SEPARATOR)
			simdup_ngrams_add_unit(ngrams, simdup_unit_of(simdup_folded(c)));
		poll_at = simdup_poll(p, poll_at);
	}
}

static void
tokenize_ngrams(SimdupTokenizer tokenizer, const char *text, size_t len,
				SimdupTokenSink sink, void *arg)
{
	bool words = tokenizer.kind == SIMDUP_TOKENIZER_WORD_NGRAM;
	const unsigned char *p = (const unsigned char *) text;
	SimdupNgrams ngrams;

	simdup_ngrams_begin(&ngrams, (size_t) tokenizer.n, words, sink, arg);
	if (words)
		simdup_tokenize((SimdupTokenizer){.kind = SIMDUP_TOKENIZER_WORD}, text,
						len, add_words, &ngrams);
	else
		add_chars(&ngrams, p, p + len);
	simdup_ngrams_end(&ngrams);
}

/*
 * Segments
 *
 * A breaker may need memory and time for its text as a whole, and cannot be
 * interrupted, so it gets a window. The next window begins after a segment
 * without a word character, near the end of the window. There a fresh start
 * finds the same segments. Only a text without such a segment in SLACK bytes
 * feels the window: a single word, or a dictionary script without punctuation.
 */

/* The part of a window in which its end is looked for. */
#define SLACK 1024

/* Return the end of the window that begins at p. It is not inside a character. */
static const unsigned char *
window_end(const unsigned char *p, const unsigned char *end)
{
	size_t len = SIMDUP_BREAK_WINDOW;

	if (end - p <= SIMDUP_BREAK_WINDOW)
		return end;
	for (int i = 1; i < SIMDUP_MAX_UTF8 && (p[len] & 0xC0) == 0x80; i++)
		len--;
	return p + len;
}

/*
 * Take the segment [p, end) up to a byte that is not UTF-8, or such a byte. Emit it,
 * folded, and set *is_word if it has a word character. Return its end.
 */
static const unsigned char *
take_segment(const unsigned char *p, const unsigned char *end, Batch *batch,
			 bool *is_word)
{
	const unsigned char *start = p;
	bool folds = false;
	SimdupChar c;

	*is_word = false;
	for (; p < end; p += c.len)
	{
		c = simdup_next_char(p, end);
		if (c.cp == SIMDUP_INVALID_CHAR)
			break;
		*is_word |= c.char_class != SIMDUP_CHAR_SEPARATOR;
		folds |= c.fold != 0;
	}
	if (p == start)
		return p + 1;
	if (*is_word && !folds)
		emit(batch, start, (size_t) (p - start));
	else if (*is_word)
	{
		for (; start < p; start += c.len)
		{
			c = simdup_next_char(start, p);
			append_folded(batch, start, c);
		}
		emit_folded(batch);
	}
	return p;
}

static void
tokenize_segments(SimdupBreaker breaker, const unsigned char *p,
				  const unsigned char *end, Batch *batch)
{
	size_t most = end - p < SIMDUP_BREAK_WINDOW ? (size_t) (end - p)
												: SIMDUP_BREAK_WINDOW;
	uint32_t *breaks = simdup_alloc(most * sizeof(uint32_t) + 1);

	while (p < end)
	{
		const unsigned char *window = p;
		const unsigned char *behind = window_end(p, end);
		bool goes_on = behind < end;
		int n;

		simdup_check_interrupts();
		n = breaker.find(breaker.arg, (const char *) p, (size_t) (behind - p),
						 breaks);
		/* the next window begins with the segment that the end cut off */
		if (goes_on && n > 1)
			n--;
		for (int i = 0; i < n; i++)
		{
			bool is_word = false;

			while (p < window + breaks[i])
				p = take_segment(p, window + breaks[i], batch, &is_word);
			if (!is_word && goes_on && behind - p <= SLACK)
				break;
		}
	}
	simdup_free(breaks);
}

void
simdup_tokenize(SimdupTokenizer tokenizer, const char *text, size_t len,
				SimdupTokenSink sink, void *arg)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	Batch batch;

	memset(&batch, 0, offsetof(Batch, tokens));
	batch.sink = sink;
	batch.arg = arg;
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
		case SIMDUP_TOKENIZER_WORD_NGRAM:
			tokenize_ngrams(tokenizer, text, len, sink, arg);
			break;
		case SIMDUP_TOKENIZER_SEGMENTS:
			tokenize_segments(tokenizer.breaker, p, end, &batch);
			break;
	}
	flush(&batch);
	simdup_free(batch.folded);
}

/* Fields */

size_t
simdup_lower_field(const char *field, size_t len, char *out)
{
	const unsigned char *p = (const unsigned char *) field;
	const unsigned char *end = p + len;
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	size_t used = 0;
	size_t trimmed = 0;

	while (p < end)
	{
		SimdupChar c = simdup_next_char(p, end);
		bool blank = simdup_is_blank(c.cp);

		/* a byte that is not UTF-8 does not fold */
		if (!blank || used > 0)
			used += write_folded(out + used, p, c);
		if (!blank)
			trimmed = used;
		p += c.len;
		poll_at = simdup_poll(p, poll_at);
	}
	return trimmed;
}

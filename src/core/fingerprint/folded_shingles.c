/*
 * folded_shingles.c
 *	  Shingles of profile 2, in one pass over a text: folding, units, windows.
 *	  Fields of a row, folded alike, and their masks.
 */
#include "core/fingerprint/shingle.h"
#include "core/unicode/fold.h"

/* Return the length of UTF-8 without its last character. */
static size_t
without_last(const char *bytes, size_t len)
{
	do
		len--;
	while ((bytes[len] & 0xC0) == 0x80);
	return len;
}

/* Words */

/* In place of a class: the run is one unsegmented character so far. */
#define ONE_UNSEGMENTED (SIMDUP_CHAR_UNSEGMENTED + 1)

typedef struct FoldedWords
{
	SimdupNgrams *ngrams;
	unsigned run;  /* class of the run that the text is in, or as above */
	uint32_t last; /* the last character of an unsegmented run */
} FoldedWords;

/* Append a character to the word that has begun. There is room for it. */
static inline void
append_char(SimdupNgrams *ngrams, uint32_t cp)
{
	ngrams->used +=
		simdup_utf8_encode(cp, (unsigned char *) ngrams->bytes + ngrams->used);
}

/* End the run of characters of one class. */
static inline void
end_run(FoldedWords *words)
{
	if (words->run == ONE_UNSEGMENTED)
	{
		simdup_ngrams_begin_word(words->ngrams, SIMDUP_MAX_UTF8);
		append_char(words->ngrams, words->last);
		words->ngrams->n++;
	}
	else if (words->run == SIMDUP_CHAR_SEGMENTED)
		words->ngrams->n++;
	words->run = SIMDUP_CHAR_SEPARATOR;
}

/* Add the next character of the folded text: a SimdupFoldSink. */
static inline __attribute__((always_inline)) void
add_to_words(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	FoldedWords *words = arg;

	if (char_class == SIMDUP_CHAR_SEGMENTED)
	{
		if (words->run != SIMDUP_CHAR_SEGMENTED)
		{
			end_run(words);
			simdup_ngrams_begin_word(words->ngrams, SIMDUP_MAX_UTF8);
			words->run = SIMDUP_CHAR_SEGMENTED;
		}
		simdup_ngrams_reserve(words->ngrams, SIMDUP_MAX_UTF8);
		append_char(words->ngrams, cp);
	}
	else if (char_class == SIMDUP_CHAR_SEPARATOR)
		end_run(words);
	else
	{
		if (words->run >= SIMDUP_CHAR_UNSEGMENTED)
		{
			SimdupNgrams *ngrams = words->ngrams;

			simdup_ngrams_begin_word(ngrams, (size_t) 2 * SIMDUP_MAX_UTF8);
			append_char(ngrams, words->last);
			append_char(ngrams, cp);
			ngrams->n++;
			words->run = SIMDUP_CHAR_UNSEGMENTED;
		}
		else
		{
			end_run(words);
			words->run = ONE_UNSEGMENTED;
		}
		words->last = cp;
	}
}

/* Replace the last character of the folded text: a SimdupFoldReplacer. */
static void
replace_in_words(void *arg, uint32_t cp)
{
	FoldedWords *words = arg;
	SimdupNgrams *ngrams = words->ngrams;

	words->last = cp;
	/* one alone is in no word yet */
	if (words->run == ONE_UNSEGMENTED)
		return;
	ngrams->used = without_last(ngrams->bytes, ngrams->used);
	simdup_ngrams_reserve(ngrams, SIMDUP_MAX_UTF8);
	append_char(ngrams, cp);
}

static void
word_shingles(SimdupNgrams *ngrams, const unsigned char *p,
			  const unsigned char *end)
{
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	FoldedWords words = {.ngrams = ngrams};
	uint32_t last = 0;
	int len;

	for (; p < end; p += len)
	{
		simdup_fold(simdup_utf8_decode(p, end, &len), &last, add_to_words,
					replace_in_words, &words);
		poll_at = simdup_poll(p, poll_at);
	}
	end_run(&words);
}

void
simdup_folded_shingles(SimdupShingling shingling, const char *text, size_t len,
					   SimdupTokenSink sink, void *arg)
{
	SimdupNgrams ngrams;

	simdup_ngrams_begin(&ngrams, (size_t) shingling.w,
						shingling.unit == SIMDUP_SHINGLE_WORD, sink, arg);
	if (shingling.unit == SIMDUP_SHINGLE_WORD)
		word_shingles(&ngrams, (const unsigned char *) text,
					  (const unsigned char *) text + len);
	else
		simdup_ngrams_add_text(&ngrams, shingling.unit == SIMDUP_SHINGLE_RAW,
							   text, len);
	simdup_ngrams_end(&ngrams);
}

/* Where the hashes of tokens go. */
typedef struct Hashing
{
	SimdupElementSink sink;
	void *arg;
} Hashing;

/* A SimdupTokenSink. */
static void
hash_tokens(void *arg, const SimdupToken *tokens, int n)
{
	const Hashing *hashing = arg;
	uint64_t hashes[SIMDUP_BATCH_TOKENS];

	for (int i = 0; i < n; i++)
		hashes[i] = simdup_city64(tokens[i].bytes, tokens[i].len);
	hashing->sink(hashing->arg, hashes, (size_t) n);
}

void
simdup_folded_elements(SimdupShingling shingling, const char *text, size_t len,
					   SimdupElementSink sink, void *arg)
{
	Hashing hashing = {sink, arg};

	if (shingling.unit != SIMDUP_SHINGLE_WORD &&
		shingling.w <= SIMDUP_MAX_BLOCK_W)
		simdup_hash_chars((size_t) shingling.w,
						  shingling.unit == SIMDUP_SHINGLE_RAW, text, len, sink,
						  arg);
	else
		simdup_folded_shingles(shingling, text, len, hash_tokens, &hashing);
}

void
simdup_shingle_strings(SimdupShingling shingling, const char *text, size_t len,
					   SimdupTokenSink sink, void *arg)
{
	SimdupTokenizer tokenizer = {.kind = shingling.unit == SIMDUP_SHINGLE_WORD
											 ? SIMDUP_TOKENIZER_WORD_NGRAM
											 : SIMDUP_TOKENIZER_CHAR_NGRAM};

	/* the windows' buffer need not be larger than the text */
	if ((size_t) shingling.w > len)
		shingling.w = (int) len + 1;
	tokenizer.n = shingling.w;
	if (shingling.unit == SIMDUP_SHINGLE_RAW)
		simdup_folded_shingles(shingling, text, len, sink, arg);
	else
		simdup_tokenize(tokenizer, text, len, sink, arg);
}

/* Fields */

typedef struct Field
{
	char *bytes;
	size_t used;
	size_t size;
	bool white; /* white space waits for what follows */
} Field;

/*
 * Append a folded character: a SimdupFoldSink. White space around the field is
 * dropped.
 */
static inline __attribute__((always_inline)) void
append_to_field(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	Field *field = arg;

	(void) char_class;
	if (simdup_is_blank(cp))
	{
		field->white = field->used > 0;
		return;
	}
	field->bytes = simdup_grow(field->bytes, &field->size,
							   field->used + 1 + SIMDUP_MAX_UTF8, 1);
	if (field->white)
		field->bytes[field->used++] = ' ';
	field->white = false;
	field->used +=
		simdup_utf8_encode(cp, (unsigned char *) field->bytes + field->used);
}

/* A SimdupFoldReplacer. */
static void
replace_in_field(void *arg, uint32_t cp)
{
	Field *field = arg;

	field->used = without_last(field->bytes, field->used);
	append_to_field(field, cp, SIMDUP_CHAR_SEGMENTED);
}

char *
simdup_fold_field(const char *text, size_t len, size_t *folded_len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	Field field = {0};
	uint32_t last = 0;
	int char_len;

	field.bytes = simdup_grow(NULL, &field.size, len + 1, 1);
	for (; p < end; p += char_len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &char_len);

		if (cp != SIMDUP_INVALID_CHAR)
			simdup_fold(cp, &last, append_to_field, replace_in_field, &field);
		else
		{
			/* keep a byte that is not UTF-8 */
			append_to_field(&field, 'x', SIMDUP_CHAR_SEGMENTED);
			field.bytes[field.used - 1] = (char) *p;
			last = 0;
		}
		poll_at = simdup_poll(p, poll_at);
	}
	*folded_len = field.used;
	return field.bytes;
}

uint64_t
simdup_field_mask(const char *text, size_t len, uint32_t number, int n_bits)
{
	size_t folded_len;
	char *folded = simdup_fold_field(text, len, &folded_len);
	uint64_t hash = simdup_mix64(simdup_city64(folded, folded_len) ^
								 number * SIMDUP_GOLDEN);
	uint64_t mask = 0;

	simdup_free(folded);
	if (folded_len == 0)
		return 0;
	for (uint64_t r = 0; n_bits > 0; r++)
	{
		uint64_t bit = UINT64_C(1)
					   << (simdup_mix64(hash ^ r * SIMDUP_GOLDEN) >> 58);

		n_bits -= (mask & bit) == 0;
		mask |= bit;
	}
	return mask;
}

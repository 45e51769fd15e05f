/*
 * naive.h
 *	  Characters and tokens the slow way, to compare the fast paths with.
 *
 * UTF-8 is decoded by Unicode's table of well-formed sequences (3-7). Every
 * character is looked up in the tables of classes and folding, whose contents
 * are not tested here.
 */
#ifndef SIMDUP_FUZZ_NAIVE_H
#define SIMDUP_FUZZ_NAIVE_H

#include "core/fingerprint/tokenizer.h"
#include "core/unicode/charclass.h"
#include "input.h"

/* Byte strings, each behind its length: equal lists are equal bytes. */
typedef struct Strings
{
	char *bytes;
	size_t used;
	size_t size;
	uint64_t n;
} Strings;

static inline void
add_string(Strings *list, const char *bytes, size_t len)
{
	uint32_t len32 = (uint32_t) len;

	if (list->size - list->used < len + sizeof(len32))
	{
		list->size = 2 * list->size + len + sizeof(len32);
		list->bytes = checked(realloc(list->bytes, list->size));
	}
	memcpy(list->bytes + list->used, &len32, sizeof(len32));
	list->used += sizeof(len32);
	if (len > 0)
		memcpy(list->bytes + list->used, bytes, len);
	list->used += len;
	list->n++;
}

static inline bool
same_strings(const Strings *a, const Strings *b)
{
	return a->n == b->n && a->used == b->used &&
		   (a->used == 0 || memcmp(a->bytes, b->bytes, a->used) == 0);
}

/* Go to the string at *at and past it; false at the end. */
static inline bool
next_string(const Strings *list, size_t *at, const char **bytes, size_t *len)
{
	uint32_t len32;

	if (*at >= list->used)
		return false;
	memcpy(&len32, list->bytes + *at, sizeof(len32));
	*bytes = list->bytes + *at + sizeof(len32);
	*len = len32;
	*at += sizeof(len32) + len32;
	return true;
}

static inline bool
byte_in(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

/* Length of the well-formed sequence at p, 0 if there is none. */
static inline int
naive_utf8_length(const unsigned char *p, size_t left)
{
	unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
	int len = byte_in(p[0], 0x00, 0x7F)	  ? 1
			  : byte_in(p[0], 0xC2, 0xDF) ? 2
			  : byte_in(p[0], 0xE0, 0xEF) ? 3
			  : byte_in(p[0], 0xF0, 0xF4) ? 4
										  : 0;

	if ((size_t) len > left || (len > 1 && !byte_in(p[1], low, high)))
		return 0;
	for (int i = 2; i < len; i++)
		if (!byte_in(p[i], 0x80, 0xBF))
			return 0;
	return len;
}

/* Is all of it UTF-8? */
static inline bool
naive_utf8_valid(const char *text, size_t len)
{
	for (size_t at = 0; at < len;)
	{
		int n = naive_utf8_length((const unsigned char *) text + at, len - at);

		if (n == 0)
			return false;
		at += (size_t) n;
	}
	return true;
}

/* Unicode's White_Space, as listed in PropList.txt. */
static inline bool
naive_is_white(uint32_t cp)
{
	static const uint32_t white[] = {0x09,	 0x0A,	 0x0B,	 0x0C,	 0x0D,
									 0x20,	 0x85,	 0xA0,	 0x1680, 0x2000,
									 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
									 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
									 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};

	for (size_t i = 0; i < sizeof(white) / sizeof(white[0]); i++)
		if (cp == white[i])
			return true;
	return false;
}

typedef struct NaiveChar
{
	uint32_t cp; /* as it stands; SIMDUP_INVALID_CHAR */
	SimdupCharClass char_class;
	size_t at; /* where it stands */
	int len;
	char folded[SIMDUP_MAX_UTF8];
	int folded_len;
} NaiveChar;

static inline NaiveChar
naive_char(const char *text, size_t at, size_t len)
{
	const unsigned char *p = (const unsigned char *) text + at;
	static const uint8_t lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	NaiveChar c = {.cp = SIMDUP_INVALID_CHAR, .at = at, .len = 1};
	int bytes = naive_utf8_length(p, len - at);

	if (bytes > 0)
	{
		SimdupCharProperty property;

		c.len = bytes;
		c.cp = p[0] & lead_bits[bytes];
		for (int i = 1; i < bytes; i++)
			c.cp = c.cp * 64 + p[i] - 0x80;
		property = simdup_char_property(c.cp);
		c.char_class = (SimdupCharClass) property.char_class;
		c.folded_len =
			simdup_utf8_encode((uint32_t) ((int64_t) c.cp + property.fold),
							   (unsigned char *) c.folded);
	}
	return c;
}

/* All characters of a text. To be freed. */
static inline NaiveChar *
naive_chars(const char *text, size_t len, size_t *n)
{
	NaiveChar *chars = checked(malloc((len + 1) * sizeof(NaiveChar)));

	*n = 0;
	for (size_t at = 0; at < len; at += (size_t) chars[(*n)++].len)
		chars[*n] = naive_char(text, at, len);
	return chars;
}

/* Characters [from, to) folded, as one string. */
static inline void
add_folded(Strings *list, const NaiveChar *chars, size_t from, size_t to)
{
	char *bytes = checked(malloc((to - from) * SIMDUP_MAX_UTF8 + 1));
	size_t len = 0;

	for (size_t i = from; i < to; i++)
	{
		memcpy(bytes + len, chars[i].folded, (size_t) chars[i].folded_len);
		len += (size_t) chars[i].folded_len;
	}
	add_string(list, bytes, len);
	free(bytes);
}

/* Step 3 of profile 1: runs of a class, unsegmented ones in bigrams. */
static inline void
naive_words(const NaiveChar *chars, size_t n, Strings *list)
{
	size_t start = 0;

	for (size_t i = 1; i <= n; i++)
	{
		SimdupCharClass char_class = chars[start].char_class;

		if (i < n && chars[i].char_class == char_class)
			continue;
		if (char_class == SIMDUP_CHAR_SEGMENTED ||
			(char_class == SIMDUP_CHAR_UNSEGMENTED && i - start == 1))
			add_folded(list, chars, start, i);
		else if (char_class == SIMDUP_CHAR_UNSEGMENTED)
			for (size_t j = start; j + 1 < i; j++)
				add_folded(list, chars, j, j + 2);
		start = i;
	}
}

/* Windows of n strings, joined by a separator, or all of fewer. */
static inline void
naive_windows(const Strings *items, uint64_t n, const char *separator,
			  Strings *list)
{
	size_t first = 0;

	if (n > items->n)
		n = items->n;
	for (uint64_t i = 0; i + n <= items->n && n > 0; i++)
	{
		char *joined = checked(malloc(items->used + n + 1));
		size_t used = 0;
		size_t at = first;
		const char *bytes = NULL;
		size_t len = 0;

		for (uint64_t j = 0; j < n; j++)
		{
			next_string(items, &at, &bytes, &len);
			if (j == 0)
				first = at;
			else
				used += strlen(strcpy(joined + used, separator));
			if (len > 0)
				memcpy(joined + used, bytes, len);
			used += len;
		}
		add_string(list, joined, used);
		free(joined);
	}
}

/* Runs of bytes that the set has, folded to lower case or not. */
static inline void
naive_byte_runs(const char *text, size_t len, bool (*in_run)(unsigned char),
				bool lower, Strings *list)
{
	for (size_t at = 0; at < len; at++)
	{
		size_t start = at;
		char *run;

		while (at < len && in_run((unsigned char) text[at]))
			at++;
		if (at == start)
			continue;
		run = exact_copy(text + start, at - start);
		for (size_t i = 0; lower && i < at - start; i++)
			if (byte_in((unsigned char) run[i], 'A', 'Z'))
				run[i] = (char) (run[i] - 'A' + 'a');
		add_string(list, run, at - start);
		free(run);
	}
}

static inline bool
naive_is_letter(unsigned char c)
{
	return byte_in(c, 'a', 'z') || byte_in(c, 'A', 'Z');
}

static inline bool
naive_is_not_blank(unsigned char c)
{
	return c == 0 || !strchr(" \t\n\r\f", c);
}

/* The tokens of any tokenizer but that of a breaker. */
static inline Strings
naive_tokens(SimdupTokenizerKind kind, int n, const char *text, size_t len)
{
	Strings list = {0};
	Strings items = {0};
	size_t n_chars;
	NaiveChar *chars = naive_chars(text, len, &n_chars);

	switch (kind)
	{
		case SIMDUP_TOKENIZER_WORD:
			naive_words(chars, n_chars, &list);
			break;
		case SIMDUP_TOKENIZER_ALPHA:
			naive_byte_runs(text, len, naive_is_letter, true, &list);
			break;
		case SIMDUP_TOKENIZER_SPACE:
			naive_byte_runs(text, len, naive_is_not_blank, false, &list);
			break;
		case SIMDUP_TOKENIZER_CHAR_NGRAM:
			for (size_t i = 0; i < n_chars; i++)
				if (chars[i].char_class != SIMDUP_CHAR_SEPARATOR)
					add_folded(&items, chars, i, i + 1);
			naive_windows(&items, (uint64_t) n, "", &list);
			break;
		case SIMDUP_TOKENIZER_WORD_NGRAM:
			naive_words(chars, n_chars, &items);
			naive_windows(&items, (uint64_t) n, " ", &list);
			break;
		default:
			abort();
	}
	free(items.bytes);
	free(chars);
	return list;
}

#endif /* SIMDUP_FUZZ_NAIVE_H */

/*
 * words.c
 *	  The words of a text, folded as minhash64 folds them, and their sentences.
 *
 * A sentence ends with its mark or at an empty line, since mail programs break
 * lines anywhere.
 */
#include "core/compare/words.h"

#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* Hyphens within words: the usual one, the soft, the real and the firm one. */
#define HYPHENS "-\xC2\xAD\xE2\x80\x90\xE2\x80\x91"

/* Characters of lines that are empty, or quoted so: with two unusual blanks. */
#define IN_EMPTY_LINES " \t\r>\xC2\xA0\xE3\x80\x80"

/* The most words of a text: their list takes 1 GB. */
#define MAX_WORDS ((size_t) 1 << 25)

static void
begin_word(SimdupWords *words, size_t from)
{
	words->open = true;
	if (words->n == MAX_WORDS)
	{
		words->overflow = true;
		words->n--;
	}
	words->words = simdup_grow(words->words, &words->size, words->n + 1,
							   sizeof(SimdupWord));
	words->words[words->n++] = (SimdupWord){from, from, 0, words->begins};
	words->begins = false;
}

/* The next folded character, which stands in [from, to) of the text. */
static void
add_char(SimdupWords *words, uint32_t cp, SimdupCharClass char_class,
		 size_t from, size_t to)
{
	SimdupWord *word;

	if (char_class == SIMDUP_CHAR_SEPARATOR)
	{
		words->open = false;
		return;
	}
	if (char_class == SIMDUP_CHAR_UNSEGMENTED || !words->open)
		begin_word(words, from);
	word = &words->words[words->n - 1];
	word->hash = (word->hash + cp + 1) * SIMDUP_WORDS_CHAIN;
	word->to = to;
	words->open = char_class == SIMDUP_CHAR_SEGMENTED;
}

static SimdupCharClass
class_at(const unsigned char *p, const unsigned char *end)
{
	int len;

	return p == end ? SIMDUP_CHAR_SEPARATOR
					: (SimdupCharClass) simdup_char_property(
						  simdup_utf8_decode(p, end, &len))
						  .char_class;
}

bool
simdup_is_among(const char *chars, uint32_t cp)
{
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1] = {0};

	simdup_utf8_encode(cp, utf8);
	return cp != 0 && strstr(chars, (char *) utf8) != NULL;
}

/*
 * Check whether a sentence ends with a separator, which next follows. A point
 * within a number or an address ends none.
 */
static bool
ends_sentence(uint32_t cp, const unsigned char *next, const unsigned char *end)
{
	return simdup_is_among(".!?:;", cp)
			   ? class_at(next, end) == SIMDUP_CHAR_SEPARATOR
			   : simdup_is_among("。！？：；…۔؟।", cp);
}

/*
 * Return where a word goes on behind a hyphen, or NULL if the hyphen ends it, as
 * in numbers. One line end may follow, and the marks of a quoted line.
 */
static const unsigned char *
behind_hyphen(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p;
	int n_lines = 0;

	for (; p < end && *p != '\0' && strchr(" \t\r\n>", *p) != NULL; p++)
		n_lines += *p == '\n';
	if ((p > start && n_lines != 1) ||
		class_at(p, end) != SIMDUP_CHAR_SEGMENTED || (*p >= '0' && *p <= '9'))
		return NULL;
	return p;
}

SimdupWords
simdup_read_words(SimdupUtf8 text)
{
	SimdupWords words = {.begins = true};
	const unsigned char *start = (const unsigned char *) text.bytes;
	const unsigned char *p = start;
	const unsigned char *end = start + text.len;
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	const unsigned char *next;
	int n_lines = 0; /* ends of lines since the last word */

	for (; p < end; p = next)
	{
		int len;
		uint32_t cp = simdup_utf8_decode(p, end, &len);
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];
		size_t from = (size_t) (p - start);
		size_t to = from + (size_t) len;

		look = simdup_look(p, look);
		next = p + len;
		if (property.n == 1 && property.char_class != SIMDUP_CHAR_SEPARATOR)
		{
			add_char(&words, (uint32_t) ((int32_t) cp + property.value),
					 (SimdupCharClass) property.char_class, from, to);
			n_lines = 0;
			continue;
		}
		if (words.open && simdup_is_among(HYPHENS, cp) &&
			behind_hyphen(next, end) != NULL)
		{
			next = behind_hyphen(next, end);
			continue;
		}
		if (property.n == 1)
			words.open = false;
		for (int i = 0; property.n > 1 && i < property.n; i++)
		{
			uint32_t e = simdup_fold_expansions[property.value + i];

			add_char(&words, SIMDUP_EXPANSION_CHAR(e),
					 SIMDUP_EXPANSION_CLASS(e), from, to);
		}
		/* a mark that folds to nothing belongs to the word that it follows */
		if (property.n == 0 && words.n > 0 &&
			words.words[words.n - 1].to == from)
			words.words[words.n - 1].to = to;
		if (cp == '\n')
			n_lines++;
		else if (!simdup_is_among(IN_EMPTY_LINES, cp))
			n_lines = 0;
		if (n_lines > 1 || ends_sentence(cp, next, end))
			words.begins = true;
	}
	/* so that words of the same letters in another order differ in all bits */
	for (size_t i = 0; i < words.n; i++)
		words.words[i].hash = simdup_mix64(words.words[i].hash);
	return words;
}

/*
 * words.c
 *	  The words of a text, and the sentences that they stand in.
 */
#include "core/compare/words.h"
#include "core/unicode/fold.h"

/* Marks before a word, and behind it, that belong to it, as do ends of sentences. */
#define OPENING "([{\"'$#¡£¥«¿‘‚“„‹€〈《「『【〔（［｛￡￥"
#define CLOSING ")]}\"'.,;:!?%»’”…›€、〉》」』】〕），：；］｝،؛"

/* Hyphens within words: the usual one, the soft, the real and the firm one. */
#define HYPHENS "-\xC2\xAD\xE2\x80\x90\xE2\x80\x91"

/* Characters of lines that are empty, or quoted so: with two unusual blanks. */
#define IN_EMPTY_LINES " \t\r>\xC2\xA0\xE3\x80\x80"

/* What begins an item of a list, with one of the blanks behind it. */
#define BULLETS "-*+·•‣–—▪■□●○◦"
#define BLANKS " \t\xC2\xA0\xE3\x80\x80"

/* Bytes of a line in which an item of a list begins, if it does. */
#define MAX_INDENT 256

static void
begin_word(SimdupWords *words, size_t from, bool is_char)
{
	if (words->n == SIMDUP_MAX_WORDS)
	{
		words->overflow = true;
		words->n--;
	}
	words->words = simdup_grow(words->words, &words->size, words->n + 1,
							   sizeof(SimdupWord));
	words->words[words->n++] =
		(SimdupWord){from, from, 0, words->begins, is_char};
	words->begins = false;
}

/* Put a character behind those of the last word. */
static void
end_with(SimdupWords *words, uint32_t cp)
{
	SimdupWord *word = &words->words[words->n - 1];

	word->hash = (words->before + cp + 1) * SIMDUP_GOLDEN;
	word->to = words->to;
}

/* Add the next folded character: a SimdupFoldSink. */
static inline void
add_char(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	SimdupWords *words = arg;

	if (char_class == SIMDUP_CHAR_SEPARATOR)
	{
		words->open = false;
		return;
	}
	if (char_class == SIMDUP_CHAR_UNSEGMENTED || !words->open)
		begin_word(words, words->from, char_class == SIMDUP_CHAR_UNSEGMENTED);
	words->before = words->words[words->n - 1].hash;
	end_with(words, cp);
	words->open = char_class == SIMDUP_CHAR_SEGMENTED;
}

/* A SimdupFoldReplacer. */
static void
replace_char(void *arg, uint32_t cp)
{
	SimdupWords *words = arg;

	/* the replaced bytes are in a word, which the analyzer does not know */
	if (words->n > 0)
		end_with(words, cp);
}

static uint8_t
class_at(const unsigned char *p, const unsigned char *end)
{
	int len;

	if (p == end)
		return SIMDUP_CHAR_SEPARATOR;
	return simdup_char_property(simdup_utf8_decode(p, end, &len)).char_class;
}

/* Check whether a character is one of these, a string in UTF-8. */
static bool
is_among(const char *chars, uint32_t cp)
{
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1] = {0};

	simdup_utf8_encode(cp, utf8);
	return cp != 0 && strstr(chars, (char *) utf8) != NULL;
}

/* Check whether a mark beyond ASCII ends sentences. */
static bool
is_sentence_end(uint32_t cp)
{
	size_t n =
		simdup_count_chars(simdup_sentence_ends, simdup_n_sentence_ends, cp);

	/* within a range, or its end */
	return n % 2 != 0 || (n > 0 && simdup_sentence_ends[n - 1] == cp);
}

/* Check whether a character is a digit, of full width or not. */
static bool
is_digit(uint32_t cp)
{
	return (cp >= '0' && cp <= '9') || (cp >= 0xFF10 && cp <= 0xFF19);
}

/*
 * Check whether a sentence ends with a separator, which next follows. A point
 * within a number or an address ends none.
 */
static bool
ends_sentence(uint32_t cp, const unsigned char *next, const unsigned char *end)
{
	int len;

	if (cp < 0x80)
		return is_among(".!?:;", cp) &&
			   class_at(next, end) == SIMDUP_CHAR_SEPARATOR;
	if (cp == 0xFF0E || cp == 0xFE52) /* full stops of full width, and small */
		return next == end || !is_digit(simdup_utf8_decode(next, end, &len));
	/* separators of lines and of paragraphs */
	if (cp == 0x2028 || cp == 0x2029)
		return true;
	return is_sentence_end(cp) || is_among("：；…", cp);
}

/*
 * Check whether a line at p begins an item of a list. A bullet does, or a letter or a
 * number of up to two digits with a mark behind it. A blank follows.
 */
static bool
begins_item(const unsigned char *p, const unsigned char *end)
{
	uint32_t cps[4] = {0}; /* of the line, from its first one on */
	int n = 0;
	int n_digits = 0;
	int len;

	if (end - p > MAX_INDENT)
		end = p + MAX_INDENT;

	for (; p < end && n < 4; p += len)
	{
		cps[n] = simdup_utf8_decode(p, end, &len);
		n += n > 0 || !is_among(IN_EMPTY_LINES, cps[n]);
	}
	if (n > 1 && is_among(BULLETS, cps[0]))
		return is_among(BLANKS, cps[1]);
	while (n_digits < 2 && is_digit(cps[n_digits]))
		n_digits++;
	if (n_digits == 0)
		return n > 2 && cps[1] == ')' && (cps[0] | 0x20) - 'a' < 26 &&
			   is_among(BLANKS, cps[2]);
	if (is_among("）、．", cps[n_digits]))
		return !is_digit(cps[n_digits + 1]);
	return is_among(".)", cps[n_digits]) && is_among(BLANKS, cps[n_digits + 1]);
}

/*
 * Return where a word goes on behind a hyphen, or NULL if the hyphen ends it, as
 * in numbers. One line end may follow, and the marks of a quoted line.
 */
static const unsigned char *
behind_hyphen(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p;
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	int n_lines = 0;

	for (; p < end && *p != '\0' && strchr(" \t\r\n\f>", *p) != NULL; p++)
	{
		poll_at = simdup_poll(p, poll_at);
		n_lines += *p == '\n';
	}
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
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	const unsigned char *next;
	uint32_t last = 0;
	int n_lines = 0; /* ends of lines since the last word */

	for (; p < end; p = next)
	{
		int len;
		uint32_t cp = simdup_utf8_decode(p, end, &len);
		SimdupFoldProperty property;

		words.from = (size_t) (p - start);
		words.to = words.from + (size_t) len;
		poll_at = simdup_poll(p, poll_at);
		next = p + len;
		if (cp == ' ')
		{
			words.open = false;
			last = cp;
			continue;
		}
		property = simdup_fold_properties[simdup_fold_number(cp)];
		if (property.char_class != SIMDUP_FOLD_LISTED &&
			property.char_class != SIMDUP_CHAR_SEPARATOR)
		{
			simdup_fold(cp, &last, add_char, replace_char, &words);
			n_lines = 0;
			continue;
		}
		if (words.open && is_among(HYPHENS, cp) &&
			behind_hyphen(next, end) != NULL)
		{
			next = behind_hyphen(next, end);
			if (property.n > 0)
				last = cp;
			continue;
		}
		simdup_fold(cp, &last, add_char, replace_char, &words);
		/* a mark that folds to nothing belongs to the word that it follows */
		if (property.n == 0 && words.n > 0 &&
			words.words[words.n - 1].to == words.from)
			words.words[words.n - 1].to = words.to;
		if (cp == '\n')
			n_lines++;
		else if (!is_among(IN_EMPTY_LINES, cp))
			n_lines = 0;
		if (n_lines > 1 || ends_sentence(cp, next, end) ||
			(cp == '\n' && begins_item(next, end)))
			words.begins = true;
	}
	/* so that words of the same letters in another order differ in all bits */
	for (size_t i = 0; i < words.n; i++)
		words.words[i].hash = simdup_mix64(words.words[i].hash);
	return words;
}

void
simdup_add_marks(SimdupUtf8 text, size_t *from, size_t *to, size_t low,
				 size_t high)
{
	const unsigned char *start = (const unsigned char *) text.bytes;
	size_t steps = 0;
	int len;

	while (*from > low)
	{
		size_t at = *from - 1;

		simdup_check_interrupts_at(steps++);
		while (at > low && *from - at < SIMDUP_MAX_UTF8 &&
			   (start[at] & 0xC0) == 0x80)
			at--;
		if (!is_among(OPENING,
					  simdup_utf8_decode(start + at, start + *from, &len)) ||
			at + (size_t) len != *from)
			break;
		*from = at;
	}
	for (; *to < high; *to += (size_t) len)
	{
		uint32_t cp = simdup_utf8_decode(start + *to, start + high, &len);

		simdup_check_interrupts_at(steps++);
		if (!is_among(CLOSING, cp) && !is_sentence_end(cp))
			break;
	}
}

/*
 * passages.c
 *	  The passages that a text has alone, in common with others, or as boilerplate.
 *
 * Texts are compared by their keys, the hashes of runs of RUN words and of shorter
 * sentences. So the time is linear in their lengths.
 *
 * Boilerplate is known by longer runs, of LONG_RUN words. These do not look at
 * sentences, because an index may depend on what is taken out.
 */
#include "core/compare/passages.h"

#include <string.h>

#include "core/compare/resemblance.h"
#include "core/host.h"

#define RUN SIMDUP_PASSAGE_RUN
#define LONG_RUN SIMDUP_BOILERPLATE_RUN

/*
 * Words that a letter has beside boilerplate, at least; that a short text has; and
 * that may follow, as a signature or the number of a page.
 */
#define MIN_REST 12
#define MIN_SHORT_REST 3
#define MAX_TAIL 20

/* The share of a sample that has a passage of it. */
#define COMMON_SHARE 0.9

/* Any odd number with bits all over, for hashes of words and of runs. */
#define CHAIN UINT64_C(0x9e3779b97f4a7c15)

/* Marks before a word, and behind it, that belong to it, as do ends of sentences. */
#define OPENING "([{\"'$#¡£¥«¿‘‚“„‹€〈《「『【〔（［｛￡￥"
#define CLOSING ")]}\"'.,;:!?%»’”…›€、〉》」』】〕），：；］｝،؛"

/*
 * The words of a text, folded as minhash64 folds them, and their sentences. A
 * sentence ends with its mark, at an empty line, or before an item of a list. Other
 * ends of lines say nothing, since mail programs break lines anywhere. In scripts
 * without blanks, each character is a word.
 */

/* Hyphens within words: the usual one, the soft, the real and the firm one. */
#define HYPHENS "-\xC2\xAD\xE2\x80\x90\xE2\x80\x91"

/* Characters of lines that are empty, or quoted so: with two unusual blanks. */
#define IN_EMPTY_LINES " \t\r>\xC2\xA0\xE3\x80\x80"

/* What begins an item of a list, with one of the blanks behind it. */
#define BULLETS "-*+·•‣–—▪■□●○◦"
#define BLANKS " \t\xC2\xA0\xE3\x80\x80"

/* Bytes of a line in which an item of a list begins, if it does. */
#define MAX_INDENT 256

/* Characters of a sentence that are no passage, in scripts without blanks. */
#define MAX_FRAGMENT 2

/* The most words of a text: their list takes 1 GB. */
#define MAX_WORDS ((size_t) 1 << 25)

typedef struct Word
{
	size_t from;
	size_t to;
	uint64_t hash;
	bool begins;  /* a sentence */
	bool is_char; /* of a script without blanks */
} Word;

typedef struct Words
{
	Word *words;
	size_t n;
	size_t size;
	bool overflow; /* there are more */
	bool open;	   /* the last word goes on */
	bool begins;   /* the next word begins a sentence */
	size_t from;   /* where the character stands that is being folded */
	size_t to;
	uint64_t before; /* the last word's hash without its last character */
} Words;

/* Return the key of the n words from word i on: a hash of them in their order. */
static uint64_t
words_key(const Words *words, size_t i, size_t n)
{
	uint64_t key = n;

	for (size_t j = i; j < i + n; j++)
		key = key * CHAIN + words->words[j].hash;
	return simdup_mix64(key);
}

static void
begin_word(Words *words, size_t from, bool is_char)
{
	if (words->n == MAX_WORDS)
	{
		words->overflow = true;
		words->n--;
	}
	words->words =
		simdup_grow(words->words, &words->size, words->n + 1, sizeof(Word));
	words->words[words->n++] = (Word){from, from, 0, words->begins, is_char};
	words->begins = false;
}

/* Put a character behind those of the last word. */
static void
end_with(Words *words, uint32_t cp)
{
	Word *word = &words->words[words->n - 1];

	word->hash = (words->before + cp + 1) * CHAIN;
	word->to = words->to;
}

/* Add the next folded character: a SimdupFoldSink. */
static inline void
add_char(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	Words *words = arg;

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
	Words *words = arg;

	/* what is replaced is in a word, which the analyzer does not know */
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
 * Check whether a line at p begins an item of a list: with a bullet and a blank, or
 * with a number of up to two digits or a letter, a mark and a blank.
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
	int n_lines = 0;

	for (; p < end && *p != '\0' && strchr(" \t\r\n>", *p) != NULL; p++)
		n_lines += *p == '\n';
	if ((p > start && n_lines != 1) ||
		class_at(p, end) != SIMDUP_CHAR_SEGMENTED || (*p >= '0' && *p <= '9'))
		return NULL;
	return p;
}

static Words
read_words(SimdupUtf8 text)
{
	Words words = {.begins = true};
	const unsigned char *start = (const unsigned char *) text.bytes;
	const unsigned char *p = start;
	const unsigned char *end = start + text.len;
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
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
		look = simdup_look(p, look);
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

/* Return how many words the sentence has from word i on, at most RUN. */
static size_t
words_left(const Words *words, size_t i)
{
	size_t n = 1;

	while (n < RUN && i + n < words->n && !words->words[i + n].begins)
		n++;
	return n;
}

/* Collect the keys of a text: runs may go from sentence to sentence. */
static SimdupHashes
keys_of(const Words *words)
{
	SimdupHashes keys = {0}; /* with room for those of all words */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t left = words_left(words, i);

		if (i + RUN <= words->n)
			simdup_hashes_add(&keys, words_key(words, i, RUN));
		if (words->words[i].begins && left < RUN)
			simdup_hashes_add(&keys, words_key(words, i, left));
		simdup_check_interrupts();
	}
	return keys;
}

/* Add the keys of a text, each once. */
static void
add_keys(SimdupHashes *all, const Words *words)
{
	SimdupHashes keys = keys_of(words);

	simdup_hashes_unique(&keys);
	all->hashes =
		simdup_grow(all->hashes, &all->size, all->n + keys.n, sizeof(uint64_t));
	for (size_t i = 0; i < keys.n; i++)
		all->hashes[all->n++] = keys.hashes[i];
	simdup_hashes_free(&keys);
}

/*
 * Return for each word whether a run or a short sentence around it has a key.
 * These runs stay within a sentence. Else the first words of an own sentence
 * would seem shared where the other text goes on with the same words.
 */
static bool *
mark_words(const Words *words, const SimdupWordSet *keys)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0; /* words before this one lie in such a run */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t n = words_left(words, i);

		if ((n == RUN || words->words[i].begins) &&
			simdup_wordset_has(keys, words_key(words, i, n)))
			until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
}

/*
 * In scripts without blanks, mark what is left between marked words of a sentence,
 * if it is one or two characters. The text that differs is no word then.
 */
static void
mark_fragments(const Words *words, bool *marked)
{
	const Word *word = words->words;

	for (size_t i = 0, end; i < words->n; i = end)
	{
		bool is_fragment = !marked[i] && word[i].is_char;

		for (end = i + 1;
			 end < words->n && !word[end].begins && marked[end] == marked[i];
			 end++)
			is_fragment = is_fragment && word[end].is_char;
		if (is_fragment && end - i <= MAX_FRAGMENT &&
			!(word[i].begins && (end == words->n || word[end].begins)))
			memset(marked + i, true, end - i);
		simdup_check_interrupts();
	}
}

/* Return where the marks before byte `from` begin that belong to a word there. */
static size_t
extend_left(SimdupUtf8 text, size_t from, size_t limit)
{
	const unsigned char *start = (const unsigned char *) text.bytes;

	while (from > limit)
	{
		size_t at = from - 1;
		int len;

		while (at > limit && from - at < SIMDUP_MAX_UTF8 &&
			   (start[at] & 0xC0) == 0x80)
			at--;
		if (!is_among(OPENING,
					  simdup_utf8_decode(start + at, start + from, &len)) ||
			at + (size_t) len != from)
			break;
		from = at;
	}
	return from;
}

static size_t
extend_right(SimdupUtf8 text, size_t to, size_t limit)
{
	const unsigned char *start = (const unsigned char *) text.bytes;

	for (int len; to < limit; to += (size_t) len)
	{
		uint32_t cp = simdup_utf8_decode(start + to, start + limit, &len);

		if (!is_among(CLOSING, cp) && !is_sentence_end(cp))
			break;
	}
	return to;
}

/* Return the passages of the words that are marked so. Others lie between them. */
static SimdupPassage *
passages_of(SimdupUtf8 text, const Words *words, const bool *marked,
			bool wanted, size_t *n)
{
	SimdupPassage *found = simdup_alloc((words->n / 2 + 1) * sizeof(*found));
	const Word *word = words->words;

	*n = 0;
	for (size_t i = 0; i < words->n; i++)
	{
		bool is_last = i + 1 == words->n;

		if (marked[i] != wanted)
			continue;
		if (i == 0 || marked[i - 1] != wanted)
			found[*n].from =
				extend_left(text, word[i].from, i == 0 ? 0 : word[i - 1].to);
		if (is_last || marked[i + 1] != wanted)
			found[(*n)++].to =
				extend_right(text, word[i].to,
							 is_last ? text.len : word[i + 1].from);
	}
	return found;
}

/* Return the keys that come so often, and free the list. */
static SimdupWordSet
take_common(SimdupHashes *all, double often)
{
	SimdupWordSet common = {.mask = 63};

	if (often > 1)
		simdup_hashes_sort(all);
	else
		while (common.mask < 2 * all->n + 1)
			common.mask = 2 * common.mask + 1;
	common.slots = simdup_alloc0((common.mask + 1) * sizeof(uint64_t));
	for (size_t i = 0, end; i < all->n; i = end)
	{
		for (end = i + 1; end < all->n && all->hashes[end] == all->hashes[i];)
			end++;
		if ((double) (end - i) >= often)
			(void) simdup_wordset_add(&common, all->hashes[i]);
		simdup_check_interrupts();
	}
	simdup_hashes_free(all);
	return common;
}

/*
 * Find the keys that at least `often` texts have: the others, and with `shared` the
 * text, too. Return the passages of the text with such keys, or else without them.
 */
static SimdupPassage *
passages_by_keys(SimdupUtf8 text, const SimdupUtf8 *others, size_t n_others,
				 double often, bool shared, size_t *n)
{
	Words words = read_words(text);
	SimdupHashes all = {0};
	SimdupWordSet keys;
	SimdupPassage *passages = NULL;
	bool *marked;

	if (shared)
		add_keys(&all, &words);
	for (size_t i = 0; i < n_others; i++)
	{
		Words other = read_words(others[i]);

		words.overflow |= other.overflow;
		/* the keys of one text need not be parted from repetitions */
		if (shared)
			add_keys(&all, &other);
		else
			all = keys_of(&other);
		simdup_free(other.words);
	}
	keys = take_common(&all, often);
	marked = mark_words(&words, &keys);
	if (!shared)
		mark_fragments(&words, marked);
	if (!words.overflow)
		passages = passages_of(text, &words, marked, shared, n);
	simdup_free(marked);
	simdup_free(words.words);
	simdup_wordset_free(&keys);
	return passages;
}

SimdupPassage *
simdup_own_passages(SimdupUtf8 text, SimdupUtf8 other, size_t *n)
{
	return passages_by_keys(text, &other, 1, 1, false, n);
}

SimdupPassage *
simdup_common_passages(const SimdupUtf8 *texts, size_t n_texts, double share,
					   size_t *n)
{
	return passages_by_keys(texts[0], texts + 1, n_texts - 1,
							share * (double) n_texts, true, n);
}

/* Boilerplate */

bool
simdup_add_boilerplate(SimdupBoilerplate *boilerplate, SimdupUtf8 text)
{
	Words words = read_words(text);
	size_t n = words.n < LONG_RUN ? words.n : LONG_RUN;

	for (size_t i = 0; n > 0 && i + n <= words.n; i++)
		simdup_wordset_add(&boilerplate->runs, words_key(&words, i, n));
	boilerplate->lengths |= 1U << n;
	simdup_free(words.words);
	return !words.overflow;
}

/* Mark the words that lie in a run of the boilerplate. */
static bool *
mark_boilerplate(const Words *words, const SimdupBoilerplate *boilerplate)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0;

	for (size_t i = 0; i < words->n; i++)
	{
		for (size_t n = LONG_RUN; n > 0 && i + n > until; n--)
			if ((boilerplate->lengths >> n & 1) != 0 && i + n <= words->n &&
				simdup_wordset_has(&boilerplate->runs, words_key(words, i, n)))
				until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
}

SimdupPassage *
simdup_without_boilerplate(SimdupUtf8 text,
						   const SimdupBoilerplate *boilerplate, size_t *n)
{
	Words words = read_words(text);
	bool *marked = mark_boilerplate(&words, boilerplate);
	SimdupPassage *passages =
		words.overflow ? NULL : passages_of(text, &words, marked, false, n);

	/* a text that has none of it stays as it is */
	if (passages != NULL &&
		(words.n == 0 || memchr(marked, true, words.n) == NULL))
	{
		passages[0] = (SimdupPassage){0, text.len};
		*n = 1;
	}
	simdup_free(marked);
	simdup_free(words.words);
	return passages;
}

bool
simdup_sample_runs(SimdupUtf8 text, size_t min_words, SimdupHashes *sample,
				   uint64_t *digest)
{
	Words words = read_words(text);
	size_t window = min_words + 1 - LONG_RUN;
	uint64_t keys[LONG_RUN]; /* of the window, by number modulo its size */

	*digest = words_key(&words, 0, words.n);
	if (window > LONG_RUN)
		window = LONG_RUN;
	for (size_t i = 0;
		 words.n >= min_words && i + LONG_RUN <= words.n && !words.overflow;
		 i++)
	{
		uint64_t least = keys[i % window] = words_key(&words, i, LONG_RUN);

		if (i + 1 < window)
			continue;
		for (size_t j = 0; j < window; j++)
			least = keys[j] < least ? keys[j] : least;
		if (sample->n == 0 || sample->hashes[sample->n - 1] != least)
			words.overflow = !simdup_hashes_add(sample, least);
		simdup_check_interrupts();
	}
	simdup_hashes_unique(sample);
	simdup_free(words.words);
	return !words.overflow;
}

/*
 * A text among those that share a run. Its own words are not in passages that most of
 * the texts have, nor do they follow the last of these as a signature does.
 */
typedef struct Sharer
{
	Words words;
	bool *marked; /* words of passages that most of the texts have */
	size_t n_marked;
	size_t n_behind;  /* words behind the last marked one */
	SimdupHashes own; /* its own words that most of the texts lack */
	SimdupHashes runs;
	bool is_bare; /* it has few own words */
	bool is_short;
	bool was_refused; /* it has a passage that is a letter */
} Sharer;

/* Mark what the texts have in common. */
static void
mark_sharer(Sharer *sharer, const SimdupWordSet *common)
{
	size_t n = sharer->words.n;

	sharer->marked = mark_words(&sharer->words, common);
	for (size_t i = 0; i < n; i++)
	{
		sharer->n_marked += sharer->marked[i];
		sharer->n_behind = sharer->marked[i] ? 0 : sharer->n_behind + 1;
	}
}

/* Collect own words, in `all`, too. So many words behind the marked ones are none. */
static void
collect_own(Sharer *sharer, size_t max_tail, SimdupHashes *all)
{
	const Words *words = &sharer->words;
	size_t n_tail = sharer->n_behind <= max_tail ? sharer->n_behind : 0;
	size_t row = 0; /* own words in a row */

	for (size_t i = 0; i + n_tail < words->n; i++)
	{
		row = sharer->marked[i] ? 0 : row + 1;
		if (row > 0)
			simdup_hashes_add(&sharer->own, words->words[i].hash);
		if (row >= RUN)
			simdup_hashes_add(&sharer->runs,
							  words_key(words, i + 1 - RUN, RUN));
	}
	sharer->is_bare = sharer->own.n * 10 < words->n;
	simdup_hashes_unique(&sharer->own);
	simdup_hashes_unique(&sharer->runs);
	for (size_t i = 0; i < sharer->own.n; i++)
		simdup_hashes_add(all, sharer->own.hashes[i]);
}

/* Drop own words that are common, such as a greeting's, and judge what is left. */
static void
judge_rest(Sharer *sharer, const SimdupWordSet *common)
{
	size_t n = 0;

	for (size_t i = 0; i < sharer->own.n; i++)
		if (!simdup_wordset_has(common, sharer->own.hashes[i]))
			sharer->own.hashes[n++] = sharer->own.hashes[i];
	sharer->own.n = n;
	sharer->is_short = n < MIN_REST;
	if (sharer->is_short)
		sharer->is_bare = n < MIN_SHORT_REST || n * 20 < sharer->words.n;
}

/* Check whether two texts have little in common but for what is marked. */
static bool
are_different(const Sharer *a, const Sharer *b)
{
	bool by_words = a->is_short || b->is_short;
	const SimdupHashes *x = by_words ? &a->own : &a->runs;
	const SimdupHashes *y = by_words ? &b->own : &b->runs;
	size_t least = x->n < y->n ? x->n : y->n;

	/* short texts may have some words in common, letters a sentence */
	return !a->is_bare && !b->is_bare &&
		   (by_words ? 2U : 4U) * simdup_hashes_common(x, y) <= least;
}

/*
 * Check whether the marked passages are boilerplate.
 *
 * The texts are different letters: nearly all have a good part of their own, and
 * many pairs share nothing of it. So a letter is not, even if some of its senders
 * added to it. Boilerplate that is no rule of the table stands at the end or at the
 * beginning. A signature may follow it, but then the text before it must be own: a
 * letter is followed by its sender's name, too. And nearly all pairs must differ, as
 * in texts that begin with it.
 *
 * So must texts with a few own words. They must end with the passages, and none may
 * have a passage that was found to be a letter.
 */
static bool
is_boilerplate(const Sharer *sharers, size_t n, bool by_most)
{
	size_t n_bare = 0;
	size_t n_short = 0;
	size_t n_refused = 0;
	size_t n_different = 0;
	size_t n_begun = 0;
	size_t n_followed = 0; /* by a few words, or none */
	size_t n_ended = 0;
	size_t n_pairs;

	for (size_t i = 0; i < n; i++)
	{
		const Sharer *sharer = &sharers[i];

		n_bare += sharer->is_bare;
		n_short += sharer->is_short;
		n_refused += sharer->was_refused;
		for (size_t j = 0; j < i; j++)
			n_different += are_different(sharer, &sharers[j]);
		n_begun += sharer->words.n > 0 && sharer->marked[0];
		n_followed += sharer->n_marked > 0 && sharer->n_behind <= MAX_TAIL;
		n_ended += sharer->n_marked > 0 && sharer->n_behind == 0;
	}
	n_pairs = (n - n_bare) * (n - n_bare - 1) / 2;
	if (n_bare * 5 > n)
		return false;
	if (n_short * 5 <= n && (by_most || n_ended * 10 >= n * 9))
		return n_different * 3 >= n_pairs;
	return n_different * 4 >= n_pairs * 3 &&
		   (n_short * 5 <= n || n_refused * 5 <= n) &&
		   (by_most || n_followed * 10 >= n * 9 ||
			(n_short * 5 <= n && n_begun * 10 >= n * 9));
}

SimdupPassage *
simdup_shared_passages(const SimdupUtf8 *texts, size_t n_texts, bool by_most,
					   const SimdupBoilerplate *refused, size_t *which,
					   bool *boilerplate, size_t *n)
{
	Sharer *sharers = simdup_alloc0(n_texts * sizeof(Sharer));
	SimdupHashes all = {0};
	SimdupHashes all_own = {0};
	SimdupWordSet common;
	SimdupWordSet common_own;
	SimdupPassage *passages;
	size_t n_long = 0; /* with much behind the passages */

	for (size_t i = 0; i < n_texts; i++)
	{
		sharers[i].words = read_words(texts[i]);
		add_keys(&all, &sharers[i].words);
	}
	common = take_common(&all, COMMON_SHARE * (double) n_texts);
	*which = 0;
	for (size_t i = 0; i < n_texts; i++)
	{
		bool *letter = mark_boilerplate(&sharers[i].words, refused);

		mark_sharer(&sharers[i], &common);
		n_long += sharers[i].n_behind > MAX_TAIL;
		sharers[i].was_refused =
			sharers[i].words.n > 0 &&
			memchr(letter, true, sharers[i].words.n) != NULL;
		simdup_free(letter);
		if (sharers[i].n_marked > sharers[*which].n_marked)
			*which = i;
	}
	/* where half of the texts go on, no few words behind are a signature */
	for (size_t i = 0; i < n_texts; i++)
		collect_own(&sharers[i], 2 * n_long < n_texts ? MAX_TAIL : 0, &all_own);
	common_own = take_common(&all_own, COMMON_SHARE * (double) n_texts);
	for (size_t i = 0; i < n_texts; i++)
		judge_rest(&sharers[i], &common_own);
	*boilerplate = is_boilerplate(sharers, n_texts, by_most);
	passages = passages_of(texts[*which], &sharers[*which].words,
						   sharers[*which].marked, true, n);
	for (size_t i = 0; i < n_texts; i++)
	{
		simdup_free(sharers[i].marked);
		simdup_free(sharers[i].words.words);
		simdup_hashes_free(&sharers[i].own);
		simdup_hashes_free(&sharers[i].runs);
	}
	simdup_wordset_free(&common);
	simdup_wordset_free(&common_own);
	simdup_free(sharers);
	return passages;
}

/*
 * passages.c
 *	  The passages that a text has alone, in common with others, or as boilerplate.
 *
 * Each text has a set of keys: the hashes of its runs of RUN words, and of its
 * shorter sentences. A word is shared if a run or a sentence around it has a key
 * that the other set has too. So the time is linear in the texts' lengths.
 *
 * Boilerplate is known by longer runs, of LONG_RUN words. These do not look at
 * sentences, because an index may depend on what is taken out.
 */
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

#include "core/charclass.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/shingle.h"

#define RUN SIMDUP_PASSAGE_RUN
#define LONG_RUN SIMDUP_BOILERPLATE_RUN

/* Words that a letter has beside boilerplate, at least. */
#define MIN_REST 12

/* The share of a sample that has a passage of it. */
#define COMMON_SHARE 0.9

/* Any odd number with bits all over, for hashes of words and of runs. */
#define CHAIN UINT64_C(0x9e3779b97f4a7c15)

/* Bytes of text between two looks for interrupts. */
#define INTERRUPT_STEPS (1 << 16)

/* Hyphens within words: the usual one, the soft, the real and the firm one. */
#define HYPHENS "-\xC2\xAD\xE2\x80\x90\xE2\x80\x91"

/* Characters of lines that are empty, or quoted so: with two unusual blanks. */
#define IN_EMPTY_LINES " \t\r>\xC2\xA0\xE3\x80\x80"

/* Marks before a word, and behind it, that belong to it. */
#define OPENING "([{\"'$#¡£¥«¿‘‚“„‹€〈《「『【〔（［｛￡￥"
#define CLOSING ")]}\"'.,;:!?%»’”…›€、。〉》」』】〕！），：；？］｝،؛؟۔।"

/* The most words of a text: their list takes 1 GB. */
#define MAX_WORDS ((size_t) 1 << 25)

typedef struct Word
{
	size_t from;
	size_t to;
	uint64_t hash;
	bool begins; /* a sentence */
} Word;

typedef struct Words
{
	Word *words;
	size_t n;
	size_t size;
	bool overflow;
	bool open;	 /* the last word goes on */
	bool begins; /* the next word begins a sentence */
} Words;

static void
begin_word(Words *words, size_t from)
{
	words->open = true;
	if (words->n == MAX_WORDS)
	{
		words->overflow = true;
		words->n--;
	}
	if (words->n == words->size)
	{
		words->size *= 2;
		words->words = simdup_realloc(words->words, words->size * sizeof(Word));
	}
	words->words[words->n++] = (Word){from, from, 0, words->begins};
	words->begins = false;
}

/* The next folded character, which stands in [from, to) of the text. */
static void
add_char(Words *words, uint32_t cp, SimdupCharClass char_class, size_t from,
		 size_t to)
{
	Word *word;

	if (char_class == SIMDUP_CHAR_SEPARATOR)
	{
		words->open = false;
		return;
	}
	if (char_class == SIMDUP_CHAR_UNSEGMENTED || !words->open)
		begin_word(words, from);
	word = &words->words[words->n - 1];
	word->hash = (word->hash + cp + 1) * CHAIN;
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

static bool
is_among(const char *marks, uint32_t cp)
{
	unsigned char utf8[SIMDUP_MAX_UTF8 + 1] = {0};

	simdup_utf8_encode(cp, utf8);
	return cp != 0 && strstr(marks, (char *) utf8) != NULL;
}

/*
 * Check whether a sentence ends with a separator, which next follows. A point
 * within a number or an address ends none.
 */
static bool
ends_sentence(uint32_t cp, const unsigned char *next, const unsigned char *end)
{
	return is_among(".!?:;", cp) ? class_at(next, end) == SIMDUP_CHAR_SEPARATOR
								 : is_among("。！？：；…۔؟।", cp);
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

/*
 * Return the words of a text. A sentence ends with its mark or at an empty line,
 * since mail programs break lines anywhere.
 */
static Words
read_words(SimdupPassageText text)
{
	Words words = {.size = 64, .begins = true};
	const unsigned char *start = (const unsigned char *) text.bytes;
	const unsigned char *p = start;
	const unsigned char *end = start + text.len;
	const unsigned char *look = p + INTERRUPT_STEPS;
	const unsigned char *next;
	int n_lines = 0; /* ends of lines since the last word */

	words.words = simdup_alloc(words.size * sizeof(Word));
	for (; p < end; p = next)
	{
		int len;
		uint32_t cp = simdup_utf8_decode(p, end, &len);
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];
		size_t from = (size_t) (p - start);
		size_t to = from + (size_t) len;

		if (p >= look)
		{
			simdup_check_interrupts();
			look = p + INTERRUPT_STEPS;
		}
		next = p + len;
		if (property.n == 1 && property.char_class != SIMDUP_CHAR_SEPARATOR)
		{
			add_char(&words, (uint32_t) ((int32_t) cp + property.value),
					 (SimdupCharClass) property.char_class, from, to);
			n_lines = 0;
			continue;
		}
		if (words.open && is_among(HYPHENS, cp) &&
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
		else if (!is_among(IN_EMPTY_LINES, cp))
			n_lines = 0;
		if (n_lines > 1 || ends_sentence(cp, next, end))
			words.begins = true;
	}
	/* so that words of the same letters in another order differ in all bits */
	for (size_t i = 0; i < words.n; i++)
		words.words[i].hash = simdup_mix64(words.words[i].hash);
	return words;
}

/* Return the key of the n words from word i on. */
static uint64_t
key_of(const Words *words, size_t i, size_t n)
{
	uint64_t key = n;

	for (size_t j = i; j < i + n; j++)
		key = key * CHAIN + words->words[j].hash;
	return simdup_mix64(key);
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

/* Return the keys of a text, ascending: runs may go from sentence to sentence. */
static SimdupHashes
keys_of(const Words *words)
{
	SimdupHashes keys = {0};

	/* the list has room for the keys of MAX_WORDS words */
	for (size_t i = 0; i < words->n; i++)
	{
		size_t left = words_left(words, i);

		if (i + RUN <= words->n)
			simdup_hashes_add(&keys, key_of(words, i, RUN));
		if (words->words[i].begins && left < RUN)
			simdup_hashes_add(&keys, key_of(words, i, left));
		simdup_check_interrupts();
	}
	simdup_hashes_unique(&keys);
	return keys;
}

/*
 * Return for each word whether a run or a short sentence around it has a key.
 * These runs stay within a sentence. Else the first words of an own sentence
 * would seem shared where the other text goes on with the same words.
 */
static bool *
mark_words(const Words *words, const SimdupHashes *keys)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0; /* words before this one lie in such a run */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t n = words_left(words, i);

		if ((n == RUN || words->words[i].begins) &&
			simdup_hashes_find(keys, key_of(words, i, n)) < keys->n)
			until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
}

/* Return where the marks before byte `from` begin that belong to a word there. */
static size_t
extend_left(SimdupPassageText text, size_t from, size_t limit)
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
extend_right(SimdupPassageText text, size_t to, size_t limit)
{
	const unsigned char *start = (const unsigned char *) text.bytes;
	int len;

	while (
		to < limit &&
		is_among(CLOSING, simdup_utf8_decode(start + to, start + limit, &len)))
		to += (size_t) len;
	return to;
}

/* Return the passages of the words that are marked so. */
static SimdupPassage *
passages_of(SimdupPassageText text, const Words *words, const bool *marked,
			bool wanted, size_t *n)
{
	/* passages alternate with other words */
	SimdupPassage *passages =
		simdup_alloc((words->n / 2 + 1) * sizeof(SimdupPassage));
	size_t end;

	*n = 0;
	for (size_t i = 0; i < words->n; i = end)
	{
		const Word *word = words->words;
		SimdupPassage passage;

		for (end = i; end < words->n && marked[end] == marked[i];)
			end++;
		if (marked[i] != wanted)
			continue;
		passage.from =
			extend_left(text, word[i].from, i == 0 ? 0 : word[i - 1].to);
		passage.to = extend_right(text, word[end - 1].to,
								  end == words->n ? text.len : word[end].from);
		passages[(*n)++] = passage;
	}
	return passages;
}

SimdupPassage *
simdup_own_passages(SimdupPassageText text, SimdupPassageText other, size_t *n)
{
	Words words = read_words(text);
	Words others = read_words(other);
	SimdupHashes keys = keys_of(&others);
	bool *marked = mark_words(&words, &keys);
	SimdupPassage *passages = NULL;

	if (!words.overflow && !others.overflow)
		passages = passages_of(text, &words, marked, false, n);
	simdup_free(marked);
	simdup_free(words.words);
	simdup_free(others.words);
	simdup_hashes_free(&keys);
	return passages;
}

static int
compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Add the keys of a text to those of others. */
static void
add_keys(SimdupHashes *all, const Words *words)
{
	SimdupHashes keys = keys_of(words);

	if (all->n + keys.n >= all->size)
	{
		size_t size = 2 * (all->n + keys.n) + 1;
		size_t bytes = size * sizeof(uint64_t);

		all->hashes = all->size == 0 ? simdup_alloc(bytes)
									 : simdup_realloc(all->hashes, bytes);
		all->size = size;
	}
	for (size_t i = 0; i < keys.n; i++)
		all->hashes[all->n++] = keys.hashes[i];
	simdup_hashes_free(&keys);
}

/* Keep the keys that come so often, once. */
static void
keep_common(SimdupHashes *all, double often)
{
	size_t n = 0;

	if (all->n > 0)
		qsort(all->hashes, all->n, sizeof(uint64_t), compare_keys);
	for (size_t i = 0, end; i < all->n; i = end)
	{
		for (end = i; end < all->n && all->hashes[end] == all->hashes[i];)
			end++;
		if ((double) (end - i) >= often)
			all->hashes[n++] = all->hashes[i];
	}
	all->n = n;
}

SimdupPassage *
simdup_common_passages(const SimdupPassageText *texts, size_t n_texts,
					   double share, size_t *n)
{
	Words first = read_words(texts[0]);
	bool overflow = first.overflow;
	SimdupHashes keys = {0};
	bool *marked;
	SimdupPassage *passages = NULL;

	add_keys(&keys, &first);
	for (size_t i = 1; i < n_texts; i++)
	{
		Words words = read_words(texts[i]);

		overflow |= words.overflow;
		add_keys(&keys, &words);
		simdup_free(words.words);
	}
	keep_common(&keys, share * (double) n_texts);
	marked = mark_words(&first, &keys);
	if (!overflow)
		passages = passages_of(texts[0], &first, marked, true, n);
	simdup_hashes_free(&keys);
	simdup_free(marked);
	simdup_free(first.words);
	return passages;
}

/* Boilerplate */

bool
simdup_add_boilerplate(SimdupBoilerplate *boilerplate, SimdupPassageText text)
{
	Words words = read_words(text);
	size_t n = words.n < LONG_RUN ? words.n : LONG_RUN;

	for (size_t i = 0; n > 0 && i + n <= words.n; i++)
		simdup_wordset_add(&boilerplate->runs, key_of(&words, i, n));
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
				simdup_wordset_has(&boilerplate->runs, key_of(words, i, n)))
				until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
}

SimdupPassage *
simdup_without_boilerplate(SimdupPassageText text,
						   const SimdupBoilerplate *boilerplate, size_t *n)
{
	Words words = read_words(text);
	bool *marked = mark_boilerplate(&words, boilerplate);
	SimdupPassage *passages =
		words.overflow ? NULL : passages_of(text, &words, marked, false, n);
	bool any = words.n > 0 && memchr(marked, true, words.n) != NULL;

	/* a text that has none of it stays as it is */
	if (passages != NULL && !any)
	{
		passages[0] = (SimdupPassage){0, text.len};
		*n = 1;
	}
	simdup_free(marked);
	simdup_free(words.words);
	return passages;
}

bool
simdup_sample_runs(SimdupPassageText text, SimdupHashes *sample,
				   uint64_t *digest)
{
	Words words = read_words(text);
	uint64_t keys[LONG_RUN]; /* of the window, by number modulo its size */
	bool overflow = words.overflow;

	*digest = key_of(&words, 0, words.n);
	for (size_t i = 0; i + LONG_RUN <= words.n && !overflow; i++)
	{
		uint64_t least = keys[i % LONG_RUN] = key_of(&words, i, LONG_RUN);

		if (i + 1 < LONG_RUN)
			continue;
		for (size_t j = 0; j < LONG_RUN; j++)
			least = keys[j] < least ? keys[j] : least;
		if (sample->n == 0 || sample->hashes[sample->n - 1] != least)
			overflow = !simdup_hashes_add(sample, least);
		simdup_check_interrupts();
	}
	simdup_hashes_unique(sample);
	simdup_free(words.words);
	return !overflow;
}

/* A text among those that share a run. */
typedef struct Sharer
{
	Words words;
	bool *marked;	   /* words of passages that most of the texts have */
	SimdupHashes rest; /* runs of its other words */
	size_t n_rest;	   /* its other words */
	bool is_bare;	   /* it has few of these */
} Sharer;

/* Mark what the texts have in common. */
static void
part_sharer(Sharer *sharer, const SimdupHashes *common)
{
	const Words *words = &sharer->words;
	size_t row = 0; /* unmarked words in a row */

	sharer->marked = mark_words(words, common);
	for (size_t i = 0; i < words->n; i++)
	{
		row = sharer->marked[i] ? 0 : row + 1;
		sharer->n_rest += row > 0;
		if (row >= RUN)
			simdup_hashes_add(&sharer->rest, key_of(words, i + 1 - RUN, RUN));
	}
	simdup_hashes_unique(&sharer->rest);
	sharer->is_bare =
		sharer->n_rest < MIN_REST || sharer->n_rest * 10 < words->n;
}

/* Check whether two texts have little in common but for what is marked. */
static bool
are_different(const Sharer *a, const Sharer *b)
{
	size_t least = a->rest.n < b->rest.n ? a->rest.n : b->rest.n;

	return !a->is_bare && !b->is_bare &&
		   4 * simdup_hashes_common(a->rest.hashes, a->rest.n, b->rest.hashes,
									b->rest.n) <=
			   least;
}

/*
 * Check whether the marked passages are boilerplate.
 *
 * The texts are different letters: nearly all have a good part of their own, and
 * many pairs share nothing of it. So a letter is not, even if some of its senders
 * added to it. Where it is no rule of the table, it also stands where boilerplate
 * does: at the end, or at the beginning with most of the text behind it. A letter
 * is followed by its sender's name.
 */
static bool
is_boilerplate(const Sharer *sharers, size_t n, bool by_most)
{
	size_t n_words = 0;
	size_t n_rest = 0;
	size_t n_bare = 0;
	size_t n_different = 0;
	size_t n_begun = 0;
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++)
	{
		const Sharer *sharer = &sharers[i];

		n_words += sharer->words.n;
		n_rest += sharer->n_rest;
		n_bare += sharer->is_bare;
		for (size_t j = 0; j < i; j++)
			n_different += are_different(sharer, &sharers[j]);
		if (sharer->words.n == 0)
			continue;
		n_begun += sharer->marked[0];
		n_ended += sharer->marked[sharer->words.n - 1];
	}
	return n_bare * 5 <= n && n_different * 6 >= n * (n - 1) &&
		   (by_most || n_ended * 10 >= n * 9 ||
			(n_begun * 10 >= n * 9 && (n_words - n_rest) * 3 <= n_words));
}

SimdupPassage *
simdup_shared_passages(const SimdupPassageText *texts, size_t n_texts,
					   bool by_most, size_t *which, bool *boilerplate,
					   size_t *n)
{
	Sharer *sharers = simdup_alloc0(n_texts * sizeof(Sharer));
	SimdupHashes common = {0};
	SimdupPassage *passages;
	size_t most = 0;

	for (size_t i = 0; i < n_texts; i++)
	{
		sharers[i].words = read_words(texts[i]);
		add_keys(&common, &sharers[i].words);
	}
	keep_common(&common, COMMON_SHARE * (double) n_texts);
	*which = 0;
	for (size_t i = 0; i < n_texts; i++)
	{
		size_t n_marked;

		part_sharer(&sharers[i], &common);
		n_marked = sharers[i].words.n - sharers[i].n_rest;
		if (n_marked > most)
			*which = i;
		most = n_marked > most ? n_marked : most;
	}
	*boilerplate = is_boilerplate(sharers, n_texts, by_most);
	passages = passages_of(texts[*which], &sharers[*which].words,
						   sharers[*which].marked, true, n);
	for (size_t i = 0; i < n_texts; i++)
	{
		simdup_free(sharers[i].marked);
		simdup_free(sharers[i].words.words);
		simdup_hashes_free(&sharers[i].rest);
	}
	simdup_hashes_free(&common);
	simdup_free(sharers);
	return passages;
}

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

#include <stdlib.h>
#include <string.h>

#include "core/compare/resemblance.h"
#include "core/host.h"

#define RUN SIMDUP_PASSAGE_RUN
#define LONG_RUN SIMDUP_BOILERPLATE_RUN

/* Words that a letter has beside boilerplate, at least. */
#define MIN_REST 12

/* The share of a sample that has a passage of it. */
#define COMMON_SHARE 0.9

/* Any odd number with bits all over, for hashes of words and of runs. */
#define CHAIN UINT64_C(0x9e3779b97f4a7c15)

/* Marks before a word, and behind it, that belong to it. */
#define OPENING "([{\"'$#¡£¥«¿‘‚“„‹€〈《「『【〔（［｛￡￥"
#define CLOSING ")]}\"'.,;:!?%»’”…›€、。〉》」』】〕！），：；？］｝،؛؟۔।"

/*
 * The words of a text, folded as minhash64 folds them, and their sentences. A
 * sentence ends with its mark or at an empty line, since mail programs break lines
 * anywhere. In scripts without blanks, each character is a word.
 */

/* Hyphens within words: the usual one, the soft, the real and the firm one. */
#define HYPHENS "-\xC2\xAD\xE2\x80\x90\xE2\x80\x91"

/* Characters of lines that are empty, or quoted so: with two unusual blanks. */
#define IN_EMPTY_LINES " \t\r>\xC2\xA0\xE3\x80\x80"

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
begin_word(Words *words, size_t from)
{
	if (words->n == MAX_WORDS)
	{
		words->overflow = true;
		words->n--;
	}
	words->words =
		simdup_grow(words->words, &words->size, words->n + 1, sizeof(Word));
	words->words[words->n++] = (Word){from, from, 0, words->begins};
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
		begin_word(words, words->from);
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
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];

		words.from = (size_t) (p - start);
		words.to = words.from + (size_t) len;
		look = simdup_look(p, look);
		next = p + len;
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
		if (n_lines > 1 || ends_sentence(cp, next, end))
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

/* Add the keys of a text, each once: runs may go from sentence to sentence. */
static void
add_keys(SimdupHashes *all, const Words *words)
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
mark_words(const Words *words, const SimdupHashes *keys)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0; /* words before this one lie in such a run */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t n = words_left(words, i);

		if ((n == RUN || words->words[i].begins) &&
			simdup_hashes_find(keys, words_key(words, i, n)) < keys->n)
			until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
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
		if (!is_among(CLOSING,
					  simdup_utf8_decode(start + to, start + limit, &len)))
			break;
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

/* Keep the keys that come so often, once. */
static void
keep_common(SimdupHashes *all, double often)
{
	size_t n = 0;

	if (all->n > 0)
		qsort(all->hashes, all->n, sizeof(uint64_t), simdup_compare_words);
	for (size_t i = 0, end; i < all->n; i = end)
	{
		for (end = i; end < all->n && all->hashes[end] == all->hashes[i];)
			end++;
		if ((double) (end - i) >= often)
			all->hashes[n++] = all->hashes[i];
	}
	all->n = n;
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
	SimdupHashes keys = {0};
	SimdupPassage *passages = NULL;
	bool *marked;

	if (shared)
		add_keys(&keys, &words);
	for (size_t i = 0; i < n_others; i++)
	{
		Words other = read_words(others[i]);

		words.overflow |= other.overflow;
		add_keys(&keys, &other);
		simdup_free(other.words);
	}
	if (n_others + shared > 1)
		keep_common(&keys, often);
	marked = mark_words(&words, &keys);
	if (!words.overflow)
		passages = passages_of(text, &words, marked, shared, n);
	simdup_free(marked);
	simdup_free(words.words);
	simdup_hashes_free(&keys);
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
simdup_sample_runs(SimdupUtf8 text, SimdupHashes *sample, uint64_t *digest)
{
	Words words = read_words(text);
	uint64_t keys[LONG_RUN]; /* of the window, by number modulo its size */

	*digest = words_key(&words, 0, words.n);
	for (size_t i = 0; i + LONG_RUN <= words.n && !words.overflow; i++)
	{
		uint64_t least = keys[i % LONG_RUN] = words_key(&words, i, LONG_RUN);

		if (i + 1 < LONG_RUN)
			continue;
		for (size_t j = 0; j < LONG_RUN; j++)
			least = keys[j] < least ? keys[j] : least;
		if (sample->n == 0 || sample->hashes[sample->n - 1] != least)
			words.overflow = !simdup_hashes_add(sample, least);
		simdup_check_interrupts();
	}
	simdup_hashes_unique(sample);
	simdup_free(words.words);
	return !words.overflow;
}

/* A text among those that share a run. */
typedef struct Sharer
{
	Words words;
	bool *marked;	   /* words of passages that most of the texts have */
	SimdupHashes rest; /* runs of its other words */
	size_t n_marked;
	bool is_bare; /* it has few other words */
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
		sharer->n_marked += sharer->marked[i];
		if (row >= RUN)
			simdup_hashes_add(&sharer->rest,
							  words_key(words, i + 1 - RUN, RUN));
	}
	simdup_hashes_unique(&sharer->rest);
	sharer->is_bare = words->n < sharer->n_marked + MIN_REST ||
					  (words->n - sharer->n_marked) * 10 < words->n;
}

/* Check whether two texts have little in common but for what is marked. */
static bool
are_different(const Sharer *a, const Sharer *b)
{
	size_t least = a->rest.n < b->rest.n ? a->rest.n : b->rest.n;

	return !a->is_bare && !b->is_bare &&
		   4 * simdup_hashes_common(&a->rest, &b->rest) <= least;
}

/*
 * Check whether the marked passages are boilerplate.
 *
 * The texts are different letters: nearly all have a good part of their own, and
 * many pairs share nothing of it. So a letter is not, even if some of its senders
 * added to it. Boilerplate that is no rule of the table stands at the end, or at
 * the beginning with most of the text behind it. A letter is followed by its
 * sender's name.
 */
static bool
is_boilerplate(const Sharer *sharers, size_t n, bool by_most)
{
	size_t n_words = 0;
	size_t n_marked = 0;
	size_t n_bare = 0;
	size_t n_different = 0;
	size_t n_begun = 0;
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++)
	{
		const Sharer *sharer = &sharers[i];

		n_words += sharer->words.n;
		n_marked += sharer->n_marked;
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
			(n_begun * 10 >= n * 9 && n_marked * 3 <= n_words));
}

SimdupPassage *
simdup_shared_passages(const SimdupUtf8 *texts, size_t n_texts, bool by_most,
					   size_t *which, bool *boilerplate, size_t *n)
{
	Sharer *sharers = simdup_alloc0(n_texts * sizeof(Sharer));
	SimdupHashes common = {0};
	SimdupPassage *passages;

	for (size_t i = 0; i < n_texts; i++)
	{
		sharers[i].words = read_words(texts[i]);
		add_keys(&common, &sharers[i].words);
	}
	keep_common(&common, COMMON_SHARE * (double) n_texts);
	*which = 0;
	for (size_t i = 0; i < n_texts; i++)
	{
		part_sharer(&sharers[i], &common);
		if (sharers[i].n_marked > sharers[*which].n_marked)
			*which = i;
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

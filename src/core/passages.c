/*
 * passages.c
 *	  The passages that a text has alone, or in common with others.
 *
 * Each text has a set of keys: the hashes of its runs of RUN words, and of its
 * shorter sentences. A word is shared if a run or a sentence around it has a key
 * that the other set has too. So the time is linear in the texts' lengths.
 */
#include "core/text.h"

#include <string.h>

#include "core/charclass.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/shingle.h"

#define RUN SIMDUP_PASSAGE_RUN

/* Any odd number with bits all over, for hashes of words and of runs. */
#define CHAIN UINT64_C(0x9e3779b97f4a7c15)

/* Bytes of text, or words, between two looks for interrupts. */
#define INTERRUPT_STEPS (1 << 16)

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

static inline uint64_t
chain(uint64_t hash, uint64_t next)
{
	return simdup_mix64(hash * CHAIN + next);
}

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
	word->hash = chain(word->hash, cp + UINT64_C(1));
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

/*
 * Check whether a sentence ends with a separator. next is the class of what
 * follows: a point within a number or an address ends none.
 */
static bool
ends_sentence(uint32_t cp, SimdupCharClass next)
{
	switch (cp)
	{
		case '\n':
		case '\r':
		case 0x3002: /* the Chinese full stop */
		case 0xFF01: /* and its fullwidth kin */
		case 0xFF1F:
		case 0xFF1A:
		case 0xFF1B:
		case 0x2026:
		case 0x06D4: /* Arabic */
		case 0x061F:
		case 0x0964: /* Devanagari */
			return true;
		case '.':
		case '!':
		case '?':
		case ':':
		case ';':
			return next == SIMDUP_CHAR_SEPARATOR;
	}
	return false;
}

static Words
read_words(SimdupPassageText text)
{
	Words words = {.size = 64, .begins = true};
	const unsigned char *start = (const unsigned char *) text.bytes;
	const unsigned char *p = start;
	const unsigned char *end = start + text.len;
	const unsigned char *look = p + INTERRUPT_STEPS;
	int len;

	words.words = simdup_alloc(words.size * sizeof(Word));
	for (; p < end; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];
		size_t from = (size_t) (p - start);
		size_t to = from + (size_t) len;

		if (property.n == 1)
			add_char(&words, (uint32_t) ((int32_t) cp + property.value),
					 (SimdupCharClass) property.char_class, from, to);
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
		if (ends_sentence(cp, class_at(p + len, end)))
			words.begins = true;
		if (p >= look)
		{
			simdup_check_interrupts();
			look = p + INTERRUPT_STEPS;
		}
	}
	return words;
}

/* Return the key of the n words from word i on. */
static uint64_t
key_of(const Words *words, size_t i, size_t n)
{
	uint64_t key = n;

	for (size_t j = i; j < i + n; j++)
		key = chain(key, words->words[j].hash);
	return key;
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
		if (i % INTERRUPT_STEPS == 0)
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
		if (i % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
	return marked;
}

static bool
is_among(const uint32_t *marks, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n; i++)
		if (marks[i] == cp)
			return true;
	return false;
}

/* Check whether a mark before a word belongs to it. */
static bool
opens(uint32_t cp)
{
	static const uint32_t openers[] = {'(',	   '[',	   '{',	   '"',	   '\'',
									   '$',	   '#',	   0xA1,   0xA3,   0xA5,
									   0xAB,   0xBF,   0x2018, 0x201A, 0x201C,
									   0x201E, 0x2039, 0x20AC, 0x3008, 0x300A,
									   0x300C, 0x300E, 0x3010, 0x3014, 0xFF08,
									   0xFF3B, 0xFF5B, 0xFFE1, 0xFFE5};

	return is_among(openers, sizeof(openers) / sizeof(openers[0]), cp);
}

/* Check whether a mark behind a word belongs to it. */
static bool
closes(uint32_t cp)
{
	static const uint32_t closers[] = {')',	   ']',	   '}',	   '"',	   '\'',
									   '.',	   ',',	   ';',	   ':',	   '!',
									   '?',	   '%',	   0xBB,   0x2019, 0x201D,
									   0x2026, 0x203A, 0x20AC, 0x3001, 0x3002,
									   0x3009, 0x300B, 0x300D, 0x300F, 0x3011,
									   0x3015, 0xFF01, 0xFF09, 0xFF0C, 0xFF1A,
									   0xFF1B, 0xFF1F, 0xFF3D, 0xFF5D, 0x060C,
									   0x061B, 0x061F, 0x06D4, 0x0964};

	return is_among(closers, sizeof(closers) / sizeof(closers[0]), cp);
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
		if (!opens(simdup_utf8_decode(start + at, start + from, &len)) ||
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

	while (to < limit &&
		   closes(simdup_utf8_decode(start + to, start + limit, &len)))
		to += (size_t) len;
	return to;
}

/* Return the passages of the words that are marked so. */
static SimdupPassage *
passages_of(SimdupPassageText text, const Words *words, const bool *marked,
			bool wanted, size_t *n)
{
	SimdupPassage *passages = NULL;
	size_t size = 0;
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
		if (*n == size)
		{
			size = size == 0 ? 8 : 2 * size;
			passages =
				passages == NULL
					? simdup_alloc(size * sizeof(SimdupPassage))
					: simdup_realloc(passages, size * sizeof(SimdupPassage));
		}
		passages[(*n)++] = passage;
	}
	return passages == NULL ? simdup_alloc(sizeof(SimdupPassage)) : passages;
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

/* Count for each of the keys whether a text has it. False for too many words. */
static bool
count_keys(SimdupPassageText text, const SimdupHashes *keys, size_t *counts)
{
	Words words = read_words(text);
	SimdupHashes others = keys_of(&words);
	size_t j = 0;

	for (size_t i = 0; i < keys->n; i++)
	{
		while (j < others.n && others.hashes[j] < keys->hashes[i])
			j++;
		counts[i] += j < others.n && others.hashes[j] == keys->hashes[i];
	}
	simdup_hashes_free(&others);
	simdup_free(words.words);
	return !words.overflow;
}

SimdupPassage *
simdup_common_passages(const SimdupPassageText *texts, size_t n_texts,
					   double share, size_t *n)
{
	Words words = read_words(texts[0]);
	SimdupHashes keys = keys_of(&words);
	size_t *counts = simdup_alloc0((keys.n + 1) * sizeof(size_t));
	bool overflow = words.overflow;
	size_t kept = 0;
	bool *marked;
	SimdupPassage *passages = NULL;

	for (size_t i = 0; i < n_texts && !overflow; i++)
		overflow = !count_keys(texts[i], &keys, counts);
	for (size_t i = 0; i < keys.n; i++)
		if ((double) counts[i] >= share * (double) n_texts)
			keys.hashes[kept++] = keys.hashes[i];
	keys.n = kept;
	marked = mark_words(&words, &keys);
	if (!overflow)
		passages = passages_of(texts[0], &words, marked, true, n);
	simdup_free(marked);
	simdup_free(counts);
	simdup_free(words.words);
	simdup_hashes_free(&keys);
	return passages;
}

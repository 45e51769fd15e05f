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
#include "core/compare/passages.h"

#include <stdlib.h>
#include <string.h>

#include "core/compare/resemblance.h"
#include "core/compare/words.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/shingle.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

#define RUN SIMDUP_PASSAGE_RUN
#define LONG_RUN SIMDUP_BOILERPLATE_RUN

/* Words that a letter has beside boilerplate, at least. */
#define MIN_REST 12

/* The share of a sample that has a passage of it. */
#define COMMON_SHARE 0.9

/* Marks before a word, and behind it, that belong to it. */
#define OPENING "([{\"'$#¡£¥«¿‘‚“„‹€〈《「『【〔（［｛￡￥"
#define CLOSING ")]}\"'.,;:!?%»’”…›€、。〉》」』】〕！），：；？］｝،؛؟۔।"

/* Return how many words the sentence has from word i on, at most RUN. */
static size_t
words_left(const SimdupWords *words, size_t i)
{
	size_t n = 1;

	while (n < RUN && i + n < words->n && !words->words[i + n].begins)
		n++;
	return n;
}

/* Return the keys of a text, ascending: runs may go from sentence to sentence. */
static SimdupHashes
keys_of(const SimdupWords *words)
{
	SimdupHashes keys = {0};

	/* the list has room for the keys of all words */
	for (size_t i = 0; i < words->n; i++)
	{
		size_t left = words_left(words, i);

		if (i + RUN <= words->n)
			simdup_hashes_add(&keys, simdup_words_key(words, i, RUN));
		if (words->words[i].begins && left < RUN)
			simdup_hashes_add(&keys, simdup_words_key(words, i, left));
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
mark_words(const SimdupWords *words, const SimdupHashes *keys)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0; /* words before this one lie in such a run */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t n = words_left(words, i);

		if ((n == RUN || words->words[i].begins) &&
			simdup_hashes_find(keys, simdup_words_key(words, i, n)) < keys->n)
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
		if (!simdup_is_among(OPENING, simdup_utf8_decode(start + at,
														 start + from, &len)) ||
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
	int len;

	while (to < limit &&
		   simdup_is_among(CLOSING,
						   simdup_utf8_decode(start + to, start + limit, &len)))
		to += (size_t) len;
	return to;
}

/* Return the passages of the words that are marked so. */
static SimdupPassage *
passages_of(SimdupUtf8 text, const SimdupWords *words, const bool *marked,
			bool wanted, size_t *n)
{
	/* passages alternate with other words */
	SimdupPassage *passages =
		simdup_alloc((words->n / 2 + 1) * sizeof(SimdupPassage));
	size_t end;

	*n = 0;
	for (size_t i = 0; i < words->n; i = end)
	{
		const SimdupWord *word = words->words;
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

/*
 * Return the passages of a text that have these keys, or those without them. Free
 * the words of the text and the keys. NULL with overflow.
 */
static SimdupPassage *
passages_by_keys(SimdupUtf8 text, SimdupWords *words, SimdupHashes *keys,
				 bool wanted, bool overflow, size_t *n)
{
	bool *marked = mark_words(words, keys);
	SimdupPassage *passages =
		overflow ? NULL : passages_of(text, words, marked, wanted, n);

	simdup_free(marked);
	simdup_free(words->words);
	simdup_hashes_free(keys);
	return passages;
}

SimdupPassage *
simdup_own_passages(SimdupUtf8 text, SimdupUtf8 other, size_t *n)
{
	SimdupWords words = simdup_read_words(text);
	SimdupWords others = simdup_read_words(other);
	SimdupHashes keys = keys_of(&others);

	simdup_free(others.words);
	return passages_by_keys(text, &words, &keys, false,
							words.overflow || others.overflow, n);
}

/* Add the keys of a text to those of others. */
static void
add_keys(SimdupHashes *all, const SimdupWords *words)
{
	SimdupHashes keys = keys_of(words);

	all->hashes =
		simdup_grow(all->hashes, &all->size, all->n + keys.n, sizeof(uint64_t));
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

SimdupPassage *
simdup_common_passages(const SimdupUtf8 *texts, size_t n_texts, double share,
					   size_t *n)
{
	SimdupWords first = simdup_read_words(texts[0]);
	bool overflow = first.overflow;
	SimdupHashes keys = {0};

	add_keys(&keys, &first);
	for (size_t i = 1; i < n_texts; i++)
	{
		SimdupWords words = simdup_read_words(texts[i]);

		overflow |= words.overflow;
		add_keys(&keys, &words);
		simdup_free(words.words);
	}
	keep_common(&keys, share * (double) n_texts);
	return passages_by_keys(texts[0], &first, &keys, true, overflow, n);
}

/* Boilerplate */

bool
simdup_add_boilerplate(SimdupBoilerplate *boilerplate, SimdupUtf8 text)
{
	SimdupWords words = simdup_read_words(text);
	size_t n = words.n < LONG_RUN ? words.n : LONG_RUN;

	for (size_t i = 0; n > 0 && i + n <= words.n; i++)
		simdup_wordset_add(&boilerplate->runs, simdup_words_key(&words, i, n));
	boilerplate->lengths |= 1U << n;
	simdup_free(words.words);
	return !words.overflow;
}

/* Mark the words that lie in a run of the boilerplate. */
static bool *
mark_boilerplate(const SimdupWords *words, const SimdupBoilerplate *boilerplate)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0;

	for (size_t i = 0; i < words->n; i++)
	{
		for (size_t n = LONG_RUN; n > 0 && i + n > until; n--)
			if ((boilerplate->lengths >> n & 1) != 0 && i + n <= words->n &&
				simdup_wordset_has(&boilerplate->runs,
								   simdup_words_key(words, i, n)))
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
	SimdupWords words = simdup_read_words(text);
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
simdup_sample_runs(SimdupUtf8 text, SimdupHashes *sample, uint64_t *digest)
{
	SimdupWords words = simdup_read_words(text);
	uint64_t keys[LONG_RUN]; /* of the window, by number modulo its size */
	bool overflow = words.overflow;

	*digest = simdup_words_key(&words, 0, words.n);
	for (size_t i = 0; i + LONG_RUN <= words.n && !overflow; i++)
	{
		uint64_t least = keys[i % LONG_RUN] =
			simdup_words_key(&words, i, LONG_RUN);

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
	SimdupWords words;
	bool *marked;	   /* words of passages that most of the texts have */
	SimdupHashes rest; /* runs of its other words */
	size_t n_rest;	   /* its other words */
	bool is_bare;	   /* it has few of these */
} Sharer;

/* Mark what the texts have in common. */
static void
part_sharer(Sharer *sharer, const SimdupHashes *common)
{
	const SimdupWords *words = &sharer->words;
	size_t row = 0; /* unmarked words in a row */

	sharer->marked = mark_words(words, common);
	for (size_t i = 0; i < words->n; i++)
	{
		row = sharer->marked[i] ? 0 : row + 1;
		sharer->n_rest += row > 0;
		if (row >= RUN)
			simdup_hashes_add(&sharer->rest,
							  simdup_words_key(words, i + 1 - RUN, RUN));
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
		   4 * simdup_hashes_common(&a->rest, &b->rest) <= least;
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
simdup_shared_passages(const SimdupUtf8 *texts, size_t n_texts, bool by_most,
					   size_t *which, bool *boilerplate, size_t *n)
{
	Sharer *sharers = simdup_alloc0(n_texts * sizeof(Sharer));
	SimdupHashes common = {0};
	SimdupPassage *passages;
	size_t most = 0;

	for (size_t i = 0; i < n_texts; i++)
	{
		sharers[i].words = simdup_read_words(texts[i]);
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
		{
			*which = i;
			most = n_marked;
		}
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

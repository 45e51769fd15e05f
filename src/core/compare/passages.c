/*
 * passages.c
 *	  The passages that a text has alone, in common with others, or as boilerplate.
 *
 * Texts are compared by their keys, the hashes of runs of RUN words and of shorter
 * sentences. So the time is linear in their lengths.
 *
 * Boilerplate is known by longer runs, of LONG_RUN words. These do not look at
 * sentences, because an index may depend on the text that remains.
 */
#include "core/compare/passages.h"

#include "core/compare/resemblance.h"
#include "core/compare/words.h"

/*
 * Words in a row that say the same in two texts. Some sentences of unrelated
 * letters hold such a run by chance. With five words these are .4 % in Chinese
 * and .06 % in English, with four 2.4 % and .2 %.
 */
#define RUN 5

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

/* Characters of a sentence that are no passage, in scripts without blanks. */
#define MAX_FRAGMENT 2

/* Return how many words the sentence has from word i on, at most RUN. */
static size_t
words_left(const SimdupWords *words, size_t i)
{
	size_t n = 1;

	while (n < RUN && i + n < words->n && !words->words[i + n].begins)
		n++;
	return n;
}

/* Collect the keys of a text: runs may go from sentence to sentence. */
static SimdupHashes
keys_of(const SimdupWords *words)
{
	SimdupHashes keys = {0}; /* with room for those of all words */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t left = words_left(words, i);

		if (i + RUN <= words->n)
			simdup_hashes_add(&keys, simdup_words_key(words, i, RUN));
		if (words->words[i].begins && left < RUN)
			simdup_hashes_add(&keys, simdup_words_key(words, i, left));
		simdup_check_interrupts();
	}
	return keys;
}

/* Append a set to a list whose repetitions are counted. */
static void
append_set(SimdupHashes *all, const SimdupHashes *set)
{
	all->hashes =
		simdup_grow(all->hashes, &all->size, all->n + set->n, sizeof(uint64_t));
	for (size_t i = 0; i < set->n; i++)
		all->hashes[all->n++] = set->hashes[i];
}

/* Add the keys of a text, each once. */
static void
add_keys(SimdupHashes *all, const SimdupWords *words)
{
	SimdupHashes keys = keys_of(words);

	simdup_hashes_unique(&keys);
	append_set(all, &keys);
	simdup_hashes_free(&keys);
}

/*
 * Return for each word whether a run or a short sentence around it has a key.
 * These runs stay within a sentence. Else the first words of an own sentence
 * would seem shared where the other text goes on with the same words.
 */
static bool *
mark_words(const SimdupWords *words, const SimdupWordSet *keys)
{
	bool *marked = simdup_alloc0(words->n * sizeof(bool));
	size_t until = 0; /* words before this one lie in such a run */

	for (size_t i = 0; i < words->n; i++)
	{
		size_t n = words_left(words, i);

		if ((n == RUN || words->words[i].begins) &&
			simdup_wordset_has(keys, simdup_words_key(words, i, n)))
			until = i + n;
		marked[i] = i < until;
		simdup_check_interrupts();
	}
	return marked;
}

/*
 * In scripts without blanks, mark one or two characters that remain between
 * marked words of a sentence. The text that differs is no word then.
 */
static void
mark_fragments(const SimdupWords *words, bool *marked)
{
	const SimdupWord *word = words->words;

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

/* Return the passages of the words that are marked so. Others lie between them. */
static SimdupPassage *
passages_of(SimdupUtf8 text, const SimdupWords *words, const bool *marked,
			bool wanted, size_t *n)
{
	SimdupPassage *found = simdup_alloc((words->n / 2 + 1) * sizeof(*found));
	const SimdupWord *word = words->words;
	size_t first = 0;

	*n = 0;
	for (size_t i = 0; i < words->n; i++)
	{
		bool is_last = i + 1 == words->n;

		if (marked[i] != wanted)
			continue;
		if (i == 0 || marked[i - 1] != wanted)
			first = i;
		if (!is_last && marked[i + 1] == wanted)
			continue;
		found[*n] = (SimdupPassage){word[first].from, word[i].to};
		simdup_add_marks(text, &found[*n].from, &found[*n].to,
						 first == 0 ? 0 : word[first - 1].to,
						 is_last ? text.len : word[i + 1].from);
		(*n)++;
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

SimdupPassage *
simdup_own_passages(SimdupUtf8 text, SimdupUtf8 other, size_t *n)
{
	SimdupWords words = simdup_read_words(text);
	SimdupWords others = simdup_read_words(other);
	SimdupHashes all = keys_of(&others);
	SimdupWordSet keys = take_common(&all, 1);
	bool *marked = mark_words(&words, &keys);
	SimdupPassage *passages = NULL;

	mark_fragments(&words, marked);
	if (!words.overflow && !others.overflow)
		passages = passages_of(text, &words, marked, false, n);
	simdup_free(marked);
	simdup_free(words.words);
	simdup_free(others.words);
	simdup_wordset_free(&keys);
	return passages;
}

static size_t
count_common(const SimdupWords *words, const SimdupWordSet *common)
{
	SimdupHashes keys = keys_of(words);
	size_t n = 0;

	simdup_hashes_unique(&keys);
	for (size_t i = 0; i < keys.n; i++)
		n += simdup_wordset_has(common, keys.hashes[i]);
	simdup_hashes_free(&keys);
	return n;
}

/*
 * Return the least number that is at least this share of n. The quotient decides, as
 * a product may be rounded up: .07 of 100 is 7.000000000000001.
 */
static double
least_of_share(double share, size_t n)
{
	double least = (double) (size_t) (share * (double) n);

	return least / (double) n >= share ? least : least + 1;
}

SimdupPassage *
simdup_common_passages(const SimdupUtf8 *texts, size_t n_texts, double share,
					   size_t *which, size_t *n)
{
	double often = least_of_share(share, n_texts);
	SimdupHashes all = {0};
	SimdupWordSet common;
	SimdupWords words;
	SimdupPassage *passages = NULL;
	bool overflow = false;
	size_t most = 0;
	bool *marked;

	for (size_t i = 0; i < n_texts; i++)
	{
		words = simdup_read_words(texts[i]);
		overflow |= words.overflow;
		add_keys(&all, &words);
		simdup_free(words.words);
	}
	common = take_common(&all, often < 2 && n_texts > 1 ? 2 : often);
	/* the first text may lack passages that most others have */
	*which = 0;
	for (size_t i = 0; i < n_texts && most < common.n; i++)
	{
		size_t n_common;

		words = simdup_read_words(texts[i]);
		n_common = count_common(&words, &common);
		if (n_common > most)
		{
			*which = i;
			most = n_common;
		}
		simdup_free(words.words);
	}
	words = simdup_read_words(texts[*which]);
	marked = mark_words(&words, &common);
	if (!overflow)
		passages = passages_of(texts[*which], &words, marked, true, n);
	simdup_free(marked);
	simdup_free(words.words);
	simdup_wordset_free(&common);
	return passages;
}

/* Boilerplate */

bool
simdup_add_boilerplate(SimdupBoilerplate *boilerplate, SimdupUtf8 text)
{
	SimdupWords words = simdup_read_words(text);
	size_t n = words.n < LONG_RUN ? words.n : LONG_RUN;

	for (size_t i = 0; n > 0 && i + n <= words.n; i++)
	{
		simdup_check_interrupts_at(i);
		simdup_wordset_add(&boilerplate->runs, simdup_words_key(&words, i, n));
	}
	boilerplate->lengths |= 1U << n;
	simdup_free(words.words);
	return !words.overflow;
}

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
	SimdupWords words = simdup_read_words(text);
	size_t window = min_words + 1 - LONG_RUN;
	uint64_t keys[LONG_RUN]; /* of the window, by number modulo its size */

	*digest = simdup_words_key(&words, 0, words.n);
	if (window > LONG_RUN)
		window = LONG_RUN;
	for (size_t i = 0;
		 words.n >= min_words && i + LONG_RUN <= words.n && !words.overflow;
		 i++)
	{
		uint64_t least = keys[i % window] =
			simdup_words_key(&words, i, LONG_RUN);

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
	SimdupWords words;
	bool *marked; /* words of passages that most of the texts have */
	size_t n_marked;
	size_t n_behind;  /* words behind the last marked one */
	SimdupHashes own; /* its own words that most of the texts lack */
	SimdupHashes runs;
	bool is_bare; /* it has few own words */
	bool is_short;
	bool was_refused; /* it has a passage that is a letter */
} Sharer;

/* Collect own words, in `all`, too. Up to max_tail words at the end are none. */
static void
collect_own(Sharer *sharer, size_t max_tail, SimdupHashes *all)
{
	const SimdupWords *words = &sharer->words;
	size_t n_tail = sharer->n_behind <= max_tail ? sharer->n_behind : 0;
	size_t row = 0; /* own words in a row */

	for (size_t i = 0; i + n_tail < words->n; i++)
	{
		simdup_check_interrupts_at(i);
		row = sharer->marked[i] ? 0 : row + 1;
		if (row > 0)
			simdup_hashes_add(&sharer->own, words->words[i].hash);
		if (row >= RUN)
			simdup_hashes_add(&sharer->runs,
							  simdup_words_key(words, i + 1 - RUN, RUN));
	}
	sharer->is_bare = sharer->own.n * 10 < words->n;
	simdup_hashes_unique(&sharer->own);
	simdup_hashes_unique(&sharer->runs);
	append_set(all, &sharer->own);
}

/* Drop own words that are common, such as a greeting's, and judge the rest. */
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

/* Check whether two texts have little in common beside the marked words. */
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

static inline bool
are_few(size_t k, size_t n)
{
	return k * 5 <= n;
}

static inline bool
are_nearly_all(size_t k, size_t n)
{
	return k * 10 >= n * 9;
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
	bool are_long;

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
	are_long = are_few(n_short, n);
	if (!are_few(n_bare, n))
		return false;
	if (are_long && (by_most || are_nearly_all(n_ended, n)))
		return n_different * 3 >= n_pairs;
	return n_different * 4 >= n_pairs * 3 &&
		   (are_long || are_few(n_refused, n)) &&
		   (by_most || are_nearly_all(n_followed, n) ||
			(are_long && are_nearly_all(n_begun, n)));
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
		sharers[i].words = simdup_read_words(texts[i]);
		add_keys(&all, &sharers[i].words);
	}
	common = take_common(&all, COMMON_SHARE * (double) n_texts);
	*which = 0;
	for (size_t i = 0; i < n_texts; i++)
	{
		Sharer *sharer = &sharers[i];
		bool *letter = mark_boilerplate(&sharer->words, refused);

		sharer->marked = mark_words(&sharer->words, &common);
		for (size_t j = 0; j < sharer->words.n; j++)
		{
			sharer->n_marked += sharer->marked[j];
			sharer->n_behind = sharer->marked[j] ? 0 : sharer->n_behind + 1;
			sharer->was_refused |= letter[j];
		}
		n_long += sharer->n_behind > MAX_TAIL;
		simdup_free(letter);
		if (sharer->n_marked > sharers[*which].n_marked)
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

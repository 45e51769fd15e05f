/*
 * winnow.c
 *	  Winnowing, against the smallest element of every window of all shingles.
 */
#include "core/compare/resemblance.h"
#include "core/fingerprint/shingle.h"
#include "input.h"

#define MAX_TEXT 20000

typedef struct List
{
	uint64_t *hashes;
	size_t n;
} List;

/* A SimdupElementSink. */
static void
collect(void *arg, const uint64_t *hashes, size_t n)
{
	List *list = arg;

	list->hashes =
		checked(realloc(list->hashes, (list->n + n + 1) * sizeof(uint64_t)));
	memcpy(list->hashes + list->n, hashes, n * sizeof(uint64_t));
	list->n += n;
}

static size_t
naive_winnow(const List *all, size_t window, uint64_t *minima)
{
	size_t n = 0;
	size_t kept = 0;

	if (window > all->n)
		window = all->n;
	for (size_t i = 0; window > 0 && i + window <= all->n; i++)
	{
		minima[n] = all->hashes[i];
		for (size_t j = i; j < i + window; j++)
			if (all->hashes[j] < minima[n])
				minima[n] = all->hashes[j];
		n++;
	}
	qsort(minima, n, sizeof(uint64_t), compare_words);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || minima[i] != minima[kept - 1])
			minima[kept++] = minima[i];
	return kept;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	SimdupShingling shingling = {(SimdupShingleUnit) (take_byte(&in) % 3),
								 (int) take_between(&in, 1, 20)};
	int window = take_byte(&in) & 1
					 ? (int) take_between(&in, 1, 20)
					 : (int) take_between(&in, 1, SIMDUP_MAX_WINNOW_WINDOW);
	size_t len;
	char *text = take_long_text(&in, MAX_TEXT, &len);
	List all = {checked(malloc(sizeof(uint64_t))), 0};
	uint64_t *minima;
	SimdupHashes set = {0};
	size_t n;

	simdup_folded_elements(shingling, text, len, collect, &all);
	minima = checked(malloc((all.n + 1) * sizeof(uint64_t)));
	n = naive_winnow(&all, (size_t) window, minima);
	must(simdup_winnow(shingling, window, text, len, &set));
	must(set.n == n && (n > 0) == (all.n > 0));
	must(n == 0 || memcmp(set.hashes, minima, n * sizeof(uint64_t)) == 0);
	simdup_hashes_free(&set);
	free(minima);
	free(all.hashes);
	free(text);
	return 0;
}

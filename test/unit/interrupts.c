/*
 * interrupts.c
 *	  Long fields, hashes and sorts check for interrupts often enough.
 */
#include "core/compare/passages.h"
#include "core/compare/resemblance.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/tokenizer.h"
#include "host.h"
#include "random.h"
#include "tap.h"

/* Bytes, or elements of a sort, between two checks at most. */
#define BYTES_EACH (1 << 18)

static void
was_checked(size_t before, size_t n, const char *what)
{
	size_t n_checks = host_n_checks - before;

	ok(n_checks >= n / BYTES_EACH, "%s: %zu checks", what, n_checks);
}

int
main(void)
{
	static const char *const hashes[] = {"city64", "murmur3", "bkdr", "java"};
	size_t n = 8 << 20;
	char *text = malloc(n);
	char *out = malloc(n * SIMDUP_MAX_UTF8 + 1);
	SimdupTerm *terms = malloc(n * sizeof(SimdupTerm));
	SimdupHashes list = {0};
	SimdupUtf8 texts[2];
	SimdupPassage *passages;
	uint64_t state = 1;
	size_t before = host_n_checks;
	size_t n_passages;
	size_t which;

	for (size_t i = 0; i < n; i++)
		text[i] = i % 8 == 0 ? ' ' : (char) ('a' + next_random_of(&state) % 26);
	(void) simdup_lower_field(text, n, out);
	was_checked(before, n, "a field in lower case");
	for (int hash = 0; hash < 4; hash++)
	{
		before = host_n_checks;
		(void) simdup_hash64((SimdupHash) hash, text, n);
		was_checked(before, n, hashes[hash]);
	}
	for (size_t i = 0; i < n; i++)
	{
		uint64_t x = next_random_of(&state);

		(void) simdup_hashes_add(&list, x);
		terms[i] = (SimdupTerm){x, 1};
	}
	before = host_n_checks;
	simdup_hashes_sort(&list);
	was_checked(before, 4 * n, "a sort of hashes, in four passes");
	before = host_n_checks;
	simdup_terms_sort(terms, n);
	was_checked(before, n, "a sort of terms");
	ok(terms[0].hash == list.hashes[0] &&
		   terms[n - 1].hash == list.hashes[n - 1],
	   "in the same order");

	/* all but the sort of the common keys, and with it */
	texts[0] = texts[1] = (SimdupUtf8){text, n / 8};
	before = host_n_checks;
	passages = simdup_own_passages(texts[0], texts[1], &n_passages);
	n = host_n_checks - before;
	free(passages);
	before = host_n_checks;
	passages = simdup_common_passages(texts, 2, 1, &which, &n_passages);
	ok(host_n_checks - before > n && n_passages == 1, "common passages");
	free(passages);
	simdup_hashes_free(&list);
	free(terms);
	free(out);
	free(text);
	return done_testing();
}

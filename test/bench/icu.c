/*
 * icu.c
 *	  Fingerprints of ICU's words against ICU's own break iteration, over the
 *	  texts in a file, one a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "core/fingerprint/simhash.h"
#include "text/icu.h"

#define RUNS 5
#define TURN 64

typedef struct Text
{
	char *bytes;
	size_t len;
} Text;

static void __attribute__((noreturn)) fail(const char *reason)
{
	fprintf(stderr, "%s\n", reason != NULL ? reason : "out of memory");
	exit(1);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static uint64_t
fingerprint(SimdupTokenizer tokenizer, const Text *text)
{
	SimdupTokenCounts features;
	SimdupSum sum;

	simdup_sum_init(&sum);
	simdup_token_counts_begin(&features, SIMDUP_HASH_CITY64,
							  SIMDUP_WEIGHTING_LOG, &sum, text->bytes,
							  text->len);
	simdup_tokenize(tokenizer, text->bytes, text->len, simdup_token_counts_add,
					&features);
	simdup_token_counts_free(&features);
	return simdup_counters_signs(simdup_sum_finish(&sum), false);
}

/* Take all fingerprints of some texts. */
static uint64_t
run_simdup(const Text *texts, size_t n)
{
	SimdupTokenizer tokenizer = {.kind = SIMDUP_TOKENIZER_SEGMENTS};
	uint64_t all = 0;

	tokenizer.breaker =
		(SimdupBreaker){simdup_icu_find, simdup_icu_open("root", fail)};
	for (size_t i = 0; i < n; i++)
		all ^= fingerprint(tokenizer, &texts[i]);
	return all;
}

/* Find all breaks of some texts, and nothing else. */
static uint64_t
run_icu(const Text *texts, size_t n)
{
	static UBreakIterator *words = NULL;
	static UText *utf8 = NULL;
	UErrorCode status = U_ZERO_ERROR;
	uint64_t all = 0;

	if (!words)
		words = ubrk_open(UBRK_WORD, "root", NULL, 0, &status);
	for (size_t i = 0; i < n; i++)
	{
		int32_t at;

		utf8 = utext_openUTF8(utf8, texts[i].bytes, (int64_t) texts[i].len,
							  &status);
		ubrk_setUText(words, utf8, &status);
		while ((at = ubrk_next(words)) != UBRK_DONE)
			all ^= (uint64_t) at;
	}
	if (U_FAILURE(status))
		fail(u_errorName(status));
	return all;
}

/* Milliseconds of processor time. */
static double
measure(uint64_t (*run)(const Text *, size_t), const Text *texts, size_t n)
{
	volatile uint64_t result;
	double start = now();

	result = run(texts, n);
	(void) result;
	return (now() - start) * 1e3;
}

static size_t
read_texts(const char *path, Text **texts)
{
	FILE *file = fopen(path, "r");
	size_t n = 0;
	size_t room = 0;

	if (!file)
		fail(path);
	*texts = NULL;
	for (;; n++)
	{
		ssize_t len;

		if (n == room)
		{
			room = 2 * room + 1024;
			*texts = realloc(*texts, room * sizeof(Text));
		}
		(*texts)[n] = (Text){NULL, 0};
		len = getline(&(*texts)[n].bytes, &(*texts)[n].len, file);
		if (len < 0)
			break;
		(*texts)[n].len = (size_t) len;
	}
	fclose(file);
	return n;
}

/*
 * Prints pairs of milliseconds: fingerprints, ICU's iteration. They take turns
 * every few texts, so that what else the machine does meets both.
 */
int
main(int argc, char **argv)
{
	Text *texts;
	size_t n = read_texts(argv[argc - 1], &texts);

	for (int run = 0; run <= RUNS; run++)
	{
		double ours = 0;
		double icu = 0;

		for (size_t i = 0; i < n; i += TURN)
		{
			size_t turn = n - i < TURN ? n - i : TURN;

			ours += measure(run_simdup, texts + i, turn);
			icu += measure(run_icu, texts + i, turn);
		}
		if (run > 0)
			printf("%.3f %.3f\n", ours, icu);
	}
	return 0;
}

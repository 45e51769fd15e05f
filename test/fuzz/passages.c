/*
 * passages.c
 *	  Own, common and kept passages of any texts lie in the text, in order and
 *	  apart. A text has nothing of its own beside itself.
 */
#include "core/compare/passages.h"
#include "core/host.h"
#include "input.h"

#define MAX_TEXT 4000

static void
check_passages(SimdupUtf8 text, SimdupPassage *passages, size_t n)
{
	size_t last = 0;

	must(passages != NULL);
	for (size_t i = 0; i < n; i++)
	{
		must(passages[i].from >= last && passages[i].to > passages[i].from);
		must(i == 0 || passages[i].from > last);
		last = passages[i].to;
	}
	must(last <= text.len);
	simdup_free(passages);
}

/* What is left without a passage is of the text; without itself, no word is. */
static void
check_boilerplate(SimdupUtf8 text, SimdupUtf8 passage)
{
	SimdupBoilerplate boilerplate = {0};
	SimdupPassage *left;
	size_t n;

	must(simdup_add_boilerplate(&boilerplate, passage));
	left = simdup_without_boilerplate(text, &boilerplate, &n);
	if (text.len > 0)
		check_passages(text, left, n);
	else
		simdup_free(left);
	must(simdup_add_boilerplate(&boilerplate, text));
	left = simdup_without_boilerplate(text, &boilerplate, &n);
	must(n == 0 || (n == 1 && left[0].from == 0 && left[0].to == text.len));
	simdup_free(left);
	simdup_wordset_free(&boilerplate.runs);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	double share = (1 + take_byte(&in) % 100) / 100.0;
	size_t first = take_between(&in, 0, MAX_TEXT);
	SimdupUtf8 texts[3];
	char *copies[2];
	size_t which;
	size_t n;

	copies[0] = take_text(&in, first, &texts[0].len);
	copies[1] = take_long_text(&in, MAX_TEXT, &texts[1].len);
	for (int i = 0; i < 2; i++)
		texts[i].bytes = copies[i];
	texts[2] = texts[0];
	for (int i = 0; i < 2; i++)
	{
		SimdupPassage *own = simdup_own_passages(texts[i], texts[1 - i], &n);

		check_passages(texts[i], own, n);
		own = simdup_own_passages(texts[i], texts[i], &n);
		must(n == 0);
		check_passages(texts[i], own, n);
		own = simdup_common_passages(texts + i, 2, share, &which, &n);
		check_passages(texts[i + which], own, n);
		check_boilerplate(texts[i], texts[1 - i]);
	}

	for (int i = 0; i < 2; i++)
		free(copies[i]);
	return 0;
}

/*
 * shingle.c
 *	  Shingles of any text as strings and as hashes, against windows of its
 *	  naive characters and words. Also sorting and comparing sets of hashes that
 *	  the input chooses, so that they may agree in any bits.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/shingle.h"
#include "naive.h"
#include "random.h"

#define MAX_HASHES 4000
#define SLIDE_BASE UINT64_C(0x9e3779b97f4a7c15)

/* Sort and drop repetitions, by the C library. */
static size_t
naive_unique(uint64_t *hashes, size_t n)
{
	size_t kept = 0;

	qsort(hashes, n, sizeof(uint64_t), compare_words);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || hashes[i] != hashes[kept - 1])
			hashes[kept++] = hashes[i];
	return kept;
}

/* The units of a text as strings. */
static Strings
naive_units(SimdupShingleUnit unit, const char *text, size_t len)
{
	Strings units = {0};
	size_t n;
	NaiveChar *chars = naive_chars(text, len, &n);

	for (size_t i = 0; i < n && unit != SIMDUP_SHINGLE_WORD; i++)
	{
		if (unit == SIMDUP_SHINGLE_CHAR &&
			chars[i].char_class != SIMDUP_CHAR_SEPARATOR)
			add_folded(&units, chars, i, i + 1);
		if (unit == SIMDUP_SHINGLE_RAW && chars[i].cp != SIMDUP_INVALID_CHAR &&
			!naive_is_white(chars[i].cp))
			add_string(&units, text + chars[i].at, (size_t) chars[i].len);
	}
	if (unit == SIMDUP_SHINGLE_WORD)
		naive_words(chars, n, &units);
	free(chars);
	return units;
}

/* The hash of a unit, which is frozen. */
static uint64_t
unit_hash(SimdupShingleUnit unit, const char *bytes, size_t len)
{
	uint64_t x;

	if (unit == SIMDUP_SHINGLE_WORD)
		return simdup_city64(bytes, len);
	x = (naive_char(bytes, 0, len).cp + UINT64_C(1)) *
		UINT64_C(0xff51afd7ed558ccd);
	return x ^ x >> 32;
}

/* The hashes of all windows, each from its polynomial. To be freed. */
static uint64_t *
naive_hashes(SimdupShingleUnit unit, uint64_t w, const Strings *units,
			 size_t *n)
{
	uint64_t *unit_hashes = checked(malloc((units->n + 1) * sizeof(uint64_t)));
	uint64_t *hashes = checked(malloc((units->n + 1) * sizeof(uint64_t)));
	size_t at = 0;
	const char *bytes;
	size_t len;

	for (size_t i = 0; next_string(units, &at, &bytes, &len); i++)
		unit_hashes[i] = unit_hash(unit, bytes, len);
	w = w < units->n ? w : units->n;
	*n = 0;
	for (size_t i = 0; i + w <= units->n && w > 0; i++)
	{
		uint64_t hash = 0;

		for (size_t j = i; j < i + w; j++)
			hash = hash * SLIDE_BASE + unit_hashes[j];
		hashes[(*n)++] = simdup_mix64(hash);
	}
	*n = naive_unique(hashes, *n);
	free(unit_hashes);
	return hashes;
}

static void
collect(void *arg, const SimdupToken *shingles, int n)
{
	for (int i = 0; i < n; i++)
		add_string(arg, shingles[i].bytes, shingles[i].len);
}

static void
check_text(Input *in)
{
	SimdupShingleUnit unit = (SimdupShingleUnit) (take_byte(in) % 3);
	uint64_t wide = take_byte(in);
	int w = wide < 0xf8 ? (int) wide % 20 + 1 : INT32_MAX;
	size_t len;
	char *text = take_long_text(in, 8000, &len);
	Strings units = naive_units(unit, text, len);
	Strings got = {0};
	Strings expected = {0};
	SimdupHashes list = {0};
	size_t n;
	uint64_t *hashes = naive_hashes(unit, (uint64_t) w, &units, &n);

	simdup_shingle_strings((SimdupShingling){unit, w}, text, len, collect,
						   &got);
	naive_windows(&units, (uint64_t) w, unit == SIMDUP_SHINGLE_WORD ? " " : "",
				  &expected);
	must(same_strings(&got, &expected));

	must(simdup_shingle_hashes((SimdupShingling){unit, w}, text, len, &list));
	must(list.n == got.n);
	simdup_hashes_unique(&list);
	must(list.n == n);
	must(n == 0 || memcmp(list.hashes, hashes, n * sizeof(uint64_t)) == 0);

	simdup_hashes_free(&list);
	free(hashes);
	free(units.bytes);
	free(got.bytes);
	free(expected.bytes);
	free(text);
}

/* Runs of words that agree in the bits outside a mask. */
static size_t
take_hashes(Input *in, uint64_t *hashes)
{
	size_t n = 0;

	for (int runs = (int) take_between(in, 0, 6); runs > 0; runs--)
	{
		uint64_t base = take_word(in);
		uint64_t mask = take_word(in);
		uint64_t state = take_byte(in);
		uint64_t count = take_between(in, 0, 1000);

		for (uint64_t i = 0; i < count && n < MAX_HASHES; i++)
			hashes[n++] = base ^ (next_random_of(&state) & mask);
	}
	return n;
}

static size_t
make_set(Input *in, uint64_t *hashes, SimdupHashes *list)
{
	size_t n = take_hashes(in, hashes);

	for (size_t i = 0; i < n; i++)
		must(simdup_hashes_add(list, hashes[i]));
	must(list->n == n);
	simdup_hashes_unique(list);
	n = naive_unique(hashes, n);
	must(list->n == n &&
		 (n == 0 || memcmp(list->hashes, hashes, n * sizeof(uint64_t)) == 0));
	return n;
}

static void
check_sets(Input *in)
{
	static uint64_t hashes[2][MAX_HASHES];
	SimdupHashes lists[2] = {{0}, {0}};
	size_t n[2];
	size_t common = 0;
	double threshold = take_byte(in) / 255.0;
	double resemblance;

	for (int i = 0; i < 2; i++)
		n[i] = make_set(in, hashes[i], &lists[i]);
	for (size_t i = 0; i < n[0]; i++)
		common += bsearch(&hashes[0][i], hashes[1], n[1], sizeof(uint64_t),
						  compare_words) != NULL;
	must(simdup_hashes_common(&lists[0], &lists[1]) == common);
	resemblance = n[0] == 0 || n[1] == 0
					  ? -1
					  : (double) common / (double) (n[0] + n[1] - common);
	/* at the coefficient itself, and a step above */
	must(simdup_resemblance_from(&lists[0], &lists[1], resemblance) ==
		 resemblance);
	must(simdup_resemblance_from(&lists[0], &lists[1],
								 nextafter(resemblance, 2)) == -1);
	must(simdup_resemblance_from(&lists[0], &lists[1], threshold) ==
		 (resemblance >= threshold ? resemblance : -1));
	for (int i = 0; i < 2; i++)
		simdup_hashes_free(&lists[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);

	if (take_byte(&in) % 4 == 3)
		check_sets(&in);
	else
		check_text(&in);
	return 0;
}

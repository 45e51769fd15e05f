/*
 * winnow.c
 *	  Winnowing: 10,000 pairs of texts in four scripts with a shared passage.
 */
#include "core/compare/resemblance.h"
#include "core/fingerprint/shingle.h"
#include "core/unicode/charclass.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 1;

static uint64_t
below(uint64_t n)
{
	return next_random_of(&state) % n;
}

/* The first and last letter of a script, and whether it has words. */
static const struct
{
	const char *name;
	uint32_t first;
	uint32_t last;
	bool words;
} scripts[] = {{"Latin", 'a', 'z', true},
			   {"Arabic", 0x0627, 0x063A, true},
			   {"Chinese", 0x4E00, 0x9FA5, false},
			   {"Thai", 0x0E01, 0x0E2E, false}};

/* Append n units: words behind blanks, or characters. */
static char *
append_units(char *p, int script, int n)
{
	static const char *const gaps[] = {" ", " ", ", ", ".\n"};
	uint32_t letters = scripts[script].last - scripts[script].first + 1;

	for (int i = 0; i < n; i++)
	{
		int len = scripts[script].words ? 1 + (int) below(8) : 1;

		if (scripts[script].words)
			p = stpcpy(p, gaps[below(4)]);
		for (int j = 0; j < len; j++)
			p += simdup_utf8_encode(scripts[script].first +
										(uint32_t) below(letters),
									(unsigned char *) p);
	}
	*p = '\0';
	return p;
}

static bool
share_element(const SimdupHashes *a, const SimdupHashes *b)
{
	return simdup_hashes_common(a, b) > 0;
}

/* A passage of n units in two texts that have nothing else in common. */
static bool
passage_is_found(int script, SimdupShingleUnit unit, int w, int window, int n)
{
	static char texts[2][100000];
	static char passage[50000];
	SimdupShingling shingling = {unit, w};
	SimdupHashes sets[2] = {{0}, {0}};
	bool found;

	append_units(passage, script, n);
	for (int i = 0; i < 2; i++)
	{
		char *p = append_units(texts[i], script, (int) below(60));

		p = stpcpy(p, passage);
		if (scripts[script].words)
			p = stpcpy(p, " ");
		append_units(p, script, (int) below(60));
		if (!simdup_winnow(shingling, window, texts[i], strlen(texts[i]),
						   &sets[i]))
			abort();
	}
	found = share_element(&sets[0], &sets[1]);
	for (int i = 0; i < 2; i++)
		simdup_hashes_free(&sets[i]);
	return found;
}

static void
test_passages(int script)
{
	int n_found = 0;

	for (int i = 0; i < 2500; i++)
	{
		int w = 1 + (int) below(12);
		int window = 1 + (int) below(20);
		bool words = scripts[script].words;
		/* as many units as are promised; a bigram is a unit of one more */
		int n = w + window - 1 + (words ? 0 : 1);

		/* of characters, what stands in words has at least as many */
		n_found += passage_is_found(script,
									below(2) ? SIMDUP_SHINGLE_WORD
											 : SIMDUP_SHINGLE_CHAR,
									w, window, n + (int) below(3));
	}
	ok(n_found == 2500, "%s: %d of 2500 shared passages are found",
	   scripts[script].name, n_found);
}

static void
test_short(void)
{
	SimdupShingling shingling = {SIMDUP_SHINGLE_WORD, 8};
	SimdupHashes set = {0};

	simdup_winnow(shingling, 8, "Mend it!", 8, &set);
	ok(set.n == 1, "a text shorter than a shingle has one element");
	simdup_hashes_free(&set);
	simdup_winnow(shingling, 8, "***", 3, &set);
	ok(set.n == 0, "a text without a unit has none");
	simdup_hashes_free(&set);
}

/* One element in (window + 1) / 2 shingles, of random ones. */
static void
test_density(void)
{
	SimdupShingling shingling = {SIMDUP_SHINGLE_CHAR, 8};
	static char text[400000];
	SimdupHashes set = {0};
	double share;

	append_units(text, 2, 100000);
	simdup_winnow(shingling, 9, text, strlen(text), &set);
	share = (double) set.n / (100000 - 7);
	ok(share > 0.19 && share < 0.21, "one shingle in %.2f is kept", 1 / share);
	simdup_hashes_free(&set);
}

int
main(void)
{
	for (int script = 0; script < 4; script++)
		test_passages(script);
	test_short();
	test_density();
	return done_testing();
}

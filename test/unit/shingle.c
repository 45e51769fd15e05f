/*
 * shingle.c
 *	  Shingles: hashes against strings, sets against their definition.
 */
#include "core/compare/resemblance.h"
#include "core/fingerprint/shingle.h"
#include "host.h"
#include "random.h"
#include "tap.h"

static uint64_t state = 1;

static uint64_t
next_random(void)
{
	return next_random_of(&state);
}

/* The distinct strings of a text, in order of first occurrence. */
typedef struct Strings
{
	char **strings;
	size_t n;
	size_t total; /* with repetitions */
} Strings;

static bool
contains(const Strings *set, const char *string)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->strings[i], string) == 0)
			return true;
	return false;
}

static void
add_string(Strings *set, const char *bytes, size_t len)
{
	char *string = malloc(len + 1);

	memcpy(string, bytes, len);
	string[len] = '\0';
	set->total++;
	if (contains(set, string))
	{
		free(string);
		return;
	}
	set->strings = realloc(set->strings, (set->n + 1) * sizeof(char *));
	set->strings[set->n++] = string;
}

/* Add shingles: a SimdupTokenSink. */
static void
add_strings(void *arg, const SimdupToken *shingles, int n)
{
	for (int i = 0; i < n; i++)
		add_string(arg, shingles[i].bytes, shingles[i].len);
}

static Strings
strings_of(SimdupShingleUnit unit, int w, const char *text)
{
	Strings set = {0};

	simdup_shingle_strings((SimdupShingling){unit, w}, text, strlen(text),
						   add_strings, &set);
	return set;
}

static void
free_strings(Strings *set)
{
	for (size_t i = 0; i < set->n; i++)
		free(set->strings[i]);
	free(set->strings);
}

/* Expected shingles, separated by '|'. */
static void
test_strings(SimdupShingleUnit unit, int w, const char *text,
			 const char *expected)
{
	Strings set = strings_of(unit, w, text);
	char joined[1000] = "";

	for (size_t i = 0; i < set.n; i++)
	{
		strcat(joined, i ? "|" : "");
		strcat(joined, set.strings[i]);
	}
	if (!ok(strcmp(joined, expected) == 0, "unit %d, w %d: %.30s", unit, w,
			text))
		printf("# got %s\n", joined);
	free_strings(&set);
}

/* A text of a few syllables, so that it repeats itself. */
static void
make_text(char *text, int n)
{
	static const char *const syllables[] = {"a",	  "B ", "rose", " is ",
											"中",	  "国", "人。", "Ａ",
											"\u3000", "é",	"\n",	"\377"};

	*text = '\0';
	for (int i = 0; i < n; i++)
		text = stpcpy(text, syllables[next_random() % 12]);
}

/* Hashes tell apart what strings tell apart, within a text and between two. */
static void
test_random(SimdupShingleUnit unit)
{
	char a[1000];
	char b[1000];
	bool equal = true;

	for (int i = 0; i < 300; i++)
	{
		int w = 1 + (int) (next_random() % 9);
		SimdupHashes hashes_a = {0};
		SimdupHashes hashes_b = {0};
		Strings set_a;
		Strings set_b;
		size_t common = 0;

		make_text(a, (int) (next_random() % 100));
		make_text(b, (int) (next_random() % 100));
		set_a = strings_of(unit, w, a);
		set_b = strings_of(unit, w, b);
		equal = equal && simdup_shingle_hashes((SimdupShingling){unit, w}, a,
											   strlen(a), &hashes_a);
		equal = equal && hashes_a.n == set_a.total;
		equal = equal && simdup_shingle_hashes((SimdupShingling){unit, w}, b,
											   strlen(b), &hashes_b);
		simdup_hashes_unique(&hashes_a);
		simdup_hashes_unique(&hashes_b);
		for (size_t j = 0; j < set_a.n; j++)
			common += contains(&set_b, set_a.strings[j]);
		equal = equal && hashes_a.n == set_a.n && hashes_b.n == set_b.n &&
				common == simdup_hashes_common(&hashes_a, &hashes_b);
		free_strings(&set_a);
		free_strings(&set_b);
		simdup_hashes_free(&hashes_a);
		simdup_hashes_free(&hashes_b);
	}
	ok(equal, "unit %d: hashes tell apart what strings tell apart", unit);
}

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Any numbers are sorted, random or not. */
static void
test_unique(const char *name, size_t n, uint64_t mask)
{
	SimdupHashes list = {malloc(n * sizeof(uint64_t)), n, n};
	uint64_t *expected = malloc(n * sizeof(uint64_t));
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		list.hashes[i] = expected[i] = next_random() & mask;
	qsort(expected, n, sizeof(uint64_t), compare_hashes);
	for (size_t i = 0; i < n; i++)
		if (m == 0 || expected[i] != expected[m - 1])
			expected[m++] = expected[i];
	simdup_hashes_unique(&list);
	ok(list.n == m && memcmp(list.hashes, expected, m * sizeof(uint64_t)) == 0,
	   "%zu %s", n, name);
	free(expected);
	simdup_hashes_free(&list);
}

/* A long text is dropped to its shingles on the way. */
static void
test_long_text(void)
{
	size_t len = 3000000;
	char *text = malloc(len);
	SimdupHashes list = {0};

	for (size_t i = 0; i < len; i++)
		text[i] = (char) ('a' + i % 10);
	ok(simdup_shingle_hashes((SimdupShingling){SIMDUP_SHINGLE_CHAR, 5}, text,
							 len, &list) &&
		   list.size <= 1 << 16,
	   "a long text that repeats itself takes little room");
	simdup_hashes_unique(&list);
	ok(list.n == 10, "and has its shingles");
	for (size_t i = 0; i < len; i++)
		text[i] = (char) ('a' + next_random() % 26);
	ok(simdup_shingle_hashes((SimdupShingling){SIMDUP_SHINGLE_CHAR, 30}, text,
							 len, &list),
	   "a long random text");
	simdup_hashes_unique(&list);
	ok(list.n == len - 29, "has a shingle at each character");
	simdup_hashes_free(&list);
	free(text);
}

/* Tokens since the last check for interrupts, and the most of them so far. */
typedef struct Unchecked
{
	size_t n_checks;
	size_t n;
	size_t most;
} Unchecked;

/* A SimdupTokenSink. */
static void
count_unchecked(void *arg, const SimdupToken *tokens, int count)
{
	Unchecked *unchecked = arg;

	(void) tokens;
	if (unchecked->n_checks != host_n_checks)
		unchecked->n = 0;
	unchecked->n_checks = host_n_checks;
	unchecked->n += (size_t) count;
	if (unchecked->n > unchecked->most)
		unchecked->most = unchecked->n;
}

/* A wide shingle takes long, so few of them may come without a check. */
static void
test_interrupts(SimdupShingleUnit unit)
{
	static char text[40000];
	Unchecked unchecked = {0};

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 == 0 ? 'a' : ' ';
	simdup_shingle_strings((SimdupShingling){unit, 10000}, text, sizeof(text),
						   count_unchecked, &unchecked);
	ok(unchecked.most > 0 && unchecked.most <= SIMDUP_BATCH_TOKENS,
	   "wide shingles can be interrupted");
}

int
main(void)
{
	static const size_t sizes[] = {1, 2, 24, 25, 1000, 5000, 200000};

	test_strings(SIMDUP_SHINGLE_WORD, 4, "a rose is a rose is a rose",
				 "a rose is a|rose is a rose|is a rose is");
	test_strings(SIMDUP_SHINGLE_WORD, 9, "A rose, is?", "a rose is");
	test_strings(SIMDUP_SHINGLE_CHAR, 3, "A市A3区！", "a市a|市a3|a3区");
	test_strings(SIMDUP_SHINGLE_CHAR, 3, "Ａ市", "a市");
	test_strings(SIMDUP_SHINGLE_RAW, 3, "Ａ市 A3\u3000区！",
				 "Ａ市A|市A3|A3区|3区！");
	test_strings(SIMDUP_SHINGLE_RAW, 1, "ab\302\240 \377a", "a|b");
	test_strings(SIMDUP_SHINGLE_RAW, INT32_MAX, " a\tb\n", "ab");
	test_strings(SIMDUP_SHINGLE_CHAR, INT32_MAX, "a-b", "ab");
	test_strings(SIMDUP_SHINGLE_WORD, INT32_MAX, "a-b", "a b");
	for (int unit = SIMDUP_SHINGLE_CHAR; unit <= SIMDUP_SHINGLE_RAW; unit++)
	{
		test_strings((SimdupShingleUnit) unit, 1, "", "");
		test_strings((SimdupShingleUnit) unit, 1, " \n", "");
		test_random((SimdupShingleUnit) unit);
		test_interrupts((SimdupShingleUnit) unit);
	}

	for (int i = 0; i < 7; i++)
	{
		test_unique("random hashes", sizes[i], ~UINT64_C(0));
		test_unique("hashes that agree in the high bits", sizes[i], 0xfff);
		test_unique("hashes that agree in the low bits", sizes[i],
					UINT64_C(0xfff) << 52);
		test_unique("equal hashes", sizes[i], 0);
	}
	test_long_text();
	return done_testing();
}

/*
 * diff.c
 *	  Differences of two texts: known ones, every byte accounted for, bounds.
 */
#include <time.h>

#include "core/compare/passages.h"
#include "random.h"
#include "tap.h"

/* Every byte of both is in one part; equal parts are equal and take turns. */
static bool
is_sound(const SimdupDiff *diff, const char *a, size_t a_len, const char *b,
		 size_t b_len)
{
	size_t x = 0;
	size_t y = 0;

	for (size_t i = 0; i < diff->n; i++)
	{
		const SimdupDiffPart *part = &diff->parts[i];

		if (part->a_start != x || part->b_start != y)
			return false;
		if (part->a_len + part->b_len == 0)
			return false;
		if (i > 0 && part->same == diff->parts[i - 1].same)
			return false;
		if (part->same && (part->a_len != part->b_len ||
						   memcmp(a + x, b + y, part->a_len) != 0))
			return false;
		x += part->a_len;
		y += part->b_len;
	}
	return x == a_len && y == b_len;
}

/* Bytes in different parts of both texts. */
static size_t
changed(const SimdupDiff *diff)
{
	size_t sum = 0;

	for (size_t i = 0; i < diff->n; i++)
		if (!diff->parts[i].same)
			sum += diff->parts[i].a_len + diff->parts[i].b_len;
	return sum;
}

/* As "equal[-gone-]{+come+}". */
static void
is_diff(const char *a, const char *b, const char *expected)
{
	SimdupDiff diff = simdup_diff(a, strlen(a), b, strlen(b));
	char got[1000] = "";
	char *p = got;

	for (size_t i = 0; i < diff.n; i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];

		if (part->same)
			p += sprintf(p, "%.*s", (int) part->a_len, a + part->a_start);
		if (!part->same && part->a_len > 0)
			p += sprintf(p, "[-%.*s-]", (int) part->a_len, a + part->a_start);
		if (!part->same && part->b_len > 0)
			p += sprintf(p, "{+%.*s+}", (int) part->b_len, b + part->b_start);
	}
	if (!ok(strcmp(got, expected) == 0, "%s", expected))
		printf("# got %s\n", got);
	ok(is_sound(&diff, a, strlen(a), b, strlen(b)), "and it is sound");
	simdup_diff_free(&diff);
}

/* Random texts of few words, so that they have much in common. */
static void
test_random(void)
{
	static const char *const words[] = {"a",  "b", " ",	 ".",	"cc",
										"\n", "d", "路", "\xff"};
	uint64_t state = 7;
	int n_sound = 0;

	for (int i = 0; i < 2000; i++)
	{
		char text[2][200];

		for (int t = 0; t < 2; t++)
		{
			size_t n = next_random_of(&state) % 30;

			text[t][0] = '\0';
			for (size_t w = 0; w < n; w++)
				strcat(text[t], words[next_random_of(&state) % 9]);
		}
		SimdupDiff diff =
			simdup_diff(text[0], strlen(text[0]), text[1], strlen(text[1]));

		n_sound +=
			is_sound(&diff, text[0], strlen(text[0]), text[1], strlen(text[1]));
		simdup_diff_free(&diff);
	}
	ok(n_sound == 2000, "2000 random pairs of texts are sound: %d", n_sound);
}

/* Return a text of len bytes, with random words of a length or only one letter. */
static char *
long_text(size_t len, uint64_t seed, int n_letters)
{
	char *text = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		text[i] =
			i % 6 == 5
				? ' '
				: (char) ('a' + next_random_of(&seed) % (uint64_t) n_letters);
	text[len] = '\0';
	return text;
}

static void
test_long(const char *name, const char *a, const char *b, size_t most)
{
	size_t len = strlen(a);
	clock_t start = clock();
	SimdupDiff diff = simdup_diff(a, len, b, len);
	double took = (double) (clock() - start) / CLOCKS_PER_SEC;

	ok(is_sound(&diff, a, len, b, len), "%s: sound", name);
	ok(changed(&diff) <= most, "%s: %zu bytes differ", name, changed(&diff));
	ok(took < 20, "%s: took %.2f s", name, took);
	simdup_diff_free(&diff);
}

static void
test_bounds(void)
{
	const size_t len = 1 << 20;
	char *a = long_text(len, 1, 26);
	char *b = long_text(len, 1, 26);
	char *other = long_text(len, 2, 26);
	char *same = long_text(len, 3, 1);
	char *shifted = long_text(len, 3, 1);

	test_long("equal texts", a, b, 0);
	for (size_t i = 1; i <= 50; i++)
		b[i * 20000] = '#';
	test_long("50 letters changed", a, b, 50 * 13);
	test_long("nothing in common", a, other, 2 * len);
	for (size_t i = 0; i < len; i += 9)
		shifted[i] = ' ';
	test_long("repetitive", same, shifted, 2 * len);
	free(a);
	free(b);
	free(other);
	free(same);
	free(shifted);
}

int
main(void)
{
	is_diff("", "", "");
	is_diff("one", "", "[-one-]");
	is_diff("", "one", "{+one+}");
	is_diff("the lamp is out", "the lamp is out", "the lamp is out");
	is_diff("the lamp is out.", "the lamps are out!",
			"the [-lamp is-]{+lamps are+} out[-.-]{+!+}");
	is_diff("one two three", "one three", "one [-two -]three");
	is_diff("道路有坑请修", "道路有大坑请修", "道路有{+大+}坑请修");
	is_diff("a  b", "a b", "a [- -]b");
	is_diff("caf\xc3\xa9", "cafe", "[-caf\xc3\xa9-]{+cafe+}");
	is_diff("a\xff z", "a\xfe z", "a[-\xff-]{+\xfe+} z");
	test_random();
	test_bounds();
	return done_testing();
}

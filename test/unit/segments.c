/*
 * segments.c
 *	  Tokens that are made of a breaker's segments, window by window.
 */
#include "core/fingerprint/tokenizer.h"
#include "tap.h"

#define TEXT_BYTES 300000

/* What the toy breaker has seen. */
typedef struct Toy
{
	int windows;
	const char *start; /* of the last window */
	const char *end;   /* of what was broken so far */
	bool gaps;		   /* a window left bytes out, or none was new */
	bool in_character; /* a window began inside one */
	bool too_long;
} Toy;

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* Runs of letters and of bytes that are not ASCII; other bytes alone. */
static int
find_toy(void *arg, const char *text, size_t len, uint32_t *breaks)
{
	Toy *toy = arg;
	int count = 0;
	size_t at = 0;

	toy->gaps |= text > toy->end || text + len <= toy->end ||
				 (toy->windows > 0 && text == toy->start);
	toy->start = text;
	toy->end = text + len;
	toy->windows++;
	toy->in_character |= (text[0] & 0xC0) == 0x80;
	toy->too_long |= len > SIMDUP_BREAK_WINDOW;
	while (at < len)
	{
		char first = text[at++];

		while (is_letter(first) && at < len && is_letter(text[at]))
			at++;
		breaks[count++] = (uint32_t) at;
	}
	return count;
}

static char joined[2 * TEXT_BYTES + 1];
static size_t n_joined;

/* Write tokens with a bar after each. */
static void
join(void *arg, const SimdupToken *tokens, int count)
{
	(void) arg;
	for (int i = 0; i < count; i++)
	{
		memcpy(joined + n_joined, tokens[i].bytes, tokens[i].len);
		n_joined += tokens[i].len;
		joined[n_joined++] = '|';
	}
}

/*
 * Tokenize a text; no byte beyond it may be read. Check that the tokens are these and
 * that the breaker has seen the whole text, in windows of the size agreed.
 */
static Toy
tokens_are(const char *text, size_t len, const char *expected, const char *name)
{
	char *exact = malloc(len + 1);
	Toy toy = {0};
	SimdupTokenizer tokenizer = {.kind = SIMDUP_TOKENIZER_SEGMENTS,
								 .breaker = {find_toy, &toy}};

	exact = realloc(memcpy(exact, text, len), len ? len : 1);
	toy.end = exact;
	n_joined = 0;
	simdup_tokenize(tokenizer, exact, len, join, NULL);
	joined[n_joined] = '\0';
	if (!ok(strcmp(joined, expected) == 0, "tokens of %s", name))
		printf("# got %.200s\n", joined);
	ok(!toy.gaps && !toy.too_long && toy.end == exact + len,
	   "windows of %s are the text", name);
	free(exact);
	return toy;
}

/* Words and blanks over many windows come as they would in one. */
static void
check_windows(void)
{
	char *text = malloc(TEXT_BYTES + 64);
	char *expected = malloc(2 * TEXT_BYTES);
	size_t len = 0;
	size_t n_expected = 0;
	Toy toy;

	for (int i = 0; len < TEXT_BYTES; i++)
	{
		int letters = 1 + i * 7919 % 23;

		for (int k = 0; k < letters; k++)
		{
			len += (size_t) sprintf(text + len, "%s", k % 5 == 3 ? "é" : "W");
			n_expected += (size_t) sprintf(expected + n_expected, "%s",
										   k % 5 == 3 ? "é" : "w");
		}
		n_expected += (size_t) sprintf(expected + n_expected, "|");
		for (int k = 0; k <= i % 3; k++)
			text[len++] = ' ';
	}
	toy = tokens_are(text, len, expected, "every word of a long text, whole");
	ok(toy.windows > 8 && !toy.in_character, "windows begin with a character");

	/* nothing to cut at: a token for each window, together all of it */
	memset(text, 'a', TEXT_BYTES);
	n_expected = 0;
	for (size_t i = 0; i < TEXT_BYTES; i++)
	{
		if (i > 0 && i % SIMDUP_BREAK_WINDOW == 0)
			expected[n_expected++] = '|';
		expected[n_expected++] = 'a';
	}
	memcpy(expected + n_expected, "|", 2);
	tokens_are(text, TEXT_BYTES, expected, "a single word of many windows");
	memset(text, ' ', TEXT_BYTES);
	tokens_are(text, TEXT_BYTES, "", "blanks of many windows");
	memset(text, 0x80, TEXT_BYTES);
	tokens_are(text, TEXT_BYTES, "", "bytes that are not UTF-8");
	free(text);
	free(expected);
}

/* Check the tokens of a short text. */
static void
tokens_of(const char *text, const char *expected)
{
	Toy toy = tokens_are(text, strlen(text), expected, text);

	ok(toy.windows == (text[0] != '\0'), "one window");
}

int
main(void)
{
	check_windows();
	tokens_of("one 2 -- 中” @[`{/: tail of text", "one|2|中”|tail|of|text|");
	tokens_of("ab\xFFgh\xC3", "ab|gh|");
	tokens_of("a\xFF,\xFF"
			  "b",
			  "a|b|");
	tokens_of("", "");
	tokens_of("one, TWO  Three... 4", "one|two|three|4|");
	tokens_of("Ａ市 É\xCC\x81 -- 中国 internationalIZATION and so on",
			  "a市|é\xCC\x81|中国|internationalization|and|so|on|");
	tokens_of(" ,;", "");
	return done_testing();
}

/*
 * segments.c
 *	  Segments of a breaker, window by window, and the tokens made of them.
 */
#include "core/fingerprint/tokenizer.h"
#include "tap.h"

#define TEXT_BYTES 300000

/* What the toy breaker has seen. */
typedef struct Toy
{
	int windows;
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

typedef struct Seen
{
	size_t segments;
	size_t words;
	bool gaps;
} Seen;

/* Go through a text; no byte beyond it may be read. */
static Seen
walk(const char *text, size_t len, Toy *toy)
{
	char *exact = malloc(len + 1);
	const char *next;
	SimdupSegments segments;
	SimdupSegment segment;
	Seen seen = {0};

	exact = realloc(memcpy(exact, text, len), len ? len : 1);
	next = exact;
	*toy = (Toy){0};
	simdup_segments_begin(&segments, (SimdupBreaker){find_toy, toy}, exact,
						  len);
	while (simdup_segments_next(&segments, &segment))
	{
		seen.gaps |= segment.bytes != next || segment.len == 0;
		next += segment.len;
		seen.segments++;
		seen.words += segment.is_word;
	}
	seen.gaps |= next != exact + len;
	simdup_segments_free(&segments);
	free(exact);
	return seen;
}

/* Words and blanks over many windows come as they would in one. */
static void
check_windows(void)
{
	char *text = malloc(TEXT_BYTES + 64);
	size_t len = 0;
	size_t words = 0;
	size_t blanks = 0;
	Toy toy;
	Seen seen;

	for (int i = 0; len < TEXT_BYTES; i++)
	{
		int letters = 1 + i * 7919 % 23;

		for (int k = 0; k < letters; k++)
			len += (size_t) sprintf(text + len, "%s", k % 5 == 3 ? "é" : "W");
		words++;
		for (int k = 0; k <= i % 3; k++, blanks++)
			text[len++] = ' ';
	}
	seen = walk(text, len, &toy);
	ok(seen.words == words && seen.segments == words + blanks,
	   "every word and blank of a long text, whole");
	ok(!seen.gaps, "together they are the text");
	ok(toy.windows > 8 && !toy.in_character && !toy.too_long,
	   "windows are of the size agreed and begin with a character");

	/* nothing to cut at: still all of it */
	memset(text, 'a', TEXT_BYTES);
	seen = walk(text, TEXT_BYTES, &toy);
	ok(!seen.gaps && !toy.too_long, "a single word of many windows");
	memset(text, ' ', TEXT_BYTES);
	seen = walk(text, TEXT_BYTES, &toy);
	ok(!seen.gaps && seen.words == 0 && seen.segments == TEXT_BYTES,
	   "blanks of many windows");
	memset(text, 0x80, TEXT_BYTES);
	seen = walk(text, TEXT_BYTES, &toy);
	ok(!seen.gaps && seen.words == 0, "not UTF-8, for many windows");
	free(text);
}

/* What is a word, a number, neither. */
static void
check_classes(void)
{
	static const char text[] = "one 2 -- 中” @[`{/: tail of text";
	Toy toy;
	Seen seen = walk(text, strlen(text), &toy);

	ok(seen.words == 6 && !seen.gaps,
	   "words, a number, and signs beside the letters and digits of ASCII");
	seen = walk("ab\xFFgh\xC3", 6, &toy);
	ok(seen.segments == 4 && seen.words == 2 && !seen.gaps,
	   "a byte that is not UTF-8 separates");
	seen = walk("", 0, &toy);
	ok(seen.segments == 0 && toy.windows == 0, "nothing");
}

static char joined[1024];

/* Write tokens with a bar after each. */
static void
join(void *arg, const SimdupToken *tokens, int count)
{
	size_t *used = arg;

	for (int i = 0; i < count; i++)
		*used += (size_t) sprintf(joined + *used, "%.*s|", (int) tokens[i].len,
								  tokens[i].bytes);
}

static void
tokens_are(const char *text, const char *expected)
{
	Toy toy = {0};
	size_t used = 0;
	SimdupTokenizer tokenizer = {.kind = SIMDUP_TOKENIZER_SEGMENTS,
								 .breaker = {find_toy, &toy}};

	joined[0] = '\0';
	simdup_tokenize(tokenizer, text, strlen(text), join, &used);
	if (!ok(strcmp(joined, expected) == 0, "tokens of %s", text))
		printf("# got %s\n", joined);
}

int
main(void)
{
	check_windows();
	check_classes();
	tokens_are("one, TWO  Three... 4", "one|two|three|4|");
	tokens_are("Ａ市 É\xCC\x81 -- 中国 internationalIZATION and so on",
			   "a市|é\xCC\x81|中国|internationalization|and|so|on|");
	tokens_are(" ,;", "");
	return done_testing();
}

/*
 * segments.c
 *	  Tokens by any breaker that keeps to its contract. They are the segments with
 *	  a word character, folded, and windows are as agreed.
 */
#include "core/fingerprint/tokenizer.h"
#include "naive.h"

#define MAX_TEXT 100000

/* A breaker that follows the input, and looks at its arguments. */
typedef struct Wild
{
	uint8_t lengths[16]; /* characters of segments, in turn */
	const char *text;	 /* the whole of it */
	size_t len;
} Wild;

static int
find_breaks(void *arg, const char *text, size_t len, uint32_t *breaks)
{
	Wild *wild = arg;
	size_t start = (size_t) (text - wild->text);
	size_t at = 0;
	int count = 0;

	must(len > 0 && len <= SIMDUP_BREAK_WINDOW && start + len <= wild->len);
	while (at < len)
	{
		/* every window breaks the same place the same way */
		int characters = 1 + wild->lengths[(start + at) % 16] % 12;

		while (characters-- > 0 && at < len)
			at += (size_t) naive_char(text, at, len).len;
		breaks[count++] = (uint32_t) at;
	}
	return count;
}

/* Return the tokens that the text should have. Windows make no difference. */
static Strings
expected_tokens(const Wild *wild)
{
	Strings words = {0};
	size_t n;
	NaiveChar *chars = naive_chars(wild->text, wild->len, &n);

	for (size_t i = 0, end; i < n; i = end)
	{
		size_t start = i;
		bool is_word = false;

		end = i + 1 + wild->lengths[chars[i].at % 16] % 12;
		end = end < n ? end : n;
		/* a byte that is not UTF-8 separates */
		for (; i <= end; i++)
		{
			if (i < end && chars[i].cp != SIMDUP_INVALID_CHAR)
			{
				is_word |= chars[i].char_class != SIMDUP_CHAR_SEPARATOR;
				continue;
			}
			if (is_word)
				add_folded(&words, chars, start, i);
			is_word = false;
			start = i + 1;
		}
	}
	free(chars);
	return words;
}

static void
collect(void *arg, const SimdupToken *tokens, int count)
{
	for (int i = 0; i < count; i++)
		add_string(arg, tokens[i].bytes, tokens[i].len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	Wild wild;
	char *text;
	Strings expected;
	Strings got = {0};

	for (int i = 0; i < 16; i++)
		wild.lengths[i] = take_byte(&in);
	wild.text = text = take_long_text(&in, MAX_TEXT, &wild.len);
	expected = expected_tokens(&wild);
	simdup_tokenize((SimdupTokenizer){.kind = SIMDUP_TOKENIZER_SEGMENTS,
									  .breaker = {find_breaks, &wild}},
					text, wild.len, collect, &got);
	must(same_strings(&got, &expected));
	free(expected.bytes);
	free(got.bytes);
	free(text);
	return 0;
}

/*
 * segments.c
 *	  Segments after any breaker that keeps to its contract. Together they are
 *	  the text, their properties are true, and windows are as agreed. The tokens
 *	  are the segments with a word character, folded.
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

static void
check_segment(const SimdupSegment *segment)
{
	size_t n;
	NaiveChar *chars = naive_chars(segment->bytes, segment->len, &n);
	bool is_word = false;
	bool folds = false;

	for (size_t i = 0; i < n; i++)
	{
		must(chars[i].cp != SIMDUP_INVALID_CHAR || n == 1);
		is_word |= chars[i].char_class != SIMDUP_CHAR_SEPARATOR;
		folds |= chars[i].cp != SIMDUP_INVALID_CHAR &&
				 (chars[i].len != chars[i].folded_len ||
				  memcmp(segment->bytes + chars[i].at, chars[i].folded,
						 (size_t) chars[i].len) != 0);
	}
	must(segment->is_word == is_word && segment->folds == folds);
	free(chars);
}

/* Go through the text; the tokens that it should have. */
static Strings
walk(Wild *wild)
{
	const char *next = wild->text;
	Strings words = {0};
	SimdupSegments segments;
	SimdupSegment segment;

	simdup_segments_begin(&segments, (SimdupBreaker){find_breaks, wild},
						  wild->text, wild->len);
	while (simdup_segments_next(&segments, &segment))
	{
		must(segment.bytes == next && segment.len > 0);
		next += segment.len;
		check_segment(&segment);
		if (segment.is_word)
		{
			size_t n;
			NaiveChar *chars = naive_chars(segment.bytes, segment.len, &n);

			add_folded(&words, chars, 0, n);
			free(chars);
		}
	}
	must(next == wild->text + wild->len);
	must(!simdup_segments_next(&segments, &segment));
	simdup_segments_free(&segments);
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
	expected = walk(&wild);
	simdup_tokenize((SimdupTokenizer){.kind = SIMDUP_TOKENIZER_SEGMENTS,
									  .breaker = {find_breaks, &wild}},
					text, wild.len, collect, &got);
	must(same_strings(&got, &expected));
	free(expected.bytes);
	free(got.bytes);
	free(text);
	return 0;
}

/*
 * tokenizer.c
 *	  Every tokenizer on any bytes. Tokens equal the naive ones, lie within the
 *	  text if they begin in it, and do not depend on the text's address. A
 *	  separator separates.
 */
#include "core/fingerprint/tokenizer.h"
#include "naive.h"

typedef struct Got
{
	Strings tokens;
	const char *text;
	size_t len;
} Got;

static void
collect(void *arg, const SimdupToken *tokens, int count)
{
	Got *got = arg;

	must(count > 0 && count <= SIMDUP_BATCH_TOKENS);
	for (int i = 0; i < count; i++)
	{
		uintptr_t offset = (uintptr_t) tokens[i].bytes - (uintptr_t) got->text;

		must(tokens[i].len > 0);
		must(offset >= got->len || tokens[i].len <= got->len - offset);
		add_string(&got->tokens, tokens[i].bytes, tokens[i].len);
	}
}

static Strings
tokens_of(SimdupTokenizerKind kind, int n, const char *text, size_t len)
{
	SimdupTokenizer tokenizer = {.kind = kind, .n = n};
	Got got = {.text = text, .len = len};

	simdup_tokenize(tokenizer, text, len, collect, &got);
	return got.tokens;
}

/* The same text at an unaligned address, with other bytes around it. */
static void
check_place(SimdupTokenizerKind kind, int n, const char *text, size_t len,
			size_t shift, const Strings *expected)
{
	char *block = checked(malloc(len + 16));
	Strings moved;

	memset(block, 'x', len + 16);
	memcpy(block + shift, text, len);
	moved = tokens_of(kind, n, block + shift, len);
	must(same_strings(&moved, expected));
	free(moved.bytes);
	free(block);
}

/* A line end between two texts: the tokens of the one, then of the other. */
static void
check_cut(SimdupTokenizerKind kind, const char *text, size_t len, size_t cut)
{
	char *both = checked(malloc(len + 1));
	Strings whole;
	Strings parts = {0};

	memcpy(both, text, cut);
	both[cut] = '\n';
	memcpy(both + cut + 1, text + cut, len - cut);
	whole = tokens_of(kind, 0, both, len + 1);
	for (int i = 0; i < 2; i++)
	{
		Strings part = tokens_of(kind, 0, i == 0 ? text : text + cut,
								 i == 0 ? cut : len - cut);
		size_t at = 0;
		size_t size;

		for (const char *bytes; next_string(&part, &at, &bytes, &size);)
			add_string(&parts, bytes, size);
		free(part.bytes);
	}
	must(same_strings(&whole, &parts));
	free(whole.bytes);
	free(parts.bytes);
	free(both);
}

/* The decoder and encoder at each place of the text. */
static void
check_characters(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *) text;

	for (size_t at = 0; at < len; at++)
	{
		NaiveChar c = naive_char(text, at, len);
		unsigned char encoded[SIMDUP_MAX_UTF8];
		int bytes;
		uint32_t cp = simdup_utf8_decode(p + at, p + len, &bytes);

		must(cp == c.cp && bytes == c.len);
		if (cp != SIMDUP_INVALID_CHAR)
			must(simdup_utf8_encode(cp, encoded) == bytes &&
				 memcmp(encoded, p + at, (size_t) bytes) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	SimdupTokenizerKind kind = (SimdupTokenizerKind) (take_byte(&in) % 5);
	int n = (int) take_between(&in, 1, 16);
	size_t place = take_between(&in, 0, UINT16_MAX);
	size_t len;
	char *text = take_long_text(&in, 100000, &len);
	Strings got = tokens_of(kind, n, text, len);
	Strings expected = naive_tokens(kind, n, text, len);

	must(same_strings(&got, &expected));
	check_place(kind, n, text, len, place % 16, &expected);
	if (kind <= SIMDUP_TOKENIZER_SPACE)
		check_cut(kind, text, len, place % (len + 1));
	check_characters(text, len);
	free(expected.bytes);
	free(got.bytes);
	free(text);
	return 0;
}

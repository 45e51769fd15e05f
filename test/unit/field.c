/*
 * field.c
 *	  Fields of rows: trimmed and in lower case, byte by byte.
 */
#include "core/fingerprint/tokenizer.h"
#include "core/unicode/charclass.h"
#include "tap.h"

/* The field, in a block of its exact size, gives just these bytes. */
static void
is_lowered(const char *field, size_t len, const char *expected,
		   size_t expected_len)
{
	char *copy = malloc(len + 1);
	char *out = malloc(len * SIMDUP_MAX_UTF8 + 1);
	char *exact = realloc(memcpy(copy, field, len), len ? len : 1);
	size_t got = simdup_lower_field(exact, len, out);

	ok(got == expected_len && memcmp(out, expected, got) == 0,
	   "\"%.*s\" gives \"%.*s\"", (int) len, field, (int) expected_len,
	   expected);
	free(exact);
	free(out);
}

#define LOWERED(field, expected) \
	is_lowered(field, sizeof(field) - 1, expected, sizeof(expected) - 1)

int
main(void)
{
	int n_white = 0;

	LOWERED("", "");
	LOWERED(" \t\n\v\f\r", "");
	LOWERED("\x1C\x1D\x1E\x1F", "");
	LOWERED("\xC2\x85\xC2\xA0\xE1\x9A\x80\xE2\x80\x8A\xE2\x80\xA8\xE3\x80\x80",
			"");
	LOWERED("  North ", "north");
	LOWERED("Main  Street", "main  street");
	LOWERED("\xE3\x80\x80 M\xC3\x9CNCHEN\xC2\xA0", "m\xC3\xBCnchen");
	/* full width becomes ASCII; a longer or shorter form fits */
	LOWERED("\xEF\xBC\xA1\xEF\xBC\x91", "a1");
	LOWERED("\xC4\xB0", "i");
	LOWERED("\xC8\xBA", "\xE2\xB1\xA5");
	/* zero-width space and byte order mark are no white space */
	LOWERED("\xE2\x80\x8B", "\xE2\x80\x8B");
	LOWERED(" \xEF\xBB\xBF ", "\xEF\xBB\xBF");
	/* bytes that are not UTF-8 stay, also cut off at the end */
	LOWERED(" \xFF"
			"A ",
			"\xFF"
			"a");
	LOWERED("A\xE3\x80", "a\xE3\x80");
	LOWERED("\xC3", "\xC3");
	LOWERED("\0 X\0", "\0 x\0");

	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++)
		n_white += simdup_is_white_space(cp);
	ok(n_white == 25, "25 code points are White_Space");
	ok(!simdup_is_white_space(SIMDUP_INVALID_CHAR),
	   "what is no character is none");
	return done_testing();
}

/*
 * field.c
 *	  Fields of rows: white space around them is nothing, case is nothing, and
 *	  folding twice is folding once.
 */
#include "core/fingerprint/tokenizer.h"
#include "core/unicode/charclass.h"
#include "input.h"

/* The folded field in a block of its own; every byte beyond it is watched. */
static char *
lowered(const char *field, size_t len, size_t *out_len)
{
	char *out = malloc(len * SIMDUP_MAX_UTF8 + 1);

	*out_len = simdup_lower_field(field, len, out);
	must(*out_len <= len * SIMDUP_MAX_UTF8);
	return realloc(out, *out_len + 1);
}

static void
must_be(const char *field, size_t len, const char *expected,
		size_t expected_len)
{
	size_t got_len;
	char *got = lowered(field, len, &got_len);

	must(got_len == expected_len && memcmp(got, expected, got_len) == 0);
	free(got);
}

/* No blank character begins or ends a folded field. */
static void
check_ends(const char *folded, size_t len)
{
	const unsigned char *p = (const unsigned char *) folded;
	const unsigned char *end = p + len;
	int bytes;
	uint32_t cp = 0;

	if (len == 0)
		return;
	must(!simdup_is_white_space(simdup_utf8_decode(p, end, &bytes)));
	for (; p < end; p += bytes)
		cp = simdup_utf8_decode(p, end, &bytes);
	must(!simdup_is_white_space(cp));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	char *folded = lowered((const char *) data, size, &len);
	char *padded = malloc(size + 5);

	check_ends(folded, len);
	must_be(folded, len, folded, len);
	memcpy(padded, "\t\x1C", 2);
	memcpy(padded + 2, data, size);
	memcpy(padded + 2 + size, "\xE3\x80\x80", 3);
	/* a cut-off character at the end may take bytes from the padding */
	if (size == 0 || data[size - 1] < 0x80)
		must_be(padded, size + 5, folded, len);
	free(padded);
	free(folded);
	return 0;
}

/*
 * rabin.c
 *	  Rabin fingerprints against published values and a bit by bit division.
 */
#include "core/fingerprint/hash.h"
#include "tap.h"

/* The definition: shift the bits in one by one, subtract P at the top. */
static uint64_t
slow_rabin(const unsigned char *bytes, size_t len, int degree, uint64_t poly)
{
	uint64_t f = 0;

	for (size_t i = 0; i < 8 * len; i++)
	{
		uint64_t top = f >> (degree - 1) & 1;

		f = f << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
		if (top)
			f ^= poly;
		if (degree == 32)
			f &= 0xffffffff;
	}
	return f;
}

static void
test_vector(const char *text, uint32_t r32, uint64_t r64)
{
	is_u64(simdup_rabin32(text, strlen(text)), r32, text);
	is_u64(simdup_rabin64(text, strlen(text)), r64, text);
}

int
main(void)
{
	static const unsigned char one[1] = {1};
	static const unsigned char one_and_zeros[9] = {1};
	static const unsigned char is_p32[5] = {1, 0, 0, 0, 0x8d};
	static const unsigned char is_p64[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0x1b};
	unsigned char bytes[100];
	bool equal = true;
	unsigned char *text;
	size_t len;

	test_vector("abc", 0x00616263, UINT64_C(0x0000000000616263));
	test_vector("hello", 0x656c5ae7, UINT64_C(0x00000068656c6c6f));
	test_vector("a rose is a", 0x2fc3c462, UINT64_C(0x6f7365206ccb4447));
	test_vector("The quick brown fox jumps over the lazy dog", 0x3ff66412,
				UINT64_C(0xea0935bbae85ecf8));
	test_vector("中国", 0xad939425, UINT64_C(0x0000e4b8ade59bbd));
	test_vector("信访重复投诉", 0x975b12ba, UINT64_C(0x577b8b4b7bfa6edf));

	is_u64(simdup_rabin32("", 0), 0, "nothing, degree 32");
	is_u64(simdup_rabin64("", 0), 0, "nothing, degree 64");
	is_u64(simdup_rabin32("\0", 1), 0, "a zero byte is invisible");
	is_u64(simdup_rabin64(one, 1), 1, "one");
	is_u64(simdup_rabin32(one_and_zeros, 5), 0x8d, "x^32 leaves P's tail");
	is_u64(simdup_rabin64(one_and_zeros, 9), 0x1b, "x^64 leaves P's tail");
	is_u64(simdup_rabin32(is_p32, 5), 0, "P leaves nothing, degree 32");
	is_u64(simdup_rabin64(is_p64, 9), 0, "P leaves nothing, degree 64");

	for (len = 0; len <= sizeof(bytes); len++)
	{
		for (size_t i = 0; i < len; i++)
			bytes[i] =
				(unsigned char) ((i + 1) * (len + 7) * 2654435761u >> 13);
		equal =
			equal &&
			simdup_rabin32(bytes, len) == slow_rabin(bytes, len, 32, 0x8d) &&
			simdup_rabin64(bytes, len) == slow_rabin(bytes, len, 64, 0x1b);
	}
	ok(equal, "every length to 100 bytes equals division bit by bit");

	/* longer than the stretch between two looks for interrupts */
	len = 3 * 1024 * 1024 + 5;
	text = malloc(len);
	for (size_t i = 0; i < len; i++)
		text[i] = (unsigned char) (i * 2654435761u >> 7);
	ok(simdup_rabin32(text, len) == slow_rabin(text, len, 32, 0x8d) &&
		   simdup_rabin64(text, len) == slow_rabin(text, len, 64, 0x1b),
	   "three megabytes");
	free(text);
	return done_testing();
}

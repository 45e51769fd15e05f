/*
 * literal.c
 *	  Fingerprints and balls as people write them, and what is none.
 */
#include "core/fingerprint/hamming.h"
#include "tap.h"

/* Strings are read from blocks of their exact size: nothing beyond is there. */
static void
is_no_fingerprint(const char *str)
{
	char *copy = strdup(str);
	uint64_t fp;

	ok(!simdup_read_fingerprint(copy, &fp), "no fingerprint: \"%s\"", str);
	free(copy);
}

static void
is_no_ball(const char *str)
{
	char *copy = strdup(str);
	SimdupBallLiteral ball;

	ok(!simdup_read_ball(copy, &ball), "no ball: \"%s\"", str);
	free(copy);
}

static void
is_ball(const char *str, uint64_t center, int64_t radius, const char *written)
{
	char *copy = strdup(str);
	SimdupBallLiteral ball;

	ok(simdup_read_ball(copy, &ball) && ball.center == center &&
		   ball.radius == radius && ball.radius_len == strlen(written) &&
		   memcmp(ball.radius_str, written, ball.radius_len) == 0,
	   "%s", str);
	free(copy);
}

int
main(void)
{
	char str[SIMDUP_HEX_DIGITS];
	uint64_t fp;

	ok(simdup_read_fingerprint("0123456789abcDEF", &fp) &&
		   fp == UINT64_C(0x0123456789abcdef),
	   "digits of either case");
	simdup_write_fingerprint(UINT64_C(0xfedcba9876543210), str);
	ok(memcmp(str, "fedcba9876543210", sizeof(str)) == 0, "lower-case out");
	is_no_fingerprint("");
	is_no_fingerprint("0123456789abcde");
	is_no_fingerprint("0123456789abcdef0");
	is_no_fingerprint("0123456789abcdef ");
	is_no_fingerprint(" 123456789abcdef");
	is_no_fingerprint("0x23456789abcdef");
	is_no_fingerprint("012345678@abcdef");
	is_no_fingerprint("012345678`abcdef");
	is_no_fingerprint("012345678gabcdef");
	is_no_fingerprint("012345678/abcdef");
	is_no_fingerprint("012345678:abcdef");

	is_ball("<000000000000000F,3>", 15, 3, "3");
	is_ball("<000000000000000f,64>", 15, 64, "64");
	is_ball("<000000000000000f,007>", 15, 7, "007");
	is_ball("<000000000000000f,-1>", 15, -1, "-1");
	is_ball("<000000000000000f,18446744073709551617>", 15,
			SIMDUP_MAX_LITERAL_RADIUS, "18446744073709551617");
	is_ball("<000000000000000f,-99999999999999999999>", 15,
			-SIMDUP_MAX_LITERAL_RADIUS, "-99999999999999999999");
	is_no_ball("");
	is_no_ball("<");
	is_no_ball("<000000000000000f");
	is_no_ball("<000000000000000f,");
	is_no_ball("<000000000000000f,>");
	is_no_ball("<000000000000000f,->");
	is_no_ball("<000000000000000f,+3>");
	is_no_ball("<000000000000000f,3");
	is_no_ball("<000000000000000f,3>>");
	is_no_ball("<000000000000000f,3> ");
	is_no_ball("<000000000000000f, 3>");
	is_no_ball("<00000000000000f,3>");
	is_no_ball("(000000000000000f,3)");
	is_no_ball("000000000000000f");
	return done_testing();
}

/*
 * literal.c
 *	  Fingerprints and balls as people write them, and invalid ones.
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
has_form(const char *str, SimdupHashForm form)
{
	char *copy = malloc(strlen(str) + 1);

	/* without a terminator */
	memcpy(copy, str, strlen(str));
	copy = realloc(copy, strlen(str) + (*str == '\0'));
	ok(simdup_hash_form(copy, strlen(str)) == form, "form of \"%s\"", str);
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

	has_form("", SIMDUP_NO_HASH);
	has_form("lamp", SIMDUP_NO_HASH);
	has_form("0123456789abcdef", SIMDUP_HASH_HEX);
	has_form("0123456789ABCDEF", SIMDUP_HASH_HEX);
	has_form("0123456789abcdeg", SIMDUP_NO_HASH);
	has_form("0123456789abcdef0", SIMDUP_NO_HASH);
	has_form("123456789abcdef", SIMDUP_HASH_SHORT);
	has_form("0x0123456789abcdef", SIMDUP_HASH_PREFIXED);
	has_form("0X1f", SIMDUP_HASH_PREFIXED);
	has_form("0x", SIMDUP_NO_HASH);
	has_form("0x0123456789abcdef0", SIMDUP_NO_HASH);
	has_form("18446744073709551615", SIMDUP_HASH_UNSIGNED);
	has_form("1844674407370955161a", SIMDUP_NO_HASH);
	has_form("184467440737095516150", SIMDUP_NO_HASH);
	has_form("-9223372036854775808", SIMDUP_HASH_NEGATIVE);
	has_form("-", SIMDUP_NO_HASH);
	has_form("-1f", SIMDUP_NO_HASH);

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

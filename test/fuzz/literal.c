/*
 * literal.c
 *	  Fingerprints and balls: a value is read as the grammar says, and comes
 *	  back as it was written.
 */
#include "core/fingerprint/hamming.h"
#include "input.h"

static const char hex[] = "0123456789abcdefABCDEF";
static const char decimal[] = "0123456789";

/* The value of hex digits, by the C library. */
static uint64_t
hex_value(const char *str)
{
	char digits[SIMDUP_HEX_DIGITS + 1] = {0};

	memcpy(digits, str, SIMDUP_HEX_DIGITS);
	return strtoull(digits, NULL, 16);
}

static void
check_fingerprint(const char *str)
{
	bool good = strlen(str) == 16 && strspn(str, hex) == 16;
	uint64_t fp;
	uint64_t again;
	char written[SIMDUP_HEX_DIGITS + 1] = {0};

	must(simdup_read_fingerprint(str, &fp) == good);
	if (!good)
		return;
	must(fp == hex_value(str));
	simdup_write_fingerprint(fp, written);
	for (int i = 0; i < SIMDUP_HEX_DIGITS; i++)
		must(written[i] == str[i] ||
			 (str[i] < 'a' && written[i] == (str[i] | 0x20)));
	must(simdup_read_fingerprint(written, &again) && again == fp);
}

/* Length of the radius in a ball, 0 if the string is none. */
static size_t
radius_length(const char *str)
{
	size_t sign;
	size_t digits;

	if (str[0] != '<' || strspn(str + 1, hex) != 16 || str[17] != ',')
		return 0;
	sign = str[18] == '-';
	digits = strspn(str + 18 + sign, decimal);
	return digits > 0 && strcmp(str + 18 + sign + digits, ">") == 0
			   ? sign + digits
			   : 0;
}

static void
check_ball(const char *str)
{
	size_t len = radius_length(str);
	SimdupBallLiteral ball;
	long long radius;

	must(simdup_read_ball(str, &ball) == (len > 0));
	if (len == 0)
		return;
	radius = strtoll(str + 18, NULL, 10); /* saturates too */
	if (radius > SIMDUP_MAX_LITERAL_RADIUS)
		radius = SIMDUP_MAX_LITERAL_RADIUS;
	if (radius < -SIMDUP_MAX_LITERAL_RADIUS)
		radius = -SIMDUP_MAX_LITERAL_RADIUS;
	must(ball.center == hex_value(str + 1) && ball.radius == radius);
	must(ball.radius_str == str + 18 && ball.radius_len == len);
}

/* A fingerprint or ball with a byte changed, out of few bytes of input. */
static void
check_near_miss(Input *in)
{
	char str[64];
	size_t len;
	char digits[SIMDUP_HEX_DIGITS];

	simdup_write_fingerprint(take_word(in), digits);
	len = (size_t) (take_byte(in) & 1
						? sprintf(str, "<%.16s,%d>", digits,
								  (int) (int16_t) take_between(in, 0, 0xFFFF))
						: sprintf(str, "%.16s", digits));
	if (take_byte(in) & 1)
		str[take_between(in, 0, len - 1)] = (char) take_byte(in);
	check_fingerprint(str);
	check_ball(str);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	char *str = checked(malloc(size + 1));
	size_t len = strnlen((const char *) data, size);

	/* a string of the exact size, up to the first zero */
	memcpy(str, data, len);
	str[len] = '\0';
	str = checked(realloc(str, len + 1));
	check_fingerprint(str);
	check_ball(str);
	free(str);
	check_near_miss(&in);
	return 0;
}

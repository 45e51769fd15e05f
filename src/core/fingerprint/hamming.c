/*
 * hamming.c
 *	  Fingerprints and balls as strings.
 */
#include <stdlib.h>

#include "core/fingerprint/hamming.h"

/* Return the value of one hex digit of either case, or -1. */
static int
hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/*
 * Read 16 hex digits, and no further. Return false unless str begins with them.
 */
static bool
read_hex(const char *str, uint64_t *fp)
{
	*fp = 0;
	for (int i = 0; i < SIMDUP_HEX_DIGITS; i++)
	{
		int digit = hex_digit((unsigned char) str[i]);

		if (digit < 0)
			return false;
		*fp = (*fp << 4) | (uint64_t) digit;
	}
	return true;
}

bool
simdup_read_fingerprint(const char *str, uint64_t *fp)
{
	return read_hex(str, fp) && str[SIMDUP_HEX_DIGITS] == '\0';
}

void
simdup_write_fingerprint(uint64_t fp, char *str)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = SIMDUP_HEX_DIGITS - 1; i >= 0; i--, fp >>= 4)
		str[i] = digits[fp & 0xf];
}

/* Return the end of the number at str, saturated in *radius; NULL without one. */
static const char *
read_radius(const char *str, int64_t *radius)
{
	const char *digits = str + (*str == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return NULL;
	*radius = strtoll(str, &end, 10);
	if (*radius > SIMDUP_MAX_LITERAL_RADIUS)
		*radius = SIMDUP_MAX_LITERAL_RADIUS;
	if (*radius < -SIMDUP_MAX_LITERAL_RADIUS)
		*radius = -SIMDUP_MAX_LITERAL_RADIUS;
	return end;
}

bool
simdup_read_ball(const char *str, SimdupBallLiteral *ball)
{
	const char *end;

	if (*str++ != '<' || !read_hex(str, &ball->center))
		return false;
	str += SIMDUP_HEX_DIGITS;
	if (*str++ != ',')
		return false;
	end = read_radius(str, &ball->radius);
	if (!end || end[0] != '>' || end[1] != '\0')
		return false;
	ball->radius_str = str;
	ball->radius_len = (size_t) (end - str);
	return true;
}

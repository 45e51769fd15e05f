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

/* Return how many digits of a base, 10 or 16, a string of len bytes begins with. */
static size_t
count_digits(const char *str, size_t len, int base)
{
	size_t n = 0;

	while (n < len && hex_digit((unsigned char) str[n]) >= 0 &&
		   hex_digit((unsigned char) str[n]) < base)
		n++;
	return n;
}

SimdupHashForm
simdup_hash_form(const char *str, size_t len)
{
	if (len < 1 || len > 20)
		return SIMDUP_NO_HASH;
	if (len > 2 && len <= 2 + SIMDUP_HEX_DIGITS && str[0] == '0' &&
		(str[1] | 0x20) == 'x' && count_digits(str + 2, len - 2, 16) == len - 2)
		return SIMDUP_HASH_PREFIXED;
	if (len > 1 && str[0] == '-' &&
		count_digits(str + 1, len - 1, 10) == len - 1)
		return SIMDUP_HASH_NEGATIVE;
	if (len > SIMDUP_HEX_DIGITS)
		return count_digits(str, len, 10) == len ? SIMDUP_HASH_UNSIGNED
												 : SIMDUP_NO_HASH;
	if (count_digits(str, len, 16) < len)
		return SIMDUP_NO_HASH;
	return len == SIMDUP_HEX_DIGITS ? SIMDUP_HASH_HEX : SIMDUP_HASH_SHORT;
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

/*
 * literal.h
 *	  What people write for a fingerprint and for a ball around one.
 *
 * fingerprint  16 hex digits of either case
 * ball         '<' fingerprint ',' radius '>'
 * radius       decimal digits, '-' before them or not
 *
 * Nothing comes before, between or after. Any radius can be written; which of
 * them are allowed is the caller's business.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_LITERAL_H
#define SIMDUP_CORE_FINGERPRINT_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits of a fingerprint. */
#define SIMDUP_HEX_DIGITS 16

/* Far above any radius that is allowed: here reading one stops to count. */
#define SIMDUP_MAX_LITERAL_RADIUS 1000000

typedef struct SimdupBallLiteral
{
	uint64_t center;
	int64_t radius;			/* saturated */
	const char *radius_str; /* as written */
	size_t radius_len;
} SimdupBallLiteral;

/* Read a fingerprint. Return false unless the string, up to its end, is one. */
extern bool simdup_read_fingerprint(const char *str, uint64_t *fp);

/* Write 16 lower-case digits and no terminator. */
extern void simdup_write_fingerprint(uint64_t fp, char *str);

/* Read a ball. Return false unless the string, up to its end, is one. */
extern bool simdup_read_ball(const char *str, SimdupBallLiteral *ball);

#endif /* SIMDUP_CORE_FINGERPRINT_LITERAL_H */

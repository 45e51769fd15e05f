/*
 * hamming.h
 *	  64-bit fingerprints: their Hamming distance, their blocks, and how people
 *	  write them.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_HAMMING_H
#define SIMDUP_CORE_FINGERPRINT_HAMMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hamming distance of 64-bit fingerprints.
 *
 * One inline SWAR popcount, as in PostgreSQL 19. With -mpopcnt, or inside a
 * target_clones loop, gcc and clang turn the expression into the instruction.
 * Elsewhere it needs no table and no library call.
 */

static inline int
simdup_popcount64(uint64_t x)
{
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) +
		((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Return the number of bits in which a and b differ, 0 to 64. */
static inline int
simdup_hamming64(uint64_t a, uint64_t b)
{
	return simdup_popcount64(a ^ b);
}

/* Largest distance of a join: beyond it nearly everything is near everything else. */
#define SIMDUP_MAX_PAIR_DISTANCE 32

/*
 * Two clones of a loop, one with the popcnt instruction, chosen at load time:
 * portable builds by default, the instruction where it is there. Only for
 * loops over many fingerprints; not for bitcode, which does not take it.
 */
#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) && \
	!defined(__clang__) && !defined(__POPCNT__)
#define SIMDUP_POPCNT_CLONES __attribute__((target_clones("default", "popcnt")))
#else
#define SIMDUP_POPCNT_CLONES
#endif

/*
 * A fingerprint cut into n blocks, as equal as can be, low bits first.
 *
 * The pigeonhole behind every search here: two 64-bit fingerprints within
 * Hamming distance k, cut into k + 1 blocks, agree in at least one block.
 * The first (64 mod n) blocks are one bit wider than the rest.
 */

/* Return the first bit of block i of n; block n would start at 64. */
static inline int
simdup_block_start(int i, int n)
{
	int wide = 64 % n;

	return i * (64 / n) + (i < wide ? i : wide);
}

/* Return the value of the block that spans bits [start, end) of fp. */
static inline uint64_t
simdup_block_bits(uint64_t fp, int start, int end)
{
	int width = end - start;

	if (width >= 64)
		return fp;
	return (fp >> start) & ((UINT64_C(1) << width) - 1);
}

/*
 * Fingerprints and balls as people write them.
 *
 * fingerprint  16 hex digits of either case
 * ball         '<' fingerprint ',' radius '>'
 * radius       decimal digits, '-' before them or not
 *
 * Nothing comes before, between or after. Any radius can be written; which of
 * them are allowed is the caller's business.
 */

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

/* How a string may mean a fingerprint. */
typedef enum SimdupHashForm
{
	SIMDUP_NO_HASH,
	SIMDUP_HASH_HEX,	  /* 16 hex digits, as it is written here */
	SIMDUP_HASH_PREFIXED, /* 0x, and 1 to 16 hex digits */
	SIMDUP_HASH_SHORT,	  /* fewer than 16 hex digits */
	SIMDUP_HASH_UNSIGNED, /* a decimal number of 17 to 20 digits */
	SIMDUP_HASH_NEGATIVE  /* a decimal number behind a minus sign */
} SimdupHashForm;

/* Return the form of a string of len bytes, any bytes. */
extern SimdupHashForm simdup_hash_form(const char *str, size_t len);

/* Read a fingerprint. Return false unless the string, up to its end, is one. */
extern bool simdup_read_fingerprint(const char *str, uint64_t *fp);

/* Write 16 lower-case digits and no terminator. */
extern void simdup_write_fingerprint(uint64_t fp, char *str);

/* Read a ball. Return false unless the string, up to its end, is one. */
extern bool simdup_read_ball(const char *str, SimdupBallLiteral *ball);

#endif /* SIMDUP_CORE_FINGERPRINT_HAMMING_H */

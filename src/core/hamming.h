/*
 * hamming.h
 *	  Hamming distance of 64-bit fingerprints.
 *
 * One inline SWAR popcount, as in PostgreSQL 19. With -mpopcnt, or inside a
 * target_clones loop, gcc and clang turn the expression into the instruction.
 * Elsewhere it needs no table and no library call.
 */
#ifndef SIMDUP_CORE_HAMMING_H
#define SIMDUP_CORE_HAMMING_H

#include <stdint.h>

static inline int
simdup_popcount64(uint64_t x)
{
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) +
		((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Number of bits in which a and b differ, 0 to 64. */
static inline int
simdup_hamming64(uint64_t a, uint64_t b)
{
	return simdup_popcount64(a ^ b);
}

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

#endif /* SIMDUP_CORE_HAMMING_H */

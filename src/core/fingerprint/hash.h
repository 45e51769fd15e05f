/*
 * hash.h
 *	  The string hashes that features can be hashed with.
 *
 * All are fixed functions of the bytes: no seed, no difference between
 * platforms.
 *
 *	  city64	CityHash64 of version 1.1.1 (Pike and Alakuijala)
 *	  murmur3	the first half of MurmurHash3_x64_128, seed 0 (Appleby)
 *	  bkdr		multiplicative, factor 131 (Kernighan and Ritchie)
 *	  java		Python 2's string hash in 64 bits, over UTF-16 units, as a
 *				Java program for simhash has it
 */
#ifndef SIMDUP_CORE_FINGERPRINT_HASH_H
#define SIMDUP_CORE_FINGERPRINT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/host.h"

typedef enum SimdupHash
{
	SIMDUP_HASH_CITY64,
	SIMDUP_HASH_MURMUR3,
	SIMDUP_HASH_BKDR,
	SIMDUP_HASH_JAVA
} SimdupHash;

/* Return the CityHash64 of a string of any length; long ones out of line. */
extern uint64_t simdup_city64_long(const char *s, size_t len);

/* Return any of the hashes. */
extern uint64_t simdup_hash64(SimdupHash hash, const char *s, size_t len);

#define SIMDUP_CITY_K0 UINT64_C(0xc3a5c85c97cb3127)
#define SIMDUP_CITY_K2 UINT64_C(0x9ae16a3b2f90404f)

/* 2^64 by the golden ratio: an odd number with bits all over. */
#define SIMDUP_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
simdup_load64(const char *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline uint32_t
simdup_load32(const char *s)
{
	uint32_t v;

	memcpy(&v, s, sizeof(v));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static inline void
simdup_store32(char *s, uint32_t v)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(s, &v, sizeof(v));
}

static inline uint64_t
simdup_rotate64(uint64_t v, int bits)
{
	return bits == 0 ? v : (v >> bits) | (v << (64 - bits));
}

/* Mix two words into one: CityHash's finisher. */
static inline uint64_t
simdup_city_mix(uint64_t u, uint64_t v, uint64_t mul)
{
	uint64_t a = (u ^ v) * mul;
	uint64_t b;

	a ^= a >> 47;
	b = (v ^ a) * mul;
	b ^= b >> 47;
	return b * mul;
}

/* Spread every bit over all 64, as a bijection: MurmurHash3's finisher. */
static inline uint64_t
simdup_mix64(uint64_t x)
{
	x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

/* Return the CityHash64 of 4 to 7 bytes: of the first four and the last four. */
static inline uint64_t
simdup_city_4_to_7(uint64_t a, uint64_t b, uint64_t len)
{
	return simdup_city_mix(len + (a << 3), b, SIMDUP_CITY_K2 + len * 2);
}

/* Return that of 8 to 16 bytes: of the first eight and the last eight. */
static inline uint64_t
simdup_city_8_to_16(uint64_t a, uint64_t b, uint64_t len)
{
	uint64_t mul = SIMDUP_CITY_K2 + len * 2;
	uint64_t c;
	uint64_t d;

	a += SIMDUP_CITY_K2;
	c = simdup_rotate64(b, 37) * mul + a;
	d = (simdup_rotate64(a, 25) + b) * mul;
	return simdup_city_mix(c, d, mul);
}

/*
 * Return the CityHash64. Most tokens are short, and a fingerprint spends its time in
 * them. So the case of up to 16 bytes is inline.
 */
static inline uint64_t
simdup_city64(const char *s, size_t len)
{
	if (len > 16)
		return simdup_city64_long(s, len);
	if (len >= 8)
		return simdup_city_8_to_16(simdup_load64(s), simdup_load64(s + len - 8),
								   len);
	if (len >= 4)
		return simdup_city_4_to_7(simdup_load32(s), simdup_load32(s + len - 4),
								  len);
	if (len > 0)
	{
		uint32_t y = (uint32_t) (unsigned char) s[0] +
					 ((uint32_t) (unsigned char) s[len >> 1] << 8);
		uint32_t z =
			(uint32_t) len + ((uint32_t) (unsigned char) s[len - 1] << 2);
		uint64_t h = y * SIMDUP_CITY_K2 ^ z * SIMDUP_CITY_K0;

		return (h ^ (h >> 47)) * SIMDUP_CITY_K2;
	}
	return SIMDUP_CITY_K2;
}

/*
 * Rabin fingerprints: a byte string as a polynomial over GF(2), modulo an
 * irreducible one (Rabin 1981).
 *
 * The first byte holds the highest coefficients. Nothing is added before or
 * after: at most degree / 8 bytes are their own fingerprint, and leading zero
 * bytes make no difference.
 */

/* Return the fingerprint modulo x^32 + x^7 + x^3 + x^2 + 1 */
extern uint32_t simdup_rabin32(const void *bytes, size_t len);

/* Return the fingerprint modulo x^64 + x^4 + x^3 + x + 1 */
extern uint64_t simdup_rabin64(const void *bytes, size_t len);

/* Compare words, or structs that begin with one, for qsort and bsearch. */
extern int simdup_compare_words(const void *a, const void *b);

/* A set of 64-bit words, none of them 0. Zeroed, it is empty. */

typedef struct SimdupWordSet
{
	uint64_t *slots; /* 0: free */
	size_t mask;
	size_t n;
} SimdupWordSet;

static inline size_t
simdup_wordset_slot(const SimdupWordSet *set, uint64_t word)
{
	size_t i = simdup_mix64(word) & set->mask;

	while (set->slots[i] != 0 && set->slots[i] != word)
		i = (i + 1) & set->mask;
	return i;
}

static inline bool
simdup_wordset_has(const SimdupWordSet *set, uint64_t word)
{
	return set->n > 0 && set->slots[simdup_wordset_slot(set, word)] == word;
}

static inline void
simdup_wordset_free(SimdupWordSet *set)
{
	simdup_free(set->slots);
}

/* Add a word; false if it is there. */
static inline bool
simdup_wordset_add(SimdupWordSet *set, uint64_t word)
{
	size_t i;

	if (set->n * 2 >= set->mask)
	{
		SimdupWordSet larger = {.n = set->n, .mask = set->mask * 2 + 1};

		if (set->mask == 0)
			larger.mask = 63;
		larger.slots = simdup_alloc0((larger.mask + 1) * sizeof(uint64_t));
		for (size_t j = 0; set->slots != NULL && j <= set->mask; j++)
		{
			if (set->slots[j] != 0)
				larger.slots[simdup_wordset_slot(&larger, set->slots[j])] =
					set->slots[j];
			simdup_check_interrupts_at(j);
		}
		simdup_wordset_free(set);
		*set = larger;
	}
	i = simdup_wordset_slot(set, word);
	if (set->slots[i] == word)
		return false;
	set->slots[i] = word;
	set->n++;
	return true;
}

#endif /* SIMDUP_CORE_FINGERPRINT_HASH_H */

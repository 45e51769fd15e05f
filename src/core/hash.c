/*
 * hash.c
 *	  CityHash64 beyond 16 bytes, and the other string hashes.
 */
#include "core/charclass.h"
#include "core/hash.h"

#define K0 SIMDUP_CITY_K0
#define K1 SIMDUP_CITY_K1
#define K2 SIMDUP_CITY_K2

/* Multiplier of CityHash's finisher if the length is not mixed in. */
#define CITY_MUL UINT64_C(0x9ddfea08eb382d69)

typedef struct Pair
{
	uint64_t first;
	uint64_t second;
} Pair;

static inline uint64_t
shift_mix(uint64_t v)
{
	return v ^ (v >> 47);
}

static uint64_t
city64_17_to_32(const char *s, size_t len)
{
	uint64_t mul = K2 + (uint64_t) len * 2;
	uint64_t a = simdup_load64(s) * K1;
	uint64_t b = simdup_load64(s + 8);
	uint64_t c = simdup_load64(s + len - 8) * mul;
	uint64_t d = simdup_load64(s + len - 16) * K2;

	return simdup_city_mix(simdup_rotate64(a + b, 43) + simdup_rotate64(c, 30) +
							   d,
						   a + simdup_rotate64(b + K2, 18) + c, mul);
}

static uint64_t
city64_33_to_64(const char *s, size_t len)
{
	uint64_t mul = K2 + (uint64_t) len * 2;
	uint64_t a = simdup_load64(s) * K2;
	uint64_t b = simdup_load64(s + 8);
	uint64_t c = simdup_load64(s + len - 24);
	uint64_t d = simdup_load64(s + len - 32);
	uint64_t e = simdup_load64(s + 16) * K2;
	uint64_t f = simdup_load64(s + 24) * 9;
	uint64_t g = simdup_load64(s + len - 8);
	uint64_t h = simdup_load64(s + len - 16) * mul;
	uint64_t u = simdup_rotate64(a + g, 43) + (simdup_rotate64(b, 30) + c) * 9;
	uint64_t v = ((a + g) ^ d) + f + 1;
	uint64_t w = __builtin_bswap64((u + v) * mul) + h;
	uint64_t x = simdup_rotate64(e + f, 42) + c;
	uint64_t y = (__builtin_bswap64((v + w) * mul) + g) * mul;
	uint64_t z = e + f + c;

	a = __builtin_bswap64((x + z) * mul + y) + b;
	b = shift_mix((z + a) * mul + d + h) * mul;
	return b + x;
}

/* 32 bytes and two seeds into a pair: quick, and only as strong as needed. */
static inline Pair
weak_mix32(const char *s, uint64_t a, uint64_t b)
{
	uint64_t z = simdup_load64(s + 24);
	uint64_t c;

	a += simdup_load64(s);
	b = simdup_rotate64(b + a + z, 21);
	c = a;
	a += simdup_load64(s + 8);
	a += simdup_load64(s + 16);
	b += simdup_rotate64(a, 44);
	return (Pair){a + z, b + c};
}

uint64_t
simdup_city64_long(const char *s, size_t len)
{
	uint64_t x;
	uint64_t y;
	uint64_t z;
	Pair v;
	Pair w;

	if (len <= 32)
		return city64_17_to_32(s, len);
	if (len <= 64)
		return city64_33_to_64(s, len);

	/* 56 bytes of state: v, w, x, y, z, begun from the last 64 bytes */
	x = simdup_load64(s + len - 40);
	y = simdup_load64(s + len - 16) + simdup_load64(s + len - 56);
	z = simdup_city_mix(simdup_load64(s + len - 48) + len,
						simdup_load64(s + len - 24), CITY_MUL);
	v = weak_mix32(s + len - 64, len, z);
	w = weak_mix32(s + len - 32, y + K1, x);
	x = x * K1 + simdup_load64(s);

	for (len = (len - 1) & ~(size_t) 63; len > 0; len -= 64, s += 64)
	{
		uint64_t swap;

		x = simdup_rotate64(x + y + v.first + simdup_load64(s + 8), 37) * K1;
		y = simdup_rotate64(y + v.second + simdup_load64(s + 48), 42) * K1;
		x ^= w.second;
		y += v.first + simdup_load64(s + 40);
		z = simdup_rotate64(z + w.first, 33) * K1;
		v = weak_mix32(s, v.second * K1, x + w.first);
		w = weak_mix32(s + 32, z + w.second, y + simdup_load64(s + 16));
		swap = z;
		z = x;
		x = swap;
	}
	return simdup_city_mix(simdup_city_mix(v.first, w.first, CITY_MUL) +
							   shift_mix(y) * K1 + z,
						   simdup_city_mix(v.second, w.second, CITY_MUL) + x,
						   CITY_MUL);
}

/* First half of MurmurHash3_x64_128, seed 0. */
static uint64_t
murmur3(const char *s, size_t len)
{
	const uint64_t c1 = UINT64_C(0x87c37b91114253d5);
	const uint64_t c2 = UINT64_C(0x4cf5ad432745937f);
	uint64_t h1 = 0;
	uint64_t h2 = 0;
	size_t left = len;
	char tail[16] = {0};

	for (; left >= 16; left -= 16, s += 16)
	{
		h1 ^= simdup_rotate64(simdup_load64(s) * c1, 33) * c2;
		h1 = (simdup_rotate64(h1, 37) + h2) * 5 + 0x52dce729;
		h2 ^= simdup_rotate64(simdup_load64(s + 8) * c2, 31) * c1;
		h2 = (simdup_rotate64(h2, 33) + h1) * 5 + 0x38495ab5;
	}
	/* the tail counts as if zeros followed it, which mix to nothing */
	memcpy(tail, s, left);
	h2 ^= simdup_rotate64(simdup_load64(tail + 8) * c2, 31) * c1;
	h1 ^= simdup_rotate64(simdup_load64(tail) * c1, 33) * c2;

	h1 ^= len;
	h2 ^= len;
	h1 += h2;
	h2 += h1;
	h1 = simdup_mix64(h1);
	h2 = simdup_mix64(h2);
	return h1 + h2;
}

static uint64_t
bkdr(const char *s, size_t len)
{
	uint64_t h = 0;

	for (size_t i = 0; i < len; i++)
		h = h * 131 + (unsigned char) s[i];
	return h;
}

/* One UTF-16 unit into the java hash; the first also starts it. */
static inline uint64_t
java_unit(uint64_t h, uint32_t unit, uint64_t count)
{
	if (count == 0)
		h = (uint64_t) unit << 7;
	return (h * 1000003) ^ unit;
}

static uint64_t
java(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *) s;
	const unsigned char *end = p + len;
	uint64_t h = 0;
	uint64_t count = 0;
	int bytes;

	for (; p < end; p += bytes)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &bytes);

		/* Java reads what is not UTF-8 as the replacement character */
		if (cp == SIMDUP_INVALID_CHAR)
			cp = 0xFFFD;
		if (cp >= 0x10000)
		{
			h = java_unit(h, 0xD800 + ((cp - 0x10000) >> 10), count++);
			cp = 0xDC00 + ((cp - 0x10000) & 0x3FF);
		}
		h = java_unit(h, cp, count++);
	}
	return h ^ count;
}

uint64_t
simdup_hash64(SimdupHash hash, const char *s, size_t len)
{
	switch (hash)
	{
		case SIMDUP_HASH_CITY64:
			return simdup_city64(s, len);
		case SIMDUP_HASH_MURMUR3:
			return murmur3(s, len);
		case SIMDUP_HASH_BKDR:
			return bkdr(s, len);
		case SIMDUP_HASH_JAVA:
			return java(s, len);
	}
	return 0;
}

bool
simdup_hash_by_name(const char *name, size_t len, SimdupHash *hash)
{
	static const char *const names[] = {"city64", "murmur3", "bkdr", "java"};

	for (int i = 0; i < 4; i++)
	{
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
		{
			*hash = (SimdupHash) i;
			return true;
		}
	}
	return false;
}

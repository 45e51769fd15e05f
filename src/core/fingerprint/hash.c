/*
 * hash.c
 *	  CityHash64 beyond 16 bytes, the other string hashes, and Rabin
 *	  fingerprints.
 *
 * A Rabin fingerprint takes a machine word of text at a time. With the state f
 * and the next word of text T, f becomes f x^degree + T modulo P. The product is
 * a sum over the bytes of f. Each byte has a table of its own, so the look-ups of
 * one step do not wait for each other.
 */
#include "core/fingerprint/hash.h"
#include "core/unicode/charclass.h"

/* String hashes */

#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 SIMDUP_CITY_K2

/* Multiplier of CityHash's finisher if the length is not mixed in. */
#define CITY_MUL UINT64_C(0x9ddfea08eb382d69)

typedef struct HashPair
{
	uint64_t first;
	uint64_t second;
} HashPair;

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

/*
 * Mix 32 bytes and two seeds into a pair: quick, and only as strong as needed.
 */
static inline HashPair
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
	return (HashPair){a + z, b + c};
}

uint64_t
simdup_city64_long(const char *s, size_t len)
{
	uint64_t x;
	uint64_t y;
	uint64_t z;
	HashPair v;
	HashPair w;
	const unsigned char *poll_at =
		(const unsigned char *) s + SIMDUP_POLL_BYTES;

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
		poll_at = simdup_poll((const unsigned char *) s, poll_at);
	}
	return simdup_city_mix(simdup_city_mix(v.first, w.first, CITY_MUL) +
							   shift_mix(y) * K1 + z,
						   simdup_city_mix(v.second, w.second, CITY_MUL) + x,
						   CITY_MUL);
}

/* Return the first half of MurmurHash3_x64_128, seed 0. */
static uint64_t
murmur3(const char *s, size_t len)
{
	const uint64_t c1 = UINT64_C(0x87c37b91114253d5);
	const uint64_t c2 = UINT64_C(0x4cf5ad432745937f);
	uint64_t h1 = 0;
	uint64_t h2 = 0;
	size_t left = len;
	char tail[16] = {0};
	const unsigned char *poll_at =
		(const unsigned char *) s + SIMDUP_POLL_BYTES;

	for (; left >= 16; left -= 16, s += 16)
	{
		h1 ^= simdup_rotate64(simdup_load64(s) * c1, 33) * c2;
		h1 = (simdup_rotate64(h1, 37) + h2) * 5 + 0x52dce729;
		h2 ^= simdup_rotate64(simdup_load64(s + 8) * c2, 31) * c1;
		h2 = (simdup_rotate64(h2, 33) + h1) * 5 + 0x38495ab5;
		poll_at = simdup_poll((const unsigned char *) s, poll_at);
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
	{
		h = h * 131 + (unsigned char) s[i];
		simdup_check_interrupts_at(i + 1);
	}
	return h;
}

/* Add one UTF-16 unit to the java hash. The first also starts it. */
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
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	uint64_t h = 0;
	uint64_t count = 0;
	int bytes;

	for (; p < end; p += bytes)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &bytes);

		/* Java reads bytes that are not UTF-8 as the replacement character */
		if (cp == SIMDUP_INVALID_CHAR)
			cp = 0xFFFD;
		if (cp >= 0x10000)
		{
			h = java_unit(h, 0xD800 + ((cp - 0x10000) >> 10), count++);
			cp = 0xDC00 + ((cp - 0x10000) & 0x3FF);
		}
		h = java_unit(h, cp, count++);
		poll_at = simdup_poll(p, poll_at);
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

int
simdup_compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Rabin fingerprints */

#define RABIN32_POLYNOMIAL UINT64_C(0x8d)
#define RABIN64_POLYNOMIAL UINT64_C(0x1b)

/* [i][b]: b x^(degree + 8 i) modulo P; [0] serves single bytes */
typedef uint64_t RabinTable[8][256];

static RabinTable table32;
static RabinTable table64;
static bool tables_ready = false;

static void
make_table(RabinTable table, int degree, uint64_t polynomial)
{
	for (int b = 0; b < 256; b++)
	{
		uint64_t f = (uint64_t) b << (degree - 8);

		for (int i = 0; i < degree / 8; i++)
		{
			for (int bit = 0; bit < 8; bit++)
				f = f << 1 ^ (f >> (degree - 1) & 1 ? polynomial : 0);
			table[i][b] = f & UINT64_MAX >> (64 - degree);
		}
	}
}

/*
 * Return the fingerprint of this degree. Inline, because a choice of the width
 * for each word would cost more than the word.
 */
static inline __attribute__((always_inline)) uint64_t
rabin(const unsigned char *p, size_t len, RabinTable table, int degree)
{
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	size_t width = (size_t) degree / 8;
	uint64_t f = 0;

	if (!tables_ready)
	{
		make_table(table32, 32, RABIN32_POLYNOMIAL);
		make_table(table64, 64, RABIN64_POLYNOMIAL);
		tables_ready = true;
	}
	for (; len >= width; len -= width, p += width)
	{
		uint64_t sum = width == 4
						   ? __builtin_bswap32(simdup_load32((const char *) p))
						   : __builtin_bswap64(simdup_load64((const char *) p));

		sum ^= table[0][f & 0xff] ^ table[1][f >> 8 & 0xff] ^
			   table[2][f >> 16 & 0xff] ^ table[3][f >> 24 & 0xff];
		if (width == 8)
			sum ^= table[4][f >> 32 & 0xff] ^ table[5][f >> 40 & 0xff] ^
				   table[6][f >> 48 & 0xff] ^ table[7][f >> 56];
		f = sum;
		poll_at = simdup_poll(p, poll_at);
	}
	for (; len > 0; len--)
		f = ((f << 8 | *p++) & UINT64_MAX >> (64 - degree)) ^
			table[0][f >> (degree - 8)];
	return f;
}

uint32_t
simdup_rabin32(const void *bytes, size_t len)
{
	return (uint32_t) rabin(bytes, len, table32, 32);
}

uint64_t
simdup_rabin64(const void *bytes, size_t len)
{
	return rabin(bytes, len, table64, 64);
}

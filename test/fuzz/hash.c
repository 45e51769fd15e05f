/*
 * hash.c
 *	  The hashes of any string, wherever it stands: against their definitions
 *	  read byte by byte, and Rabin's against division bit by bit. CityHash has no
 *	  other definition than its code, which fixed values hold; here it must read
 *	  nothing beyond the string and not depend on its place.
 */
#include "core/fingerprint/hash.h"
#include "naive.h"

static uint64_t
rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/* Appleby's code for x64 in 128 bits: byte by byte, its tail as its switch. */
static uint64_t
naive_murmur3(const unsigned char *s, size_t len)
{
	const uint64_t c1 = UINT64_C(0x87c37b91114253d5);
	const uint64_t c2 = UINT64_C(0x4cf5ad432745937f);
	uint64_t h[2] = {0, 0};
	uint64_t k[2] = {0, 0};

	for (size_t i = 0; i < len; i++)
	{
		k[i / 8 % 2] |= (uint64_t) s[i] << 8 * (i % 8);
		if (i % 16 != 15)
			continue;
		h[0] ^= rotate(k[0] * c1, 31) * c2;
		h[0] = (rotate(h[0], 27) + h[1]) * 5 + 0x52dce729;
		h[1] ^= rotate(k[1] * c2, 33) * c1;
		h[1] = (rotate(h[1], 31) + h[0]) * 5 + 0x38495ab5;
		k[0] = k[1] = 0;
	}
	if (len % 16 > 8)
		h[1] ^= rotate(k[1] * c2, 33) * c1;
	if (len % 16 > 0)
		h[0] ^= rotate(k[0] * c1, 31) * c2;
	h[0] ^= len;
	h[1] ^= len;
	h[0] += h[1];
	h[1] += h[0];
	for (int i = 0; i < 2; i++)
	{
		h[i] = (h[i] ^ h[i] >> 33) * UINT64_C(0xff51afd7ed558ccd);
		h[i] = (h[i] ^ h[i] >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
		h[i] ^= h[i] >> 33;
	}
	return h[0] + h[1];
}

static uint64_t
naive_bkdr(const unsigned char *s, size_t len)
{
	uint64_t power = 1;
	uint64_t h = 0;

	while (len > 0)
	{
		h += s[--len] * power;
		power *= 131;
	}
	return h;
}

/* Python 2's string hash over UTF-16. */
static uint64_t
naive_java(const char *text, size_t len)
{
	size_t n;
	NaiveChar *chars = naive_chars(text, len, &n);
	uint16_t *units = checked(malloc((2 * n + 1) * sizeof(uint16_t)));
	size_t n_units = 0;
	uint64_t h;

	for (size_t i = 0; i < n; i++)
	{
		uint32_t cp = chars[i].cp == SIMDUP_INVALID_CHAR ? 0xFFFD : chars[i].cp;

		if (cp > 0xFFFF)
			units[n_units++] = (uint16_t) (0xD7C0 + (cp >> 10));
		units[n_units++] =
			(uint16_t) (cp > 0xFFFF ? 0xDC00 | (cp & 0x3FF) : cp);
	}
	h = n_units == 0 ? 0 : (uint64_t) units[0] << 7;
	for (size_t i = 0; i < n_units; i++)
		h = h * 1000003 ^ units[i];
	free(units);
	free(chars);
	return h ^ n_units;
}

/* Shift the bits in one by one, subtract P at the top. */
static uint64_t
naive_rabin(const unsigned char *s, size_t len, int degree, uint64_t poly)
{
	uint64_t f = 0;

	for (size_t i = 0; i < 8 * len; i++)
	{
		bool top = f >> (degree - 1) & 1;

		f = f << 1 | (s[i / 8] >> (7 - i % 8) & 1);
		if (degree == 32)
			f &= UINT32_MAX;
		f ^= top ? poly : 0;
	}
	return f;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	size_t shift = take_byte(&in) % 16;
	size_t len;
	char *text = take_long_text(&in, 20000, &len);
	const unsigned char *s = (const unsigned char *) text;
	char *block = checked(malloc(len + shift + 1));
	char *moved = block + shift;

	memcpy(moved, text, len);
	for (int hash = SIMDUP_HASH_CITY64; hash <= SIMDUP_HASH_JAVA; hash++)
		must(simdup_hash64((SimdupHash) hash, text, len) ==
			 simdup_hash64((SimdupHash) hash, moved, len));
	must(simdup_hash64(SIMDUP_HASH_MURMUR3, text, len) ==
		 naive_murmur3(s, len));
	must(simdup_hash64(SIMDUP_HASH_BKDR, text, len) == naive_bkdr(s, len));
	must(simdup_hash64(SIMDUP_HASH_JAVA, text, len) == naive_java(text, len));
	must(simdup_rabin32(moved, len) == naive_rabin(s, len, 32, 0x8d));
	must(simdup_rabin64(moved, len) == naive_rabin(s, len, 64, 0x1b));
	free(block);
	free(text);
	return 0;
}

/*
 * rabin.c
 *	  Rabin fingerprints, a machine word of text at a time.
 *
 * With the state f and the next word of text T, f becomes f x^degree + T
 * modulo P. The product is a sum over the bytes of f. Each byte has a table of
 * its own, so the look-ups of one step do not wait for each other.
 */
#include "core/rabin.h"

#include <stdbool.h>
#include <string.h>

#include "core/host.h"

#define RABIN32_POLYNOMIAL UINT32_C(0x8d)
#define RABIN64_POLYNOMIAL UINT64_C(0x1b)

/* bytes between two looks at the interrupts */
#define RABIN_STRETCH ((size_t) 1 << 20)

/* [i][b]: b x^(degree + 8 i) modulo P; [0] serves single bytes */
static uint32_t table32[4][256];
static uint64_t table64[8][256];
static bool tables_ready = false;

static void
make_tables(void)
{
	for (int b = 0; b < 256; b++)
	{
		uint32_t f32 = (uint32_t) b << 24;
		uint64_t f64 = (uint64_t) b << 56;

		for (int i = 0; i < 8; i++)
		{
			for (int bit = 0; bit < 8; bit++)
			{
				f32 = f32 << 1 ^ (f32 >> 31 ? RABIN32_POLYNOMIAL : 0);
				f64 = f64 << 1 ^ (f64 >> 63 ? RABIN64_POLYNOMIAL : 0);
			}
			if (i < 4)
				table32[i][b] = f32;
			table64[i][b] = f64;
		}
	}
	tables_ready = true;
}

/* len is a multiple of 4 */
static uint32_t
append_words32(uint32_t f, const unsigned char *p, size_t len)
{
	for (const unsigned char *end = p + len; p < end; p += 4)
	{
		uint32_t text = (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 |
						(uint32_t) p[2] << 8 | p[3];

		f = table32[0][f & 0xff] ^ table32[1][f >> 8 & 0xff] ^
			table32[2][f >> 16 & 0xff] ^ table32[3][f >> 24] ^ text;
	}
	return f;
}

static inline uint64_t
load_big_endian64(const unsigned char *p)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | p[i];
	return word;
}

/* len is a multiple of 8 */
static uint64_t
append_words64(uint64_t f, const unsigned char *p, size_t len)
{
	for (const unsigned char *end = p + len; p < end; p += 8)
	{
		uint64_t sum = load_big_endian64(p);

		for (int i = 0; i < 8; i++)
			sum ^= table64[i][f >> 8 * i & 0xff];
		f = sum;
	}
	return f;
}

uint32_t
simdup_rabin32(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint32_t f = 0;

	if (!tables_ready)
		make_tables();
	while (len >= 4)
	{
		size_t stretch =
			len < RABIN_STRETCH ? len & ~(size_t) 3 : RABIN_STRETCH;

		f = append_words32(f, p, stretch);
		p += stretch;
		len -= stretch;
		if (len >= RABIN_STRETCH)
			simdup_check_interrupts();
	}
	for (; len > 0; len--)
		f = (f << 8 | *p++) ^ table32[0][f >> 24];
	return f;
}

/*
 * Like simdup_rabin32, because types and tables depend on the width. A choice
 * of width for each word would cost more than the word.
 */
uint64_t
simdup_rabin64(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t f = 0;

	if (!tables_ready)
		make_tables();
	while (len >= 8)
	{
		size_t stretch =
			len < RABIN_STRETCH ? len & ~(size_t) 7 : RABIN_STRETCH;

		f = append_words64(f, p, stretch);
		p += stretch;
		len -= stretch;
		if (len >= RABIN_STRETCH)
			simdup_check_interrupts();
	}
	for (; len > 0; len--)
		f = (f << 8 | *p++) ^ table64[0][f >> 56];
	return f;
}

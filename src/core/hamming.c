/*
 * hamming.c
 *	  Fingerprints as strings, and the blocks of a fingerprint that locks and
 *	  the pieces of a table go by.
 *
 * Which pieces hold a fingerprint depends on the arguments only, since the pieces
 * of one table are made on one server and joined on others.
 */
#include "core/hamming.h"

/* Strings */

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

/* The end of the number at str, saturated in *radius, or NULL without one. */
static const char *
read_radius(const char *str, int64_t *radius)
{
	bool negative = *str == '-';
	const char *p = str + negative;

	if (*p < '0' || *p > '9')
		return NULL;
	*radius = 0;
	for (; *p >= '0' && *p <= '9'; p++)
	{
		*radius = *radius * 10 + (*p - '0');
		if (*radius > SIMDUP_MAX_LITERAL_RADIUS)
			*radius = SIMDUP_MAX_LITERAL_RADIUS;
	}
	if (negative)
		*radius = -*radius;
	return p;
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

/* Locks */

/* Where pairs are taken: at most 55 of them. */
#define FIRST_PAIRED_K 5
#define LAST_PAIRED_K 9

static uint64_t
block_value(uint64_t fp, int block, int n_blocks)
{
	int start = simdup_block_start(block, n_blocks);
	int end = simdup_block_start(block + 1, n_blocks);

	return start >= end ? 0 : simdup_block_bits(fp, start, end);
}

/* List the pairs of blocks, of ten bits at most, below the pair's number. */
static int
list_pairs(uint64_t fp, int n_blocks, SimdupLockBlock *blocks)
{
	int n = 0;

	for (int i = 0; i < n_blocks; i++)
		for (int j = i + 1; j < n_blocks; j++, n++)
			blocks[n] =
				(SimdupLockBlock){(uint32_t) ((uint64_t) n << 20 |
											  block_value(fp, i, n_blocks)
												  << 10 |
											  block_value(fp, j, n_blocks)),
								  0};
	return n;
}

int
simdup_lock_blocks(uint64_t fp, int k, SimdupLockBlock *blocks)
{
	if (k >= FIRST_PAIRED_K && k <= LAST_PAIRED_K)
		return list_pairs(fp, k + 2, blocks);
	for (int i = 0; i <= k; i++)
	{
		uint64_t value = block_value(fp, i, k + 1);

		/* 32 bits at most, and 64 for k = 0 */
		blocks[i] =
			(SimdupLockBlock){(uint32_t) (value ^ value >> 32), (uint16_t) i};
	}
	return k + 1;
}

/* Pieces */

void
simdup_pieces_cut(SimdupPieces *pieces, int max_distance, uint32_t n)
{
	pieces->n = n;
	pieces->n_blocks = max_distance + 1;
	for (int i = 0; i <= pieces->n_blocks; i++)
		pieces->start[i] = simdup_block_start(i, pieces->n_blocks);
}

/* Return a block's piece: value and place hashed, scaled to the pieces. */
static uint32_t
piece_of_block(const SimdupPieces *pieces, uint64_t fp, int block)
{
	uint64_t x =
		simdup_block_bits(fp, pieces->start[block], pieces->start[block + 1]);

	x += (uint64_t) (block + 1) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t) ((x >> 32) * pieces->n >> 32);
}

int
simdup_pieces_of(const SimdupPieces *pieces, uint64_t fp, uint32_t *list)
{
	int n = 0;

	for (int block = 0; block < pieces->n_blocks; block++)
	{
		uint32_t piece = piece_of_block(pieces, fp, block);
		int i = 0;

		while (i < n && list[i] != piece)
			i++;
		if (i == n)
			list[n++] = piece;
	}
	return n;
}

uint32_t
simdup_piece_of_pair(const SimdupPieces *pieces, uint64_t a, uint64_t b)
{
	uint64_t differing = a ^ b;
	int block = 0;

	while (block < pieces->n_blocks - 1 &&
		   simdup_block_bits(differing, pieces->start[block],
							 pieces->start[block + 1]) != 0)
		block++;
	return piece_of_block(pieces, a, block);
}

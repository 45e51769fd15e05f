/*
 * chars.c
 *	  Windows of characters, in blocks: a text becomes units, and the windows of a
 *	  block of units are hashed in loops that compilers make vectors of.
 *
 * The same shifts put the windows of a stretch together if all its units have equally
 * many bytes. Other windows, and long ones, are laid out as bytes.
 */
#include "core/fingerprint/ngrams.h"
#include "core/fingerprint/vectors.h"
#include "core/unicode/fold.h"

#ifdef SIMDUP_HAS_VECTORS
#include <immintrin.h>
#endif

/* Units at which a block is full, and how many more one step may add. */
#define FULL_BLOCK 512
#define SPARE_UNITS 64

/* Windows that are hashed together. */
#define STRETCH 16

typedef struct Block
{
	size_t n;
	uint32_t last; /* the unit that was folded to, also a separator */
	/* the last stretch reads behind the last unit */
	uint32_t units[FULL_BLOCK + SPARE_UNITS + STRETCH];
} Block;

/* Units */

/* Add a folded character unless it separates: a SimdupFoldSink. */
static inline void
add_char(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	Block *block = arg;

	if (char_class != SIMDUP_CHAR_SEPARATOR)
		block->units[block->n++] = simdup_unit_of(cp);
}

/* A SimdupFoldReplacer. */
static void
replace_char(void *arg, uint32_t cp)
{
	Block *block = arg;

	block->units[block->n - 1] = simdup_unit_of(cp);
}

/* Add the character at p by all tables. Returns its length. */
static int
add_slowly(Block *block, const unsigned char *p, const unsigned char *end)
{
	unsigned char bytes[SIMDUP_MAX_UTF8];
	uint32_t last;
	int len;

	simdup_store32((char *) bytes, block->last);
	last = simdup_utf8_decode(bytes, bytes + sizeof(bytes), &len);
	simdup_fold(simdup_utf8_decode(p, end, &len), &last, add_char, replace_char,
				block);
	block->last = simdup_unit_of(last);
	return len;
}

#ifdef SIMDUP_HAS_VECTORS
typedef uint32_t Words __attribute__((vector_size(64)));
typedef uint8_t Bytes __attribute__((vector_size(64)));

/* So much ASCII is taken without a check of the characters behind it. */
#define MUCH_ASCII 16

/* Add those of 64 bytes that are chosen, all of them ASCII. */
SIMDUP_AVX512 static inline void
add_ascii_avx512(Block *block, Bytes bytes, uint64_t chosen)
{
	Bytes lower = bytes | 0x20;
	Bytes letters = (Bytes) (lower - 'a' < 26);
	Bytes digits = (Bytes) (bytes - '0' < 10);
	uint64_t kept = _mm512_movepi8_mask((__m512i) (letters | digits)) & chosen;

	bytes = (lower & letters) | (bytes & digits);
	bytes = (Bytes) _mm512_maskz_compress_epi8(kept, (__m512i) bytes);
	for (size_t i = 0; i < 64; i++)
		block->units[block->n + i] = bytes[i];
	block->n += (size_t) __builtin_popcountll(kept);
	block->last = 0; /* nothing joins ASCII */
}

/* Return where the first 16 of these bits are. */
SIMDUP_AVX512 static inline Words
positions(uint64_t bits)
{
	Bytes all;

	for (uint8_t i = 0; i < 64; i++)
		all[i] = i;
	return (Words) _mm512_cvtepu8_epi32(_mm512_castsi512_si128(
		_mm512_maskz_compress_epi8(bits, (__m512i) all)));
}

/*
 * Return the code points of the 16 characters in 64 bytes whose first bytes are given.
 * An ill-formed character, or one of four bytes, gives 0.
 */
SIMDUP_AVX512 static inline Words
decode_avx512(Bytes bytes, uint64_t firsts)
{
	Words at = positions(firsts);
	Words len = positions(firsts & (firsts - 1)) - at;
	Words x = (Words) _mm512_permutexvar_epi8((__m512i) (at * 0x01010101 +
														 0x03020100),
											  (__m512i) bytes);
	Words one = x & 0x7F;
	Words two = (x << 6 & 0x7C0) | (x >> 8 & 0x3F);
	Words three = (x << 12 & 0xF000) | (x >> 2 & 0xFC0) | (x >> 16 & 0x3F);

	one &= (Words) (len == 1) & (Words) ((x & 0x80) == 0);
	two &= (Words) (len == 2) & (Words) ((x & 0xE0) == 0xC0) &
		   (Words) (two >= 0x80);
	three &= (Words) (len == 3) & (Words) ((x & 0xF0) == 0xE0) &
			 (Words) (three >= 0x800);
	return one | two | three;
}

/*
 * Add up to 16 characters of the bytes that are there, of 64, up to one that is not
 * well-formed, or longer, or not in the table. Returns how many bytes were taken.
 */
SIMDUP_AVX512 static inline size_t
add_chars_avx512(Block *block, Bytes bytes, uint64_t there)
{
	/* all bytes begin a character but 80 to BF; so does the end */
	uint64_t firsts =
		_mm512_cmpgt_epi8_mask((__m512i) bytes, _mm512_set1_epi8((char) 0xBF));
	int n = __builtin_popcountll(firsts & there);
	__m512i cp = (__m512i) decode_avx512(bytes, firsts);
	__m512i units = _mm512_i32gather_epi32(cp, simdup_fold_units, 4);
	__m512i nothing = _mm512_set1_epi32(SIMDUP_FOLD_NOTHING);
	uint32_t known =
		_mm512_test_epi32_mask(cp, cp) & _mm512_test_epi32_mask(units, units);
	uint32_t kept;
	uint32_t lasts;

	/* a branch: the next bytes are then loaded before this is known */
	if (n >= 16 && known == 0xFFFF)
		n = 16;
	else if (n > __builtin_ctz(~known))
		n = __builtin_ctz(~known);
	if ((firsts & 1) == 0)
		n = 0;
	known = (1u << n) - 1;
	kept = _mm512_cmpgt_epu32_mask(units, nothing) & known;
	lasts = _mm512_cmpneq_epi32_mask(units, nothing) & known;
	if (lasts != 0)
		block->last = ((Words) units)[31 - __builtin_clz(lasts)];
	units = _mm512_maskz_compress_epi32((__mmask16) kept, units);
	_mm512_storeu_si512(block->units + block->n, units);
	block->n += (size_t) __builtin_popcount(kept);
	return n > 0 ? (size_t) __builtin_ctzll(_pdep_u64(UINT64_C(1) << n, firsts))
				 : 0;
}

/* Add characters from p on. Returns where it stopped. */
SIMDUP_AVX512 static const unsigned char *
add_avx512(Block *block, const unsigned char *p, const unsigned char *end)
{
	size_t taken = 1;

	for (; taken > 0 && p < end && block->n < FULL_BLOCK; p += taken)
	{
		size_t left = (size_t) (end - p);
		uint64_t there = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
		Bytes bytes = (Bytes) _mm512_maskz_loadu_epi8(there, p);
		uint64_t high = _mm512_movepi8_mask((__m512i) bytes);
		uint64_t ascii =
			there & (high - 1) & ~high; /* before the first other */

		taken = (size_t) __builtin_popcountll(ascii);
		if (taken >= MUCH_ASCII || taken == left)
			add_ascii_avx512(block, bytes, ascii);
		else
			taken = add_chars_avx512(block, bytes, there);
	}
	return p;
}
#endif

/* The bytes that are not ASCII, of eight. */
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Add ASCII from p on. Returns where it stopped. */
static inline const unsigned char *
add_ascii(Block *block, const unsigned char *p, const unsigned char *end)
{
	size_t n = block->n;

	while (p < end && *p < 0x80 && n < FULL_BLOCK)
	{
		int count =
			end - p >= 8 && (simdup_load64((const char *) p) & HIGH_BITS) == 0
				? 8
				: 1;

		/* no branch: blanks and stops can't be foreseen */
		for (; count > 0; count--)
		{
			block->units[n] = simdup_fold_units[*p++];
			n += block->units[n] != SIMDUP_FOLD_SEPARATOR;
		}
	}
	block->n = n;
	block->last = 0; /* nothing joins ASCII */
	return p;
}

/*
 * Add characters of len bytes, 2 or 3, and single ASCII ones between them, from p on. It
 * reads four bytes at once. Returns where it stopped.
 */
static inline __attribute__((always_inline)) const unsigned char *
add_longer(Block *block, const unsigned char *p, const unsigned char *end,
		   int len)
{
	uint32_t marks = len == 2 ? 0xC0E0 : 0xC0C0F0;
	uint32_t last = block->last;
	size_t n = block->n;

	while (end - p > 3 && n < FULL_BLOCK)
	{
		uint32_t x = simdup_load32((const char *) p);
		uint32_t cp =
			len == 2 ? (x & 0x1F) << 6 | (x >> 8 & 0x3F)
					 : (x & 0x0F) << 12 | (x >> 2 & 0xFC0) | (x >> 16 & 0x3F);
		uint32_t unit;

		if ((x & 0x80) == 0 && (x & 0x80808080) != 0)
		{
			unit = simdup_fold_units[x & 0x7F];
			p++;
		}
		else
		{
			unit = simdup_fold_units[cp];
			if ((x & marks) != (len == 2 ? 0x80C0 : 0x8080E0) ||
				cp < (len == 2 ? 0x80 : 0x800) || unit == SIMDUP_FOLD_SLOW)
				break;
			p += len;
		}
		block->units[n] = unit;
		n += unit > SIMDUP_FOLD_NOTHING;
		last = unit == SIMDUP_FOLD_NOTHING ? last : unit;
	}
	block->n = n;
	block->last = last;
	return p;
}

/* Add characters that the table has, from p on. Returns where it stopped. */
static inline const unsigned char *
add_common(Block *block, const unsigned char *p, const unsigned char *end)
{
#ifdef SIMDUP_HAS_VECTORS
	if (simdup_vectors == SIMDUP_VECTORS_AVX512)
		return add_avx512(block, p, end);
#endif
	if (*p < 0x80)
		return add_ascii(block, p, end);
	return *p < 0xE0 ? add_longer(block, p, end, 2)
					 : add_longer(block, p, end, 3);
}

/*
 * Fold a text from p on into units, until the block is full, or a check for interrupts
 * is due. Return where it stopped.
 */
static const unsigned char *
fold_block(Block *block, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *stop =
		end - p > SIMDUP_POLL_BYTES ? p + SIMDUP_POLL_BYTES : end;

	while (p < stop && block->n < FULL_BLOCK)
	{
		const unsigned char *before = p;

		p = add_common(block, p, stop);
		if (p == before)
			p += add_slowly(block, p, end);
	}
	return p;
}

/* Add all characters but white space, unchanged, likewise. */
static const unsigned char *
copy_block(Block *block, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	int len;

	for (; p < end && p < poll_at && block->n < FULL_BLOCK; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);

		if (cp != SIMDUP_INVALID_CHAR && !simdup_is_white_space(cp))
			block->units[block->n++] = simdup_unit_of(cp);
	}
	return p;
}

static inline void
begin_block(Block *block)
{
	block->n = 0;
	block->last = 0;
}

/* Fill a block with units. */
static inline const unsigned char *
fill_block(Block *block, bool raw, const unsigned char *p,
		   const unsigned char *end)
{
	simdup_check_interrupts();
	return raw ? copy_block(block, p, end) : fold_block(block, p, end);
}

/* Remove the first n units. */
static inline void
remove_units(Block *block, size_t n)
{
	block->n -= n;
	memmove(block->units, block->units + n, block->n * sizeof(uint32_t));
}

/* Windows */

/*
 * Return n bytes of a window of units that have `width` bytes each, from byte `from` of
 * the first of them on.
 */
static inline __attribute__((always_inline)) uint64_t
load_units(const uint32_t *units, int width, int from, int n)
{
	uint64_t bytes = units[0] >> 8 * from;

	for (int i = 1; i * width - from < n; i++)
		bytes |= (uint64_t) units[i] << 8 * (i * width - from);
	return n == 4 ? (uint32_t) bytes : bytes;
}

/*
 * Hash a stretch of windows of w units of `width` bytes, which have 4 to 16 bytes
 * together. The hash is of the first and the last bytes, which may be the same.
 */
static inline __attribute__((always_inline)) void
hash_equal_units(const uint32_t *units, size_t w, int width, uint64_t *hashes)
{
	size_t len = w * (size_t) width;
	int n = len < 8 ? 4 : 8;
	const uint32_t *ends = units + (len - (size_t) n) / (size_t) width;

	for (int i = 0; n == 4 && i < STRETCH; i++)
	{
		uint64_t bytes = load_units(units + i, width, 0, 4);

		hashes[i] =
			simdup_city_4_to_7(bytes,
							   len == 4 ? bytes
										: load_units(ends + i, width,
													 width == 3 ? 2 : 0, 4),
							   len);
	}
	for (int i = 0; n == 8 && i < STRETCH; i++)
	{
		uint64_t bytes = load_units(units + i, width, 0, 8);

		hashes[i] = simdup_city_8_to_16(bytes,
										len == 8 ? bytes
												 : load_units(ends + i, width,
															  width == 3, 8),
										len);
	}
}

/* Hash n windows of any units, STRETCH at most, as bytes. */
static void
hash_any_units(const uint32_t *units, size_t n, size_t w, uint64_t *hashes)
{
	char bytes[(STRETCH + SIMDUP_MAX_BLOCK_W) * SIMDUP_MAX_UTF8] = {0};
	const char *from = bytes;
	const char *to = bytes;
	char *p = bytes;

	for (size_t i = 0; i < n + w - 1; i++)
	{
		simdup_store32(p, units[i]);
		p += simdup_unit_len(units[i]);
	}
	for (size_t i = 0; i < w; i++)
		to += simdup_unit_len(units[i]);
	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = simdup_city64(from, (size_t) (to - from));
		from += simdup_unit_len(units[i]);
		to += simdup_unit_len(units[i + w]);
	}
}

/*
 * Return how many bytes each unit of a stretch of windows has, or 0 if they differ, or
 * have four.
 */
static inline __attribute__((always_inline)) int
common_width(const uint32_t *units, size_t w)
{
	uint32_t first = units[0];
	uint32_t differing = 0;

	/* the highest bit is set in all bytes of a unit, unless it has one byte only */
	for (int i = 0; i < STRETCH; i++)
		differing |= (units[i] ^ first) | (units[i + w - 1] ^ first);
	if ((differing & 0x80808080) != 0 || first > 0xFFFFFF)
		return 0;
	return (int) simdup_unit_len(first);
}

/* Hash the windows that begin at the first n units. */
static inline __attribute__((always_inline)) void
hash_windows_inline(const uint32_t *units, size_t n, size_t w, uint64_t *hashes)
{
	for (size_t i = 0; i < n; i += STRETCH)
	{
		size_t width = (size_t) common_width(units + i, w);

		if (w * width < 4 || w * width > 16)
			hash_any_units(units + i, n - i < STRETCH ? n - i : STRETCH, w,
						   hashes + i);
		else if (width == 1)
			hash_equal_units(units + i, w, 1, hashes + i);
		else if (width == 2)
			hash_equal_units(units + i, w, 2, hashes + i);
		else
			hash_equal_units(units + i, w, 3, hashes + i);
	}
}

SIMDUP_VECTOR_FUNCTION(hash_windows,
					   (const uint32_t *units, size_t n, size_t w,
						uint64_t *hashes),
					   (units, n, w, hashes))

/* Hand on the hashes of the first n windows. */
static void
hand_on(Block *block, size_t n, size_t w, SimdupElementSink sink, void *arg)
{
	uint64_t hashes[FULL_BLOCK + SPARE_UNITS + STRETCH];

	/* the stretch may be longer than the windows */
	for (size_t i = 0; i < STRETCH; i++)
		block->units[block->n + i] = block->units[block->n - 1];
	hash_windows(block->units, n, w, hashes);
	sink(arg, hashes, n);
}

void
simdup_hash_chars(size_t w, bool raw, const char *text, size_t len,
				  SimdupElementSink sink, void *arg)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	bool any = false;
	Block block;

	begin_block(&block);
	while (p < end)
	{
		size_t needed; /* units: the last one may still change */
		size_t n;

		p = fill_block(&block, raw, p, end);
		needed = w + (p < end);
		if (block.n < needed)
			continue;
		n = block.n - needed + 1;
		hand_on(&block, n, w, sink, arg);
		any = true;
		remove_units(&block, n);
	}
	/* fewer units than a window: they are one */
	if (!any && block.n > 0)
		hand_on(&block, 1, block.n, sink, arg);
}

void
simdup_ngrams_add_text(SimdupNgrams *ngrams, bool raw, const char *text,
					   size_t len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	Block block;

	begin_block(&block);
	while (p < end)
	{
		size_t n;

		p = fill_block(&block, raw, p, end);
		n = p < end && block.n > 0 ? block.n - 1 : block.n;
		for (size_t i = 0; i < n; i++)
			simdup_ngrams_add_unit(ngrams, block.units[i]);
		remove_units(&block, n);
	}
}

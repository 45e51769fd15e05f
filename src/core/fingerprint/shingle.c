/*
 * shingle.c
 *	  Shingles as hashes, without building their strings.
 *
 * The hash of a window is a polynomial in the mixed units. Sliding it by a unit
 * takes two multiplications, at any width. A finisher spreads the polynomial
 * over all bits. Hashes are then like random numbers: their first bits tell
 * them apart, and two distributions sort those bits.
 */
#include "core/fingerprint/shingle.h"

#include <stdlib.h>

/* So few elements are sorted by insertion alone. */
#define INSERTION_MAX 24

/* Moves for an element that insertion may take in the mean. */
#define MOVES_EACH 16

/* Bits to sort by beyond the logarithm of the number of hashes. */
#define SPARE_BITS 4

/* Hashes that a list has room for at first, and where growth needs a reason. */
#define FIRST_SIZE 256
#define CROWDED_SIZE (1 << 16)

/* Bits of one distribution: its buckets fit the first-level cache. */
#define MAX_DIGIT_BITS 11

/* Units that become windows together. */
#define SLIDE_UNITS 256

typedef struct Slider
{
	uint64_t hash;		 /* polynomial of the units in the ring */
	uint64_t out_factor; /* of the unit that leaves the window */
	uint64_t *ring;		 /* the last w units */
	size_t w;
	size_t at;			 /* the oldest of the ring, once it is full */
	size_t units_needed; /* until there is a window */
	bool overflow;
	SimdupHashes *list;
} Slider;

/* Sort by insertion. Return false, half done, if it takes too many moves. */
static bool
insertion_sort(uint64_t *a, size_t n)
{
	size_t moves_left = MOVES_EACH * n;

	for (size_t i = 1; i < n; i++)
	{
		uint64_t x = a[i];
		size_t j = i;

		for (; j > 0 && a[j - 1] > x; j--)
			a[j] = a[j - 1];
		a[j] = x;
		if (i - j > moves_left)
			return false;
		moves_left -= i - j;
		simdup_check_interrupts_at(i);
	}
	return true;
}

/* Stable distribution by `bits` bits of the hash, which counts[] counts. */
static void
distribute(const uint64_t *from, uint64_t *to, size_t n, int shift, int bits,
		   uint32_t *counts)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint32_t sum = 0;

	/* the counts become where the buckets begin */
	for (size_t b = 0; b <= mask; b++)
	{
		uint32_t count = counts[b];

		counts[b] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
	{
		to[counts[from[i] >> shift & mask]++] = from[i];
		simdup_check_interrupts_at(i);
	}
}

/*
 * Sort n hashes that agree in their first `known` bits. Two distributions sort
 * by enough of the next bits that few hashes agree in them. Insertion sorts the
 * rest. Hashes that are chosen to agree take another round.
 */
static void
sort_hashes(uint64_t *a, uint64_t *scratch, size_t n, int known)
{
	uint32_t low_counts[1 << MAX_DIGIT_BITS];
	uint32_t high_counts[1 << MAX_DIGIT_BITS];
	int digit = 5;
	int bits = 64 - known;
	int high;
	int low;
	int shift;
	size_t start = 0;

	if (n <= INSERTION_MAX || known == 64)
	{
		insertion_sort(a, n);
		return;
	}
	while (digit < MAX_DIGIT_BITS && n >> (2 * digit - SPARE_BITS) > 0)
		digit++;
	if (bits > 2 * digit)
		bits = 2 * digit;
	low = bits / 2;
	high = bits - low;
	shift = 64 - known - bits;

	memset(low_counts, 0, sizeof(uint32_t) << low);
	memset(high_counts, 0, sizeof(uint32_t) << high);
	for (size_t i = 0; i < n; i++)
	{
		low_counts[a[i] >> shift & ((1 << low) - 1)]++;
		high_counts[a[i] >> (shift + low) & ((1 << high) - 1)]++;
		simdup_check_interrupts_at(i);
	}
	distribute(a, scratch, n, shift, low, low_counts);
	distribute(scratch, a, n, shift + low, high, high_counts);
	if (insertion_sort(a, n))
		return;
	for (size_t i = 1; i <= n; i++)
		if (i == n || a[i] >> shift != a[i - 1] >> shift)
		{
			sort_hashes(a + start, scratch, i - start, known + bits);
			start = i;
		}
}

void
simdup_hashes_sort(SimdupHashes *list)
{
	uint64_t *scratch;

	if (list->n < 2)
		return;
	scratch = simdup_alloc(list->n * sizeof(uint64_t));
	sort_hashes(list->hashes, scratch, list->n, 0);
	simdup_free(scratch);
}

void
simdup_hashes_unique(SimdupHashes *list)
{
	uint64_t *a = list->hashes;
	uint64_t last;
	size_t n = 1;

	if (list->n < 2)
		return;
	simdup_hashes_sort(list);
	last = a[0];
	for (size_t i = 1; i < list->n; i++)
	{
		uint64_t x = a[i];

		a[n] = x;
		n += x != last;
		last = x;
	}
	list->n = n;
}

bool
simdup_hashes_has(const SimdupHashes *set, uint64_t hash)
{
	return set->n > 0 && bsearch(&hash, set->hashes, set->n, sizeof(hash),
								 simdup_compare_words) != NULL;
}

void
simdup_hashes_free(SimdupHashes *list)
{
	simdup_free(list->hashes);
	*list = (SimdupHashes){0};
}

/*
 * Make room for n more hashes. First see what dropping repetitions gives, so
 * that a long text that repeats itself takes no more room than its shingles.
 */
static bool
reserve(SimdupHashes *list, size_t n)
{
	size_t needed = list->n + n > FIRST_SIZE ? list->n + n : FIRST_SIZE;

	if (needed > list->size && list->size >= CROWDED_SIZE)
	{
		simdup_hashes_unique(list);
		needed = list->n > list->size / 2 ? list->size + 1 : list->n + n;
	}
	if (needed > 2 * SIMDUP_MAX_SHINGLES)
		return false;
	list->hashes =
		simdup_grow(list->hashes, &list->size, needed, sizeof(uint64_t));
	return true;
}

bool
simdup_hashes_add(SimdupHashes *list, uint64_t hash)
{
	if (list->n == list->size && !reserve(list, 1))
		return false;
	list->hashes[list->n++] = hash;
	return true;
}

/* Begin a slider. A text of len bytes has no more than len units. */
static void
slider_begin(Slider *slider, int w, size_t len, SimdupHashes *list)
{
	size_t room = (size_t) w <= len ? (size_t) w : len + 1;

	*slider = (Slider){.w = room, .units_needed = room, .list = list};
	slider->ring = simdup_alloc(room * sizeof(uint64_t));
	slider->out_factor = 1;
	for (size_t i = 0; i < room; i++)
		slider->out_factor *= SIMDUP_GOLDEN;
	list->n = 0;
}

/* Slide over the next n units, SLIDE_UNITS at most, all of them well mixed. */
static void
slide(Slider *slider, const uint64_t *units, size_t n)
{
	uint64_t hash = slider->hash;
	size_t at = slider->at;
	size_t i = 0;
	uint64_t *out;

	/* once there are too many, the rest of the text changes nothing */
	slider->overflow |= !reserve(slider->list, n);
	if (slider->overflow)
		return;
	out = slider->list->hashes + slider->list->n;
	for (; i < n && slider->units_needed > 0; i++)
	{
		hash = hash * SIMDUP_GOLDEN + units[i];
		slider->ring[at] = units[i];
		at = at + 1 < slider->w ? at + 1 : 0;
		if (--slider->units_needed == 0)
			*out++ = simdup_mix64(hash);
	}
	for (; i < n; i++)
	{
		hash = hash * SIMDUP_GOLDEN + units[i] -
			   slider->ring[at] * slider->out_factor;
		slider->ring[at] = units[i];
		at = at + 1 < slider->w ? at + 1 : 0;
		*out++ = simdup_mix64(hash);
	}
	slider->hash = hash;
	slider->at = at;
	slider->list->n = (size_t) (out - slider->list->hashes);
}

static bool
slider_end(Slider *slider)
{
	/* fewer units than the window: they are one shingle */
	if (slider->units_needed > 0 && slider->at > 0 &&
		!simdup_hashes_add(slider->list, simdup_mix64(slider->hash)))
		slider->overflow = true;
	simdup_free(slider->ring);
	/* some of those above the limit may be repetitions */
	if (slider->list->n > SIMDUP_MAX_SHINGLES)
		simdup_hashes_unique(slider->list);
	return !slider->overflow && slider->list->n <= SIMDUP_MAX_SHINGLES;
}

/* Mix a code point by one multiplication, which is enough for its 21 bits. */
static inline uint64_t
mix_char(uint32_t cp)
{
	uint64_t x = (cp + UINT64_C(1)) * UINT64_C(0xff51afd7ed558ccd);

	return x ^ (x >> 32);
}

/*
 * Decode the character at p. Returns whether it is a unit, and its code point,
 * folded unless raw.
 */
static inline bool
next_unit(bool raw, const unsigned char *p, const unsigned char *end, int *len,
		  uint32_t *cp)
{
	SimdupChar c = simdup_next_char(p, end);

	*len = c.len;
	*cp = raw ? c.cp : simdup_folded(c);
	if (raw)
		return c.cp != SIMDUP_INVALID_CHAR && !simdup_is_white_space(c.cp);
	return c.char_class != SIMDUP_CHAR_SEPARATOR;
}

static inline void
slide_chars(Slider *slider, bool raw, const char *text, size_t text_len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + text_len;
	uint64_t units[SLIDE_UNITS];
	int len;
	uint32_t cp;

	while (p < end && !slider->overflow)
	{
		size_t n = 0;

		simdup_check_interrupts();
		/* separators count too, so that a long run of them can be stopped */
		for (int i = 0; i < SLIDE_UNITS && p < end; i++, p += len)
		{
			bool is_unit = next_unit(raw, p, end, &len, &cp);

			units[n] = mix_char(cp);
			n += is_unit;
		}
		slide(slider, units, n);
	}
}

/* Slide over words: a SimdupTokenSink. */
static void
slide_words(void *arg, const SimdupToken *tokens, int count)
{
	uint64_t units[SIMDUP_BATCH_TOKENS];

	for (int i = 0; i < count; i++)
		units[i] = simdup_city64(tokens[i].bytes, tokens[i].len);
	slide(arg, units, (size_t) count);
}

bool
simdup_shingle_hashes(SimdupShingling shingling, const char *text, size_t len,
					  SimdupHashes *list)
{
	static const SimdupTokenizer word = {.kind = SIMDUP_TOKENIZER_WORD};
	Slider slider;

	slider_begin(&slider, shingling.w, len, list);
	if (shingling.unit == SIMDUP_SHINGLE_WORD)
		simdup_tokenize(word, text, len, slide_words, &slider);
	else if (shingling.unit == SIMDUP_SHINGLE_CHAR)
		slide_chars(&slider, false, text, len);
	else
		slide_chars(&slider, true, text, len);
	return slider_end(&slider);
}

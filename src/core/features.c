/*
 * features.c
 *	  Token frequencies, and the weighted sum of their hashes.
 *
 * Frequencies are in an open-addressing table keyed by the 64-bit hash. It holds
 * indexes into an array of features. It is small, cheap to clear for each text,
 * and yields features in a fixed order. Tokens are equal only if their bytes are,
 * too. The sum's counters are bit-sliced, with carry-save adders.
 */
#include <stddef.h>
#include <string.h>

#include "core/features.h"
#include "core/host.h"

/* Frequencies */

/* Features of the smallest table. */
#define MIN_CAPACITY 64
#define MAX_FIRST_CAPACITY 4096

/* Copied tokens are small; a chunk is a few pages. */
#define ARENA_CHUNK 16384

/* Steps of a long loop between two looks for interrupts. */
#define INTERRUPT_STEPS (1 << 14)

static const char *
arena_copy(SimdupArena *arena, const char *bytes, size_t len)
{
	char *copy;

	/* the first chunk comes even for a token of no bytes, which lies somewhere */
	if (!arena->chunk || arena->size - arena->used < len)
	{
		size_t size = sizeof(char *) + (len > ARENA_CHUNK ? len : ARENA_CHUNK);
		char *chunk = simdup_alloc(size);

		memcpy(chunk, &arena->chunk, sizeof(char *));
		arena->chunk = chunk;
		arena->used = sizeof(char *);
		arena->size = size;
	}
	copy = arena->chunk + arena->used;
	memcpy(copy, bytes, len);
	arena->used += len;
	return copy;
}

static void
arena_free(SimdupArena *arena)
{
	while (arena->chunk)
	{
		char *next;

		memcpy(&next, arena->chunk, sizeof(char *));
		simdup_free(arena->chunk);
		arena->chunk = next;
	}
}

/*
 * A slot carries the upper half of its feature's hash, so that a probe past
 * other features' slots needs to look at none of them.
 */
#define SLOT_TAG UINT64_C(0xFFFFFFFF00000000)

static inline uint64_t
make_slot(uint64_t hash, size_t index)
{
	return (hash & SLOT_TAG) | (uint32_t) (index + 1);
}

/* Make at least two slots a feature: a probe seldom meets another. */
static void
make_slots(SimdupFeatures *features)
{
	size_t n = 2 * features->capacity;

	features->slots = simdup_alloc0(n * sizeof(uint64_t));
	features->mask = n - 1;
}

static void
grow(SimdupFeatures *features)
{
	features->capacity *= 2;
	features->features =
		simdup_realloc(features->features,
					   features->capacity * sizeof(SimdupFeature));
	simdup_free(features->slots);
	make_slots(features);
	for (size_t i = 0; i < features->count; i++)
	{
		size_t slot = features->features[i].hash & features->mask;

		while (features->slots[slot] != 0)
			slot = (slot + 1) & features->mask;
		features->slots[slot] = make_slot(features->features[i].hash, i);
		if (i % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
}

/* Compare short strings inline: overlapping words cover lengths 4 to 16. */
static inline bool
equal_bytes(const char *a, const char *b, size_t len)
{
	if (len > 16)
		return memcmp(a, b, len) == 0;
	if (len >= 8)
		return simdup_load64(a) == simdup_load64(b) &&
			   simdup_load64(a + len - 8) == simdup_load64(b + len - 8);
	if (len >= 4)
		return simdup_load32(a) == simdup_load32(b) &&
			   simdup_load32(a + len - 4) == simdup_load32(b + len - 4);
	return len == 0 || (a[0] == b[0] && a[len >> 1] == b[len >> 1] &&
						a[len - 1] == b[len - 1]);
}

static uint32_t
add_new(SimdupFeatures *features, size_t slot, uint64_t hash,
		const SimdupToken *token)
{
	SimdupFeature *feature;
	const char *bytes = token->bytes;

	if ((uintptr_t) bytes - (uintptr_t) features->text >= features->text_len)
		bytes = arena_copy(&features->arena, bytes, token->len);
	features->slots[slot] = make_slot(hash, features->count);
	feature = &features->features[features->count++];
	feature->hash = hash;
	feature->bytes = bytes;
	feature->len = token->len;
	feature->tf = 1;
	if (features->count == features->capacity)
		grow(features);
	return 1;
}

/* Count one occurrence; returns the token's frequency so far. */
static inline uint32_t
add_token(SimdupFeatures *features, uint64_t hash, const SimdupToken *token)
{
	size_t slot = hash & features->mask;
	uint64_t found;

	while ((found = features->slots[slot]) != 0)
	{
		if (((found ^ hash) & SLOT_TAG) == 0)
		{
			SimdupFeature *feature = &features->features[(uint32_t) found - 1];

			if (feature->hash == hash && feature->len == token->len &&
				equal_bytes(feature->bytes, token->bytes, token->len))
				return ++feature->tf;
		}
		slot = (slot + 1) & features->mask;
	}
	return add_new(features, slot, hash, token);
}

/*
 * Count a batch; hashes[] is left with one entry for each growth of a weight,
 * whose number is returned. Every weighting grows by 0 or 1 with each
 * occurrence. Inline, so that each weighting has a loop of its own.
 */
static inline int
count_batch(SimdupFeatures *features, SimdupWeighting weighting,
			uint64_t *hashes, const SimdupToken *tokens, int count)
{
	int growths = 0;

	for (int i = 0; i < count; i++)
	{
		uint64_t hash = hashes[i];
		uint32_t tf = add_token(features, hash, &tokens[i]);

		/* not before i, so the hashes still to come are safe */
		hashes[growths] = hash;
		if (weighting == SIMDUP_WEIGHTING_LOG)
			growths += (tf & (tf - 1)) == 0;
		else
			growths += weighting == SIMDUP_WEIGHTING_TF || tf == 1;
	}
	return growths;
}

/*
 * Hash a batch, count it, sum it: three loops, since each runs faster alone.
 * The sum takes a hash once for each growth of its weight, so it need not wait
 * for the final frequencies.
 */
void
simdup_features_count(void *arg, const SimdupToken *tokens, int count)
{
	SimdupFeatures *features = arg;
	uint64_t hashes[SIMDUP_BATCH_TOKENS];
	int growths;

	if (features->hash == SIMDUP_HASH_CITY64)
	{
		for (int i = 0; i < count; i++)
			hashes[i] = simdup_city64(tokens[i].bytes, tokens[i].len);
	}
	else
	{
		for (int i = 0; i < count; i++)
			hashes[i] =
				simdup_hash64(features->hash, tokens[i].bytes, tokens[i].len);
	}
	if (features->weighting == SIMDUP_WEIGHTING_LOG)
		growths =
			count_batch(features, SIMDUP_WEIGHTING_LOG, hashes, tokens, count);
	else
		growths =
			count_batch(features, features->weighting, hashes, tokens, count);
	if (features->sum)
		simdup_sum_add_ones(features->sum, hashes, growths);
}

void
simdup_features_begin(SimdupFeatures *features, SimdupHash hash,
					  SimdupWeighting weighting, SimdupSum *sum,
					  const char *text, size_t len)
{
	memset(features, 0, sizeof(*features));
	features->hash = hash;
	features->weighting = weighting;
	features->sum = sum;
	features->text = text;
	features->text_len = len;

	/* about one feature for every four bytes, and as many again for speed */
	features->capacity = MIN_CAPACITY;
	while (features->capacity < len / 3 &&
		   features->capacity < MAX_FIRST_CAPACITY)
		features->capacity *= 2;
	features->features =
		simdup_alloc(features->capacity * sizeof(SimdupFeature));
	make_slots(features);
}

void
simdup_features_add_distinct(SimdupFeatures *features, const char *bytes,
							 size_t len, uint32_t tf)
{
	SimdupToken token = {bytes, (uint32_t) len};
	uint64_t hash = simdup_hash64(features->hash, bytes, len);
	size_t slot = hash & features->mask;

	while (features->slots[slot] != 0)
		slot = (slot + 1) & features->mask;
	(void) add_new(features, slot, hash, &token);
	features->features[features->count - 1].tf = tf;
}

void
simdup_features_free(SimdupFeatures *features)
{
	simdup_free(features->features);
	simdup_free(features->slots);
	arena_free(&features->arena);
}

/* Order of n_features: frequency descending, then bytes ascending. */
static int
compare_features(const SimdupFeature *a, const SimdupFeature *b)
{
	int order;

	if (a->tf != b->tf)
		return a->tf > b->tf ? -1 : 1;
	order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);
	if (order != 0)
		return order;
	return (a->len > b->len) - (a->len < b->len);
}

static inline void
swap_features(SimdupFeature *a, SimdupFeature *b)
{
	SimdupFeature swap = *a;

	*a = *b;
	*b = swap;
}

/* Partition around the median of three. Return the smaller side's end. */
static size_t
partition(SimdupFeature *f, size_t low, size_t high)
{
	SimdupFeature pivot;
	size_t middle = low + (high - low) / 2;
	size_t i = low;
	size_t j = high;
	uint32_t steps = 0;

	if (compare_features(&f[middle], &f[low]) < 0)
		swap_features(&f[middle], &f[low]);
	if (compare_features(&f[high], &f[middle]) < 0)
	{
		swap_features(&f[high], &f[middle]);
		if (compare_features(&f[middle], &f[low]) < 0)
			swap_features(&f[middle], &f[low]);
	}
	pivot = f[middle];
	for (;;)
	{
		while (compare_features(&f[i], &pivot) < 0)
			i++;
		while (compare_features(&pivot, &f[j]) < 0)
			j--;
		if (i >= j)
			return j;
		swap_features(&f[i++], &f[j--]);
		if (++steps % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
}

/* Put heap element i of n where it belongs; the largest is at the top. */
static void
sift_down(SimdupFeature *f, size_t i, size_t n)
{
	for (;;)
	{
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n && compare_features(&f[child], &f[child + 1]) < 0)
			child++;
		if (compare_features(&f[i], &f[child]) >= 0)
			return;
		swap_features(&f[i], &f[child]);
		i = child;
	}
}

/*
 * Sort by a heap. It needs no recursion and no memory, and takes n log n steps
 * for every input. Unlike the C library's qsort, it can be interrupted.
 */
static void
sort_range(SimdupFeature *f, size_t n)
{
	uint32_t steps = 0;

	for (size_t i = n / 2; i-- > 0;)
	{
		sift_down(f, i, n);
		if (++steps % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
	for (size_t i = n; i-- > 1;)
	{
		swap_features(&f[0], &f[i]);
		sift_down(f, 0, i);
		if (++steps % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
}

void
simdup_features_keep_top(SimdupFeatures *features, size_t n)
{
	size_t low = 0;
	size_t high;
	int rounds = 0;

	if (n >= features->count)
		return;

	/* quickselect; should the pivots be bad, sorting what is left settles it */
	high = features->count - 1;
	while (low < high)
	{
		size_t split;

		if (++rounds > 64)
		{
			sort_range(features->features + low, high - low + 1);
			break;
		}
		split = partition(features->features, low, high);
		if (n <= split)
			high = split;
		else
			low = split + 1;
	}
	features->count = n;
}

void
simdup_features_sort(SimdupFeatures *features)
{
	sort_range(features->features, features->count);
}

void
simdup_features_add_to(const SimdupFeatures *features, SimdupSum *sum)
{
	for (size_t i = 0; i < features->count; i++)
	{
		const SimdupFeature *feature = &features->features[i];

		simdup_sum_add(sum, feature->hash,
					   simdup_weight(features->weighting, feature->tf));
		if (i % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
}

/* Sums */

/* Add the word of weight 2^plane to the counters: ripple until no carry. */
static inline void
ripple(uint64_t *planes, uint64_t carry, int plane)
{
	for (; carry != 0 && plane < SIMDUP_SUM_PLANES; plane++)
	{
		uint64_t both = planes[plane] & carry;

		planes[plane] ^= carry;
		carry = both;
	}
}

/* Subtract a word that was added before, so there is a digit to borrow from. */
static inline void
ripple_borrow(uint64_t *planes, uint64_t borrow, int plane)
{
	for (; borrow != 0 && plane < SIMDUP_SUM_PLANES; plane++)
	{
		uint64_t lacking = ~planes[plane] & borrow;

		planes[plane] ^= borrow;
		borrow = lacking;
	}
}

void
simdup_counts_add(SimdupCounts *counts, uint64_t hash, uint64_t weight)
{
	simdup_counts_add_total(counts, weight);
	for (; weight != 0; weight &= weight - 1)
		ripple(counts->planes, hash, __builtin_ctzll(weight));
}

void
simdup_counts_subtract(SimdupCounts *counts, uint64_t hash, uint64_t weight)
{
	counts->total_high -= counts->total_low < weight;
	counts->total_low -= weight;
	for (; weight != 0; weight &= weight - 1)
		ripple_borrow(counts->planes, hash, __builtin_ctzll(weight));
}

void
simdup_counts_merge(SimdupCounts *counts, const SimdupCounts *other)
{
	for (int plane = 0; plane < SIMDUP_SUM_PLANES; plane++)
		ripple(counts->planes, other->planes[plane], plane);
	simdup_counts_add_total(counts, other->total_low);
	counts->total_high += other->total_high;
}

/* Add three words: *sum takes the ones. Return the carries. */
static inline uint64_t
add3(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t u = *sum ^ a;
	uint64_t carry = (*sum & a) | (u & b);

	*sum = u ^ b;
	return carry;
}

/*
 * Add sixteen words of weight 2^digit to the counters. Harley and Seal's tree
 * updates four planes and leaves one carry to ripple.
 */
static inline void
add_sixteen(uint64_t *planes, const uint64_t *x, int digit)
{
	uint64_t *p = &planes[digit];
	uint64_t twos[2];
	uint64_t fours[2];
	uint64_t eights[2];

	for (int i = 0; i < 2; i++, x += 8)
	{
		twos[0] = add3(&p[0], x[0], x[1]);
		twos[1] = add3(&p[0], x[2], x[3]);
		fours[0] = add3(&p[1], twos[0], twos[1]);
		twos[0] = add3(&p[0], x[4], x[5]);
		twos[1] = add3(&p[0], x[6], x[7]);
		fours[1] = add3(&p[1], twos[0], twos[1]);
		eights[i] = add3(&p[2], fours[0], fours[1]);
	}
	ripple(planes, add3(&p[3], eights[0], eights[1]), digit + 4);
}

void
simdup_sum_init(SimdupSum *sum)
{
	/* what lies in batch beyond waiting is never read */
	memset(sum, 0, offsetof(SimdupSum, batch));
}

void
simdup_sum_flush_digit(SimdupSum *sum, int digit)
{
	add_sixteen(sum->counts.planes, sum->batch[digit], digit);
	sum->waiting[digit] = 0;
}

void
simdup_sum_add_ones(SimdupSum *sum, const uint64_t *hashes, int n)
{
	int i = 0;

	simdup_counts_add_total(&sum->counts, (uint64_t) n);
	for (; i + SIMDUP_SUM_BATCH <= n; i += SIMDUP_SUM_BATCH)
		add_sixteen(sum->counts.planes, hashes + i, 0);
	for (; i < n; i++)
		simdup_sum_add_digit(sum, hashes[i], 0);
}

SimdupCounts *
simdup_sum_finish(SimdupSum *sum)
{
	for (int digit = 0; digit < SIMDUP_SUM_DIGITS; digit++)
	{
		if (sum->waiting[digit] == 0)
			continue;
		/* words of zeros fill the batch: they count nowhere */
		memset(&sum->batch[digit][sum->waiting[digit]], 0,
			   (SIMDUP_SUM_BATCH - sum->waiting[digit]) * sizeof(uint64_t));
		simdup_sum_flush_digit(sum, digit);
	}
	return &sum->counts;
}

uint64_t
simdup_counts_signs(const SimdupCounts *counts, bool ties)
{
	uint64_t half_low = counts->total_low >> 1 | counts->total_high << 63;
	uint64_t half_high = counts->total_high >> 1;
	bool odd = counts->total_low & 1;
	uint64_t greater = 0;
	uint64_t equal = ~UINT64_C(0);
	int digits = 0;

	if (counts->total_high != 0)
		digits = 128 - __builtin_clzll(counts->total_high);
	else if (counts->total_low != 0)
		digits = 64 - __builtin_clzll(counts->total_low);

	/*
	 * A counter is positive where the weight of its ones exceeds half the
	 * total, rounded down. It is zero where both are equal and the total is
	 * even. All 64 comparisons run at once, from the total's highest digit.
	 */
	for (int plane = digits - 1; plane >= 0; plane--)
	{
		uint64_t half =
			plane < 64 ? half_low >> plane : half_high >> (plane - 64);

		if (half & 1)
			equal &= counts->planes[plane];
		else
		{
			greater |= equal & counts->planes[plane];
			equal &= ~counts->planes[plane];
		}
	}
	return ties && !odd ? greater | equal : greater;
}

/*
 * token_counts.c
 *	  Token frequencies.
 *
 * Frequencies are in an open-addressing table keyed by the 64-bit hash. It holds
 * indexes into an array of features. It is small, cheap to clear for each text,
 * and yields features in a fixed order. Tokens are equal only if their bytes are,
 * too.
 */
#include "core/fingerprint/token_counts.h"

/* Features of the smallest table. */
#define MIN_CAPACITY 64
#define MAX_FIRST_CAPACITY 262144

/* Slots from which on a table does not stay in the second-level cache. */
#define MANY_SLOTS 65536

/* Copied tokens are small; a chunk is a few pages. */
#define CHUNK_BYTES 16384

struct SimdupTokenChunk
{
	SimdupTokenChunk *next;
	char bytes[];
};

/* Copy a token that would not outlive its batch. */
static const char *
copy_token(SimdupTokenCounts *features, const SimdupToken *token)
{
	char *copy;

	/* the first chunk comes even for a token of no bytes, which lies somewhere */
	if (features->chunks == NULL || features->chunk_left < token->len)
	{
		size_t size = token->len > CHUNK_BYTES ? token->len : CHUNK_BYTES;
		SimdupTokenChunk *chunk = simdup_alloc(sizeof(*chunk) + size);

		chunk->next = features->chunks;
		features->chunks = chunk;
		features->chunk_at = chunk->bytes;
		features->chunk_left = size;
	}
	copy = features->chunk_at;
	memcpy(copy, token->bytes, token->len);
	features->chunk_at += token->len;
	features->chunk_left -= token->len;
	return copy;
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
make_slots(SimdupTokenCounts *features)
{
	size_t n = 2 * features->capacity;

	features->slots = simdup_alloc0(n * sizeof(uint64_t));
	features->mask = n - 1;
}

/* Return the slot of a token that is not in the table. */
static inline size_t
free_slot(const SimdupTokenCounts *features, uint64_t hash)
{
	size_t slot = hash & features->mask;

	while (features->slots[slot] != 0)
		slot = (slot + 1) & features->mask;
	return slot;
}

static void
grow(SimdupTokenCounts *features)
{
	features->capacity *= 2;
	features->features =
		simdup_realloc(features->features,
					   features->capacity * sizeof(SimdupTokenCount));
	simdup_free(features->slots);
	make_slots(features);
	for (size_t i = 0; i < features->count; i++)
	{
		uint64_t hash = features->features[i].hash;

		features->slots[free_slot(features, hash)] = make_slot(hash, i);
		simdup_check_interrupts_at(i);
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
add_new(SimdupTokenCounts *features, size_t slot, uint64_t hash,
		const SimdupToken *token)
{
	const char *bytes = token->bytes;

	if ((uintptr_t) bytes - (uintptr_t) features->text >= features->text_len)
		bytes = copy_token(features, token);
	features->slots[slot] = make_slot(hash, features->count);
	features->features[features->count++] =
		(SimdupTokenCount){hash, bytes, token->len, 1};
	if (features->count == features->capacity)
		grow(features);
	return 1;
}

/* Count one occurrence; returns the token's frequency so far. */
static inline uint32_t
add_token(SimdupTokenCounts *features, uint64_t hash, const SimdupToken *token)
{
	size_t slot = hash & features->mask;
	uint64_t found;

	while ((found = features->slots[slot]) != 0)
	{
		if (((found ^ hash) & SLOT_TAG) == 0)
		{
			SimdupTokenCount *feature =
				&features->features[(uint32_t) found - 1];

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
count_batch(SimdupTokenCounts *features, SimdupWeighting weighting,
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
 * Prefetch the slots of a batch, and then the features that they lead to, so that
 * cache misses overlap.
 */
static void
fetch_ahead(const SimdupTokenCounts *features, const uint64_t *hashes,
			int count)
{
	for (int i = 0; i < count; i++)
		__builtin_prefetch(&features->slots[hashes[i] & features->mask]);
	for (int i = 0; i < count; i++)
	{
		uint32_t found = (uint32_t) features->slots[hashes[i] & features->mask];

		__builtin_prefetch(&features->features[found - (found > 0)]);
	}
}

/*
 * Hash a batch, count it, sum it: three loops, since each runs faster alone.
 * The sum takes a hash once for each growth of its weight, so it need not wait
 * for the final frequencies.
 */
void
simdup_token_counts_add(void *arg, const SimdupToken *tokens, int count)
{
	SimdupTokenCounts *features = arg;
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
	if (features->mask >= MANY_SLOTS)
		fetch_ahead(features, hashes, count);
	if (features->weighting == SIMDUP_WEIGHTING_LOG)
		growths =
			count_batch(features, SIMDUP_WEIGHTING_LOG, hashes, tokens, count);
	else
		growths =
			count_batch(features, features->weighting, hashes, tokens, count);
	if (features->sum)
		simdup_counters_add_ones(features->sum, hashes, growths);
}

void
simdup_token_counts_begin(SimdupTokenCounts *features, SimdupHash hash,
						  SimdupWeighting weighting, SimdupCounters *sum,
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
		simdup_alloc(features->capacity * sizeof(SimdupTokenCount));
	make_slots(features);
}

void
simdup_token_counts_add_distinct(SimdupTokenCounts *features, const char *bytes,
								 size_t len, uint32_t tf)
{
	SimdupToken token = {bytes, (uint32_t) len};
	uint64_t hash = simdup_hash64(features->hash, bytes, len);

	(void) add_new(features, free_slot(features, hash), hash, &token);
	features->features[features->count - 1].tf = tf;
}

void
simdup_token_counts_free(SimdupTokenCounts *features)
{
	simdup_free(features->features);
	simdup_free(features->slots);
	while (features->chunks != NULL)
	{
		SimdupTokenChunk *next = features->chunks->next;

		simdup_free(features->chunks);
		features->chunks = next;
	}
}

/*
 * Order by which n_features chooses: frequency descending, then bytes ascending.
 * Checks for interrupts.
 */
static int
compare_features(const void *left, const void *right)
{
	const SimdupTokenCount *a = left;
	const SimdupTokenCount *b = right;

	simdup_check_interrupts();
	if (a->tf != b->tf)
		return a->tf > b->tf ? -1 : 1;
	return simdup_bytes_order(a->bytes, a->len, b->bytes, b->len);
}

/*
 * Part [low, high] around its middle element (Hoare 1961). Return the end of the
 * first part.
 */
static size_t
partition(SimdupTokenCount *f, size_t low, size_t high)
{
	SimdupTokenCount pivot = f[low + (high - low) / 2];

	for (size_t i = low, j = high;; i++, j--)
	{
		SimdupTokenCount swap;

		while (compare_features(&f[i], &pivot) < 0)
			i++;
		while (compare_features(&pivot, &f[j]) < 0)
			j--;
		if (i >= j)
			return j;
		swap = f[i];
		f[i] = f[j];
		f[j] = swap;
	}
}

void
simdup_token_counts_keep_top(SimdupTokenCounts *features, size_t n)
{
	SimdupTokenCount *f = features->features;
	size_t low = 0;
	size_t high = features->count - 1;

	if (n >= features->count)
		return;
	/* quickselect; should the pivots be bad, the rest is sorted */
	for (int rounds = 0; low < high && rounds < 64; rounds++)
	{
		size_t split = partition(f, low, high);

		if (n <= split)
			high = split;
		else
			low = split + 1;
	}
	simdup_sort(f + low, high - low + 1, sizeof(*f), compare_features);
	features->count = n;
}

void
simdup_token_counts_sort(SimdupTokenCounts *features)
{
	simdup_sort(features->features, features->count, sizeof(SimdupTokenCount),
				compare_features);
}

void
simdup_token_counts_sum(const SimdupTokenCounts *features, SimdupCounters *sum)
{
	uint64_t ones[SIMDUP_BATCH_TOKENS]; /* most weights are 1 */
	int n_ones = 0;

	for (size_t i = 0; i < features->count; i++)
	{
		const SimdupTokenCount *feature = &features->features[i];
		uint64_t weight = simdup_weight(features->weighting, feature->tf);

		simdup_check_interrupts_at(i);
		if (weight > 1)
			simdup_counters_add(sum, feature->hash, weight);
		else
			ones[n_ones++] = feature->hash;
		if (n_ones == SIMDUP_BATCH_TOKENS)
		{
			simdup_counters_add_ones(sum, ones, n_ones);
			n_ones = 0;
		}
	}
	simdup_counters_add_ones(sum, ones, n_ones);
}

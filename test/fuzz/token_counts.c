/*
 * token_counts.c
 *	  Frequencies, the largest of them and the fingerprint of any tokens, in any
 *	  batches, against lists and plain counters.
 *
 * With the hash bkdr, whose collisions are easy to make, different tokens must
 * stay apart although their hashes are equal.
 */
#include "core/fingerprint/token_counts.h"
#include "naive.h"

#define MAX_TOKENS 600

/* A distinct token as the naive list has it. */
typedef struct Counted
{
	const char *bytes;
	size_t len;
	uint32_t tf;
} Counted;

/* In order of first occurrence. */
static size_t
count_naively(const Strings *tokens, Counted *counted)
{
	size_t n = 0;
	size_t at = 0;
	const char *bytes;
	size_t len;

	while (next_string(tokens, &at, &bytes, &len))
	{
		size_t i = 0;

		while (i < n && (counted[i].len != len ||
						 memcmp(counted[i].bytes, bytes, len) != 0))
			i++;
		if (i == n)
			counted[n++] = (Counted){bytes, len, 0};
		counted[i].tf++;
	}
	return n;
}

/* Frequency descending, then bytes ascending. */
static int
compare_counted(const void *a, const void *b)
{
	const Counted *x = a;
	const Counted *y = b;
	size_t shorter = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->bytes, y->bytes, shorter);

	if (x->tf != y->tf)
		return x->tf > y->tf ? -1 : 1;
	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static uint64_t
naive_weight(SimdupWeighting weighting, uint32_t tf)
{
	uint64_t weight = 0;

	if (weighting == SIMDUP_WEIGHTING_SET)
		return 1;
	if (weighting == SIMDUP_WEIGHTING_TF)
		return tf;
	for (; tf > 0; tf /= 2)
		weight++;
	return weight;
}

static uint64_t
naive_signs(const Counted *counted, size_t n, SimdupHash hash,
			SimdupWeighting weighting, bool ties)
{
	uint64_t signs = 0;

	for (int bit = 0; bit < 64; bit++)
	{
		int64_t sum = 0;

		for (size_t i = 0; i < n; i++)
		{
			int64_t weight = (int64_t) naive_weight(weighting, counted[i].tf);
			uint64_t h = simdup_hash64(hash, counted[i].bytes, counted[i].len);

			sum += h >> bit & 1 ? weight : -weight;
		}
		signs |= (uint64_t) (ties ? sum >= 0 : sum > 0) << bit;
	}
	return signs;
}

static bool
is_counted(const SimdupTokenCount *feature, const Counted *counted,
		   SimdupHash hash)
{
	return feature->len == counted->len && feature->tf == counted->tf &&
		   memcmp(feature->bytes, counted->bytes, feature->len) == 0 &&
		   feature->hash == simdup_hash64(hash, feature->bytes, feature->len);
}

/*
 * Hand on the tokens in batches of that size. Tokens lie in the text of the
 * table or, if `copied`, in a buffer that lives no longer than the batch.
 */
static void
count_tokens(SimdupTokenCounts *features, const Strings *tokens, int batch,
			 bool copied)
{
	size_t at = 0;
	const char *bytes;
	size_t len;
	bool more = true;

	while (more)
	{
		SimdupToken tokens_now[SIMDUP_BATCH_TOKENS];
		char *copies[SIMDUP_BATCH_TOKENS];
		int n = 0;

		while (n < batch && (more = next_string(tokens, &at, &bytes, &len)))
		{
			copies[n] = copied ? exact_copy(bytes, len) : NULL;
			tokens_now[n].bytes = copied ? copies[n] : bytes;
			tokens_now[n++].len = (uint32_t) len;
		}
		simdup_token_counts_add(features, tokens_now, n);
		while (n > 0)
			free(copies[--n]);
	}
}

/* Bytes cut into tokens by a first byte that says how long each is. */
static Strings
take_tokens(Input *in)
{
	Strings tokens = {0};

	while (input_left(in) > 0 && tokens.n < MAX_TOKENS)
	{
		uint8_t first = take_byte(in);
		size_t len;
		char *token = take_text(in, first < 0xf0 ? first % 24 : 200, &len);

		for (int i = 0; i <= first / 24 % 4; i++)
			add_string(&tokens, token, len);
		free(token);
	}
	return tokens;
}

static void
check_kept(SimdupTokenCounts *features, const Counted *counted, size_t n,
		   size_t keep)
{
	simdup_token_counts_keep_top(features, keep);
	must(features->count == (keep < n ? keep : n));
	simdup_token_counts_sort(features);
	for (size_t i = 0; i < features->count; i++)
		must(is_counted(&features->features[i], &counted[i], features->hash));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Counted counted[4 * MAX_TOKENS];
	static Counted sorted[4 * MAX_TOKENS];
	SimdupCounters sums[2] = {0};
	Input in = input_of(data, size);
	SimdupHash hash = (SimdupHash) (take_byte(&in) % 4);
	SimdupWeighting weighting = (SimdupWeighting) (take_byte(&in) % 3);
	int batch = (int) take_between(&in, 1, SIMDUP_BATCH_TOKENS);
	bool copied = take_byte(&in) & 1;
	size_t keep = take_between(&in, 1, MAX_TOKENS);
	Strings tokens = take_tokens(&in);
	size_t n = count_naively(&tokens, counted);
	SimdupTokenCounts features;
	SimdupTokenCounts again;
	uint64_t signs[2];

	/* counted and summed as they come */
	simdup_token_counts_begin(&features, hash, weighting, &sums[0],
							  tokens.bytes, tokens.used);
	count_tokens(&features, &tokens, batch, copied);
	must(features.count == n);
	for (size_t i = 0; i < n; i++)
		must(is_counted(&features.features[i], &counted[i], hash) &&
			 simdup_weight(weighting, counted[i].tf) ==
				 naive_weight(weighting, counted[i].tf));

	/* put in as distinct ones, summed after the fact */
	simdup_token_counts_begin(&again, hash, weighting, NULL, NULL, 0);
	for (size_t i = 0; i < n; i++)
		simdup_token_counts_add_distinct(&again, counted[i].bytes,
										 counted[i].len, counted[i].tf);
	simdup_token_counts_sum(&again, &sums[1]);
	for (int ties = 0; ties < 2; ties++)
	{
		signs[0] = simdup_counters_signs(&sums[0], ties);
		signs[1] = simdup_counters_signs(&sums[1], ties);
		must(signs[0] == naive_signs(counted, n, hash, weighting, ties) &&
			 signs[1] == signs[0]);
	}

	memcpy(sorted, counted, n * sizeof(Counted));
	qsort(sorted, n, sizeof(Counted), compare_counted);
	check_kept(&features, sorted, n, keep);
	check_kept(&again, sorted, n, keep + n / 2);
	simdup_token_counts_free(&features);
	simdup_token_counts_free(&again);
	free(tokens.bytes);
	return 0;
}

/*
 * token_counts.c
 *	  Hashes and tokenizers: fixed values, and the batch edges that SQL tests
 *	  with their short texts do not reach.
 */
#include "core/fingerprint/hash.h"
#include "core/fingerprint/token_counts.h"
#include "core/host.h"
#include "core/unicode/charclass.h"
#include "tap.h"

static void
check_hashes(void)
{
	static char long_text[1000];

	memset(long_text, 'x', sizeof(long_text));
	is_u64(simdup_city64("", 0), UINT64_C(0x9ae16a3b2f90404f), "city64 of ''");
	is_u64(simdup_city64("ab", 2), UINT64_C(0xaa8d6e5242ada51e),
		   "city64, 2 bytes");
	is_u64(simdup_city64("abc", 3), UINT64_C(0x24a5b3a074e7f369),
		   "city64, 3 bytes");
	is_u64(simdup_city64("hello", 5), UINT64_C(0xb48be5a931380ce8),
		   "city64, 5 bytes");
	is_u64(simdup_city64("PostgreSQL", 10), UINT64_C(0x4fdf56fcf94769b6),
		   "city64, 10 bytes");
	is_u64(simdup_city64("0123456789abcdef0123456789abcdef", 32),
		   UINT64_C(0x1b2d8a5b869fce78), "city64, 32 bytes");
	is_u64(simdup_city64("How can you write a big system without C++?  -Paul Glick",
						 56),
		   UINT64_C(749291162957442504), "city64, 56 bytes, version 1.1");
	is_u64(simdup_city64("Moscow", 6), UINT64_C(5992710078453357409),
		   "city64, version 1.1");
	is_u64(simdup_city64("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
						 65),
		   UINT64_C(0xbdd44c77cdcfebd5), "city64, 65 bytes");
	is_u64(simdup_city64(long_text, 1000), UINT64_C(0x9e900bbf6f53c4cb),
		   "city64, 1000 bytes");
	is_u64(simdup_hash64(SIMDUP_HASH_MURMUR3,
						 "The quick brown fox jumps over the lazy dog", 43),
		   UINT64_C(0xe34bbc7bbc071b6c), "murmur3, 43 bytes");
	is_u64(simdup_hash64(SIMDUP_HASH_JAVA, "testing,", 8),
		   UINT64_C(0xdd2eb37b84d60880), "java, ASCII");
	is_u64(simdup_hash64(SIMDUP_HASH_JAVA, "中国", 6),
		   UINT64_C(0x238ce9cd586c58b8), "java, UTF-16 units");
	is_u64(simdup_hash64(SIMDUP_HASH_JAVA, "\xf0\x90\x90\x80", 4),
		   /* U+D801 U+DC00 */
		   (((UINT64_C(0xD801) << 7) * 1000003 ^ 0xD801) * 1000003 ^ 0xDC00) ^
			   2,
		   "java, a surrogate pair");
	is_u64(simdup_hash64(SIMDUP_HASH_JAVA, "a\xff", 2),
		   simdup_hash64(SIMDUP_HASH_JAVA, "a\xef\xbf\xbd", 4),
		   "java, not UTF-8");
	is_u64(simdup_hash64(SIMDUP_HASH_BKDR, "ab\xff", 3),
		   (UINT64_C(97) * 131 + 98) * 131 + 255, "bkdr");
	is_u64(simdup_hash64(SIMDUP_HASH_CITY64, "abc", 3), simdup_city64("abc", 3),
		   "city64 by its number");
}

/* Joins the tokens with '|'. */
typedef struct Joined
{
	char *bytes;
	size_t len;
	size_t size;
	uint64_t count;
} Joined;

static void
join(void *arg, const SimdupToken *tokens, int count)
{
	Joined *joined = arg;

	for (int i = 0; i < count; i++)
	{
		if (joined->size - joined->len < tokens[i].len + 2)
		{
			joined->size = 2 * joined->size + tokens[i].len + 2;
			joined->bytes = simdup_realloc(joined->bytes, joined->size);
		}
		memcpy(joined->bytes + joined->len, tokens[i].bytes, tokens[i].len);
		joined->len += tokens[i].len;
		joined->bytes[joined->len++] = '|';
		joined->bytes[joined->len] = '\0';
		joined->count++;
	}
}

static void
tokens_are(SimdupTokenizerKind kind, int n, const char *text,
		   const char *expected)
{
	Joined joined = {NULL, 0, 0, 0};
	size_t len = strlen(text);
	char *exact = simdup_alloc(len);

	/* no byte beyond the text may be read */
	memcpy(exact, text, len);
	simdup_tokenize((SimdupTokenizer){.kind = kind, .n = n}, exact, len, join,
					&joined);
	if (!ok(strcmp(joined.bytes ? joined.bytes : "", expected) == 0,
			"tokens %d:%d of %s", (int) kind, n, text))
		printf("# got %s\n", joined.bytes ? joined.bytes : "");
	simdup_free(exact);
	if (joined.bytes)
		simdup_free(joined.bytes);
}

static void
check_tokens(void)
{
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "", "");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "A市A3区 don't", "a|市|a3|区|don|t|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "一二三，四", "一二|二三|四|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "ȺȺȺ x ȺBC", "ⱥⱥⱥ|x|ⱥbc|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0,
			   "a\xff"
			   "b\xe4\xb8 c\xf0\x9f\x98",
			   "a|b|c|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0,
			   "\xed\xa0\x80x\xc0\xaf\xf4\x90\x80\x80", "x|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "カナﾊﾝ한국 々〇",
			   "カナ|ナﾊ|ﾊﾝ|한국|々〇|");
	tokens_are(SIMDUP_TOKENIZER_WORD, 0, "𠀀𠀁𠀂", "𠀀𠀁|𠀁𠀂|");
	tokens_are(SIMDUP_TOKENIZER_ALPHA, 0, "Don't ＡB1c中d", "don|t|b|c|d|");
	tokens_are(SIMDUP_TOKENIZER_SPACE, 0, " A,\tb\f\xff中\r\n", "A,|b|\xff中|");
	tokens_are(SIMDUP_TOKENIZER_CHAR_NGRAM, 2, "A-中,b", "a中|中b|");
	tokens_are(SIMDUP_TOKENIZER_CHAR_NGRAM, 9, "A-中,b", "a中b|");
	tokens_are(SIMDUP_TOKENIZER_CHAR_NGRAM, 2, "--", "");
	tokens_are(SIMDUP_TOKENIZER_WORD_NGRAM, 2, "A b, C", "a b|b c|");
	tokens_are(SIMDUP_TOKENIZER_WORD_NGRAM, 4, "A b", "a b|");
	tokens_are(SIMDUP_TOKENIZER_WORD_NGRAM, 1, "中国人 x", "中国|国人|x|");
}

/*
 * The n-grams of a long text equal those cut from its plain tokens: buffers
 * move and batches end in all kinds of places on the way.
 */
static void
check_long_windows(SimdupTokenizerKind kind, int n)
{
	enum
	{
		ITEMS = 40000
	};
	char *text = simdup_alloc(ITEMS * 8 + 1);
	size_t len = 0;
	Joined got = {NULL, 0, 0, 0};
	size_t at = 0;
	bool equal = true;

	for (int i = 0; i < ITEMS; i++)
		len += (size_t) sprintf(text + len,
								kind == SIMDUP_TOKENIZER_CHAR_NGRAM ? "%c"
																	: "%cW%d ",
								'a' + i % 23, i % 100);
	simdup_tokenize((SimdupTokenizer){.kind = kind, .n = n}, text, len, join,
					&got);
	for (int i = 0; i + n <= ITEMS && equal; i++)
	{
		char expected[1024];
		size_t size = 0;

		for (int j = i; j < i + n; j++)
			size += (size_t) sprintf(expected + size,
									 kind == SIMDUP_TOKENIZER_CHAR_NGRAM ? "%c"
									 : j + 1 < i + n ? "%cw%d "
													 : "%cw%d",
									 'a' + j % 23, j % 100);
		expected[size++] = '|';
		equal =
			at + size <= got.len && memcmp(got.bytes + at, expected, size) == 0;
		at += size;
	}
	ok(equal && at == got.len && got.count == (uint64_t) (ITEMS - n + 1),
	   "windows of %d of a long text, kind %d", n, (int) kind);
	simdup_free(text);
	simdup_free(got.bytes);
}

/* The number in a token "wN". */
static int
number_in(const SimdupTokenCount *feature)
{
	int number = 0;

	for (uint32_t i = 1; i < feature->len; i++)
		number = number * 10 + (feature->bytes[i] - '0');
	return number;
}

/* A table of many features counts right and keeps the right ones. */
static void
check_features(void)
{
	enum
	{
		DISTINCT = 20000
	};
	char *text = simdup_alloc(DISTINCT * 3 * 8);
	size_t len = 0;
	SimdupTokenCounts features;
	bool right = true;

	/* word i occurs 1 + i % 3 times; all folded, so all copied */
	for (int i = 0; i < DISTINCT; i++)
		for (int j = 0; j <= i % 3; j++)
			len += (size_t) sprintf(text + len, "W%d ", i);
	simdup_token_counts_begin(&features, SIMDUP_HASH_CITY64,
							  SIMDUP_WEIGHTING_TF, NULL, text, len);
	simdup_tokenize((SimdupTokenizer){.kind = SIMDUP_TOKENIZER_WORD}, text, len,
					simdup_token_counts_add, &features);
	ok(features.count == DISTINCT, "all distinct words are there");
	for (size_t i = 0; i < features.count; i++)
		right =
			right && features.features[i].tf ==
						 (uint32_t) (1 + number_in(&features.features[i]) % 3);
	ok(right, "with their frequencies");
	simdup_token_counts_keep_top(&features, 10000);
	simdup_token_counts_sort(&features);
	right = features.count == 10000;
	for (size_t i = 0; i < features.count; i++)
	{
		SimdupTokenCount *f = &features.features[i];

		right = right && f->tf == (i < 6666 ? 3 : 2);
		if (i > 0 && f[-1].tf == f->tf)
		{
			uint32_t len = f->len < f[-1].len ? f->len : f[-1].len;
			int order = memcmp(f[-1].bytes, f->bytes, len);

			right = right && (order < 0 || (order == 0 && f[-1].len < f->len));
		}
	}
	ok(right, "the most frequent are kept, in order");
	simdup_token_counts_free(&features);
	simdup_free(text);
}

/* Runs longer than the stretch between two looks for interrupts. */
static void
check_long_runs(void)
{
	size_t len = 200000;
	char *text = simdup_alloc(len);

	for (int kind = SIMDUP_TOKENIZER_WORD; kind <= SIMDUP_TOKENIZER_WORD_NGRAM;
		 kind++)
	{
		Joined run = {NULL, 0, 0, 0};
		Joined blank = {NULL, 0, 0, 0};
		bool whole = kind != SIMDUP_TOKENIZER_CHAR_NGRAM;

		memset(text, 'a', len);
		simdup_tokenize((SimdupTokenizer){.kind = (SimdupTokenizerKind) kind,
										  .n = 3},
						text, len, join, &run);
		memset(text, ' ', len);
		simdup_tokenize((SimdupTokenizer){.kind = (SimdupTokenizerKind) kind,
										  .n = 3},
						text, len, join, &blank);
		ok(run.count == (whole ? 1 : len - 2) && blank.count == 0 &&
			   (!whole || run.len == len + 1),
		   "a long run and long blanks, kind %d", kind);
		simdup_free(run.bytes);
	}
	simdup_free(text);
}

/*
 * The sum that takes tokens as they come equals the sum of the finished table,
 * and that of a table filled with counted tokens. This holds under every
 * weighting and hash, for tokens of all lengths.
 */
static void
check_sums(SimdupHash hash, SimdupWeighting weighting)
{
	SimdupCounters sums[3] = {0};
	SimdupTokenCounts features;
	SimdupTokenCounts distinct;
	char text[20000];
	size_t len = 0;

	for (int i = 0; i < 200; i++)
		for (int j = 0; j <= i % 9; j++)
		{
			memset(text + len, 'a' + i % 26, (size_t) (i % 25));
			len += (size_t) (i % 25);
			len += (size_t) sprintf(text + len, "%d ", i);
		}
	simdup_token_counts_begin(&features, hash, weighting, &sums[0], text, len);
	simdup_tokenize((SimdupTokenizer){.kind = SIMDUP_TOKENIZER_WORD}, text, len,
					simdup_token_counts_add, &features);
	simdup_token_counts_sum(&features, &sums[1]);
	simdup_token_counts_begin(&distinct, hash, weighting, NULL, NULL, 0);
	for (size_t i = 0; i < features.count; i++)
		simdup_token_counts_add_distinct(&distinct, features.features[i].bytes,
										 features.features[i].len,
										 features.features[i].tf);
	simdup_token_counts_sum(&distinct, &sums[2]);
	ok(features.count == 200 && !simdup_counters_empty(&sums[0]) &&
		   memcmp(&sums[0], &sums[1], sizeof(SimdupCounters)) == 0 &&
		   memcmp(&sums[0], &sums[2], sizeof(SimdupCounters)) == 0,
	   "sums of hash %d, weighting %d", (int) hash, (int) weighting);
	simdup_token_counts_keep_top(&features, 1000);
	ok(features.count == 200, "to keep more than there are keeps all");
	simdup_token_counts_free(&features);
	simdup_token_counts_free(&distinct);
}

static void
check_weights(void)
{
	ok(simdup_weight(SIMDUP_WEIGHTING_LOG, 1) == 1 &&
		   simdup_weight(SIMDUP_WEIGHTING_LOG, 3) == 2 &&
		   simdup_weight(SIMDUP_WEIGHTING_LOG, 4) == 3 &&
		   simdup_weight(SIMDUP_WEIGHTING_LOG, UINT32_MAX) == 32 &&
		   simdup_weight(SIMDUP_WEIGHTING_TF, 7) == 7 &&
		   simdup_weight(SIMDUP_WEIGHTING_SET, 7) == 1,
	   "weights of frequencies");
}

/* A token of no bytes is a token too, even the first of a table. */
static void
check_empty_token(void)
{
	static const SimdupToken tokens[] = {{"", 0}, {"a", 1}, {"", 0}};
	SimdupTokenCounts features;

	simdup_token_counts_begin(&features, SIMDUP_HASH_CITY64,
							  SIMDUP_WEIGHTING_TF, NULL, NULL, 0);
	simdup_token_counts_add(&features, tokens, 3);
	ok(features.count == 2 && features.features[0].tf == 2 &&
		   features.features[0].len == 0 && features.features[0].bytes,
	   "a token of no bytes is counted");
	simdup_token_counts_sort(&features);
	ok(features.features[0].len == 0 && features.features[1].len == 1,
	   "and sorted");
	simdup_token_counts_free(&features);
}

int
main(void)
{
	check_hashes();
	check_tokens();
	for (int n = 1; n <= 16; n += 5)
	{
		check_long_windows(SIMDUP_TOKENIZER_CHAR_NGRAM, n);
		check_long_windows(SIMDUP_TOKENIZER_WORD_NGRAM, n);
	}
	check_long_runs();
	check_features();
	check_weights();
	for (int hash = SIMDUP_HASH_CITY64; hash <= SIMDUP_HASH_JAVA; hash++)
		for (int w = SIMDUP_WEIGHTING_LOG; w <= SIMDUP_WEIGHTING_SET; w++)
			check_sums((SimdupHash) hash, (SimdupWeighting) w);
	check_empty_token();
	return done_testing();
}

/*
 * minhash64.c
 *	  Profile 2: golden vectors, sets in any parts, and the meaning of a distance.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/vectors.h"
#include "core/host.h"
#include "minhash64.h"
#include "random.h"
#include "tap.h"

static char *
repeated(const char *text, size_t times)
{
	size_t len = strlen(text);
	char *result = malloc(len * times + 1);

	if (result == NULL)
		abort();
	for (size_t i = 0; i < times; i++)
		memcpy(result + i * len, text, len);
	result[len * times] = '\0';
	return result;
}

static void
test_golden(void)
{
	static const struct
	{
		const char *text;
		uint64_t chars;
		uint64_t words;
	} golden[] = {
		{"", 0, 0},
		{"a", UINT64_C(0xd89e9168df0a877a), UINT64_C(0xd89e9168df0a877a)},
		{"this is a test-string for TESTING!", UINT64_C(0xf8810fb1467ef754),
		 UINT64_C(0xbb189a100e987f8e)},
		{"關係型數據庫數據的高效判重", UINT64_C(0x9e2ae9aea5b1f3a5),
		 UINT64_C(0x95cb869a8ec904a7)},
		{"Straße STRASSE Été été ΣΊΣΥΦΟΣ", UINT64_C(0x7924ec64f8b68571),
		 UINT64_C(0x725b2fb5cb9b7653)},
		{"ｶﾞｷﾞｸﾞ ガギグ", UINT64_C(0x473272a7627cba24),
		 UINT64_C(0xacdb40cee044f211)},
		{"zero\xe2\x80\x8bwidth soft\xc2\xadhyphen",
		 UINT64_C(0xb46d0d549ebe2ab6), UINT64_C(0x811c4a6b84b3a709)},
	};

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
	{
		const char *text = golden[i].text;

		is_u64(minhash64(text, strlen(text), 4, SIMDUP_SHINGLE_CHAR),
			   golden[i].chars, "golden vector, characters");
		is_u64(minhash64(text, strlen(text), 2, SIMDUP_SHINGLE_WORD),
			   golden[i].words, "golden vector, words");
	}
}

/* Of a row: its text's fingerprint and the masks of its fields. */
static uint64_t
row_fingerprint(const char *content, const char *const *fields, int n,
				int n_bits)
{
	uint64_t fingerprint =
		minhash64(content, strlen(content), 4, SIMDUP_SHINGLE_CHAR);

	for (int i = 0; i < n; i++)
		if (fields[i] != NULL)
			fingerprint ^= simdup_field_mask(fields[i], strlen(fields[i]),
											 (uint32_t) i + 1, n_bits);
	return fingerprint;
}

static void
test_golden_rows(void)
{
	static const char lamp[] =
		"The lamp at the corner of Fish Street has been dark since May, please mend it.";
	static const struct
	{
		const char *content;
		const char *fields[4];
		int n;
		int n_bits;
		uint64_t fingerprint;
	} golden[] = {
		{lamp, {"Castle", "lighting"}, 2, 10, UINT64_C(0x8ce7e9b76a60afe5)},
		{lamp, {"Harbour", "lighting"}, 2, 10, UINT64_C(0xe89fc1bf7262ada1)},
		{lamp, {"lighting", "Castle"}, 2, 10, UINT64_C(0xac0365357634aba5)},
		{lamp, {"Castle", "lighting"}, 2, 16, UINT64_C(0xdce739a76b606b61)},
		{lamp, {NULL}, 0, 10, UINT64_C(0xaca9c7b57036ae45)},
		{lamp, {"CASTLE", "  Lighting "}, 2, 10, UINT64_C(0x8ce7e9b76a60afe5)},
		{lamp,
		 {NULL, "  ", "Castle", "lighting"},
		 4,
		 10,
		 UINT64_C(0xaeadcb96713f2d8b)},
		{lamp, {"Castle", "lighting"}, 2, 0, UINT64_C(0xaca9c7b57036ae45)},
		{"学校门口夜间施工",
		 {"朝阳区", "噪音"},
		 2,
		 10,
		 UINT64_C(0x99cf8e4a675a83bf)},
		{"学校门口夜间施工",
		 {"朝阳區", "噪音"},
		 2,
		 32,
		 UINT64_C(0x1ccb87c0c1c4b739)},
		{"The lamp",
		 {"Fiskergaten 7", "GRØNLAND"},
		 2,
		 10,
		 UINT64_C(0xc407a48acdc51e1c)},
		{"The lamp",
		 {"fiskergaten ٧", "gronland"},
		 2,
		 10,
		 UINT64_C(0xc407a48acdc51e1c)},
		{"ベッドが欲しい",
		 {"東京都", "ｶﾞｽ"},
		 2,
		 10,
		 UINT64_C(0x99cae38ce9615672)},
		{"ベッドが欲しい",
		 {"東京都", "カ\u3099ス"},
		 2,
		 10,
		 UINT64_C(0x99cae38ce9615672)},
	};

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
		is_u64(row_fingerprint(golden[i].content, golden[i].fields, golden[i].n,
							   golden[i].n_bits),
			   golden[i].fingerprint, "golden vector, row");
}

/* How far a field of n_bits moves a fingerprint: exactly, and on average. */
static void
test_masks(int n_bits)
{
	int n = 20000;
	uint64_t counts[64] = {0};
	double distances = 0;
	double distances_squared = 0;
	int near = 0;
	bool exact = true;
	uint64_t before = 0;
	/* of two sets of n_bits bits in 64: the mean, and its standard error */
	double mean = 2 * n_bits - n_bits * n_bits / 32.0;
	double variance;

	for (int i = 0; i < n; i++)
	{
		char field[32];
		uint64_t mask;
		int distance;

		snprintf(field, sizeof(field), "district %d", i);
		mask = simdup_field_mask(field, strlen(field), 1 + (uint32_t) i % 7,
								 n_bits);
		distance = __builtin_popcountll(mask ^ before);
		exact = exact && __builtin_popcountll(mask) == n_bits;
		for (int bit = 0; bit < 64; bit++)
			counts[bit] += mask >> bit & 1;
		if (i > 0)
		{
			distances += distance;
			distances_squared += (double) distance * distance;
			near += distance <= 8;
		}
		before = mask;
	}
	ok(exact, "a field of %d bits that is missing moves exactly these", n_bits);
	variance = distances_squared / (n - 1) - pow(distances / (n - 1), 2);
	ok(fabs(distances / (n - 1) - mean) < 5 * sqrt(variance / n) + 1e-9,
	   "one that differs %.2f, expected %.2f", distances / (n - 1), mean);
	if (n_bits == 10)
		ok(near < 25, "%d of %d within 8", near, n - 1);
	for (int bit = 0; bit < 64; bit++)
		exact = exact && fabs(counts[bit] - n * n_bits / 64.0) <=
							 5 * sqrt(n * n_bits / 64.0);
	ok(exact, "all bits alike");
}

/* Bytes that are not UTF-8 separate words, and are no characters. */
static void
test_invalid(void)
{
	is_u64(minhash64("ab\xff"
					 "cd\xc3",
					 6, 4, SIMDUP_SHINGLE_CHAR),
		   minhash64("abcd", 4, 4, SIMDUP_SHINGLE_CHAR),
		   "invalid bytes are no characters");
	is_u64(minhash64("ab\xff"
					 "cd",
					 5, 1, SIMDUP_SHINGLE_WORD),
		   minhash64("ab cd", 5, 1, SIMDUP_SHINGLE_WORD),
		   "invalid bytes separate words");
	is_u64(minhash64("ab\xc2\xad"
					 "cd",
					 6, 1, SIMDUP_SHINGLE_WORD),
		   minhash64("abcd", 4, 1, SIMDUP_SHINGLE_WORD),
		   "what folds to nothing does not");
}

/* Texts of few distinct shingles, longer than any buffer. */
static void
test_repetitions(void)
{
	static const char *const units[] = {"a",		 "ab",
										"信访",		 "\xef\xb7\xba",
										"e\xcc\x81", "0123456789abcdefghi "};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (int unit = 0; unit < 2; unit++)
		{
			char *many = repeated(units[i], 1000000);
			char *some = repeated(units[i], 900);

			is_u64(minhash64(many, strlen(many), 4, unit),
				   unit == SIMDUP_SHINGLE_WORD && (i < 2 || i == 4)
					   ? minhash64(many, strlen(many), 1, unit)
					   : minhash64(some, strlen(some), 4, unit),
				   "a million times the same");
			free(many);
			free(some);
		}
}

/* Sets of n elements with k in common, by sketches of n_bins. */
static void
test_resemblance(int n_bins)
{
	for (int tenths = 0; tenths <= 10; tenths += 2)
	{
		int common = tenths == 10 ? 400 : tenths * 400 / (10 - tenths);
		int own = tenths == 10 ? 0 : 200;
		double sum = 0;
		uint64_t state = (uint64_t) tenths;

		for (int pair = 0; pair < 300; pair++)
		{
			SimdupSketch sketches[2];
			uint64_t element;

			for (int i = 0; i < 2; i++)
				simdup_sketch_begin(&sketches[i], n_bins);
			for (int i = 0; i < 2 * own + common; i++)
			{
				element = next_random_of(&state);
				for (int s = 0; s < 2; s++)
					if (i >= 2 * own || i % 2 == s)
						simdup_sketch_add(&sketches[s], &element, 1);
			}
			{
				const uint64_t *a = simdup_sketch_keys(&sketches[0]);
				const uint64_t *b = simdup_sketch_keys(&sketches[1]);
				int distance = 0;

				for (int bin = 0; bin < n_bins; bin++)
					distance += (a[bin] ^ b[bin]) & 1;
				sum += 1 - 2.0 * distance / n_bins;
			}
			for (int i = 0; i < 2; i++)
				simdup_sketch_free(&sketches[i]);
		}
		ok(fabs(sum / 300 - tenths / 10.0) < 4.5 / sqrt(300.0 * n_bins),
		   "%d bits: sets of resemblance %.1f look like %.3f", n_bins,
		   tenths / 10.0, sum / 300);
	}
}

static void
test_distances(void)
{
	ok(simdup_agreement_resemblance(0, 64) == 1 &&
		   simdup_agreement_resemblance(16, 64) == 0.5 &&
		   simdup_agreement_resemblance(40, 64) == 0,
	   "a resemblance falls by 1/32 a bit, down to 0");
	ok(simdup_agreement_distance(1, 1) == 0 &&
		   simdup_agreement_distance(0.8, 1) == 64 &&
		   simdup_agreement_distance(0, 0) == 0,
	   "distances at the ends");
	/* by a table of the binomial distribution: n = 64, p = .1 and .25 */
	ok(simdup_agreement_distance(0.8, 0.95) == 11 &&
		   simdup_agreement_distance(0.8, 0.5) == 6 &&
		   simdup_agreement_distance(0.5, 0.95) == 22,
	   "distances for a recall");
}

int
main(void)
{
	for (int v = SIMDUP_VECTORS_PLAIN; v <= (int) simdup_find_vectors(); v++)
	{
		simdup_vectors = (SimdupVectors) v;
		test_golden();
		test_repetitions();
	}
	test_golden_rows();
	test_masks(0);
	test_masks(10);
	test_masks(32);
	test_invalid();
	test_resemblance(SIMDUP_MINHASH64_BINS);
	test_resemblance(512);
	test_distances();
	return done_testing();
}

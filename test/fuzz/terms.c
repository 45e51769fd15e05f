/*
 * terms.c
 *	  Cosine and I-Match of any terms, against the definitions over lists in no
 *	  order.
 */
#include <float.h>
#include <math.h>

#include "core/compare/resemblance.h"
#include "core/fingerprint/hash.h"
#include "input.h"

#define MAX_TERMS 60
#define LEXICON_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Any finite weight. */
static double
take_weight(Input *in)
{
	uint8_t kind = take_byte(in);
	uint64_t word;
	double weight;

	if (kind < 128)
		return kind % 10;
	word = take_word(in);
	memcpy(&weight, &word, sizeof(weight));
	return isfinite(weight) ? weight : 1;
}

/* Few hashes, so that lists have some in common; none twice in one. */
static size_t
take_terms(Input *in, SimdupTerm *terms)
{
	size_t n = 0;

	for (uint64_t left = take_between(in, 0, MAX_TERMS); left > 0; left--)
	{
		uint64_t hash = simdup_mix64(take_byte(in));
		size_t i = 0;

		while (i < n && terms[i].hash != hash)
			i++;
		if (i == n)
			terms[n++] = (SimdupTerm){hash, take_weight(in)};
	}
	return n;
}

static const SimdupTerm *
naive_find(const SimdupTerm *terms, size_t n, uint64_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (terms[i].hash == hash)
			return &terms[i];
	return NULL;
}

/* Lengths in long doubles, whose range no square of a double exceeds. */
static long double
squares(const SimdupTerm *terms, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (long double) terms[i].weight * terms[i].weight;
	return sum;
}

static void
check_cosine(const SimdupTerm *a, size_t n_a, const SimdupTerm *b, size_t n_b)
{
	long double length_a = squares(a, n_a);
	long double length_b = squares(b, n_b);
	long double product = 0;
	double cosine;
	double back;

	must(simdup_cosine(a, n_a, b, n_b, &cosine) ==
		 (length_a > 0 && length_b > 0));
	if (length_a == 0 || length_b == 0)
		return;
	for (size_t i = 0; i < n_a; i++)
	{
		const SimdupTerm *other = naive_find(b, n_b, a[i].hash);

		if (other)
			product += (long double) a[i].weight * other->weight;
	}
	must(cosine >= -1 && cosine <= 1);
	must(fabsl(cosine - product / sqrtl(length_a) / sqrtl(length_b)) < 1e-12L);
	must(simdup_cosine(b, n_b, a, n_a, &back) && fabs(back - cosine) < 1e-12);
	must(simdup_cosine(a, n_a, a, n_a, &cosine) && cosine == 1);
}

static void
check_imatch(const SimdupTerm *terms, size_t n, const SimdupTerm *lexicon,
			 size_t n_lexicon, uint32_t i, double keep)
{
	uint64_t expected = i;
	bool any = false;
	uint64_t signature;

	for (size_t t = 0; t < n; t++)
	{
		uint64_t hash = terms[t].hash;
		uint64_t draw = simdup_mix64(hash ^ i * LEXICON_SEED);
		bool kept = i == 0 || (double) (draw >> 11) < ldexp(keep, 53);

		if (!kept || !naive_find(lexicon, n_lexicon, hash))
			continue;
		any = true;
		expected = simdup_mix64((expected + 1) * LEXICON_SEED ^ hash);
	}
	must(simdup_imatch(terms, n, lexicon, n_lexicon, i, keep, &signature) ==
		 any);
	must(signature == expected);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	uint32_t i = (uint32_t) take_between(&in, 0, 255);
	double keep = (double) take_between(&in, 0, 255) / 255;
	SimdupTerm a[MAX_TERMS];
	SimdupTerm b[MAX_TERMS];
	size_t n_a = take_terms(&in, a);
	size_t n_b = take_terms(&in, b);

	simdup_terms_sort(a, n_a);
	simdup_terms_sort(b, n_b);
	for (size_t t = 1; t < n_a; t++)
		must(a[t - 1].hash < a[t].hash);
	for (int hash = 0; hash < 256; hash++)
		must(simdup_terms_find(a, n_a, simdup_mix64((uint64_t) hash)) ==
			 naive_find(a, n_a, simdup_mix64((uint64_t) hash)));
	check_cosine(a, n_a, b, n_b);
	check_imatch(a, n_a, b, n_b, i, keep);
	return 0;
}

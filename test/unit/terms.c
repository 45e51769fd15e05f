/*
 * terms.c
 *	  Cosine by hand, and I-Match: what changes a signature and what not.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "tap.h"

static bool
near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

int
main(void)
{
	SimdupTerm a[] = {{3, 1}, {1, 2}, {2, 0}};
	SimdupTerm b[] = {{2, 5}, {1, 1}, {4, 1}};
	SimdupTerm huge[] = {{1, 1e300}, {2, 1e300}};
	SimdupTerm wide[] = {{1, 0.7}, {2, 1}, {3, 0.3}, {4, 0.6}};
	SimdupTerm other_wide[] = {{1, 0.3}, {2, 1}, {3, 0.6}, {4, 0.2}};
	SimdupTerm tiny[] = {{1, 1e-300}};
	SimdupTerm zero[] = {{1, 0}};
	const SimdupTerm lexicon[] = {{1, 0}, {2, 0}, {3, 0}, {9, 0}};
	const SimdupTerm text[] = {{1, 1}, {2, 1}, {5, 1}};
	const SimdupTerm other[] = {{1, 3}, {2, 1}, {4, 1}, {7, 2}};
	const SimdupTerm more[] = {{1, 1}, {2, 1}, {3, 1}};
	uint64_t x;
	uint64_t y;
	double cosine;
	int equal = 0;
	int kept = 0;

	simdup_terms_sort(a, 3);
	simdup_terms_sort(b, 3);
	ok(a[0].hash == 1 && a[2].hash == 3, "sorted by hash");
	ok(simdup_terms_find(a, 3, 2) == a + 1 && !simdup_terms_find(a, 3, 4) &&
		   !simdup_terms_find(NULL, 0, 1),
	   "found by hash");
	ok(simdup_cosine(a, 3, b, 3, &cosine) &&
		   near(cosine, 2 / sqrt(5.0) / sqrt(27.0)),
	   "cosine by hand");
	ok(simdup_cosine(b, 3, b, 3, &cosine) && cosine == 1, "with itself: 1");
	ok(simdup_cosine(a, 2, b + 2, 1, &cosine) && cosine == 0, "nothing shared");
	ok(simdup_cosine(huge, 2, tiny, 1, &cosine) && near(cosine, sqrt(0.5)),
	   "neither overflow nor underflow");
	ok(simdup_cosine(wide, 4, other_wide, 4, &cosine) &&
		   cosine == 0x1.c6bab164b2384p-1,
	   "fixed to the last digit, each operation rounded: %a", cosine);
	ok(!simdup_cosine(a, 3, zero, 1, &cosine) &&
		   !simdup_cosine(a, 0, b, 3, &cosine),
	   "no length, no angle");

	ok(simdup_imatch(text, 3, lexicon, 4, 0, 1, &x) &&
		   simdup_imatch(other, 4, lexicon, 4, 0, 1, &y) && x == y,
	   "terms outside the lexicon and frequencies do not count");
	ok(simdup_imatch(more, 3, lexicon, 4, 0, 1, &y) && x != y,
	   "a term of the lexicon does");
	ok(!simdup_imatch(text + 2, 1, lexicon, 4, 0, 1, &y), "no term, nothing");
	for (uint32_t i = 1; i <= 1000; i++)
	{
		bool any = simdup_imatch(text, 3, lexicon, 4, i, 0.7, &x);

		kept += simdup_imatch(text, 1, lexicon, 4, i, 0.7, &y);
		equal +=
			simdup_imatch(more, 3, lexicon, 4, i, 0.7, &y) && any && x == y;
	}
	ok(kept > 650 && kept < 750, "a term is in %d of 1000 lexicons at 0.7",
	   kept);
	ok(equal > 200 && equal < 350, "%d of 1000 overlook one term more", equal);
	return done_testing();
}

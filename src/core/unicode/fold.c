/*
 * fold.c
 *	  Folded code points that stand side by side and become one.
 */
#include "core/unicode/charclass.h"

/* Hangul syllables, by the arithmetic of the Unicode Standard, section 3.12. */
#define FIRST_LEAD 0x1100
#define N_LEADS 19
#define FIRST_VOWEL 0x1161
#define N_VOWELS 21
#define FIRST_TAIL 0x11A8
#define N_TAILS 27
#define FIRST_SYLLABLE 0xAC00
#define SYLLABLES_OF_VOWEL (N_TAILS + 1) /* one of them without a tail */
#define N_SYLLABLES (N_LEADS * N_VOWELS * SYLLABLES_OF_VOWEL)

/* The subtractions wrap around: what is below a range is far above it. */
static uint32_t
join_hangul(uint32_t first, uint32_t second)
{
	uint32_t lead = first - FIRST_LEAD;
	uint32_t syllable = first - FIRST_SYLLABLE;
	uint32_t vowel = second - FIRST_VOWEL;
	uint32_t tail = second - FIRST_TAIL;

	if (lead < N_LEADS && vowel < N_VOWELS)
		return FIRST_SYLLABLE + (lead * N_VOWELS + vowel) * SYLLABLES_OF_VOWEL;
	if (syllable < N_SYLLABLES && syllable % SYLLABLES_OF_VOWEL == 0 &&
		tail < N_TAILS)
		return first + 1 + tail;
	return 0;
}

uint32_t
simdup_fold_join(uint32_t first, uint32_t second)
{
	size_t low = 0;
	size_t high = simdup_fold_n_pairs;

	while (low < high)
	{
		size_t middle = (low + high) / 2;
		const SimdupFoldPair *pair = &simdup_fold_pairs[middle];

		if (pair->second < second ||
			(pair->second == second && pair->first < first))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < simdup_fold_n_pairs && simdup_fold_pairs[low].second == second &&
		simdup_fold_pairs[low].first == first)
		return simdup_fold_pairs[low].joined;
	return join_hangul(first, second);
}

/*
 * fold.c
 *	  Folded code points that stand side by side and become one, or change places.
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
simdup_fold_join(uint32_t first, uint32_t e)
{
	unsigned pairs = SIMDUP_EXPANSION_PAIRS(e);
	const uint32_t *firsts = simdup_fold_firsts + simdup_fold_starts[pairs];
	size_t n;

	if (pairs == SIMDUP_FOLD_HANGUL)
		return join_hangul(first, SIMDUP_EXPANSION_CHAR(e));
	n = simdup_count_chars(firsts,
						   (size_t) (simdup_fold_starts[pairs + 1] -
									 simdup_fold_starts[pairs]),
						   first);
	if (n == 0 || firsts[n - 1] != first)
		return 0;
	return simdup_fold_joined[simdup_fold_starts[pairs] + n - 1];
}

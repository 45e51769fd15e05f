/*
 * fold.c
 *	  Folded code points that stand side by side and become one, or change places.
 */
#include "core/unicode/fold.h"

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

/* The subtractions wrap around: a code point below a range is far above it. */
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

/* Return the code point that first and an element behind it become, or 0. */
static uint32_t
join(uint32_t first, uint32_t e)
{
	const uint16_t *starts = simdup_fold_starts + SIMDUP_EXPANSION_PAIRS(e);
	const uint32_t *firsts = simdup_fold_firsts + starts[0];
	size_t n;

	if (SIMDUP_EXPANSION_PAIRS(e) == SIMDUP_FOLD_HANGUL)
		return join_hangul(first, SIMDUP_EXPANSION_CHAR(e));
	n = simdup_count_chars(firsts, (size_t) (starts[1] - starts[0]), first);
	if (n == 0 || firsts[n - 1] != first)
		return 0;
	return simdup_fold_joined[starts[0] + n - 1];
}

const uint32_t *
simdup_fold_elements(uint32_t cp, uint32_t *self, int *n)
{
	SimdupFoldProperty property =
		simdup_fold_properties[simdup_fold_number(cp)];

	*n = 1;
	if (property.char_class == SIMDUP_FOLD_LISTED)
	{
		*n = property.n;
		return simdup_fold_expansions + property.value;
	}
	*self = SIMDUP_EXPANSION((uint32_t) ((int32_t) cp + property.value),
							 property.char_class, 0);
	if (property.char_class > SIMDUP_FOLD_LISTED)
		*self = SIMDUP_EXPANSION(cp, property.char_class - SIMDUP_FOLD_SECOND,
								 property.n);
	return self;
}

uint32_t
simdup_fold_other(uint32_t cp, uint32_t last, SimdupFoldSink sink,
				  SimdupFoldReplacer replace, void *arg)
{
	uint32_t self;
	int n;

	for (const uint32_t *e = simdup_fold_elements(cp, &self, &n); n > 0;
		 e++, n--)
	{
		uint32_t folded = SIMDUP_EXPANSION_CHAR(*e);
		uint32_t joined = SIMDUP_EXPANSION_PAIRS(*e) != 0 ? join(last, *e) : 0;

		if (joined == 0)
		{
			sink(arg, folded, SIMDUP_EXPANSION_CLASS(*e));
			last = folded;
		}
		else if (joined == SIMDUP_FOLD_EXCHANGE)
		{
			replace(arg, folded);
			sink(arg, last, SIMDUP_EXPANSION_CLASS(*e));
		}
		else
		{
			replace(arg, joined);
			last = joined;
		}
	}
	return last;
}

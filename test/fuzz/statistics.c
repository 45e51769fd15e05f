/*
 * statistics.c
 *	  Chances of false pairs after any sample: numbers from 0 to 1 that grow
 *	  with the distance. The order of the sample does not change them.
 */
#include <math.h>

#include "core/compare/resemblance.h"
#include "input.h"
#include "random.h"

#define MAX_SAMPLE 200

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	size_t n = take_between(&in, 0, MAX_SAMPLE);
	uint64_t state = take_byte(&in);
	uint64_t mask = take_word(&in);
	uint64_t sample[MAX_SAMPLE];
	uint64_t backwards[MAX_SAMPLE];
	double chances[2][65];

	for (size_t i = 0; i < n; i++)
	{
		sample[i] = input_left(&in) > 0 ? take_word(&in)
										: next_random_of(&state) & mask;
		backwards[n - 1 - i] = sample[i];
	}
	simdup_false_pair_chances(sample, n, chances[0]);
	simdup_false_pair_chances(backwards, n, chances[1]);
	for (int d = 0; d <= 64; d++)
	{
		must(chances[0][d] >= 0 && chances[0][d] <= 1);
		must(d == 0 || chances[0][d] >= chances[0][d - 1]);
		must(chances[0][d] == chances[1][d]);
		must(n > 1 || chances[0][d] == 0);
	}
	return 0;
}

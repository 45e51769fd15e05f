/*
 * diff.c
 *	  The parts of two texts' differences: all of both texts, and equal where
 *	  they say so.
 */
#include "core/compare/passages.h"
#include "input.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t a_len = size > 0 ? data[0] * (size - 1) / 255 : 0;
	const char *a = (const char *) data + 1;
	const char *b = a + a_len;
	size_t b_len = size > 0 ? size - 1 - a_len : 0;
	size_t x = 0;
	size_t y = 0;
	SimdupDiff diff = simdup_diff(a, a_len, b, b_len);

	for (size_t i = 0; i < diff.n; i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];

		must(part->a_start == x && part->b_start == y);
		must(part->a_len > 0 || part->b_len > 0);
		must(i == 0 || part->same != diff.parts[i - 1].same);
		must(!part->same || (part->a_len == part->b_len &&
							 memcmp(a + x, b + y, part->a_len) == 0));
		x += part->a_len;
		y += part->b_len;
	}
	must(x == a_len && y == b_len);
	if (a_len == b_len && memcmp(a, b, a_len) == 0)
		must(diff.n <= 1);
	simdup_diff_free(&diff);
	return 0;
}

/*
 * differences.c
 *	  simdup_report_differences: what two texts share and where they differ.
 */
#include "postgres.h"
#include "compat.h"

#include "core/text.h"
#include "server/arguments.h"
#include "text/profile.h"

/* Passages that are returned. A page shows 800 characters of them. */
#define MAX_PARTS 1000

/* Return a passage as text. */
static Datum
passage(SimdupUtf8 of, uint32 start, uint32 len)
{
	return PointerGetDatum(simdup_utf8_to_text(of.bytes + start, len));
}

PG_FUNCTION_INFO_V1(simdup_report_differences);
/*
 * simdup_report_differences(a, b): the first passages of both texts, in order,
 * each with the number of differences after it.
 */
Datum
simdup_report_differences(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupUtf8 a = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	SimdupUtf8 b = simdup_text_to_utf8(PG_GETARG_TEXT_PP(1));
	SimdupDiff diff = simdup_diff(a.bytes, a.len, b.bytes, b.len);
	int64 n_more = 0;

	for (size_t i = 0; i < diff.n; i++)
		n_more += !diff.parts[i].same;
	for (size_t i = 0; i < Min(diff.n, MAX_PARTS); i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];
		Datum values[4] = {BoolGetDatum(part->same),
						   passage(a, part->a_start, part->a_len),
						   passage(b, part->b_start, part->b_len)};
		bool nulls[4] = {false};

		n_more -= !part->same;
		values[3] = Int64GetDatum(n_more);
		simdup_put_result(result, values, nulls);
	}
	simdup_diff_free(&diff);
	return (Datum) 0;
}

/*
 * minhash64_record.c
 *	  minhash64 of whole rows, without a list of their columns: of a row value,
 *	  and as an expression for a generated column.
 */
#include "postgres.h"
#include "compat.h"

#include "common/shortest_dec.h"
#include "utils/builtins.h"

#include "text/minhash64_row.h"
#include "text/record.h"

/* The options of both functions. */
#define ARG_FIELD_SHARE SIMDUP_RECORD_ARGS
#define ARG_W (SIMDUP_RECORD_ARGS + 1)
#define ARG_UNIT (SIMDUP_RECORD_ARGS + 2)

PG_FUNCTION_INFO_V1(simdup_minhash64_record);
/* minhash64_record(row, content, exclude, field_share, w, unit) */
Datum
simdup_minhash64_record(PG_FUNCTION_ARGS)
{
	SimdupMinhashRow row;

	simdup_minhash_row_get(&row, fcinfo, ARG_FIELD_SHARE, ARG_W, ARG_UNIT);
	return simdup_record_fingerprint(fcinfo, &row.base);
}

PG_FUNCTION_INFO_V1(simdup_minhash64_row_expression);
/* minhash64_row_expression(relation, content, exclude, field_share, w, unit) */
Datum
simdup_minhash64_row_expression(PG_FUNCTION_ARGS)
{
	SimdupMinhashRow row;
	char share[DOUBLE_SHORTEST_DECIMAL_LEN];
	char *options;

	simdup_minhash_row_get(&row, fcinfo, ARG_FIELD_SHARE, ARG_W, ARG_UNIT);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	/* the same digits under any extra_float_digits */
	double_to_shortest_decimal_buf(row.field_share, share);
	options = psprintf(", field_share => %s, w => %d, unit => %s", share,
					   row.shingling.w,
					   quote_literal_cstr(
						   text_to_cstring(PG_GETARG_TEXT_PP(ARG_UNIT))));
	PG_RETURN_TEXT_P(cstring_to_text(
		simdup_record_expression(fcinfo, "minhash64_row", options)));
}

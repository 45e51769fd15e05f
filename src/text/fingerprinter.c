/*
 * fingerprinter.c
 *	  What all kinds of fingerprinters of rows share.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "text/fingerprinter.h"
#include "type/simhash64.h"

Datum
simdup_end_fingerprint(SimdupFingerprinter *self, FunctionCallInfo fcinfo)
{
	uint64 fp;

	if (!self->end(self, &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}

static void
add_fields(SimdupFingerprinter *self, Datum fields)
{
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(DatumGetArrayTypeP(fields), TEXTOID, -1, false,
					  TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			self->add_field(self,
							simdup_text_to_utf8(DatumGetTextPP(values[i])));
}

Datum
simdup_row_fingerprint(SimdupFingerprinter *self, FunctionCallInfo fcinfo)
{
	if (!PG_ARGISNULL(0))
		self->add_content(self, simdup_text_to_utf8(PG_GETARG_TEXT_PP(0)));
	if (!PG_ARGISNULL(1))
		add_fields(self, PG_GETARG_DATUM(1));
	return simdup_end_fingerprint(self, fcinfo);
}

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

void
simdup_add_fields(SimdupFingerprinter *self, Datum fields)
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

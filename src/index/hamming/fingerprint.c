/*
 * fingerprint.c
 *	  The fingerprint that a hamming index stores of a row.
 *
 * A column of type simhash64 holds it. For other types, support function 1 of
 * the operator class computes it. The function may return NULL, so it is called
 * without FunctionCall1, for which NULL is an error.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "index/hamming/am.h"
#include "type/simhash64.h"

bool
simdup_hamming_computes(Relation index)
{
	return OidIsValid(index_getprocid(index, 1, HAMMING_FINGERPRINT_PROC));
}

bool
simdup_hamming_reads_prose(Relation index)
{
	return simdup_hamming_computes(index) &&
		   index_getprocinfo(index, 1, HAMMING_FINGERPRINT_PROC)->fn_addr ==
			   simdup_text_fingerprint;
}

/*
 * Many rows are indexed in one memory context, so a support function allocates in a
 * context of its own.
 */
bool
simdup_hamming_fingerprint(Relation index, Datum value, bool is_null,
						   uint64 *fp)
{
	LOCAL_FCINFO(call, 1);
	MemoryContext context;
	MemoryContext caller;

	if (is_null)
		return false;
	if (!simdup_hamming_computes(index))
	{
		*fp = DatumGetSimhash64(value);
		return true;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "hamming fingerprint",
									ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	InitFunctionCallInfoData(*call,
							 index_getprocinfo(index, 1,
											   HAMMING_FINGERPRINT_PROC),
							 1, index->rd_indcollation[0], NULL, NULL);
	call->args[0] = (NullableDatum){value, false};
	value = FunctionCallInvoke(call);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	if (call->isnull)
		return false;
	*fp = DatumGetSimhash64(value);
	return true;
}

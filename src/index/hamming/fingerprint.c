/*
 * fingerprint.c
 *	  The fingerprint that a hamming index stores of a row.
 *
 * A column of type simhash64 holds it. For other types, support function 1 of
 * the operator class computes it. The function may return NULL, so it is called
 * without FunctionCall1, for which NULL is an error.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

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
 * The last text, and the fingerprint that a support function gave it. A trigger
 * searches for a row's text just before the index stores it. Any change of a
 * function forgets it: CREATE OR REPLACE keeps the OID.
 */
#define MAX_LAST_TEXT 8192

static struct
{
	Oid function;
	Oid collation;
	Size size;
	bool has_fp;
	uint64 fp;
	char text[MAX_LAST_TEXT];
} last;

static void
forget_last_text(Datum arg pg_attribute_unused(),
				 int cache pg_attribute_unused(),
				 uint32 hash pg_attribute_unused())
{
	last.function = InvalidOid;
}

/*
 * Call the support function. Many rows are indexed in one memory context, so
 * the function allocates in a context of its own.
 */
static bool
compute_fingerprint(Relation index, Datum value, uint64 *fp)
{
	LOCAL_FCINFO(call, 1);
	MemoryContext context;
	MemoryContext caller;

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

bool
simdup_hamming_fingerprint(Relation index, Datum value, bool is_null,
						   uint64 *fp)
{
	Oid function = index_getprocid(index, 1, HAMMING_FINGERPRINT_PROC);
	Oid collation = index->rd_indcollation[0];

	if (is_null)
		return false;
	if (!OidIsValid(function))
	{
		*fp = DatumGetSimhash64(value);
		return true;
	}
	if (index->rd_opcintype[0] != TEXTOID ||
		VARATT_IS_EXTENDED(DatumGetPointer(value)) ||
		VARSIZE(DatumGetPointer(value)) > MAX_LAST_TEXT)
		return compute_fingerprint(index, value, fp);
	if (last.function != function || last.collation != collation ||
		last.size != VARSIZE(DatumGetPointer(value)) ||
		memcmp(last.text, DatumGetPointer(value), last.size) != 0)
	{
		static bool watches = false;

		if (!watches)
			CacheRegisterSyscacheCallback(PROCOID, forget_last_text, (Datum) 0);
		watches = true;
		last.function = InvalidOid;
		last.has_fp = compute_fingerprint(index, value, &last.fp);
		last.size = VARSIZE(DatumGetPointer(value));
		memcpy(last.text, DatumGetPointer(value), last.size);
		last.collation = collation;
		last.function = function;
	}
	*fp = last.fp;
	return last.has_fp;
}

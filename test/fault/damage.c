/*
 * damage.c
 *	  Changes bytes of an index's page in the server's memory, for tests. Nothing is
 *	  logged.
 */
#include "postgres.h"

#include "access/genam.h"
#include "fmgr.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(damage);
Datum
damage(PG_FUNCTION_ARGS)
{
	Relation index = index_open(PG_GETARG_OID(0), AccessShareLock);
	int at = PG_GETARG_INT32(2);
	bytea *bytes = PG_GETARG_BYTEA_PP(3);
	Buffer buffer = ReadBuffer(index, (BlockNumber) PG_GETARG_INT32(1));

	if (at < 0 || at + VARSIZE_ANY_EXHDR(bytes) > BLCKSZ)
		elog(ERROR, "the bytes are not of one page");
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(buffer) + at, VARDATA_ANY(bytes),
		   VARSIZE_ANY_EXHDR(bytes));
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	index_close(index, AccessShareLock);
	PG_RETURN_VOID();
}

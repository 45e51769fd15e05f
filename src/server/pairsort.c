/*
 * pairsort.c
 *	  Pairs of numbers, sorted by the server's tuplesort.
 *
 * A pair travels as one value of type uuid: 16 bytes, compared as unsigned
 * bytes, the first eight of them within the sort's own array. A tuple of two
 * bigints would need twice the memory and the disk, and three times the time
 * where many pairs agree in their first number.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "server/pairsort.h"

struct SimdupPairSort
{
	Tuplesortstate *state;
};

StaticAssertDecl(UUID_LEN == 2 * sizeof(uint64), "a pair fills a uuid");

SimdupPairSort *
simdup_pairsort_begin(int memory_kb)
{
	SimdupPairSort *sort = palloc(sizeof(SimdupPairSort));
	TypeCacheEntry *type = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);

	sort->state = tuplesort_begin_datum(UUIDOID, type->lt_opr, InvalidOid,
										false, memory_kb, NULL, TUPLESORT_NONE);
	return sort;
}

void
simdup_pairsort_end(SimdupPairSort *sort)
{
	tuplesort_end(sort->state);
	pfree(sort);
}

void
simdup_pairsort_put(SimdupPairSort *sort, uint64 first, uint64 second)
{
	uint64 words[2] = {pg_hton64(first), pg_hton64(second)};

	tuplesort_putdatum(sort->state, PointerGetDatum(words), false);
}

void
simdup_pairsort_perform(SimdupPairSort *sort)
{
	tuplesort_performsort(sort->state);
}

bool
simdup_pairsort_get(SimdupPairSort *sort, uint64 *first, uint64 *second)
{
	Datum value;
	bool isnull;
	uint64 words[2];

	CHECK_FOR_INTERRUPTS();
	if (!simdup_tuplesort_getdatum(sort->state, &value, &isnull))
		return false;
	memcpy(words, DatumGetPointer(value), sizeof(words));
	pfree(DatumGetPointer(value));
	*first = pg_ntoh64(words[0]);
	*second = pg_ntoh64(words[1]);
	return true;
}

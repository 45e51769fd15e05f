/*
 * keynumbers.c
 *	  Numbers for keys of any one type, in the order of their first occurrence.
 *
 * An open-addressing table of numbers with 32 bits of their keys' hashes. Most
 * keys are bigint, so those are hashed and compared without the function
 * manager.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "core/hash.h"
#include "server/keynumbers.h"

#define NO_NUMBER SIMDUP_NO_NUMBER

typedef struct Slot
{
	uint32 hash;
	uint32 number; /* NO_NUMBER: free */
} Slot;

struct SimdupKeyNumbers
{
	MemoryContext context;
	SimdupKeys *keys;
	TypeCacheEntry *type; /* NULL: bigint */
	Oid collation;
	uint32 n;
	Slot *slots;
	uint64 mask; /* of a place in slots */
};

static Slot *
make_slots(MemoryContext context, uint64 n)
{
	Slot *slots =
		MemoryContextAllocExtended(context, n * sizeof(Slot), MCXT_ALLOC_HUGE);

	memset(slots, 0xff, n * sizeof(Slot));
	return slots;
}

SimdupKeyNumbers *
simdup_keynumbers_begin(SimdupKeys *keys, Oid type)
{
	SimdupKeyNumbers *numbers = palloc0(sizeof(SimdupKeyNumbers));

	numbers->context = CurrentMemoryContext;
	numbers->keys = keys;
	if (type != INT8OID)
	{
		numbers->type = lookup_type_cache(type, TYPECACHE_HASH_PROC_FINFO |
													TYPECACHE_EQ_OPR_FINFO);
		if (!OidIsValid(numbers->type->hash_proc_finfo.fn_oid))
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
					errmsg("could not identify a hash function for type %s",
						   format_type_be(type)));
		numbers->collation = get_typcollation(type);
	}
	numbers->mask = 1023;
	numbers->slots = make_slots(numbers->context, numbers->mask + 1);
	return numbers;
}

static uint32
hash_of(const SimdupKeyNumbers *numbers, Datum key)
{
	if (numbers->type == NULL)
		return (uint32) simdup_mix64((uint64) DatumGetInt64(key));
	return DatumGetUInt32(FunctionCall1Coll(&numbers->type->hash_proc_finfo,
											numbers->collation, key));
}

static bool
is_key(const SimdupKeyNumbers *numbers, uint32 number, Datum key)
{
	Datum known = simdup_keys_get(numbers->keys, number, 0);

	if (numbers->type == NULL)
		return DatumGetInt64(known) == DatumGetInt64(key);
	return DatumGetBool(FunctionCall2Coll(&numbers->type->eq_opr_finfo,
										  numbers->collation, known, key));
}

/* Twice the slots, when half of them are taken. */
static void
grow(SimdupKeyNumbers *numbers)
{
	uint64 mask = numbers->mask * 2 + 1;
	Slot *slots;

	if (numbers->n <= numbers->mask / 2)
		return;
	if (numbers->n == NO_NUMBER - 1)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many keys"),
				errdetail("At most %u different keys are possible.",
						  numbers->n));
	slots = make_slots(numbers->context, mask + 1);
	for (uint64 i = 0; i <= numbers->mask; i++)
	{
		Slot slot = numbers->slots[i];
		uint64 place = slot.hash & mask;

		if (slot.number == NO_NUMBER)
			continue;
		while (slots[place].number != NO_NUMBER)
			place = (place + 1) & mask;
		slots[place] = slot;
	}
	pfree(numbers->slots);
	numbers->slots = slots;
	numbers->mask = mask;
}

/*
 * A look-up misses the cache twice: in the table, and where the key is. So the
 * look-ups of many keys are made to overlap.
 */
static void
prefetch(const SimdupKeyNumbers *numbers, const uint32 *hashes, int n)
{
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&numbers->slots[hashes[i] & numbers->mask]);
	for (int i = 0; i < n; i++)
	{
		const Slot *slot = &numbers->slots[hashes[i] & numbers->mask];

		if (slot->number != NO_NUMBER && slot->hash == hashes[i])
			simdup_keys_prefetch(numbers->keys, slot->number);
	}
}

/* The slot of a key, or the free one where it belongs. */
static Slot *
slot_of(const SimdupKeyNumbers *numbers, Datum key, uint32 hash)
{
	uint64 place;

	for (place = hash & numbers->mask;; place = (place + 1) & numbers->mask)
	{
		Slot *slot = &numbers->slots[place];

		if (slot->number == NO_NUMBER ||
			(slot->hash == hash && is_key(numbers, slot->number, key)))
			return slot;
	}
}

static uint32
number_of(SimdupKeyNumbers *numbers, Datum key, uint32 hash)
{
	Slot *slot;

	grow(numbers);
	slot = slot_of(numbers, key, hash);
	if (slot->number == NO_NUMBER)
	{
		simdup_keys_store(numbers->keys, key);
		slot->hash = hash;
		slot->number = numbers->n++;
	}
	return slot->number;
}

static void
hash_and_prefetch(const SimdupKeyNumbers *numbers, const Datum *keys, int n,
				  uint32 *hashes)
{
	for (int i = 0; i < n; i++)
		hashes[i] = hash_of(numbers, keys[i]);
	prefetch(numbers, hashes, n);
}

void
simdup_keynumbers_get(SimdupKeyNumbers *numbers, const Datum *keys, int n,
					  uint32 *result)
{
	uint32 hashes[SIMDUP_MANY_KEYS];

	hash_and_prefetch(numbers, keys, n, hashes);
	for (int i = 0; i < n; i++)
		result[i] = number_of(numbers, keys[i], hashes[i]);
}

void
simdup_keynumbers_find(const SimdupKeyNumbers *numbers, const Datum *keys,
					   int n, uint32 *result)
{
	uint32 hashes[SIMDUP_MANY_KEYS];

	hash_and_prefetch(numbers, keys, n, hashes);
	for (int i = 0; i < n; i++)
		result[i] = slot_of(numbers, keys[i], hashes[i])->number;
}

uint32
simdup_keynumbers_count(const SimdupKeyNumbers *numbers)
{
	return numbers->n;
}

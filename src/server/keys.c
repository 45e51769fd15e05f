/*
 * keys.c
 *	  Keys of rows, of any one type, or whole rows, by row number.
 *
 * A key is one word: its value, or for types passed by reference the offset of
 * its bytes. The bytes of all keys are one array: most keys are short, and
 * palloc's header would double them. While all take as many bytes, they need no
 * offsets.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "core/fingerprint/hash.h"
#include "server/source.h"
#include "server/spill.h"

/* Keys by row number */

struct SimdupKeys
{
	Oid type;
	int16 len;
	bool byval;
	uint32 n;
	SimdupTempFile *words; /* by number: the value, or where its bytes begin */
	SimdupTempFile *bytes; /* each key aligned for any type; NULL: values */
	Size stride; /* bytes of each key; 0: words tell where they begin */
	SimdupBuffer buffers[SIMDUP_KEY_BUFFERS];
};

char *
simdup_key_text(Oid type, Datum key)
{
	Oid function;
	bool is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	return OidOutputFunctionCall(function, key);
}

SimdupKeys *
simdup_keys_begin(Oid type, Size memory)
{
	SimdupKeys *keys = palloc0(sizeof(SimdupKeys));

	keys->type = type;
	get_typlenbyval(type, &keys->len, &keys->byval);
	keys->words = simdup_tempfile_create(memory);
	if (!keys->byval)
		keys->bytes = simdup_tempfile_create(memory);
	return keys;
}

void
simdup_keys_end(SimdupKeys *keys)
{
	simdup_tempfile_close(keys->words);
	simdup_tempfile_close(keys->bytes);
	for (int i = 0; i < SIMDUP_KEY_BUFFERS; i++)
		simdup_free(keys->buffers[i].bytes);
	pfree(keys);
}

Datum
simdup_keys_take(const SimdupKeys *keys, Datum key)
{
	if (keys->len == -1)
		return PointerGetDatum(PG_DETOAST_DATUM(key));
	return key;
}

static void
store_word(SimdupKeys *keys, uint64 word)
{
	simdup_tempfile_append(keys->words, &word, sizeof(word));
	keys->n++;
}

void
simdup_keys_add_bytes(SimdupKeys *keys, const void *bytes, Size len)
{
	static const char zeros[MAXIMUM_ALIGNOF];
	int64 offset = keys->bytes->size;
	uint32 n = keys->n;

	if (n == 0)
		keys->stride = MAXALIGN(len);
	else if (keys->stride != 0 && keys->stride != MAXALIGN(len))
	{
		keys->n = 0;
		while (keys->n < n)
		{
			CHECK_FOR_INTERRUPTS();
			store_word(keys, keys->n * keys->stride);
		}
		keys->stride = 0;
	}
	simdup_tempfile_append(keys->bytes, bytes, len);
	simdup_tempfile_append(keys->bytes, zeros, MAXALIGN(len) - len);
	if (keys->stride == 0)
		store_word(keys, (uint64) offset);
	else
		keys->n++;
}

static void
keys_store(SimdupKeys *keys, Datum key)
{
	if (keys->byval)
		store_word(keys, (uint64) key);
	else
		simdup_keys_add_bytes(keys, DatumGetPointer(key),
							  datumGetSize(key, false, keys->len));
}

void
simdup_keys_add(SimdupKeys *keys, Datum key)
{
	keys_store(keys, simdup_keys_take(keys, key));
}

static int64
word_at(SimdupKeys *keys, uint32 number, int buffer)
{
	int64 offset = (int64) number * (int64) sizeof(int64);

	return *(const int64 *) simdup_tempfile_get(keys->words, offset,
												sizeof(int64),
												&keys->buffers[buffer]);
}

Datum
simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer)
{
	int64 word = keys->stride != 0 ? (int64) (number * keys->stride)
								   : word_at(keys, number, buffer);
	int64 end;

	if (keys->byval)
		return (Datum) word;
	/* in memory, the length does not matter */
	if (keys->bytes->bytes != NULL)
		return PointerGetDatum(keys->bytes->bytes + word);
	if (keys->stride != 0)
		end = word + (int64) keys->stride;
	else if (number + 1 < keys->n)
		end = word_at(keys, number + 1, buffer);
	else
		end = keys->bytes->size;
	return PointerGetDatum(simdup_tempfile_get(keys->bytes, word,
											   (size_t) (end - word),
											   &keys->buffers[buffer]));
}

int64
simdup_keys_memory(const SimdupKeys *keys)
{
	return (int64) (simdup_tempfile_memory(keys->words) +
					simdup_tempfile_memory(keys->bytes));
}

int64
simdup_keys_disk(const SimdupKeys *keys)
{
	return simdup_tempfile_disk(keys->words) +
		   simdup_tempfile_disk(keys->bytes);
}

char *
simdup_keys_text(SimdupKeys *keys, uint32 number)
{
	return simdup_key_text(keys->type, simdup_keys_get(keys, number, 0));
}

/*
 * Numbers for keys of any one type, in the order of their first occurrence.
 *
 * Most keys are bigint, so those are hashed and compared without the function
 * manager.
 *
 * Keys that are expected in order are not hashed at first. All are hashed once a key
 * comes that is not above the last one, or a look-up leaves the order. Without the
 * hash table, a refresh of a grouping takes half the time.
 */

typedef struct KeySlot
{
	uint32 number;
	uint32 hash;
	char status;
} KeySlot;

struct SimdupKeyIds
{
	SimdupKeys *keys;
	TypeCacheEntry *type; /* NULL: bigint */
	FmgrInfo hash;
	Oid collation;
	bool in_order;	   /* the keys so far, which have no slots */
	uint32 found_next; /* the number after the one that was found last */
	struct keyslots_hash *slots;
	uint32 most_slots; /* later keys have none */
	Datum probe; /* the key that is looked up: in slots, SIMDUP_NO_NUMBER */
};

static bool is_key(const SimdupKeyIds *numbers, uint32 number, Datum key);

#define SH_PREFIX keyslots
#define SH_ELEMENT_TYPE KeySlot
#define SH_KEY_TYPE uint32
#define SH_KEY number
#define SH_HASH_KEY(table, key) ((void) (key), 0) /* callers give the hash */
#define SH_EQUAL(table, a, b) \
	is_key((table)->private_data, a, \
		   ((const SimdupKeyIds *) (table)->private_data)->probe)
#define SH_STORE_HASH
#define SH_GET_HASH(table, slot) (slot)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

SimdupKeyIds *
simdup_keyids_begin(SimdupKeys *keys, Oid type, Oid collation)
{
	SimdupKeyIds *numbers = palloc0(sizeof(SimdupKeyIds));

	numbers->keys = keys;
	numbers->collation = collation;
	if (type != INT8OID)
	{
		numbers->type = lookup_type_cache(type, TYPECACHE_HASH_PROC_FINFO |
													TYPECACHE_EQ_OPR_FINFO);
		/* the cache cannot tell whether the columns of a record have a hash */
		if (type == RECORDOID)
			fmgr_info(F_HASH_RECORD, &numbers->hash);
		else
			numbers->hash = numbers->type->hash_proc_finfo;
		if (!OidIsValid(numbers->hash.fn_oid))
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
					errmsg("could not identify a hash function for type %s",
						   format_type_be(type)));
	}
	numbers->slots =
		keyslots_create(GetMemoryChunkContext(numbers), 512, numbers);
	numbers->most_slots = PG_UINT32_MAX;
	return numbers;
}

uint32
simdup_keyids_limit(SimdupKeyIds *numbers, Size memory)
{
	/* a table that has grown is a little less than half full */
	numbers->most_slots =
		(uint32) Min(memory / sizeof(KeySlot) * 2 / 5, PG_UINT32_MAX);
	return numbers->most_slots;
}

void
simdup_keyids_expect_order(SimdupKeyIds *numbers)
{
	numbers->in_order = true;
	if (numbers->type != NULL)
		numbers->type =
			lookup_type_cache(numbers->type->type_id, TYPECACHE_CMP_PROC_FINFO);
}

static uint32
hash_of(SimdupKeyIds *numbers, Datum key)
{
	if (numbers->type == NULL)
		return (uint32) simdup_mix64((uint64) DatumGetInt64(key));
	return DatumGetUInt32(
		FunctionCall1Coll(&numbers->hash, numbers->collation, key));
}

static bool
is_key(const SimdupKeyIds *numbers, uint32 number, Datum key)
{
	Datum known = simdup_keys_get(numbers->keys, number, 0);

	if (numbers->type == NULL)
		return DatumGetInt64(known) == DatumGetInt64(key);
	return DatumGetBool(FunctionCall2Coll(&numbers->type->eq_opr_finfo,
										  numbers->collation, known, key));
}

static uint32
add_key(SimdupKeyIds *numbers, Datum key)
{
	uint32 number = numbers->keys->n;

	if (number == SIMDUP_NO_NUMBER - 1)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many keys"),
				errdetail("At most %u different keys are possible.", number));
	keys_store(numbers->keys, key);
	return number;
}

/* Return the slot of a key; a new one has no number, or is NULL if all are used. */
static KeySlot *
slot_of(SimdupKeyIds *numbers, Datum key, uint32 hash)
{
	bool found;

	numbers->probe = key;
	if (numbers->slots->members >= numbers->most_slots)
		return keyslots_lookup_hash(numbers->slots, SIMDUP_NO_NUMBER, hash);
	return keyslots_insert_hash(numbers->slots, SIMDUP_NO_NUMBER, hash, &found);
}

/* Put the keys that came in order into slots. */
static void
hash_keys(SimdupKeyIds *numbers)
{
	for (uint32 i = 0; i < numbers->keys->n; i++)
	{
		Datum key = simdup_keys_get(numbers->keys, i, 0);

		simdup_check_interrupts_at(i);
		slot_of(numbers, key, hash_of(numbers, key))->number = i;
	}
	numbers->in_order = false;
}

/* Check whether a key is above the last one, and so above all that came in order. */
static bool
is_above(const SimdupKeyIds *numbers, Datum key)
{
	Datum last;

	if (numbers->keys->n == 0)
		return true;
	last = simdup_keys_get(numbers->keys, numbers->keys->n - 1, 0);
	if (numbers->type == NULL)
		return DatumGetInt64(last) < DatumGetInt64(key);
	return DatumGetInt32(FunctionCall2Coll(&numbers->type->cmp_proc_finfo,
										   numbers->collation, last, key)) < 0;
}

/* First hash the keys, and prefetch their slots, so that the look-ups overlap. */
void
simdup_keyids_get(SimdupKeyIds *numbers, const Datum *keys, int n,
				  uint32 *result)
{
	uint32 hashes[SIMDUP_MANY_KEYS];

	for (; n > 0 && numbers->in_order && is_above(numbers, *keys); n--)
		*result++ = add_key(numbers, *keys++);
	if (n > 0 && numbers->in_order)
		hash_keys(numbers);
	for (int i = 0; i < n; i++)
	{
		hashes[i] = hash_of(numbers, keys[i]);
		__builtin_prefetch(
			&numbers->slots->data[hashes[i] & numbers->slots->sizemask]);
	}
	for (int i = 0; i < n; i++)
	{
		KeySlot *slot = slot_of(numbers, keys[i], hashes[i]);

		if (slot != NULL && slot->number != SIMDUP_NO_NUMBER)
			result[i] = slot->number;
		else
			result[i] = add_key(numbers, keys[i]);
		if (slot != NULL)
			slot->number = result[i];
	}
}

uint32
simdup_keyids_find(SimdupKeyIds *numbers, Datum key)
{
	uint32 number = numbers->found_next;

	if (number >= numbers->keys->n || !is_key(numbers, number, key))
	{
		const KeySlot *slot;

		if (numbers->in_order)
			hash_keys(numbers);
		numbers->probe = key;
		slot = keyslots_lookup_hash(numbers->slots, SIMDUP_NO_NUMBER,
									hash_of(numbers, key));
		number = slot == NULL ? SIMDUP_NO_NUMBER : slot->number;
	}
	if (number != SIMDUP_NO_NUMBER)
		numbers->found_next = number + 1;
	return number;
}

uint32
simdup_keyids_count(const SimdupKeyIds *numbers)
{
	return numbers->keys->n;
}

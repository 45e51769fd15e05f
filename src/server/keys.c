/*
 * keys.c
 *	  Keys of rows, of any one type, by row number.
 *
 * A key is one word: its value, or for types passed by reference the offset of
 * its bytes. The bytes of all keys are one array: most keys are short, and
 * palloc's header would double them. The array doubles when it is full. So up to half
 * of it is address space that was never written, and that no limit counts.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
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

	/* in memory */
	uint64 *words; /* by number: value or offset in bytes */
	char *bytes;   /* each key aligned for any type */
	Size n_bytes;
	Size words_size, bytes_size; /* that there is room for */

	/* on disk */
	SimdupTempFile *word_file; /* by number: value or offset in byte_file */
	SimdupTempFile *byte_file; /* length, bytes */
	StringInfoData buffer[SIMDUP_KEY_BUFFERS];
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
simdup_keys_begin(Oid type)
{
	SimdupKeys *keys = palloc0(sizeof(SimdupKeys));

	keys->words = simdup_grow(NULL, &keys->words_size, 16, sizeof(uint64));
	keys->type = type;
	get_typlenbyval(type, &keys->len, &keys->byval);
	if (!keys->byval)
		keys->bytes = simdup_grow(NULL, &keys->bytes_size, 256, 1);
	for (int i = 0; i < SIMDUP_KEY_BUFFERS; i++)
		initStringInfo(&keys->buffer[i]);
	return keys;
}

void
simdup_keys_end(SimdupKeys *keys)
{
	simdup_tempfile_close(keys->word_file);
	simdup_tempfile_close(keys->byte_file);
	simdup_free(keys->words);
	simdup_free(keys->bytes);
	for (int i = 0; i < SIMDUP_KEY_BUFFERS; i++)
		pfree(keys->buffer[i].data);
	pfree(keys);
}

Datum
simdup_keys_take(const SimdupKeys *keys, Datum key)
{
	if (keys->len == -1)
		return PointerGetDatum(PG_DETOAST_DATUM(key));
	return key;
}

/* Store the bytes of a key, and return their offset. */
static uint64
store_bytes(SimdupKeys *keys, Datum key)
{
	uint32 len = (uint32) datumGetSize(key, keys->byval, keys->len);
	uint64 offset = keys->n_bytes;

	if (keys->byte_file != NULL)
	{
		offset =
			(uint64) simdup_tempfile_append(keys->byte_file, &len, sizeof(len));
		simdup_tempfile_append(keys->byte_file, DatumGetPointer(key), len);
		return offset;
	}
	keys->n_bytes += MAXALIGN(len);
	keys->bytes = simdup_grow(keys->bytes, &keys->bytes_size, keys->n_bytes, 1);
	memcpy(keys->bytes + offset, DatumGetPointer(key), len);
	return offset;
}

static void
keys_store(SimdupKeys *keys, Datum key)
{
	uint64 word = keys->byval ? (uint64) key : store_bytes(keys, key);

	if (keys->word_file != NULL)
		simdup_tempfile_append(keys->word_file, &word, sizeof(word));
	else
	{
		keys->words = simdup_grow(keys->words, &keys->words_size,
								  (Size) keys->n + 1, sizeof(uint64));
		keys->words[keys->n] = word;
	}
	keys->n++;
}

void
simdup_keys_add(SimdupKeys *keys, Datum key)
{
	keys_store(keys, simdup_keys_take(keys, key));
}

void
simdup_keys_spill(SimdupKeys *keys)
{
	MemoryContext old;

	if (keys->word_file)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(keys));
	keys->word_file = simdup_tempfile_create();
	if (!keys->byval)
		keys->byte_file = simdup_tempfile_create();
	MemoryContextSwitchTo(old);
	for (uint32 i = 0; !keys->byval && i < keys->n; i++)
		keys->words[i] =
			store_bytes(keys, PointerGetDatum(keys->bytes + keys->words[i]));
	simdup_tempfile_append(keys->word_file, keys->words,
						   keys->n * sizeof(uint64));
	simdup_free(keys->words);
	simdup_free(keys->bytes);
	keys->words = NULL;
	keys->bytes = NULL;
}

Datum
simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer)
{
	StringInfo to = &keys->buffer[buffer];
	uint64 word;
	uint32 len;

	if (keys->word_file == NULL)
		return keys->byval ? (Datum) keys->words[number]
						   : PointerGetDatum(keys->bytes + keys->words[number]);
	simdup_tempfile_read(keys->word_file, (int64) number * (int64) sizeof(word),
						 &word, sizeof(word));
	if (keys->byval)
		return (Datum) word;
	simdup_tempfile_read(keys->byte_file, (int64) word, &len, sizeof(len));
	resetStringInfo(to);
	enlargeStringInfo(to, (int) len);
	simdup_tempfile_read(keys->byte_file, (int64) word + (int64) sizeof(len),
						 to->data, len);
	return PointerGetDatum(to->data);
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

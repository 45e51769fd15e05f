/*
 * keys.c
 *	  The keys of a query's rows, of any one type, by row number.
 *
 * A key is one word: its value, or for types passed by reference the place of
 * its bytes. In memory that place is a pointer into a chunk that many keys
 * share: most keys are short, and palloc's header would double them.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "server/arguments.h"
#include "server/keys.h"
#include "server/tempfile.h"

#define CHUNK_SIZE (256 * 1024)

struct SimdupKeys
{
	MemoryContext context;
	Oid type;
	int16 len;
	bool byval;
	const char *argument; /* the query that is read now */
	Oid query_type;		  /* of its keys */
	uint32 n;

	/* in memory */
	uint64 *words; /* by number: value or pointer */
	uint32 capacity;
	char *chunk; /* free room for bytes */
	size_t chunk_left;
	MemoryContext chunks;
	int64 bytes; /* in all chunks */

	/* on disk */
	SimdupTempFile *word_file; /* by number: value or offset in byte_file */
	SimdupTempFile *byte_file; /* length, bytes */
	StringInfoData buffer[SIMDUP_KEY_BUFFERS];
};

Oid
simdup_key_type_argument(FunctionCallInfo fcinfo)
{
	int argument = simdup_named_argument(fcinfo, "key_type");
	Oid type;

	if (argument < 0)
		return INT8OID;
	type = get_fn_expr_argtype(fcinfo->flinfo, argument);
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the keys");
	return type;
}

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

	keys->context = CurrentMemoryContext;
	keys->type = type;
	get_typlenbyval(type, &keys->len, &keys->byval);
	keys->chunks = AllocSetContextCreate(keys->context, "simdup keys",
										 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < SIMDUP_KEY_BUFFERS; i++)
		initStringInfo(&keys->buffer[i]);
	return keys;
}

void
simdup_keys_end(SimdupKeys *keys)
{
	simdup_tempfile_close(keys->word_file);
	simdup_tempfile_close(keys->byte_file);
	if (keys->words)
		pfree(keys->words);
	MemoryContextDelete(keys->chunks);
	for (int i = 0; i < SIMDUP_KEY_BUFFERS; i++)
		pfree(keys->buffer[i].data);
	pfree(keys);
}

void
simdup_keys_expect(SimdupKeys *keys, Oid type, const char *argument)
{
	if (type != keys->type &&
		(keys->type != INT8OID || (type != INT4OID && type != INT2OID)))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("key of the query in argument \"%s\" is of type %s, not %s",
					   argument, format_type_be(type),
					   format_type_be(keys->type)),
				errhint("Cast the key to %s, or pass the type that all keys have: key_type => NULL::%s.",
						format_type_be(keys->type), format_type_be(type)));
	keys->query_type = type;
	keys->argument = argument;
}

/* Room for len bytes, aligned for any type. */
static char *
make_room(SimdupKeys *keys, size_t len)
{
	char *room;

	len = MAXALIGN(len);
	keys->bytes += (int64) len;
	if (len > CHUNK_SIZE / 8)
		return MemoryContextAlloc(keys->chunks, len);
	if (keys->chunk_left < len)
	{
		keys->chunk = MemoryContextAlloc(keys->chunks, CHUNK_SIZE);
		keys->chunk_left = CHUNK_SIZE;
	}
	room = keys->chunk;
	keys->chunk += len;
	keys->chunk_left -= len;
	return room;
}

static void
store_in_memory(SimdupKeys *keys, Datum key)
{
	if (keys->n == keys->capacity)
	{
		Size n = keys->capacity == 0 ? 1024 : (Size) keys->capacity * 2;

		n = Min(n, PG_UINT32_MAX);
		keys->words =
			keys->words == NULL
				? MemoryContextAlloc(keys->context, n * sizeof(uint64))
				: repalloc_huge(keys->words, n * sizeof(uint64));
		keys->capacity = (uint32) n;
	}
	if (!keys->byval)
	{
		Size size = datumGetSize(key, keys->byval, keys->len);

		key = PointerGetDatum(
			memcpy(make_room(keys, size), DatumGetPointer(key), size));
	}
	keys->words[keys->n] = (uint64) key;
}

static void
store_on_disk(SimdupKeys *keys, Datum key)
{
	uint64 word = (uint64) key;

	if (!keys->byval)
	{
		uint32 len = (uint32) datumGetSize(key, keys->byval, keys->len);

		word =
			(uint64) simdup_tempfile_append(keys->byte_file, &len, sizeof(len));
		simdup_tempfile_append(keys->byte_file, DatumGetPointer(key), len);
	}
	simdup_tempfile_append(keys->word_file, &word, sizeof(word));
}

/* A key of one of the smaller integer types as the bigint it is taken for. */
static Datum
widen(Datum key, Oid type)
{
	return Int64GetDatum(type == INT2OID ? (int64) DatumGetInt16(key)
										 : (int64) DatumGetInt32(key));
}

Datum
simdup_keys_take(SimdupKeys *keys, Datum key, bool isnull)
{
	if (isnull)
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("key must not be null"),
				errdetail("The query in argument \"%s\" yields a row without a key.",
						  keys->argument));
	if (keys->query_type != keys->type)
		return widen(key, keys->query_type);
	if (keys->len == -1)
		return PointerGetDatum(PG_DETOAST_DATUM(key));
	return key;
}

void
simdup_keys_store(SimdupKeys *keys, Datum key)
{
	if (keys->word_file)
		store_on_disk(keys, key);
	else
		store_in_memory(keys, key);
	keys->n++;
}

void
simdup_keys_add(SimdupKeys *keys, Datum key, bool isnull)
{
	simdup_keys_store(keys, simdup_keys_take(keys, key, isnull));
}

void
simdup_keys_prefetch(const SimdupKeys *keys, uint32 number)
{
	if (keys->words != NULL)
		__builtin_prefetch(&keys->words[number]);
}

int64
simdup_keys_memory(const SimdupKeys *keys)
{
	return keys->word_file
			   ? 0
			   : keys->bytes + (int64) keys->n * (int64) sizeof(uint64);
}

void
simdup_keys_spill(SimdupKeys *keys)
{
	MemoryContext old;

	if (keys->word_file)
		return;
	old = MemoryContextSwitchTo(keys->context);
	keys->word_file = simdup_tempfile_create();
	if (!keys->byval)
		keys->byte_file = simdup_tempfile_create();
	MemoryContextSwitchTo(old);
	for (uint32 i = 0; i < keys->n; i++)
		store_on_disk(keys, (Datum) keys->words[i]);
	if (keys->words)
		pfree(keys->words);
	MemoryContextReset(keys->chunks);
	keys->words = NULL;
	keys->capacity = 0;
	keys->chunk_left = 0;
	keys->bytes = 0;
}

Datum
simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer)
{
	StringInfo to = &keys->buffer[buffer];
	uint64 word;
	uint32 len;

	if (keys->word_file == NULL)
		return (Datum) keys->words[number];
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

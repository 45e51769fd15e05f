/*
 * source.h
 *	  A source: a table or a view that a batch reads, with columns known by name, and
 *	  the keys of its rows.
 */
#ifndef SIMDUP_SERVER_SOURCE_H
#define SIMDUP_SERVER_SOURCE_H

#include "executor/tuptable.h"
#include "fmgr.h"

/*
 * Take a row, all of whose values are in the slot, in a memory context that is
 * reset after it.
 */
typedef void (*SimdupRowSink)(void *arg, TupleTableSlot *row);

/* Columns that a reader may want. The scope and the day may be missing. */
typedef enum SimdupSourceColumn
{
	SIMDUP_SOURCE_KEY,	   /* else the primary key of one column */
	SIMDUP_SOURCE_FP,	   /* else by an index, else minhash64(content) */
	SIMDUP_SOURCE_CONTENT, /* a text or a sketch; else a text by an index */
	SIMDUP_SOURCE_SCOPE,
	SIMDUP_SOURCE_CLUSTER, /* of the key's type, as a number */
	SIMDUP_SOURCE_DAY, /* the first other column of a date or a time, as a date */
	SIMDUP_SOURCE_COLUMNS
} SimdupSourceColumn;

/* A set of these. */
#define SIMDUP_SOURCE_HAS(column) (1 << (column))

/* Beside them: the contents must be texts. */
#define SIMDUP_SOURCE_TEXTS (1 << SIMDUP_SOURCE_COLUMNS)

typedef struct SimdupSource
{
	char *name;	   /* schema.name, quoted */
	Datum columns; /* name[]: those that were found, read or not */
	Oid type[SIMDUP_SOURCE_COLUMNS];  /* InvalidOid: not read */
	int place[SIMDUP_SOURCE_COLUMNS]; /* in a row, from 0; -1: not read */
	char *key;						  /* the key's column, quoted; or NULL */
	Oid key_collation;
	Oid scope_collation;
	/* base type of the column content, also if it is not read; InvalidOid: none */
	Oid content_type;
	char *statement; /* that reads it */
} SimdupSource;

/*
 * Find the wanted columns of a source, for the function that is called. The
 * relation stays locked until the transaction ends. An argument "columns" of the
 * function may name the columns before DAY, NULL for none. ERROR if one is missing.
 */
extern SimdupSource simdup_source_open(FunctionCallInfo fcinfo, Oid relation,
									   int wanted);

/*
 * Read the rows, with the caller's rights, in the order of the key if it is
 * wanted. ERROR if a key is NULL. Connects to SPI. A source may be a statement alone.
 */
extern void simdup_source_read(const SimdupSource *source, SimdupRowSink sink,
							   void *arg);

/* Keys of rows, of any one type, by row number: keys.c. */

/* Keys of a store that are valid at the same time. */
#define SIMDUP_KEY_BUFFERS 3

typedef struct SimdupKeys SimdupKeys;

/* Return a key as its type writes it. */
extern char *simdup_key_text(Oid type, Datum key);

#define SIMDUP_KEYS_IN_MEMORY SIZE_MAX

/*
 * Return a new store for keys of a type, in the current memory context. They go to
 * temporary files beyond this memory.
 */
extern SimdupKeys *simdup_keys_begin(Oid type, Size memory);
extern void simdup_keys_end(SimdupKeys *keys);

/*
 * Add the key of the next row; rows are numbered from 0. A key that is toasted is
 * expanded in the current memory context.
 */
extern void simdup_keys_add(SimdupKeys *keys, Datum key);

/* Add any bytes to a store of a type that is passed by reference. */
extern void simdup_keys_add_bytes(SimdupKeys *keys, const void *bytes,
								  Size len);

/* Return the bytes of such a store in memory, and those on disk. */
extern int64 simdup_keys_memory(const SimdupKeys *keys);
extern int64 simdup_keys_disk(const SimdupKeys *keys);

/* Return a key as it is stored, of the type of the keys. */
extern Datum simdup_keys_take(const SimdupKeys *keys, Datum key);

/*
 * Return the key of a row. One that is passed by reference is valid until the next
 * call with the same buffer, 0 to SIMDUP_KEY_BUFFERS - 1. Adding a key ends it, too.
 */
extern Datum simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer);

/* Return the same as its type writes it. */
extern char *simdup_keys_text(SimdupKeys *keys, uint32 number);

/* Numbers for keys of any one type, in the order of their first occurrence. */

typedef struct SimdupKeyIds SimdupKeyIds;

/*
 * Begin numbers for the keys of an empty store, which gets each key once. The
 * collation says which texts are equal. In a store on disk, each
 * look-up of a known key is a read.
 */
extern SimdupKeyIds *simdup_keyids_begin(SimdupKeys *keys, Oid type,
										 Oid collation);

/*
 * Expect keys in the order of their type, before the first of them. Keys in another
 * order take more time.
 */
extern void simdup_keyids_expect_order(SimdupKeyIds *numbers);

/* Keys looked up in one call. */
#define SIMDUP_MANY_KEYS 256

/*
 * Limit the memory of the table that finds keys, before the first of them. Return how
 * many keys fit in it. A key that comes later gets a new number each time.
 */
extern uint32 simdup_keyids_limit(SimdupKeyIds *numbers, Size memory);

/*
 * Get the numbers of at most SIMDUP_MANY_KEYS keys. A new key gets the next
 * one, from 0. The keys are as simdup_keys_take gives them, and none is of this
 * store: adding a key moves the others.
 */
extern void simdup_keyids_get(SimdupKeyIds *numbers, const Datum *keys, int n,
							  uint32 *result);

#define SIMDUP_NO_NUMBER PG_UINT32_MAX

/* Return the number of a key; SIMDUP_NO_NUMBER if it has none, and gets none. */
extern uint32 simdup_keyids_find(SimdupKeyIds *numbers, Datum key);

/* Return the number of keys. */
extern uint32 simdup_keyids_count(const SimdupKeyIds *numbers);

#endif /* SIMDUP_SERVER_SOURCE_H */

/*
 * keys.h
 *	  The keys of a query's rows, of any one type, by row number.
 */
#ifndef SIMDUP_SERVER_KEYS_H
#define SIMDUP_SERVER_KEYS_H

#include "fmgr.h"

#include "server/keys.h"

/* As many keys can be looked at at a time. */
#define SIMDUP_KEY_BUFFERS 3

typedef struct SimdupKeys SimdupKeys;

/* The type of the keys: that of the argument key_type, bigint without one. */
extern Oid simdup_key_type_argument(FunctionCallInfo fcinfo);

/* A key as its type writes it. */
extern char *simdup_key_text(Oid type, Datum key);

/* A new store for keys of a type, in the current memory context. */
extern SimdupKeys *simdup_keys_begin(Oid type);
/* The same for the keys of the query of a function, of the type that it is told. */
extern SimdupKeys *simdup_keys_of_function(FunctionCallInfo fcinfo);
extern void simdup_keys_end(SimdupKeys *keys);

/*
 * Before the rows of a query: its keys are of this type. ERROR if they can't
 * be stored; smaller integers are stored as bigint.
 */
extern void simdup_keys_expect(SimdupKeys *keys, Oid type,
							   const char *argument);

/*
 * Add the key of the next row; rows are numbered from 0. ERROR if it is NULL.
 * A key that is toasted is expanded in the current memory context.
 */
extern void simdup_keys_add(SimdupKeys *keys, Datum key, bool isnull);

/*
 * The two steps of that: take a key as it is stored, of the type of the keys;
 * and store it.
 */
extern Datum simdup_keys_take(SimdupKeys *keys, Datum key, bool isnull);
extern void simdup_keys_store(SimdupKeys *keys, Datum key);

/* The key of this row will be asked for soon. */
extern void simdup_keys_prefetch(const SimdupKeys *keys, uint32 number);

/* Memory that the keys take, in bytes; none after they were spilled. */
extern int64 simdup_keys_memory(const SimdupKeys *keys);

/* Move the keys to temporary files; later ones go there, too. */
extern void simdup_keys_spill(SimdupKeys *keys);

/*
 * The key of a row. A key that is passed by reference is valid until the next
 * call with the same buffer, 0 to SIMDUP_KEY_BUFFERS - 1.
 */
extern Datum simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer);

/*
 * Numbers for keys of any one type, in the order of their first occurrence.
 */

typedef struct SimdupKeyNumbers SimdupKeyNumbers;

/*
 * No numbers yet, for the keys of an empty store, which gets each key once. The
 * store must stay in memory.
 */
extern SimdupKeyNumbers *simdup_keynumbers_begin(SimdupKeys *keys, Oid type);

/* As many keys are looked up at a time. */
#define SIMDUP_MANY_KEYS 256

/*
 * The numbers of at most SIMDUP_MANY_KEYS keys; a new key gets the next one, from
 * 0. The keys are as simdup_keys_take gives them.
 */
extern void simdup_keynumbers_get(SimdupKeyNumbers *numbers, const Datum *keys,
								  int n, uint32 *result);

/* The same, but a key that is new stays so, and has SIMDUP_NO_NUMBER. */
#define SIMDUP_NO_NUMBER PG_UINT32_MAX

extern void simdup_keynumbers_find(const SimdupKeyNumbers *numbers,
								   const Datum *keys, int n, uint32 *result);

/* How many keys there are. */
extern uint32 simdup_keynumbers_count(const SimdupKeyNumbers *numbers);

#endif /* SIMDUP_SERVER_KEYS_H */

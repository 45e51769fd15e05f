/*
 * keys.h
 *	  Keys of rows, of any one type, by row number.
 */
#ifndef SIMDUP_SERVER_KEYS_H
#define SIMDUP_SERVER_KEYS_H

#include "fmgr.h"

/* As many keys can be looked at at a time. */
#define SIMDUP_KEY_BUFFERS 2

typedef struct SimdupKeys SimdupKeys;

/* Return a key as its type writes it. */
extern char *simdup_key_text(Oid type, Datum key);

/* Return a new store for keys of a type, in the current memory context. */
extern SimdupKeys *simdup_keys_begin(Oid type);
extern void simdup_keys_end(SimdupKeys *keys);

/*
 * Add the key of the next row; rows are numbered from 0. ERROR if it is NULL.
 * A key that is toasted is expanded in the current memory context.
 */
extern void simdup_keys_add(SimdupKeys *keys, Datum key, bool isnull);

/* Return a key as it is stored, of the type of the keys. */
extern Datum simdup_keys_take(SimdupKeys *keys, Datum key, bool isnull);

/* Prefetch the key of a row that will be asked for soon. */
extern void simdup_keys_prefetch(const SimdupKeys *keys, uint32 number);

/* Move the keys to temporary files; later ones go there, too. */
extern void simdup_keys_spill(SimdupKeys *keys);

/*
 * Return the key of a row. A key that is passed by reference is valid until the
 * next call with the same buffer, 0 to SIMDUP_KEY_BUFFERS - 1, and until a key is
 * added to the store.
 */
extern Datum simdup_keys_get(SimdupKeys *keys, uint32 number, int buffer);

/* Numbers for keys of any one type, in the order of their first occurrence. */

typedef struct SimdupKeyNumbers SimdupKeyNumbers;

/*
 * Begin numbers for the keys of an empty store, which gets each key once. The
 * store must stay in memory.
 */
extern SimdupKeyNumbers *simdup_keynumbers_begin(SimdupKeys *keys, Oid type);

/*
 * Expect keys in the order of their type and of this collation, before the first
 * of them. Keys in another order take more time.
 */
extern void simdup_keynumbers_expect_order(SimdupKeyNumbers *numbers,
										   Oid collation);

/* As many keys are looked up at a time. */
#define SIMDUP_MANY_KEYS 256

/*
 * Get the numbers of at most SIMDUP_MANY_KEYS keys. A new key gets the next
 * one, from 0. The keys are as simdup_keys_take gives them, and none is of this
 * store: adding a key moves the others.
 */
extern void simdup_keynumbers_get(SimdupKeyNumbers *numbers, const Datum *keys,
								  int n, uint32 *result);

#define SIMDUP_NO_NUMBER PG_UINT32_MAX

/* Return the number of a key; SIMDUP_NO_NUMBER if it has none, and gets none. */
extern uint32 simdup_keynumbers_find(SimdupKeyNumbers *numbers, Datum key);

/* Return the number of keys. */
extern uint32 simdup_keynumbers_count(const SimdupKeyNumbers *numbers);

#endif /* SIMDUP_SERVER_KEYS_H */

/*
 * keynumbers.h
 *	  Numbers for keys of any one type, in the order of their first occurrence.
 */
#ifndef SIMDUP_SERVER_KEYNUMBERS_H
#define SIMDUP_SERVER_KEYNUMBERS_H

#include "server/keys.h"

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

#endif /* SIMDUP_SERVER_KEYNUMBERS_H */

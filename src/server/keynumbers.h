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

/*
 * The number of a key; a new key gets the next one, from 0. ERROR if it is NULL.
 * A key that is toasted is expanded in the current memory context.
 */
extern uint32 simdup_keynumbers_get(SimdupKeyNumbers *numbers, Datum key,
									bool isnull);

/* How many keys there are. */
extern uint32 simdup_keynumbers_count(const SimdupKeyNumbers *numbers);

#endif /* SIMDUP_SERVER_KEYNUMBERS_H */

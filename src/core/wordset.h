/*
 * wordset.h
 *	  A set of 64-bit words, none of them 0. Zeroed, it is empty.
 */
#ifndef SIMDUP_CORE_WORDSET_H
#define SIMDUP_CORE_WORDSET_H

#include <stdbool.h>

#include "core/hash.h"
#include "core/host.h"

typedef struct SimdupWordSet
{
	uint64_t *slots; /* 0: free */
	size_t mask;
	size_t n;
} SimdupWordSet;

static inline size_t
simdup_wordset_slot(const SimdupWordSet *set, uint64_t word)
{
	size_t i = simdup_mix64(word) & set->mask;

	while (set->slots[i] != 0 && set->slots[i] != word)
		i = (i + 1) & set->mask;
	return i;
}

static inline bool
simdup_wordset_has(const SimdupWordSet *set, uint64_t word)
{
	return set->n > 0 && set->slots[simdup_wordset_slot(set, word)] == word;
}

static inline void
simdup_wordset_free(SimdupWordSet *set)
{
	if (set->slots != NULL)
		simdup_free(set->slots);
}

/* Add a word; false if it is there. */
static inline bool
simdup_wordset_add(SimdupWordSet *set, uint64_t word)
{
	size_t i;

	if (set->n * 2 >= set->mask)
	{
		SimdupWordSet larger = {.n = set->n, .mask = set->mask * 2 + 1};

		if (set->mask == 0)
			larger.mask = 63;
		larger.slots = simdup_alloc0((larger.mask + 1) * sizeof(uint64_t));
		for (size_t j = 0; set->slots != NULL && j <= set->mask; j++)
			if (set->slots[j] != 0)
				larger.slots[simdup_wordset_slot(&larger, set->slots[j])] =
					set->slots[j];
		simdup_wordset_free(set);
		*set = larger;
	}
	i = simdup_wordset_slot(set, word);
	if (set->slots[i] == word)
		return false;
	set->slots[i] = word;
	set->n++;
	return true;
}

#endif /* SIMDUP_CORE_WORDSET_H */

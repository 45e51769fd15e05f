/*
 * unions.h
 *	  Sets of elements that are united, unless a cannot-link forbids it.
 */
#ifndef SIMDUP_CORE_CLUSTER_UNIONS_H
#define SIMDUP_CORE_CLUSTER_UNIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fingerprint/hash.h"

/* Begins with n and parent, the rest zeroed. */
typedef struct SimdupUnion
{
	uint32_t n;							   /* elements */
	uint32_t *parent;					   /* of each; a root is its own */
	SimdupWordSet cannot_link;			   /* (smaller root, larger root) */
	struct SimdupCannotLinkList *lists;	   /* by root; NULL: no cannot-link */
	struct SimdupCannotLinkEntry *entries; /* of all lists */
	size_t n_entries;
	size_t size; /* of entries */
} SimdupUnion;

/* Never unite the sets of two elements, which are not in one set. */
extern void simdup_union_cannot_link(SimdupUnion *u, uint32_t a, uint32_t b);

/* Check whether two elements are in different sets that may be united. */
extern bool simdup_union_may_join(SimdupUnion *u, uint32_t a, uint32_t b);

/* Unite the sets of two elements of which that is so. */
extern void simdup_union_join(SimdupUnion *u, uint32_t a, uint32_t b);

/* Free all but the parents. */
extern void simdup_union_free(SimdupUnion *u);

#endif /* SIMDUP_CORE_CLUSTER_UNIONS_H */

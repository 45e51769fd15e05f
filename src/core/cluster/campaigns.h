/*
 * campaigns.h
 *	  Campaigns: letters of which each is partly that of a center. Texts are
 *	  numbers from 0, in their order.
 */
#ifndef SIMDUP_CORE_CLUSTER_CAMPAIGNS_H
#define SIMDUP_CORE_CLUSTER_CAMPAIGNS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Candidates: texts that share a value of their samples. If more than
 * SIMDUP_MANY_SHARERS texts share one, each is a candidate with the first
 * SIMDUP_FIRST_SHARERS of them and with the next one. So candidates are linear in
 * values, and no value is dropped.
 */
#define SIMDUP_MANY_SHARERS 100
#define SIMDUP_FIRST_SHARERS 10

/*
 * Return how many of the first of n texts that share a value are candidates of the
 * one at this position. If these are not all before it, the one just before it is
 * another.
 */
extern uint32_t simdup_first_candidates(uint32_t n, uint32_t position);

/*
 * Centers. Of the texts that are not taken yet, the one that takes most rows is a
 * center: its own rows, and those of partners that are not taken yet. Of equal ones
 * it is the earliest. Then each text that is no center joins the one that is its
 * partner with the largest containment, of equal ones the earliest.
 */

typedef struct SimdupPartner
{
	double containment;
	uint64_t text; /* a uint32_t, without padding */
} SimdupPartner;

typedef struct SimdupPartners
{
	uint32_t n;				/* texts */
	const uint32_t *copies; /* by text: its rows */
	/* the partners of a text, ascending; valid until the next call */
	const SimdupPartner *(*of)(void *arg, uint32_t text, size_t *n);
	void *arg;
} SimdupPartners;

/* Return the center of each text, to be freed. A text without partners is its own. */
extern uint32_t *simdup_find_centers(const SimdupPartners *partners);

#endif /* SIMDUP_CORE_CLUSTER_CAMPAIGNS_H */

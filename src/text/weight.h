/*
 * weight.h
 *	  Real weights as the exact integers that the sums count in.
 */
#ifndef SIMDUP_TEXT_WEIGHT_H
#define SIMDUP_TEXT_WEIGHT_H

#include "fmgr.h"

/*
 * A weight in units of 2^-16, rounded. Raises 22023 for NaN, infinite and
 * negative weights, and 22003 for weights of 2^47 and more. The DETAIL names
 * the position, unless it is 0.
 */
extern uint64 simdup_fixed_weight(float8 weight, int position);

#endif /* SIMDUP_TEXT_WEIGHT_H */

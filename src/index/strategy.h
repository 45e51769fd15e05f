/*
 * strategy.h
 *	  Strategy numbers of the operator class simhash64_ops.
 */
#ifndef SIMDUP_INDEX_STRATEGY_H
#define SIMDUP_INDEX_STRATEGY_H

#define SIMHASH_IN_BALL_STRATEGY 1 /* simhash64 <@ simhash_ball */
#define SIMHASH_EQUAL_STRATEGY 2   /* simhash64 = simhash64 */

#endif /* SIMDUP_INDEX_STRATEGY_H */

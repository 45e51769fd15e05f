/*
 * scores.h
 *	  Precision, recall and F1 of found pairs.
 */
#ifndef SIMDUP_BATCH_SCORES_H
#define SIMDUP_BATCH_SCORES_H

/* found, true, both, precision, recall, F1 */
#define SIMDUP_N_SCORES 6

/* The scores as columns of a result; NULL where they would divide by zero. */
extern void simdup_scores(int64 found, int64 truth, int64 both, Datum *values,
						  bool *nulls);

#endif /* SIMDUP_BATCH_SCORES_H */

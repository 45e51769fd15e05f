/*
 * campaigns.h
 *	  The campaigns of a batch.
 */
#ifndef SIMDUP_BATCH_CAMPAIGNS_H
#define SIMDUP_BATCH_CAMPAIGNS_H

#include "batch/rows.h"

/*
 * Return the center of each row's campaign: a distinct row. `distinct` holds the
 * distinct row of each row.
 */
extern uint32 *simdup_find_campaigns(SimdupRows *rows, const uint32 *distinct);

#endif /* SIMDUP_BATCH_CAMPAIGNS_H */

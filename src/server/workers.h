/*
 * workers.h
 *	  Parallel workers that help with a join.
 */
#ifndef SIMDUP_SERVER_WORKERS_H
#define SIMDUP_SERVER_WORKERS_H

#include "core/join/allpairs.h"

/*
 * Return helpers for joins, allocated in the current memory context. They are as
 * many as max_parallel_workers_per_gather and max_parallel_workers give.
 */
extern SimdupHelpers *simdup_workers(void);

#endif /* SIMDUP_SERVER_WORKERS_H */

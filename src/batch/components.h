/*
 * components.h
 *	  Which rows of a batch belong together.
 */
#ifndef SIMDUP_BATCH_COMPONENTS_H
#define SIMDUP_BATCH_COMPONENTS_H

#include "batch/join.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER	  /* the single pass of document 003 */
} SimdupClusterMethod;

/* 'connected' or 'leader', or an ERROR. */
extern SimdupClusterMethod simdup_cluster_method(const char *name);

/*
 * For the number of each group's first row, the number of the first row of
 * its cluster; only those entries mean something. The array is as long as the
 * batch has rows: four bytes a row, outside maintenance_work_mem ('leader':
 * eight while it works). also gets each near pair of groups where not NULL.
 */
extern uint32 *simdup_find_clusters(SimdupRows *rows, int max_distance,
									SimdupClusterMethod method,
									SimdupGroupSink also, void *arg);

#endif /* SIMDUP_BATCH_COMPONENTS_H */

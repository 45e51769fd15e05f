/*
 * clustering.h
 *	  Which rows of a batch belong together.
 */
#ifndef SIMDUP_BATCH_CLUSTERING_H
#define SIMDUP_BATCH_CLUSTERING_H

#include "batch/join.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER	  /* the single pass of document 003 */
} SimdupClusterMethod;

/* 'connected' or 'leader', or an ERROR. */
extern SimdupClusterMethod simdup_cluster_method(const char *name);

/*
 * Clusters of groups. Most groups of a large table are near no other; the bits
 * tell, at the position of a group's first row, so that passes over all groups
 * need not look up each of them. The other arrays go by row number and mean
 * something for first rows only. All of it takes eight bytes a row, outside
 * maintenance_work_mem, and four more while 'leader' works.
 */
typedef struct SimdupClusters
{
	SimdupGroups *groups;
	uint8 *has_near; /* one bit a position */
	uint32 *cluster; /* number of the cluster's first row */
	uint32 *size;	 /* of a cluster, under that number */
} SimdupClusters;

/* also gets each near pair of groups, where it is not NULL. */
extern SimdupClusters *simdup_find_clusters(SimdupGroups *groups,
											int max_distance,
											SimdupClusterMethod method,
											SimdupGroupSink also, void *arg);

/* A group's cluster, by the number of its first row, and its rows. */
extern void simdup_cluster_of(const SimdupClusters *clusters,
							  const SimdupGroup *group, uint32 *first_row,
							  uint32 *size);

#endif /* SIMDUP_BATCH_CLUSTERING_H */

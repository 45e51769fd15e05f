/*
 * clustering.h
 *	  Which rows of a batch belong together.
 */
#ifndef SIMDUP_BATCH_CLUSTERING_H
#define SIMDUP_BATCH_CLUSTERING_H

#include "batch/rows.h"

typedef enum SimdupClusterMethod
{
	SIMDUP_CONNECTED, /* connected components */
	SIMDUP_LEADER	  /* a single pass in query order: see core/group.h */
} SimdupClusterMethod;

/* Return the method 'connected' or 'leader', or raise an ERROR. */
extern SimdupClusterMethod simdup_cluster_method(const char *name);

/*
 * Clusters of groups. Most groups of a large table are near no other group. One
 * bit for each group, at the position of its first row, tells whether it has a
 * near one. A pass over all groups looks up only those. The arrays are indexed
 * by row number, and set for the first rows of groups. They take sixteen bytes a
 * row, outside maintenance_work_mem.
 */
typedef struct SimdupClusters
{
	SimdupGroups *groups;
	uint8 *has_near; /* one bit a position */
	uint32 *cluster; /* number of the cluster's first row */
	uint32 *size;	 /* of a cluster, under that number */
	uint64 *fp;		 /* that row's fingerprint, under that number */
} SimdupClusters;

/* A group's place in its cluster. */
typedef struct SimdupMembership
{
	uint32 first_row; /* number of the cluster's first row */
	uint32 size;	  /* rows of the cluster */
	int distance;	  /* to the cluster's first row */
} SimdupMembership;

/* also gets each near pair of groups, where it is not NULL. */
extern SimdupClusters *simdup_find_clusters(SimdupGroups *groups,
											int max_distance,
											SimdupClusterMethod method,
											SimdupGroupSink also, void *arg);

extern SimdupMembership simdup_cluster_of(const SimdupClusters *clusters,
										  const SimdupGroup *group);

#endif /* SIMDUP_BATCH_CLUSTERING_H */

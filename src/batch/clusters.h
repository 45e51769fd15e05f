/*
 * clusters.h
 *	  Which rows of a batch belong together.
 */
#ifndef SIMDUP_BATCH_CLUSTERS_H
#define SIMDUP_BATCH_CLUSTERS_H

#include "batch/distinct_rows.h"

/*
 * The clusters of rows. They take sixteen bytes a row, outside
 * maintenance_work_mem, and eight more where contents count.
 */
typedef struct SimdupClusters
{
	SimdupRows *rows;
	uint32 *cluster;	 /* by row: the cluster's first row, which names it */
	uint32 *size;		 /* of a cluster, under that number */
	uint64 *fp;			 /* by row */
	double *resemblance; /* by row, to the first one; NULL: not known */
} SimdupClusters;

/* Find the clusters of distinct rows, which are of no use afterwards. */
extern SimdupClusters *simdup_find_clusters(SimdupGroupingRows *g,
											const SimdupOptions *options);

/* Return the distance of a row from the row that names its cluster. */
extern int simdup_cluster_distance(const SimdupClusters *clusters, uint32 row);

#endif /* SIMDUP_BATCH_CLUSTERS_H */

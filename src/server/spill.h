/*
 * spill.h
 *	  What batches use beyond their own memory and process: temporary files,
 *	  sorted pairs, and parallel workers.
 */
#ifndef SIMDUP_SERVER_SPILL_H
#define SIMDUP_SERVER_SPILL_H

#include "core/host.h"
#include "core/join/allpairs.h"

/*
 * A temporary file that is written at its end and read anywhere.
 *
 * On PostgreSQL's BufFile: it counts against temp_file_limit, and goes with
 * its resource owner on every way out.
 */

typedef struct SimdupTempFile SimdupTempFile;

extern SimdupTempFile *simdup_tempfile_create(void);
/*
 * Keep a new file in memory up to this size. For a longer file, keep the pages that
 * were read, up to the same size. Without this call the two sizes are 64 and 128 kB.
 * Make room for the size that is expected of the file, 0 if unknown.
 */
extern void simdup_tempfile_cache(SimdupTempFile *file, Size memory,
								  Size expected);
/* Keep a new file in memory up to this size. Keep few pages of a longer one. */
extern void simdup_tempfile_limit(SimdupTempFile *file, Size memory);
/* Return the bytes of a file in memory, and those on disk. */
extern Size simdup_tempfile_memory(const SimdupTempFile *file);
extern int64 simdup_tempfile_disk(const SimdupTempFile *file);
/* Return the bytes of a file that is in memory, else NULL. */
extern const void *simdup_tempfile_bytes(const SimdupTempFile *file);
/* Close a file, unless it is NULL. */
extern void simdup_tempfile_close(SimdupTempFile *file);
/* Return the bytes of a file. */
extern int64 simdup_tempfile_size(const SimdupTempFile *file);

/* Append data and return its offset. Cheap without reads in between. */
extern int64 simdup_tempfile_append(SimdupTempFile *file, const void *data,
									size_t len);

/* Read bytes at an offset. All of them are there. */
extern void simdup_tempfile_read(SimdupTempFile *file, int64 offset, void *data,
								 size_t len);

/*
 * Return helpers for joins, allocated in the current memory context (workers.c).
 * They are as many as max_parallel_workers_per_gather and max_parallel_workers
 * give.
 */
extern SimdupHelpers *simdup_workers(void);

#endif /* SIMDUP_SERVER_SPILL_H */

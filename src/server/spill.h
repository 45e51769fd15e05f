/*
 * spill.h
 *	  Temporary files and parallel workers. Sorted pairs are declared in core/host.h.
 */
#ifndef SIMDUP_SERVER_SPILL_H
#define SIMDUP_SERVER_SPILL_H

#include "core/join/allpairs.h"

/*
 * A temporary file that is written at its end and read anywhere.
 *
 * On PostgreSQL's BufFile: it counts against temp_file_limit, and goes with
 * its resource owner on every way out.
 */

typedef struct SimdupTempFile
{
	char *bytes; /* of a file that is in memory, else NULL */
	size_t room;
	size_t most_bytes;	  /* in memory */
	struct BufFile *file; /* NULL: all is in memory */
	int64 size;
	bool at_end; /* where the next append writes to the file */
	uint32 n_pages;
	struct FilePage **pages; /* by number modulo n_pages; NULL: none */
} SimdupTempFile;

/* Room for bytes of files, zeroed before its first use. */
typedef struct SimdupBuffer
{
	char *bytes;
	Size room;
} SimdupBuffer;

/* Create a file that stays in memory up to this size, or 64 kB if that is more. */
extern SimdupTempFile *simdup_tempfile_create(Size memory);
/*
 * Create one that keeps the pages that were read, up to the same size, once it is longer.
 * Others keep 128 kB. Make room for the size that is expected of the file, 0 if unknown.
 */
extern SimdupTempFile *simdup_tempfile_create_cached(Size memory,
													 Size expected);
/* Return the bytes of a file in memory, and those on disk. */
extern Size simdup_tempfile_memory(const SimdupTempFile *file);
extern int64 simdup_tempfile_disk(const SimdupTempFile *file);
/* Close a file, unless it is NULL. */
extern void simdup_tempfile_close(SimdupTempFile *file);

/* Append data and return its offset. Cheap without reads in between. */
extern int64 simdup_tempfile_append(SimdupTempFile *file, const void *data,
									size_t len);

/* Read bytes at an offset. All of them are there. */
extern void simdup_tempfile_read(SimdupTempFile *file, int64 offset, void *data,
								 size_t len);

/* Read bytes to a buffer, which has them in the file's memory context. */
extern const void *simdup_tempfile_load(SimdupTempFile *file, int64 offset,
										size_t len, SimdupBuffer *buffer);

/*
 * Return bytes at an offset, in memory or in the buffer. They are valid until the next
 * append, or use of the buffer.
 */
static inline const void *
simdup_tempfile_get(SimdupTempFile *file, int64 offset, size_t len,
					SimdupBuffer *buffer)
{
	return file->bytes != NULL
			   ? file->bytes + offset
			   : simdup_tempfile_load(file, offset, len, buffer);
}

/*
 * Return helpers for joins, allocated in the current memory context (workers.c).
 * They are as many as max_parallel_workers_per_gather and max_parallel_workers
 * give.
 */
extern SimdupHelpers *simdup_workers(void);

#endif /* SIMDUP_SERVER_SPILL_H */

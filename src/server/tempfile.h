/*
 * tempfile.h
 *	  A temporary file that is written at its end and read anywhere.
 *
 * On PostgreSQL's BufFile: it counts against temp_file_limit, and goes with
 * its resource owner on every way out.
 */
#ifndef SIMDUP_SERVER_TEMPFILE_H
#define SIMDUP_SERVER_TEMPFILE_H

typedef struct SimdupTempFile SimdupTempFile;

extern SimdupTempFile *simdup_tempfile_create(void);
/* NULL is no file. */
extern void simdup_tempfile_close(SimdupTempFile *file);

/* Append; the offset of what was written. Cheap without reads in between. */
extern int64 simdup_tempfile_append(SimdupTempFile *file, const void *data,
									size_t len);

/* Bytes at an offset; all of them are there. */
extern void simdup_tempfile_read(SimdupTempFile *file, int64 offset, void *data,
								 size_t len);

#endif /* SIMDUP_SERVER_TEMPFILE_H */

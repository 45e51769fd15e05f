/*
 * tempfile.c
 *	  A temporary file with random reads: BufFile below a small page cache.
 *
 * BufFile has one buffer, and loses it at each jump. Batches jump between the
 * rows of one group and those of another, hence a few pages of our own.
 */
#include "postgres.h"
#include "compat.h"

#include "storage/buffile.h"

#include "server/tempfile.h"

#define N_PAGES 16

struct SimdupTempFile
{
	BufFile *file;
	int64 size;
	bool at_end;				/* where the next append writes */
	int64 page_number[N_PAGES]; /* -1: none */
	char pages[N_PAGES][BLCKSZ];
};

SimdupTempFile *
simdup_tempfile_create(void)
{
	SimdupTempFile *file = palloc(sizeof(SimdupTempFile));

	file->file = BufFileCreateTemp(false);
	file->size = 0;
	file->at_end = true;
	for (int i = 0; i < N_PAGES; i++)
		file->page_number[i] = -1;
	return file;
}

void
simdup_tempfile_close(SimdupTempFile *file)
{
	if (file == NULL)
		return;
	BufFileClose(file->file);
	pfree(file);
}

/* Back to the end after a read; SEEK_END would miss what is not written yet. */
static void
seek_end(SimdupTempFile *file)
{
	int64 page = file->size / BLCKSZ;

	/* the last page grows, so a copy of it becomes old */
	if (file->page_number[page % N_PAGES] == page)
		file->page_number[page % N_PAGES] = -1;
	if (BufFileSeekBlock(file->file, (long) page) != 0 ||
		BufFileSeek(file->file, 0, (off_t) (file->size % BLCKSZ), SEEK_CUR) !=
			0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not write to temporary file: %m"));
	file->at_end = true;
}

int64
simdup_tempfile_append(SimdupTempFile *file, const void *data, size_t len)
{
	int64 offset = file->size;

	if (!file->at_end)
		seek_end(file);
	/* the cast is for servers before 16 */
	BufFileWrite(file->file, (void *) data, len);
	file->size += (int64) len;
	return offset;
}

static const char *
read_page(SimdupTempFile *file, int64 page)
{
	int slot = (int) (page % N_PAGES);

	if (file->page_number[slot] != page)
	{
		int64 left = file->size - page * BLCKSZ;
		size_t want = left < BLCKSZ ? (size_t) left : BLCKSZ;

		file->page_number[slot] = -1;
		file->at_end = false;
		if (BufFileSeekBlock(file->file, (long) page) != 0 ||
			BufFileRead(file->file, file->pages[slot], want) != want)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read from temporary file: %m"));
		file->page_number[slot] = page;
	}
	return file->pages[slot];
}

void
simdup_tempfile_read(SimdupTempFile *file, int64 offset, void *data, size_t len)
{
	char *to = data;

	while (len > 0)
	{
		const char *page = read_page(file, offset / BLCKSZ);
		size_t at = (size_t) (offset % BLCKSZ);
		size_t part = Min(len, BLCKSZ - at);

		memcpy(to, page + at, part);
		to += part;
		offset += (int64) part;
		len -= part;
	}
}

/*
 * pages.c
 *	  Writes the pages of a new relation, in the order of their blocks.
 *
 * The pages of an index that is being built need no buffers: nobody else reads
 * them. From 17 on the server has a way to write them past the buffers; on
 * older servers, this file does the same. All pages must be on disk before the
 * transaction commits, the logged ones too: the next checkpoint may move the
 * start of recovery past their log records.
 *
 * The file gets its full length first. So several processes can write pages,
 * each in a range of its own.
 */
#include "postgres.h"
#include "compat.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "index/hamming/building.h"

/* Blocks reserved at once: a cancel request waits no longer than for these. */
#define RESERVED_AT_ONCE 131072

void
simdup_reserve_pages(Relation index, BlockNumber n)
{
	BlockNumber done = 0;

	while (done < n)
	{
		BlockNumber step = Min(n - done, RESERVED_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		SIMDUP_EXTEND_WITH_ZEROS(RelationGetSmgr(index), done, step);
		done += step;
	}
}

#ifdef SIMDUP_HAVE_BULK_WRITE

#include "storage/bulk_write.h"

struct PageWriter
{
	BulkWriteState *bulk;
	BlockNumber next;
};

PageWriter *
simdup_page_writer_begin(Relation index, BlockNumber first)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->bulk = smgr_bulk_start_rel(index, MAIN_FORKNUM);
	writer->next = first;
	return writer;
}

void
simdup_page_writer_add(PageWriter *writer, Page page)
{
	BulkWriteBuffer buffer = smgr_bulk_get_buf(writer->bulk);

	memcpy(buffer, page, BLCKSZ);
	smgr_bulk_write(writer->bulk, writer->next++, buffer, true);
}

void
simdup_page_writer_end(PageWriter *writer)
{
	smgr_bulk_finish(writer->bulk);
	pfree(writer);
}

/* Each writer has taken care of its pages. */
void
simdup_sync_pages(Relation index pg_attribute_unused())
{
}

#else

/* Pages that are logged with one record. */
#define BATCH 32

struct PageWriter
{
	Relation index;
	BlockNumber next;
	int n; /* pages kept, the last ones before `next` */
	char *pages;
	char *memory;
};

static Page
kept_page(PageWriter *writer, int i)
{
	return writer->pages + (Size) i * BLCKSZ;
}

/* Log and write the pages that are kept. */
static void
flush_pages(PageWriter *writer)
{
	BlockNumber first = writer->next - writer->n;
	BlockNumber blocks[BATCH];
	Page pages[BATCH];

	for (int i = 0; i < writer->n; i++)
	{
		blocks[i] = first + i;
		pages[i] = kept_page(writer, i);
	}
	if (writer->n > 0 && RelationNeedsWAL(writer->index))
		log_newpages(&writer->index->SIMDUP_RD_LOCATOR, MAIN_FORKNUM, writer->n,
					 blocks, pages, true);
	for (int i = 0; i < writer->n; i++)
	{
		PageSetChecksumInplace(pages[i], blocks[i]);
		smgrwrite(RelationGetSmgr(writer->index), MAIN_FORKNUM, blocks[i],
				  pages[i], true);
	}
	writer->n = 0;
}

PageWriter *
simdup_page_writer_begin(Relation index, BlockNumber first)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->index = index;
	writer->next = first;
	writer->n = 0;
	writer->memory = palloc(BATCH * BLCKSZ + 4096);
	/* aligned as 16 wants what it writes directly */
	writer->pages = (char *) TYPEALIGN(4096, writer->memory);
	return writer;
}

void
simdup_page_writer_add(PageWriter *writer, Page page)
{
	if (writer->n == BATCH)
		flush_pages(writer);
	memcpy(kept_page(writer, writer->n++), page, BLCKSZ);
	writer->next++;
}

void
simdup_page_writer_end(PageWriter *writer)
{
	flush_pages(writer);
	pfree(writer->memory);
	pfree(writer);
}

/* This covers the pages that other processes wrote. */
void
simdup_sync_pages(Relation index)
{
	if (!RelationUsesLocalBuffers(index))
		smgrimmedsync(RelationGetSmgr(index), MAIN_FORKNUM);
}

#endif

BlockNumber
simdup_page_writer_next(PageWriter *writer)
{
	return writer->next;
}

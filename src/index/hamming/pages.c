/*
 * pages.c
 *	  Writes the pages of a new relation, in the order of their blocks.
 *
 * The pages of an index that is being built need no buffers: nobody else reads
 * them. From 17 on the server has a way to write them past the buffers; on
 * older servers, this file does the same. All pages must be on disk before the
 * transaction commits, the logged ones too: the next checkpoint may move the
 * start of recovery past their log records.
 */
#include "postgres.h"
#include "compat.h"

#include "access/xloginsert.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "index/hamming/building.h"

#ifdef SIMDUP_HAVE_BULK_WRITE

#include "storage/bulk_write.h"

struct PageWriter
{
	BulkWriteState *bulk;
	BlockNumber next;
};

static void
write_block(PageWriter *writer, BlockNumber block, Page page)
{
	BulkWriteBuffer buffer = smgr_bulk_get_buf(writer->bulk);

	memcpy(buffer, page, BLCKSZ);
	smgr_bulk_write(writer->bulk, block, buffer, true);
}

PageWriter *
simdup_page_writer_begin(Relation index)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->bulk = smgr_bulk_start_rel(index, MAIN_FORKNUM);
	writer->next = 1;
	return writer;
}

void
simdup_page_writer_add(PageWriter *writer, Page page)
{
	write_block(writer, writer->next++, page);
}

void
simdup_page_writer_end(PageWriter *writer, Page first)
{
	write_block(writer, 0, first);
	smgr_bulk_finish(writer->bulk);
	pfree(writer);
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
		smgrextend(RelationGetSmgr(writer->index), MAIN_FORKNUM, blocks[i],
				   pages[i], true);
	}
	writer->n = 0;
}

PageWriter *
simdup_page_writer_begin(Relation index)
{
	PageWriter *writer = palloc(sizeof(PageWriter));

	writer->index = index;
	writer->next = 1;
	writer->n = 0;
	/* aligned as 16 wants what it writes directly */
	writer->pages =
		(char *) TYPEALIGN(4096, MemoryContextAllocZero(CurrentMemoryContext,
														BATCH * BLCKSZ + 4096));
	/* a place for block 0, zero for now */
	smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, 0, writer->pages, true);
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
simdup_page_writer_end(PageWriter *writer, Page first)
{
	Relation index = writer->index;
	Page page = writer->pages;

	flush_pages(writer);
	memcpy(page, first, BLCKSZ);
	if (RelationNeedsWAL(index))
		log_newpage(&index->SIMDUP_RD_LOCATOR, MAIN_FORKNUM, 0, page, true);
	PageSetChecksumInplace(page, 0);
	smgrwrite(RelationGetSmgr(index), MAIN_FORKNUM, 0, page, true);
	if (!RelationUsesLocalBuffers(index))
		smgrimmedsync(RelationGetSmgr(index), MAIN_FORKNUM);
	pfree(writer);
}

#endif

BlockNumber
simdup_page_writer_next(PageWriter *writer)
{
	return writer->next;
}

/*
 * places.c
 *	  Where a backend last found the pages of a hamming index.
 *
 * A search reads a hundred pages or more, and most are in memory. To find their
 * buffers in the server's table takes a large part of its time. So a backend
 * remembers them. They are guesses: ReadRecentBuffer looks whether the page is
 * still there. The same array tells which pages the server is to read ahead.
 *
 * The server does not count such a use of a buffer when it chooses the next one
 * to be evicted. So some reads go through the table all the same. After a wrong
 * guess, pages are being evicted, and a number of reads in a row do.
 */
#include "postgres.h"
#include "compat.h"

#include "pgstat.h"
#include "storage/bufmgr.h"

#include "index/hamming/page.h"

/* More pages than this share places. */
#define MAX_PLACES 262144

/* One read of this number goes through the server's table. */
#define COUNTED_READS 64

/* So do this number of reads after a wrong guess. */
#define DOUBTFUL_READS 256

#define CACHE_LINE 64

/* Values before and behind the guessed one that are loaded. */
#define VALUES_BEFORE 16
#define VALUES_BEHIND 24

/* Reads that are still to go through the table. */
static int n_doubtful = 0;

void
simdup_hamming_make_places(Relation index)
{
	HammingCache *cache = simdup_hamming_cache(index);
	uint32 n_places = cache->n_places;
	BlockNumber n_blocks = RelationGetTargetBlock(index);

	if (n_blocks == InvalidBlockNumber || RelationUsesLocalBuffers(index) ||
		n_places >= Min(n_blocks, MAX_PLACES))
		return;
	n_places = Min(n_blocks + n_blocks / 4, MAX_PLACES);
	cache = repalloc_huge(cache, offsetof(HammingCache, places) +
									 n_places * sizeof(HammingPlace));
	memset(&cache->places[cache->n_places], 0,
		   (n_places - cache->n_places) * sizeof(HammingPlace));
	cache->n_places = n_places;
	index->rd_amcache = cache;
}

static HammingPlace *
place_of(Relation index, BlockNumber block)
{
	HammingCache *cache = index->rd_amcache;

	/* an invalidation may have freed it since */
	if (cache == NULL || cache->n_places == 0)
		return NULL;
	return &cache->places[block < cache->n_places ? block
												  : block % cache->n_places];
}

Buffer
simdup_hamming_read_again(Relation index, BlockNumber block)
{
	static uint32 n_reads = 0;
	HammingPlace *place = place_of(index, block);
	Buffer buffer;

	if (n_doubtful > 0)
		n_doubtful--;
	else if (place != NULL && place->buffer != InvalidBuffer &&
			 ++n_reads % COUNTED_READS != 0)
	{
		if (ReadRecentBuffer(index->SIMDUP_RD_LOCATOR, MAIN_FORKNUM, block,
							 place->buffer))
		{
			pgstat_count_buffer_read(index);
			pgstat_count_buffer_hit(index);
			return place->buffer;
		}
		n_doubtful = DOUBTFUL_READS;
	}
	buffer = simdup_hamming_read(index, block);
	/* the metapage may have been read for the first time */
	if (place != NULL)
		place->buffer = buffer;
	return buffer;
}

void
simdup_hamming_remember(Relation index, Buffer buffer)
{
	HammingPlace *place = place_of(index, BufferGetBlockNumber(buffer));
	Page page = BufferGetPage(buffer);

	if (place == NULL)
		return;
	place->n = (uint16) hamming_count(page);
	place->n_sorted =
		hamming_is_leaf(page) ? hamming_head(page)->n_sorted : place->n;
}

void
simdup_hamming_read_ahead(Relation index, BlockNumber block)
{
	HammingPlace *place = place_of(index, block);
	PrefetchBufferResult result;

	if ((place != NULL && place->buffer != InvalidBuffer && n_doubtful == 0) ||
		RelationGetTargetBlock(index) == InvalidBlockNumber ||
		block >= RelationGetTargetBlock(index))
		return;
	result = PrefetchBuffer(index, MAIN_FORKNUM, block);
	if (place != NULL && BufferIsValid(result.recent_buffer))
		place->buffer = result.recent_buffer;
}

void
simdup_hamming_prefetch_place(Relation index, BlockNumber block)
{
	HammingPlace *place = place_of(index, block);

	if (place != NULL)
		__builtin_prefetch(place);
}

/* Inlined, because gcc drops calls that only prefetch. */
static pg_attribute_always_inline void
prefetch_values(const uint64 *values, int from, int to)
{
	for (int i = from; i < to; i += CACHE_LINE / (int) sizeof(uint64))
		__builtin_prefetch(values + i);
}

void
simdup_hamming_prefetch(Relation index, BlockNumber block, uint64 low,
						uint64 near, uint64 until)
{
	HammingPlace *place = place_of(index, block);
	Page page;
	int at;

	if (place == NULL || place->buffer == InvalidBuffer)
		return;
	page = BufferGetPage(place->buffer);
	at = simdup_guess_position(near, low, until, place->n_sorted);
	__builtin_prefetch(page);
	prefetch_values(hamming_values(page), Max(at - VALUES_BEFORE, 0),
					Min(at + VALUES_BEHIND, place->n_sorted));
	prefetch_values(hamming_values(page), place->n_sorted, place->n);
}

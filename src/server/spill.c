/*
 * spill.c
 *	  Temporary files and sorted pairs, in memory and on disk beyond it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "core/search/sort.h"
#include "server/spill.h"

/*
 * A temporary file with random reads: BufFile below a small page cache.
 *
 * BufFile has one buffer, and loses it at each jump. Batches jump between the
 * rows of one fingerprint and those of another, hence a few pages of our own.
 *
 * A short file stays in memory: a statement may have a batch for each of many thousand
 * partitions.
 */

#define MIN_PAGES 16
#define MAX_PAGES ((Size) 1 << 20) /* their list takes 8 MB */
#define MIN_IN_MEMORY ((size_t) 65536)

typedef struct FilePage
{
	int64 number;
	char bytes[BLCKSZ];
} FilePage;

SimdupTempFile *
simdup_tempfile_create(Size memory)
{
	SimdupTempFile *file = palloc0(sizeof(SimdupTempFile));

	file->bytes = simdup_grow(NULL, &file->room, 256, 1);
	file->most_bytes = Max(memory, MIN_IN_MEMORY);
	file->n_pages = MIN_PAGES;
	return file;
}

SimdupTempFile *
simdup_tempfile_create_cached(Size memory, Size expected)
{
	SimdupTempFile *file = simdup_tempfile_create(memory);
	Size n_pages = memory / (2 * sizeof(FilePage *) + sizeof(FilePage));

	file->n_pages = (uint32) Min(Max(n_pages, MIN_PAGES), MAX_PAGES);
	if (expected > file->room && expected <= file->most_bytes)
	{
		file->bytes = repalloc_huge(file->bytes, expected);
		file->room = expected;
	}
	return file;
}

Size
simdup_tempfile_memory(const SimdupTempFile *file)
{
	return file->file == NULL ? file->room : 0;
}

int64
simdup_tempfile_disk(const SimdupTempFile *file)
{
	return file->file == NULL ? 0 : file->size;
}

void
simdup_tempfile_close(SimdupTempFile *file)
{
	if (file == NULL)
		return;
	if (file->file != NULL)
	{
		BufFileClose(file->file);
		for (uint32 i = 0; i < file->n_pages; i++)
			simdup_free(file->pages[i]);
		simdup_free(file->pages);
	}
	else
		pfree(file->bytes);
	pfree(file);
}

/* Move the contents in memory to a file. */
static void
begin_file(SimdupTempFile *file)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(file));

	file->pages = simdup_alloc0(file->n_pages * sizeof(FilePage *));
	file->file = BufFileCreateTemp(false);
	file->at_end = true;
	BufFileWrite(file->file, file->bytes, (size_t) file->size);
	pfree(file->bytes);
	file->bytes = NULL;
	MemoryContextSwitchTo(old);
}

int64
simdup_tempfile_append(SimdupTempFile *file, const void *data, size_t len)
{
	int64 offset = file->size;

	if (file->file == NULL && (size_t) offset + len > file->most_bytes)
		begin_file(file);
	if (file->bytes != NULL)
	{
		if ((size_t) offset + len > file->room)
		{
			/* never beyond the limit */
			file->room =
				Min(Max(file->room + file->room / 4, (size_t) offset + len),
					file->most_bytes);
			file->bytes = repalloc_huge(file->bytes, file->room);
		}
		/* an empty set has no bytes to point to */
		if (len > 0)
			memcpy(file->bytes + offset, data, len);
		file->size += (int64) len;
		return offset;
	}
	if (!file->at_end)
	{
		int64 page = offset / BLCKSZ;
		FilePage *copy = file->pages[page % file->n_pages];

		/* the last page grows, so a copy of it becomes old */
		if (copy != NULL && copy->number == page)
			copy->number = -1;
		/* SEEK_END would miss bytes that are not written yet */
		if (BufFileSeekBlock(file->file, (long) page) != 0 ||
			BufFileSeek(file->file, 0, (off_t) (offset % BLCKSZ), SEEK_CUR) !=
				0)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not write to temporary file: %m"));
		file->at_end = true;
	}
	/* the cast is for servers before 16 */
	BufFileWrite(file->file, (void *) data, len);
	file->size += (int64) len;
	return offset;
}

static const char *
read_page(SimdupTempFile *file, int64 number)
{
	FilePage *page = file->pages[number % file->n_pages];

	if (page == NULL)
	{
		page =
			MemoryContextAlloc(GetMemoryChunkContext(file), sizeof(FilePage));
		page->number = -1;
		file->pages[number % file->n_pages] = page;
	}
	if (page->number != number)
	{
		int64 left = file->size - number * BLCKSZ;
		size_t want = left < BLCKSZ ? (size_t) left : BLCKSZ;

		page->number = -1;
		file->at_end = false;
		if (BufFileSeekBlock(file->file, (long) number) != 0 ||
			BufFileRead(file->file, page->bytes, want) != want)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read from temporary file: %m"));
		page->number = number;
	}
	return page->bytes;
}

void
simdup_tempfile_read(SimdupTempFile *file, int64 offset, void *data, size_t len)
{
	char *to = data;

	if (file->file == NULL)
	{
		memcpy(data, file->bytes + offset, len);
		return;
	}
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

const void *
simdup_tempfile_load(SimdupTempFile *file, int64 offset, size_t len,
					 SimdupBuffer *buffer)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(file));

	buffer->bytes = simdup_grow(buffer->bytes, &buffer->room, len + 1, 1);
	MemoryContextSwitchTo(old);
	simdup_tempfile_read(file, offset, buffer->bytes, len);
	return buffer->bytes;
}

/*
 * Pairs of numbers, sorted: in memory, and on disk beyond it.
 *
 * A pair is 16 bytes here, and the sort compares few of them
 * (core/search/sort.c): tuplesort takes three times the memory and
 * many times the time. Pairs that do not fit in memory go to temporary files as
 * sorted runs, which are merged as they are read. Files of one level are merged
 * before there are too many of them, so that their buffers fit in memory too.
 *
 * A merge reads a chunk of each run. Pairs that are not above the last
 * pair of any chunk come before all that is still to be read. They are sorted
 * together, in the processor's cache. That is faster than to choose the least
 * pair, one by one.
 */

/* Pairs that are read from a run at a time. */
#define CHUNK 512
/* Memory to read a run: its chunk, and BufFile's buffer. */
#define RUN_BYTES (CHUNK * sizeof(SimdupSortItem) + BLCKSZ)
#define MIN_RUNS 16
#define MAX_RUNS 256
#define MIN_PAIRS (MIN_RUNS * CHUNK)
#define FIRST_PAIRS 64

/* A sorted file. */
typedef struct SortedRun
{
	BufFile *file;
	uint64 n_left; /* pairs in the file that are not read */
	int level;	   /* 0, or one above the level of the merged runs */
	SimdupSortItem *chunk;
	uint32 at; /* in the chunk */
	uint32 n;
} SortedRun;

struct SimdupPairSort
{
	MemoryContext context;
	SimdupSortItem *pairs; /* that were put, or that are next to be got */
	Size n;
	Size at; /* the next to get */
	Size capacity;
	Size most; /* that fit into the memory */

	SortedRun *runs;
	int n_runs;
	Size room;	   /* for runs */
	int most_runs; /* of one level */
	int64 disk;	   /* bytes of level 0 */
};

SimdupPairSort *
simdup_pairsort_begin(int64 memory)
{
	SimdupPairSort *sort = palloc0(sizeof(SimdupPairSort));

	sort->context = CurrentMemoryContext;
	sort->capacity = FIRST_PAIRS;
	sort->pairs = palloc(FIRST_PAIRS * sizeof(SimdupSortItem));
	sort->most = Max((Size) memory / sizeof(SimdupSortItem), MIN_PAIRS);
	sort->most_runs =
		(int) Max(Min((Size) memory / 2 / RUN_BYTES, MAX_RUNS), MIN_RUNS);
	return sort;
}

static void
close_run(SortedRun *run)
{
	BufFileClose(run->file);
	simdup_free(run->chunk);
}

void
simdup_pairsort_end(SimdupPairSort *sort)
{
	for (int i = 0; i < sort->n_runs; i++)
		close_run(&sort->runs[i]);
	simdup_free(sort->runs);
	pfree(sort->pairs);
	pfree(sort);
}

int64
simdup_pairsort_disk(const SimdupPairSort *sort)
{
	return sort->disk;
}

/* Runs */

static SortedRun *
add_run(SimdupPairSort *sort, int level)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	SortedRun *run;

	sort->runs = simdup_grow(sort->runs, &sort->room, (Size) sort->n_runs + 1,
							 sizeof(SortedRun));
	run = &sort->runs[sort->n_runs];
	*run = (SortedRun){.level = level};
	run->file = BufFileCreateTemp(false);
	sort->n_runs++;
	MemoryContextSwitchTo(old);
	return run;
}

static void
write_pairs(SortedRun *run, SimdupSortItem *pairs, Size n)
{
	while (n > 0)
	{
		Size part = Min(n, (Size) 65536);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(run->file, pairs, part * sizeof(SimdupSortItem));
		run->n_left += part;
		pairs += part;
		n -= part;
	}
}

/* Read the next pairs of a run, none at its end. The first read rewinds it. */
static void
read_chunk(const SimdupPairSort *sort, SortedRun *run)
{
	Size size;

	if (run->chunk == NULL)
	{
		if (BufFileSeek(run->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not rewind temporary file: %m"));
		run->chunk =
			MemoryContextAlloc(sort->context, CHUNK * sizeof(SimdupSortItem));
	}
	run->at = 0;
	run->n = (uint32) Min(run->n_left, CHUNK);
	run->n_left -= run->n;
	size = run->n * sizeof(SimdupSortItem);
	if (BufFileRead(run->file, run->chunk, size) != size)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not read from temporary file: %m"));
}

/* Put the next pairs of runs into memory, sorted. Return false at the end. */
static bool
merge_next(SimdupPairSort *sort, int first, int end)
{
	SimdupSortItem cut = {PG_UINT64_MAX, PG_UINT64_MAX};

	CHECK_FOR_INTERRUPTS();
	for (int i = first; i < end; i++)
	{
		SortedRun *run = &sort->runs[i];

		if (run->at == run->n)
			read_chunk(sort, run);
		if (run->n_left > 0 && simdup_item_less(&run->chunk[run->n - 1], &cut))
			cut = run->chunk[run->n - 1];
	}
	sort->at = sort->n = 0;
	for (int i = first; i < end; i++)
	{
		SortedRun *run = &sort->runs[i];

		while (run->at < run->n &&
			   !simdup_item_less(&cut, &run->chunk[run->at]))
			sort->pairs[sort->n++] = run->chunk[run->at++];
	}
	simdup_sort_pairs(sort->pairs, sort->n);
	return sort->n > 0;
}

/* Merge the runs from this one on. */
static void
merge_runs(SimdupPairSort *sort, int first)
{
	int end = sort->n_runs;
	SortedRun *run = add_run(sort, sort->runs[first].level + 1);

	while (merge_next(sort, first, end))
		write_pairs(run, sort->pairs, sort->n);
	for (int i = first; i < end; i++)
		close_run(&sort->runs[i]);
	sort->runs[first] = *run;
	sort->n_runs = first + 1;
}

/* Make a run of the pairs in memory. */
static void
spill(SimdupPairSort *sort)
{
	int first;

	simdup_sort_pairs(sort->pairs, sort->n);
	write_pairs(add_run(sort, 0), sort->pairs, sort->n);
	sort->disk += (int64) (sort->n * sizeof(SimdupSortItem));
	sort->n = 0;
	while ((first = sort->n_runs - sort->most_runs) >= 0 &&
		   sort->runs[first].level == sort->runs[sort->n_runs - 1].level)
		merge_runs(sort, first);
}

/* The calls */

void
simdup_pairsort_put(SimdupPairSort *sort, uint64 first, uint64 second)
{
	if (sort->n == sort->most)
		spill(sort);
	if (sort->n == sort->capacity)
	{
		sort->capacity = Min(sort->most, sort->capacity * 2);
		sort->pairs =
			repalloc_huge(sort->pairs, sort->capacity * sizeof(SimdupSortItem));
	}
	sort->pairs[sort->n++] = (SimdupSortItem){first, second};
}

void
simdup_pairsort_perform(SimdupPairSort *sort)
{
	if (sort->n_runs == 0)
	{
		simdup_sort_pairs(sort->pairs, sort->n);
		return;
	}
	if (sort->n > 0)
		spill(sort);
	pfree(sort->pairs);
	sort->pairs =
		MemoryContextAllocHuge(sort->context,
							   sort->n_runs * CHUNK * sizeof(SimdupSortItem));
}

/* Check whether there are pairs to get, after merging more if need be. */
static inline bool
has_next(SimdupPairSort *sort)
{
	return sort->at < sort->n ||
		   (sort->n_runs > 0 && merge_next(sort, 0, sort->n_runs));
}

bool
simdup_pairsort_get(SimdupPairSort *sort, uint64 *first, uint64 *second)
{
	CHECK_FOR_INTERRUPTS();
	if (!has_next(sort))
		return false;
	*first = sort->pairs[sort->at].value;
	*second = sort->pairs[sort->at++].row;
	return true;
}

Size
simdup_pairsort_get_list(SimdupPairSort *sort, SimdupSortItem *pairs, Size most)
{
	Size n = 0;

	CHECK_FOR_INTERRUPTS();
	while (n < most && has_next(sort))
	{
		Size part = Min(most - n, sort->n - sort->at);

		memcpy(pairs + n, sort->pairs + sort->at,
			   part * sizeof(SimdupSortItem));
		sort->at += part;
		n += part;
	}
	return n;
}

/*
 * spill.c
 *	  What batches keep on disk beyond their memory: temporary files and sorted
 *	  pairs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "core/entries.h"
#include "server/spill.h"

/*
 * A temporary file with random reads: BufFile below a small page cache.
 *
 * BufFile has one buffer, and loses it at each jump. Batches jump between the
 * rows of one group and those of another, hence a few pages of our own.
 */

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

/* Seek the end after a read. SEEK_END would miss what is not written yet. */
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

/*
 * Pairs of numbers, sorted: in memory, and on disk beyond it.
 *
 * A pair is 16 bytes here, and radix sort compares none: tuplesort takes three
 * times the memory and many times the time. Pairs that do not fit in memory go
 * to temporary files as sorted runs, which are merged as they are read. Files of
 * one level are merged before there are too many of them, so that their buffers
 * fit in memory too.
 */

/* Pairs that are read from a run at a time. */
#define CHUNK 256
/* Of a run that is read: its chunk, and BufFile's buffer. */
#define RUN_BYTES (CHUNK * sizeof(SimdupEntry) + BLCKSZ)
#define MIN_RUNS 16
#define MAX_RUNS 256
#define MIN_PAIRS 1024

/* A sorted file. */
typedef struct Run
{
	BufFile *file;
	uint64 n_left; /* pairs in the file that are not read */
	int level;	   /* 0, or one above the level of what was merged */
	SimdupEntry *chunk;
	uint32 at; /* in the chunk */
	uint32 n;
} Run;

struct SimdupPairSort
{
	MemoryContext context;
	SimdupEntry *pairs;
	Size n;
	Size capacity;
	Size most; /* that fit into the memory */
	Size at;   /* the next to get, where there are no runs */

	Run *runs;
	int n_runs;
	int room;	   /* for runs */
	int most_runs; /* of one level */

	int *heap; /* runs that are merged, the one with the least pair first */
	int n_heap;
};

SimdupPairSort *
simdup_pairsort_begin(int memory_kb)
{
	SimdupPairSort *sort = palloc0(sizeof(SimdupPairSort));
	Size memory = (Size) memory_kb * 1024;

	sort->context = CurrentMemoryContext;
	sort->most = Max(memory / sizeof(SimdupEntry), MIN_PAIRS);
	sort->most_runs = (int) Min(memory / 2 / RUN_BYTES, MAX_RUNS);
	sort->most_runs = Max(sort->most_runs, MIN_RUNS);
	return sort;
}

static void
close_run(Run *run)
{
	BufFileClose(run->file);
	if (run->chunk != NULL)
		pfree(run->chunk);
}

void
simdup_pairsort_end(SimdupPairSort *sort)
{
	for (int i = 0; i < sort->n_runs; i++)
		close_run(&sort->runs[i]);
	if (sort->runs != NULL)
		pfree(sort->runs);
	if (sort->heap != NULL)
		pfree(sort->heap);
	if (sort->pairs != NULL)
		pfree(sort->pairs);
	pfree(sort);
}

/* Runs */

static Run *
add_run(SimdupPairSort *sort, int level)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	Run *run;

	if (sort->n_runs == sort->room)
	{
		sort->room = sort->room * 2 + MIN_RUNS;
		sort->runs = sort->runs == NULL
						 ? palloc(sort->room * sizeof(Run))
						 : repalloc(sort->runs, sort->room * sizeof(Run));
	}
	run = &sort->runs[sort->n_runs];
	*run = (Run){.level = level};
	run->file = BufFileCreateTemp(false);
	sort->n_runs++;
	MemoryContextSwitchTo(old);
	return run;
}

static void
write_pairs(Run *run, SimdupEntry *pairs, Size n)
{
	while (n > 0)
	{
		Size part = Min(n, (Size) 65536);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(run->file, pairs, part * sizeof(SimdupEntry));
		run->n_left += part;
		pairs += part;
		n -= part;
	}
}

/* Read the next pairs of a run, none at its end. */
static void
read_chunk(Run *run)
{
	Size size;

	run->at = 0;
	run->n = (uint32) Min(run->n_left, CHUNK);
	run->n_left -= run->n;
	size = run->n * sizeof(SimdupEntry);
	if (BufFileRead(run->file, run->chunk, size) != size)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not read from temporary file: %m"));
}

/* The merge: a heap of runs by their next pair */

static bool
run_less(const SimdupPairSort *sort, int a, int b)
{
	const Run *x = &sort->runs[a];
	const Run *y = &sort->runs[b];

	return simdup_entry_less(&x->chunk[x->at], &y->chunk[y->at]);
}

/* Sift down the run at this place of the heap, the only one out of order. */
static void
sift_down(SimdupPairSort *sort, int place)
{
	int run = sort->heap[place];

	for (;;)
	{
		int child = 2 * place + 1;

		if (child >= sort->n_heap)
			break;
		if (child + 1 < sort->n_heap &&
			run_less(sort, sort->heap[child + 1], sort->heap[child]))
			child++;
		if (!run_less(sort, sort->heap[child], run))
			break;
		sort->heap[place] = sort->heap[child];
		place = child;
	}
	sort->heap[place] = run;
}

/* Merge the runs from this one on. */
static void
begin_merge(SimdupPairSort *sort, int first)
{
	if (sort->heap != NULL)
		pfree(sort->heap);
	sort->heap =
		MemoryContextAlloc(sort->context, (sort->n_runs + 1) * sizeof(int));
	sort->n_heap = 0;
	for (int i = first; i < sort->n_runs; i++)
	{
		Run *run = &sort->runs[i];

		if (BufFileSeek(run->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not rewind temporary file: %m"));
		run->chunk =
			MemoryContextAlloc(sort->context, CHUNK * sizeof(SimdupEntry));
		read_chunk(run);
		if (run->n > 0)
			sort->heap[sort->n_heap++] = i;
	}
	for (int i = sort->n_heap / 2 - 1; i >= 0; i--)
		sift_down(sort, i);
}

static bool
next_of_merge(SimdupPairSort *sort, SimdupEntry *pair)
{
	Run *run;

	if (sort->n_heap == 0)
		return false;
	run = &sort->runs[sort->heap[0]];
	*pair = run->chunk[run->at++];
	if (run->at == run->n)
		read_chunk(run);
	if (run->n == 0)
		sort->heap[0] = sort->heap[--sort->n_heap];
	if (sort->n_heap > 0)
		sift_down(sort, 0);
	return true;
}

/* Merge the runs from this one on. */
static void
merge_runs(SimdupPairSort *sort, int first)
{
	SimdupEntry buffer[CHUNK];
	int level = sort->runs[first].level + 1;
	int n_runs = sort->n_runs;
	Run *run;
	Size n = 0;

	begin_merge(sort, first);
	run = add_run(sort, level);
	while (next_of_merge(sort, &buffer[n]))
		if (++n == CHUNK)
		{
			write_pairs(run, buffer, n);
			n = 0;
		}
	write_pairs(run, buffer, n);
	for (int i = first; i < n_runs; i++)
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
	sort->n = 0;
	first = sort->n_runs - sort->most_runs;
	while (first >= 0 &&
		   sort->runs[first].level == sort->runs[sort->n_runs - 1].level)
	{
		merge_runs(sort, first);
		first = sort->n_runs - sort->most_runs;
	}
}

/* The calls */

static void
make_room(SimdupPairSort *sort)
{
	if (sort->capacity == sort->most)
	{
		spill(sort);
		return;
	}
	sort->capacity = Min(sort->most, Max(sort->capacity * 2, MIN_PAIRS));
	sort->pairs =
		sort->pairs == NULL
			? MemoryContextAllocHuge(sort->context,
									 sort->capacity * sizeof(SimdupEntry))
			: repalloc_huge(sort->pairs, sort->capacity * sizeof(SimdupEntry));
}

void
simdup_pairsort_put(SimdupPairSort *sort, uint64 first, uint64 second)
{
	if (sort->n == sort->capacity)
		make_room(sort);
	sort->pairs[sort->n++] = (SimdupEntry){first, second};
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
	sort->pairs = NULL;
	begin_merge(sort, 0);
}

bool
simdup_pairsort_get(SimdupPairSort *sort, uint64 *first, uint64 *second)
{
	SimdupEntry pair;

	CHECK_FOR_INTERRUPTS();
	if (sort->n_runs > 0)
	{
		if (!next_of_merge(sort, &pair))
			return false;
	}
	else if (sort->at < sort->n)
		pair = sort->pairs[sort->at++];
	else
		return false;
	*first = pair.value;
	*second = pair.row;
	return true;
}

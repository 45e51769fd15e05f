/*
 * join.c
 *	  All near pairs of a batch's fingerprints: core's join where they fit in
 *	  memory, and the same pigeonhole through sorts on disk where they do not.
 *
 * On disk: cut the varying bits into k + 1 blocks, and sort the fingerprints by
 * each block in turn. Join every run of fingerprints that are equal in the
 * block: in memory if it fits, else the same way again. The path (see
 * core/join/allpairs.c) is passed down, so each pair is found once.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "batch/join.h"
#include "core/fingerprint/hamming.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/join/allpairs.h"
#include "core/join/pigeonhole.h"
#include "server/query.h"
#include "server/spill.h"

/*
 * A bit in an element's index, which otherwise is the index of its fingerprint or
 * the number of its first row: the fingerprint has rows of the first query.
 * Without a second query none has it.
 */
#define HAS_FIRST (UINT64CONST(1) << 63)

/* Chunks on disk that are joined with each other, each pair of them in memory. */
#define MAX_CHUNKS 24

typedef struct FingerprintJoin
{
	SimdupFingerprints *fingerprints;
	SimdupFingerprintSink sink; /* NULL: take first rows */
	SimdupRowPairSink row_sink;
	void *arg;
	SimdupPairJoin pairs;

	/* the fingerprints in memory now; on disk, one run after the other */
	SimdupElement *elements;
	SimdupElement *scratch;
	int64 capacity;

	/*
	 * progress: this much of all fingerprints is done, the run is so much of it
	 */
	double done;
	double run;
} FingerprintJoin;

static void
receive_pair(void *arg, SimdupElement a, SimdupElement b)
{
	FingerprintJoin *join = arg;
	SimdupFingerprint fingerprint_a;
	SimdupFingerprint fingerprint_b;
	int distance = simdup_hamming64(a.fp, b.fp);

	a.index &= ~HAS_FIRST;
	b.index &= ~HAS_FIRST;
	if (join->sink == NULL)
	{
		join->row_sink(join->arg, (uint32) a.index, (uint32) b.index,
					   (uint32) distance);
		return;
	}
	fingerprint_a = simdup_fingerprint_at(join->fingerprints, (int64) a.index);
	fingerprint_b = simdup_fingerprint_at(join->fingerprints, (int64) b.index);
	join->sink(join->arg, &fingerprint_a, &fingerprint_b, distance);
}

static void
show_share(void *arg, double done)
{
	FingerprintJoin *join = arg;

	simdup_progress_look((int64) (join->done + join->run * done));
}

/*
 * Join the elements in memory: those with rows of the first query among each
 * other, then with the others. Each element counts weight in progress.
 */
static void
join_in_memory(FingerprintJoin *join, int64 n, double weight)
{
	const SimdupRows *rows = join->fingerprints->rows;
	SimdupElement *elements = join->elements;
	uint32 n_with = rows->n_first == rows->n ? (uint32) n : 0;
	SimdupPairSet with = {elements, join->scratch, 0};
	SimdupPairSet without;

	/* those with rows of the first query move to the front */
	for (int64 i = 0; i < n && rows->n_first < rows->n; i++)
	{
		SimdupElement element = elements[i];

		if ((element.index & HAS_FIRST) == 0)
			continue;
		elements[i] = elements[n_with];
		elements[n_with++] = element;
	}
	with.n = n_with;
	without = (SimdupPairSet){elements + n_with, join->scratch + n_with,
							  (uint32) n - n_with};

	join->run = weight * (double) with.n;
	simdup_pair_join(&join->pairs, with, NULL);
	join->done += join->run;
	join->run = weight * (double) without.n;
	simdup_pair_join(&join->pairs, with, &without);
	join->done += join->run;
}

/*
 * On disk
 */

static SimdupElement
read_element(SimdupTempFile *file, int64 i)
{
	SimdupElement element;

	CHECK_FOR_INTERRUPTS();
	simdup_tempfile_read(file, i * (int64) sizeof(element), &element,
						 sizeof(element));
	return element;
}

/*
 * Find the bits that vary in a file of fingerprints, and count the ones of each.
 */
static uint64
varying_bits(SimdupTempFile *file, int64 n, uint32 *ones, uint32 *n_sampled)
{
	uint64 any = 0;
	uint64 all = ~UINT64CONST(0);
	int64 step = n / 4096 + 1;

	*n_sampled = 0;
	for (int64 i = 0; i < n; i++)
	{
		uint64 fp = read_element(file, i).fp;

		any |= fp;
		all &= fp;
		if (i % step != 0)
			continue;
		for (int bit = 0; bit < 64; bit++)
			ones[bit] += (uint32) (fp >> bit & 1);
		(*n_sampled)++;
	}
	return any ^ all;
}

/*
 * Sort the fingerprints, rotated until the block's highest bit stands in front.
 * The bits between those of the block do not vary. So the fingerprints of one
 * block value come together.
 */
static SimdupPairSort *
sort_by_block(SimdupTempFile *file, int64 n, int rotation, int memory_kb)
{
	SimdupPairSort *sort = simdup_pairsort_begin(memory_kb);

	for (int64 i = 0; i < n; i++)
	{
		SimdupElement element = read_element(file, i);

		simdup_pairsort_put(sort, simdup_rotate64(element.fp, rotation),
							element.index);
	}
	simdup_pairsort_perform(sort);
	return sort;
}

static void join_on_disk(FingerprintJoin *join, SimdupTempFile *file, int64 n,
						 double weight);

/* Join a run of fingerprints, in a file if it is too long for memory. */
static void
join_run(FingerprintJoin *join, int64 n, SimdupTempFile *file, double weight)
{
	if (file == NULL)
		join_in_memory(join, n, weight);
	else
		join_on_disk(join, file, n, weight);
	simdup_tempfile_close(file);
}

/* Sort by one block, join its runs. */
static void
join_by_block(FingerprintJoin *join, SimdupTempFile *file, int64 n,
			  uint64 block, double weight)
{
	int rotation = (pg_leftmost_one_pos64(block) + 1) % 64;
	/* the other half of the memory is for the fingerprints that are joined */
	SimdupPairSort *sort =
		sort_by_block(file, n, rotation,
					  simdup_rows_kb(join->fingerprints->rows, 2));
	uint64 same = join->pairs.path.same;
	SimdupTempFile *run = NULL; /* all of the run, once it is too long */
	int64 n_run = 0;
	uint64 run_value = 0;
	uint64 word;
	SimdupElement element;

	join->pairs.path.same |= block;
	while (simdup_pairsort_get(sort, &word, &element.index))
	{
		element.fp = simdup_rotate64(word, (64 - rotation) % 64);
		if (n_run > 0 && (element.fp & block) != run_value)
		{
			join_run(join, n_run, run, weight);
			run = NULL;
			n_run = 0;
		}
		run_value = element.fp & block;
		if (n_run == join->capacity && run == NULL)
		{
			run = simdup_tempfile_create();
			simdup_tempfile_append(run, join->elements,
								   (size_t) n_run * sizeof(SimdupElement));
		}
		if (run != NULL)
			simdup_tempfile_append(run, &element, sizeof(element));
		else
			join->elements[n_run] = element;
		n_run++;
	}
	join_run(join, n_run, run, weight);
	join->pairs.path.same = same;
	simdup_pairsort_end(sort);
}

/* Make room for n elements in memory, in place of those that are there. */
static void
make_room(FingerprintJoin *join, int64 n)
{
	simdup_free(join->scratch);
	join->scratch = simdup_alloc((Size) n * sizeof(SimdupElement));
	if (join->fingerprints->fingerprint_file)
	{
		simdup_free(join->elements);
		join->elements = simdup_alloc((Size) n * sizeof(SimdupElement));
	}
	join->capacity = n;
}

/*
 * Join fingerprints that do not fit in memory. Each fingerprint counts weight
 * in progress.
 */
static void
join_on_disk(FingerprintJoin *join, SimdupTempFile *file, int64 n,
			 double weight)
{
	SimdupPairPath *path = &join->pairs.path;
	int n_blocks = join->pairs.max_distance + 1;
	int n_skipped = path->n_skipped;
	uint64 blocks[SIMDUP_MAX_PAIR_DISTANCE + 1];
	uint32 ones[64] = {0};
	uint32 n_sampled;
	uint64 varying = varying_bits(file, n, ones, &n_sampled);

	check_stack_depth();
	/* so few bits vary that there are 2^16 fingerprints at most */
	if (simdup_popcount64(varying) < n_blocks)
	{
		make_room(join, n);
		for (int64 i = 0; i < n; i++)
			join->elements[i] = read_element(file, i);
		join_in_memory(join, n, weight);
	}
	else
	{
		simdup_cut_blocks(varying, ones, n_sampled, n_blocks, blocks);
		for (int i = 0; i < n_blocks; i++)
		{
			join_by_block(join, file, n, blocks[i], weight / n_blocks);
			path->skipped[path->n_skipped++] = blocks[i];
		}
	}
	path->n_skipped = n_skipped;
}

/* Load a part of the elements in a file. */
static SimdupPairSet
load_chunk(FingerprintJoin *join, SimdupTempFile *file, int64 from, int64 n,
		   int64 at)
{
	simdup_tempfile_read(file, from * (int64) sizeof(SimdupElement),
						 join->elements + at,
						 (size_t) n * sizeof(SimdupElement));
	return (SimdupPairSet){join->elements + at, join->scratch + at, (uint32) n};
}

/*
 * Join fingerprints that are a few times as many as fit in memory: each chunk with
 * itself and with those after it.
 */
static void
join_chunks(FingerprintJoin *join, SimdupTempFile *file, int64 n)
{
	int64 size = join->capacity;
	double n_chunks = (double) ((n + size - 1) / size);

	/* no sort needs the other half of the memory */
	make_room(join, 2 * size);

	join->run = (double) n / (n_chunks * (n_chunks + 1) / 2);
	for (int64 i = 0; i < n; i += size)
	{
		SimdupPairSet a = load_chunk(join, file, i, Min(size, n - i), 0);

		simdup_pair_join(&join->pairs, a, NULL);
		join->done += join->run;
		for (int64 j = i + size; j < n; j += size)
		{
			SimdupPairSet b = load_chunk(join, file, j, Min(size, n - j), size);

			CHECK_FOR_INTERRUPTS();
			simdup_pair_join(&join->pairs, a, &b);
			join->done += join->run;
		}
	}
}

static int64
n_in_scope(const SimdupFingerprints *fingerprints, uint32 scope)
{
	return (int64) fingerprints->scope_starts[scope + 1] -
		   fingerprints->scope_starts[scope];
}

/* Join the fingerprints of one scope, in memory if they fit. */
static void
join_scope(FingerprintJoin *join, uint32 scope)
{
	SimdupFingerprints *fingerprints = join->fingerprints;
	const SimdupRows *rows = fingerprints->rows;
	bool on_disk = fingerprints->fingerprint_file != NULL;
	int64 from = fingerprints->scope_starts[scope];
	int64 n = n_in_scope(fingerprints, scope);
	SimdupTempFile *file = n > join->capacity ? simdup_tempfile_create() : NULL;

	if (!on_disk)
		join->elements = fingerprints->in_memory.elements + from;
	/* those in memory have the index alone, until a join of first rows */
	if (on_disk || rows->n_first < rows->n || join->sink == NULL ||
		fingerprints->has_first_rows)
		for (int64 i = 0; i < n; i++)
		{
			SimdupFingerprint fingerprint =
				simdup_fingerprint_at(fingerprints, from + i);
			SimdupElement element = {fingerprint.fp, (uint64) (from + i)};

			simdup_check_interrupts_at((size_t) i);
			if (join->sink == NULL)
				element.index = simdup_row_at(fingerprints, fingerprint.start);
			if (rows->n_first < rows->n &&
				simdup_row_at(fingerprints, fingerprint.start) < rows->n_first)
				element.index |= HAS_FIRST;
			if (file != NULL)
				simdup_tempfile_append(file, &element, sizeof(element));
			else
				join->elements[i] = element;
		}
	if (file != NULL && rows->n_first == rows->n &&
		n / join->capacity < MAX_CHUNKS)
	{
		int64 capacity = join->capacity;

		join_chunks(join, file, n);
		make_room(join, capacity);
		simdup_tempfile_close(file);
	}
	else
		join_run(join, n, file, 1.0);
}

/* Join all scopes. */
static void
join_all_scopes(FingerprintJoin *join)
{
	SimdupFingerprints *fingerprints = join->fingerprints;
	bool on_disk = fingerprints->fingerprint_file != NULL;
	int64 largest = 0; /* scope */

	join->pairs.sink = receive_pair;
	join->pairs.progress = show_share;
	join->pairs.arg = join;
	simdup_progress_phase("comparing", fingerprints->n);
	if (join->pairs.max_distance == 0 || fingerprints->n < 2)
		return;
	join->pairs.helpers = simdup_workers();
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
		largest = Max(largest, n_in_scope(fingerprints, scope));
	if (on_disk)
		largest = Min(largest, Max(fingerprints->rows->budget / 2 /
									   (2 * (int64) sizeof(SimdupElement)),
								   64));
	make_room(join, largest);
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
	{
		CHECK_FOR_INTERRUPTS();
		if (n_in_scope(fingerprints, scope) > 1)
			join_scope(join, scope);
	}
	fingerprints->has_first_rows = !on_disk && join->sink == NULL;
	simdup_free(join->scratch);
	if (on_disk)
		simdup_free(join->elements);
}

void
simdup_join_fingerprints(SimdupFingerprints *fingerprints, int max_distance,
						 SimdupFingerprintSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.sink = sink,
							.arg = arg,
							.pairs = {.max_distance = max_distance}};

	join_all_scopes(&join);
}

void
simdup_join_first_rows(SimdupFingerprints *fingerprints, int max_distance,
					   SimdupRowPairSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.row_sink = sink,
							.arg = arg,
							.pairs = {.max_distance = max_distance}};

	join_all_scopes(&join);
}

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
 * A bit in an element's index, which otherwise is the index of its fingerprint:
 * the fingerprint has rows of the first query. Without a second query none has it.
 */
#define HAS_FIRST (UINT64CONST(1) << 63)

typedef struct FingerprintJoin
{
	SimdupFingerprints *fingerprints;
	SimdupFingerprintSink sink;
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
	SimdupFingerprint fingerprint_a =
		simdup_fingerprint_at(join->fingerprints,
							  (int64) (a.index & ~HAS_FIRST));
	SimdupFingerprint fingerprint_b =
		simdup_fingerprint_at(join->fingerprints,
							  (int64) (b.index & ~HAS_FIRST));

	join->sink(join->arg, &fingerprint_a, &fingerprint_b,
			   simdup_hamming64(a.fp, b.fp));
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
	/* those in memory do not tell which query their rows are of */
	if (on_disk || rows->n_first < rows->n)
		for (int64 i = 0; i < n; i++)
		{
			SimdupFingerprint fingerprint =
				simdup_fingerprint_at(fingerprints, from + i);
			SimdupElement element = {fingerprint.fp, (uint64) (from + i)};

			CHECK_FOR_INTERRUPTS();
			if (rows->n_first < rows->n &&
				simdup_row_at(fingerprints, fingerprint.start) < rows->n_first)
				element.index |= HAS_FIRST;
			if (file != NULL)
				simdup_tempfile_append(file, &element, sizeof(element));
			else
				join->elements[i] = element;
		}
	join_run(join, n, file, 1.0);
}

void
simdup_join_fingerprints(SimdupFingerprints *fingerprints, int max_distance,
						 SimdupFingerprintSink sink, void *arg)
{
	FingerprintJoin join = {.fingerprints = fingerprints,
							.sink = sink,
							.arg = arg,
							.pairs = {.max_distance = max_distance,
									  .sink = receive_pair,
									  .progress = show_share,
									  .arg = &join}};
	bool on_disk = fingerprints->fingerprint_file != NULL;
	int64 largest = 0; /* scope */

	simdup_progress_phase("comparing", fingerprints->n);
	if (max_distance == 0 || fingerprints->n < 2)
		return;
	join.pairs.helpers = simdup_workers();
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
		largest = Max(largest, n_in_scope(fingerprints, scope));
	if (on_disk)
		largest = Min(largest, Max(fingerprints->rows->budget / 2 /
									   (2 * (int64) sizeof(SimdupElement)),
								   64));
	make_room(&join, largest);
	for (uint32 scope = 0; scope < fingerprints->n_scopes; scope++)
	{
		CHECK_FOR_INTERRUPTS();
		if (n_in_scope(fingerprints, scope) > 1)
			join_scope(&join, scope);
	}
	simdup_free(join.scratch);
	if (on_disk)
		simdup_free(join.elements);
}

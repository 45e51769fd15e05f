/*
 * runs.c
 *	  The near pairs of a few times as many fingerprints as fit in memory.
 *
 * Runs are parts of the elements in a file, each of one set. They are joined in pairs,
 * in two places in memory. A join by balls sorts each run once by each block. If balls
 * do not pay, or helpers do more, each pair of runs is a join of its own. A run then
 * has half a place, and its scratch the other half.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "core/host.h"
#include "core/join/ball.h"
#include "pairs/elements.h"

uint32
simdup_part_sets(SimdupElement *elements, int64 n)
{
	uint32 n_first = 0;

	for (int64 i = 0; i < n; i++)
	{
		SimdupElement element = elements[i];

		if ((element.index & SIMDUP_SECOND_SET) != 0)
			continue;
		elements[i] = elements[n_first];
		elements[n_first++] = element;
	}
	return n_first;
}

void
simdup_read_elements(SimdupTempFile *file, int64 from, int64 n,
					 SimdupElement *elements)
{
	CHECK_FOR_INTERRUPTS();
	simdup_tempfile_read(file, from * (int64) sizeof(*elements), elements,
						 (size_t) n * sizeof(*elements));
}

typedef struct Run
{
	int64 offset; /* in the file: elements, or codes, indexes, starts of buckets */
	uint32 n;
	bool is_second; /* of the second set of a cross join */
} Run;

typedef struct Runs
{
	SimdupElementJoin *join;
	uint32 most; /* elements of a run */
	SimdupBallPlan plan;
	int block; /* of the plan, by which runs are sorted; -1: none is */
	Run *runs;
	Size room;
	uint32 n;
	SimdupTempFile *file;
	SimdupElement *words[2]; /* of the places */
	SimdupSorted places[2];	 /* in them */
	uint32 *positions;		 /* of the run that is sorted */
} Runs;

/* Return the bytes of the starts of a run's buckets. */
static Size
size_of_starts(const Runs *runs)
{
	return (((Size) 1 << runs->plan.blocks[runs->block].key_bits) + 1) *
		   sizeof(uint32);
}

/* Have a place hold a sorted run of n elements. */
static SimdupSorted *
set_place(Runs *runs, int i, uint32 n)
{
	SimdupSorted *place = &runs->places[i];

	place->n = n;
	place->codes = &runs->words[i]->fp;
	place->indexes = place->codes + n + SIMDUP_COMPARED;
	return place;
}

/* Sort elements by way of the first place, and write them. Return the offset. */
static int64
write_sorted(Runs *runs, const SimdupElement *elements, uint32 n)
{
	SimdupSorted *set = set_place(runs, 0, n);
	uint64 *indexes = set->codes + n + SIMDUP_COMPARED;
	int64 offset;

	set->elements = elements;
	set->positions = runs->positions;
	simdup_sort_by_key(&runs->plan.blocks[runs->block], set);
	for (uint32 i = 0; i < n; i++)
		indexes[i] = elements[set->positions[i]].index;
	offset = simdup_tempfile_append(runs->file, set->codes,
									(2 * (Size) n + SIMDUP_COMPARED) *
										sizeof(uint64));
	simdup_tempfile_append(runs->file, set->starts, size_of_starts(runs));
	return offset;
}

static void
write_run(Runs *runs, const SimdupElement *elements, uint32 n, bool is_second)
{
	Run run = {.n = n, .is_second = is_second};

	if (n == 0)
		return;
	run.offset = runs->block < 0 ? simdup_tempfile_append(runs->file, elements,
														  n * sizeof(*elements))
								 : write_sorted(runs, elements, n);
	runs->runs =
		simdup_grow(runs->runs, &runs->room, (Size) runs->n + 1, sizeof(Run));
	runs->runs[runs->n++] = run;
}

/* Write all elements of a file as runs. */
static void
write_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	SimdupElement *elements = runs->words[1];

	runs->n = 0;
	for (int64 i = 0; i < n; i += runs->most)
	{
		uint32 n_own = (uint32) Min(runs->most, n - i);
		uint32 n_first = n_own;

		simdup_read_elements(file, i, n_own, elements);
		if (runs->join->cross)
			n_first = simdup_part_sets(elements, n_own);
		write_run(runs, elements, n_first, false);
		write_run(runs, elements + n_first, n_own - n_first, true);
	}
}

/* Read a run to one of the two places. */
static void
read_run(Runs *runs, uint32 number, int i)
{
	const Run *run = &runs->runs[number];
	SimdupSorted *place = set_place(runs, i, run->n);
	Size size = 2 * (Size) run->n * sizeof(uint64);

	CHECK_FOR_INTERRUPTS();
	if (runs->block >= 0)
		size += SIMDUP_COMPARED * sizeof(uint64);
	simdup_tempfile_read(runs->file, run->offset, place->codes, size);
	if (runs->block >= 0)
		simdup_tempfile_read(runs->file, run->offset + (int64) size,
							 place->starts, size_of_starts(runs));
}

/* Return an unsorted run in its place. The other half of that is its scratch. */
static SimdupPairSet
unsorted(const Runs *runs, int i)
{
	return (SimdupPairSet){runs->words[i], runs->words[i] + runs->most,
						   runs->places[i].n};
}

/* Join the runs in both places, or the first one with itself. */
static void
join_places(Runs *runs, bool with_itself)
{
	SimdupPairJoin *pairs = &runs->join->pairs;
	SimdupPairSet other = unsorted(runs, 1);

	if (runs->block < 0)
		simdup_pair_join(pairs, unsorted(runs, 0), with_itself ? NULL : &other);
	else
		simdup_join_sorted(pairs, &runs->plan, runs->block, runs->places[0],
						   with_itself ? NULL : &runs->places[1]);
}

/* Part all elements in runs, and join these. */
static void
join_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	bool cross = runs->join->cross;

	runs->file = simdup_tempfile_create();
	write_runs(runs, file, n);
	for (uint32 i = 0; i < runs->n; i++)
	{
		read_run(runs, i, 0);
		if (!cross)
			join_places(runs, true);
		for (uint32 j = i + 1; j < runs->n; j++)
			if (!cross || runs->runs[i].is_second != runs->runs[j].is_second)
			{
				read_run(runs, j, 1);
				join_places(runs, false);
			}
	}
	runs->join->disk += simdup_tempfile_size(runs->file);
	simdup_tempfile_close(runs->file);
}

/* Plan by a sample that is as large as a run. Return false if balls do not pay. */
static bool
plan_runs(Runs *runs, SimdupTempFile *file, int64 n)
{
	SimdupPairSet sample = {runs->words[0], runs->words[1], runs->most};

	for (uint32 i = 0; i < sample.n; i++)
		simdup_read_elements(file, (int64) i * n / sample.n, 1,
							 sample.elements + i);
	return simdup_plan_sorted(&runs->join->pairs, sample, &runs->plan);
}

void
simdup_join_by_runs(SimdupElementJoin *join, SimdupTempFile *file, int64 n)
{
	Size most = (Size) join->capacity;
	Runs runs = {.join = join, .most = (uint32) most, .block = -1};

	simdup_free(join->elements);
	simdup_free(join->scratch);
	for (int i = 0; i < 2; i++)
		runs.words[i] =
			simdup_alloc((most + SIMDUP_COMPARED) * sizeof(SimdupElement));
	if (plan_runs(&runs, file, n))
	{
		for (int i = 0; i < 2; i++)
			runs.places[i].starts = simdup_alloc((most + 2) * sizeof(uint32));
		runs.positions = simdup_alloc(most * sizeof(uint32));
		for (runs.block = 0; runs.block < runs.plan.n_blocks; runs.block++)
			join_runs(&runs, file, n);
		simdup_free(runs.positions);
		for (int i = 0; i < 2; i++)
			simdup_free(runs.places[i].starts);
	}
	else
	{
		runs.most /= 2;
		join_runs(&runs, file, n);
	}
	simdup_free(runs.runs);
	join->elements = runs.words[0];
	join->scratch = runs.words[1];
	join->room = join->scratch_room = most;
}

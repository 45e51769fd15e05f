/*
 * hamming_join.c
 *	  Candidates of a join by fingerprints.
 *
 * The keys of a side are sorted by hash of the equal columns, fingerprint and row.
 * Rows that agree in the first two are a group. Read in step, the keys of both
 * sides give one part of the join after the other: the groups of one hash, which
 * are joined as elements.
 */
#include "postgres.h"

#include "joins/key_search.h"
#include "pairs/elements.h"
#include "server/progress.h"
#include "type/simhash64.h"

/* The keys of one side: the hash and the high half; the low half and the row. */

static void
begin_keys(SimdupKeySearch *search, int side)
{
	search->keys[side] =
		simdup_pairsort_begin(search->memory / (search->reads_once ? 6 : 12));
}

static void
add_key(SimdupKeySearch *search, int side, uint32 number, Datum key,
		uint32 hash)
{
	uint64 fp = DatumGetSimhash64(key);

	simdup_pairsort_put(search->keys[side], (uint64) hash << 32 | fp >> 32,
						fp << 32 | number);
}

static void
end_keys(SimdupKeySearch *search)
{
	for (int side = 0; side < 2; side++)
		if (search->keys[side] != NULL)
		{
			search->disk += simdup_pairsort_disk(search->keys[side]);
			simdup_pairsort_end(search->keys[side]);
		}
}

/* Sorted keys, as they are read. */
typedef struct KeyReader
{
	SimdupPairSort *sort;
	bool at_end;
	/* the next key */
	uint32 hash;
	uint64 fp;
	uint32 number;
} KeyReader;

static void
next_key(KeyReader *reader)
{
	uint64 high;
	uint64 low;

	reader->at_end =
		reader->sort == NULL || !simdup_pairsort_get(reader->sort, &high, &low);
	if (reader->at_end)
		return;
	reader->hash = (uint32) (high >> 32);
	reader->fp = high << 32 | low >> 32;
	reader->number = (uint32) low;
}

/* Compare the next keys, without their rows; the one at its end is larger. */
static int
compare_keys(const KeyReader *a, const KeyReader *b)
{
	if (a->at_end || b->at_end)
		return (int) a->at_end - (int) b->at_end;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->fp < b->fp ? -1 : a->fp > b->fp;
}

typedef struct HammingJoin
{
	SimdupKeySearch *search;
	KeyReader readers[2];
	SimdupElementJoin elements;
	int64 n_read;	/* keys, of all parts */
	int64 n_before; /* of the parts before */
} HammingJoin;

/*
 * A group as an element's index: its position and its first row. A group of one
 * row has a mark.
 */
#define ONE_ROW (UINT64CONST(1) << 62)

static inline uint32
position_of(uint64 index)
{
	return (uint32) index & PG_INT32_MAX;
}

static inline uint32
first_row_of(uint64 index)
{
	return (uint32) (index >> 31) & PG_INT32_MAX;
}

/* Read the next group of a side. Return its index. */
static uint64
read_group(HammingJoin *join, int side)
{
	KeyReader *reader = &join->readers[side];
	SimdupTempFile *groups = join->search->groups[side];
	KeyReader first = *reader;
	uint64 index = (uint64) first.number << 31;
	uint32 n = 0;

	do
	{
		uint32 number = reader->number;
		uint32 position;

		next_key(reader);
		if (compare_keys(reader, &first) != 0)
			number |= SIMDUP_LAST_OF_GROUP;
		position = simdup_group_append(groups, number);
		if (n++ == 0)
			index |= position;
	} while (compare_keys(reader, &first) == 0);
	join->n_read += n;
	return n == 1 ? index | ONE_ROW : index;
}

/* Check whether no more candidates of a group are asked for. */
static bool
is_evaluated(const SimdupKeySearch *search, uint64 group)
{
	return search->marks_first && (group & ONE_ROW) != 0 &&
		   simdup_is_matched(search, first_row_of(group));
}

/* Put a pair of groups, unless its outer rows ask for no more. */
static void
put(HammingJoin *join, uint64 outer, uint64 inner)
{
	const SimdupKeySearch *search = join->search;

	if (is_evaluated(search, outer) &&
		(!search->reads_once || is_evaluated(search, inner)))
		return;
	search->put(search->arg, first_row_of(outer), position_of(outer),
				position_of(inner));
}

/* Put a pair of near fingerprints: the sink of the elements' join. */
static void
put_near(void *arg, SimdupElement a, SimdupElement b)
{
	HammingJoin *join = arg;

	if ((a.index & SIMDUP_SECOND_SET) != 0)
		put(join, b.index, a.index);
	else
		put(join, a.index, b.index);
}

static void
show_share(void *arg, double done)
{
	HammingJoin *join = arg;
	double n = (double) (join->n_read - join->n_before);

	done = simdup_elements_share(&join->elements, done);
	simdup_progress_poll(join->n_before + (int64) (n * done));
}

/* Add the next groups of equal keys, one of each side or of one. */
static void
add_groups(HammingJoin *join)
{
	KeyReader *readers = join->readers;
	int order = compare_keys(&readers[0], &readers[1]);
	uint64 groups[2] = {0};

	for (int side = 0; side < 2; side++)
	{
		uint64 fp = readers[side].fp;

		if (side == 0 ? order > 0 : order < 0)
			continue;
		groups[side] = read_group(join, side);
		simdup_elements_add(&join->elements, fp,
							groups[side] | (side ? SIMDUP_SECOND_SET : 0));
	}
	if (join->search->reads_once)
	{
		if ((groups[0] & ONE_ROW) == 0 || !join->search->excludes_self)
			put(join, groups[0], groups[0]);
	}
	else if (order == 0)
		put(join, groups[0], groups[1]);
}

/* Check whether the next key is of the part with this hash. */
static bool
is_in_part(const KeyReader *reader, uint32 hash)
{
	return !reader->at_end && reader->hash == hash;
}

/* Read and join the groups of one hash, the least of the next ones. */
static void
join_part(HammingJoin *join)
{
	KeyReader *readers = join->readers;
	bool reads_once = join->search->reads_once;
	uint32 hash =
		reads_once ? readers[0].hash : Min(readers[0].hash, readers[1].hash);

	join->n_before = join->n_read;
	if (reads_once || readers[0].hash == readers[1].hash)
	{
		while (is_in_part(&readers[0], hash) || is_in_part(&readers[1], hash))
			add_groups(join);
		simdup_elements_join(&join->elements);
		return;
	}
	/* rows of one side alone */
	for (int side = 0; side < 2; side++)
		while (is_in_part(&readers[side], hash))
		{
			next_key(&readers[side]);
			join->n_read++;
		}
}

static void
find_near(SimdupKeySearch *search)
{
	HammingJoin join = {.search = search};
	KeyReader *readers = join.readers;

	join.elements.cross = !search->reads_once;
	join.elements.capacity = simdup_elements_in(search->free_memory);
	join.elements.pairs =
		(SimdupPairJoin){.max_distance = search->limits.max_distance,
						 .sink = put_near,
						 .progress = show_share,
						 .arg = &join,
						 .helpers = search->helpers};
	simdup_progress_phase("comparing", search->n_keys);
	for (int side = 0; side < 2; side++)
	{
		readers[side].sort = search->keys[side];
		if (readers[side].sort != NULL)
			simdup_pairsort_perform(readers[side].sort);
		next_key(&readers[side]);
	}
	while (!readers[0].at_end && (search->reads_once || !readers[1].at_end))
		join_part(&join);
	simdup_note_memory(search);
	search->disk += join.elements.disk;
	simdup_elements_end(&join.elements);
}

const SimdupSearchMethod simdup_hamming_search = {.label = "Hamming Cond",
												  .begin = begin_keys,
												  .add = add_key,
												  .find = find_near,
												  .end = end_keys};

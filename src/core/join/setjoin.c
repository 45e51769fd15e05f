/*
 * setjoin.c
 *	  All pairs of sets whose resemblance reaches a threshold, exactly.
 *
 * The join follows AllPairs and PPJoin (Bayardo, Ma and Srikant 2007; Xiao et
 * al. 2011), with the lessons of Mann, Augsten and Bouros (2016): filters must
 * be cheap, and verification must stop early.
 *
 * Two sets of sizes a and b with resemblance t or more share at least
 * t / (1 + t) (a + b) elements. Four filters follow from that:
 *
 * - Length: the smaller size is at least t times the larger.
 *
 * - Prefix: if both sets lose one element less than they must share, counted
 *	 from their most frequent elements, the two prefixes that remain still meet.
 *	 An index therefore lists only the rarest elements of each set.
 *
 * - Position: one of the two prefixes ends first in the order of ranks. All
 *	 its matches are known. The sets share at most the matches counted plus the
 *	 elements that follow this prefix.
 *
 * - Bitmap: an element that many sets have is common. It is a bit in the bitmap
 *	 of each set (compare Sandes, Teodoro and Melo 2020). A popcount counts
 *	 common elements exactly, so only rare ones are indexed and merged.
 *
 * If the prefix of a set holds rare elements only, their lists name all its
 * candidates. Else every other set that the length filter admits is a
 * candidate. Four numbers of each set bound how many elements they share. That
 * is quadratic, but a step is cheap, and lists of common elements would be as
 * long.
 *
 * Memory: as many sets as fit are a chunk. The sets of a chunk meet each
 * other, then all larger sets that the length filter admits are read past it.
 */
#include "core/join/setjoin.h"

#include <math.h>
#include <string.h>

#include "core/fingerprint/hamming.h"
#include "core/host.h"

/* Bounds are rounded to the safe side; the quotient itself decides. */
#define ROUNDING (1 - 1e-9)
#define FLOAT_ROUNDING (1 - 1e-6)

/* An element is worth a bit if one set in this number has it. */
#define SETS_PER_BIT 16

/* Steps of a merge between two checks whether the limit can still be reached. */
#define MERGE_STEPS 32

/* Limits of a chunk: see table_bits. */
#define MAX_TABLE_BITS 31
#define MAX_POSTINGS ((size_t) 1 << (MAX_TABLE_BITS - 1))

#define NO_RANK UINT32_MAX

typedef struct Set
{
	uint32_t *ranks;
	uint64_t *bits;		/* of the common ones */
	uint32_t n_rare;	/* ranks below common_from */
	uint32_t n_indexed; /* those of the index prefix */
} Set;

/* Bounds on the elements that a set shares beyond the counted matches. */
typedef struct Bound
{
	uint32_t size;	 /* elements, with and without a rank */
	uint32_t common; /* common ranks */
	uint32_t last;	 /* of the prefix; NO_RANK: no rare rank follows */
	uint32_t rest;	 /* rare ranks that follow the prefix */
} Bound;

/* The sets of the chunk that have a rank in their prefix, ascending. */
typedef struct PostingList
{
	uint32_t rank; /* NO_RANK: a free slot */
	uint32_t first;
	uint32_t end;
} PostingList;

typedef struct Chunk
{
	const SimdupSetJoin *join;
	double min_resemblance;
	double min_share; /* of the sum of two sizes */
	size_t n_words;	  /* of a bitmap */

	uint32_t first; /* number of its first set */
	uint32_t n;
	uint32_t low;  /* the smallest set that is large enough for the probe */
	uint32_t high; /* sets before this one are in the index */
	Set *sets;	   /* of the chunk, then room for a later one */
	Bound *bounds; /* of the sets; apart, since a loop reads them all */

	PostingList *lists; /* an open-addressing table */
	int shift;			/* from a product to a slot in it */
	uint32_t n_slots;
	uint32_t *postings;

	uint32_t *met; /* matches with the probe, by set; 0 between probes */
	uint32_t *candidates;
} Chunk;

uint32_t
simdup_set_join_common(uint32_t n)
{
	return n / SETS_PER_BIT + 1;
}

static inline uint32_t
smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Sets */

/*
 * Return the ranks of a prefix that meets all sets with which a set shares this
 * part of its elements.
 */
static uint32_t
prefix_length(const Chunk *chunk, uint32_t number, double part)
{
	const SimdupSetJoin *join = chunk->join;
	uint32_t least = (uint32_t) ceil(part * join->sizes[number] * ROUNDING);
	uint32_t n_ranks = join->n_ranks[number];

	return n_ranks < least ? 0 : n_ranks - least + 1;
}

/* Return the length of a prefix that meets all sets that are not smaller. */
static uint32_t
index_prefix(const Chunk *chunk, uint32_t number)
{
	return prefix_length(chunk, number, 2 * chunk->min_share);
}

/* Read a set to where its arrays are, and set the bits of its common ranks. */
static void
read_set(const Chunk *chunk, uint32_t number, Set *set)
{
	const SimdupSetJoin *join = chunk->join;
	uint32_t *ranks = set->ranks;
	uint64_t *bits = set->bits;
	uint32_t n = join->n_ranks[number];

	join->read(join->arg, number, ranks);
	memset(bits, 0, chunk->n_words * sizeof(uint64_t));
	for (; n > 0 && ranks[n - 1] >= join->common_from; n--)
	{
		uint32_t bit = ranks[n - 1] - join->common_from;

		bits[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
	set->n_rare = n;
}

static Bound
bound_of(const Chunk *chunk, uint32_t number, const Set *set, uint32_t prefix)
{
	const SimdupSetJoin *join = chunk->join;
	uint32_t common = join->n_ranks[number] - set->n_rare;
	Bound bound = {join->sizes[number], common, NO_RANK, 0};

	/* without a prefix a set shares too little with any */
	if (prefix == 0)
		bound.common = bound.last = 0;
	else if (prefix < set->n_rare)
	{
		bound.last = set->ranks[prefix - 1];
		bound.rest = set->n_rare - prefix;
	}
	return bound;
}

/* Two sets */

/* Check whether two sets that met this often can share enough. */
static inline bool
may_resemble(const Bound *a, const Bound *b, uint32_t met, float min_share)
{
	uint32_t rest = a->last <= b->last ? a->rest : b->rest;
	uint32_t most = met + rest + smaller(a->common, b->common);

	return (float) (int32_t) most >=
		   min_share * (float) (int32_t) (a->size + b->size);
}

SIMDUP_POPCNT_CLONES
static uint32_t
common_bits(const uint64_t *a, const uint64_t *b, size_t n_words)
{
	uint32_t common = 0;

	for (size_t i = 0; i < n_words; i++)
		common += (uint32_t) simdup_popcount64(a[i] & b[i]);
	return common;
}

/* Count rare ranks in both sets; may stop if `needed` is out of reach. */
static uint32_t
common_rare(const Set *a, const Set *b, uint32_t needed)
{
	const uint32_t *p = a->ranks;
	const uint32_t *q = b->ranks;
	const uint32_t *p_end = p + a->n_rare;
	const uint32_t *q_end = q + b->n_rare;
	uint32_t common = 0;

	while (p < p_end && q < q_end)
	{
		size_t left = (size_t) (p_end - p < q_end - q ? p_end - p : q_end - q);

		if (common + left < needed)
			break;
		/* these steps leave neither set */
		for (size_t i = left < MERGE_STEPS ? left : MERGE_STEPS; i > 0; i--)
		{
			uint32_t x = *p;
			uint32_t y = *q;

			common += x == y;
			p += x <= y;
			q += y <= x;
		}
	}
	return common;
}

/* Compare the sets themselves, and report a pair that is alike enough. */
static void
verify(const Chunk *chunk, const Set *probe, uint32_t number,
	   uint32_t candidate)
{
	const SimdupSetJoin *join = chunk->join;
	const Set *set = &chunk->sets[candidate];
	double sum =
		(double) join->sizes[number] + (double) chunk->bounds[candidate].size;
	uint32_t needed = (uint32_t) ceil(chunk->min_share * sum * ROUNDING);
	uint32_t common = common_bits(probe->bits, set->bits, chunk->n_words);

	if (common + smaller(probe->n_rare, set->n_rare) < needed)
		return;
	common += common_rare(probe, set, needed > common ? needed - common : 0);
	if ((double) common / (sum - (double) common) >= chunk->min_resemblance)
		join->sink(join->arg, chunk->first + candidate, number);
}

/* The index of a chunk */

/* Return the list of a rank, or the free slot for it. */
static inline PostingList *
find_list(const Chunk *chunk, uint32_t rank)
{
	uint32_t slot = rank * UINT32_C(0x9e3779b1) >> chunk->shift;

	while (chunk->lists[slot].rank != rank &&
		   chunk->lists[slot].rank != NO_RANK)
		slot = (slot + 1) & (chunk->n_slots - 1);
	return &chunk->lists[slot];
}

/*
 * Return the binary digits of a table for n lists, of which at most two thirds
 * get used. A slot is computed in 32 bits, so 31 are the most: a chunk ends
 * before it has more postings than such a table holds.
 */
static int
table_bits(const Chunk *chunk, size_t n_postings)
{
	size_t n = n_postings < chunk->join->common_from ? n_postings
													 : chunk->join->common_from;
	int bits = 1;

	while (bits < MAX_TABLE_BITS && ((size_t) 1 << bits) * 2 / 3 <= n)
		bits++;
	return bits;
}

/* Make room for each list. Every list is still empty. */
static void
lay_out_index(Chunk *chunk, size_t n_postings)
{
	int bits = table_bits(chunk, n_postings);
	uint32_t slot = 0;

	chunk->n_slots = UINT32_C(1) << bits;
	chunk->shift = 32 - bits;
	chunk->lists = simdup_alloc(chunk->n_slots * sizeof(PostingList));
	chunk->postings = simdup_alloc((n_postings + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < chunk->n_slots; i++)
		chunk->lists[i] = (PostingList){NO_RANK, 0, 0};
	for (uint32_t i = 0; i < chunk->n; i++)
	{
		const uint32_t *ranks = chunk->sets[i].ranks;

		for (uint32_t j = chunk->sets[i].n_indexed; j > 0; j--)
		{
			PostingList *list = find_list(chunk, ranks[j - 1]);

			list->rank = ranks[j - 1];
			list->end++;
		}
	}
	for (uint32_t i = 0; i < chunk->n_slots; i++)
	{
		uint32_t length = chunk->lists[i].end;

		chunk->lists[i].first = chunk->lists[i].end = slot;
		slot += length;
	}
}

static void
insert_set(Chunk *chunk)
{
	uint32_t i = chunk->high++;
	const uint32_t *ranks = chunk->sets[i].ranks;

	for (uint32_t j = chunk->sets[i].n_indexed; j > 0; j--)
		chunk->postings[find_list(chunk, ranks[j - 1])->end++] = i;
}

/* A set against the index */

/*
 * Drop small sets from the list. Sets that are too small for this probe are too
 * small for all that follow.
 */
static void
drop_small_sets(Chunk *chunk, uint32_t size)
{
	while (chunk->low < chunk->high &&
		   (double) chunk->bounds[chunk->low].size / (double) size <
			   chunk->min_resemblance)
		chunk->low++;
}

/* Return a list without the sets that are too small. */
static inline PostingList
current_list(Chunk *chunk, uint32_t rank)
{
	PostingList *list = find_list(chunk, rank);

	while (list->first < list->end && chunk->postings[list->first] < chunk->low)
		list->first++;
	return *list;
}

/* Find candidates from the lists of a prefix of rare ranks. */
static uint32_t
meet_lists(Chunk *chunk, const Set *probe, uint32_t prefix, const Bound *bound)
{
	float min_share = (float) (chunk->min_share * FLOAT_ROUNDING);
	uint32_t n_met = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < prefix; i++)
	{
		PostingList list = current_list(chunk, probe->ranks[i]);

		simdup_check_interrupts();
		for (uint32_t j = list.first; j < list.end; j++)
		{
			uint32_t set = chunk->postings[j];

			chunk->candidates[n_met] = set;
			n_met += chunk->met[set]++ == 0;
		}
	}
	for (uint32_t i = 0; i < n_met; i++)
	{
		uint32_t set = chunk->candidates[i];
		uint32_t met = chunk->met[set];

		chunk->met[set] = 0;
		chunk->candidates[n] = set;
		n += may_resemble(bound, &chunk->bounds[set], met, min_share);
	}
	return n;
}

/* Find candidates from all sets, where a prefix has common ranks too. */
static uint32_t
meet_all(Chunk *chunk, const Set *probe, const Bound *bound)
{
	float min_share = (float) (chunk->min_share * FLOAT_ROUNDING);
	uint32_t n = 0;

	for (uint32_t i = 0; i < probe->n_rare; i++)
	{
		PostingList list = current_list(chunk, probe->ranks[i]);

		simdup_check_interrupts();
		for (uint32_t j = list.first; j < list.end; j++)
			chunk->met[chunk->postings[j]]++;
	}
	for (uint32_t set = chunk->low; set < chunk->high; set++)
	{
		chunk->candidates[n] = set;
		n += may_resemble(bound, &chunk->bounds[set], chunk->met[set],
						  min_share);
	}
	memset(chunk->met + chunk->low, 0,
		   (chunk->high - chunk->low) * sizeof(uint32_t));
	return n;
}

static void
probe_index(Chunk *chunk, const Set *probe, uint32_t number)
{
	/* meets all sets that are not larger */
	const SimdupSetJoin *join = chunk->join;
	uint32_t prefix = prefix_length(chunk, number, chunk->min_resemblance);
	Bound bound = bound_of(chunk, number, probe, prefix);
	uint32_t n;

	if (prefix == 0)
		return;
	n = prefix <= probe->n_rare ? meet_lists(chunk, probe, prefix, &bound)
								: meet_all(chunk, probe, &bound);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t candidate = chunk->candidates[i];

		simdup_check_interrupts();
		if (join->is_pair == NULL ||
			join->is_pair(join->arg, chunk->first + candidate, number))
			verify(chunk, probe, number, candidate);
	}
}

/* Chunks */

/* Return how many sets fit into the memory together with their index. */
static void
plan_chunk(Chunk *chunk, size_t memory, size_t *n_ranks, size_t *n_postings)
{
	const SimdupSetJoin *join = chunk->join;
	size_t each = sizeof(Set) + sizeof(Bound) + 2 * sizeof(uint32_t) +
				  chunk->n_words * sizeof(uint64_t);

	*n_ranks = *n_postings = 0;
	for (chunk->n = 0; chunk->n < join->n - chunk->first; chunk->n++)
	{
		uint32_t set = chunk->first + chunk->n;
		size_t ranks = *n_ranks + join->n_ranks[set];
		size_t postings = *n_postings + index_prefix(chunk, set);
		size_t bytes =
			(chunk->n + (size_t) 1) * each +
			(ranks + postings) * sizeof(uint32_t) +
			((size_t) 1 << table_bits(chunk, postings)) * sizeof(PostingList);

		if (chunk->n > 0 && (bytes > memory || postings > MAX_POSTINGS))
			break;
		*n_ranks = ranks;
		*n_postings = postings;
	}
}

static void
begin_chunk(Chunk *chunk, size_t memory)
{
	const SimdupSetJoin *join = chunk->join;
	size_t n_ranks;
	size_t n_postings;
	uint32_t most_ranks = 0; /* of a later set */
	uint32_t *ranks;
	uint64_t *bits;

	plan_chunk(chunk, memory, &n_ranks, &n_postings);
	for (uint32_t i = chunk->first + chunk->n; i < join->n; i++)
		if (join->n_ranks[i] > most_ranks)
			most_ranks = join->n_ranks[i];
	chunk->low = chunk->high = 0;
	chunk->sets = simdup_alloc((chunk->n + (size_t) 1) * sizeof(Set));
	chunk->bounds = simdup_alloc(chunk->n * sizeof(Bound));
	ranks = simdup_alloc((n_ranks + most_ranks + 1) * sizeof(uint32_t));
	bits = simdup_alloc(((chunk->n + (size_t) 1) * chunk->n_words + 1) *
						sizeof(uint64_t));
	chunk->met = simdup_alloc0(chunk->n * sizeof(uint32_t));
	chunk->candidates =
		simdup_alloc((chunk->n + (size_t) 1) * sizeof(uint32_t));
	chunk->sets[0] = (Set){.ranks = ranks, .bits = bits};
	for (uint32_t i = 0; i < chunk->n; i++)
	{
		uint32_t number = chunk->first + i;
		uint32_t prefix = index_prefix(chunk, number);
		Set *set = &chunk->sets[i];

		simdup_check_interrupts();
		read_set(chunk, number, set);
		set->n_indexed = smaller(prefix, set->n_rare);
		chunk->bounds[i] = bound_of(chunk, number, set, prefix);
		set[1] = (Set){.ranks = set->ranks + join->n_ranks[number],
					   .bits = set->bits + chunk->n_words};
	}
	lay_out_index(chunk, n_postings);
}

static void
end_chunk(Chunk *chunk)
{
	simdup_free(chunk->sets[0].ranks);
	simdup_free(chunk->sets[0].bits);
	simdup_free(chunk->sets);
	simdup_free(chunk->bounds);
	simdup_free(chunk->met);
	simdup_free(chunk->candidates);
	simdup_free(chunk->lists);
	simdup_free(chunk->postings);
}

/*
 * Join each set of the chunk with the ones before it, and later sets with all,
 * until they are too large for each.
 */
static void
join_chunk(Chunk *chunk)
{
	const SimdupSetJoin *join = chunk->join;

	for (uint32_t i = 0; i < join->n - chunk->first; i++)
	{
		uint32_t number = chunk->first + i;
		Set *set = &chunk->sets[smaller(i, chunk->n)];

		simdup_check_interrupts();
		drop_small_sets(chunk, join->sizes[number]);
		if (chunk->low == chunk->n)
			break;
		if (i >= chunk->n)
			read_set(chunk, number, set);
		probe_index(chunk, set, number);
		if (i < chunk->n)
			insert_set(chunk);
		join->progress(join->arg,
					   (chunk->first + (double) chunk->n * (i + 1) /
										   (join->n - chunk->first)) /
						   join->n);
	}
}

void
simdup_set_join(const SimdupSetJoin *join, double min_resemblance,
				size_t memory)
{
	Chunk chunk = {.join = join, .min_resemblance = min_resemblance};

	chunk.min_share = min_resemblance / (1 + min_resemblance);
	chunk.n_words = ((size_t) join->all_ranks - join->common_from + 63) / 64;
	for (; chunk.first < join->n; chunk.first += chunk.n)
	{
		begin_chunk(&chunk, memory);
		join_chunk(&chunk);
		end_chunk(&chunk);
	}
}

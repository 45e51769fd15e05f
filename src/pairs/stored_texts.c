/*
 * stored_texts.c
 *	  The contents of many rows, in memory or on disk, to be compared in pairs.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varbit.h"

#include "core/compare/resemblance.h"
#include "core/fingerprint/hamming.h"
#include "pairs/stored_texts.h"
#include "server/arguments.h"
#include "server/source.h"
#include "server/spill.h"

#define NO_NUMBER PG_UINT32_MAX

/* Offsets of sets that are not in the file. */
#define NO_SET INT64CONST(-1)
#define MADE_ONCE INT64CONST(-2)

/*
 * The summary of a set: the number of its words, and for shingles which remainders of
 * SUMMARY_BITS occur among their hashes. A bit that only one of two sets
 * has is a shingle that they do not share. So most sets that do not resemble each
 * other need no merge. The remainders of FIRST_BITS, which are compared first, tell
 * short sets apart, and need less of the processor's cache.
 */
#define FIRST_BITS 1024
#define SUMMARY_BITS 4096

typedef struct Summary
{
	uint32 n;
	uint32 n_first;
	uint32 n_bits;
	uint64 first[FIRST_BITS / 64];
	uint64 bits[SUMMARY_BITS / 64];
} Summary;

/* A summary in memory, in the slot that its number gives. */
typedef struct SummarySlot
{
	uint32 number;
	Summary summary;
} SummarySlot;

struct SimdupStoredTexts
{
	SimdupShingling shingling;
	bool by_sketch;	 /* contents are sketches, not texts */
	int sketch_bits; /* of the first sketch */
	uint32 n;		 /* rows */
	/* equal contents once; NULL: the caller keeps all */
	SimdupKeys *store;
	SimdupKeyIds *numbers;
	uint32 *number_of; /* in the store, by row */
	Size room;
	uint32 most_numbers;  /* contents beyond have a number for each row */
	SimdupPairSort *late; /* their hashes and rows */
	Datum (*get)(void *arg, uint32 number); /* a content by its number */
	void *arg;
	SimdupTempFile *sets; /* summary, words; of those that were made twice */
	int64 *set_at; /* by number: offset in the file, if it is not below 0 */
	SummarySlot *slots;
	uint32 n_slots;
	SummarySlot compared; /* the row that is compared with others */
	/* two sets at hand, each in a context of its own */
	SimdupHashes loaded[2];
	uint32 loaded_number[2];
	MemoryContext loaded_context[2];
};

/* Begin a store, without a place for contents. */
static SimdupStoredTexts *
begin_sets(SimdupShingling shingling)
{
	SimdupStoredTexts *contents = palloc0(sizeof(SimdupStoredTexts));

	contents->shingling = shingling;
	for (int i = 0; i < 2; i++)
	{
		contents->loaded_context[i] =
			AllocSetContextCreate(CurrentMemoryContext, "simdup shingle set",
								  ALLOCSET_DEFAULT_SIZES);
		contents->loaded_number[i] = NO_NUMBER;
	}
	contents->compared.number = NO_NUMBER;
	return contents;
}

/* Return a content from the store: a getter. */
static Datum
get_stored(void *store, uint32 number)
{
	return simdup_keys_get(store, number, 0);
}

SimdupStoredTexts *
simdup_stored_texts_begin(SimdupShingling shingling, Oid type, Size memory)
{
	SimdupStoredTexts *contents = begin_sets(shingling);

	contents->by_sketch = getBaseType(type) == VARBITOID;
	/* bytes are compared, not by a collation */
	contents->store = simdup_keys_begin(BYTEAOID, memory);
	contents->numbers =
		simdup_keyids_begin(contents->store, BYTEAOID, InvalidOid);
	contents->number_of =
		simdup_grow(NULL, &contents->room, 16, sizeof(uint32));
	contents->most_numbers = simdup_keyids_limit(contents->numbers, memory / 2);
	contents->late = simdup_pairsort_begin((int64) memory / 4);
	contents->get = get_stored;
	contents->arg = contents->store;
	return contents;
}

SimdupStoredTexts *
simdup_text_cache_begin(SimdupShingling shingling, uint32 n,
						Datum (*get)(void *arg, uint32 number), void *arg,
						Size memory)
{
	SimdupStoredTexts *contents = begin_sets(shingling);

	contents->n = n;
	contents->get = get;
	contents->arg = arg;
	simdup_stored_texts_finish(contents, memory);
	return contents;
}

void
simdup_stored_texts_end(SimdupStoredTexts *contents)
{
	if (contents->store != NULL)
		simdup_keys_end(contents->store);
	if (contents->late != NULL)
		simdup_pairsort_end(contents->late);
	simdup_tempfile_close(contents->sets);
}

void
simdup_stored_texts_add(SimdupStoredTexts *contents, Datum content)
{
	uint32 n_known = simdup_keyids_count(contents->numbers);
	const void *bytes = PG_DETOAST_DATUM(content);

	content = PointerGetDatum(bytes);
	if (contents->by_sketch)
	{
		int bits = VARBITLEN(DatumGetVarBitP(content));

		if (contents->n == 0)
			contents->sketch_bits = bits;
		simdup_check_sketch_bits(contents->sketch_bits, bits);
	}
	contents->number_of = simdup_grow(contents->number_of, &contents->room,
									  (Size) contents->n + 1, sizeof(uint32));
	simdup_keyids_get(contents->numbers, &content, 1,
					  &contents->number_of[contents->n]);
	if (contents->number_of[contents->n++] < n_known)
		return;
	if (n_known >= contents->most_numbers)
		simdup_pairsort_put(contents->late,
							simdup_city64(VARDATA(bytes),
										  VARSIZE(bytes) - VARHDRSZ),
							contents->n - 1);
}

/* Check whether two stored contents have the same bytes. */
static bool
are_equal(SimdupStoredTexts *contents, uint32 a, uint32 b)
{
	const void *x = DatumGetPointer(simdup_keys_get(contents->store, a, 0));
	const void *y = DatumGetPointer(simdup_keys_get(contents->store, b, 1));

	return VARSIZE(x) == VARSIZE(y) && memcmp(x, y, VARSIZE(x)) == 0;
}

/* Give equal contents one number where they came late. */
static void
number_late(SimdupStoredTexts *contents)
{
	uint32 *numbers = NULL; /* of different contents with one hash */
	Size room = 0;
	Size n = 0;
	uint64 last = 0;
	uint64 hash;
	uint64 row;

	simdup_pairsort_perform(contents->late);
	while (simdup_pairsort_get(contents->late, &hash, &row))
	{
		Size i = 0;

		CHECK_FOR_INTERRUPTS();
		if (hash != last)
			n = 0;
		last = hash;
		while (i < n &&
			   !are_equal(contents, numbers[i], contents->number_of[row]))
			i++;
		numbers = simdup_grow(numbers, &room, n + 1, sizeof(uint32));
		if (i == n)
			numbers[n++] = contents->number_of[row];
		contents->number_of[row] = numbers[i];
	}
	simdup_free(numbers);
	simdup_pairsort_end(contents->late);
	contents->late = NULL;
}

void
simdup_stored_texts_finish(SimdupStoredTexts *contents, Size memory)
{
	Size n_slots = Max(memory / 2 / sizeof(SummarySlot), 16);

	if (contents->late != NULL)
		number_late(contents);
	contents->set_at = simdup_alloc(((Size) contents->n + 1) * sizeof(int64));
	for (uint32 i = 0; i < contents->n; i++)
		contents->set_at[i] = NO_SET;
	n_slots = Min(n_slots, (Size) contents->n + 1);
	contents->n_slots = (uint32) n_slots;
	contents->slots = simdup_alloc(contents->n_slots * sizeof(SummarySlot));
	for (uint32 i = 0; i < contents->n_slots; i++)
		contents->slots[i].number = NO_NUMBER;
	contents->sets =
		simdup_tempfile_create_cached(memory -
										  Min(memory,
											  n_slots * sizeof(SummarySlot)),
									  0);
}

uint32
simdup_stored_texts_number(const SimdupStoredTexts *contents, uint32 row)
{
	return contents->number_of == NULL ? row : contents->number_of[row];
}

Datum
simdup_stored_texts_get(SimdupStoredTexts *contents, uint32 row)
{
	return contents->get(contents->arg,
						 simdup_stored_texts_number(contents, row));
}

/* Return the bits of a sketch in words, the last filled with 0. */
static SimdupHashes
sketch_words(VarBit *sketch)
{
	size_t n = ((size_t) VARBITBYTES(sketch) + 7) / 8;
	SimdupHashes words = {palloc0(n * sizeof(uint64)), n, n};

	memcpy(words.hashes, VARBITS(sketch), (Size) VARBITBYTES(sketch));
	return words;
}

/* Set a bit. Return whether it was not set. */
static bool
set_bit(uint64 *bits, uint64 bit)
{
	uint64 before = bits[bit / 64];

	bits[bit / 64] |= UINT64CONST(1) << bit % 64;
	return bits[bit / 64] != before;
}

/*
 * Make the words of a content, which are the ascending hashes of its shingles or its
 * bits, in a buffer, and their summary. Most contents are compared with others at one
 * time alone. So only words that are made again are kept in the file.
 */
static void
make_set(SimdupStoredTexts *contents, uint32 number, int buffer)
{
	SummarySlot *slot = &contents->slots[number % contents->n_slots];
	MemoryContext context = contents->loaded_context[buffer];
	MemoryContext old;
	Datum content;
	SimdupHashes set;

	contents->loaded_number[buffer] = slot->number = NO_NUMBER;
	MemoryContextReset(context);
	old = MemoryContextSwitchTo(context);
	content = contents->get(contents->arg, number);
	set =
		contents->by_sketch
			? sketch_words(DatumGetVarBitP(content))
			: simdup_element_set(contents->shingling,
								 simdup_text_to_utf8(DatumGetTextPP(content)));
	MemoryContextSwitchTo(old);
	slot->summary = (Summary){.n = (uint32) set.n};
	for (size_t i = 0; i < set.n; i++)
	{
		slot->summary.n_first +=
			set_bit(slot->summary.first, set.hashes[i] % FIRST_BITS);
		slot->summary.n_bits +=
			set_bit(slot->summary.bits, set.hashes[i] % SUMMARY_BITS);
	}
	if (contents->set_at[number] == MADE_ONCE)
	{
		contents->set_at[number] =
			simdup_tempfile_append(contents->sets, &slot->summary,
								   sizeof(Summary));
		simdup_tempfile_append(contents->sets, set.hashes,
							   set.n * sizeof(uint64));
	}
	else
		contents->set_at[number] = MADE_ONCE;
	contents->loaded[buffer] = set;
	contents->loaded_number[buffer] = slot->number = number;
}

/* Return a summary, valid until the next call. To make it may need the buffer. */
static const Summary *
summary_of(SimdupStoredTexts *contents, uint32 number, int buffer)
{
	SummarySlot *slot = &contents->slots[number % contents->n_slots];

	if (slot->number == number)
		return &slot->summary;
	slot->number = NO_NUMBER;
	if (contents->set_at[number] < 0)
		make_set(contents, number, buffer);
	else
		simdup_tempfile_read(contents->sets, contents->set_at[number],
							 &slot->summary, sizeof(Summary));
	slot->number = number;
	return &slot->summary;
}

bool
simdup_stored_texts_has_shingle(SimdupStoredTexts *contents, uint32 row)
{
	return summary_of(contents, simdup_stored_texts_number(contents, row), 0)
			   ->n > 0;
}

/* Return the words of a content, valid until the next call with this buffer. */
static const SimdupHashes *
set_of(SimdupStoredTexts *contents, uint32 number, int buffer)
{
	SimdupHashes *set = &contents->loaded[buffer];

	if (contents->loaded_number[buffer] == number)
		return set;
	if (contents->set_at[number] < 0)
	{
		make_set(contents, number, buffer);
		return set;
	}
	contents->loaded_number[buffer] = NO_NUMBER;
	MemoryContextReset(contents->loaded_context[buffer]);
	set->n = summary_of(contents, number, buffer)->n;
	set->hashes = MemoryContextAllocHuge(contents->loaded_context[buffer],
										 (set->n + 1) * sizeof(uint64));
	simdup_tempfile_read(contents->sets,
						 contents->set_at[number] + (int64) sizeof(Summary),
						 set->hashes, set->n * sizeof(uint64));
	contents->loaded_number[buffer] = number;
	return set;
}

/* Return the most shingles that two sets share, if they share these bits. */
static uint32
most_common(const Summary *a, const Summary *b, uint32 a_bits, uint32 b_bits,
			uint32 both)
{
	return Min(a->n - (a_bits - both), b->n - (b_bits - both));
}

/* Check whether two sets of shingles may resemble each other this much. */
SIMDUP_POPCNT_CLONES
static bool
may_resemble(const Summary *a, const Summary *b, double min_resemblance)
{
	double sum = (double) a->n + b->n;
	uint32 both = 0;
	uint32 common;

	for (int i = 0; i < FIRST_BITS / 64; i++)
		both += (uint32) simdup_popcount64(a->first[i] & b->first[i]);
	common = most_common(a, b, a->n_first, b->n_first, both);
	if (common / (sum - common) < min_resemblance)
		return false;
	both = 0;
	for (int i = 0; i < SUMMARY_BITS / 64; i++)
		both += (uint32) simdup_popcount64(a->bits[i] & b->bits[i]);
	common = most_common(a, b, a->n_bits, b->n_bits, both);
	return common / (sum - common) >= min_resemblance;
}

double
simdup_stored_texts_resemblance(SimdupStoredTexts *contents, uint32 a, uint32 b,
								double min_resemblance)
{
	const SimdupHashes *x;
	const SimdupHashes *y;
	double resemblance = 0;
	int distance = 0;
	uint32 own = simdup_stored_texts_number(contents, a);
	uint32 other = simdup_stored_texts_number(contents, b);

	if (contents->compared.number != own)
		contents->compared = (SummarySlot){own, *summary_of(contents, own, 0)};
	if (!contents->by_sketch && contents->compared.summary.n > 0 &&
		!may_resemble(&contents->compared.summary,
					  summary_of(contents, other, 1), min_resemblance))
		return -1;
	x = set_of(contents, own, 0);
	y = set_of(contents, other, 1);
	if (!contents->by_sketch && x->n > 0 && y->n > 0)
		return simdup_resemblance_from(x, y, min_resemblance);
	for (size_t i = 0; contents->by_sketch && i < x->n; i++)
		distance += simdup_hamming64(x->hashes[i], y->hashes[i]);
	if (contents->by_sketch && x->n > 0)
		resemblance =
			simdup_agreement_resemblance(distance, contents->sketch_bits);
	return resemblance >= min_resemblance ? resemblance : -1;
}

/*
 * contents.c
 *	  The contents of many rows on disk, to be compared in pairs.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varbit.h"

#include "core/folded.h"
#include "core/hamming.h"
#include "core/hash.h"
#include "core/statistics.h"
#include "server/arguments.h"
#include "server/spill.h"
#include "shingles/contents.h"
#include "text/minhash64.h"

#define NO_NUMBER PG_UINT32_MAX
#define NO_SET INT64CONST(-1)

/* Where a content is. The next row's place ends it. */
typedef struct Place
{
	int64 offset; /* in the file of bytes */
	uint64 digest;
} Place;

/*
 * What is known of a set without its words: their number, and for shingles which
 * values of SUMMARY_BITS occur among their hashes. A bit that only one of two sets
 * has is a shingle that they do not share. So most sets that do not resemble each
 * other need no merge.
 */
#define SUMMARY_BITS 4096

typedef struct Summary
{
	uint64 n;
	uint64 bits[SUMMARY_BITS / 64];
} Summary;

/* A summary in memory, in the slot that its number gives. */
typedef struct Slot
{
	uint32 number;
	Summary summary;
} Slot;

/* A content in memory, as a datum. */
typedef struct LoadedContent
{
	char *datum;
	Size size;
	uint32 number;
} LoadedContent;

struct SimdupContents
{
	MemoryContext context;
	MemoryContext set_context; /* reset after each set that is made */
	SimdupFoldedShingling shingling;
	bool by_sketch;	 /* contents are sketches, not texts */
	int sketch_bits; /* 0: before the first sketch */
	uint32 n;
	SimdupTempFile *bytes;	/* of the contents */
	SimdupTempFile *places; /* by number, and one more */
	SimdupTempFile *sets;	/* summary, words */
	int64 *set_at;			/* by number: offset in the file, or NO_SET */
	Slot *slots;
	uint32 n_slots;
	Summary summary; /* of the row that is compared with others */
	uint32 summary_number;
	LoadedContent buffers[2];
	SimdupHashes loaded[2];
	uint32 loaded_number[2];
};

SimdupContents *
simdup_contents_begin(SimdupFoldedShingling shingling)
{
	SimdupContents *contents = palloc0(sizeof(SimdupContents));

	contents->context = CurrentMemoryContext;
	contents->set_context =
		AllocSetContextCreate(contents->context, "simdup shingle set",
							  ALLOCSET_DEFAULT_SIZES);
	contents->shingling = shingling;
	contents->bytes = simdup_tempfile_create();
	contents->places = simdup_tempfile_create();
	contents->sets = simdup_tempfile_create();
	contents->loaded_number[0] = contents->loaded_number[1] = NO_NUMBER;
	contents->summary_number = NO_NUMBER;
	return contents;
}

void
simdup_contents_end(SimdupContents *contents)
{
	simdup_tempfile_close(contents->bytes);
	simdup_tempfile_close(contents->places);
	simdup_tempfile_close(contents->sets);
}

bool
simdup_contents_expect(SimdupContents *contents, Oid type)
{
	contents->by_sketch = getBaseType(type) == VARBITOID;
	return contents->by_sketch || simdup_is_text_type(type);
}

static void
add_place(SimdupContents *contents, int64 offset, uint64 digest)
{
	Place place = {offset, digest};

	simdup_tempfile_append(contents->places, &place, sizeof(place));
}

static void
check_sketch(SimdupContents *contents, Datum content)
{
	int bits;

	if (!contents->by_sketch)
		return;
	bits = VARBITLEN(DatumGetVarBitP(content));
	if (contents->sketch_bits == 0)
		contents->sketch_bits = bits;
	simdup_check_sketch_bits(contents->sketch_bits, bits);
}

void
simdup_contents_add(SimdupContents *contents, Datum content)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(content);
	size_t len = VARSIZE_ANY_EXHDR(value);

	check_sketch(contents, PointerGetDatum(value));
	add_place(contents,
			  simdup_tempfile_append(contents->bytes, VARDATA_ANY(value), len),
			  simdup_city64(VARDATA_ANY(value), len));
	contents->n++;
}

void
simdup_contents_finish(SimdupContents *contents, Size memory)
{
	Size n_slots = Max(memory / sizeof(Slot), 16);

	add_place(contents, simdup_tempfile_append(contents->bytes, "", 0), 0);
	contents->set_at =
		MemoryContextAllocHuge(contents->context,
							   ((Size) contents->n + 1) * sizeof(int64));
	for (uint32 i = 0; i < contents->n; i++)
		contents->set_at[i] = NO_SET;
	contents->n_slots = (uint32) Min(n_slots, (Size) contents->n + 1);
	contents->slots = MemoryContextAllocHuge(contents->context,
											 contents->n_slots * sizeof(Slot));
	for (uint32 i = 0; i < contents->n_slots; i++)
		contents->slots[i].number = NO_NUMBER;
}

static Place
place_of(SimdupContents *contents, uint32 number)
{
	Place place;

	simdup_tempfile_read(contents->places,
						 (int64) number * (int64) sizeof(place), &place,
						 sizeof(place));
	return place;
}

uint64
simdup_contents_digest(SimdupContents *contents, uint32 number)
{
	return place_of(contents, number).digest;
}

/* Read a content, valid until the next one of the same buffer. */
static Datum
read_content(SimdupContents *contents, uint32 number, int buffer)
{
	LoadedContent *to = &contents->buffers[buffer];
	int64 offset;
	Size len;

	if (to->datum != NULL && to->number == number)
		return PointerGetDatum(to->datum);
	offset = place_of(contents, number).offset;
	len = (Size) (place_of(contents, number + 1).offset - offset);
	to->number = NO_NUMBER;
	if (to->datum == NULL || len + VARHDRSZ > to->size)
	{
		if (to->datum != NULL)
			pfree(to->datum);
		to->size = len + VARHDRSZ;
		to->datum = MemoryContextAlloc(contents->context, to->size);
	}
	SET_VARSIZE(to->datum, len + VARHDRSZ);
	simdup_tempfile_read(contents->bytes, offset, VARDATA(to->datum), len);
	to->number = number;
	return PointerGetDatum(to->datum);
}

Datum
simdup_contents_get(SimdupContents *contents, uint32 number)
{
	return read_content(contents, number, 0);
}

bool
simdup_contents_equal(SimdupContents *contents, uint32 a, uint32 b)
{
	char *x;
	char *y;

	if (simdup_contents_digest(contents, a) !=
		simdup_contents_digest(contents, b))
		return false;
	x = DatumGetPointer(read_content(contents, a, 0));
	y = DatumGetPointer(read_content(contents, b, 1));
	return VARSIZE(x) == VARSIZE(y) && memcmp(x, y, VARSIZE(x)) == 0;
}

/* Return the bits of a sketch in words, the last filled with 0. */
static SimdupHashes
sketch_words(VarBit *sketch)
{
	SimdupHashes words = {0};
	int bytes = (int) VARBITBYTES(sketch);

	words.n = words.size = (size_t) (bytes + 7) / 8;
	words.hashes = palloc0(words.n * sizeof(uint64));
	memcpy(words.hashes, VARBITS(sketch), (Size) bytes);
	return words;
}

/*
 * Return the words of a content: the ascending hashes of its shingles, or its bits.
 */
static SimdupHashes
words_of(const SimdupContents *contents, Datum content)
{
	return contents->by_sketch
			   ? sketch_words(DatumGetVarBitP(content))
			   : simdup_element_set(contents->shingling,
									simdup_text_to_utf8(
										DatumGetTextPP(content)));
}

bool
simdup_contents_has_shingle(SimdupContents *contents, uint32 number)
{
	MemoryContext old;
	text *content;
	text *beginning;
	int len;
	int start;
	bool has_shingle;

	if (contents->by_sketch)
		return true;
	old = MemoryContextSwitchTo(contents->set_context);
	content = (text *) DatumGetPointer(read_content(contents, number, 0));
	len = (int) VARSIZE(content) - VARHDRSZ;
	/* nearly every text has one at its beginning */
	start = pg_mbcliplen(VARDATA(content), len, Min(len, 16));
	beginning = cstring_to_text_with_len(VARDATA(content), start);
	has_shingle =
		words_of(contents, PointerGetDatum(beginning)).n > 0 ||
		(start < len && words_of(contents, PointerGetDatum(content)).n > 0);
	MemoryContextSwitchTo(old);
	MemoryContextReset(contents->set_context);
	return has_shingle;
}

/* Return the resemblance of two sets of words; 0 if one is empty. */
static double
resemblance_of(const SimdupContents *contents, const SimdupHashes *a,
			   const SimdupHashes *b)
{
	int distance = 0;

	if (a->n == 0 || b->n == 0)
		return 0;
	if (!contents->by_sketch)
		return simdup_resemblance(a, b);
	for (size_t i = 0; i < a->n; i++)
		distance += simdup_hamming64(a->hashes[i], b->hashes[i]);
	return simdup_agreement_resemblance(distance, contents->sketch_bits);
}

static void
summarize(const SimdupHashes *set, Summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	summary->n = set->n;
	for (size_t i = 0; i < set->n; i++)
	{
		uint64 bit = set->hashes[i] % SUMMARY_BITS;

		summary->bits[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
}

/* Make the set of a content, and keep it in the file. */
static void
make_set(SimdupContents *contents, uint32 number)
{
	Summary summary;
	MemoryContext old = MemoryContextSwitchTo(contents->set_context);
	SimdupHashes set = words_of(contents, read_content(contents, number, 0));

	summarize(&set, &summary);
	contents->set_at[number] =
		simdup_tempfile_append(contents->sets, &summary, sizeof(summary));
	simdup_tempfile_append(contents->sets, set.hashes, set.n * sizeof(uint64));
	MemoryContextSwitchTo(old);
	MemoryContextReset(contents->set_context);
}

/* Valid until the next call. */
static const Summary *
summary_of(SimdupContents *contents, uint32 number)
{
	Slot *slot = &contents->slots[number % contents->n_slots];

	if (slot->number == number)
		return &slot->summary;
	slot->number = NO_NUMBER;
	if (contents->set_at[number] == NO_SET)
		make_set(contents, number);
	simdup_tempfile_read(contents->sets, contents->set_at[number],
						 &slot->summary, sizeof(Summary));
	slot->number = number;
	return &slot->summary;
}

const SimdupHashes *
simdup_contents_set(SimdupContents *contents, uint32 number, int buffer)
{
	SimdupHashes *set = &contents->loaded[buffer];

	if (contents->loaded_number[buffer] == number)
		return set;
	contents->loaded_number[buffer] = NO_NUMBER;
	set->n = (size_t) summary_of(contents, number)->n;
	if (set->n > set->size)
	{
		if (set->hashes != NULL)
			pfree(set->hashes);
		set->size = set->n;
		set->hashes = MemoryContextAllocHuge(contents->context,
											 set->size * sizeof(uint64));
	}
	simdup_tempfile_read(contents->sets,
						 contents->set_at[number] + (int64) sizeof(Summary),
						 set->hashes, set->n * sizeof(uint64));
	contents->loaded_number[buffer] = number;
	return set;
}

/* The bits of the first that the second does not have. */
SIMDUP_POPCNT_CLONES
static uint64
own_bits(const Summary *a, const Summary *b)
{
	uint64 own = 0;

	for (int i = 0; i < SUMMARY_BITS / 64; i++)
		own += (uint64) simdup_popcount64(a->bits[i] & ~b->bits[i]);
	return own;
}

/* Return the most that two sets of shingles can resemble each other. */
static double
upper_bound(const Summary *a, const Summary *b)
{
	uint64 common = Min(a->n - own_bits(a, b), b->n - own_bits(b, a));

	return (double) common / (double) (a->n + b->n - common);
}

double
simdup_contents_resemblance(SimdupContents *contents, uint32 a, uint32 b,
							double min_resemblance)
{
	double resemblance;

	if (contents->summary_number != a)
	{
		contents->summary = *summary_of(contents, a);
		contents->summary_number = a;
	}
	if (!contents->by_sketch && contents->summary.n > 0 &&
		upper_bound(&contents->summary, summary_of(contents, b)) <
			min_resemblance)
		return -1;
	resemblance = resemblance_of(contents, simdup_contents_set(contents, a, 0),
								 simdup_contents_set(contents, b, 1));
	return resemblance >= min_resemblance ? resemblance : -1;
}

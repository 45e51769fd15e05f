/*
 * window.c
 *	  Feature bitmaps, their Jaccard similarity, and the sliding window of class
 *	  representatives as a window function.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/memutils.h"
#include "utils/varbit.h"
#include "windowapi.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "text/simhash.h"

#define BITMAP_MAX_WORDS (SIMDUP_BITMAP_MAX_BITS / 64)

PG_FUNCTION_INFO_V1(simdup_bitmap);
/* Return a bitmap: bit hash mod n_bits is 1 for each feature. */
Datum
simdup_bitmap(PG_FUNCTION_ARGS)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(PG_GETARG_TEXT_PP(0));
	int n_bits = simdup_check_range(PG_GETARG_INT32(1), 1,
									SIMDUP_BITMAP_MAX_BITS, "number of bits");
	SimdupProfile profile = {.tokenizer =
								 simdup_parse_tokenizer(PG_GETARG_TEXT_PP(2)),
							 .weighting = SIMDUP_WEIGHTING_SET,
							 .hash = SIMDUP_HASH_CITY64};
	SimdupTokenCounts features;
	VarBit *bitmap;

	simdup_collect_features(&features, &profile, utf8, NULL);
	if (features.count == 0)
		PG_RETURN_NULL();

	bitmap = palloc0(VARBITTOTALLEN(n_bits));
	SET_VARSIZE(bitmap, VARBITTOTALLEN(n_bits));
	VARBITLEN(bitmap) = n_bits;
	for (size_t i = 0; i < features.count; i++)
	{
		int bit = (int) (features.features[i].hash % (uint64) n_bits);

		VARBITS(bitmap)[bit / BITS_PER_BYTE] |= 0x80 >> bit % BITS_PER_BYTE;
	}
	simdup_token_counts_free(&features);
	PG_RETURN_VARBIT_P(bitmap);
}

/* Copy a bitmap to words. The byte order is free, if all bitmaps agree in it. */
static size_t
load_bitmap(VarBit *bitmap, uint64 *words)
{
	size_t n_words = (VARBITLEN(bitmap) + 63) / 64;

	if (VARBITLEN(bitmap) > SIMDUP_BITMAP_MAX_BITS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("bitmap must not have more than %d bits",
					   SIMDUP_BITMAP_MAX_BITS),
				errdetail("It has %d bits.", VARBITLEN(bitmap)));
	if (n_words > 0)
		words[n_words - 1] = 0;
	memcpy(words, VARBITS(bitmap), VARBITBYTES(bitmap));
	return n_words;
}

static void
check_same_width(int expected, int width)
{
	if (expected != width)
		ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				errmsg("cannot compare bitmaps of different sizes"),
				errdetail("They have %d and %d bits.", expected, width));
}

PG_FUNCTION_INFO_V1(simdup_bitmap_similarity);
Datum
simdup_bitmap_similarity(PG_FUNCTION_ARGS)
{
	VarBit *a = PG_GETARG_VARBIT_P(0);
	VarBit *b = PG_GETARG_VARBIT_P(1);
	uint64 words_a[BITMAP_MAX_WORDS];
	uint64 words_b[BITMAP_MAX_WORDS];
	uint64 both;
	uint64 either;
	size_t n_words;

	check_same_width(VARBITLEN(a), VARBITLEN(b));
	n_words = load_bitmap(a, words_a);
	load_bitmap(b, words_b);
	simdup_bitmap_counts(words_a, words_b, n_words, &both, &either);
	if (either == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) both / (double) either);
}

/* Partition-local memory starts zeroed. */
typedef struct PartitionState
{
	SimdupRepresentatives *window;
	int n_bits;
} PartitionState;

/* Begin a partition. Its options are those of its first row. */
static void
begin_partition(PartitionState *state, WindowObject winobj, int n_bits)
{
	bool size_isnull;
	bool threshold_isnull;
	int32 size = DatumGetInt32(WinGetFuncArgCurrent(winobj, 1, &size_isnull));
	Datum given = WinGetFuncArgCurrent(winobj, 2, &threshold_isnull);
	double threshold;
	MemoryContext old;

	simdup_check_not_null(size_isnull, "window_size");
	simdup_check_not_null(threshold_isnull, "threshold");
	threshold = simdup_check_share(DatumGetFloat8(given), "threshold");
	simdup_check_range(size, 1, PG_INT32_MAX, "window size");

	/* the window lives in the partition's memory, as long as the partition */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	state->n_bits = n_bits;
	state->window =
		simdup_representatives_create((size_t) Max(1, (n_bits + 63) / 64), size,
									  threshold);
	MemoryContextSwitchTo(old);
}

PG_FUNCTION_INFO_V1(simdup_window);
Datum
simdup_window(PG_FUNCTION_ARGS)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	PartitionState *state =
		WinGetPartitionLocalMemory(winobj, sizeof(PartitionState));
	uint64 words[BITMAP_MAX_WORDS] = {0};
	VarBit *bitmap;
	Datum value;
	bool isnull;
	int64 number;
	MemoryContext old;

	SIMDUP_REFUSE_NULL_TREATMENT(winobj, fcinfo);
	/* no earlier row is ever asked for again */
	WinSetMarkPosition(winobj, WinGetCurrentPosition(winobj));
	value = WinGetFuncArgCurrent(winobj, 0, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	bitmap = DatumGetVarBitP(value);
	load_bitmap(bitmap, words);
	if (state->window == NULL)
		begin_partition(state, winobj, VARBITLEN(bitmap));
	check_same_width(state->n_bits, VARBITLEN(bitmap));

	old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	number = simdup_representatives_next(state->window, words);
	MemoryContextSwitchTo(old);
	PG_RETURN_INT64(number);
}

/*
 * text_ops.c
 *	  Texts in a hamming index: the operators of text_ops, and simdup_resembles.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "core/compare/resemblance.h"
#include "core/compare/statistics.h"
#include "index/planner.h"
#include "server/arguments.h"
#include "text/minhash64.h"
#include "type/simhash64.h"

/*
 * What is known of a text that a function is called with again and again. A
 * query compares one text with many rows, and fingerprints it once. A copy of
 * its bytes tells whether it is still the same. Begins as {0}.
 */
typedef struct KnownText
{
	char *bytes; /* a copy of the text, unless it is too long to remember */
	size_t len;
	size_t size; /* of bytes */
	bool is_known;
	bool has_fp;
	uint64 fp; /* minhash64(content) */
	bool has_set;
	SimdupHashes set;
} KnownText;

/* Longer texts are not copied: to compare them is rare, and slow in any case. */
#define MAX_REMEMBERED (16 * 1024 * 1024)

/* Keep a copy of the text that is now known. */
static void
remember(KnownText *known, MemoryContext context, const char *bytes, size_t len)
{
	if (len > known->size)
	{
		if (known->bytes != NULL)
			pfree(known->bytes);
		known->bytes = NULL;
		known->size = 0;
		known->bytes = MemoryContextAlloc(context, 2 * len);
		known->size = 2 * len;
	}
	if (len > 0)
		memcpy(known->bytes, bytes, len);
	known->len = len;
	known->is_known = true;
}

/* Fill in the fingerprint of a text, unless it is the text of the last call. */
static void
know_text(KnownText *known, MemoryContext context, const text *content)
{
	const char *bytes = VARDATA_ANY(content);
	size_t len = VARSIZE_ANY_EXHDR(content);

	if (known->is_known && known->len == len &&
		memcmp(known->bytes, bytes, len) == 0)
		return;
	known->is_known = false;
	if (known->has_set)
		simdup_hashes_free(&known->set);
	known->set = (SimdupHashes){0};
	known->has_set = false;
	known->has_fp = simdup_text_minhash64(content, &known->fp);
	if (len <= MAX_REMEMBERED)
		remember(known, context, bytes, len);
}

/*
 * Return what is known of the two texts that a function is called with, and the
 * texts. Return NULL if one of them has no fingerprint.
 */
static KnownText *
known_arguments(FunctionCallInfo fcinfo, text *content[2])
{
	FmgrInfo *function = fcinfo->flinfo;
	KnownText *known = function->fn_extra;

	if (known == NULL)
		known = function->fn_extra =
			MemoryContextAllocZero(function->fn_mcxt, 2 * sizeof(*known));
	for (int i = 0; i < 2; i++)
	{
		content[i] = PG_GETARG_TEXT_PP(i);
		know_text(&known[i], function->fn_mcxt, content[i]);
		if (!known[i].has_fp)
			return NULL;
	}
	return known;
}

/* The elements of that text, ascending. Raises 54000 for too many. */
static const SimdupHashes *
known_set(KnownText *known, MemoryContext context, const text *content)
{
	if (!known->has_set)
	{
		SimdupUtf8 utf8 = simdup_text_to_utf8(content);
		MemoryContext caller = MemoryContextSwitchTo(context);

		known->set = simdup_element_set(simdup_default_shingling, utf8);
		known->has_set = true;
		MemoryContextSwitchTo(caller);
	}
	return &known->set;
}

/*
 * The operator class text_ops of hamming indexes: the fingerprint that the
 * index stores of a text, and the operators that the index answers.
 */

PG_FUNCTION_INFO_V1(simdup_text_fingerprint);
/* Compute support function 1: NULL for a text without a shingle. */
Datum
simdup_text_fingerprint(PG_FUNCTION_ARGS)
{
	uint64 fp;

	if (!simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_text_in_ball);
/* Compute content <~@ ball: false for a text without a shingle. */
Datum
simdup_text_in_ball(PG_FUNCTION_ARGS)
{
	uint64 fp;

	PG_RETURN_BOOL(simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp) &&
				   simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(1), fp));
}

PG_FUNCTION_INFO_V1(simdup_text_distance);
/* Compute a <~~> b: NULL for a text without a shingle. */
Datum
simdup_text_distance(PG_FUNCTION_ARGS)
{
	text *content[2];
	KnownText *known = known_arguments(fcinfo, content);

	if (known == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT32(simdup_hamming64(known[0].fp, known[1].fp));
}

/*
 * simdup_resembles: whether two texts share enough of their shingles.
 *
 * The fingerprints decide first, and the shingles are compared only if they are
 * near. So a hamming index on a column of texts finds all candidates, and the
 * executor verifies them. The answer is the same without the index.
 */

/* It takes longer to compute than a search, so the last one is remembered. */
int
simdup_largest_distance(double min_resemblance, double recall)
{
	static double last_min_resemblance = -1;
	static double last_recall = -1;
	static int last_distance;

	if (min_resemblance != last_min_resemblance || recall != last_recall)
	{
		last_distance = simdup_agreement_distance(min_resemblance, recall);
		last_min_resemblance = min_resemblance;
		last_recall = recall;
	}
	return last_distance;
}

PG_FUNCTION_INFO_V1(simdup_resembles);
/* Return simdup_resembles(content, query, min_resemblance, recall). */
Datum
simdup_resembles(PG_FUNCTION_ARGS)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	double min_resemblance =
		simdup_check_share(PG_GETARG_FLOAT8(2), "min_resemblance");
	double recall = simdup_check_share(PG_GETARG_FLOAT8(3), "recall");
	text *content[2];
	KnownText *known = known_arguments(fcinfo, content);

	if (known == NULL || simdup_hamming64(known[0].fp, known[1].fp) >
							 simdup_largest_distance(min_resemblance, recall))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(
		simdup_resemblance_from(known_set(&known[0], context, content[0]),
								known_set(&known[1], context, content[1]),
								min_resemblance) >= 0);
}

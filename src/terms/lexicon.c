/*
 * lexicon.c
 *	  The terms of a text, and terms given as an array, with weights.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "server/arguments.h"
#include "terms/lexicon.h"

SimdupFeatures
simdup_term_features(const text *content, SimdupTokenizer tokenizer)
{
	SimdupProfile profile = {.tokenizer = tokenizer,
							 .weighting = SIMDUP_WEIGHTING_TF,
							 .hash = SIMDUP_HASH_CITY64};
	SimdupFeatures features;

	simdup_collect_features(&features, &profile, simdup_text_to_utf8(content),
							NULL);
	return features;
}

SimdupTerm *
simdup_terms_of(const text *content, SimdupTokenizer tokenizer, size_t *n)
{
	SimdupFeatures features = simdup_term_features(content, tokenizer);
	SimdupTerm *terms =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   Max(features.count, 1) * sizeof(SimdupTerm));

	*n = features.count;
	for (size_t i = 0; i < features.count; i++)
	{
		terms[i].hash = features.features[i].hash;
		terms[i].weight = features.features[i].tf;
	}
	simdup_features_free(&features);
	simdup_terms_sort(terms, *n);
	return terms;
}

static bool
same_array(const ArrayType *a, const ArrayType *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

static ArrayType *
copy_array(const ArrayType *array)
{
	return array != NULL ? memcpy(palloc(VARSIZE(array)), array, VARSIZE(array))
						 : NULL;
}

static double
checked_weight(double weight)
{
	if (!(weight >= 0) || isinf(weight))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weights must be finite and not negative"),
				errdetail("One of the weights is %g.", weight));
	return weight;
}

static void
fill_lexicon(SimdupLexicon *lexicon, ArrayType *words, ArrayType *weights)
{
	Datum *elements;
	int n;
	int n_weights = 0;
	const float8 *values = NULL;

	simdup_check_array(words, "terms");
	if (weights != NULL)
		simdup_check_array(weights, "weights");
	deconstruct_array(words, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &n);
	if (weights != NULL)
	{
		n_weights = ArrayGetNItems(ARR_NDIM(weights), ARR_DIMS(weights));
		values = (const float8 *) ARR_DATA_PTR(weights);
		if (n_weights != n)
			ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("there must be as many weights as terms"),
					errdetail("There are %d terms and %d weights.", n,
							  n_weights));
	}

	lexicon->terms = palloc((Size) Max(n, 1) * sizeof(SimdupTerm));
	lexicon->n = (size_t) n;
	for (int i = 0; i < n; i++)
	{
		SimdupUtf8 word = simdup_text_to_utf8(DatumGetTextPP(elements[i]));

		lexicon->terms[i].hash = simdup_city64(word.bytes, word.len);
		lexicon->terms[i].weight =
			weights != NULL ? checked_weight(values[i]) : 0;
		lexicon->largest = Max(lexicon->largest, lexicon->terms[i].weight);
	}
	simdup_terms_sort(lexicon->terms, lexicon->n);
}

const SimdupLexicon *
simdup_get_lexicon(FunctionCallInfo fcinfo, ArrayType *words,
				   ArrayType *weights)
{
	SimdupLexicon *lexicon = fcinfo->flinfo->fn_extra;
	MemoryContext context;
	MemoryContext old;

	if (lexicon != NULL && same_array(lexicon->words, words) &&
		same_array(lexicon->weights, weights))
		return lexicon;
	fcinfo->flinfo->fn_extra = NULL;
	if (lexicon != NULL)
		MemoryContextDelete(lexicon->context);

	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup lexicon",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	lexicon = palloc0(sizeof(SimdupLexicon));
	lexicon->context = context;
	lexicon->words = copy_array(words);
	lexicon->weights = copy_array(weights);
	fill_lexicon(lexicon, lexicon->words, lexicon->weights);
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = lexicon;
	return lexicon;
}

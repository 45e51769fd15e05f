/*
 * terms.c
 *	  I-Match, the cosine of term frequencies, and the terms of many texts.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "text/simhash.h"

/* The terms of a text, and terms given as an array, with weights. */

/* Terms from an array, sorted by hash. */
typedef struct Lexicon
{
	SimdupMemo memo; /* of words and weights */
	SimdupTerm *terms;
	size_t n;
	double largest; /* weight */
} Lexicon;

static SimdupTokenCounts
term_features(const text *content, const text *tokenizer)
{
	SimdupProfile profile = {.tokenizer = simdup_parse_tokenizer(tokenizer),
							 .weighting = SIMDUP_WEIGHTING_TF,
							 .hash = SIMDUP_HASH_CITY64};
	SimdupTokenCounts features;

	simdup_collect_features(&features, &profile, simdup_text_to_utf8(content),
							NULL);
	return features;
}

/* Return the terms of a text, sorted by hash. */
static SimdupTerm *
terms_of(const text *content, const text *tokenizer, size_t *n)
{
	SimdupTokenCounts features = term_features(content, tokenizer);
	SimdupTerm *terms =
		simdup_alloc(Max(features.count, 1) * sizeof(SimdupTerm));

	*n = features.count;
	for (size_t i = 0; i < *n; i++)
		terms[i] =
			(SimdupTerm){features.features[i].hash, features.features[i].tf};
	simdup_token_counts_free(&features);
	simdup_terms_sort(terms, *n);
	return terms;
}

static void
fill_lexicon(void *memo)
{
	Lexicon *lexicon = memo;
	ArrayType *words = lexicon->memo.arrays[0];
	ArrayType *weights = lexicon->memo.arrays[1];
	SimdupUtf8 *texts;
	int n_weights = 0;
	const float8 *values = NULL;

	simdup_check_array(words, "terms");
	if (weights != NULL)
		values = simdup_array_elements(weights, "weights", &n_weights);
	texts = simdup_utf8_texts(words, &lexicon->n);
	if (weights != NULL && (size_t) n_weights != lexicon->n)
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("terms and weights must have the same length"),
				errdetail("There are %d terms and %d weights.",
						  (int) lexicon->n, n_weights));

	lexicon->terms = simdup_alloc((lexicon->n + 1) * sizeof(SimdupTerm));
	for (size_t i = 0; i < lexicon->n; i++)
	{
		double weight = weights != NULL ? values[i] : 0;

		simdup_check_weight(weight, (int) i + 1);
		lexicon->terms[i] =
			(SimdupTerm){simdup_city64(texts[i].bytes, texts[i].len), weight};
		lexicon->largest = Max(lexicon->largest, weight);
	}
	simdup_terms_sort(lexicon->terms, lexicon->n);
}

/*
 * The terms of all texts of an aggregate, with their document frequencies.
 *
 * The state of term_idf and imatch_lexicon grows with the distinct terms, as their
 * results do.
 */

/* The least and the greatest idf of a lexicon's terms, by default. */
#define MIN_IDF 1
#define MAX_IDF 7

typedef struct Corpus
{
	SimdupTokenCounts terms; /* tf: documents that have the term */
	int64 n_documents;		 /* that have a term */
	double min_idf;			 /* of a lexicon; those of the first row hold */
	double max_idf;
} Corpus;

/* A term in the order of bytes. The server's qsort can be left at any time. */
static int
compare_terms(const void *a, const void *b)
{
	const SimdupTokenCount *x = a;
	const SimdupTokenCount *y = b;

	simdup_check_interrupts();
	return simdup_bytes_order(x->bytes, x->len, y->bytes, y->len);
}

/* Return a new state, in the current memory context. */
static Corpus *
make_corpus(FunctionCallInfo fcinfo)
{
	Corpus *corpus = palloc0(sizeof(Corpus));

	corpus->min_idf = MIN_IDF;
	corpus->max_idf = MAX_IDF;
	if (PG_NARGS() == 5)
	{
		simdup_check_not_null(PG_ARGISNULL(2), "min_idf");
		simdup_check_not_null(PG_ARGISNULL(3), "max_idf");
		corpus->min_idf = PG_GETARG_FLOAT8(2);
		corpus->max_idf = PG_GETARG_FLOAT8(3);
		if (!(corpus->min_idf <= corpus->max_idf))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("min_idf must not be greater than max_idf"),
					errdetail("The bounds given are %s and %s.",
							  float8out_internal(corpus->min_idf),
							  float8out_internal(corpus->max_idf)));
	}
	simdup_token_counts_begin(&corpus->terms, SIMDUP_HASH_CITY64,
							  SIMDUP_WEIGHTING_TF, NULL, NULL, 0);
	return corpus;
}

PG_FUNCTION_INFO_V1(simdup_terms_accum);
/*
 * terms_accum(state, content), terms_accum(state, content, tokenizer) and
 * terms_accum(state, content, min_idf, max_idf, tokenizer)
 */
Datum
simdup_terms_accum(PG_FUNCTION_ARGS)
{
	int tokenizer = PG_NARGS() - 1;
	SimdupTokenCounts features;
	MemoryContext context;
	MemoryContext old;
	Corpus *corpus;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (tokenizer > 1)
		simdup_check_not_null(PG_ARGISNULL(tokenizer), "tokenizer");
	old = MemoryContextSwitchTo(context);
	corpus =
		PG_ARGISNULL(0) ? make_corpus(fcinfo) : (Corpus *) PG_GETARG_POINTER(0);
	MemoryContextSwitchTo(old);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(corpus);
	features = term_features(PG_GETARG_TEXT_PP(1),
							 tokenizer > 1 ? PG_GETARG_TEXT_PP(tokenizer)
										   : cstring_to_text("word"));
	corpus->n_documents += features.count > 0;
	MemoryContextSwitchTo(context);
	for (size_t i = 0; i < features.count; i++)
	{
		SimdupToken term = {features.features[i].bytes,
							features.features[i].len};

		simdup_check_interrupts_at(i);
		simdup_token_counts_add(&corpus->terms, &term, 1);
	}
	MemoryContextSwitchTo(old);
	simdup_token_counts_free(&features);
	PG_RETURN_POINTER(corpus);
}

PG_FUNCTION_INFO_V1(simdup_terms_final);
/*
 * Return the terms in the order of their bytes: for term_idf_final all, as rows with
 * documents and idf, for imatch_lexicon_final those whose idf is within the bounds.
 */
Datum
simdup_terms_final(PG_FUNCTION_ARGS)
{
	const Corpus *corpus =
		PG_ARGISNULL(0) ? NULL : (Corpus *) PG_GETARG_POINTER(0);
	Oid type = get_element_type(get_fn_expr_rettype(fcinfo->flinfo));
	TupleDesc row_type = NULL;
	ArrayBuildState *result;
	SimdupTokenCount *terms;
	size_t n;

	if (corpus == NULL)
		PG_RETURN_NULL();
	n = corpus->terms.count;
	terms = simdup_alloc((n + 1) * sizeof(*terms));
	memcpy(terms, corpus->terms.features, n * sizeof(*terms));
	qsort(terms, n, sizeof(*terms), compare_terms);
	if (type != TEXTOID)
		row_type = lookup_rowtype_tupdesc_copy(type, -1);
	result = initArrayResult(type, CurrentMemoryContext, false);
	for (size_t i = 0; i < n; i++)
	{
		double idf = log((double) corpus->n_documents / terms[i].tf);
		Datum values[] = {0, Int64GetDatum(terms[i].tf), Float8GetDatum(idf)};
		bool nulls[lengthof(values)] = {false};
		HeapTuple row = NULL;

		simdup_check_interrupts_at(i);
		if (row_type == NULL &&
			!(idf >= corpus->min_idf && idf <= corpus->max_idf))
			continue;
		values[0] =
			PointerGetDatum(simdup_utf8_to_text(terms[i].bytes, terms[i].len));
		if (row_type != NULL)
			row = heap_form_tuple(row_type, values, nulls);
		(void) accumArrayResult(result,
								row != NULL ? HeapTupleGetDatum(row)
											: values[0],
								false, type, CurrentMemoryContext);
		if (row != NULL)
			heap_freetuple(row);
		pfree(DatumGetPointer(values[0]));
	}
	PG_RETURN_DATUM(makeArrayResult(result, CurrentMemoryContext));
}

/* I-Match signatures and their lexicon (Chowdhury et al. 2002). */

#define MAX_LEXICONS 100

PG_FUNCTION_INFO_V1(simdup_imatch_fingerprints);
/* Return signatures by the whole lexicon, then by n_lexicons random parts of it. */
Datum
simdup_imatch_fingerprints(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon =
		simdup_memo(fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(1), NULL,
					sizeof(Lexicon), fill_lexicon);
	int n_lexicons = simdup_check_range(PG_GETARG_INT32(2), 0, MAX_LEXICONS,
										"number of random lexicons");
	double keep = PG_GETARG_FLOAT8(3);
	uint64 signatures[MAX_LEXICONS + 1];
	int n_signatures = 0;
	size_t n;
	SimdupTerm *terms;

	if (!(keep > 0 && keep < 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("keep must be greater than 0 and less than 1"),
				errdetail("The value given is %s.", float8out_internal(keep)));
	terms = terms_of(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(4), &n);
	for (int i = 0; i <= n_lexicons; i++)
		n_signatures +=
			simdup_imatch(terms, n, lexicon->terms, lexicon->n, (uint32) i,
						  keep, &signatures[n_signatures]);
	if (n_signatures == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(signatures, n_signatures, INT8OID));
}

/* Cosine of two texts in the vector space model, and its weights by idf. */

/* Beyond it, all weights are scaled, so that none overflows times a frequency. */
#define HUGE_WEIGHT 0x1p900

PG_FUNCTION_INFO_V1(simdup_term_cosine);
/* Return term_cosine(a, b, tokenizer) or term_cosine(a, b, terms, weights, tokenizer). */
Datum
simdup_term_cosine(PG_FUNCTION_ARGS)
{
	const text *tokenizer = PG_GETARG_TEXT_PP(PG_NARGS() - 1);
	const Lexicon *lexicon = NULL;
	SimdupTerm *terms[2];
	size_t n[2];
	double cosine;

	if (PG_NARGS() > 3)
		lexicon = simdup_memo(fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(2),
							  PG_GETARG_ARRAYTYPE_P(3), sizeof(Lexicon),
							  fill_lexicon);
	for (int i = 0; i < 2; i++)
	{
		terms[i] = terms_of(PG_GETARG_TEXT_PP(i), tokenizer, &n[i]);
		for (size_t j = 0; lexicon != NULL && j < n[i]; j++)
		{
			const SimdupTerm *known =
				simdup_terms_find(lexicon->terms, lexicon->n, terms[i][j].hash);

			/* a term that the corpus never had is as rare as any */
			terms[i][j].weight *=
				ldexp(known != NULL ? known->weight : lexicon->largest,
					  lexicon->largest > HUGE_WEIGHT ? -64 : 0);
			simdup_check_interrupts_at(j);
		}
	}
	if (!simdup_cosine(terms[0], n[0], terms[1], n[1], &cosine))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(cosine);
}

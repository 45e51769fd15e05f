/*
 * terms.c
 *	  I-Match, the cosine of term frequencies, and the terms of all texts of a
 *	  query.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/tuplesort.h"

#include "core/compare/resemblance.h"
#include "server/arguments.h"
#include "server/query.h"
#include "text/simhash.h"

/*
 * The terms of a text, and terms given as an array, with weights.
 */

/* Terms from an array, sorted by hash. */
typedef struct Lexicon
{
	SimdupMemo memo; /* of words and weights */
	SimdupTerm *terms;
	size_t n;
	double largest; /* weight */
} Lexicon;

static SimdupTokenCounts
term_features(const text *content, SimdupTokenizer tokenizer)
{
	SimdupProfile profile = {.tokenizer = tokenizer,
							 .weighting = SIMDUP_WEIGHTING_TF,
							 .hash = SIMDUP_HASH_CITY64};
	SimdupTokenCounts features;

	simdup_collect_features(&features, &profile, simdup_text_to_utf8(content),
							NULL);
	return features;
}

/* Return the terms of a text, sorted by hash. */
static SimdupTerm *
terms_of(const text *content, SimdupTokenizer tokenizer, size_t *n)
{
	SimdupTokenCounts features = term_features(content, tokenizer);
	SimdupTerm *terms =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   Max(features.count, 1) * sizeof(SimdupTerm));

	*n = features.count;
	for (size_t i = 0; i < features.count; i++)
	{
		terms[i].hash = features.features[i].hash;
		terms[i].weight = features.features[i].tf;
	}
	simdup_token_counts_free(&features);
	simdup_terms_sort(terms, *n);
	return terms;
}

static double
checked_weight(double weight)
{
	if (!(weight >= 0) || isinf(weight))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weights must be finite and not negative"),
				errdetail("One of the weights is %s.",
						  float8out_internal(weight)));
	return weight;
}

/* Make a lexicon of words and weights. */
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
				errmsg("there must be as many weights as terms"),
				errdetail("There are %d terms and %d weights.",
						  (int) lexicon->n, n_weights));

	lexicon->terms = palloc((lexicon->n + 1) * sizeof(SimdupTerm));
	for (size_t i = 0; i < lexicon->n; i++)
	{
		SimdupTerm *term = &lexicon->terms[i];

		term->hash = simdup_city64(texts[i].bytes, texts[i].len);
		term->weight = weights != NULL ? checked_weight(values[i]) : 0;
		lexicon->largest = Max(lexicon->largest, term->weight);
	}
	simdup_terms_sort(lexicon->terms, lexicon->n);
}

/* Return the lexicon of words, and of weights unless they are NULL. */
static const Lexicon *
get_lexicon(FunctionCallInfo fcinfo, ArrayType *words, ArrayType *weights)
{
	return simdup_memo(fcinfo->flinfo, words, weights, sizeof(Lexicon),
					   fill_lexicon);
}

/*
 * The terms of all texts of a query, with their document frequencies.
 */

/*
 * Receives a term, the number of documents that have it, and its inverse
 * document frequency, log(documents / documents with the term).
 */
typedef void (*TermSink)(void *arg, text *term, int64 n_documents, double idf);

/* Each document adds each of its terms once, so that runs of equal ones count. */
typedef struct Corpus
{
	const text *tokenizer; /* its name: the query may use up other ones */
	Tuplesortstate *sort;
	int64 n_documents;
} Corpus;

/* A SimdupColumnCheck. */
static bool
check_corpus_columns(void *arg pg_attribute_unused(), TupleDesc columns,
					 const char *argument pg_attribute_unused())
{
	return columns->natts == 1 &&
		   simdup_is_text_type(TupleDescAttr(columns, 0)->atttypid);
}

static void
add_corpus_row(void *arg, TupleTableSlot *row)
{
	Corpus *corpus = arg;
	SimdupTokenCounts features;

	if (row->tts_isnull[0])
		return;
	features = term_features(DatumGetTextPP(row->tts_values[0]),
							 simdup_parse_tokenizer(corpus->tokenizer));
	corpus->n_documents += features.count > 0;
	for (size_t i = 0; i < features.count; i++)
	{
		const SimdupTokenCount *feature = &features.features[i];

		CHECK_FOR_INTERRUPTS();
		tuplesort_putdatum(corpus->sort,
						   PointerGetDatum(simdup_utf8_to_text(feature->bytes,
															   feature->len)),
						   false);
	}
}

/* Walk the sorted terms: a run is one term, its length the documents. */
static void
count_terms(Corpus *corpus, TermSink sink, void *arg)
{
	text *last = NULL;
	int64 n = 0;
	Datum value;
	bool isnull;
	bool more = true;

	while (more)
	{
		text *term = NULL;

		CHECK_FOR_INTERRUPTS();
		more = simdup_tuplesort_getdatum(corpus->sort, &value, &isnull);
		if (more)
			term = (text *) DatumGetPointer(value);
		if (last != NULL && more && VARSIZE(last) == VARSIZE(term) &&
			memcmp(last, term, VARSIZE(last)) == 0)
		{
			n++;
			pfree(term);
			continue;
		}
		if (last != NULL)
		{
			sink(arg, last, n, log((double) corpus->n_documents / (double) n));
			pfree(last);
		}
		last = term;
		n = 1;
	}
}

/*
 * Run the query of one text column at argument 0, and hand on its terms in byte
 * order. Sorts on disk beyond maintenance_work_mem.
 */
static void
scan_corpus(FunctionCallInfo fcinfo, const text *tokenizer, TermSink sink,
			void *arg)
{
	Corpus corpus = {0};

	(void) simdup_parse_tokenizer(tokenizer); /* wrong names fail at once */
	corpus.tokenizer = tokenizer;
	corpus.sort =
		tuplesort_begin_datum(TEXTOID, TextLessOperator, C_COLLATION_OID, false,
							  maintenance_work_mem, NULL, TUPLESORT_NONE);
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query", "one column of type text",
									"content"},
					 simdup_parameters(fcinfo, 1), check_corpus_columns,
					 add_corpus_row, &corpus);
	tuplesort_performsort(corpus.sort);
	count_terms(&corpus, sink, arg);
	tuplesort_end(corpus.sort);
}

/*
 * I-Match signatures and their lexicon (Chowdhury et al. 2002).
 */

#define MAX_LEXICONS 100

PG_FUNCTION_INFO_V1(simdup_imatch_fingerprint);
Datum
simdup_imatch_fingerprint(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon =
		get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(1), NULL);
	size_t n;
	SimdupTerm *terms =
		terms_of(PG_GETARG_TEXT_PP(0),
				 simdup_parse_tokenizer(PG_GETARG_TEXT_PP(2)), &n);
	uint64 signature;

	if (!simdup_imatch(terms, n, lexicon->terms, lexicon->n, 0, 1, &signature))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) signature);
}

PG_FUNCTION_INFO_V1(simdup_imatch_fingerprints);
/*
 * Return signatures by the whole lexicon, then by n_lexicons random parts of
 * it.
 */
Datum
simdup_imatch_fingerprints(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon =
		get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(1), NULL);
	int n_lexicons = simdup_check_range(PG_GETARG_INT32(2), 0, MAX_LEXICONS,
										"number of random lexicons",
										"The number given is %d.");
	double keep = PG_GETARG_FLOAT8(3);
	uint64 signatures[MAX_LEXICONS + 1];
	int n_signatures = 0;
	size_t n;
	SimdupTerm *terms;

	if (!(keep > 0 && keep < 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("keep must be between 0 and 1"),
				errdetail("The share given is %s.", float8out_internal(keep)),
				errhint("A random lexicon keeps this share of the terms."));
	terms = terms_of(PG_GETARG_TEXT_PP(0),
					 simdup_parse_tokenizer(PG_GETARG_TEXT_PP(4)), &n);
	for (int i = 0; i <= n_lexicons; i++)
		n_signatures +=
			simdup_imatch(terms, n, lexicon->terms, lexicon->n, (uint32) i,
						  keep, &signatures[n_signatures]);
	if (n_signatures == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(signatures, n_signatures, INT8OID));
}

typedef struct LexiconTerms
{
	double min_idf;
	double max_idf;
	ArrayBuildState *terms;
} LexiconTerms;

/* A TermSink: a term of imatch_lexicon. */
static void
put_lexicon_term(void *arg, text *term, int64 n_documents pg_attribute_unused(),
				 double idf)
{
	LexiconTerms *lexicon = arg;

	if (idf >= lexicon->min_idf && idf <= lexicon->max_idf)
		lexicon->terms = accumArrayResult(lexicon->terms, PointerGetDatum(term),
										  false, TEXTOID, CurrentMemoryContext);
}

PG_FUNCTION_INFO_V1(simdup_imatch_lexicon);
Datum
simdup_imatch_lexicon(PG_FUNCTION_ARGS)
{
	LexiconTerms lexicon = {0};

	if (simdup_has_null(fcinfo, 0, 4))
		PG_RETURN_NULL();
	lexicon.min_idf = PG_GETARG_FLOAT8(1);
	lexicon.max_idf = PG_GETARG_FLOAT8(2);
	if (!(lexicon.min_idf <= lexicon.max_idf))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_idf must not be greater than max_idf"),
				errdetail("The bounds given are %s and %s.",
						  float8out_internal(lexicon.min_idf),
						  float8out_internal(lexicon.max_idf)));
	scan_corpus(fcinfo, PG_GETARG_TEXT_PP(3), put_lexicon_term, &lexicon);
	if (lexicon.terms == NULL)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_DATUM(makeArrayResult(lexicon.terms, CurrentMemoryContext));
}

/*
 * Cosine of two texts in the vector space model, and its weights by idf.
 */

static Datum
cosine_of(FunctionCallInfo fcinfo, const Lexicon *lexicon,
		  const text *tokenizer)
{
	SimdupTokenizer parsed = simdup_parse_tokenizer(tokenizer);
	SimdupTerm *terms[2];
	size_t n[2];
	double cosine;

	for (int i = 0; i < 2; i++)
	{
		terms[i] = terms_of(PG_GETARG_TEXT_PP(i), parsed, &n[i]);
		for (size_t j = 0; lexicon != NULL && j < n[i]; j++)
		{
			const SimdupTerm *known =
				simdup_terms_find(lexicon->terms, lexicon->n, terms[i][j].hash);

			/* a term that the corpus never had is as rare as any */
			terms[i][j].weight *=
				known != NULL ? known->weight : lexicon->largest;
		}
	}
	if (!simdup_cosine(terms[0], n[0], terms[1], n[1], &cosine))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(cosine);
}

PG_FUNCTION_INFO_V1(simdup_term_cosine);
Datum
simdup_term_cosine(PG_FUNCTION_ARGS)
{
	return cosine_of(fcinfo, NULL, PG_GETARG_TEXT_PP(2));
}

PG_FUNCTION_INFO_V1(simdup_term_cosine_weighted);
Datum
simdup_term_cosine_weighted(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon =
		get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(2), PG_GETARG_ARRAYTYPE_P(3));

	return cosine_of(fcinfo, lexicon, PG_GETARG_TEXT_PP(4));
}

/* Put a row of term_idf: a TermSink. */
static void
put_term_row(void *arg, text *term, int64 n_documents, double idf)
{
	Datum values[] = {PointerGetDatum(term), Int64GetDatum(n_documents),
					  Float8GetDatum(idf)};

	simdup_put_result(arg, values, NULL);
}

PG_FUNCTION_INFO_V1(simdup_term_idf);
Datum
simdup_term_idf(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	scan_corpus(fcinfo, PG_GETARG_TEXT_PP(1), put_term_row, result);
	return (Datum) 0;
}

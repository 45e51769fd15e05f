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
#include "core/host.h"
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
		double weight = weights != NULL ? values[i] : 0;

		if (!(weight >= 0) || isinf(weight))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("weights must be finite and not negative"),
					errdetail("One of the weights is %s.",
							  float8out_internal(weight)));
		lexicon->terms[i] =
			(SimdupTerm){simdup_city64(texts[i].bytes, texts[i].len), weight};
		lexicon->largest = Max(lexicon->largest, weight);
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

/* Each document adds each of its terms once, so that runs of equal ones count. */
typedef struct Corpus
{
	const text *tokenizer; /* its name: the query may use up other ones */
	Tuplesortstate *sort;
	int64 n_documents;
	text *next; /* term; NULL: there are no more */
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
	features =
		term_features(DatumGetTextPP(row->tts_values[0]), corpus->tokenizer);
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

static text *
read_term(Corpus *corpus)
{
	Datum value;
	bool isnull;

	CHECK_FOR_INTERRUPTS();
	return simdup_tuplesort_getdatum(corpus->sort, &value, &isnull)
			   ? (text *) DatumGetPointer(value)
			   : NULL;
}

/*
 * Run the query of one text column at argument 0, and sort its terms, on disk
 * beyond maintenance_work_mem.
 */
static Corpus
read_corpus(FunctionCallInfo fcinfo, const text *tokenizer)
{
	Corpus corpus = {.tokenizer = tokenizer};

	(void) simdup_parse_tokenizer(tokenizer); /* wrong names fail at once */
	corpus.sort =
		tuplesort_begin_datum(TEXTOID, TextLessOperator, C_COLLATION_OID, false,
							  maintenance_work_mem, NULL, TUPLESORT_NONE);
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query", "one column of type text",
									"content"},
					 simdup_parameters(fcinfo, 1), check_corpus_columns,
					 add_corpus_row, &corpus);
	tuplesort_performsort(corpus.sort);
	corpus.next = read_term(&corpus);
	return corpus;
}

/*
 * Return the next term in byte order, the number of documents that have it, and its
 * inverse document frequency, log(documents / documents with the term). NULL at the
 * end.
 */
static text *
next_term(Corpus *corpus, int64 *n_documents, double *idf)
{
	text *term = corpus->next;

	if (term == NULL)
	{
		tuplesort_end(corpus->sort);
		return NULL;
	}
	*n_documents = 1;
	while ((corpus->next = read_term(corpus)) != NULL &&
		   VARSIZE(corpus->next) == VARSIZE(term) &&
		   memcmp(corpus->next, term, VARSIZE(term)) == 0)
	{
		(*n_documents)++;
		pfree(corpus->next);
	}
	*idf = log((double) corpus->n_documents / (double) *n_documents);
	return term;
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
		terms_of(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(2), &n);
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
	terms = terms_of(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(4), &n);
	for (int i = 0; i <= n_lexicons; i++)
		n_signatures +=
			simdup_imatch(terms, n, lexicon->terms, lexicon->n, (uint32) i,
						  keep, &signatures[n_signatures]);
	if (n_signatures == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_make_array(signatures, n_signatures, INT8OID));
}

PG_FUNCTION_INFO_V1(simdup_imatch_lexicon);
Datum
simdup_imatch_lexicon(PG_FUNCTION_ARGS)
{
	ArrayBuildState *terms =
		initArrayResult(TEXTOID, CurrentMemoryContext, false);
	double min_idf;
	double max_idf;
	Corpus corpus;
	text *term;
	int64 n_documents;
	double idf;

	if (simdup_has_null(fcinfo, 0, 4))
		PG_RETURN_NULL();
	min_idf = PG_GETARG_FLOAT8(1);
	max_idf = PG_GETARG_FLOAT8(2);
	if (!(min_idf <= max_idf))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_idf must not be greater than max_idf"),
				errdetail("The bounds given are %s and %s.",
						  float8out_internal(min_idf),
						  float8out_internal(max_idf)));
	corpus = read_corpus(fcinfo, PG_GETARG_TEXT_PP(3));
	while ((term = next_term(&corpus, &n_documents, &idf)) != NULL)
	{
		if (idf >= min_idf && idf <= max_idf)
			accumArrayResult(terms, PointerGetDatum(term), false, TEXTOID,
							 CurrentMemoryContext);
		pfree(term);
	}
	PG_RETURN_DATUM(makeArrayResult(terms, CurrentMemoryContext));
}

/*
 * Cosine of two texts in the vector space model, and its weights by idf.
 */

static Datum
cosine_of(FunctionCallInfo fcinfo, const Lexicon *lexicon,
		  const text *tokenizer)
{
	SimdupTerm *terms[2];
	size_t n[2];
	double cosine;

	for (int i = 0; i < 2; i++)
	{
		terms[i] = terms_of(PG_GETARG_TEXT_PP(i), tokenizer, &n[i]);
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

PG_FUNCTION_INFO_V1(simdup_term_idf);
/* Return term_idf(query, tokenizer). */
Datum
simdup_term_idf(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Corpus corpus;
	text *term;
	int64 n_documents;
	double idf;

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	corpus = read_corpus(fcinfo, PG_GETARG_TEXT_PP(1));
	while ((term = next_term(&corpus, &n_documents, &idf)) != NULL)
	{
		Datum values[] = {PointerGetDatum(term), Int64GetDatum(n_documents),
						  Float8GetDatum(idf)};

		simdup_put_result(result, values, NULL);
		pfree(term);
	}
	return (Datum) 0;
}

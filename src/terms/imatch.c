/*
 * imatch.c
 *	  I-Match (document 003), cosine, and where both get their words from: the
 *	  terms of a corpus with their inverse document frequencies.
 */
#include "postgres.h"

#include "compat.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "server/arguments.h"
#include "server/result.h"
#include "server/query.h"
#include "core/terms.h"
#include "shingles/documents.h"
#include "server/arrays.h"
#include "text/shingling.h"

#include <math.h>

#define MAX_LEXICONS 100

static SimdupFeatures
features_of(const text *content, SimdupTokenizer tokenizer)
{
	SimdupProfile profile = {.tokenizer = tokenizer,
							 .weighting = SIMDUP_WEIGHTING_TF,
							 .hash = SIMDUP_HASH_CITY64};
	SimdupFeatures features;

	simdup_collect_features(&features, &profile, simdup_text_to_utf8(content),
							NULL);
	return features;
}

/* The terms of a text with their frequencies. */
static SimdupTerm *
terms_of(const text *content, SimdupTokenizer tokenizer, size_t *n)
{
	SimdupFeatures features = features_of(content, tokenizer);
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

/*
 * A lexicon
 */

/*
 * What an array of terms, with or without weights, was turned into; kept with
 * the call, as the next row nearly always comes with the same arrays.
 */
typedef struct Lexicon
{
	MemoryContext context;
	ArrayType *words; /* the arguments it was made of */
	ArrayType *weights;
	SimdupTerm *terms;
	size_t n;
	double largest; /* weight */
} Lexicon;

static bool
same_array(const ArrayType *a, const ArrayType *b)
{
	if (!a || !b)
		return a == b;
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

static ArrayType *
copy_array(const ArrayType *array)
{
	return array ? memcpy(palloc(VARSIZE(array)), array, VARSIZE(array)) : NULL;
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
fill_lexicon(Lexicon *lexicon, ArrayType *words, ArrayType *weights)
{
	Datum *elements;
	int n;
	int n_weights = 0;
	const float8 *values = NULL;

	simdup_check_array(words, "terms");
	if (weights)
		simdup_check_array(weights, "weights");
	deconstruct_array(words, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &n);
	if (weights)
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
		lexicon->terms[i].weight = weights ? checked_weight(values[i]) : 0;
		lexicon->largest = Max(lexicon->largest, lexicon->terms[i].weight);
	}
	simdup_terms_sort(lexicon->terms, lexicon->n);
}

static const Lexicon *
get_lexicon(FunctionCallInfo fcinfo, ArrayType *words, ArrayType *weights)
{
	Lexicon *lexicon = fcinfo->flinfo->fn_extra;
	MemoryContext context;
	MemoryContext old;

	if (lexicon && same_array(lexicon->words, words) &&
		same_array(lexicon->weights, weights))
		return lexicon;
	fcinfo->flinfo->fn_extra = NULL;
	if (lexicon)
		MemoryContextDelete(lexicon->context);

	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "simdup lexicon",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	lexicon = palloc0(sizeof(Lexicon));
	lexicon->context = context;
	lexicon->words = copy_array(words);
	lexicon->weights = copy_array(weights);
	fill_lexicon(lexicon, lexicon->words, lexicon->weights);
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = lexicon;
	return lexicon;
}

/*
 * I-Match
 */

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
/* The whole lexicon's, then those of n_lexicons random parts of it. */
Datum
simdup_imatch_fingerprints(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon =
		get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(1), NULL);
	int n_lexicons = PG_GETARG_INT32(2);
	double keep = PG_GETARG_FLOAT8(3);
	uint64 signatures[MAX_LEXICONS + 1];
	int n_signatures = 0;
	size_t n;
	SimdupTerm *terms;

	if (n_lexicons < 0 || n_lexicons > MAX_LEXICONS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("number of random lexicons must be between 0 and %d",
					   MAX_LEXICONS),
				errdetail("The number given is %d.", n_lexicons));
	if (!(keep > 0 && keep < 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("keep must be between 0 and 1"),
				errdetail("The share given is %g.", keep),
				errhint("It is the share of the lexicon's terms that a "
						"random lexicon keeps."));
	terms = terms_of(PG_GETARG_TEXT_PP(0),
					 simdup_parse_tokenizer(PG_GETARG_TEXT_PP(4)), &n);
	for (int i = 0; i <= n_lexicons; i++)
		n_signatures +=
			simdup_imatch(terms, n, lexicon->terms, lexicon->n, (uint32) i,
						  keep, &signatures[n_signatures]);
	if (n_signatures == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_int8_array(signatures, n_signatures));
}

/*
 * Cosine
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
		for (size_t j = 0; lexicon && j < n[i]; j++)
		{
			const SimdupTerm *known =
				simdup_terms_find(lexicon->terms, lexicon->n, terms[i][j].hash);

			/* a term that the corpus never had is as rare as any */
			terms[i][j].weight *= known ? known->weight : lexicon->largest;
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

/*
 * Terms of a corpus
 */

/* Each document puts each of its terms once; sorted, the runs are counted. */
typedef struct Corpus
{
	const text *tokenizer; /* its name: the query may use up other ones */
	Tuplesortstate *sort;
	int64 n_documents;
	MemoryContext row_context;
} Corpus;

static void
check_corpus_columns(void *arg pg_attribute_unused(), TupleDesc columns,
					 const char *argument)
{
	if (columns->natts != 1 ||
		!simdup_is_text_type(TupleDescAttr(columns, 0)->atttypid))
		simdup_wrong_columns(argument, columns, "one column of type text");
}

static void
add_corpus_row(void *arg, TupleTableSlot *row)
{
	Corpus *corpus = arg;
	MemoryContext old;
	SimdupFeatures features;

	slot_getallattrs(row);
	if (row->tts_isnull[0])
		return;
	old = MemoryContextSwitchTo(corpus->row_context);
	features = features_of(DatumGetTextPP(row->tts_values[0]),
						   simdup_parse_tokenizer(corpus->tokenizer));
	corpus->n_documents += features.count > 0;
	for (size_t i = 0; i < features.count; i++)
	{
		const SimdupFeature *feature = &features.features[i];

		CHECK_FOR_INTERRUPTS();
		tuplesort_putdatum(corpus->sort,
						   PointerGetDatum(simdup_utf8_to_text(feature->bytes,
															   feature->len)),
						   false);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(corpus->row_context);
}

/* Receives a term of the corpus in byte order. */
typedef void (*TermSink)(void *arg, text *term, int64 n_documents, double idf);

/* The sorted terms with the documents that have them. */
static void
count_terms(Corpus *corpus, TermSink sink, void *arg)
{
	StringInfoData last;
	int64 n = 0;
	Datum value;
	bool isnull;
	bool more;

	initStringInfo(&last);
	do
	{
		text *term = NULL;

		CHECK_FOR_INTERRUPTS();
		more = simdup_tuplesort_getdatum(corpus->sort, &value, &isnull);
		if (more)
			term = DatumGetTextPP(value);
		if (n > 0 && (!more || VARSIZE_ANY_EXHDR(term) != (Size) last.len ||
					  memcmp(VARDATA_ANY(term), last.data, last.len) != 0))
		{
			text *counted = cstring_to_text_with_len(last.data, last.len);

			sink(arg, counted, n,
				 log((double) corpus->n_documents / (double) n));
			pfree(counted);
			n = 0;
		}
		if (more && n++ == 0)
		{
			resetStringInfo(&last);
			appendBinaryStringInfo(&last, VARDATA_ANY(term),
								   VARSIZE_ANY_EXHDR(term));
		}
		if (more)
			pfree(DatumGetPointer(value));
	} while (more);
	pfree(last.data);
}

static void
scan_corpus(const text *query, const text *tokenizer, TermSink sink, void *arg)
{
	Corpus corpus = {0};

	(void) simdup_parse_tokenizer(tokenizer); /* wrong names fail at once */
	corpus.tokenizer = tokenizer;
	corpus.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup corpus row",
							  ALLOCSET_DEFAULT_SIZES);
	corpus.sort =
		tuplesort_begin_datum(TEXTOID, TextLessOperator, C_COLLATION_OID, false,
							  maintenance_work_mem, NULL, 0);
	simdup_run_query(text_to_cstring(query), "query", check_corpus_columns,
					 add_corpus_row, &corpus);
	tuplesort_performsort(corpus.sort);
	count_terms(&corpus, sink, arg);
	tuplesort_end(corpus.sort);
	MemoryContextDelete(corpus.row_context);
}

/* A TermSink: a row of term_idf. */
static void
put_term_row(void *arg, text *term, int64 n_documents, double idf)
{
	Datum values[3];
	bool nulls[3] = {false, false, false};

	values[0] = PointerGetDatum(term);
	values[1] = Int64GetDatum(n_documents);
	values[2] = Float8GetDatum(idf);
	simdup_put_result(arg, values, nulls);
}

PG_FUNCTION_INFO_V1(simdup_term_idf);
Datum
simdup_term_idf(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);

	scan_corpus(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1), put_term_row,
				result);
	return (Datum) 0;
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
	LexiconTerms lexicon = {.min_idf = PG_GETARG_FLOAT8(1),
							.max_idf = PG_GETARG_FLOAT8(2)};

	if (!(lexicon.min_idf <= lexicon.max_idf))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_idf must not be greater than max_idf"),
				errdetail("The bounds given are %g and %g.", lexicon.min_idf,
						  lexicon.max_idf));
	scan_corpus(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(3), put_lexicon_term,
				&lexicon);
	if (!lexicon.terms)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_DATUM(makeArrayResult(lexicon.terms, CurrentMemoryContext));
}

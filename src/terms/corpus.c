/*
 * corpus.c
 *	  The terms of a text, of an array, and of all texts of a query.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "core/compare/terms.h"
#include "server/arguments.h"
#include "server/query.h"
#include "terms/corpus.h"

/*
 * The terms of a text, and terms given as an array, with weights.
 */

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

SimdupTerm *
simdup_terms_of(const text *content, SimdupTokenizer tokenizer, size_t *n)
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
	SimdupLexicon *lexicon = memo;
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

const SimdupLexicon *
simdup_get_lexicon(FunctionCallInfo fcinfo, ArrayType *words,
				   ArrayType *weights)
{
	return simdup_memo(fcinfo->flinfo, words, weights, sizeof(SimdupLexicon),
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
	MemoryContext row_context;
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
	MemoryContext old;
	SimdupTokenCounts features;

	slot_getallattrs(row);
	if (row->tts_isnull[0])
		return;
	old = MemoryContextSwitchTo(corpus->row_context);
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
	MemoryContextSwitchTo(old);
	MemoryContextReset(corpus->row_context);
}

/* Walk the sorted terms: a run is one term, its length the documents. */
static void
count_terms(Corpus *corpus, SimdupTermSink sink, void *arg)
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

void
simdup_scan_corpus(const text *query, SimdupParameters *parameters,
				   const text *tokenizer, SimdupTermSink sink, void *arg)
{
	Corpus corpus = {0};

	(void) simdup_parse_tokenizer(tokenizer); /* wrong names fail at once */
	corpus.tokenizer = tokenizer;
	corpus.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup corpus row",
							  ALLOCSET_DEFAULT_SIZES);
	corpus.sort =
		tuplesort_begin_datum(TEXTOID, TextLessOperator, C_COLLATION_OID, false,
							  maintenance_work_mem, NULL, TUPLESORT_NONE);
	simdup_run_query(&(SimdupQuery){text_to_cstring(query), "query",
									"one column of type text", "content"},
					 parameters, check_corpus_columns, add_corpus_row, &corpus);
	tuplesort_performsort(corpus.sort);
	count_terms(&corpus, sink, arg);
	tuplesort_end(corpus.sort);
	MemoryContextDelete(corpus.row_context);
}

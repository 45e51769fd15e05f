/*
 * terms.c
 *	  I-Match and the cosine of term frequencies.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "server/arguments.h"
#include "terms/corpus.h"

/*
 * I-Match signatures and their lexicon (Chowdhury et al. 2002).
 */

#define MAX_LEXICONS 100

PG_FUNCTION_INFO_V1(simdup_imatch_fingerprint);
Datum
simdup_imatch_fingerprint(PG_FUNCTION_ARGS)
{
	const SimdupLexicon *lexicon =
		simdup_get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(1), NULL);
	size_t n;
	SimdupTerm *terms =
		simdup_terms_of(PG_GETARG_TEXT_PP(0),
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
	const SimdupLexicon *lexicon =
		simdup_get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(1), NULL);
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
				errdetail("The share given is %s.", float8out_internal(keep)),
				errhint("A random lexicon keeps this share of the terms."));
	terms = simdup_terms_of(PG_GETARG_TEXT_PP(0),
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

/* A SimdupTermSink: a term of imatch_lexicon. */
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
	simdup_scan_corpus(PG_GETARG_TEXT_PP(0), simdup_parameters(fcinfo, 1),
					   PG_GETARG_TEXT_PP(3), put_lexicon_term, &lexicon);
	if (lexicon.terms == NULL)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_DATUM(makeArrayResult(lexicon.terms, CurrentMemoryContext));
}

/*
 * Cosine of two texts in the vector space model, and its weights by idf.
 */

static Datum
cosine_of(FunctionCallInfo fcinfo, const SimdupLexicon *lexicon,
		  const text *tokenizer)
{
	SimdupTokenizer parsed = simdup_parse_tokenizer(tokenizer);
	SimdupTerm *terms[2];
	size_t n[2];
	double cosine;

	for (int i = 0; i < 2; i++)
	{
		terms[i] = simdup_terms_of(PG_GETARG_TEXT_PP(i), parsed, &n[i]);
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
	const SimdupLexicon *lexicon =
		simdup_get_lexicon(fcinfo, PG_GETARG_ARRAYTYPE_P(2),
						   PG_GETARG_ARRAYTYPE_P(3));

	return cosine_of(fcinfo, lexicon, PG_GETARG_TEXT_PP(4));
}

/* Put a row of term_idf: a SimdupTermSink. */
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

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	simdup_scan_corpus(PG_GETARG_TEXT_PP(0), simdup_parameters(fcinfo, 1),
					   PG_GETARG_TEXT_PP(1), put_term_row, result);
	return (Datum) 0;
}

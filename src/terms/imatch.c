/*
 * imatch.c
 *	  I-Match signatures and their lexicon (Chowdhury et al. 2002).
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "server/arguments.h"
#include "terms/corpus.h"
#include "terms/lexicon.h"

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
/* Signatures by the whole lexicon, then by n_lexicons random parts of it. */
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
				errdetail("The share given is %g.", keep),
				errhint("A random lexicon keeps this share of the terms."));
	terms = simdup_terms_of(PG_GETARG_TEXT_PP(0),
							simdup_parse_tokenizer(PG_GETARG_TEXT_PP(4)), &n);
	for (int i = 0; i <= n_lexicons; i++)
		n_signatures +=
			simdup_imatch(terms, n, lexicon->terms, lexicon->n, (uint32) i,
						  keep, &signatures[n_signatures]);
	if (n_signatures == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(simdup_int8_array(signatures, n_signatures));
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
				errdetail("The bounds given are %g and %g.", lexicon.min_idf,
						  lexicon.max_idf));
	simdup_scan_corpus(PG_GETARG_TEXT_PP(0), simdup_parameters(fcinfo, 1),
					   PG_GETARG_TEXT_PP(3), put_lexicon_term, &lexicon);
	if (lexicon.terms == NULL)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	PG_RETURN_DATUM(makeArrayResult(lexicon.terms, CurrentMemoryContext));
}

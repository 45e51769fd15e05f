/*
 * cosine.c
 *	  Cosine of two texts in the vector space model, and its weights by idf.
 */
#include "postgres.h"
#include "compat.h"

#include "server/arguments.h"
#include "terms/corpus.h"
#include "terms/lexicon.h"

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

/* A SimdupTermSink: a row of term_idf. */
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

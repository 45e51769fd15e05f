/*
 * textops.c
 *	  The operator class text_ops of hamming indexes: the fingerprint that the
 *	  index stores of a text, and the operators that the index answers.
 */
#include "postgres.h"
#include "compat.h"

#include "fmgr.h"

#include "index/ball.h"
#include "index/selectivity.h"
#include "text/knowntext.h"
#include "text/minhash64.h"

PG_FUNCTION_INFO_V1(simdup_text_fingerprint);
/* Support function 1: NULL for a text without a shingle. */
Datum
simdup_text_fingerprint(PG_FUNCTION_ARGS)
{
	uint64 fp;

	if (!simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH64(fp);
}

PG_FUNCTION_INFO_V1(simdup_text_in_ball);
/* content <~@ ball: false for a text without a shingle. */
Datum
simdup_text_in_ball(PG_FUNCTION_ARGS)
{
	uint64 fp;

	PG_RETURN_BOOL(simdup_text_minhash64(PG_GETARG_TEXT_PP(0), &fp) &&
				   simhash_ball_has(PG_GETARG_SIMHASH_BALL_P(1), fp));
}

PG_FUNCTION_INFO_V1(simdup_text_distance);
/* a <~~> b: NULL for a text without a shingle. */
Datum
simdup_text_distance(PG_FUNCTION_ARGS)
{
	FmgrInfo *function = fcinfo->flinfo;
	SimdupKnownText *known = function->fn_extra;

	if (known == NULL)
		known = function->fn_extra =
			MemoryContextAllocZero(function->fn_mcxt, 2 * sizeof(*known));
	for (int i = 0; i < 2; i++)
	{
		simdup_know_text(&known[i], function->fn_mcxt, PG_GETARG_TEXT_PP(i));
		if (!known[i].has_fp)
			PG_RETURN_NULL();
	}
	PG_RETURN_INT32(simdup_hamming64(known[0].fp, known[1].fp));
}

PG_FUNCTION_INFO_V1(simdup_text_ballsel);
Datum
simdup_text_ballsel(PG_FUNCTION_ARGS)
{
	return simdup_ball_restriction(fcinfo, simdup_text_minhash64);
}

PG_FUNCTION_INFO_V1(simdup_text_balljoinsel);
Datum
simdup_text_balljoinsel(PG_FUNCTION_ARGS)
{
	return simdup_ball_join(fcinfo, simdup_text_minhash64);
}

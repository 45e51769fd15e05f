/*
 * comparison.c
 *	  Two contents compared: by their shingles, or by their sketches.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/varbit.h"

#include "core/folded.h"
#include "core/hamming.h"
#include "core/statistics.h"
#include "server/arguments.h"
#include "shingles/comparison.h"
#include "text/minhash64.h"

bool
simdup_comparison_takes(SimdupComparison *comparison, Oid type, bool sketches)
{
	comparison->by_sketch = sketches && type == VARBITOID;
	return comparison->by_sketch || simdup_is_text_type(type);
}

void
simdup_comparison_check(SimdupComparison *comparison, Datum content)
{
	int bits;

	if (!comparison->by_sketch)
		return;
	bits = VARBITLEN(DatumGetVarBitP(content));
	if (comparison->sketch_bits == 0)
		comparison->sketch_bits = bits;
	simdup_check_sketch_bits(comparison->sketch_bits, bits);
}

/* The bits of a sketch in words; what the last word lacks is 0. */
static SimdupHashes
sketch_words(VarBit *sketch)
{
	SimdupHashes words = {0};
	int bytes = (int) VARBITBYTES(sketch);

	words.n = words.size = (size_t) (bytes + 7) / 8;
	words.hashes = palloc0(words.n * sizeof(uint64));
	memcpy(words.hashes, VARBITS(sketch), (Size) bytes);
	return words;
}

SimdupHashes
simdup_comparison_words(SimdupComparison *comparison, Datum content)
{
	simdup_comparison_check(comparison, content);
	return comparison->by_sketch
			   ? sketch_words(DatumGetVarBitP(content))
			   : simdup_element_set(comparison->shingling,
									simdup_text_to_utf8(
										DatumGetTextPP(content)));
}

double
simdup_comparison_of(const SimdupComparison *comparison, const SimdupHashes *a,
					 const SimdupHashes *b)
{
	int distance = 0;

	if (a->n == 0 || b->n == 0)
		return 0;
	if (!comparison->by_sketch)
		return simdup_resemblance(a, b);
	for (size_t i = 0; i < a->n; i++)
		distance += simdup_hamming64(a->hashes[i], b->hashes[i]);
	return simdup_agreement_resemblance(distance, comparison->sketch_bits);
}

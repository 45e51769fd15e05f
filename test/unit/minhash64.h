/*
 * minhash64.h
 *	  The fingerprint of profile 2, from core alone.
 */
#ifndef SIMDUP_UNIT_MINHASH64_H
#define SIMDUP_UNIT_MINHASH64_H

#include "core/fingerprint/shingle.h"
#include "core/fingerprint/sketch.h"

/* A SimdupElementSink. */
static void
add_elements(void *sketch, const uint64_t *hashes, size_t n)
{
	simdup_sketch_add(sketch, hashes, n);
}

static uint64_t
minhash64(const char *text, size_t len, int w, SimdupShingleUnit unit)
{
	SimdupShingling shingling = {unit, w};
	SimdupSketch sketch;
	const uint64_t *keys;
	uint64_t fingerprint;

	simdup_sketch_begin(&sketch, SIMDUP_MINHASH64_BINS);
	simdup_folded_elements(shingling, text, len, add_elements, &sketch);
	keys = simdup_sketch_keys(&sketch);
	fingerprint = keys == NULL ? 0 : simdup_sketch_fingerprint(keys);
	simdup_sketch_free(&sketch);
	return fingerprint;
}

#endif /* SIMDUP_UNIT_MINHASH64_H */

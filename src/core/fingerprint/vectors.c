/*
 * vectors.c
 *	  The choice of an instruction set, as the library is loaded.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fingerprint/vectors.h"

SimdupVectors simdup_vectors;

SimdupVectors
simdup_find_vectors(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	const char *most = getenv("SIMDUP_VECTORS");

	if (most == NULL)
		most = "";
	if (strcmp(most, "plain") != 0 && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi2"))
		return strcmp(most, "avx2") != 0 &&
					   __builtin_cpu_supports("avx512bw") &&
					   __builtin_cpu_supports("avx512dq") &&
					   __builtin_cpu_supports("avx512vl") &&
					   __builtin_cpu_supports("avx512vbmi") &&
					   __builtin_cpu_supports("avx512vbmi2") &&
					   __builtin_cpu_supports("avx512vpopcntdq")
				   ? SIMDUP_VECTORS_AVX512
				   : SIMDUP_VECTORS_AVX2;
#endif
	return SIMDUP_VECTORS_PLAIN;
}

static __attribute__((constructor)) void
choose_vectors(void)
{
	simdup_vectors = simdup_find_vectors();
}

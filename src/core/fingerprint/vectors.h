/*
 * vectors.h
 *	  Instruction sets that loops over texts and fingerprints are made for.
 *
 * On another processor all loops are plain. Without glibc, or by clang, which also makes
 * bitcode, those over texts are plain, and those of joins have vectors. Fuzz targets, which
 * clang builds, have both.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_VECTORS_H
#define SIMDUP_CORE_FINGERPRINT_VECTORS_H

typedef enum SimdupVectors
{
	SIMDUP_VECTORS_PLAIN = 1,
	SIMDUP_VECTORS_AVX2,
	SIMDUP_VECTORS_AVX512
} SimdupVectors;

/* The best set that the processor has, and SIMDUP_VECTORS in the environment allows. */
extern SimdupVectors simdup_find_vectors(void);

/* The set in use. A test may choose one that is not above the best. */
extern SimdupVectors simdup_vectors;

#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) && \
	(!defined(__clang__) || defined(SIMDUP_CLANG_VECTORS))
#define SIMDUP_HAS_VECTORS
#define SIMDUP_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define SIMDUP_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi," \
						  "avx512vbmi2,bmi,bmi2,popcnt")))

/* Define a function that does what name_inline does, by the best set. */
#define SIMDUP_VECTOR_FUNCTION(name, parameters, arguments) \
	SIMDUP_AVX2 static void name##_avx2 parameters \
	{ \
		name##_inline arguments; \
	} \
	SIMDUP_AVX512 static void name##_avx512 parameters \
	{ \
		name##_inline arguments; \
	} \
	static void name parameters \
	{ \
		if (simdup_vectors == SIMDUP_VECTORS_AVX512) \
			name##_avx512 arguments; \
		else if (simdup_vectors == SIMDUP_VECTORS_AVX2) \
			name##_avx2 arguments; \
		else \
			name##_inline arguments; \
	}
#else
#define SIMDUP_VECTOR_FUNCTION(name, parameters, arguments) \
	static void name parameters \
	{ \
		name##_inline arguments; \
	}
#endif

#endif /* SIMDUP_CORE_FINGERPRINT_VECTORS_H */

/*
 * input.h
 *	  The bytes of a fuzz target as numbers, words and a text, and the one way
 *	  a property fails.
 *
 * After the last byte everything is 0 or empty, so every input means something.
 */
#ifndef SIMDUP_FUZZ_INPUT_H
#define SIMDUP_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold; else it crashes, and libFuzzer keeps the input. */
#define must(condition) \
	do \
	{ \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
					#condition); \
			abort(); \
		} \
	} while (0)

typedef struct Input
{
	const uint8_t *p;
	const uint8_t *end;
} Input;

static inline Input
input_of(const uint8_t *data, size_t size)
{
	return (Input){data, data + size};
}

static inline size_t
input_left(const Input *in)
{
	return (size_t) (in->end - in->p);
}

static inline uint8_t
take_byte(Input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* Eight bytes, the lowest first. */
static inline uint64_t
take_word(Input *in)
{
	uint64_t word = 0;

	for (int i = 0; i < 64; i += 8)
		word |= (uint64_t) take_byte(in) << i;
	return word;
}

/* From low to high, both included, out of no more bytes than it takes. */
static inline uint64_t
take_between(Input *in, uint64_t low, uint64_t high)
{
	uint64_t span = high - low;
	uint64_t x = 0;

	for (uint64_t rest = span; rest > 0; rest >>= 8)
		x = x << 8 | take_byte(in);
	return low + (span == UINT64_MAX ? x : x % (span + 1));
}

/* Return memory that is there. It is not core's, so core's leaks show. */
static inline void *
checked(void *p)
{
	if (!p)
		abort();
	return p;
}

/*
 * A copy of len bytes in a block of that very size, so that a sanitizer sees a
 * read beyond. The caller frees it.
 */
static inline char *
exact_copy(const void *bytes, size_t len)
{
	char *copy = checked(malloc(len ? len : 1));

	if (len == 0)
		return checked(realloc(copy, 1));
	memcpy(copy, bytes, len);
	return copy;
}

/* The next bytes of the input, at most max of them. To be freed. */
static inline char *
take_text(Input *in, size_t max, size_t *len)
{
	char *text;

	*len = input_left(in) < max ? input_left(in) : max;
	text = exact_copy(in->p, *len);
	in->p += *len;
	return text;
}

/*
 * All that is left, repeated where a first byte says so: long texts out of
 * short inputs, as buffers and batches have edges that short texts miss. To be
 * freed.
 */
static inline char *
take_long_text(Input *in, size_t max, size_t *len)
{
	uint8_t first = take_byte(in);
	size_t size = input_left(in);
	size_t times = first < 0xf0 ? 1 : (size_t) 8 << 2 * (first & 3);
	char *text;
	uint64_t n;

	if (size > max)
		size = max;
	n = size == 0 ? 0 : size * times > max ? max / size : times;
	*len = size * n;
	text = checked(calloc(1, *len ? *len : 1));
	for (uint64_t i = 0; i < n; i++)
		memcpy(text + i * size, in->p, size);
	in->p = in->end;
	return text;
}

/* For qsort: words in their order. */
static inline int
compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

#endif /* SIMDUP_FUZZ_INPUT_H */

/*
 * segments.h
 *	  Words as a breaker from outside core/ finds them (ICU's, see text/icu.c)
 *	  in a text of any length, window by window.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_SEGMENTS_H
#define SIMDUP_CORE_FINGERPRINT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that a breaker is given at a time. */
#define SIMDUP_BREAK_WINDOW (1 << 15)

/* The end of a segment, as an offset. */
typedef struct SimdupBreak
{
	uint32_t end : 31;
	uint32_t is_number : 1;
} SimdupBreak;

/*
 * Split text[0..len), len from 1 to SIMDUP_BREAK_WINDOW, into segments without a
 * gap. Write their ends in rising order to breaks, which has room for len of
 * them, and return their number. A failure is a non-local exit.
 */
typedef struct SimdupBreaker
{
	int (*find)(void *arg, const char *text, size_t len, SimdupBreak *breaks);
	void *arg;
} SimdupBreaker;

typedef struct SimdupSegment
{
	const char *bytes;
	size_t len;
	bool is_word;	/* has a word character of profile 1 */
	bool is_number; /* so says the breaker */
	bool folds;		/* has a character that folds */
} SimdupSegment;

typedef struct SimdupSegments
{
	SimdupBreaker breaker;
	const unsigned char *p;			 /* what comes next */
	const unsigned char *end;		 /* of the text */
	const unsigned char *window;	 /* where the breaker's text begins ... */
	const unsigned char *window_end; /* ... and ends */
	SimdupBreak *breaks;
	int count;
	int next;
} SimdupSegments;

/* Begin with a text, which must live as long as the segments are asked for. */
extern void simdup_segments_begin(SimdupSegments *segments,
								  SimdupBreaker breaker, const char *text,
								  size_t len);

/*
 * Get the next segment, or return false after the last. Together they are the
 * text. A byte that is not UTF-8 separates. Checks for interrupts.
 */
extern bool simdup_segments_next(SimdupSegments *segments,
								 SimdupSegment *segment);

extern void simdup_segments_free(SimdupSegments *segments);

#endif /* SIMDUP_CORE_FINGERPRINT_SEGMENTS_H */

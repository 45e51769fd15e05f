/*
 * segments.c
 *	  The segments of a text of any length, as a breaker cuts it.
 *
 * A breaker may need memory and time for its text as a whole, and cannot be
 * interrupted, so it gets a window. The next window begins after a segment
 * without a word character, near the end of the window. There a fresh start
 * finds the same segments. Only a text without such a segment in SLACK bytes
 * feels the window: a single word, or a dictionary script without punctuation.
 */
#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/fingerprint/tokenizer.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* The part of a window in which its end is looked for. */
#define SLACK 1024

void
simdup_segments_begin(SimdupSegments *segments, SimdupBreaker breaker,
					  const char *text, size_t len)
{
	size_t window = len < SIMDUP_BREAK_WINDOW ? len : SIMDUP_BREAK_WINDOW;

	memset(segments, 0, sizeof(*segments));
	segments->breaker = breaker;
	segments->p = (const unsigned char *) text;
	segments->end = segments->p + len;
	segments->breaks = simdup_alloc(window * sizeof(uint32_t) + 1);
}

void
simdup_segments_free(SimdupSegments *segments)
{
	simdup_free(segments->breaks);
}

/* Give the breaker the next window. */
static void
open_window(SimdupSegments *segments)
{
	const unsigned char *p = segments->p;
	size_t len = (size_t) (segments->end - p);

	simdup_check_interrupts();
	if (len > SIMDUP_BREAK_WINDOW)
	{
		len = SIMDUP_BREAK_WINDOW;
		/* not inside a character */
		for (int i = 1; i < SIMDUP_MAX_UTF8 && (p[len] & 0xC0) == 0x80; i++)
			len--;
	}
	segments->window = p;
	segments->window_end = p + len;
	segments->count =
		segments->breaker.find(segments->breaker.arg, (const char *) p, len,
							   segments->breaks);
	segments->next = 0;

	/* the next window begins with the segment that the end cut off */
	if (segments->window_end < segments->end && segments->count > 1)
		segments->count--;
}

/* The high bits of eight bytes. */
#define HIGH UINT64_C(0x8080808080808080)
#define EACH(c) (UINT64_C(0x0101010101010101) * (c))

/*
 * Read ASCII eight bytes at a time. Words are short, and the end of a loop over
 * their bytes is a branch that nothing predicts. Return false for other
 * segments. Eight bytes can be read after the last.
 */
static inline bool
look_at_ascii(const unsigned char *p, size_t len, SimdupSegment *segment)
{
	uint64_t letters = 0;
	uint64_t digits = 0;
	uint64_t upper = 0;

	for (size_t i = 0; i < len; i += 8)
	{
		uint64_t rest = len - i < 8 ? len - i : 8;
		uint64_t x =
			simdup_load64((const char *) p + i) & UINT64_MAX >> (64 - 8 * rest);
		uint64_t lower = x | EACH(0x20);
		uint64_t found;

		if (x & HIGH)
			return false;
		/* no byte has its high bit, so none carries into the next */
		found = (lower + EACH(0x80 - 'a')) & ~(lower + EACH(0x7F - 'z'));
		letters |= found;
		upper |= found & ~(x << 2);
		digits |= (x + EACH(0x80 - '0')) & ~(x + EACH(0x7F - '9'));
	}
	segment->is_word = ((letters | digits) & HIGH) != 0;
	segment->folds = (upper & HIGH) != 0;
	segment->len = len;
	return true;
}

/* What is in [p, end), up to a byte that is not UTF-8, or such a byte. */
static void
look_at(const unsigned char *p, const unsigned char *end,
		SimdupSegment *segment)
{
	const unsigned char *start = p;

	while (p < end)
	{
		SimdupChar c = simdup_next_char(p, end);

		if (c.cp == SIMDUP_INVALID_CHAR)
		{
			p += p == start;
			break;
		}
		segment->is_word |= c.char_class != SIMDUP_CHAR_SEPARATOR;
		segment->folds |= c.fold != 0;
		p += c.len;
	}
	segment->len = (size_t) (p - start);
}

bool
simdup_segments_next(SimdupSegments *segments, SimdupSegment *segment)
{
	const unsigned char *end;

	if (segments->p >= segments->end)
		return false;
	if (segments->next == segments->count)
		open_window(segments);

	end = segments->window + segments->breaks[segments->next];
	*segment = (SimdupSegment){.bytes = (const char *) segments->p};
	if (segments->end - end < 8 ||
		!look_at_ascii(segments->p, (size_t) (end - segments->p), segment))
		look_at(segments->p, end, segment);
	segments->p += segment->len;
	if (segments->p < end)
		return true;

	segments->next++;
	if (!segment->is_word && segments->window_end < segments->end &&
		segments->window_end - end <= SLACK)
		segments->next = segments->count; /* go on afresh from here */
	return true;
}

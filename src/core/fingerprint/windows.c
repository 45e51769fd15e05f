/*
 * windows.c
 *	  The buffer of a text's units, and the windows in it.
 */
#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/fingerprint/windows.h"
#include "core/host.h"

/* Hashes handed on together: those of a full buffer of small windows. */
#define HASH_BATCH (SIMDUP_WINDOW_UNITS + SIMDUP_SMALL_WINDOW)

void
simdup_windows_begin(SimdupWindows *windows, size_t w, bool words)
{
	size_t room;

	memset(windows, 0, offsetof(SimdupWindows, small_starts));
	windows->w = w;
	windows->blank = words;
	windows->full = SIMDUP_FULL_UNITS(w);
	room = windows->full + 1;
	windows->starts = w <= SIMDUP_SMALL_WINDOW
						  ? windows->small_starts
						  : simdup_alloc(room * sizeof(size_t));
	windows->size = room * SIMDUP_MAX_UTF8;
	windows->bytes = simdup_alloc(windows->size);
}

/* Hand on the first n windows, the unit behind each of which has its start. */
static void
hand_on(SimdupWindows *windows, size_t n)
{
	const char *bytes = windows->bytes;
	size_t blank = windows->blank;
	size_t batch = windows->elements != NULL ? HASH_BATCH : SIMDUP_BATCH_TOKENS;
	uint64_t hashes[HASH_BATCH];
	SimdupToken tokens[SIMDUP_BATCH_TOKENS];

	windows->any = true;
	for (size_t done = 0; done < n; done += batch)
	{
		const size_t *starts = windows->starts + done;
		const size_t *ends = starts + windows->w;
		size_t count = n - done < batch ? n - done : batch;

		/* wide windows are many in a buffer, and long */
		simdup_check_interrupts();
		if (windows->elements != NULL)
		{
			for (size_t i = 0; i < count; i++)
				hashes[i] = simdup_city64(bytes + starts[i],
										  ends[i] - blank - starts[i]);
			windows->elements(windows->arg, hashes, count);
		}
		else
		{
			for (size_t i = 0; i < count; i++)
				tokens[i] =
					(SimdupToken){bytes + starts[i],
								  (uint32_t) (ends[i] - blank - starts[i])};
			windows->tokens(windows->arg, tokens, (int) count);
		}
	}
}

void
simdup_windows_flush(SimdupWindows *windows)
{
	size_t past; /* units that no further window needs */
	size_t from;

	windows->starts[windows->n] = windows->used + windows->blank;
	if (windows->n < windows->w)
		return;
	past = windows->n - windows->w + 1;
	hand_on(windows, past);
	windows->n -= past;
	from = windows->n > 0 ? windows->starts[past] : windows->used;
	windows->used -= from;
	memmove(windows->bytes, windows->bytes + from, windows->used);
	for (size_t i = 0; i < windows->n; i++)
		windows->starts[i] = windows->starts[past + i] - from;
}

void
simdup_windows_end(SimdupWindows *windows)
{
	simdup_windows_flush(windows);
	if (!windows->any && windows->n > 0)
	{
		/* fewer units than a window: they are one */
		windows->w = windows->n;
		hand_on(windows, 1);
	}
	if (windows->starts != windows->small_starts)
		simdup_free(windows->starts);
	simdup_free(windows->bytes);
}

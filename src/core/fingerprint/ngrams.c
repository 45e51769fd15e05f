/*
 * ngrams.c
 *	  The buffer of a text's units, and the windows in it.
 */
#include "core/fingerprint/ngrams.h"

/* Units that a buffer takes beyond the past. Its arrays fit the first-level cache. */
#define NGRAM_UNITS 512

void
simdup_ngrams_begin(SimdupNgrams *ngrams, size_t w, bool words,
					SimdupTokenSink sink, void *arg)
{
	size_t full = NGRAM_UNITS + w + w / 4;

	*ngrams = (SimdupNgrams){.sink = sink, .arg = arg, .w = w, .blank = words};
	ngrams->full = full;
	ngrams->starts = simdup_alloc((full + 1) * sizeof(size_t));
	ngrams->size = (full + 1) * SIMDUP_MAX_UTF8;
	ngrams->bytes = simdup_alloc(ngrams->size);
}

/* Hand on the first n windows, the unit behind each of which has its start. */
static void
hand_on(SimdupNgrams *ngrams, size_t n)
{
	SimdupToken tokens[SIMDUP_BATCH_TOKENS];

	ngrams->any = true;
	for (size_t done = 0; done < n; done += SIMDUP_BATCH_TOKENS)
	{
		const size_t *starts = ngrams->starts + done;
		const size_t *ends = starts + ngrams->w;
		size_t left = n - done;
		size_t count = left < SIMDUP_BATCH_TOKENS ? left : SIMDUP_BATCH_TOKENS;

		/* wide windows are many in a buffer, and long */
		simdup_check_interrupts();
		for (size_t i = 0; i < count; i++)
			tokens[i] =
				(SimdupToken){ngrams->bytes + starts[i],
							  (uint32_t) (ends[i] - ngrams->blank - starts[i])};
		ngrams->sink(ngrams->arg, tokens, (int) count);
	}
}

void
simdup_ngrams_flush(SimdupNgrams *ngrams)
{
	size_t past; /* units that no further window needs */
	size_t from;

	ngrams->starts[ngrams->n] = ngrams->used + ngrams->blank;
	if (ngrams->n < ngrams->w)
		return;
	past = ngrams->n - ngrams->w + 1;
	hand_on(ngrams, past);
	ngrams->n -= past;
	from = ngrams->n > 0 ? ngrams->starts[past] : ngrams->used;
	ngrams->used -= from;
	memmove(ngrams->bytes, ngrams->bytes + from, ngrams->used);
	for (size_t i = 0; i < ngrams->n; i++)
		ngrams->starts[i] = ngrams->starts[past + i] - from;
}

void
simdup_ngrams_end(SimdupNgrams *ngrams)
{
	simdup_ngrams_flush(ngrams);
	if (!ngrams->any && ngrams->n > 0)
	{
		/* fewer units than a window: they are one */
		ngrams->w = ngrams->n;
		hand_on(ngrams, 1);
	}
	simdup_free(ngrams->starts);
	simdup_free(ngrams->bytes);
}

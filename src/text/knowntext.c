/*
 * knowntext.c
 *	  What is known of a text that a function is called with again and again.
 *
 * A query compares one text with many rows, and fingerprints it once. A copy of
 * its bytes tells whether it is still the same.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/memutils.h"

#include "text/knowntext.h"
#include "text/minhash64.h"

/* Longer texts are not copied: to compare them is rare, and slow in any case. */
#define MAX_REMEMBERED (16 * 1024 * 1024)

static bool
is_same(const SimdupKnownText *known, const char *bytes, size_t len)
{
	return known->is_known && known->len == len &&
		   memcmp(known->bytes, bytes, len) == 0;
}

static void
remember(SimdupKnownText *known, MemoryContext context, const char *bytes,
		 size_t len)
{
	if (len > known->size)
	{
		if (known->bytes != NULL)
			pfree(known->bytes);
		known->bytes = NULL;
		known->size = 0;
		known->bytes = MemoryContextAlloc(context, 2 * len);
		known->size = 2 * len;
	}
	if (len > 0)
		memcpy(known->bytes, bytes, len);
	known->len = len;
	known->is_known = true;
}

void
simdup_know_text(SimdupKnownText *known, MemoryContext context,
				 const text *content)
{
	const char *bytes = VARDATA_ANY(content);
	size_t len = VARSIZE_ANY_EXHDR(content);

	if (is_same(known, bytes, len))
		return;
	known->is_known = false;
	if (known->has_set)
		simdup_hashes_free(&known->set);
	known->set = (SimdupHashes){0};
	known->has_set = false;
	known->has_fp = simdup_text_minhash64(content, &known->fp);
	if (len <= MAX_REMEMBERED)
		remember(known, context, bytes, len);
}

const SimdupHashes *
simdup_known_set(SimdupKnownText *known, MemoryContext context,
				 const text *content)
{
	if (!known->has_set)
	{
		SimdupUtf8 utf8 = simdup_text_to_utf8(content);
		MemoryContext caller = MemoryContextSwitchTo(context);

		known->set = simdup_element_set(simdup_default_shingling, utf8);
		known->has_set = true;
		MemoryContextSwitchTo(caller);
	}
	return &known->set;
}

/*
 * passages.h
 *	  Passages of a text as SQL shows them.
 */
#ifndef SIMDUP_TEXT_PASSAGES_H
#define SIMDUP_TEXT_PASSAGES_H

#include "lib/stringinfo.h"

#include "core/compare/passages.h"
#include "text/encoding.h"

/* Raise 54000 for a text with too many words for its passages. */
pg_noreturn extern void simdup_too_many_words(void);

/* Return passages of a text as one text; too many words if they are NULL. */
extern StringInfoData simdup_join_passages(SimdupUtf8 content,
										   const SimdupPassage *passages,
										   size_t n, const char *between);

#endif /* SIMDUP_TEXT_PASSAGES_H */

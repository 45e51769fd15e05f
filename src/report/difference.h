/*
 * difference.h
 *	  Two texts as one, with what differs marked, in HTML.
 */
#ifndef SIMDUP_REPORT_DIFFERENCE_H
#define SIMDUP_REPORT_DIFFERENCE_H

#include "report/escape.h"

/*
 * Put text b, with the words of a that it lacks. Long passages that are equal
 * are left out, and what comes after so many characters. cut: both texts go on
 * beyond what is compared.
 */
extern void simdup_put_difference(StringInfo page, SimdupUtf8 a, SimdupUtf8 b,
								  int64 max_chars, bool cut);

/* Put the first characters of a text. */
extern void simdup_put_start(StringInfo page, SimdupUtf8 value, int64 max_chars,
							 bool cut);

#endif /* SIMDUP_REPORT_DIFFERENCE_H */

/*
 * breaker.h
 *	  ICU's word breaks for what cuts text in SQL.
 */
#ifndef SIMDUP_TEXT_BREAKER_H
#define SIMDUP_TEXT_BREAKER_H

#include "core/segments.h"

/*
 * ICU's word breaks for a locale, "root" for none in particular. Raises 22023
 * for a name that is no locale, 0A000 where simdup was built without ICU. The
 * breaker is for the current call: see icu.h.
 */
extern SimdupBreaker simdup_get_icu_breaker(const char *locale);

#endif /* SIMDUP_TEXT_BREAKER_H */

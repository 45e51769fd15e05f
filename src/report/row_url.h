/*
 * row_url.h
 *	  A link for each row, from a template.
 */
#ifndef SIMDUP_REPORT_ROW_URL_H
#define SIMDUP_REPORT_ROW_URL_H

#include "report/escape.h"

/*
 * Check a template, in which the key replaces each "%s". ERROR where there is no
 * "%s", and for a scheme that is not http or https. NULL is no template.
 */
extern const char *simdup_check_row_url(const text *url);

/* Put a key, as a link where there is a template. */
extern void simdup_put_key(StringInfo page, const char *url, const text *key);

#endif /* SIMDUP_REPORT_ROW_URL_H */

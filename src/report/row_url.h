/*
 * row_url.h
 *	  A link for each row, from a template.
 */
#ifndef SIMDUP_REPORT_ROW_URL_H
#define SIMDUP_REPORT_ROW_URL_H

#include "report/html.h"

/*
 * Check a template: "%s" stands for the key. ERROR where it has none, or where
 * it would lead to anything but a page of the web. NULL is no template.
 */
extern const char *simdup_check_row_url(const text *url);

/* Put a key, as a link where there is a template. */
extern void simdup_put_key(StringInfo page, const char *url, const text *key);

#endif /* SIMDUP_REPORT_ROW_URL_H */

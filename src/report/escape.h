/*
 * escape.h
 *	  Values as HTML and JSON in plain ASCII, which act as neither.
 */
#ifndef SIMDUP_REPORT_ESCAPE_H
#define SIMDUP_REPORT_ESCAPE_H

#include "lib/stringinfo.h"
#include "text/profile.h"

typedef enum SimdupHtmlForm
{
	SIMDUP_HTML_PLAIN,	/* one line, without markup: for titles */
	SIMDUP_HTML_LINE,	/* one line */
	SIMDUP_HTML_TEXT,	/* lines as they are */
	SIMDUP_HTML_CHANGED /* lines, with marks that show white space */
} SimdupHtmlForm;

/*
 * Append text so that it is shown and can't act as markup. Control characters,
 * and characters that change the direction or can't be seen, are named.
 */
extern void simdup_html_put(StringInfo page, SimdupUtf8 value,
							SimdupHtmlForm form);
extern void simdup_html_put_text(StringInfo page, const text *value,
								 SimdupHtmlForm form);

/* Append a JSON string that is safe within a script element. */
extern void simdup_json_put(StringInfo page, SimdupUtf8 value);

/* The first n characters, at most. */
extern SimdupUtf8 simdup_utf8_start(SimdupUtf8 value, int64 n);
/* The last n characters, at most. */
extern SimdupUtf8 simdup_utf8_end(SimdupUtf8 value, int64 n);
extern int64 simdup_utf8_length(SimdupUtf8 value);

/* 1234567 as 1,234,567 */
extern const char *simdup_grouped(double value);

/* "1 row", "2 rows": with the plural that is given */
extern const char *simdup_counted(double n, const char *one, const char *many);

#endif /* SIMDUP_REPORT_ESCAPE_H */

/*
 * htmlnames.h
 *	  The named character references of HTML 5 in byte order. tools/htmlnames.py says
 *	  what stands behind each. A blank stands before each of them and at the end.
 */
#ifndef SIMDUP_CORE_UNICODE_HTMLNAMES_H
#define SIMDUP_CORE_UNICODE_HTMLNAMES_H

#include <stddef.h>

extern const char simdup_html_names[];
extern const size_t simdup_html_names_len;

#endif /* SIMDUP_CORE_UNICODE_HTMLNAMES_H */

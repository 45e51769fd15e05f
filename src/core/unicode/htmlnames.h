/*
 * htmlnames.h
 *	  The named character references of HTML 5.
 */
#ifndef SIMDUP_CORE_UNICODE_HTMLNAMES_H
#define SIMDUP_CORE_UNICODE_HTMLNAMES_H

#include <stddef.h>

/*
 * The names in byte order, see tools/htmlnames.py for what stands behind each. A
 * blank stands before each of them and at the end.
 */
extern const char simdup_html_names[];
extern const size_t simdup_html_names_len;

#endif /* SIMDUP_CORE_UNICODE_HTMLNAMES_H */

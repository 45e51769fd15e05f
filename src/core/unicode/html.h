/*
 * html.h
 *	  The text of a page: no markup, entities decoded, blocks on own lines.
 */
#ifndef SIMDUP_CORE_UNICODE_HTML_H
#define SIMDUP_CORE_UNICODE_HTML_H

#include <stddef.h>
#include <stdint.h>

/* The longest character in any encoding. */
#define SIMDUP_HTML_CHAR_MAX 8

/* Bytes of the text of a page of len bytes, at most: "&nGt;" is two of three each. */
#define SIMDUP_HTML_ROOM(len) ((len) + (len) / 5)

/*
 * Write a character in the page's encoding, at most SIMDUP_HTML_CHAR_MAX bytes,
 * and return their number. Zero means that the encoding lacks the character:
 * the reference then stays as it is. Never called for ASCII.
 */
typedef size_t (*SimdupHtmlEncode)(void *arg, uint32_t code_point, char *out);

/*
 * Strip len bytes in any encoding that contains ASCII; out has room for
 * SIMDUP_HTML_ROOM(len) bytes and is filled to the length returned. Never fails: all but
 * markup is text, and markup that does not end goes to the end of the
 * input. Linear in len, checks for interrupts.
 */
extern size_t simdup_html_text(const char *html, size_t len, char *out,
							   SimdupHtmlEncode encode, void *arg);

#endif /* SIMDUP_CORE_UNICODE_HTML_H */

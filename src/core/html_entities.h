/*
 * html_entities.h
 *	  The named character references of HTML 4.01, and apos.
 *
 * Like browsers, simdup reads the references of Latin-1 and the four of markup
 * without their semicolon, too.
 */
#ifndef SIMDUP_CORE_HTML_ENTITIES_H
#define SIMDUP_CORE_HTML_ENTITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SimdupHtmlEntity
{
	char name[9];
	bool bare; /* also without the semicolon */
	uint16_t code_point;
} SimdupHtmlEntity;

/* In byte order of the names. */
extern const SimdupHtmlEntity simdup_html_entities[];
extern const size_t simdup_n_html_entities;

#endif /* SIMDUP_CORE_HTML_ENTITIES_H */

/*
 * html.c
 *	  The text of a page, after the tokenizer of the HTML standard as far as
 *	  text is concerned.
 *
 * Bytes above ASCII are copied unread, so no encoding is invalid. White space
 * collapses as browsers show it: a run becomes one space, or one newline if
 * the end or the beginning of a block is within it.
 */
#include "core/html.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/host.h"
#include "core/html_entities.h"

/* bytes between two looks at the interrupts */
#define HTML_STRETCH ((size_t) 1 << 20)

/* more than the longest element name that means anything here */
#define NAME_SIZE 16

typedef struct Page
{
	const char *p;
	const char *end;
	const char *next_check;
	char *out;
	size_t out_len;
	char gap; /* pending separator: 0, space or newline */
	SimdupHtmlEncode encode;
	void *arg;
} Page;

/*
 * Elements that begin and end a line, and those whose content is no text, in
 * byte order.
 */
static const char block_elements[][NAME_SIZE] =
	{"address", "article",	"aside",	"blockquote", "body",		"br",
	 "caption", "center",	"dd",		"details",	  "dialog",		"dir",
	 "div",		"dl",		"dt",		"fieldset",	  "figcaption", "figure",
	 "footer",	"form",		"frameset", "h1",		  "h2",			"h3",
	 "h4",		"h5",		"h6",		"head",		  "header",		"hgroup",
	 "hr",		"html",		"legend",	"li",		  "main",		"menu",
	 "nav",		"ol",		"optgroup", "option",	  "p",			"pre",
	 "search",	"section",	"select",	"summary",	  "table",		"tbody",
	 "td",		"textarea", "tfoot",	"th",		  "thead",		"title",
	 "tr",		"ul"};
static const char hidden_elements[][NAME_SIZE] = {"iframe", "noembed",
												  "noframes", "script",
												  "style"};

static inline bool
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' ||
		   c == '\v';
}

static inline char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

static inline bool
is_letter(char c)
{
	c = lower(c);
	return c >= 'a' && c <= 'z';
}

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool
in_list(const char *name, const void *list, size_t size)
{
	return bsearch(name, list, size / NAME_SIZE, NAME_SIZE, compare_names) !=
		   NULL;
}

/* For loops that visit every byte. */
static inline void
check_at(const char *p)
{
	if ((uintptr_t) p % HTML_STRETCH == 0)
		simdup_check_interrupts();
}

/* The end of the next occurrence of the string, or of the input. */
static const char *
skip_past(const char *p, const char *end, const char *string)
{
	size_t len = strlen(string);

	for (size_t tries = 1;
		 (p = memchr(p, string[0], (size_t) (end - p))) != NULL; tries++)
	{
		if (tries % HTML_STRETCH == 0)
			simdup_check_interrupts();
		if ((size_t) (end - p) >= len && memcmp(p, string, len) == 0)
			return p + len;
		p++;
	}
	return end;
}

static void
put_bytes(Page *page, const char *bytes, size_t len)
{
	if (page->gap && page->out_len > 0)
		page->out[page->out_len++] = page->gap;
	page->gap = 0;
	memcpy(page->out + page->out_len, bytes, len);
	page->out_len += len;
}

/* A run of text without '<' and '&'. */
static void
put_text(Page *page, const char *p, const char *end)
{
	while (p < end)
	{
		const char *word = p;

		while (p < end && !is_space(*p))
			p++;
		if (p > word)
			put_bytes(page, word, (size_t) (p - word));
		if (p < end && !page->gap)
			page->gap = ' ';
		while (p < end && is_space(*p))
			p++;
	}
}

/* What browsers make of the code points that are none. */
static uint32_t
repair_code_point(uint32_t c)
{
	/* 128 to 159 are windows-1252 by long custom */
	static const uint16_t windows1252[32] = {0x20ac, 0x81,	 0x201a, 0x0192,
											 0x201e, 0x2026, 0x2020, 0x2021,
											 0x02c6, 0x2030, 0x0160, 0x2039,
											 0x0152, 0x8d,	 0x017d, 0x8f,
											 0x90,	 0x2018, 0x2019, 0x201c,
											 0x201d, 0x2022, 0x2013, 0x2014,
											 0x02dc, 0x2122, 0x0161, 0x203a,
											 0x0153, 0x9d,	 0x017e, 0x0178};

	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0xfffd;
	return c >= 128 && c < 160 ? windows1252[c - 128] : c;
}

/* "#123" or "#x1f"; returns its end, or NULL if it is no number. */
static const char *
read_number(const char *p, const char *end, uint32_t *code_point)
{
	bool hex = ++p < end && lower(*p) == 'x';
	const char *digits = hex ? ++p : p;
	uint32_t value = 0;

	for (; p < end; p++)
	{
		char c = lower(*p);
		uint32_t digit;

		check_at(p);
		if (is_digit(c))
			digit = (uint32_t) (c - '0');
		else if (hex && c >= 'a' && c <= 'f')
			digit = (uint32_t) (c - 'a' + 10);
		else
			break;
		if (value <= 0x10ffff)
			value = value * (hex ? 16 : 10) + digit;
	}
	*code_point = repair_code_point(value);
	return p > digits ? p : NULL;
}

/* A named reference; returns the end of its name, or NULL. */
static const char *
read_name(const char *p, const char *end, uint32_t *code_point)
{
	size_t len = 0;
	size_t limit = (size_t) (end - p);

	while (len < limit && len < sizeof(simdup_html_entities[0].name) &&
		   (is_letter(p[len]) || is_digit(p[len])))
		len++;
	/* with its semicolon the whole name; else the longest one that needs none */
	for (; len > 0; len--)
	{
		bool closed = len < limit && p[len] == ';';
		size_t low = 0;
		size_t high = simdup_n_html_entities;

		while (low < high)
		{
			size_t middle = (low + high) / 2;
			const SimdupHtmlEntity *entity = &simdup_html_entities[middle];
			int order = strncmp(p, entity->name, len);

			if (order == 0 && entity->name[len] == '\0')
			{
				if (!closed && !entity->bare)
					break;
				*code_point = entity->code_point;
				return p + len;
			}
			if (order > 0)
				low = middle + 1;
			else
				high = middle;
		}
	}
	return NULL;
}

/* At '&': write the character that the reference names, or the ampersand. */
static void
read_reference(Page *page)
{
	const char *start = page->p++;
	const char *next = NULL;
	uint32_t code_point = 0;
	char bytes[SIMDUP_HTML_CHAR_MAX];
	size_t len = 1;

	if (page->p < page->end && *page->p == '#')
		next = read_number(page->p, page->end, &code_point);
	else if (page->p < page->end)
		next = read_name(page->p, page->end, &code_point);
	if (next == NULL)
	{
		put_bytes(page, "&", 1);
		return;
	}
	if (next < page->end && *next == ';')
		next++;
	page->p = next;

	bytes[0] = (char) code_point;
	if (code_point >= 0x80)
		len = page->encode(page->arg, code_point, bytes);
	/* room for it: a character is never longer than the reference */
	if (len == 0 || len > (size_t) (next - start))
		put_bytes(page, start, (size_t) (next - start));
	else if (code_point < 0x80)
		put_text(page, bytes, bytes + len);
	else
		put_bytes(page, bytes, len);
}

/* From within a tag to behind its '>'. Quotes count only around values. */
static const char *
skip_tag(const char *p, const char *end)
{
	bool value = false;

	for (; p < end && *p != '>'; p++)
	{
		check_at(p);
		if (value && (*p == '"' || *p == '\''))
		{
			p = memchr(p + 1, *p, (size_t) (end - p - 1));
			if (p == NULL)
				return end;
			value = false;
		}
		else if (*p == '=')
			value = true;
		else if (!is_space(*p))
			value = false;
	}
	return p < end ? p + 1 : end;
}

/* To the end tag of an element whose content is not markup. */
static const char *
skip_content(const char *p, const char *end, const char *name)
{
	size_t len = strlen(name);

	while ((p = skip_past(p, end, "</")) < end)
	{
		size_t i = 0;

		while (i < len && i < (size_t) (end - p) && lower(p[i]) == name[i])
			i++;
		if (i == len && i < (size_t) (end - p) &&
			(is_space(p[i]) || p[i] == '>' || p[i] == '/'))
			return p - 2;
	}
	return end;
}

/* At '<' and a letter, or "</" and a letter. */
static void
read_tag(Page *page)
{
	bool closing = page->p[1] == '/';
	const char *p = page->p + 1 + closing;
	char name[NAME_SIZE];
	size_t len = 0;

	while (len < sizeof(name) - 1 && p < page->end && !is_space(*p) &&
		   *p != '>' && *p != '/')
		name[len++] = lower(*p++);
	name[len] = '\0';

	page->p = skip_tag(p, page->end);
	if (in_list(name, block_elements, sizeof(block_elements)))
		page->gap = '\n';
	else if (!closing &&
			 in_list(name, hidden_elements, sizeof(hidden_elements)))
		page->p = skip_content(page->p, page->end, name);
}

/* At '<': markup, or a '<' that is text. */
static void
read_markup(Page *page)
{
	const char *p = page->p;
	size_t left = (size_t) (page->end - p);
	char next = left > 1 ? p[1] : '\0';

	if (is_letter(next) || (next == '/' && left > 2 && is_letter(p[2])))
		read_tag(page);
	else if (left >= 4 && memcmp(p, "<!--", 4) == 0)
	{
		/* "<!-->" and "<!--->" are comments too */
		p += 4;
		if (p < page->end && *p == '>')
			page->p = p + 1;
		else if (page->end - p >= 2 && memcmp(p, "->", 2) == 0)
			page->p = p + 2;
		else
			page->p = skip_past(p, page->end, "-->");
	}
	else if (next == '!' || next == '?' || (next == '/' && left > 2))
		page->p = skip_past(p + 2, page->end, ">");
	else
	{
		put_bytes(page, "<", 1);
		page->p++;
	}
}

size_t
simdup_html_text(const char *html, size_t len, char *out,
				 SimdupHtmlEncode encode, void *arg)
{
	Page page = {html, html + len, html, out, 0, 0, encode, arg};

	while (page.p < page.end)
	{
		const char *start = page.p;
		const char *limit = page.end;

		if (page.p >= page.next_check)
		{
			simdup_check_interrupts();
			page.next_check = (size_t) (page.end - page.p) > HTML_STRETCH
								  ? page.p + HTML_STRETCH
								  : page.end;
		}
		if (*page.p == '<')
			read_markup(&page);
		else if (*page.p == '&')
			read_reference(&page);
		else
		{
			if ((size_t) (limit - start) > HTML_STRETCH)
				limit = start + HTML_STRETCH;
			while (page.p < limit && *page.p != '<' && *page.p != '&')
				page.p++;
			put_text(&page, start, page.p);
		}
	}
	return page.out_len;
}

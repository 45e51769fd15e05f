/*
 * html.c
 *	  The text of a page, after the tokenizer of the HTML standard as far as
 *	  text is concerned.
 *
 * Bytes above ASCII are copied unread, so no encoding is invalid. White space
 * collapses as browsers show it: a run becomes one space, or one newline if
 * the end or the beginning of a block is within it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/html.h"
#include "core/unicode/htmlnames.h"

/* Characters of the longest name, and of the longest one that needs no semicolon. */
#define MAX_HTML_NAME 31
#define MAX_BARE_NAME 6

/* more than the longest element name that means anything here */
#define NAME_SIZE 16

typedef struct Page
{
	const char *p;
	const char *end;
	char *out;
	size_t out_len;
	char gap; /* pending separator: 0, space or newline */
	SimdupHtmlEncode encode;
	void *arg;
} Page;

/* Elements that break lines, and those without text, in byte order. */
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

/* The end of the next occurrence of the string, or of the input. */
static const char *
skip_past(const char *p, const char *end, const char *string)
{
	size_t len = strlen(string);

	for (size_t tries = 1;
		 (p = memchr(p, string[0], (size_t) (end - p))) != NULL; tries++)
	{
		simdup_check_interrupts_at(tries);
		if ((size_t) (end - p) >= len && memcmp(p, string, len) == 0)
			return p + len;
		p++;
	}
	return end;
}

/*
 * The end of the comment whose first two dashes are at p, or of the input. "-->" ends it,
 * also with these dashes, and "--!>" with later ones.
 */
static const char *
skip_comment(const char *p, const char *end)
{
	const char *start = p;
	size_t tries = 0;

	do
	{
		simdup_check_interrupts_at(++tries);
		p = skip_past(p, end, ">");
	} while (p < end && (p - start < 3 || memcmp(p - 3, "-->", 3) != 0) &&
			 (p - start < 6 || memcmp(p - 4, "--!>", 4) != 0));
	return p;
}

static inline void
put_space(Page *page)
{
	if (!page->gap)
		page->gap = ' ';
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

/*
 * Read text up to `end`, or to the next check for interrupts. Unless it is raw, as in
 * CDATA, '<' and '&' end it. Inline, so that each has a loop of its own.
 */
static inline __attribute__((always_inline)) void
read_text(Page *page, const char *end, bool raw)
{
	const char *p = page->p;

	if (end - p > SIMDUP_POLL_BYTES)
		end = p + SIMDUP_POLL_BYTES;
	while (p < end && (raw || (*p != '<' && *p != '&')))
	{
		const char *word = p;

		while (p < end && (raw || (*p != '<' && *p != '&')) && !is_space(*p))
			p++;
		if (p > word)
			put_bytes(page, word, (size_t) (p - word));
		else
		{
			put_space(page);
			p++;
		}
	}
	page->p = p;
}

/* Return the character that browsers make of a code point that is none. */
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

/* The one or two characters of a reference. Without a second one, it is 0. */
typedef uint32_t Referent[2];

/* "#123" or "#x1f"; returns its end, or NULL if it is no number. */
static const char *
read_number(const char *p, const char *end, Referent referent)
{
	bool hex = ++p < end && lower(*p) == 'x';
	const char *digits = hex ? ++p : p;
	uint32_t value = 0;

	for (; p < end; p++)
	{
		char c = lower(*p);
		uint32_t digit;

		simdup_check_interrupts_at((uintptr_t) p);
		if (is_digit(c))
			digit = (uint32_t) (c - '0');
		else if (hex && c >= 'a' && c <= 'f')
			digit = (uint32_t) (c - 'a' + 10);
		else
			break;
		if (value <= 0x10ffff)
			value = value * (hex ? 16 : 10) + digit;
	}
	referent[0] = repair_code_point(value);
	return p > digits ? p : NULL;
}

/* Where each name lies in simdup_html_names, by its hash; 0: free. Made once. */
static uint16_t name_slots[1 << 12];

static inline size_t
next_slot(size_t slot)
{
	return (slot + 1) % (sizeof(name_slots) / sizeof(name_slots[0]));
}

static inline size_t
first_slot(const char *name, size_t len)
{
	return next_slot(simdup_city64(name, len));
}

static void
make_name_slots(void)
{
	for (size_t at = 1; at < simdup_html_names_len;)
	{
		const char *name = simdup_html_names + at;
		size_t slot = first_slot(name, strcspn(name, ";!"));

		while (name_slots[slot] != 0)
			slot = next_slot(slot);
		name_slots[slot] = (uint16_t) at;
		at += strcspn(name, " ") + 1;
	}
}

/*
 * Look a name up, which has its semicolon, or needs none. Return false if there is no
 * such name.
 */
static bool
find_name(const char *name, size_t len, bool semicolon, Referent referent)
{
	static bool ready = false;

	if (!ready)
		make_name_slots();
	ready = true;
	for (size_t slot = first_slot(name, len); name_slots[slot] != 0;
		 slot = next_slot(slot))
	{
		const char *entry = simdup_html_names + name_slots[slot];
		char *end;

		if (strncmp(name, entry, len) != 0 ||
			(entry[len] != '!' && entry[len] != ';'))
			continue;
		if (!semicolon && entry[len] == ';')
			return false;
		referent[0] = (uint32_t) strtoul(entry + len + 1, &end, 16);
		if (*end == '+')
			referent[1] = (uint32_t) strtoul(end + 1, NULL, 16);
		return true;
	}
	return false;
}

/* A named reference; returns the end of its name, or NULL. */
static const char *
read_name(const char *p, const char *end, Referent referent)
{
	size_t limit = (size_t) (end - p);
	size_t len = 0;

	while (len < limit && len <= MAX_HTML_NAME &&
		   (is_letter(p[len]) || is_digit(p[len])))
		len++;
	/* with its semicolon the whole name; else the longest one that needs none */
	if (len < limit && p[len] == ';' && find_name(p, len, true, referent))
		return p + len;
	for (len = len < MAX_BARE_NAME ? len : MAX_BARE_NAME; len > 0; len--)
		if (find_name(p, len, false, referent))
			return p + len;
	return NULL;
}

/* Read a reference at '&'. Write its characters, or the ampersand. */
static void
read_reference(Page *page)
{
	const char *start = page->p++;
	const char *next;
	Referent referent = {0, 0};
	char bytes[2 * SIMDUP_HTML_CHAR_MAX];
	size_t len = 1;
	size_t more = 0;

	if (page->p < page->end && *page->p == '#')
		next = read_number(page->p, page->end, referent);
	else
		next = read_name(page->p, page->end, referent);
	if (next == NULL)
	{
		put_bytes(page, "&", 1);
		return;
	}
	if (next < page->end && *next == ';')
		next++;
	page->p = next;

	bytes[0] = (char) referent[0];
	if (referent[0] >= 0x80)
		len = page->encode(page->arg, referent[0], bytes);
	if (referent[1] >= 0x80)
		more = page->encode(page->arg, referent[1], bytes + len);
	else if (referent[1] > 0)
		bytes[len + more++] = (char) referent[1];
	/* as it is, if the encoding lacks a character, or there is no room for it */
	if (len == 0 || (more == 0 && referent[1] > 0) ||
		len + more > SIMDUP_HTML_ROOM((size_t) (next - start)))
		put_bytes(page, start, (size_t) (next - start));
	else if (referent[0] < 0x80 && is_space(bytes[0]))
		put_space(page);
	else
		put_bytes(page, bytes, len + more);
}

/* From within a tag to behind its '>'. Quotes count only around values. */
static const char *
skip_tag(const char *p, const char *end)
{
	bool value = false;

	for (; p < end && *p != '>'; p++)
	{
		simdup_check_interrupts_at((uintptr_t) p);
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

/* Read a tag at '<' and a letter, or at "</" and a letter. */
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

/*
 * Read a CDATA section: its text is kept. Browsers read one as a comment unless it is
 * in MathML or SVG, but feeds and XHTML carry their texts in such sections.
 */
static void
read_cdata(Page *page, const char *text)
{
	const char *next = skip_past(text, page->end, "]]>");
	bool is_closed = next - text >= 3 && memcmp(next - 3, "]]>", 3) == 0;
	const char *end = is_closed ? next - 3 : next;

	for (page->p = text; page->p < end; simdup_check_interrupts())
		read_text(page, end, true);
	page->p = next;
}

/* Read markup at '<', or a '<' that is text. */
static void
read_markup(Page *page)
{
	const char *p = page->p;
	size_t left = (size_t) (page->end - p);
	char next = left > 1 ? p[1] : '\0';

	if (is_letter(next) || (next == '/' && left > 2 && is_letter(p[2])))
		read_tag(page);
	else if (left >= 4 && memcmp(p, "<!--", 4) == 0)
		page->p = skip_comment(p + 2, page->end);
	else if (left >= 9 && memcmp(p, "<![CDATA[", 9) == 0)
		read_cdata(page, p + 9);
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
	Page page = {html, html + len, out, 0, 0, encode, arg};

	while (page.p < page.end)
	{
		simdup_check_interrupts();
		if (*page.p == '<')
			read_markup(&page);
		else if (*page.p == '&')
			read_reference(&page);
		else
			read_text(&page, page.end, false);
	}
	return page.out_len;
}

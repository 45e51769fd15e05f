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

#include "core/host.h"
#include "core/unicode/html.h"

/* A named character reference of HTML 4.01, or apos. */
typedef struct HtmlEntity
{
	char name[9];
	uint16_t code_point;
} HtmlEntity;

/* In byte order of the names. */
/* clang-format off */
static const HtmlEntity html_entities[] = {
	{"AElig", 0xc6}, {"Aacute", 0xc1}, {"Acirc", 0xc2}, {"Agrave", 0xc0},
	{"Alpha", 0x391}, {"Aring", 0xc5}, {"Atilde", 0xc3}, {"Auml", 0xc4},
	{"Beta", 0x392}, {"Ccedil", 0xc7}, {"Chi", 0x3a7}, {"Dagger", 0x2021},
	{"Delta", 0x394}, {"ETH", 0xd0}, {"Eacute", 0xc9}, {"Ecirc", 0xca},
	{"Egrave", 0xc8}, {"Epsilon", 0x395}, {"Eta", 0x397}, {"Euml", 0xcb},
	{"Gamma", 0x393}, {"Iacute", 0xcd}, {"Icirc", 0xce}, {"Igrave", 0xcc},
	{"Iota", 0x399}, {"Iuml", 0xcf}, {"Kappa", 0x39a}, {"Lambda", 0x39b},
	{"Mu", 0x39c}, {"Ntilde", 0xd1}, {"Nu", 0x39d}, {"OElig", 0x152},
	{"Oacute", 0xd3}, {"Ocirc", 0xd4}, {"Ograve", 0xd2}, {"Omega", 0x3a9},
	{"Omicron", 0x39f}, {"Oslash", 0xd8}, {"Otilde", 0xd5}, {"Ouml", 0xd6},
	{"Phi", 0x3a6}, {"Pi", 0x3a0}, {"Prime", 0x2033}, {"Psi", 0x3a8},
	{"Rho", 0x3a1}, {"Scaron", 0x160}, {"Sigma", 0x3a3}, {"THORN", 0xde},
	{"Tau", 0x3a4}, {"Theta", 0x398}, {"Uacute", 0xda}, {"Ucirc", 0xdb},
	{"Ugrave", 0xd9}, {"Upsilon", 0x3a5}, {"Uuml", 0xdc}, {"Xi", 0x39e},
	{"Yacute", 0xdd}, {"Yuml", 0x178}, {"Zeta", 0x396}, {"aacute", 0xe1},
	{"acirc", 0xe2}, {"acute", 0xb4}, {"aelig", 0xe6}, {"agrave", 0xe0},
	{"alefsym", 0x2135}, {"alpha", 0x3b1}, {"amp", 0x26}, {"and", 0x2227},
	{"ang", 0x2220}, {"apos", 0x27}, {"aring", 0xe5}, {"asymp", 0x2248},
	{"atilde", 0xe3}, {"auml", 0xe4}, {"bdquo", 0x201e}, {"beta", 0x3b2},
	{"brvbar", 0xa6}, {"bull", 0x2022}, {"cap", 0x2229}, {"ccedil", 0xe7},
	{"cedil", 0xb8}, {"cent", 0xa2}, {"chi", 0x3c7}, {"circ", 0x2c6},
	{"clubs", 0x2663}, {"cong", 0x2245}, {"copy", 0xa9}, {"crarr", 0x21b5},
	{"cup", 0x222a}, {"curren", 0xa4}, {"dArr", 0x21d3}, {"dagger", 0x2020},
	{"darr", 0x2193}, {"deg", 0xb0}, {"delta", 0x3b4}, {"diams", 0x2666},
	{"divide", 0xf7}, {"eacute", 0xe9}, {"ecirc", 0xea}, {"egrave", 0xe8},
	{"empty", 0x2205}, {"emsp", 0x2003}, {"ensp", 0x2002}, {"epsilon", 0x3b5},
	{"equiv", 0x2261}, {"eta", 0x3b7}, {"eth", 0xf0}, {"euml", 0xeb},
	{"euro", 0x20ac}, {"exist", 0x2203}, {"fnof", 0x192}, {"forall", 0x2200},
	{"frac12", 0xbd}, {"frac14", 0xbc}, {"frac34", 0xbe}, {"frasl", 0x2044},
	{"gamma", 0x3b3}, {"ge", 0x2265}, {"gt", 0x3e}, {"hArr", 0x21d4},
	{"harr", 0x2194}, {"hearts", 0x2665}, {"hellip", 0x2026}, {"iacute", 0xed},
	{"icirc", 0xee}, {"iexcl", 0xa1}, {"igrave", 0xec}, {"image", 0x2111},
	{"infin", 0x221e}, {"int", 0x222b}, {"iota", 0x3b9}, {"iquest", 0xbf},
	{"isin", 0x2208}, {"iuml", 0xef}, {"kappa", 0x3ba}, {"lArr", 0x21d0},
	{"lambda", 0x3bb}, {"lang", 0x2329}, {"laquo", 0xab}, {"larr", 0x2190},
	{"lceil", 0x2308}, {"ldquo", 0x201c}, {"le", 0x2264}, {"lfloor", 0x230a},
	{"lowast", 0x2217}, {"loz", 0x25ca}, {"lrm", 0x200e}, {"lsaquo", 0x2039},
	{"lsquo", 0x2018}, {"lt", 0x3c}, {"macr", 0xaf}, {"mdash", 0x2014},
	{"micro", 0xb5}, {"middot", 0xb7}, {"minus", 0x2212}, {"mu", 0x3bc},
	{"nabla", 0x2207}, {"nbsp", 0xa0}, {"ndash", 0x2013}, {"ne", 0x2260},
	{"ni", 0x220b}, {"not", 0xac}, {"notin", 0x2209}, {"nsub", 0x2284},
	{"ntilde", 0xf1}, {"nu", 0x3bd}, {"oacute", 0xf3}, {"ocirc", 0xf4},
	{"oelig", 0x153}, {"ograve", 0xf2}, {"oline", 0x203e}, {"omega", 0x3c9},
	{"omicron", 0x3bf}, {"oplus", 0x2295}, {"or", 0x2228}, {"ordf", 0xaa},
	{"ordm", 0xba}, {"oslash", 0xf8}, {"otilde", 0xf5}, {"otimes", 0x2297},
	{"ouml", 0xf6}, {"para", 0xb6}, {"part", 0x2202}, {"permil", 0x2030},
	{"perp", 0x22a5}, {"phi", 0x3c6}, {"pi", 0x3c0}, {"piv", 0x3d6},
	{"plusmn", 0xb1}, {"pound", 0xa3}, {"prime", 0x2032}, {"prod", 0x220f},
	{"prop", 0x221d}, {"psi", 0x3c8}, {"quot", 0x22}, {"rArr", 0x21d2},
	{"radic", 0x221a}, {"rang", 0x232a}, {"raquo", 0xbb}, {"rarr", 0x2192},
	{"rceil", 0x2309}, {"rdquo", 0x201d}, {"real", 0x211c}, {"reg", 0xae},
	{"rfloor", 0x230b}, {"rho", 0x3c1}, {"rlm", 0x200f}, {"rsaquo", 0x203a},
	{"rsquo", 0x2019}, {"sbquo", 0x201a}, {"scaron", 0x161}, {"sdot", 0x22c5},
	{"sect", 0xa7}, {"shy", 0xad}, {"sigma", 0x3c3}, {"sigmaf", 0x3c2},
	{"sim", 0x223c}, {"spades", 0x2660}, {"sub", 0x2282}, {"sube", 0x2286},
	{"sum", 0x2211}, {"sup", 0x2283}, {"sup1", 0xb9}, {"sup2", 0xb2},
	{"sup3", 0xb3}, {"supe", 0x2287}, {"szlig", 0xdf}, {"tau", 0x3c4},
	{"there4", 0x2234}, {"theta", 0x3b8}, {"thetasym", 0x3d1},
	{"thinsp", 0x2009}, {"thorn", 0xfe}, {"tilde", 0x2dc}, {"times", 0xd7},
	{"trade", 0x2122}, {"uArr", 0x21d1}, {"uacute", 0xfa}, {"uarr", 0x2191},
	{"ucirc", 0xfb}, {"ugrave", 0xf9}, {"uml", 0xa8}, {"upsih", 0x3d2},
	{"upsilon", 0x3c5}, {"uuml", 0xfc}, {"weierp", 0x2118}, {"xi", 0x3be},
	{"yacute", 0xfd}, {"yen", 0xa5}, {"yuml", 0xff}, {"zeta", 0x3b6},
	{"zwj", 0x200d}, {"zwnj", 0x200c},
};
/* clang-format on */

#define N_HTML_ENTITIES (sizeof(html_entities) / sizeof(html_entities[0]))

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

/* Read text up to '<' or '&', or to the next look for interrupts. */
static void
read_text(Page *page)
{
	const char *p = page->p;
	const char *end =
		page->end - p > SIMDUP_LOOK_BYTES ? p + SIMDUP_LOOK_BYTES : page->end;

	while (p < end && *p != '<' && *p != '&')
	{
		const char *word = p;

		while (p < end && *p != '<' && *p != '&' && !is_space(*p))
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
	*code_point = repair_code_point(value);
	return p > digits ? p : NULL;
}

/* A named reference; returns the end of its name, or NULL. */
static const char *
read_name(const char *p, const char *end, uint32_t *code_point)
{
	char name[sizeof(html_entities[0].name) + 1] = {0};
	size_t len = 0;
	size_t limit = (size_t) (end - p);

	for (; len < limit && len < sizeof(name) - 1 &&
		   (is_letter(p[len]) || is_digit(p[len]));
		 len++)
		name[len] = p[len];
	/* with its semicolon the whole name; else the longest one that needs none */
	for (; len > 0; name[--len] = '\0')
	{
		const HtmlEntity *entity = bsearch(name, html_entities, N_HTML_ENTITIES,
										   sizeof(HtmlEntity), compare_names);

		if (entity == NULL)
			continue;
		*code_point = entity->code_point;
		/* as in browsers, Latin-1 and the four of markup need none */
		if ((len < limit && p[len] == ';') ||
			(entity->code_point < 0x100 && entity->code_point != '\''))
			return p + len;
	}
	return NULL;
}

/* Read a reference at '&': write its character, or the ampersand. */
static void
read_reference(Page *page)
{
	const char *start = page->p++;
	const char *next;
	uint32_t code_point = 0;
	char bytes[SIMDUP_HTML_CHAR_MAX];
	size_t len = 1;

	if (page->p < page->end && *page->p == '#')
		next = read_number(page->p, page->end, &code_point);
	else
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
	else if (code_point < 0x80 && is_space(bytes[0]))
		put_space(page);
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
		/* "<!-->" and "<!--->" are comments too */
		page->p = skip_past(p + 2, page->end, "-->");
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
			read_text(&page);
	}
	return page.out_len;
}

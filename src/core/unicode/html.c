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

#include "core/unicode/html.h"
#include "core/host.h"

/*
 * A named character reference of HTML 4.01, or apos. Like browsers, simdup reads
 * the references of Latin-1 and the four of markup without their semicolon, too.
 */
typedef struct HtmlEntity
{
	char name[9];
	bool bare; /* also without the semicolon */
	uint16_t code_point;
} HtmlEntity;

/* In byte order of the names. */
/* clang-format off */
static const HtmlEntity html_entities[] = {
	{"AElig", 1, 0x00c6}, {"Aacute", 1, 0x00c1}, {"Acirc", 1, 0x00c2},
	{"Agrave", 1, 0x00c0}, {"Alpha", 0, 0x0391}, {"Aring", 1, 0x00c5},
	{"Atilde", 1, 0x00c3}, {"Auml", 1, 0x00c4}, {"Beta", 0, 0x0392},
	{"Ccedil", 1, 0x00c7}, {"Chi", 0, 0x03a7}, {"Dagger", 0, 0x2021},
	{"Delta", 0, 0x0394}, {"ETH", 1, 0x00d0}, {"Eacute", 1, 0x00c9},
	{"Ecirc", 1, 0x00ca}, {"Egrave", 1, 0x00c8}, {"Epsilon", 0, 0x0395},
	{"Eta", 0, 0x0397}, {"Euml", 1, 0x00cb}, {"Gamma", 0, 0x0393},
	{"Iacute", 1, 0x00cd}, {"Icirc", 1, 0x00ce}, {"Igrave", 1, 0x00cc},
	{"Iota", 0, 0x0399}, {"Iuml", 1, 0x00cf}, {"Kappa", 0, 0x039a},
	{"Lambda", 0, 0x039b}, {"Mu", 0, 0x039c}, {"Ntilde", 1, 0x00d1},
	{"Nu", 0, 0x039d}, {"OElig", 0, 0x0152}, {"Oacute", 1, 0x00d3},
	{"Ocirc", 1, 0x00d4}, {"Ograve", 1, 0x00d2}, {"Omega", 0, 0x03a9},
	{"Omicron", 0, 0x039f}, {"Oslash", 1, 0x00d8}, {"Otilde", 1, 0x00d5},
	{"Ouml", 1, 0x00d6}, {"Phi", 0, 0x03a6}, {"Pi", 0, 0x03a0},
	{"Prime", 0, 0x2033}, {"Psi", 0, 0x03a8}, {"Rho", 0, 0x03a1},
	{"Scaron", 0, 0x0160}, {"Sigma", 0, 0x03a3}, {"THORN", 1, 0x00de},
	{"Tau", 0, 0x03a4}, {"Theta", 0, 0x0398}, {"Uacute", 1, 0x00da},
	{"Ucirc", 1, 0x00db}, {"Ugrave", 1, 0x00d9}, {"Upsilon", 0, 0x03a5},
	{"Uuml", 1, 0x00dc}, {"Xi", 0, 0x039e}, {"Yacute", 1, 0x00dd},
	{"Yuml", 0, 0x0178}, {"Zeta", 0, 0x0396}, {"aacute", 1, 0x00e1},
	{"acirc", 1, 0x00e2}, {"acute", 1, 0x00b4}, {"aelig", 1, 0x00e6},
	{"agrave", 1, 0x00e0}, {"alefsym", 0, 0x2135}, {"alpha", 0, 0x03b1},
	{"amp", 1, 0x0026}, {"and", 0, 0x2227}, {"ang", 0, 0x2220},
	{"apos", 0, 0x0027}, {"aring", 1, 0x00e5}, {"asymp", 0, 0x2248},
	{"atilde", 1, 0x00e3}, {"auml", 1, 0x00e4}, {"bdquo", 0, 0x201e},
	{"beta", 0, 0x03b2}, {"brvbar", 1, 0x00a6}, {"bull", 0, 0x2022},
	{"cap", 0, 0x2229}, {"ccedil", 1, 0x00e7}, {"cedil", 1, 0x00b8},
	{"cent", 1, 0x00a2}, {"chi", 0, 0x03c7}, {"circ", 0, 0x02c6},
	{"clubs", 0, 0x2663}, {"cong", 0, 0x2245}, {"copy", 1, 0x00a9},
	{"crarr", 0, 0x21b5}, {"cup", 0, 0x222a}, {"curren", 1, 0x00a4},
	{"dArr", 0, 0x21d3}, {"dagger", 0, 0x2020}, {"darr", 0, 0x2193},
	{"deg", 1, 0x00b0}, {"delta", 0, 0x03b4}, {"diams", 0, 0x2666},
	{"divide", 1, 0x00f7}, {"eacute", 1, 0x00e9}, {"ecirc", 1, 0x00ea},
	{"egrave", 1, 0x00e8}, {"empty", 0, 0x2205}, {"emsp", 0, 0x2003},
	{"ensp", 0, 0x2002}, {"epsilon", 0, 0x03b5}, {"equiv", 0, 0x2261},
	{"eta", 0, 0x03b7}, {"eth", 1, 0x00f0}, {"euml", 1, 0x00eb},
	{"euro", 0, 0x20ac}, {"exist", 0, 0x2203}, {"fnof", 0, 0x0192},
	{"forall", 0, 0x2200}, {"frac12", 1, 0x00bd}, {"frac14", 1, 0x00bc},
	{"frac34", 1, 0x00be}, {"frasl", 0, 0x2044}, {"gamma", 0, 0x03b3},
	{"ge", 0, 0x2265}, {"gt", 1, 0x003e}, {"hArr", 0, 0x21d4},
	{"harr", 0, 0x2194}, {"hearts", 0, 0x2665}, {"hellip", 0, 0x2026},
	{"iacute", 1, 0x00ed}, {"icirc", 1, 0x00ee}, {"iexcl", 1, 0x00a1},
	{"igrave", 1, 0x00ec}, {"image", 0, 0x2111}, {"infin", 0, 0x221e},
	{"int", 0, 0x222b}, {"iota", 0, 0x03b9}, {"iquest", 1, 0x00bf},
	{"isin", 0, 0x2208}, {"iuml", 1, 0x00ef}, {"kappa", 0, 0x03ba},
	{"lArr", 0, 0x21d0}, {"lambda", 0, 0x03bb}, {"lang", 0, 0x2329},
	{"laquo", 1, 0x00ab}, {"larr", 0, 0x2190}, {"lceil", 0, 0x2308},
	{"ldquo", 0, 0x201c}, {"le", 0, 0x2264}, {"lfloor", 0, 0x230a},
	{"lowast", 0, 0x2217}, {"loz", 0, 0x25ca}, {"lrm", 0, 0x200e},
	{"lsaquo", 0, 0x2039}, {"lsquo", 0, 0x2018}, {"lt", 1, 0x003c},
	{"macr", 1, 0x00af}, {"mdash", 0, 0x2014}, {"micro", 1, 0x00b5},
	{"middot", 1, 0x00b7}, {"minus", 0, 0x2212}, {"mu", 0, 0x03bc},
	{"nabla", 0, 0x2207}, {"nbsp", 1, 0x00a0}, {"ndash", 0, 0x2013},
	{"ne", 0, 0x2260}, {"ni", 0, 0x220b}, {"not", 1, 0x00ac},
	{"notin", 0, 0x2209}, {"nsub", 0, 0x2284}, {"ntilde", 1, 0x00f1},
	{"nu", 0, 0x03bd}, {"oacute", 1, 0x00f3}, {"ocirc", 1, 0x00f4},
	{"oelig", 0, 0x0153}, {"ograve", 1, 0x00f2}, {"oline", 0, 0x203e},
	{"omega", 0, 0x03c9}, {"omicron", 0, 0x03bf}, {"oplus", 0, 0x2295},
	{"or", 0, 0x2228}, {"ordf", 1, 0x00aa}, {"ordm", 1, 0x00ba},
	{"oslash", 1, 0x00f8}, {"otilde", 1, 0x00f5}, {"otimes", 0, 0x2297},
	{"ouml", 1, 0x00f6}, {"para", 1, 0x00b6}, {"part", 0, 0x2202},
	{"permil", 0, 0x2030}, {"perp", 0, 0x22a5}, {"phi", 0, 0x03c6},
	{"pi", 0, 0x03c0}, {"piv", 0, 0x03d6}, {"plusmn", 1, 0x00b1},
	{"pound", 1, 0x00a3}, {"prime", 0, 0x2032}, {"prod", 0, 0x220f},
	{"prop", 0, 0x221d}, {"psi", 0, 0x03c8}, {"quot", 1, 0x0022},
	{"rArr", 0, 0x21d2}, {"radic", 0, 0x221a}, {"rang", 0, 0x232a},
	{"raquo", 1, 0x00bb}, {"rarr", 0, 0x2192}, {"rceil", 0, 0x2309},
	{"rdquo", 0, 0x201d}, {"real", 0, 0x211c}, {"reg", 1, 0x00ae},
	{"rfloor", 0, 0x230b}, {"rho", 0, 0x03c1}, {"rlm", 0, 0x200f},
	{"rsaquo", 0, 0x203a}, {"rsquo", 0, 0x2019}, {"sbquo", 0, 0x201a},
	{"scaron", 0, 0x0161}, {"sdot", 0, 0x22c5}, {"sect", 1, 0x00a7},
	{"shy", 1, 0x00ad}, {"sigma", 0, 0x03c3}, {"sigmaf", 0, 0x03c2},
	{"sim", 0, 0x223c}, {"spades", 0, 0x2660}, {"sub", 0, 0x2282},
	{"sube", 0, 0x2286}, {"sum", 0, 0x2211}, {"sup", 0, 0x2283},
	{"sup1", 1, 0x00b9}, {"sup2", 1, 0x00b2}, {"sup3", 1, 0x00b3},
	{"supe", 0, 0x2287}, {"szlig", 1, 0x00df}, {"tau", 0, 0x03c4},
	{"there4", 0, 0x2234}, {"theta", 0, 0x03b8}, {"thetasym", 0, 0x03d1},
	{"thinsp", 0, 0x2009}, {"thorn", 1, 0x00fe}, {"tilde", 0, 0x02dc},
	{"times", 1, 0x00d7}, {"trade", 0, 0x2122}, {"uArr", 0, 0x21d1},
	{"uacute", 1, 0x00fa}, {"uarr", 0, 0x2191}, {"ucirc", 1, 0x00fb},
	{"ugrave", 1, 0x00f9}, {"uml", 1, 0x00a8}, {"upsih", 0, 0x03d2},
	{"upsilon", 0, 0x03c5}, {"uuml", 1, 0x00fc}, {"weierp", 0, 0x2118},
	{"xi", 0, 0x03be}, {"yacute", 1, 0x00fd}, {"yen", 1, 0x00a5},
	{"yuml", 1, 0x00ff}, {"zeta", 0, 0x03b6}, {"zwj", 0, 0x200d},
	{"zwnj", 0, 0x200c},
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

/* Return the entity whose name is these len bytes, or NULL. */
static const HtmlEntity *
find_entity(const char *bytes, size_t len)
{
	char name[sizeof(html_entities[0].name) + 1] = {0};

	memcpy(name, bytes, len);
	return bsearch(name, html_entities, N_HTML_ENTITIES, sizeof(HtmlEntity),
				   compare_names);
}

/* A named reference; returns the end of its name, or NULL. */
static const char *
read_name(const char *p, const char *end, uint32_t *code_point)
{
	size_t len = 0;
	size_t limit = (size_t) (end - p);

	while (len < limit && len < sizeof(html_entities[0].name) &&
		   (is_letter(p[len]) || is_digit(p[len])))
		len++;
	/* with its semicolon the whole name; else the longest one that needs none */
	for (; len > 0; len--)
	{
		const HtmlEntity *entity = find_entity(p, len);

		if (entity != NULL && (entity->bare || (len < limit && p[len] == ';')))
		{
			*code_point = entity->code_point;
			return p + len;
		}
	}
	return NULL;
}

/* Read a reference at '&': write its character, or the ampersand. */
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

/*
 * html.c
 *	  The stripper on any bytes. It stays within its buffers, makes no invalid
 *	  UTF-8 and leaves no white space but single separators. Escaped text comes
 *	  back as it was. Markup around a page changes nothing in it.
 */
#include "core/unicode/html.h"
#include "naive.h"

/* UTF-8, or an encoding that has nothing beyond ASCII where arg is NULL. */
static size_t
encode(void *arg, uint32_t code_point, char *out)
{
	must(code_point >= 0x80 && code_point <= 0x10FFFF);
	must(code_point < 0xD800 || code_point > 0xDFFF);
	return arg ? (size_t) simdup_utf8_encode(code_point, (unsigned char *) out)
			   : 0;
}

typedef struct Text
{
	char *bytes;
	size_t len;
} Text;

/* Parts one after the other, in a block of that size. To be freed. */
static Text
concat(const Text *parts, int n)
{
	Text whole = {NULL, 0};

	for (int i = 0; i < n; i++)
		whole.len += parts[i].len;
	whole.bytes = checked(malloc(whole.len ? whole.len : 1));
	whole.len = 0;
	for (int i = 0; i < n; i++)
	{
		if (parts[i].len > 0)
			memcpy(whole.bytes + whole.len, parts[i].bytes, parts[i].len);
		whole.len += parts[i].len;
	}
	return whole;
}

static Text
literal(const char *string)
{
	return (Text){(char *) string, strlen(string)};
}

static bool utf8 = true;

static Text
strip(Text page)
{
	Text text = {checked(malloc(SIMDUP_HTML_ROOM(page.len) + 1)), 0};

	text.len = simdup_html_text(page.bytes, page.len, text.bytes, encode,
								utf8 ? &utf8 : NULL);
	must(text.len <= SIMDUP_HTML_ROOM(page.len));
	return text;
}

static bool
same(Text a, Text b)
{
	return a.len == b.len &&
		   (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

/* Does the page of these parts have the same text as the expected one? */
static bool
strips_to(const Text *parts, int n, Text expected)
{
	Text page = concat(parts, n);
	Text text = strip(page);
	bool equal = same(text, expected);

	free(page.bytes);
	free(text.bytes);
	return equal;
}

static bool
has(Text text, const char *string)
{
	size_t len = strlen(string);

	for (size_t i = 0; i + len <= text.len; i++)
	{
		size_t j = 0;

		while (j < len && (text.bytes[i + j] == string[j] ||
						   (naive_is_letter((unsigned char) string[j]) &&
							(text.bytes[i + j] | 0x20) == string[j])))
			j++;
		if (j == len)
			return true;
	}
	return false;
}

static bool
is_white(char c)
{
	return c != 0 && strchr(" \t\n\r\f\v", c);
}

/* What a page without markup strips to. To be freed. */
static Text
collapse(Text text)
{
	Text out = {checked(malloc(text.len ? text.len : 1)), 0};

	for (size_t i = 0; i < text.len; i++)
		if (!is_white(text.bytes[i]))
		{
			if (i > 0 && is_white(text.bytes[i - 1]) && out.len > 0)
				out.bytes[out.len++] = ' ';
			out.bytes[out.len++] = text.bytes[i];
		}
	return out;
}

/* With '<' and '&' as references. To be freed. */
static Text
escape(Text text)
{
	Text out = {checked(malloc(5 * text.len + 1)), 0};

	for (size_t i = 0; i < text.len; i++)
	{
		const char *reference = text.bytes[i] == '<'   ? "&lt;"
								: text.bytes[i] == '&' ? "&#38;"
													   : NULL;

		if (reference)
			out.len += strlen(strcpy(out.bytes + out.len, reference));
		else
			out.bytes[out.len++] = text.bytes[i];
	}
	return out;
}

static void
check_form(Text page, Text text)
{
	if (naive_utf8_valid(page.bytes, page.len))
		must(naive_utf8_valid(text.bytes, text.len));
	for (size_t i = 0; i < text.len; i++)
		if (is_white(text.bytes[i]))
			must((text.bytes[i] == ' ' || text.bytes[i] == '\n') && i > 0 &&
				 i + 1 < text.len && !is_white(text.bytes[i - 1]));
	/* a text that has no markup is its own text, but for the line ends */
	if (!has(text, "<") && !has(text, "&"))
	{
		Text again = strip(text);

		must(again.len == text.len);
		for (size_t i = 0; i < text.len; i++)
			must(again.bytes[i] == text.bytes[i] ||
				 (text.bytes[i] == '\n' && again.bytes[i] == ' '));
		free(again.bytes);
	}
}

/* other comes back, escaped or as CDATA; and before the page it is a line of its own. */
static void
check_escaped(Text other, Text page, Text text)
{
	Text escaped = escape(other);
	Text plain = collapse(other);
	Text parts[3] = {escaped, literal("<p>"), page};
	Text lines[3] = {plain, literal(plain.len && text.len ? "\n" : ""), text};
	Text joined = concat(lines, 3);

	if (!has(other, "]]>"))
		must(strips_to((Text[]){literal("<![CDATA["), other, literal("]]>")}, 3,
					   plain));
	must(strips_to(parts, 1, plain));
	must(strips_to(parts, 3, joined));
	free(escaped.bytes);
	free(plain.bytes);
	free(joined.bytes);
}

/* other in a comment, in an attribute or in a script is not there. */
static void
check_hidden(Text other, Text page, Text text)
{
	bool ends_early =
		other.len > 0 && (other.bytes[0] == '>' ||
						  (other.len > 1 && memcmp(other.bytes, "->", 2) == 0));

	if (!has(other, "-->") && !ends_early)
		must(strips_to((Text[]){literal("<!--"), other, literal("-->"), page},
					   4, text));
	if (!has(other, "\""))
		must(
			strips_to((Text[]){literal("<b x=\""), other, literal("\">"), page},
					  4, text));
	if (!has(other, "'"))
		must(strips_to((Text[]){literal("</i y = '"), other, literal("' z>"),
								page},
					   4, text));
	if (!has(other, ">"))
		must(strips_to((Text[]){literal("<?"), other, literal(">"), page}, 4,
					   text));
	if (!has(other, "</script"))
		must(strips_to((Text[]){literal("<Script>"), other,
								literal("</sCRIPT >"), page},
					   4, text));
}

/* A numeric reference is its character. */
static void
check_reference(uint32_t code_point)
{
	char reference[32];
	unsigned char expected[SIMDUP_MAX_UTF8];
	Text text = {(char *) expected, 0};

	code_point = code_point % 0x10FFFF + 1;
	if (code_point < 0xA0 || (code_point >= 0xD800 && code_point <= 0xDFFF))
		return;
	text.len = (size_t) simdup_utf8_encode(code_point, expected);
	sprintf(reference, code_point & 1 ? "&#%u;" : "&#x%X;", code_point);
	if (!utf8)
		text = literal(reference);
	must(strips_to((Text[]){literal(reference)}, 1, text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	Text other;
	Text page;
	Text text;

	utf8 = take_byte(&in) % 4 != 1;
	check_reference((uint32_t) take_between(&in, 0, 0xFFFFFF));
	other.bytes = take_text(&in, take_byte(&in), &other.len);
	page.bytes = take_text(&in, SIZE_MAX, &page.len);
	text = strip(page);
	check_form(page, text);
	check_escaped(other, page, text);
	check_hidden(other, page, text);
	free(other.bytes);
	free(page.bytes);
	free(text.bytes);
	return 0;
}

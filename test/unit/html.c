/*
 * html.c
 *	  Stripping of pages: the cases of the HTML standard that matter for text,
 *	  and every prefix and mutation of a page within bounds.
 */
#include "core/unicode/html.h"
#include "core/unicode/htmlnames.h"
#include "tap.h"

/* UTF-8, as if the encoding lacked U+2022. */
static size_t
encode(void *arg, uint32_t c, char *out)
{
	++*(int *) arg;
	if (c == 0x2022)
		return 0;
	if (c < 0x800)
	{
		out[0] = (char) (0xc0 | c >> 6);
		out[1] = (char) (0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000)
	{
		out[0] = (char) (0xe0 | c >> 12);
		out[1] = (char) (0x80 | (c >> 6 & 0x3f));
		out[2] = (char) (0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char) (0xf0 | c >> 18);
	out[1] = (char) (0x80 | (c >> 12 & 0x3f));
	out[2] = (char) (0x80 | (c >> 6 & 0x3f));
	out[3] = (char) (0x80 | (c & 0x3f));
	return 4;
}

/* Strip out of and into blocks of the exact size, for the sanitizer. */
static char *
strip(const char *html, size_t len)
{
	char *in = malloc(len ? len : 1);
	char *out = malloc(SIMDUP_HTML_ROOM(len) + 1);
	char *text;
	int calls = 0;
	size_t n;

	memcpy(in, html, len);
	n = simdup_html_text(in, len, out, encode, &calls);
	if (n > SIMDUP_HTML_ROOM(len))
		abort();
	out[n] = '\0';
	text = strdup(out);
	free(in);
	free(out);
	return text;
}

static void
test(const char *html, const char *expected)
{
	char *text = strip(html, strlen(html));

	if (!ok(strcmp(text, expected) == 0, "%.40s", html))
		printf("# got \"%s\", expected \"%s\"\n", text, expected);
	free(text);
}

/* Append UTF-8 of code points in hexadecimal digits, "+" between them. */
static char *
append_chars(char *out, const char *digits)
{
	char *end;
	int calls;

	for (;; digits = end + 1)
	{
		uint32_t c = (uint32_t) strtoul(digits, &end, 16);

		if (c < 0x80)
			*out++ = (char) c;
		else
			out += encode(&calls, c, out);
		if (*end != '+')
			break;
	}
	*out = '\0';
	return out;
}

/* Each name of the list is found, and a name with a letter more is none. */
static void
test_names(void)
{
	int n = 0;
	int n_bare = 0;
	int n_wrong = 0;

	for (const char *name = simdup_html_names + 1; *name != '\0';
		 name = strchr(name, ' ') + 1)
	{
		int len = (int) strcspn(name, ";!");
		bool bare = name[len] == '!';
		char page[100];
		char expected[100];
		char *text;

		sprintf(page, "(&%.*s;)", len, name);
		strcpy(append_chars(stpcpy(expected, "("), name + len + 1), ")");
		/* white space is one blank, and the encoding lacks a bullet */
		if (strcmp(expected, "(\t)") == 0 || strcmp(expected, "(\n)") == 0)
			strcpy(expected, "( )");
		if (strcmp(expected, "()") == 0)
			strcpy(expected, page);
		text = strip(page, strlen(page));
		n_wrong += strcmp(text, expected) != 0;
		free(text);
		sprintf(page, "(&%.*s)", len, name);
		text = strip(page, strlen(page));
		n_wrong += (strcmp(text, expected) == 0) != bare;
		free(text);
		n++;
		n_bare += bare;
	}
	ok(n == 2125 && n_bare == 106 && n_wrong == 0,
	   "%d names and %d without a semicolon, %d wrong", n, n_bare, n_wrong);
}

/* Text, a tag, a reference and a comment of megabytes each. */
static void
test_long_page(void)
{
	size_t stretch = 3 << 20;
	size_t len = 4 * stretch;
	char *page = malloc(len);
	char *text;

	memset(page, 'a', len);
	memcpy(page + stretch, "<p ", 3);
	memcpy(page + 2 * stretch - 1, ">", 1);
	memcpy(page + 2 * stretch, "&#", 2);
	memset(page + 2 * stretch + 2, '1', stretch - 2);
	memcpy(page + 3 * stretch, "<!--", 4);
	memset(page + 3 * stretch + 4, '-', stretch - 4);
	text = strip(page, len);
	ok(strlen(text) == stretch + 4 && text[stretch - 1] == 'a' &&
		   strcmp(text + stretch, "\n\357\277\275") == 0,
	   "text, tag, reference and comment of megabytes");
	free(text);
	free(page);
}

int
main(void)
{
	static const char page[] =
		"<!DOCTYPE html><html><head><title>T &amp; U</title>"
		"<style>p { color: red }</style><script>if (a < b) \"</p>\"</script>"
		"</head><body class='x>y'><p>one<b>two</b>&nbsp;&#x4e2d;&#22269;"
		"<!-- <p>gone</p> --><br/>&lt;three&gt; &copy &unknown; a < b"
		"</body></html>";
	char mutated[sizeof(page)];
	unsigned int state = 1;

	test(page, "T & U\nonetwo\302\240中国\n<three> © &unknown; a < b");
	test("", "");
	test("plain", "plain");
	test("  a \n\t b  ", "a b");
	test("a<br>b<BR/>c<p>d</p>e", "a\nb\nc\nd\ne");
	test("<p> a <p> b", "a\nb");
	test("a<b>b</b>c<unknown-element>d", "abcd");
	test("a<td>b<li>c", "a\nb\nc");
	test("1 < 2 > 0 <3 <", "1 < 2 > 0 <3 <");
	test("a<!-->b<!--->c<!---->d<!-- - -- > -->e", "abcde");
	test("a<!--b--!>c<!--!>d--!>e<!-- --! -!> --->f", "acef");
	test("a<!-- never closed <p>b", "a");
	test("a<!--x>>>-->b", "ab");
	test("a<!DOCTYPE x>b<?php echo ?>c</ d>e</>f", "abcef");
	test("a<![CDATA[ b ]]>c", "a b c");
	test("<![CDATA[<b> &amp; ]] > ]>]]>c", "<b> &amp; ]] > ]>c");
	test("<p><![CDATA[a]]></p><![CDATA[b]]>", "a\nb");
	test("<![CDATA[a]]", "a]]");
	test("<![CDATA[]]>a<![CDATA[>]]>", "a>");
	test("<![cdata[a]]>b<![CDATA a]]>c", "bc");
	test("<script><![CDATA[a]]></script>b", "b");
	test("<a href=\"x>y\" title='>'>b</a>", "b");
	test("<p don't>a</p> it's", "a\nit's");
	test("<a href = 'x>'>b", "b");
	test("<a href='x>b", "");
	test("<script>a</scripty></script >b", "b");
	test("<SCRIPT>a</Script>b", "b");
	test("<script>a", "");
	test("<style>a</style", "");
	test("a</script>b", "ab");
	test("&amp;lt; &lt;b&gt; &amp", "&lt; <b> &");
	test("&#65;&#x41;&#X61;&#65", "AAaA");
	test("&#0;&#xd800;&#1114112;&#99999999999999999999;",
		 "\357\277\275\357\277\275\357\277\275\357\277\275");
	test("&#128;&#150;", "€–");
	test("&#;&#x;&#xg;& &&", "&#;&#x;&#xg;& &&");
	test("&hellip;&hellip &notin;&notit;", "…&hellip ∉¬it;");
	test("&bull;&#8226;x", "&bull;&#8226;x");
	test("a&#32;&#10; b", "a b");
	test("&thetasym;&thetasymx;", "ϑ&thetasymx;");
	test("a&Tab;&NewLine;b&nGt;&nLt;&acE;&bne;&fjlig;&Afr;",
		 "a b≫⃒≪⃒∾̳=⃥fj\360\235\224\204");
	test("&AMP&LT;&Amp;&thorn&thor", "&<&Amp;þ&thor");
	test("&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegrals;",
		 "∳&CounterClockwiseContourIntegrals;");
	test("\377\376<p>\200", "\377\376\n\200");

	test_names();
	test_long_page();
	for (size_t len = 0; len < sizeof(page); len++)
		free(strip(page, len));
	for (int i = 0; i < 20000; i++)
	{
		static const char interesting[] = "<>&;#x'\"=/!- \n\377a";

		memcpy(mutated, page, sizeof(page));
		for (int j = 0; j < 4; j++)
		{
			state = state * 1664525 + 1013904223;
			mutated[(state >> 8) % (sizeof(page) - 1)] =
				interesting[(state >> 20) % (sizeof(interesting) - 1)];
		}
		free(strip(mutated, sizeof(page) - 1));
	}
	ok(true, "prefixes and mutations stay within bounds");
	return done_testing();
}

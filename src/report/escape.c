/*
 * escape.c
 *	  Values and the page's own texts as HTML and JSON in plain ASCII.
 *
 * The page is ASCII, so it is right in every encoding that a client may save it
 * in. No byte of a value is copied as it is, unless it is a letter, a digit or
 * one of a few harmless marks. Translations are values, too.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"

#include "core/charclass.h"
#include "report/page.h"

#define REPLACEMENT_CHAR 0xFFFD

/* Return the next character. One that is not UTF-8 is U+FFFD. */
static uint32
next_char(SimdupUtf8 *rest)
{
	const unsigned char *p = (const unsigned char *) rest->bytes;
	int len;
	uint32 cp = simdup_utf8_decode(p, p + rest->len, &len);

	rest->bytes += len;
	rest->len -= (size_t) len;
	return cp == SIMDUP_INVALID_CHAR ? REPLACEMENT_CHAR : cp;
}

static bool
in_range(uint32 cp, uint32 first, uint32 last)
{
	return cp >= first && cp <= last;
}

/*
 * Check whether it is shown by its number: invisible, or able to reorder text.
 */
static bool
is_named(uint32 cp, SimdupHtmlForm form)
{
	/* scripts need the joiners and marks, so they count where they differ */
	if (in_range(cp, 0x200C, 0x200F) || cp == 0xAD || cp == 0x61C)
		return form == SIMDUP_HTML_CHANGED;
	return cp < 0x20 || in_range(cp, 0x7F, 0x9F) ||
		   in_range(cp, 0x200B, 0x200B) || in_range(cp, 0x2028, 0x202E) ||
		   in_range(cp, 0x2060, 0x206F) || cp == 0xFEFF ||
		   in_range(cp, 0xFFF9, 0xFFFB) || in_range(cp, 0xFDD0, 0xFDEF) ||
		   (cp & 0xFFFE) == 0xFFFE || in_range(cp, 0xE0000, 0xE0FFF);
}

/*
 * Put line ends and tabs as they are, marked where they may be the difference.
 */
static void
put_space(StringInfo page, uint32 cp, SimdupHtmlForm form)
{
	if (form == SIMDUP_HTML_CHANGED)
		appendStringInfoString(page, cp == '\n' ? "&#8629;" : "&#8677;");
	appendStringInfoChar(page, form == SIMDUP_HTML_PLAIN ? ' ' : (char) cp);
}

static void
put_char(StringInfo page, uint32 cp, SimdupHtmlForm form)
{
	if ((cp == '\n' || cp == '\t') && form != SIMDUP_HTML_LINE)
		put_space(page, cp, form);
	else if (cp == '\r' && form == SIMDUP_HTML_PLAIN)
		appendStringInfoChar(page, ' ');
	else if (is_named(cp, form))
		appendStringInfo(page,
						 form == SIMDUP_HTML_PLAIN
							 ? "[U+%04X]"
							 : "<span class=\"named\">U+%04X</span>",
						 cp);
	else if (cp > 0x7F || strchr("&<>\"'`=", (int) cp) != NULL)
		appendStringInfo(page, "&#%u;", cp);
	else
		appendStringInfoChar(page, (char) cp);
}

void
simdup_html_put(StringInfo page, SimdupUtf8 value, SimdupHtmlForm form)
{
	/* a line end of two characters is one, unless it is all that differs */
	bool joined = form == SIMDUP_HTML_TEXT ||
				  (form == SIMDUP_HTML_CHANGED && value.len > 2);

	while (value.len > 0)
	{
		uint32 cp = next_char(&value);

		if (cp == '\r' && joined && value.len > 0 && value.bytes[0] == '\n')
			continue;
		put_char(page, cp, form);
	}
}

void
simdup_html_put_text(StringInfo page, const text *value, SimdupHtmlForm form)
{
	simdup_html_put(page, simdup_text_to_utf8(value), form);
}

void
simdup_json_put(StringInfo page, SimdupUtf8 value)
{
	appendStringInfoChar(page, '"');
	while (value.len > 0)
	{
		uint32 cp = next_char(&value);

		if (cp > 0xFFFF)
			appendStringInfo(page, "\\u%04x\\u%04x",
							 0xD800 + ((cp - 0x10000) >> 10),
							 0xDC00 + ((cp - 0x10000) & 0x3FF));
		else if (cp < 0x20 || cp > 0x7E ||
				 strchr("&<>=\"'\\", (int) cp) != NULL)
			appendStringInfo(page, "\\u%04x", cp);
		else
			appendStringInfoChar(page, (char) cp);
	}
	appendStringInfoChar(page, '"');
}

SimdupUtf8
simdup_utf8_start(SimdupUtf8 value, int64 n)
{
	SimdupUtf8 rest = value;

	while (rest.len > 0 && n-- > 0)
		(void) next_char(&rest);
	value.len -= rest.len;
	return value;
}

SimdupUtf8
simdup_utf8_words(SimdupUtf8 value, int64 n)
{
	SimdupUtf8 start = simdup_utf8_start(value, n);

	for (size_t i = 0;
		 i < SIMDUP_MAX_WORD && i < start.len && start.len < value.len; i++)
		if (start.bytes[start.len - 1 - i] == ' ')
			return (SimdupUtf8){start.bytes, start.len - i};
	return start;
}

SimdupUtf8
simdup_utf8_end(SimdupUtf8 value, int64 n)
{
	int64 length = simdup_utf8_length(value);

	while (length-- > n)
		(void) next_char(&value);
	return value;
}

int64
simdup_utf8_length(SimdupUtf8 value)
{
	int64 n = 0;

	for (; value.len > 0; n++)
		(void) next_char(&value);
	return n;
}

const char *
simdup_grouped(double value)
{
	char *digits = psprintf("%.0f", value);
	int len = (int) strlen(digits);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

/*
 * Check whether the scheme is http or https, or missing. A scheme ends in a colon
 * before any of "/?#". Browsers skip blanks and control characters in it, so
 * simdup_check_row_url allows none.
 */
static bool
has_good_scheme(const char *url)
{
	size_t len = strcspn(url, ":/?#");

	if (url[len] != ':')
		return true;
	return (len == 4 && pg_strncasecmp(url, "http", 4) == 0) ||
		   (len == 5 && pg_strncasecmp(url, "https", 5) == 0);
}

const char *
simdup_check_row_url(const text *url)
{
	char *value = text_to_cstring(url);

	if (strstr(value, "%s") == NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("row_url has no place for the key"),
				errdetail("The template given is \"%s\".", value),
				errhint(
					"Write %%s where the key belongs: https://city.example/letters/%%s"));
	for (const char *p = value; *p; p++)
		if ((unsigned char) *p <= ' ' || *p == 0x7F)
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg(
						"row_url must not contain blanks or control characters"),
					errdetail("The template given is \"%s\".", value));
	if (!has_good_scheme(value))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("row_url must begin with http:, https: or a path"),
				errdetail("The template given is \"%s\".", value));
	return value;
}

static void
put_percent_encoded(StringInfo page, SimdupUtf8 value)
{
	for (size_t i = 0; i < value.len; i++)
	{
		unsigned char c = (unsigned char) value.bytes[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '-' || c == '_' || c == '~')
			appendStringInfoChar(page, (char) c);
		else
			appendStringInfo(page, "%%%02X", c);
	}
}

static void
put_href(StringInfo page, const char *url, SimdupUtf8 key)
{
	const char *place;

	for (; (place = strstr(url, "%s")) != NULL; url = place + 2)
	{
		simdup_html_put(page, simdup_bytes_to_utf8(url, (size_t) (place - url)),
						SIMDUP_HTML_PLAIN);
		put_percent_encoded(page, key);
	}
	simdup_html_put(page, simdup_bytes_to_utf8(url, strlen(url)),
					SIMDUP_HTML_PLAIN);
}

const char *
simdup_show_key(const char *url, const text *key)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(key);
	/* a key that was cut leads nowhere */
	bool link = url != NULL && VARSIZE_ANY_EXHDR(key) <= SIMDUP_MAX_KEY_TEXT;
	StringInfoData html;

	initStringInfo(&html);
	appendStringInfoString(&html, "<b class=\"key\" dir=\"auto\">");
	if (link)
	{
		appendStringInfoString(&html, "<a rel=\"noreferrer\" href=\"");
		put_href(&html, url, utf8);
		appendStringInfoString(&html, "\">");
	}
	simdup_html_put(&html, utf8, SIMDUP_HTML_LINE);
	appendStringInfoString(&html, link ? "</a></b>" : "</b>");
	return html.data;
}

/* A text of the page under its key, in both languages. */
typedef struct Entry
{
	const char *key;
	const char *english;
	const char *chinese;
} Entry;

static const Entry entries[SIMDUP_N_TEXTS] = {
#define TEXT(key, english, chinese) {#key, english, chinese},
#include "report/texts.def"
#undef TEXT
};

/*
 * Check whether a tag is letters and digits with hyphens between, as BCP 47 has
 * it.
 */
static bool
is_language(const char *tag)
{
	size_t len = strspn(tag, "abcdefghijklmnopqrstuvwxyz"
							 "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (len < 2 || len > 8)
		return false;
	for (tag += len; *tag != '\0'; tag += len)
	{
		if (*tag++ != '-')
			return false;
		len = strspn(tag, "abcdefghijklmnopqrstuvwxyz"
						  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
		if (len < 1 || len > 8)
			return false;
	}
	return true;
}

/* Put a translation in the place of a text. */
static void
take_translation(SimdupReport *report, const JsonbValue *key,
				 const JsonbValue *value)
{
	int i = 0;

	while (i < SIMDUP_N_TEXTS &&
		   (strlen(entries[i].key) != (size_t) key->val.string.len ||
			memcmp(entries[i].key, key->val.string.val,
				   (size_t) key->val.string.len) != 0))
		i++;
	if (i == SIMDUP_N_TEXTS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("a page has no text \"%.*s\"", key->val.string.len,
					   key->val.string.val),
				errhint(
					"Each page has its texts by key in the script element \"texts\"."));
	if (value->type != jbvString)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("translation of \"%s\" is not a string",
					   entries[i].key));
	report->texts[i] = simdup_bytes_to_utf8(value->val.string.val,
											(size_t) value->val.string.len);
}

void
simdup_take_texts(SimdupReport *report, const text *lang, Jsonb *translations)
{
	bool chinese;
	JsonbIterator *iterator;
	JsonbValue key;
	JsonbValue value;

	report->lang = lang == NULL ? "en" : text_to_cstring(lang);
	if (!is_language(report->lang))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("invalid language: \"%s\"", report->lang),
				errhint("Write a language tag, such as \"en\" or \"zh-CN\"."));
	chinese = pg_strncasecmp(report->lang, "zh", 2) == 0 &&
			  strchr("-", report->lang[2]) != NULL;
	for (int i = 0; i < SIMDUP_N_TEXTS; i++)
	{
		const char *words = chinese ? entries[i].chinese : entries[i].english;

		report->texts[i] = (SimdupUtf8){words, strlen(words)};
	}
	if (translations == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(translations))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("translations is not a JSON object"));
	iterator = JsonbIteratorInit(&translations->root);
	(void) JsonbIteratorNext(&iterator, &key, false);
	while (JsonbIteratorNext(&iterator, &key, false) == WJB_KEY)
	{
		(void) JsonbIteratorNext(&iterator, &value, true);
		take_translation(report, &key, &value);
	}
}

const char *
simdup_say_text(const SimdupReport *report, SimdupPageText key,
				const char *const *values)
{
	SimdupUtf8 rest = report->texts[key];
	size_t n_values = 0;
	StringInfoData html;

	initStringInfo(&html);
	while (values[n_values] != NULL)
		n_values++;
	while (rest.len > 0)
	{
		const char *brace = memchr(rest.bytes + 1, '{', rest.len - 1);
		size_t len = brace == NULL ? rest.len : (size_t) (brace - rest.bytes);

		if (len >= 3 && rest.bytes[0] == '{' && rest.bytes[2] == '}' &&
			rest.bytes[1] > '0' && (size_t) (rest.bytes[1] - '0') <= n_values)
		{
			appendStringInfoString(&html, values[rest.bytes[1] - '1']);
			rest.bytes += 3;
			rest.len -= 3;
			len -= 3;
			if (len == 0)
				continue;
		}
		simdup_html_put(&html, (SimdupUtf8){rest.bytes, len},
						SIMDUP_HTML_PLAIN);
		rest.bytes += len;
		rest.len -= len;
	}
	return html.data;
}

void
simdup_put_texts(const SimdupReport *report)
{
	StringInfo page = report->page;

	appendStringInfoString(page,
						   "<script type=\"application/json\" id=\"texts\">\n{");
	for (int i = 0; i < SIMDUP_N_TEXTS; i++)
	{
		appendStringInfo(page, "%s\"%s\": ", i > 0 ? ",\n" : "",
						 entries[i].key);
		simdup_json_put(page, report->texts[i]);
	}
	appendStringInfoString(page, "}\n</script>\n");
}

const char *
simdup_show_keys(const SimdupReport *report, const text *a, const text *b)
{
	return simdup_say_with(report, key_pair,
						   simdup_show_key(report->row_url, a),
						   simdup_show_key(report->row_url, b));
}

const char *
simdup_say_decided(const SimdupReport *report, bool same)
{
	return simdup_say_with(report, decided,
						   same ? simdup_say(report, same)
								: simdup_say(report, not_same));
}

void
simdup_put_start(const SimdupReport *report, SimdupUtf8 value, int64 max_chars,
				 bool cut)
{
	StringInfo page = report->page;
	SimdupUtf8 start = simdup_utf8_start(value, max_chars);
	SimdupUtf8 rest = {value.bytes + start.len, value.len - start.len};

	simdup_html_put(page, start, SIMDUP_HTML_TEXT);
	if (rest.len > 0 && !cut)
		appendStringInfo(page, " <i class=\"omitted\">%s</i>",
						 simdup_say_with(report, omitted_more,
										 simdup_say_count(report, characters,
														  simdup_utf8_length(
															  rest))));
	else if (cut)
		appendStringInfo(page, " <i class=\"omitted\">%s</i>",
						 simdup_say(report, and_more));
}

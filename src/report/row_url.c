/*
 * row_url.c
 *	  A link for each row, from a template such as "https://city.example/%s".
 *
 * A template comes from the caller, a key from anybody. The key's bytes are
 * percent-encoded, so they can change neither the scheme nor the host's end.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"

#include "batch/rows.h"
#include "report/row_url.h"

/*
 * Is the scheme http or https, or is there none? A scheme ends in a colon before
 * any of "/?#". Browsers skip blanks and control characters in it, so
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
	char *value;

	if (url == NULL)
		return NULL;
	value = text_to_cstring(url);
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

void
simdup_put_key(StringInfo page, const char *url, const text *key)
{
	SimdupUtf8 utf8 = simdup_text_to_utf8(key);
	/* a key that was cut leads nowhere */
	bool link = url != NULL && VARSIZE_ANY_EXHDR(key) <= SIMDUP_MAX_KEY_TEXT;

	appendStringInfoString(page, "<b class=\"key\" dir=\"auto\">");
	if (link)
	{
		appendStringInfoString(page, "<a rel=\"noreferrer\" href=\"");
		put_href(page, url, utf8);
		appendStringInfoString(page, "\">");
	}
	simdup_html_put(page, utf8, SIMDUP_HTML_LINE);
	appendStringInfoString(page, link ? "</a></b>" : "</b>");
}

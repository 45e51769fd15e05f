/*
 * difference.c
 *	  Two texts as one, with what differs marked, in HTML.
 */
#include "postgres.h"
#include "compat.h"

#include "core/text.h"
#include "report/difference.h"

/* Characters that are shown of an equal passage at either end. */
#define CONTEXT 60
/* Bytes in which the end of a word is looked for. */
#define MAX_WORD 20
/* An equal passage is left out if that many characters would go. */
#define MIN_OMITTED 30
/* Characters that are shown of a passage that differs. */
#define MAX_CHANGED 240

typedef struct Writer
{
	StringInfo page;
	int64 left; /* characters that may still be shown */
} Writer;

static void
put_omitted(Writer *writer, int64 n, const char *what)
{
	appendStringInfo(writer->page, "<i class=\"omitted\">[%s %s]</i>",
					 simdup_counted((double) n, "character", "characters"),
					 what);
}

static void
put(Writer *writer, SimdupUtf8 value, SimdupHtmlForm form)
{
	writer->left -= simdup_utf8_length(value);
	simdup_html_put(writer->page, value, form);
}

/* Cut where a word ends, if one does in the last bytes. */
static SimdupUtf8
whole_words_at_start(SimdupUtf8 value)
{
	for (size_t i = 0; i < MAX_WORD && i < value.len; i++)
		if (value.bytes[value.len - 1 - i] == ' ')
			return (SimdupUtf8){value.bytes, value.len - i};
	return value;
}

static SimdupUtf8
whole_words_at_end(SimdupUtf8 value)
{
	for (size_t i = 0; i < MAX_WORD && i < value.len; i++)
		if (value.bytes[i] == ' ')
			return (SimdupUtf8){value.bytes + i, value.len - i};
	return value;
}

/* A passage that both texts have, without its middle where it is long. */
static void
put_same(Writer *writer, SimdupUtf8 value)
{
	int64 length = simdup_utf8_length(value);
	SimdupUtf8 start;
	SimdupUtf8 end;

	if (length < 2 * CONTEXT + MIN_OMITTED)
	{
		put(writer, value, SIMDUP_HTML_TEXT);
		return;
	}
	start = whole_words_at_start(simdup_utf8_start(value, CONTEXT));
	end = whole_words_at_end(simdup_utf8_end(value, CONTEXT));
	put(writer, start, SIMDUP_HTML_TEXT);
	put_omitted(writer,
				length - simdup_utf8_length(start) - simdup_utf8_length(end),
				"the same");
	put(writer, end, SIMDUP_HTML_TEXT);
}

static void
put_changed(Writer *writer, SimdupUtf8 value, const char *tag)
{
	int64 length = simdup_utf8_length(value);

	if (length == 0)
		return;
	appendStringInfo(writer->page, "<%s>", tag);
	put(writer, simdup_utf8_start(value, MAX_CHANGED), SIMDUP_HTML_CHANGED);
	appendStringInfo(writer->page, "</%s>", tag);
	if (length > MAX_CHANGED)
		put_omitted(writer, length - MAX_CHANGED, "more");
}

/* Say how many differences of the rest are not shown. */
static void
put_rest(Writer *writer, const SimdupDiff *diff, size_t i)
{
	int64 n = 0;

	for (; i < diff->n; i++)
		n += !diff->parts[i].same;
	if (n > 0)
		appendStringInfo(writer->page, " <i class=\"omitted\">[and %s]</i>",
						 simdup_counted((double) n, "difference more",
										"differences more"));
}

void
simdup_put_difference(StringInfo page, SimdupUtf8 a, SimdupUtf8 b,
					  int64 max_chars, bool cut)
{
	SimdupDiff diff = simdup_diff(a.bytes, a.len, b.bytes, b.len);
	Writer writer = {page, max_chars};
	size_t i;

	for (i = 0; i < diff.n && writer.left > 0; i++)
	{
		const SimdupDiffPart *part = &diff.parts[i];
		SimdupUtf8 gone = {a.bytes + part->a_start, part->a_len};
		SimdupUtf8 come = {b.bytes + part->b_start, part->b_len};

		if (part->same)
			put_same(&writer, come);
		else
		{
			put_changed(&writer, gone, "del");
			put_changed(&writer, come, "ins");
		}
	}
	put_rest(&writer, &diff, i);
	if (cut)
		appendStringInfoString(page,
							   " <i class=\"omitted\">[the rest is not compared]</i>");
	simdup_diff_free(&diff);
}

void
simdup_put_start(StringInfo page, SimdupUtf8 value, int64 max_chars, bool cut)
{
	Writer writer = {page, max_chars};
	int64 length = simdup_utf8_length(value);
	int64 omitted = length - max_chars;

	if (omitted < MIN_OMITTED)
		omitted = 0;
	put(&writer, simdup_utf8_start(value, length - omitted), SIMDUP_HTML_TEXT);
	if (cut)
		appendStringInfoString(page, " <i class=\"omitted\">[and more]</i>");
	else if (omitted > 0)
		put_omitted(&writer, omitted, "more");
}

/*
 * page.h
 *	  The page that simdup_report_html makes: what its sections share.
 */
#ifndef SIMDUP_REPORT_PAGE_H
#define SIMDUP_REPORT_PAGE_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "report/listing.h"
#include "server/keys.h"
#include "text/profile.h"

/* The texts of texts.def, by their keys. */
typedef enum SimdupPageText
{
#define TEXT(key, english, chinese) SIMDUP_TEXT_##key,
#include "report/texts.def"
#undef TEXT
	SIMDUP_N_TEXTS
} SimdupPageText;

typedef struct SimdupPersonsDecision
{
	text *a; /* keys */
	text *b;
	bool same;
	text *note; /* NULL: none */
	text *by;
	text *at;
} SimdupPersonsDecision;

/* Two rows of the query that are decided, the lower number first. */
typedef struct SimdupDecidedRows
{
	uint32 x;
	uint32 y;
	bool same;
} SimdupDecidedRows;

/* The groups of a grouping, and what people decided about its rows. */
typedef struct SimdupCases
{
	MemoryContext context;
	text *name;			/* as the caller gives it */
	char *members_name; /* the table of members, quoted */
	char *key_type;		/* quoted */
	const char *schema; /* of the extension, quoted */

	SimdupKeys *keys; /* of the members */
	SimdupKeyNumbers *numbers;
	uint32 n_members;
	int64 *member_ids;	 /* by member */
	uint32 *member_rows; /* by member: its row, SIMDUP_NO_NUMBER without one */

	SimdupRows *rows;
	FmgrInfo key_output;
	uint32 capacity;
	int64 *ids;	 /* by row; 0: in no case */
	uint64 *fps; /* by row */
	int64 n_without;

	int64 n_decisions;
	SimdupPersonsDecision *decisions; /* latest first */
	int64 n_decided;
	SimdupDecidedRows *decided; /* sorted */
} SimdupCases;

typedef struct SimdupReport
{
	StringInfo page;
	SimdupUtf8 texts[SIMDUP_N_TEXTS];
	const char *lang;
	const text *title;
	const text *query;
	const char *row_url; /* NULL: no links */
	const char *schema;	 /* of the extension, quoted */
	SimdupCases *cases;	 /* of a grouping; NULL: groups of near rows */
	Jsonb *before;		 /* an earlier summary; NULL: none */
	int bytes;			 /* of the page that cases may take */
	SimdupRows *rows;
	SimdupStats *stats;
	SimdupListing *listing;
	SimdupPairList *pairs;
	MemoryContext context; /* reset after each case and each pair */
} SimdupReport;

/* Bytes in which the end of a word is looked for. */
#define SIMDUP_MAX_WORD 20

/* escape.c: values as HTML and JSON in plain ASCII, which act as neither */

typedef enum SimdupHtmlForm
{
	SIMDUP_HTML_PLAIN,	/* one line, without markup: for titles */
	SIMDUP_HTML_LINE,	/* one line */
	SIMDUP_HTML_TEXT,	/* lines as they are */
	SIMDUP_HTML_CHANGED /* lines, with marks that show white space */
} SimdupHtmlForm;

/*
 * Append text so that it is shown and can't act as markup. Control characters,
 * and characters that change the direction or can't be seen, are named.
 */
extern void simdup_html_put(StringInfo page, SimdupUtf8 value,
							SimdupHtmlForm form);
extern void simdup_html_put_text(StringInfo page, const text *value,
								 SimdupHtmlForm form);

/* Append a JSON string that is safe within a script element. */
extern void simdup_json_put(StringInfo page, SimdupUtf8 value);

/* Return the first n characters of a text, at most. */
extern SimdupUtf8 simdup_utf8_start(SimdupUtf8 value, int64 n);
/* Return the same, cut where a word ends, if one does in the last bytes. */
extern SimdupUtf8 simdup_utf8_words(SimdupUtf8 value, int64 n);
/* Return the last n characters of a text, at most. */
extern SimdupUtf8 simdup_utf8_end(SimdupUtf8 value, int64 n);
extern int64 simdup_utf8_length(SimdupUtf8 value);

/* Return a number with a comma before each three digits. */
extern const char *simdup_grouped(double value);

/*
 * Check a template of links, in which the key replaces each "%s". ERROR where
 * there is no "%s", and for a scheme that is not http or https.
 */
extern const char *simdup_check_row_url(const text *url);

/* Return a key as HTML, as a link where there is a template. */
extern const char *simdup_show_key(const char *url, const text *key);
/* Return two keys, as links where the page has them. */
extern const char *simdup_show_keys(const SimdupReport *report, const text *a,
									const text *b);

/*
 * Take the texts of a language, and in their place those of a jsonb by key. Without
 * a jsonb it is NULL. ERROR for a key that no text has.
 */
extern void simdup_take_texts(SimdupReport *report, const text *lang,
							  Jsonb *translations);

/*
 * Return a text as HTML. Values, which must be HTML already, take the place of
 * {1}, {2} …; the list ends with NULL.
 */
extern const char *simdup_say_text(const SimdupReport *report,
								   SimdupPageText key,
								   const char *const *values);

#define simdup_say(report, key) \
	simdup_say_text(report, SIMDUP_TEXT_##key, (const char *const[]){NULL})
#define simdup_say_with(report, key, ...) \
	simdup_say_text(report, SIMDUP_TEXT_##key, \
					(const char *const[]){__VA_ARGS__, NULL})
/* The form of one thing or of many, with their number as {1}. */
#define simdup_say_count(report, key, n) \
	simdup_say_text(report, \
					(n) == 1 ? SIMDUP_TEXT_##key##_one \
							 : SIMDUP_TEXT_##key##_many, \
					(const char *const[]){simdup_grouped((double) (n)), NULL})

/* Return what is decided about two rows. */
extern const char *simdup_say_decided(const SimdupReport *report, bool same);

/*
 * Put the first characters of a value, and how many follow. cut: more than the
 * value has.
 */
extern void simdup_put_start(const SimdupReport *report, SimdupUtf8 value,
							 int64 max_chars, bool cut);

/* Put all texts as a JSON object, for the page's script. */
extern void simdup_put_texts(const SimdupReport *report);

/* cases.c */

/*
 * Read the members and the decisions of a grouping, and take the case of each
 * row that will be read. ERROR if the caller is not the grouping's owner.
 */
extern SimdupCases *simdup_cases_begin(text *name, const char *schema,
									   SimdupRows *rows);

/* List the cases in place of groups of near rows, and count them. */
extern void simdup_list_cases(SimdupCases *cases, SimdupStats *stats,
							  int64 n_shown, SimdupListing *listing);

/* Return what is decided about two rows; NULL: nothing. */
extern const SimdupDecidedRows *simdup_decision_of(const SimdupCases *cases,
												   uint32 x, uint32 y);

/* groups.c */
extern void simdup_put_groups(const SimdupReport *report);

/* pairs.c */
extern void simdup_put_review(const SimdupReport *report);
extern void simdup_put_pairs(const SimdupReport *report);

/* charts.c */
extern void simdup_put_distances(const SimdupReport *report);
extern void simdup_put_sizes(const SimdupReport *report);
extern void simdup_put_facts(const SimdupReport *report);

#endif /* SIMDUP_REPORT_PAGE_H */

/*
 * sections.h
 *	  What the sections of a page have in common.
 */
#ifndef SIMDUP_REPORT_SECTIONS_H
#define SIMDUP_REPORT_SECTIONS_H

#include "utils/jsonb.h"

#include "report/cases.h"
#include "report/escape.h"
#include "report/listing.h"
#include "report/stats.h"

typedef struct SimdupReport
{
	StringInfo page;
	const text *title;
	const text *query;
	const char *row_url; /* NULL: no links */
	const char *schema;	 /* of the extension, quoted */
	SimdupCases *cases;	 /* of a grouping; NULL: groups of near rows */
	Jsonb *before;		 /* an earlier summary; NULL: none */
	SimdupRows *rows;
	SimdupStats *stats;
	SimdupListing *listing;
	SimdupPairList *pairs;
	MemoryContext context; /* reset after each group and each pair */
} SimdupReport;

/* charts.c */
extern void simdup_put_distances(const SimdupReport *report);
extern void simdup_put_sizes(const SimdupReport *report);
extern void simdup_put_facts(const SimdupReport *report);

/* texts.c */
extern void simdup_put_pairs(const SimdupReport *report);
extern void simdup_put_groups(const SimdupReport *report);

/* undecided.c */
extern void simdup_put_review(const SimdupReport *report);

/* exports.c */
extern void simdup_put_exports(const SimdupReport *report);

#endif /* SIMDUP_REPORT_SECTIONS_H */

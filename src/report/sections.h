/*
 * sections.h
 *	  What the sections of a page have in common.
 */
#ifndef SIMDUP_REPORT_SECTIONS_H
#define SIMDUP_REPORT_SECTIONS_H

#include "utils/jsonb.h"

#include "report/escape.h"
#include "report/listing.h"
#include "report/stats.h"

typedef struct SimdupReport
{
	StringInfo page;
	const text *title;
	const text *query;
	const char *row_url; /* NULL: no links */
	Oid schema;			 /* of the extension */
	Oid target;			 /* whose pairs are to decide; InvalidOid: none */
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

/* review.c */
extern void simdup_put_review(const SimdupReport *report);

/* exports.c */
extern void simdup_put_exports(const SimdupReport *report);

#endif /* SIMDUP_REPORT_SECTIONS_H */

/*
 * cases.h
 *	  The groups of a grouping, and what people decided about its rows.
 */
#ifndef SIMDUP_REPORT_CASES_H
#define SIMDUP_REPORT_CASES_H

#include "batch/rows.h"
#include "report/listing.h"
#include "server/keys.h"

typedef struct SimdupDecision
{
	text *a; /* keys */
	text *b;
	bool same;
	text *note; /* NULL: none */
	text *by;
	text *at;
} SimdupDecision;

/* Two rows of the query that are decided, the lower number first. */
typedef struct SimdupDecidedRows
{
	uint32 x;
	uint32 y;
	bool same;
} SimdupDecidedRows;

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
	SimdupDecision *decisions; /* latest first */
	int64 n_decided;
	SimdupDecidedRows *decided; /* sorted */
} SimdupCases;

/*
 * Read the members and the decisions of a grouping, and take the case of each
 * row that will be read. ERROR if the caller is not the grouping's owner.
 */
extern SimdupCases *simdup_cases_begin(text *name, const char *schema,
									   SimdupRows *rows);

/* List the cases in place of groups of near rows, and count them. */
extern void simdup_list_cases(SimdupCases *cases, SimdupStats *stats,
							  int64 n_shown, SimdupListing *listing);

/* What is decided about two rows; NULL: nothing. */
extern const char *simdup_decision_of(const SimdupCases *cases, uint32 x,
									  uint32 y);

#endif /* SIMDUP_REPORT_CASES_H */

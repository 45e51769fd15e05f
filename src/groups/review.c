/*
 * review.c
 *	  simdup_review: the pairs most worth a person's look. simdup_tune of a
 *	  target: each distance against the decisions that people took.
 *
 * Both only read, with the rights and the row security of the caller.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/attachment.h"
#include "arrival/sources.h"
#include "groups/grouping.h"
#include "server/arguments.h"
#include "server/result.h"
#include "type/simhash64.h"

/* How far beyond max_distance two representatives may be to be shown. */
#define BORDER 2
/* Of how many groups a pair shown is sought: the largest, for each pair. */
#define GROUPS_PER_PAIR 50
/* Pairs of one group that are shown at most. */
#define PAIRS_PER_GROUP 3
/* Pairs whose texts are compared, for each pair shown. */
#define TEXTS_PER_PAIR 10

/*
 * The parameters: $1 pairs, $2 a radius around representatives, $3 the smallest
 * distance of a row that counts as borderline.
 * Further limits: $4 groups, $5 pairs of a group, $6 pairs whose texts are
 * compared.
 * $7 is min_resemblance or NULL, $8 twice the distance where the answer turns.
 *
 * If several rows of a group have one fingerprint, one of them is shown. Two
 * representatives nearer than $8 says are as doubtful as a pair can be.
 */
static const char review_text[] =
	"WITH sized AS MATERIALIZED (SELECT m.id, pg_catalog.count(*) AS size FROM {M} m GROUP BY m.id),"
	" inside AS (SELECT DISTINCT ON (g.id, t.{fp}) g.id, g.id AS other, g.representative AS a, t.{key} AS b,"
	" g.simdup_fp {<~>} t.{fp} AS distance FROM {G} g JOIN {T} t ON t.{group} {=} g.id"
	" WHERE NOT t.{key} {keq} g.representative AND g.simdup_fp {<~>} t.{fp} {>=} $3"
	" ORDER BY g.id, t.{fp}, t.{key}),"
	" largest AS (SELECT g.id, g.representative, g.simdup_fp FROM {G} g JOIN sized s ON s.id {=} g.id"
	" ORDER BY s.size DESC, g.id LIMIT $4),"
	" outside AS (SELECT DISTINCT LEAST(g.id, o.id) AS id, GREATEST(g.id, o.id) AS other,"
	" LEAST(g.representative, o.representative) AS a, GREATEST(g.representative, o.representative) AS b,"
	" g.simdup_fp {<~>} o.simdup_fp AS distance"
	" FROM largest g JOIN {G} o ON o.simdup_fp {<@} {x}.simhash_ball(g.simdup_fp, $2) AND o.id {<>} g.id),"
	" pairs AS (SELECT id, other, a, b, distance, CASE WHEN distance {>} {k} THEN 'bridge' ELSE 'borderline' END AS why,"
	" CASE WHEN distance {>} {k} THEN 1 ELSE pg_catalog.abs(2 {*} distance {-} $8) END AS margin FROM inside"
	" UNION ALL SELECT id, other, a, b, distance, 'near groups',  CASE WHEN 2 {*} distance {<} $8 THEN 1 ELSE pg_catalog.abs(2 {*} distance {-} $8) END FROM outside),"
	" open AS (SELECT p.*, s.size FROM pairs p JOIN sized s ON s.id {=} p.id"
	" WHERE NOT EXISTS (SELECT FROM {D} d WHERE d.a {keq} LEAST(p.a, p.b) AND d.b {keq} GREATEST(p.a, p.b))),"
	" ranked AS (SELECT o.*, pg_catalog.row_number() OVER (PARTITION BY o.id ORDER BY o.margin, o.b, o.a) AS place FROM open o),"
	" chosen AS (SELECT r.* FROM ranked r WHERE r.place {<=} $5 ORDER BY r.margin, r.size DESC, r.id, r.b LIMIT $6)"
	" SELECT c.id, c.other, c.size, c.a::pg_catalog.text, c.b::pg_catalog.text, c.why, c.distance,"
	" e.resemblance, ";
static const char review_from[] =
	", e.only_a, e.only_b"
	" FROM chosen c JOIN {T} ta ON ta.{key} {keq} c.a JOIN {T} tb ON tb.{key} {keq} c.b"
	" LEFT JOIN LATERAL ";
static const char review_order[] =
	" ON true ORDER BY COALESCE(pg_catalog.abs(e.resemblance {-} $7) {*} 64, c.margin), c.size DESC, c.id, c.b LIMIT $1";

#define N_REVIEW_COLUMNS 12

static const char labels_text[] =
	"SELECT ta.{fp}::{x}.simhash64, tb.{fp}::{x}.simhash64, d.same FROM {D} d"
	" JOIN {T} ta ON ta.{key} {keq} d.a JOIN {T} tb ON tb.{key} {keq} d.b";

/* Run a query, and give its rows as they are. */
static void
put_rows(ReturnSetInfo *result, const char *query, int n, Oid *types,
		 Datum *values, const char *nulls)
{
	Datum row[N_REVIEW_COLUMNS];
	bool isnull[N_REVIEW_COLUMNS];
	int status = SPI_execute_with_args(query, n, types, values, nulls, true, 0);

	if (status != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s: %s",
			 SPI_result_code_string(status), query);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		heap_deform_tuple(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, row,
						  isnull);
		simdup_put_result(result, row, isnull);
	}
}

/* The value of an option "name => value", or one for lack of it. */
static const char *
option_of(List *options, const char *name, const char *otherwise)
{
	ListCell *cell;

	foreach (cell, options)
	{
		char *found;
		const char *value = simdup_option_value(lfirst(cell), &found);

		if (strcmp(found, name) == 0)
			return value;
	}
	return otherwise;
}

/*
 * What compares the texts ta and tb: as the groups are verified, or else as the
 * fingerprint sees them.
 */
static char *
explanation(Grouping *g, Attachment *a)
{
	const SimdupConditions *c = &g->at->conditions;
	const char *schema = simdup_arrival_extension_name(g->at);
	const char *content = c->content != NULL ? c->content : a->content;
	char *texts;

	if (content == NULL)
		return "(SELECT NULL::pg_catalog.float8, NULL::pg_catalog.json, NULL::pg_catalog.json) AS e (resemblance, only_a, only_b)";
	texts = psprintf("ta.%s::pg_catalog.text, tb.%s::pg_catalog.text",
					 quote_identifier(content), quote_identifier(content));
	if (c->content != NULL)
		return psprintf("%s.simdup_explain(%s, 'simhash'::pg_catalog.text, %d, %s::pg_catalog.text) AS e",
						schema, texts, c->w == 0 ? 4 : c->w,
						quote_literal_cstr(c->unit == NULL ? "word" : c->unit));
	if (strcmp(a->fingerprint, "minhash64") != 0)
		return psprintf("%s.simdup_explain(%s, 'simhash'::pg_catalog.text, 4, 'char'::pg_catalog.text) AS e",
						schema, texts);
	return psprintf("%s.simdup_explain(%s, 'minhash64'::pg_catalog.text, %s, %s::pg_catalog.text) AS e",
					schema, texts, option_of(a->options, "w", "4"),
					quote_literal_cstr(option_of(a->options, "unit", "char")));
}

static char *
content_of(Grouping *g, Attachment *a, const char *alias)
{
	const char *content = g->at->conditions.content != NULL
							  ? g->at->conditions.content
							  : a->content;

	if (content == NULL)
		return "NULL::pg_catalog.text";
	return psprintf("%s.%s::pg_catalog.text", alias, quote_identifier(content));
}

/* Each piece is expanded alone: names may hold braces. */
static char *
review_query(Grouping *g, Attachment *a)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, simdup_grouping_text(g, review_text));
	appendStringInfo(&buf, "%s, %s", content_of(g, a, "ta"),
					 content_of(g, a, "tb"));
	appendStringInfoString(&buf, simdup_grouping_text(g, review_from));
	appendStringInfoString(&buf, explanation(g, a));
	appendStringInfoString(&buf, simdup_grouping_text(g, review_order));
	return buf.data;
}

/* The grouping, and what attach made beside it; the table is locked. */
static Grouping *
open_grouping(FunctionCallInfo fcinfo, Attachment *a)
{
	Grouping *g;

	simdup_check_not_null(PG_ARGISNULL(0), "target");
	simdup_attach_open(a, fcinfo->flinfo->fn_oid, PG_GETARG_OID(0), false);
	g = simdup_grouping_open(fcinfo->flinfo->fn_oid, PG_GETARG_OID(0));
	(void) simdup_attach_read(a);
	return g;
}

PG_FUNCTION_INFO_V1(simdup_review);
/* simdup_review(target, n) */
Datum
simdup_review(PG_FUNCTION_ARGS)
{
	Oid types[] = {INT8OID, INT4OID, INT4OID,	INT8OID,
				   INT8OID, INT8OID, FLOAT8OID, INT4OID};
	char nulls[lengthof(types)];
	Datum values[lengthof(types)];
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Attachment a = {0};
	Grouping *g = open_grouping(fcinfo, &a);
	bool verified = g->at->conditions.min_resemblance > 0 &&
					g->at->conditions.content != NULL;
	int64 n;

	simdup_check_not_null(PG_ARGISNULL(1), "n");
	n = PG_GETARG_INT32(1);
	if (n < 1)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("n must be at least 1"),
				errdetail("The value given is " INT64_FORMAT ".", n));
	memset(nulls, ' ', sizeof(nulls));
	values[0] = Int64GetDatum(n);
	values[1] = Int32GetDatum(
		verified ? g->at->k : Min(g->at->k + BORDER, SIMHASH64_BITS));
	values[2] = Int32GetDatum(verified ? 0 : Max(g->at->k - 1, 1));
	values[3] = Int64GetDatum(n * GROUPS_PER_PAIR);
	values[4] = Int64GetDatum(PAIRS_PER_GROUP);
	values[5] = Int64GetDatum(verified ? n * TEXTS_PER_PAIR : n);
	values[6] = Float8GetDatum(g->at->conditions.min_resemblance);
	nulls[6] = verified ? ' ' : 'n';
	/* two texts of resemblance J are 32 (1 - J) apart on average */
	values[7] = Int32GetDatum(
		verified ? (int) (64 * (1 - g->at->conditions.min_resemblance))
				 : 2 * g->at->k + 1);
	SPI_connect();
	put_rows(result, review_query(g, &a), lengthof(types), types, values,
			 nulls);
	SPI_finish();
	table_close(a.table, NoLock);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_tune_target);
/* simdup_tune(target, max_distance) */
Datum
simdup_tune_target(PG_FUNCTION_ARGS)
{
	Oid types[] = {TEXTOID, INT4OID};
	Datum values[lengthof(types)];
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Attachment a = {0};
	Grouping *g = open_grouping(fcinfo, &a);

	simdup_check_not_null(PG_ARGISNULL(1), "max_distance");
	values[0] = CStringGetTextDatum(simdup_grouping_text(g, labels_text));
	values[1] = PG_GETARG_DATUM(1);
	SPI_connect();
	put_rows(result,
			 simdup_grouping_text(g,
								  "SELECT * FROM {x}.simdup_tune($1, $2, ARRAY[]::pg_catalog.text[])"),
			 lengthof(types), types, values, NULL);
	SPI_finish();
	table_close(a.table, NoLock);
	return (Datum) 0;
}

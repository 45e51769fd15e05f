/*
 * review.c
 *	  simdup_review_rows: the rows of groups that a review compares. And
 *	  simdup_review_contents: the contents of rows. The function in
 *	  sql/62-review.sql calls these.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "batch/rows.h"
#include "core/cluster/grouping.h"
#include "core/fingerprint/hamming.h"
#include "core/host.h"
#include "core/search/index_entries.h"
#include "server/arguments.h"
#include "type/simhash64.h"

typedef struct Reviewed
{
	SimdupRows *rows;
	uint64 *fp;	   /* by row */
	uint32 *scope; /* by row */
	int64 *id;	   /* by row; SIMDUP_NO_ID: in no group */
} Reviewed;

/* Take a member. One that the query no longer has is not reviewed. */
static void
take_reviewed(void *arg, Datum *keys, Datum *values)
{
	Reviewed *r = arg;
	uint32 row = simdup_keynumbers_find(r->rows->numbers, keys[0]);

	if (row != SIMDUP_NO_NUMBER)
		r->id[row] = DatumGetInt64(values[0]);
}

/*
 * Return n rows of one group and one scope: the first, and those at a distance
 * of at least least_distance from the first.
 */
static void
put_part(const Reviewed *r, const SimdupEntry *part, Size n, int least_distance,
		 ReturnSetInfo *result)
{
	uint32 first = (uint32) part->row;

	for (Size i = 0; i < n; i++)
	{
		uint32 row = (uint32) part[i].row;
		Datum values[7];
		char *key;

		CHECK_FOR_INTERRUPTS();
		if (i > 0 &&
			simdup_popcount64(r->fp[first] ^ r->fp[row]) < least_distance)
			continue;
		key = simdup_key_text(r->rows->key_type,
							  simdup_keys_get(r->rows->keys, row, 0));
		values[0] = CStringGetTextDatum(key);
		values[1] = Simhash64GetDatum(r->fp[row]);
		values[2] = Int64GetDatum(r->scope[row]);
		values[3] = Int64GetDatum(r->id[row]);
		values[4] = Int64GetDatum(row);
		values[5] = Int64GetDatum(first);
		values[6] = Int64GetDatum((int64) n);
		simdup_put_result(result, values, NULL);
		pfree(DatumGetPointer(values[0]));
		pfree(key);
	}
}

static void
put_parts(const Reviewed *r, int least_distance, ReturnSetInfo *result)
{
	SimdupEntry *order =
		simdup_alloc((r->rows->n + (Size) 1) * sizeof(SimdupEntry));
	Size n = 0;

	for (uint32 row = 0; row < r->rows->n; row++)
		if (r->id[row] != SIMDUP_NO_ID)
			order[n++] = (SimdupEntry){(uint64) r->id[row],
									   (uint64) r->scope[row] << 32 | row};
	simdup_sort_pairs(order, n);
	for (Size from = 0, to; from < n; from = to)
	{
		for (to = from + 1; to < n && order[to].value == order[from].value &&
							order[to].row >> 32 == order[from].row >> 32;
			 to++)
			;
		put_part(r, order + from, to - from, least_distance, result);
	}
}

PG_FUNCTION_INFO_V1(simdup_review_rows);
/* simdup_review_rows(query, keys_of, path, members, least_distance) */
Datum
simdup_review_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupFingerprints *fingerprints = simdup_read_fingerprints(fcinfo, NULL);
	Reviewed r = {.rows = fingerprints->rows};
	Size n = (Size) r.rows->n + 1;
	int level;

	r.fp = simdup_alloc(n * sizeof(uint64));
	r.scope = simdup_alloc(n * sizeof(uint32));
	r.id = simdup_alloc0(n * sizeof(int64));
	simdup_fingerprints_by_row(fingerprints, r.fp, r.scope);
	simdup_read_members(fcinfo, r.rows->keys, take_reviewed, &r);
	level = simdup_exact_texts_begin();
	put_parts(&r, PG_GETARG_INT32(4), result);
	simdup_path_end(level);
	simdup_fingerprints_end(fingerprints);
	return (Datum) 0;
}

typedef struct ContentRows
{
	ReturnSetInfo *result;
	SimdupKeyNumbers *numbers; /* of the keys whose contents are wanted */
	Oid key_type;
	int content; /* the column; -1: none */
	Oid content_type;
} ContentRows;

/* Find the column content: a SimdupColumnCheck. */
static bool
find_content(void *arg, TupleDesc columns,
			 const char *argument pg_attribute_unused())
{
	ContentRows *c = arg;

	c->content = -1;
	for (int i = 1; i < columns->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(columns, i)->attname), "content") == 0)
			c->content = i;
	if (c->content >= 0)
		c->content_type = TupleDescAttr(columns, c->content)->atttypid;
	return columns->natts > 0 &&
		   getBaseType(TupleDescAttr(columns, 0)->atttypid) ==
			   getBaseType(c->key_type);
}

static void
take_content(void *arg, TupleTableSlot *slot)
{
	ContentRows *c = arg;
	uint32 number = SIMDUP_NO_NUMBER;
	Datum values[3];
	bool nulls[3] = {false};

	if (!slot->tts_isnull[0])
		number = simdup_keynumbers_find(c->numbers, slot->tts_values[0]);
	if (number != SIMDUP_NO_NUMBER && c->content >= 0)
	{
		int level = simdup_exact_texts_begin();

		values[0] = CStringGetTextDatum(
			simdup_key_text(c->key_type, slot->tts_values[0]));
		nulls[1] = slot->tts_isnull[c->content];
		if (!nulls[1])
			values[1] = CStringGetTextDatum(
				simdup_key_text(c->content_type, slot->tts_values[c->content]));
		values[2] = BoolGetDatum(c->content_type == VARBITOID);
		simdup_path_end(level);
		simdup_put_result(c->result, values, nulls);
	}
}

PG_FUNCTION_INFO_V1(simdup_review_contents);
/* Return simdup_review_contents(query, keys_of, path, keys). */
Datum
simdup_review_contents(PG_FUNCTION_ARGS)
{
	ContentRows c = {.result = simdup_begin_result(fcinfo),
					 .key_type = simdup_key_type_argument(fcinfo)};
	SimdupKeys *keys = simdup_keys_begin(c.key_type);
	SimdupQuery query = {text_to_cstring(PG_GETARG_TEXT_PP(0)), "query",
						 SIMDUP_KEY_AND_FP};
	Oid input;
	Oid io_parameter;
	Datum *wanted;
	int n;
	int level;

	c.numbers = simdup_keynumbers_begin(keys, c.key_type);
	getTypeInputInfo(c.key_type, &input, &io_parameter);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), TEXTOID, -1, false,
					  TYPALIGN_INT, &wanted, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		Datum key = OidInputFunctionCall(input, TextDatumGetCString(wanted[i]),
										 io_parameter, -1);
		uint32 number;

		simdup_keynumbers_get(c.numbers, &key, 1, &number);
	}
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), find_content,
					 take_content, &c);
	simdup_path_end(level);
	return (Datum) 0;
}

/*
 * collect.c
 *	  One reading of a query as what simdup_report is made of: its cases, its
 *	  pairs, and what else its rows have.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "batch/join.h"
#include "core/host.h"
#include "report/collect.h"

/* The last column, a bigint, has a grouping's ids: sql/70-report.sql. */
#define ID_COLUMN "simdup_group"

/*
 * Pairs
 */

static void
finish_smallest(Smallest *list)
{
	simdup_sort_pairs(list->entries, list->n);
	list->n = Min(list->n, list->limit);
}

/* Add a pair. Return false if limit smaller ones are there already. */
static bool
add_smallest(Smallest *list, uint32 order, uint32 x, uint32 y)
{
	SimdupEntry pair = {(uint64) order << 32 | Min(x, y), Max(x, y)};

	if (list->n >= list->limit &&
		!simdup_entry_less(&pair, &list->entries[list->limit - 1]))
		return false;
	list->entries[list->n++] = pair;
	if (list->n == list->limit || list->n == 2 * list->limit)
		finish_smallest(list);
	return true;
}

static Smallest
new_smallest(uint32 limit)
{
	return (Smallest){.limit = limit,
					  .entries =
						  palloc(2 * (Size) limit * sizeof(SimdupEntry))};
}

/*
 * Count, sample and list the pairs of two fingerprints, or of one with itself.
 * The rows of a fingerprint ascend, so after one that is not listed no later one
 * is.
 */
static void
note_pairs(void *arg, const SimdupFingerprint *a, const SimdupFingerprint *b,
		   int distance)
{
	Report *report = arg;
	SimdupFingerprints *fingerprints = report->fingerprints;
	bool same = a->start == b->start;
	uint32 x = simdup_row_at(fingerprints, a->start);
	uint32 y = simdup_row_at(fingerprints, b->start + same);
	uint64 hash = simdup_mix64((uint64) Min(x, y) << 32 | Max(x, y));

	report->pairs[distance] +=
		same ? (double) a->n * (a->n - 1) / 2 : (double) a->n * b->n;
	/* any order is fine for a sample if it is always the same */
	add_smallest(&report->shown[distance], (uint32) (hash >> 32), x, y);
	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 first = same ? i + 1 : 0;
		uint32 j;

		CHECK_FOR_INTERRUPTS();
		x = simdup_row_at(fingerprints, a->start + i);
		for (j = first; j < b->n; j++)
		{
			y = simdup_row_at(fingerprints, b->start + j);
			if (!add_smallest(&report->listed, (uint32) distance, x, y))
				break;
		}
		if (j == first && first < b->n)
			return;
	}
}

/*
 * Reading
 */

static bool
is_date_type(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Find the columns of the query, and make room for what rows have in them. */
static void
find_columns(Report *report, TupleDesc columns)
{
	const SimdupRows *rows = report->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	report->further = palloc((Size) columns->natts * sizeof(Column));
	for (int i = 2; i < columns->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(columns, i);
		Column *column = &report->further[report->n_further];
		Oid output;
		bool is_varlena;

		if (strcmp(NameStr(attribute->attname), ID_COLUMN) == 0 &&
			attribute->atttypid == INT8OID && i == columns->natts - 1)
			report->id_column = i;
		if (i == report->id_column || i == rows->content_column ||
			i == rows->scope_column)
			continue;
		report->n_further++;
		column->position = i;
		column->name = attribute->attname;
		column->type = attribute->atttypid;
		getTypeOutputInfo(column->type, &output, &is_varlena);
		fmgr_info(output, &column->output);
		if (report->day == NULL && is_date_type(column->type))
			report->day = column;
	}
	report->values = simdup_keys_begin(TEXTOID);
	simdup_keys_expect(report->values, TEXTOID, "query");
	if (report->id_column > 0)
		report->ids = simdup_grow(NULL, &report->ids_size, 1, sizeof(int64));
	if (report->day != NULL)
		report->days = simdup_grow(NULL, &report->days_size, 1, sizeof(int32));
	MemoryContextSwitchTo(old);
}

/* Return a date or the date of a timestamp; NO_DAY beyond those of timestamps. */
static int32
day_of(Oid type, Datum value)
{
	DateADT day;

	if (type == TIMESTAMPOID)
		value = DirectFunctionCall1(timestamp_date, value);
	else if (type == TIMESTAMPTZOID)
		value = DirectFunctionCall1(timestamptz_date, value);
	day = DatumGetDateADT(value);
	return DATE_NOT_FINITE(day) ||
				   day >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE
			   ? NO_DAY
			   : day;
}

/* Keep what a row has beside its key and fingerprint: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	Report *report = arg;
	Size row = report->rows->n;
	const Datum *from = slot->tts_values;
	const bool *nulls = slot->tts_isnull;
	StringInfoData values;

	if (report->further == NULL)
		find_columns(report, slot->tts_tupleDescriptor);
	if (report->ids != NULL)
	{
		report->ids =
			simdup_grow(report->ids, &report->ids_size, row + 1, sizeof(int64));
		report->ids[row] = DatumGetInt64(from[report->id_column]);
	}
	if (report->days != NULL)
	{
		report->days = simdup_grow(report->days, &report->days_size, row + 1,
								   sizeof(int32));
		report->days[row] =
			nulls[report->day->position]
				? NO_DAY
				: day_of(report->day->type, from[report->day->position]);
	}
	if (report->n_further == 0)
		return;
	initStringInfo(&values);
	for (int i = 0; i < report->n_further; i++)
	{
		Column *column = &report->further[i];
		Datum value = from[column->position];
		char date[MAXDATELEN + 1];

		appendStringInfoString(&values, i > 0 ? ", " : "[");
		if (nulls[column->position])
			appendStringInfoString(&values, "null");
		else if (is_date_type(column->type))
			escape_json(&values,
						JsonEncodeDateTime(date, value, column->type, NULL));
		else
			escape_json(&values, OutputFunctionCall(&column->output, value));
	}
	appendStringInfoChar(&values, ']');
	simdup_keys_add(report->values,
					PointerGetDatum(
						cstring_to_text_with_len(values.data, values.len)),
					false);
	if (report->rows->sort != NULL)
		simdup_keys_spill(report->values);
}

/*
 * Cases
 */

/*
 * Find the pairs, and each row's fingerprint and scope. Return the first row of
 * each row's cluster, NULL for a grouping.
 */
static uint32 *
find_first_rows(Report *report)
{
	SimdupFingerprints *fingerprints = report->fingerprints;
	Size n = (Size) report->rows->n + 1;
	SimdupFingerprint fingerprint;
	uint32 *first = NULL;
	int64 next = 0;

	if (report->ids != NULL)
		simdup_join_fingerprints(fingerprints, report->options.max_distance,
								 note_pairs, report);
	else
		first =
			simdup_find_groups(fingerprints, NULL, note_pairs, report, NULL);
	report->fps = simdup_alloc(n * sizeof(uint64));
	report->scope = simdup_alloc(n * sizeof(uint32));
	simdup_fingerprints_by_row(fingerprints, NULL, report->fps, report->scope);
	while (simdup_fingerprints_next_equal(fingerprints, &next, &fingerprint))
	{
		report->equal_sets++;
		note_pairs(report, &fingerprint, &fingerprint, 0);
	}
	return first;
}

/*
 * List the cases of two rows and more, largest first, and their rows in order. A
 * case is the rows of one id, or those of one first row.
 */
static void
list_cases(Report *report, const uint32 *first)
{
	uint32 n = report->rows->n;
	uint8 *leads = simdup_alloc0((Size) n / 8 + 1); /* bits by row */
	SimdupEntry *items = simdup_alloc(((Size) n + 1) * sizeof(SimdupEntry));
	SimdupEntry *runs;
	uint32 n_items = 0;
	uint32 n_runs = 0;

	/* rows that are alone take no memory here: most are */
	for (uint32 i = 0; first != NULL && i < n; i++)
		if (first[i] != i)
			simdup_set_bit(leads, first[i]);
	for (uint32 i = 0; i < n; i++)
		if (first != NULL && (first[i] != i || simdup_get_bit(leads, i)))
			items[n_items++] = (SimdupEntry){first[i], i};
		else if (first == NULL && report->ids[i] != 0)
			items[n_items++] = (SimdupEntry){(uint64) report->ids[i], i};
	simdup_sort_pairs(items, n_items);
	runs = simdup_alloc(((Size) n_items / 2 + 1) * sizeof(SimdupEntry));
	for (uint32 i = 0, size; i < n_items; i += size)
	{
		CHECK_FOR_INTERRUPTS();
		size = simdup_equal_values(items + i, n_items - i);
		/* the largest come first, of equal ones the earliest */
		if (size > 1)
			runs[n_runs++] =
				(SimdupEntry){(uint64) (PG_UINT32_MAX - size) << 32 |
								  items[i].row,
							  i};
	}
	simdup_sort_pairs(runs, n_runs);
	report->items = items;
	report->cases = simdup_alloc(((Size) n_runs + 1) * sizeof(Case));
	report->n_cases = n_runs;
	report->repeats = simdup_alloc0((Size) n / 8 + 1);
	for (uint32 i = 0; i < n_runs; i++)
	{
		Case one = {.start = (uint32) runs[i].row,
					.size = PG_UINT32_MAX - (uint32) (runs[i].value >> 32)};

		for (uint32 j = 1; j < one.size; j++)
			simdup_set_bit(report->repeats, (uint32) items[one.start + j].row);
		report->cases[i] = one;
		report->n_items += one.size;
	}
}

void
simdup_report_collect(Report *report, FunctionCallInfo fcinfo)
{
	report->options = simdup_options(fcinfo);
	report->rows =
		simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS_TO_SHOW, &report->options);
	report->rows->row_sink = take_row;
	report->rows->row_sink_arg = report;
	simdup_rows_read(report->rows, fcinfo);
	report->fingerprints = simdup_rows_distinct(report->rows);
	report->listed = new_smallest(LISTED_PAIRS);
	for (int d = 0; d <= report->options.max_distance; d++)
		report->shown[d] = new_smallest(SHOWN_PAIRS);
	list_cases(report, find_first_rows(report));
	for (int d = 0; d <= report->options.max_distance; d++)
		finish_smallest(&report->shown[d]);
	finish_smallest(&report->listed);
}

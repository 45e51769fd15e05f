/*
 * report.c
 *	  simdup_report_rows: one reading of a query as what simdup_report is made of,
 *	  that is its figures, and the rows and pairs to show.
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
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "batch/cells.h"
#include "core/hamming.h"
#include "core/host.h"
#include "core/statistics.h"
#include "server/arguments.h"
#include "server/session.h"
#include "type/simhash64.h"

/* Cases, rows of a case and their bytes that are compared. */
#define MAX_CASES 20000
#define COMPARED_ROWS 1000
#define COMPARED_BYTES (4 * 1024 * 1024)
/* Pairs that are shown at each distance. */
#define SHOWN_PAIRS 5
/* Rows and pairs that are listed. */
#define LISTED_ROWS 50000
#define LISTED_PAIRS 10000

#define NO_CASE PG_UINT32_MAX
#define NO_DAY PG_INT32_MIN

/* The column of a grouping's ids: sql/70-report.sql. */
#define ID_COLUMN "simdup_group"

typedef struct Triple
{
	uint32 x;
	uint32 y;
	uint32 z;
} Triple;

/*
 * The smallest of many triples, in bounded memory. The order in which they come
 * does not matter, so a report is the same in memory and on disk.
 */
typedef struct Smallest
{
	uint32 limit;
	uint32 n;
	bool full;		 /* the first limit triples are the smallest of them */
	Triple *triples; /* twice the limit */
} Smallest;

typedef struct Case
{
	uint32 first; /* row */
	uint32 size;
	uint32 start; /* in the items */
	uint32 n;	  /* items so far */
	int reach;	  /* the longest distance from the first row */
	int32 from;	  /* days */
	int32 to;
} Case;

typedef struct Tally
{
	int64 rows;
	int64 repeats;
	int64 clusters;
	int64 largest;
} Tally;

typedef struct Column
{
	int place;
	Oid type;
	FmgrInfo output;
} Column;

typedef struct Report
{
	SimdupOptions options;
	SimdupRows *rows;
	SimdupGroups *groups;
	ReturnSetInfo *result;

	/* columns beside key, fingerprint, content and scope */
	TupleDesc columns; /* NULL before the first row */
	int id_column;	   /* from 0; -1: none */
	int day_column;
	int n_further;
	Column *further;
	SimdupKeys *values; /* by row: the further columns as a JSON array */

	/* by row */
	uint32 capacity;
	int64 *ids;	   /* of a grouping, 0 without one; NULL: no grouping */
	int32 *days;   /* NULL: no dates */
	uint32 *first; /* the first row of its case */
	uint64 *fps;
	uint32 *scope; /* NULL: one scope */

	Case *cases; /* largest first */
	uint32 n_cases;
	uint32 *items; /* the rows of each case, in order */
	int64 n_items;
	int64 equal_sets; /* groups of equal fingerprints */
	int64 equal_rows;
	double pairs[SIMDUP_MAX_PAIR_DISTANCE + 1]; /* by distance */
	Smallest shown[SIMDUP_MAX_PAIR_DISTANCE + 1];
	Smallest listed;
} Report;

/*
 * Pairs
 */

static int
compare_triples(const void *a, const void *b)
{
	const Triple *s = a;
	const Triple *t = b;

	if (s->x != t->x)
		return s->x < t->x ? -1 : 1;
	if (s->y != t->y)
		return s->y < t->y ? -1 : 1;
	return (s->z > t->z) - (s->z < t->z);
}

static void
finish_smallest(Smallest *list)
{
	qsort(list->triples, list->n, sizeof(Triple), compare_triples);
	list->n = Min(list->n, list->limit);
}

/* Add a triple. Return false if limit smaller ones are there already. */
static bool
add_smallest(Smallest *list, Triple triple)
{
	if (list->full &&
		compare_triples(&list->triples[list->limit - 1], &triple) <= 0)
		return false;
	list->triples[list->n++] = triple;
	if (list->n == 2 * list->limit)
	{
		finish_smallest(list);
		list->full = true;
	}
	return true;
}

static Smallest
new_smallest(uint32 limit)
{
	return (Smallest){.limit = limit,
					  .triples = palloc(2 * (Size) limit * sizeof(Triple))};
}

/* Sample a pair of rows. Any order is fine if it is always the same. */
static void
sample_pair(Report *report, uint32 a, uint32 b, int distance)
{
	uint64 hash = simdup_mix64((uint64) Min(a, b) << 32 | Max(a, b));

	add_smallest(&report->shown[distance],
				 (Triple){(uint32) (hash >> 32), Min(a, b), Max(a, b)});
}

/*
 * Count, sample and list the pairs of two groups, or of one with itself. Rows of
 * a group ascend, so after one that is not listed no later one is.
 */
static void
note_pairs(void *arg, const SimdupGroup *a, const SimdupGroup *b, int distance)
{
	Report *report = arg;
	SimdupGroups *groups = report->groups;
	bool same = a->start == b->start;
	uint32 x = simdup_groups_row(groups, a->start);
	uint32 y = simdup_groups_row(groups, b->start + same);

	report->pairs[distance] +=
		same ? (double) a->n * (a->n - 1) / 2 : (double) a->n * b->n;
	sample_pair(report, x, y, distance);
	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 first = same ? i + 1 : 0;
		uint32 j;

		CHECK_FOR_INTERRUPTS();
		x = simdup_groups_row(groups, a->start + i);
		for (j = first; j < b->n; j++)
		{
			y = simdup_groups_row(groups, b->start + j);
			if (!add_smallest(&report->listed, (Triple){(uint32) distance,
														Min(x, y), Max(x, y)}))
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

static void
find_columns(Report *report, TupleDesc columns)
{
	SimdupRows *rows = report->rows;
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	report->columns = CreateTupleDescCopy(columns);
	report->further = palloc((Size) columns->natts * sizeof(Column));
	for (int i = 2; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		Oid output;
		bool is_varlena;

		if (strcmp(NameStr(column->attname), ID_COLUMN) == 0)
			report->id_column = i;
		if (i == report->id_column || i == rows->column[SIMDUP_CONTENT] ||
			i == rows->column[SIMDUP_SCOPE])
			continue;
		if (report->day_column < 0 && is_date_type(column->atttypid))
			report->day_column = i;
		getTypeOutputInfo(column->atttypid, &output, &is_varlena);
		report->further[report->n_further].place = i;
		report->further[report->n_further].type = column->atttypid;
		fmgr_info(output, &report->further[report->n_further++].output);
	}
	report->values = simdup_keys_begin(TEXTOID);
	simdup_keys_expect(report->values, TEXTOID, "query");
	MemoryContextSwitchTo(old);
}

/* Return room for n elements, those that are there with them. */
static void *
enlarged(const Report *report, void *array, Size n, Size size)
{
	return array == NULL
			   ? MemoryContextAllocHuge(report->rows->context, n * size)
			   : repalloc_huge(array, n * size);
}

static void
grow(Report *report)
{
	Size n = Max((Size) report->capacity * 2, 1024);

	if (report->id_column >= 0)
		report->ids = enlarged(report, report->ids, n, sizeof(int64));
	if (report->day_column >= 0)
		report->days = enlarged(report, report->days, n, sizeof(int32));
	report->capacity = (uint32) Min(n, PG_UINT32_MAX);
}

/* Return a date or the date of a timestamp; NO_DAY for infinite ones. */
static int32
day_of(Oid type, Datum value)
{
	DateADT day;

	if (type == TIMESTAMPOID)
		value = DirectFunctionCall1(timestamp_date, value);
	else if (type == TIMESTAMPTZOID)
		value = DirectFunctionCall1(timestamptz_date, value);
	day = DatumGetDateADT(value);
	return DATE_NOT_FINITE(day) ? NO_DAY : day;
}

/* Keep what a row has beside its key and fingerprint: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	Report *report = arg;
	uint32 row = report->rows->n;
	StringInfoData values;

	if (report->columns == NULL)
		find_columns(report, slot->tts_tupleDescriptor);
	if (row >= report->capacity)
		grow(report);
	if (report->ids != NULL)
		report->ids[row] =
			slot->tts_isnull[report->id_column]
				? 0
				: DatumGetInt64(slot->tts_values[report->id_column]);
	if (report->days != NULL)
		report->days[row] =
			slot->tts_isnull[report->day_column]
				? NO_DAY
				: day_of(TupleDescAttr(report->columns, report->day_column)
							 ->atttypid,
						 slot->tts_values[report->day_column]);
	if (report->n_further == 0)
		return;
	initStringInfo(&values);
	for (int i = 0; i < report->n_further; i++)
	{
		Column *column = &report->further[i];

		Datum value = slot->tts_values[column->place];
		char date[MAXDATELEN + 1];

		appendStringInfoString(&values, i > 0 ? ", " : "[");
		if (slot->tts_isnull[column->place])
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
	if (report->rows->sort != NULL && simdup_keys_memory(report->values) > 0)
		simdup_keys_spill(report->values);
}

/*
 * Cases
 */

/* Return the first row of each row's group, by the ids of a grouping. */
static uint32 *
first_by_id(const Report *report)
{
	uint32 n = report->rows->n;
	SimdupEntry *pairs = simdup_alloc(((Size) n + 1) * sizeof(SimdupEntry));
	uint32 *first = simdup_alloc(((Size) n + 1) * sizeof(uint32));
	uint32 leader = 0;

	for (uint32 i = 0; i < n; i++)
		pairs[i] = (SimdupEntry){(uint64) report->ids[i], i};
	simdup_sort_pairs(pairs, n);
	for (uint32 i = 0; i < n; i++)
	{
		if (i == 0 || pairs[i].value == 0 ||
			pairs[i].value != pairs[i - 1].value)
			leader = (uint32) pairs[i].row;
		first[pairs[i].row] = leader;
	}
	simdup_free(pairs);
	return first;
}

/* Find each row's case, fingerprint and scope, and the pairs. */
static void
find_first_rows(Report *report)
{
	SimdupGroups *groups = report->groups;
	Size n = (Size) report->rows->n + 1;

	if (report->ids != NULL)
	{
		report->first = first_by_id(report);
		simdup_join_groups(groups, report->options.max_distance, "comparing",
						   note_pairs, report);
	}
	else
	{
		SimdupCellRows *cells = simdup_cells_begin(groups, &report->options);

		cells->also = note_pairs;
		cells->also_arg = report;
		report->first = simdup_cells_place(cells, NULL, report->options.method);
	}
	report->fps = simdup_alloc(n * sizeof(uint64));
	if (groups->n_scopes > 1)
		report->scope = simdup_alloc(n * sizeof(uint32));
	for (int64 i = 0, scope = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		while (report->scope != NULL && i >= groups->scope_starts[scope + 1])
			scope++;
		for (uint32 j = 0; j < group.n; j++)
		{
			uint32 row = simdup_groups_row(groups, group.start + j);

			report->fps[row] = group.fp;
			if (report->scope != NULL)
				report->scope[row] = (uint32) scope;
		}
		if (group.n == 1)
			continue;
		report->equal_sets++;
		report->equal_rows += group.n;
		note_pairs(report, &group, &group, 0);
	}
}

static int
compare_cases(const void *a, const void *b)
{
	const Case *x = a;
	const Case *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* List the cases of two rows and more, and their rows in order. */
static void
list_cases(Report *report)
{
	uint32 n = report->rows->n;
	uint32 *place = simdup_alloc(((Size) n + 1) * sizeof(uint32));
	uint32 start = 0;

	memset(place, 0, (Size) n * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
		place[report->first[i]]++;
	for (uint32 i = 0; i < n; i++)
		report->n_cases += place[i] > 1;
	report->cases = simdup_alloc(((Size) report->n_cases + 1) * sizeof(Case));
	report->n_cases = 0;
	for (uint32 i = 0; i < n; i++)
	{
		if (place[i] > 1)
			report->cases[report->n_cases++] = (Case){.first = i,
													  .size = place[i],
													  .from = NO_DAY,
													  .to = NO_DAY};
		place[i] = NO_CASE;
	}
	qsort(report->cases, report->n_cases, sizeof(Case), compare_cases);
	for (uint32 i = 0; i < report->n_cases; i++)
	{
		report->cases[i].start = start;
		start += report->cases[i].size;
		place[report->cases[i].first] = i;
	}
	report->n_items = start;
	report->items = simdup_alloc(((Size) start + 1) * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		int32 day = report->days == NULL ? NO_DAY : report->days[i];
		Case *one;

		if (place[report->first[i]] == NO_CASE)
			continue;
		one = &report->cases[place[report->first[i]]];
		report->items[one->start + one->n++] = i;
		one->reach = Max(one->reach, simdup_hamming64(report->fps[one->first],
													  report->fps[i]));
		if (day != NO_DAY)
		{
			one->from = one->from == NO_DAY ? day : Min(one->from, day);
			one->to = Max(one->to, day);
		}
	}
	simdup_free(place);
}

/*
 * The result: rows of many kinds, which sql/70-report.sql names.
 */

static void
put(const Report *report, const char *part, int64 place, int64 n, int64 m,
	double x, const char *key, const char *other, const text *a, const text *b)
{
	Datum values[] = {CStringGetTextDatum(part),
					  Int64GetDatum(place),
					  Int64GetDatum(n),
					  Int64GetDatum(m),
					  Float8GetDatum(x),
					  (Datum) 0,
					  (Datum) 0,
					  PointerGetDatum(a),
					  PointerGetDatum(b)};
	bool nulls[] = {false,		 false,			false,	   false,	 false,
					key == NULL, other == NULL, a == NULL, b == NULL};

	if (key != NULL)
		values[5] = CStringGetTextDatum(key);
	if (other != NULL)
		values[6] = CStringGetTextDatum(other);
	simdup_put_result(report->result, values, nulls);
}

static void
put_count(const Report *report, const char *name, int64 n)
{
	put(report, "count", 0, n, 0, 0, name, NULL, NULL, NULL);
}

static char *
key_of(const Report *report, uint32 row)
{
	return TextDatumGetCString(simdup_keys_get(report->rows->keys, row, 0));
}

/* Return a row's text, NULL without one. */
static text *
text_of(const Report *report, uint32 row, bool *cut)
{
	text *sample;

	*cut = false;
	if (!report->rows->has_samples)
		return NULL;
	sample = simdup_rows_sample(report->rows, row, cut);
	return VARSIZE_ANY_EXHDR(sample) > 0 ? sample : NULL;
}

static uint32
scope_of(const Report *report, uint32 row)
{
	return report->scope == NULL ? 0 : report->scope[row];
}

/* Return the name of a scope; NULL is scope 0. */
static char *
scope_name(const Report *report, uint32 scope)
{
	SimdupRows *rows = report->rows;

	if (scope == 0)
		return NULL;
	return simdup_key_text(rows->scope_type,
						   simdup_keys_get(rows->scope_keys, scope - 1, 0));
}

static void
put_counts(const Report *report)
{
	const SimdupRows *rows = report->rows;
	int64 skipped = rows->n_null + rows->n_no_content;
	int64 without = 0;

	for (uint32 i = 0; report->ids != NULL && i < rows->n; i++)
		without += report->ids[i] == 0;
	put_count(report, "rows", rows->n + skipped);
	put_count(report, "with_fingerprint", rows->n);
	put_count(report, "without_fingerprint", skipped);
	put_count(report, "distinct_fingerprints", report->groups->n);
	put_count(report, "equal_sets", report->equal_sets);
	put_count(report, "equal_rows", report->equal_rows);
	put_count(report, "repeats", report->n_items - report->n_cases);
	put_count(report, "clusters", report->n_cases);
	put_count(report, "cluster_rows", report->n_items);
	put_count(report, "largest",
			  report->n_cases > 0 ? report->cases[0].size : Min(rows->n, 1));
	if (report->ids != NULL)
		put_count(report, "without_case", without);
}

/* Put how many cases have each size. */
static void
put_sizes(const Report *report)
{
	for (uint32 i = 0, n; i < report->n_cases; i += n)
	{
		for (n = 1; i + n < report->n_cases &&
					report->cases[i + n].size == report->cases[i].size;
			 n++)
			;
		put(report, "size", report->cases[i].size, n, 0, 0, NULL, NULL, NULL,
			NULL);
	}
}

/*
 * Put the pairs at each distance, and those that chance alone makes. These are
 * estimated from the fingerprints of rows at equal steps in the order of
 * fingerprints. Rows of two scopes are no pair.
 */
static void
put_distances(const Report *report, double n_pairs)
{
	SimdupGroups *groups = report->groups;
	uint32 n = report->rows->n;
	size_t wanted = Min(n, SIMDUP_SAMPLE_SIZE);
	size_t taken = 0;
	uint64 *sample = palloc(SIMDUP_SAMPLE_SIZE * sizeof(uint64));
	double chance[SIMHASH64_BITS + 1];

	for (int64 i = 0; i < groups->n; i++)
	{
		SimdupGroup group = simdup_groups_get(groups, i);

		CHECK_FOR_INTERRUPTS();
		while (taken < wanted &&
			   (uint64) taken * n / wanted < (uint64) group.start + group.n)
			sample[taken++] = group.fp;
	}
	simdup_false_pair_chances(sample, taken, chance);
	for (int d = 0; d <= report->options.max_distance; d++)
		put(report, "distance", d, (int64) report->pairs[d], 0,
			n_pairs * (chance[d] - (d > 0 ? chance[d - 1] : 0)), NULL, NULL,
			NULL, NULL);
	pfree(sample);
}

/* Put the rows of each day, and those that repeat another. */
static void
put_days(const Report *report)
{
	const int32 *days = report->days;
	int32 first = PG_INT32_MAX;
	int32 last = NO_DAY;
	uint32 *counts;
	Size n;

	for (uint32 i = 0; days != NULL && i < report->rows->n; i++)
	{
		first = days[i] == NO_DAY ? first : Min(first, days[i]);
		last = Max(last, days[i]);
	}
	if (last == NO_DAY)
		return;
	n = (Size) (last - first) + 1;
	counts = simdup_alloc(2 * n * sizeof(uint32));
	memset(counts, 0, 2 * n * sizeof(uint32));
	for (uint32 i = 0; i < report->rows->n; i++)
	{
		if (days[i] == NO_DAY)
			continue;
		counts[2 * (days[i] - first)]++;
		counts[2 * (days[i] - first) + 1] += report->first[i] != i;
	}
	for (Size i = 0; i < n; i++)
		if (counts[2 * i] > 0)
			put(report, "day", first + (int64) i, counts[2 * i],
				counts[2 * i + 1], 0, NULL, NULL, NULL, NULL);
	simdup_free(counts);
}

/* Put the counts of each scope. Return the pairs of rows within scopes. */
static double
put_scopes(const Report *report)
{
	Size n = report->groups->n_scopes;
	Case *scopes = simdup_alloc(n * sizeof(Case));
	double n_pairs = 0;

	memset(scopes, 0, n * sizeof(Case));
	for (uint32 i = 0; i < report->rows->n; i++)
		scopes[scope_of(report, i)].size++;
	for (uint32 i = 0; i < report->n_cases; i++)
	{
		const Case *one = &report->cases[i];
		Case *scope = &scopes[scope_of(report, one->first)];

		scope->first++;
		scope->n += one->size;
		scope->start = Max(scope->start, one->size);
	}
	for (uint32 i = 0; i < n; i++)
	{
		n_pairs += (double) scopes[i].size * ((double) scopes[i].size - 1) / 2;
		if (report->scope != NULL && scopes[i].size > 0)
			put(report, "scope", scopes[i].first, scopes[i].size, scopes[i].n,
				scopes[i].start, scope_name(report, i), NULL, NULL, NULL);
	}
	simdup_free(scopes);
	return n_pairs;
}

/*
 * Put a case and its rows: those that are compared, with their texts, and those
 * that are listed.
 */
static void
put_case(const Report *report, uint32 place, bool shown, int64 *n_listed)
{
	const Case *one = &report->cases[place];
	int64 id = report->ids != NULL ? report->ids[one->first] : place + 1;
	Size n_bytes = 0;

	put(report, shown ? "case" : "more", place, id, one->size, one->reach,
		key_of(report, one->first),
		scope_name(report, scope_of(report, one->first)), NULL, NULL);
	if (one->from != NO_DAY)
		put(report, "dates", place, one->from, one->to, 0, NULL, NULL, NULL,
			NULL);
	for (uint32 i = 0; i < one->size; i++)
	{
		uint32 row = report->items[one->start + i];
		bool compared =
			shown && i < COMPARED_ROWS && (i < 2 || n_bytes < COMPARED_BYTES);
		bool cut = false;
		text *content = compared ? text_of(report, row, &cut) : NULL;

		if (!compared && *n_listed >= LISTED_ROWS)
			break;
		CHECK_FOR_INTERRUPTS();
		put(report, compared ? "member" : "row", place,
			simdup_hamming64(report->fps[one->first], report->fps[row]), cut, i,
			key_of(report, row),
			report->n_further > 0
				? TextDatumGetCString(simdup_keys_get(report->values, row, 0))
				: NULL,
			content, NULL);
		++*n_listed;
		n_bytes += content == NULL ? 0 : VARSIZE_ANY(content);
	}
}

/* Put the pairs to list, and those to show with their texts. */
static void
put_pairs(const Report *report)
{
	for (uint32 i = 0; i < report->listed.n; i++)
	{
		Triple pair = report->listed.triples[i];

		put(report, "pair", i, pair.x, 0, 0, key_of(report, pair.y),
			key_of(report, pair.z), NULL, NULL);
	}
	for (int d = 0; d <= report->options.max_distance; d++)
		for (uint32 i = 0; i < report->shown[d].n; i++)
		{
			Triple pair = report->shown[d].triples[i];
			bool cut_a;
			bool cut_b;
			text *a = text_of(report, pair.y, &cut_a);
			text *b = text_of(report, pair.z, &cut_b);

			put(report, "example", i, d, cut_a || cut_b, 0,
				key_of(report, pair.y), key_of(report, pair.z), a, b);
		}
}

/* Put the names of the further columns, and say which one has the dates. */
static void
put_columns(const Report *report)
{
	for (int i = 0; i < report->n_further; i++)
	{
		int place = report->further[i].place;

		put(report, "column", i, place == report->day_column, 0, 0,
			NameStr(TupleDescAttr(report->columns, place)->attname), NULL, NULL,
			NULL);
	}
	put_count(report, "has_content", report->rows->has_samples);
}

PG_FUNCTION_INFO_V1(simdup_report_rows);
/*
 * simdup_report_rows(query, max_distance, method, min_resemblance, w, unit,
 * params, max_groups)
 */
Datum
simdup_report_rows(PG_FUNCTION_ARGS)
{
	Report report = {.id_column = -1, .day_column = -1};
	int64 max_groups;
	int64 n_listed = 0;
	MemoryContext context;

	report.result = simdup_begin_result(fcinfo);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(7))
		return (Datum) 0;
	max_groups = PG_GETARG_INT32(7);
	if (max_groups < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_groups must not be negative"),
				errdetail("The number given is %lld.", (long long) max_groups));
	report.options = simdup_options(fcinfo);
	report.rows = simdup_rows_begin(fcinfo, 1, &report.options);
	report.rows->also = take_row;
	report.rows->also_arg = &report;
	report.listed = new_smallest(LISTED_PAIRS);
	for (int d = 0; d <= report.options.max_distance; d++)
		report.shown[d] = new_smallest(SHOWN_PAIRS);
	simdup_rows_as_text(report.rows, true);
	simdup_rows_read(report.rows, text_to_cstring(PG_GETARG_TEXT_PP(0)),
					 "query");
	simdup_rows_tell_skipped(report.rows);
	report.groups = simdup_rows_group(report.rows);
	find_first_rows(&report);
	list_cases(&report);
	finish_smallest(&report.listed);
	for (int d = 0; d <= report.options.max_distance; d++)
		finish_smallest(&report.shown[d]);
	put_counts(&report);
	put_sizes(&report);
	put_distances(&report, put_scopes(&report));
	put_days(&report);
	put_columns(&report);
	put_pairs(&report);
	context = AllocSetContextCreate(CurrentMemoryContext, "simdup case",
									ALLOCSET_DEFAULT_SIZES);
	for (uint32 i = 0; i < report.n_cases; i++)
	{
		bool shown = i < Min(max_groups, MAX_CASES);
		MemoryContext old = MemoryContextSwitchTo(context);

		if (shown || n_listed < LISTED_ROWS)
			put_case(&report, i, shown, &n_listed);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	if (report.values != NULL)
		simdup_keys_end(report.values);
	simdup_groups_end(report.groups);
	return (Datum) 0;
}

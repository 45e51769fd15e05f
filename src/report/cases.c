/*
 * cases.c
 *	  The groups of a grouping, and what people decided about its rows.
 *
 * Keys are compared as texts, because the query of the report may have keys of
 * another type than the grouping. Functions in SQL read the grouping's tables.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/hamming.h"
#include "core/host.h"
#include "report/page.h"
#include "type/simhash64.h"

/* A row of a case. */
typedef struct CaseRow
{
	int64 id;
	uint32 number;
} CaseRow;

/*
 * Run a query of one parameter, the grouping's name. SPI has the result. Memory
 * that is allocated afterwards stays after SPI_finish.
 */
static void
ask(const SimdupCases *cases, const char *query)
{
	Oid type = TEXTOID;
	Datum value = PointerGetDatum(cases->name);

	if (SPI_execute_with_args(query, 1, &type, &value, NULL, true, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s", query);
	MemoryContextSwitchTo(cases->context);
}

/* Return a value of SPI's result, NULL for a null. */
static Datum
value_at(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column,
						 isnull);
}

/* Return a text of SPI's result in a memory context that stays. */
static text *
text_at(uint64 row, int column)
{
	bool isnull;
	Datum value = value_at(row, column, &isnull);

	return isnull ? NULL : DatumGetTextP(SPI_datumTransfer(value, false, -1));
}

/* Check the rights, and find the table of members. */
static void
find_grouping(SimdupCases *cases)
{
	ask(cases,
		psprintf("SELECT g.members, g.key_type FROM %s.simdup_grouping(pg_catalog.to_regclass($1), $1, true) AS g",
				 cases->schema));
	cases->members_name = text_to_cstring(text_at(0, 1));
	cases->key_type = text_to_cstring(text_at(0, 2));
}

static void
read_member(SimdupCases *cases, uint64 row, int64 id)
{
	bool isnull;
	Datum key = simdup_keys_take(cases->keys, value_at(row, 1, &isnull), false);
	uint32 number;

	simdup_keynumbers_get(cases->numbers, &key, 1, &number);
	cases->member_ids[number] = id;
	cases->member_rows[number] = SIMDUP_NO_NUMBER;
}

static void
read_decision(SimdupCases *cases, uint64 row)
{
	SimdupPersonsDecision *decision = &cases->decisions[cases->n_decisions++];
	bool isnull;

	decision->a = text_at(row, 1);
	decision->b = text_at(row, 3);
	decision->same = DatumGetBool(value_at(row, 4, &isnull));
	decision->note = text_at(row, 5);
	decision->by = text_at(row, 6);
	decision->at = text_at(row, 7);
}

/* Read the members, and then the decisions, which have no id. */
static void
read_grouping(SimdupCases *cases)
{
	MemoryContext row_context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup member",
							  ALLOCSET_SMALL_SIZES);
	bool is_decision = false;

	ask(cases, psprintf("SELECT m.* FROM %s.simdup_report_members($1) AS m",
						cases->schema));
	cases->member_ids =
		simdup_alloc(((Size) SPI_processed + 1) * sizeof(int64));
	cases->member_rows =
		simdup_alloc(((Size) SPI_processed + 1) * sizeof(uint32));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(row_context);
		Datum id = value_at(i, 2, &is_decision);

		CHECK_FOR_INTERRUPTS();
		if (!is_decision)
			read_member(cases, i, DatumGetInt64(id));
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
		if (!is_decision)
			continue;
		if (cases->decisions == NULL)
			cases->decisions = simdup_alloc((SPI_processed - i) *
											sizeof(SimdupPersonsDecision));
		read_decision(cases, i);
	}
	cases->n_members = simdup_keynumbers_count(cases->numbers);
	SPI_freetuptable(SPI_tuptable);
	MemoryContextDelete(row_context);
}

static void
grow(SimdupCases *cases)
{
	cases->capacity *= 2;
	cases->ids = simdup_realloc(cases->ids, cases->capacity * sizeof(int64));
	cases->fps = simdup_realloc(cases->fps, cases->capacity * sizeof(uint64));
}

/* Find the case of the next row: a SimdupRowSink beside that of the rows. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	SimdupCases *cases = arg;
	uint32 row = cases->rows->n;
	uint32 member = SIMDUP_NO_NUMBER;

	if (!OidIsValid(cases->key_output.fn_oid))
	{
		Oid output;
		bool is_varlena;

		getTypeOutputInfo(TupleDescAttr(slot->tts_tupleDescriptor, 0)->atttypid,
						  &output, &is_varlena);
		fmgr_info_cxt(output, &cases->key_output, cases->rows->context);
	}
	if (row >= cases->capacity)
		grow(cases);
	if (!slot->tts_isnull[0])
	{
		Datum key = CStringGetTextDatum(
			OutputFunctionCall(&cases->key_output, slot->tts_values[0]));

		simdup_keynumbers_find(cases->numbers, &key, 1, &member);
	}
	cases->fps[row] = DatumGetSimhash64(slot->tts_values[1]);
	cases->ids[row] = 0;
	if (member == SIMDUP_NO_NUMBER)
	{
		cases->n_without++;
		return;
	}
	cases->ids[row] = cases->member_ids[member];
	if (cases->member_rows[member] == SIMDUP_NO_NUMBER)
		cases->member_rows[member] = row;
}

SimdupCases *
simdup_cases_begin(text *name, const char *schema, SimdupRows *rows)
{
	SimdupCases *cases = palloc0(sizeof(SimdupCases));

	cases->context = CurrentMemoryContext;
	cases->capacity = 1024;
	cases->ids = simdup_alloc(cases->capacity * sizeof(int64));
	cases->fps = simdup_alloc(cases->capacity * sizeof(uint64));
	cases->name = name;
	cases->schema = schema;
	cases->rows = rows;
	cases->keys = simdup_keys_begin(TEXTOID);
	simdup_keys_expect(cases->keys, TEXTOID, "groups");
	cases->numbers = simdup_keynumbers_begin(cases->keys, TEXTOID);
	SPI_connect();
	find_grouping(cases);
	read_grouping(cases);
	SPI_finish();
	rows->also = add_row;
	rows->also_arg = cases;
	return cases;
}

static int
compare_rows(const void *a, const void *b)
{
	const CaseRow *x = a;
	const CaseRow *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int
compare_ids(const void *a, const void *b)
{
	int64 x = *(const int64 *) a;
	int64 y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Check whether a case has more than one row, in the query or outside. */
static bool
repeats(const SimdupListedGroup *group)
{
	return group->size > 1 || group->n_members > 1;
}

/*
 * Compare cases: those of two and more members first, the largest before
 * others.
 */
static int
compare_cases(const void *a, const void *b)
{
	const SimdupListedGroup *x = a;
	const SimdupListedGroup *y = b;
	bool x_repeats = repeats(x);
	bool y_repeats = repeats(y);

	if (x_repeats != y_repeats)
		return x_repeats ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

static int
compare_decided(const void *a, const void *b)
{
	const SimdupDecidedRows *x = a;
	const SimdupDecidedRows *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* Count the members of an id, of sorted ids. */
static uint32
count_members(const int64 *ids, uint32 n, int64 id, uint32 *at)
{
	uint32 first;

	while (*at < n && ids[*at] < id)
		(*at)++;
	for (first = *at; *at < n && ids[*at] == id; (*at)++)
		;
	return *at - first;
}

/* The cases in order, each with the place of its first row in the sorted rows. */
static void
collect_cases(const SimdupCases *cases, const CaseRow *items, uint32 n_items,
			  SimdupListing *listing)
{
	int64 *ids = simdup_alloc(((Size) cases->n_members + 1) * sizeof(int64));
	uint32 at = 0;
	uint32 end;

	memcpy(ids, cases->member_ids, cases->n_members * sizeof(int64));
	qsort(ids, cases->n_members, sizeof(int64), compare_ids);
	for (uint32 start = 0; start < n_items; start = end)
	{
		int64 id = items[start].id;

		CHECK_FOR_INTERRUPTS();
		for (end = start; end < n_items && items[end].id == id; end++)
			;
		listing->groups[listing->n_groups++] =
			(SimdupListedGroup){.id = id,
								.start = start,
								.first_row = items[start].number,
								.size = end - start,
								.n_members =
									count_members(ids, cases->n_members, id,
												  &at)};
	}
	simdup_free(ids);
	qsort(listing->groups, (size_t) listing->n_groups,
		  sizeof(SimdupListedGroup), compare_cases);
}

/* Fill in the rows of a case: those to show, and those to save. */
static void
list_rows(const SimdupCases *cases, const CaseRow *items, uint32 place,
		  bool shown, SimdupListing *listing)
{
	SimdupListedGroup *group = &listing->groups[place];

	if (shown)
		group->rows = palloc(Min(group->size, SIMDUP_COMPARED_ROWS) *
							 sizeof(SimdupListedRow));
	for (uint32 i = 0; i < group->size; i++)
	{
		uint32 number = items[group->start + i].number;
		int distance =
			simdup_hamming64(cases->fps[group->first_row], cases->fps[number]);

		CHECK_FOR_INTERRUPTS();
		group->reach = Max(group->reach, distance);
		if (shown && i < SIMDUP_COMPARED_ROWS)
			group->rows[group->n_rows++] = (SimdupListedRow){number, distance};
		simdup_smallest_add(&listing->rows,
							(SimdupTriple){place, number, (uint32) distance});
	}
}

/* Find the rows of the query that decisions are about. */
static void
find_decided(SimdupCases *cases)
{
	cases->decided = simdup_alloc(((Size) cases->n_decisions + 1) *
								  sizeof(SimdupDecidedRows));
	for (int64 i = 0; i < cases->n_decisions; i++)
	{
		const SimdupPersonsDecision *decision = &cases->decisions[i];
		Datum keys[2] = {PointerGetDatum(decision->a),
						 PointerGetDatum(decision->b)};
		uint32 members[2];
		uint32 rows[2];

		simdup_keynumbers_find(cases->numbers, keys, 2, members);
		for (int j = 0; j < 2; j++)
			rows[j] = members[j] == SIMDUP_NO_NUMBER
						  ? SIMDUP_NO_NUMBER
						  : cases->member_rows[members[j]];
		if (rows[0] != SIMDUP_NO_NUMBER && rows[1] != SIMDUP_NO_NUMBER)
			cases->decided[cases->n_decided++] =
				(SimdupDecidedRows){Min(rows[0], rows[1]),
									Max(rows[0], rows[1]), decision->same};
	}
	qsort(cases->decided, (size_t) cases->n_decided, sizeof(SimdupDecidedRows),
		  compare_decided);
}

void
simdup_list_cases(SimdupCases *cases, SimdupStats *stats, int64 n_shown,
				  SimdupListing *listing)
{
	uint32 n_rows = cases->rows->n;
	CaseRow *items = simdup_alloc(((Size) n_rows + 1) * sizeof(CaseRow));
	uint32 n_items = 0;
	int64 n_all;

	memset(listing, 0, sizeof(SimdupListing));
	for (uint32 i = 0; i < n_rows; i++)
		if (cases->ids[i] != 0)
			items[n_items++] = (CaseRow){cases->ids[i], i};
	qsort(items, n_items, sizeof(CaseRow), compare_rows);
	listing->groups =
		simdup_alloc(((Size) n_items + 1) * sizeof(SimdupListedGroup));
	collect_cases(cases, items, n_items, listing);
	simdup_smallest_init(&listing->rows, SIMDUP_EXPORTED_ROWS);
	n_all = listing->n_groups;
	listing->n_rows = n_items;
	listing->n_groups = 0;
	simdup_count_no_clusters(stats);
	for (int64 i = 0; i < n_all; i++)
	{
		const SimdupListedGroup *group = &listing->groups[i];

		list_rows(cases, items, (uint32) i, repeats(group) && i < n_shown,
				  listing);
		listing->n_groups += repeats(group);
		if (group->size > 1)
			simdup_count_cluster(stats, group->size);
	}
	listing->n_shown = Min(n_shown, listing->n_groups);
	simdup_smallest_finish(&listing->rows);
	simdup_free(items);
	find_decided(cases);
}

const SimdupDecidedRows *
simdup_decision_of(const SimdupCases *cases, uint32 x, uint32 y)
{
	SimdupDecidedRows wanted = {Min(x, y), Max(x, y), false};

	if (cases == NULL || cases->n_decided == 0)
		return NULL;
	return bsearch(&wanted, cases->decided, (size_t) cases->n_decided,
				   sizeof(SimdupDecidedRows), compare_decided);
}

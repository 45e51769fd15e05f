/*
 * recompute.c
 *	  Groups whose rows come again, among themselves, in order of age.
 *
 * The rows are those of one or two groups, so few that they fit in memory.
 * First come the parts into which the rows fall, then the ids of the parts, then
 * the tables. A part is known by the index of its first row.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "core/hamming.h"
#include "groups/recompute.h"
#include "type/simhash64.h"

#define NO_PART (-1)

typedef struct ScopeRow
{
	GroupRow row;
	int64 old_id;
	int64 brought; /* 0: none */
	int part;
} ScopeRow;

/* A decision about two of the rows. */
typedef struct ScopeDecision
{
	int a;
	int b;
	bool same;
} ScopeDecision;

typedef struct Scope
{
	Grouping *g;
	int n;
	ScopeRow *rows; /* by age */
	int n_decisions;
	ScopeDecision *decisions;
	bool *left; /* marks of rows, for two sets */
	bool *right;
	int64 *ids; /* of parts, at the index of their first row; 0: not yet */
} Scope;

static void
read_rows(Scope *s, Datum ids)
{
	ArrivalFound found = simdup_grouping_run(s->g, GROUP_ROWS, &ids, NULL);

	s->n = (int) found.n;
	s->rows = palloc0(found.n * sizeof(ScopeRow) + 1);
	s->left = palloc(found.n + 1);
	s->right = palloc(found.n + 1);
	s->ids = palloc0(found.n * sizeof(int64) + 1);
	for (int i = 0; i < s->n; i++)
	{
		ScopeRow *row = &s->rows[i];
		bool isnull;
		Datum brought = simdup_grouping_value(found, i, 5, &isnull);

		row->row.key = simdup_grouping_value(found, i, 1, NULL);
		row->row.fp =
			DatumGetSimhash64(simdup_grouping_value(found, i, 2, NULL));
		row->row.age = DatumGetInt64(simdup_grouping_value(found, i, 3, NULL));
		row->old_id = DatumGetInt64(simdup_grouping_value(found, i, 4, NULL));
		row->brought = isnull ? 0 : DatumGetInt64(brought);
		row->part = NO_PART;
	}
}

/* The row of that age, or -1. */
static int
row_of_age(Scope *s, int64 age)
{
	int low = 0;
	int high = s->n;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (s->rows[middle].row.age < age)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && s->rows[low].row.age == age ? low : -1;
}

static void
read_decisions(Scope *s, Datum ids)
{
	ArrivalFound found =
		simdup_grouping_run(s->g, GROUP_DECISIONS_WITHIN, &ids, NULL);

	s->decisions = palloc(found.n * sizeof(ScopeDecision) + 1);
	for (uint64 i = 0; i < found.n; i++)
	{
		ScopeDecision *d = &s->decisions[s->n_decisions];

		d->a =
			row_of_age(s,
					   DatumGetInt64(simdup_grouping_value(found, i, 1, NULL)));
		d->b =
			row_of_age(s,
					   DatumGetInt64(simdup_grouping_value(found, i, 2, NULL)));
		d->same = DatumGetBool(simdup_grouping_value(found, i, 3, NULL));
		if (d->a >= 0 && d->b >= 0)
			s->n_decisions++;
	}
}

/*
 * Mark what decisions tie to the marked rows. Rows that have no part yet count:
 * the rows that are tied come into one part, so no two parts are tied later.
 */
static void
mark_tied(Scope *s, bool *marks)
{
	bool again = true;

	while (again)
	{
		again = false;
		for (int i = 0; i < s->n_decisions; i++)
		{
			const ScopeDecision *d = &s->decisions[i];

			if (!d->same || marks[d->a] == marks[d->b])
				continue;
			marks[d->a] = marks[d->b] = again = true;
		}
	}
}

/* Mark a row, if it is one, and the rows of a part, if it is one. */
static void
mark(Scope *s, bool *marks, int row, int part)
{
	for (int i = 0; i < s->n; i++)
		marks[i] = i == row || (part != NO_PART && s->rows[i].part == part);
	mark_tied(s, marks);
}

/* Do people keep a row, with the part that it is to be in, from another part? */
static bool
are_apart(Scope *s, int row, int part, int other)
{
	if (s->n_decisions == 0)
		return false;
	mark(s, s->left, row, part);
	mark(s, s->right, -1, other);
	for (int i = 0; i < s->n_decisions; i++)
	{
		const ScopeDecision *d = &s->decisions[i];

		if (!d->same && ((s->left[d->a] && s->right[d->b]) ||
						 (s->left[d->b] && s->right[d->a])))
			return true;
	}
	return false;
}

static bool
are_near(Scope *s, int stored, int arriving)
{
	const ScopeRow *a = &s->rows[stored];
	const ScopeRow *b = &s->rows[arriving];
	Datum values[] = {a->row.key, b->row.key};

	return simdup_hamming64(a->row.fp, b->row.fp) <= s->g->at->k &&
		   (s->g->at->conditions.n_columns == 0 ||
			simdup_grouping_run(s->g, GROUP_ARE_NEAR, values, NULL).n > 0);
}

static int
merge(Scope *s, int part, int other)
{
	for (int i = 0; i < s->n; i++)
		if (s->rows[i].part == Max(part, other))
			s->rows[i].part = Min(part, other);
	return Min(part, other);
}

/* The part of the rows that are tied to a row; NO_PART if there is none yet. */
static int
tied_part(Scope *s, int row)
{
	if (s->n_decisions == 0)
		return NO_PART;
	mark(s, s->left, row, NO_PART);
	for (int i = 0; i < row; i++)
		if (s->left[i])
			return s->rows[i].part;
	return NO_PART;
}

/* The part with the nearest first row; of equally near ones the oldest. */
static int
nearest_part(Scope *s, int row)
{
	int best = NO_PART;
	int best_distance = 0;

	for (int i = 0; i < row; i++)
	{
		int distance = simdup_hamming64(s->rows[i].row.fp, s->rows[row].row.fp);

		if (s->rows[i].part != i ||
			(best != NO_PART && distance >= best_distance) ||
			!are_near(s, i, row) || are_apart(s, row, NO_PART, i))
			continue;
		best = i;
		best_distance = distance;
	}
	return best;
}

/* Is a row of the part near this one? */
static bool
touches(Scope *s, int part, int row)
{
	for (int i = part; i < row; i++)
		if (s->rows[i].part == part && are_near(s, i, row))
			return true;
	return false;
}

static int
connected_part(Scope *s, int row, int part)
{
	for (int i = 0; i < row; i++)
	{
		if (s->rows[i].part != i || i == part || !touches(s, i, row) ||
			are_apart(s, row, part, i))
			continue;
		part = part == NO_PART ? i : merge(s, part, i);
	}
	return part;
}

static void
find_parts(Scope *s)
{
	for (int i = 0; i < s->n; i++)
	{
		int part = tied_part(s, i);

		CHECK_FOR_INTERRUPTS();
		if (s->g->connected)
			part = connected_part(s, i, part);
		else if (part == NO_PART)
			part = nearest_part(s, i);
		s->rows[i].part = part == NO_PART ? i : part;
	}
}

static bool
is_kept(Scope *s, int64 id)
{
	for (int i = 0; i < s->n; i++)
		if (s->ids[i] == id)
			return true;
	return false;
}

/* Each old id stays with its oldest row, or leads to the part of that row. */
static void
keep_ids(Scope *s, const int64 *old_ids, int n)
{
	for (int i = 0; i < n; i++)
	{
		Datum values[2] = {Int64GetDatum(old_ids[i])};
		int first = 0;
		int part;

		while (first < s->n && s->rows[first].old_id != old_ids[i])
			first++;
		if (first == s->n)
			continue;
		part = s->rows[first].part;
		if (s->ids[part] == 0)
		{
			s->ids[part] = old_ids[i];
			continue;
		}
		values[1] = Int64GetDatum(s->ids[part]);
		(void) simdup_grouping_run(s->g, GROUP_END, values, NULL);
		(void) simdup_grouping_run(s->g, GROUP_REDIRECT, values, NULL);
	}
}

/* An id that rows of the part once brought, and that ended then; or 0. */
static int64
brought_id(Scope *s, int part)
{
	for (int i = part; i < s->n; i++)
	{
		Datum id = Int64GetDatum(s->rows[i].brought);

		if (s->rows[i].part == part && s->rows[i].brought != 0 &&
			!is_kept(s, s->rows[i].brought) &&
			simdup_grouping_run(s->g, GROUP_IS_THERE, &id, NULL).n == 0)
			return s->rows[i].brought;
	}
	return 0;
}

/* Parts without an id get one; true where it was there before. */
static bool *
give_ids(Scope *s)
{
	bool *returned = palloc0(s->n + 1);

	for (int i = 0; i < s->n; i++)
	{
		Datum id;

		if (s->rows[i].part != i || s->ids[i] != 0)
			continue;
		s->ids[i] = brought_id(s, i);
		returned[i] = s->ids[i] != 0;
		if (!returned[i])
			s->ids[i] = simdup_grouping_new_id(s->g);
		id = Int64GetDatum(s->ids[i]);
		(void) simdup_grouping_run(s->g, GROUP_DROP_REDIRECT, &id, NULL);
	}
	return returned;
}

static void
write_row(Scope *s, int i, const char *kind, const char *cause)
{
	const ScopeRow *row = &s->rows[i];
	int64 id = s->ids[row->part];
	int64 brought = row->brought != 0		  ? row->brought
					: is_kept(s, row->old_id) ? 0
											  : row->old_id;
	Datum values[] = {row->row.key,
					  Int64GetDatum(id),
					  Int64GetDatum(brought),
					  CStringGetTextDatum(kind),
					  Int64GetDatum(row->old_id),
					  CStringGetTextDatum(cause)};
	bool isnull[6] = {false};

	isnull[2] = brought == 0 || brought == id;
	if (id == row->old_id && isnull[2] == (row->brought == 0))
		return;
	(void) simdup_grouping_run(s->g, GROUP_PLACE, values, isnull);
	if (id != row->old_id)
		simdup_group_set_column(s->g, row->row.key, id);
}

static void
write_parts(Scope *s, const bool *returned, const char *cause)
{
	for (int i = 0; i < s->n; i++)
	{
		const ScopeRow *row = &s->rows[i];
		int part = row->part;
		bool is_new = !returned[part] && row->old_id != s->ids[part];
		Datum values[] = {Int64GetDatum(s->ids[part]), row->row.key,
						  Simhash64GetDatum(row->row.fp)};

		CHECK_FOR_INTERRUPTS();
		if (part == i)
			(void) simdup_grouping_run(s->g, GROUP_PUT, values, NULL);
		write_row(s, i,
				  returned[part]		? "returned"
				  : is_new && part == i ? "split"
										: "joined",
				  cause);
	}
}

/*
 * An id that ended before, and led to one of these groups, leads to the part of
 * its oldest row. The rows are written.
 */
static void
follow_parts(Scope *s)
{
	Datum *ids = palloc(s->n * sizeof(Datum) + 1);
	Datum array;
	bool any = false;
	int n = 0;

	for (int i = 0; i < s->n; i++)
	{
		any |= s->rows[i].brought != 0;
		if (s->rows[i].part == i)
			ids[n++] = Int64GetDatum(s->ids[i]);
	}
	if (!any)
		return;
	array = PointerGetDatum(construct_array(ids, n, INT8OID, sizeof(int64),
											FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	(void) simdup_grouping_run(s->g, GROUP_FOLLOW_PARTS, &array, NULL);
}

static int
compare_ids(const void *a, const void *b)
{
	int64 left = *(const int64 *) a;
	int64 right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

void
simdup_group_recompute(Grouping *g, const int64 *ids, int n, const char *cause)
{
	Scope s = {.g = g};
	int64 *sorted = palloc(n * sizeof(int64));
	Datum *values = palloc(n * sizeof(Datum));
	Datum array;

	memcpy(sorted, ids, n * sizeof(int64));
	qsort(sorted, n, sizeof(int64), compare_ids);
	for (int i = 0; i < n; i++)
		values[i] = Int64GetDatum(sorted[i]);
	array = PointerGetDatum(construct_array(values, n, INT8OID, sizeof(int64),
											FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	read_rows(&s, array);
	read_decisions(&s, array);
	find_parts(&s);
	keep_ids(&s, sorted, n);
	write_parts(&s, give_ids(&s), cause);
	follow_parts(&s);
}

/*
 * regroup_write.c
 *	  Writes what regrouping has changed, in batches of rows.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/host.h"
#include "groups/guesses.h"
#include "groups/regrouping.h"
#include "groups/trigger.h"
#include "type/simhash64.h"

#define BATCH_ROWS 10000

/* Rows that one statement writes. */
typedef struct Batch
{
	Regrouping *r;
	GroupStatement statement;
	MemoryContext context;
	int n;
	Datum keys[BATCH_ROWS];
	Datum ids[BATCH_ROWS];
	Datum third[BATCH_ROWS]; /* fingerprints, or kinds of events */
	Datum others[BATCH_ROWS];
	bool no_other[BATCH_ROWS];
} Batch;

static Datum
array_of(Datum *values, bool *isnull, int n, Oid type)
{
	int16 len;
	bool byval;
	char align;
	int lower = 1;

	get_typlenbyvalalign(type, &len, &byval, &align);
	return PointerGetDatum(construct_md_array(values, isnull, 1, &n, &lower,
											  type, len, byval, align));
}

static void
flush(Batch *b)
{
	Grouping *g = b->r->g;
	MemoryContext caller = MemoryContextSwitchTo(b->context);
	Oid third = b->statement == GROUP_BULK_LEAD ? g->at->fp_type : TEXTOID;
	Datum values[4];

	if (b->n > 0)
	{
		values[0] =
			array_of(b->keys, NULL, b->n, simdup_grouping_bulk_key_type(g));
		values[1] = array_of(b->ids, NULL, b->n, INT8OID);
		if (b->statement == GROUP_BULK_LEAD ||
			b->statement == GROUP_BULK_EVENTS)
			values[2] = array_of(b->third, NULL, b->n, third);
		if (b->statement == GROUP_BULK_EVENTS)
			values[3] = array_of(b->others, b->no_other, b->n, INT8OID);
		SPI_connect();
		(void) simdup_grouping_run(g, b->statement, values, NULL);
		SPI_finish();
	}
	b->n = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(b->context);
	CHECK_FOR_INTERRUPTS();
}

static Batch *
begin(Regrouping *r, GroupStatement statement)
{
	Batch *b = palloc(sizeof(Batch));

	b->r = r;
	b->statement = statement;
	b->n = 0;
	b->context = AllocSetContextCreate(CurrentMemoryContext, "simdup regroup",
									   ALLOCSET_DEFAULT_SIZES);
	return b;
}

static void
end(Batch *b)
{
	flush(b);
	MemoryContextDelete(b->context);
	pfree(b);
}

static int64
id_of(const Regrouping *r, uint32 row)
{
	return r->new_id[r->leader[row]];
}

/* The next row of a batch, with its id. */
static int
add(Batch *b, uint32 row)
{
	Oid type = simdup_grouping_bulk_key_type(b->r->g);
	MemoryContext caller;
	int16 len;
	bool byval;

	if (b->n == BATCH_ROWS)
		flush(b);
	caller = MemoryContextSwitchTo(b->context);
	get_typlenbyval(type, &len, &byval);
	b->keys[b->n] =
		datumCopy(simdup_keys_get(b->r->rows->keys, row, 0), byval, len);
	b->ids[b->n] = Int64GetDatum(id_of(b->r, row));
	MemoryContextSwitchTo(caller);
	return b->n++;
}

static bool
is_moved(const Regrouping *r, uint32 row)
{
	return (r->flags[row] & ROW_IS_MEMBER) && id_of(r, row) != r->old_id[row];
}

static bool
is_no_member(const Regrouping *r, uint32 row)
{
	return (r->flags[row] & ROW_IS_MEMBER) == 0;
}

static bool
lacks_id(const Regrouping *r, uint32 row)
{
	return (r->flags[row] & ROW_HAS_ID) == 0 || id_of(r, row) != r->old_id[row];
}

/* The key and the id of each row that needs the statement. */
static void
write_rows(Regrouping *r, GroupStatement statement,
		   bool (*needs)(const Regrouping *r, uint32 row))
{
	Batch *b = begin(r, statement);

	for (uint32 i = 0; i < r->n; i++)
		if (needs(r, i))
			add(b, i);
	end(b);
}

/* Representatives that are new, or have another id or fingerprint. */
static bool
write_groups(Regrouping *r)
{
	Batch *b = begin(r, GROUP_BULK_LEAD);
	bool changed = false;

	for (uint32 i = 0; i < r->n; i++)
	{
		int place;

		if (r->leader[i] != i ||
			((r->flags[i] & ROW_LEADS) && id_of(r, i) == r->old_id[i]))
			continue;
		place = add(b, i);
		b->third[place] = Simhash64GetDatum(r->fp[i]);
		changed = true;
	}
	end(b);
	return changed;
}

/* A row opens a group if it leads one whose id is new. */
static const char *
kind_of(Regrouping *r, uint32 row, int64 newest_old_id)
{
	if (r->leader[row] != row || id_of(r, row) <= newest_old_id)
		return "joined";
	return r->old_id[row] == 0 ? "opened" : "split";
}

static void
write_events(Regrouping *r, int64 newest_old_id)
{
	Batch *b = begin(r, GROUP_BULK_EVENTS);

	for (uint32 i = 0; i < r->n; i++)
	{
		MemoryContext caller;
		int place;

		if (id_of(r, i) == r->old_id[i])
			continue;
		place = add(b, i);
		caller = MemoryContextSwitchTo(b->context);
		b->third[place] = CStringGetTextDatum(kind_of(r, i, newest_old_id));
		MemoryContextSwitchTo(caller);
		b->others[place] = Int64GetDatum(r->old_id[i]);
		b->no_other[place] = r->old_id[i] == 0;
	}
	end(b);
}

static void
write_redirects(Regrouping *r)
{
	for (uint32 i = 0; i < r->n_ended; i += BATCH_ROWS)
	{
		int n = (int) Min(r->n_ended - i, BATCH_ROWS);
		Datum *ids = palloc(BATCH_ROWS * sizeof(Datum));
		Datum *into = palloc(BATCH_ROWS * sizeof(Datum));
		Datum values[2];

		for (int j = 0; j < n; j++)
		{
			ids[j] = Int64GetDatum(r->ended_id[i + j]);
			into[j] = Int64GetDatum(r->ended_into[i + j]);
		}
		values[0] = array_of(ids, NULL, n, INT8OID);
		values[1] = array_of(into, NULL, n, INT8OID);
		SPI_connect();
		(void) simdup_grouping_run(r->g, GROUP_BULK_REDIRECT, values, NULL);
		SPI_finish();
	}
}

static int64
count(Grouping *g, GroupStatement statement)
{
	ArrivalFound found = simdup_grouping_run(g, statement, NULL, NULL);

	return DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
}

static bool
are_members_gone(Regrouping *r)
{
	return r->n_gone < 0 ? count(r->g, GROUP_COUNT_MEMBERS) != r->n
						 : r->n_gone > 0;
}

/* Groups that were there are counted again only if others were written. */
static bool
are_groups_empty(Regrouping *r, bool groups_changed)
{
	int64 n_groups = 0;

	for (uint32 i = 0; i < r->n; i++)
		n_groups += r->leader[i] == i;
	return n_groups != (r->n_groups < 0 || groups_changed
							? count(r->g, GROUP_COUNT_GROUPS)
							: r->n_groups);
}

/* Members without a row, and groups without a member, which are rare. */
static void
drop_leftovers(Regrouping *r, bool groups_changed)
{
	SPI_connect();
	if (are_members_gone(r))
		(void) simdup_grouping_run(r->g, GROUP_DROP_MEMBERS, NULL, NULL);
	if (are_groups_empty(r, groups_changed))
		(void) simdup_grouping_run(r->g, GROUP_DROP_GROUPS, NULL, NULL);
	SPI_finish();
}

void
simdup_regroup_write(Regrouping *r, int64 newest_old_id)
{
	bool groups_changed;

	simdup_guesses_surprise();
	simdup_group_pause_triggers(r->g->at->table);
	PG_TRY();
	{
		write_rows(r, GROUP_BULK_MOVE, is_moved);
		write_rows(r, GROUP_BULK_ENTER, is_no_member);
		groups_changed = write_groups(r);
		write_events(r, newest_old_id);
		write_redirects(r);
		drop_leftovers(r, groups_changed);
		write_rows(r, GROUP_BULK_SET_COLUMN, lacks_id);
	}
	PG_FINALLY();
	{
		simdup_group_pause_triggers(InvalidOid);
	}
	PG_END_TRY();
}

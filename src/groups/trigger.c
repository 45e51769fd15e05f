/*
 * trigger.c
 *	  simdup_group_trigger(fp, group, key, k [, options]): keeps a table's rows
 *	  in groups.
 *
 * BEFORE INSERT it guesses the group and writes its id into the row. AFTER is
 * the authority: it makes the row a member, and corrects the id if something
 * came between. BEFORE UPDATE undoes what a user writes into the column.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "utils/builtins.h"

#include "groups/decisions.h"
#include "groups/guesses.h"
#include "groups/moves.h"
#include "groups/trigger.h"
#include "type/simhash64.h"

/* The table whose groups are made anew now; its triggers do nothing. */
static Oid regrouped_table = InvalidOid;

void
simdup_group_pause_triggers(Oid table)
{
	regrouped_table = table;
}

/* An id in a row's column; 0 is NULL. */
static int64
id_of(TriggerData *trigdata, Grouping *g, HeapTuple tuple)
{
	bool isnull;
	Datum value =
		heap_getattr(tuple, g->attnum, RelationGetDescr(trigdata->tg_relation),
					 &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

static HeapTuple
with_id(TriggerData *trigdata, Grouping *g, HeapTuple tuple, int64 id)
{
	int attnum = g->attnum;
	Datum value = Int64GetDatum(id);
	bool isnull = id == 0;

	if (id_of(trigdata, g, tuple) == id)
		return tuple;
	return heap_modify_tuple_by_cols(tuple,
									 RelationGetDescr(trigdata->tg_relation), 1,
									 &attnum, &value, &isnull);
}

/*
 * The stored group that fits a row, or id 0. With leader this is the nearest
 * group, with connected the oldest of the groups near the row.
 */
static GuessNear
guess_in_table(Grouping *g, const ArrivalRow *row)
{
	int n = g->at->conditions.n_columns;
	Datum values[SIMDUP_MAX_CONDITION_COLUMNS + 1];
	bool isnull[SIMDUP_MAX_CONDITION_COLUMNS + 1];
	GuessNear near = {.waiting = NO_WAITING};
	ArrivalFound found;

	values[0] = Simhash64GetDatum(row->fp);
	isnull[0] = false;
	memcpy(&values[1], row->conditions.values, n * sizeof(Datum));
	memcpy(&isnull[1], row->conditions.isnull, n * sizeof(bool));
	found =
		simdup_grouping_run(g,
							g->connected ? GROUP_GUESS_CONNECTED : GROUP_GUESS,
							values, isnull);
	if (found.n == 0)
		return near;
	near.id = DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
	near.several = found.n > 1;
	if (!g->connected)
		near.distance = DatumGetInt32(simdup_grouping_value(found, 0, 2, NULL));
	return near;
}

/* Choose between a stored group and a group of waiting rows. */
static GuessNear
choose(Grouping *g, GuessNear stored, GuessNear waiting)
{
	bool several = stored.several || waiting.several ||
				   (g->connected && stored.id != waiting.id);

	if (waiting.id == 0)
		return stored;
	if (stored.id == 0)
		return waiting;
	if (g->connected || waiting.distance == stored.distance)
	{
		GuessNear near = waiting.id < stored.id ? waiting : stored;

		near.several = several;
		return near;
	}
	return waiting.distance < stored.distance ? waiting : stored;
}

/*
 * The group of a row that decisions name. It is the group of the rows tied to
 * it, or else a stored one. The answer is 0 if decisions keep the row out of a
 * group; then only the AFTER trigger can tell.
 */
static int64
guess_decided(Grouping *g, const ArrivalRow *row)
{
	GroupRow group_row = {.key = row->key, .fp = row->fp};
	GroupTied tied = simdup_group_tied(g, &group_row);
	int64 id = 0;

	if (simdup_group_has_apart(g, &tied))
		return 0;
	for (int i = 1; i < tied.n; i++)
		if (tied.ids[i] != 0 && (id == 0 || tied.ids[i] < id))
			id = tied.ids[i];
	return id != 0 ? id : guess_in_table(g, row).id;
}

/*
 * The group that a row will be in, or 0 where only the AFTER trigger can know.
 * A noted guess saves the AFTER trigger its search. Conditions cannot be
 * checked against rows that are not stored yet. Only AFTER triggers merge groups.
 */
static int64
guess(Grouping *g, const ArrivalRow *row)
{
	GuessNear near;
	GuessNear waiting;
	bool opens;

	if (simdup_group_is_decided(g, row->key))
		return guess_decided(g, row);
	near = guess_in_table(g, row);
	waiting = simdup_guesses_near(g, row->fp);
	if (!simdup_guesses_room() ||
		(waiting.id != 0 && g->at->conditions.n_columns > 0 &&
		 choose(g, near, waiting).id != near.id))
		return near.id;
	near = choose(g, near, waiting);
	if (near.several)
		return near.id;
	opens = near.id == 0;
	if (opens)
		near.id = simdup_grouping_new_id(g);
	simdup_guesses_add(g, row, near.id, near.waiting, opens);
	return near.id;
}

static HeapTuple
before_insert(TriggerData *trigdata, Grouping *g)
{
	GroupUser user;
	ArrivalRow row;
	int64 id = 0;

	(void) simdup_arrival_row(trigdata, g->at, &row);
	if (row.has_fp && !row.key_isnull)
	{
		MemoryContext caller = CurrentMemoryContext;

		user = simdup_grouping_become_owner(g);
		SPI_connect();
		simdup_arrival_lock(g->at, row.fp);
		id = guess(g, &row);
		SPI_finish();
		simdup_grouping_become_user(user);
		MemoryContextSwitchTo(caller);
	}
	return with_id(trigdata, g, row.tuple, id);
}

/* Is this the id of the row's group? */
static bool
is_members_id(Grouping *g, Datum key, int64 id)
{
	GroupUser user = simdup_grouping_become_owner(g);
	GroupMember member;
	bool result;

	SPI_connect();
	result = simdup_group_member(g, key, &member) && member.id == id;
	SPI_finish();
	simdup_grouping_become_user(user);
	return result;
}

/* The column is written as the row's membership says, and not otherwise. */
static HeapTuple
before_update(TriggerData *trigdata, Grouping *g)
{
	int64 old_id = id_of(trigdata, g, trigdata->tg_trigtuple);
	int64 new_id = id_of(trigdata, g, trigdata->tg_newtuple);
	ArrivalRow row;

	if (new_id == old_id)
		return trigdata->tg_newtuple;
	(void) simdup_arrival_row(trigdata, g->at, &row);
	if (new_id != 0 && !row.key_isnull && is_members_id(g, row.key, new_id))
		return row.tuple;
	if (new_id == 0 && !row.has_fp)
		return row.tuple;
	return with_id(trigdata, g, row.tuple, old_id);
}

/* Make a row a member as it was guessed; false if it is one already. */
static bool
enter(Grouping *g, const ArrivalRow *row, int64 id, bool opens)
{
	Datum values[] = {row->key, Int64GetDatum(id),
					  CStringGetTextDatum("insert"),
					  Simhash64GetDatum(row->fp)};

	return simdup_grouping_run(g, opens ? GROUP_OPEN : GROUP_JOIN, values, NULL)
			   .n > 0;
}

static void
after_insert(TriggerData *trigdata, Grouping *g)
{
	ArrivalRow row;
	GroupRow group_row;
	GuessUse use;
	int64 written;
	int64 id;

	/* a NULL key is left to the table's own constraint */
	if (!simdup_arrival_row(trigdata, g->at, &row) || !row.has_fp ||
		row.key_isnull)
		return;
	written = id_of(trigdata, g, row.tuple);
	use = simdup_guesses_take(g, &row, written);
	if (use != GUESS_NONE && enter(g, &row, written, use == GUESS_OPEN))
		return;
	/* it may be a row that comes from another partition */
	group_row = (GroupRow){.key = row.key, .fp = row.fp};
	id = simdup_group_change(g, &group_row, "insert");
	if (id != written)
		simdup_group_set_column(g, row.key, id);
}

/*
 * A row has another key. If others took part in the exchange, as in SET id =
 * id + 1, the old key's row is gone or another one's. True if the member has
 * the new key now.
 */
static bool
rename_row(TriggerData *trigdata, Grouping *g, const ArrivalRow *row)
{
	bool isnull;
	Datum old_key =
		heap_getattr(trigdata->tg_trigtuple, g->at->key,
					 RelationGetDescr(trigdata->tg_relation), &isnull);
	Datum values[] = {old_key, row->key, CStringGetTextDatum("new key")};
	GroupMember member;

	if (isnull || simdup_grouping_run(g, GROUP_HAS_ROW, &old_key, NULL).n > 0)
		return false;
	if (row->key_isnull || simdup_group_member(g, row->key, &member) ||
		!simdup_group_member(g, old_key, &member))
	{
		simdup_group_leave(g, old_key, "update");
		return false;
	}
	simdup_arrival_share(g->at);
	(void) simdup_grouping_run(g, GROUP_RENAME_MEMBER, values, NULL);
	/* what was decided about the row replaces what was about its new key */
	(void) simdup_grouping_run(g, GROUP_REPLACE_DECISIONS, values, NULL);
	(void) simdup_grouping_run(g, GROUP_RENAME_DECISIONS, values, NULL);
	values[2] = Int64GetDatum(member.id);
	(void) simdup_grouping_run(g, GROUP_RENAME_LEADER, values, NULL);
	return true;
}

static void
after_update(TriggerData *trigdata, Grouping *g)
{
	ArrivalRow row;
	bool is_same;
	int64 written;
	int64 id = 0;

	if (!simdup_arrival_row(trigdata, g->at, &row))
		return;
	written = id_of(trigdata, g, row.tuple);
	if (!row.changed && !row.key_changed)
		return;
	is_same = !row.changed;
	if (row.key_changed)
		is_same &= rename_row(trigdata, g, &row);
	if (row.key_isnull)
		return;
	if (row.has_fp)
	{
		GroupRow group_row = {.key = row.key, .fp = row.fp, .same = is_same};

		id = simdup_group_change(g, &group_row, "update");
	}
	else
		simdup_group_leave(g, row.key, "update");
	if (id != written)
		simdup_group_set_column(g, row.key, id);
}

/* A row that moves to another partition is deleted and inserted: it stays. */
static void
after_delete(TriggerData *trigdata, Grouping *g)
{
	bool isnull;
	Datum key = heap_getattr(trigdata->tg_trigtuple, g->at->key,
							 RelationGetDescr(trigdata->tg_relation), &isnull);

	if (!isnull && simdup_grouping_run(g, GROUP_HAS_ROW, &key, NULL).n == 0)
		simdup_group_leave(g, key, "delete");
}

static void
after_truncate(Grouping *g)
{
	char *text = simdup_grouping_text(g, "TRUNCATE {G}, {M}, {R}, {D}");

	simdup_guesses_surprise();
	if (SPI_execute(text, false, 0) < 0)
		elog(ERROR, "SPI_execute failed: %s", text);
	(void) simdup_grouping_run(g, GROUP_TRUNCATE, NULL, NULL);
}

static void
after(TriggerData *trigdata, Grouping *g)
{
	GroupUser user = simdup_grouping_become_owner(g);

	SPI_connect();
	if (TRIGGER_FIRED_BY_TRUNCATE(trigdata->tg_event))
		after_truncate(g);
	else if (TRIGGER_FIRED_BY_DELETE(trigdata->tg_event))
		after_delete(trigdata, g);
	else if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		after_update(trigdata, g);
	else
		after_insert(trigdata, g);
	SPI_finish();
	simdup_grouping_become_user(user);
}

PG_FUNCTION_INFO_V1(simdup_group_trigger);
Datum
simdup_group_trigger(PG_FUNCTION_ARGS)
{
	Grouping *g = simdup_grouping_setup(fcinfo);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;

	if (!TRIGGER_FIRED_BEFORE(trigdata->tg_event))
	{
		if (g->at->table != regrouped_table)
			after(trigdata, g);
		return PointerGetDatum(NULL);
	}
	if (g->at->table == regrouped_table)
		return PointerGetDatum(simdup_arrival_new_tuple(trigdata));
	return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event)
							   ? before_update(trigdata, g)
							   : before_insert(trigdata, g));
}

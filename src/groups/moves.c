/*
 * moves.c
 *	  Rows come into groups, leave them, and go from one to another.
 *
 * Locks. A row that comes locks the blocks of its fingerprint and, shared, the
 * table's tag (arrival/locks.c), so of two near rows one sees the other. Whoever
 * ends a group, or gives it another representative, without moving other rows,
 * locks the blocks of the representative: rows that could join need one of
 * them too. Everything that moves other rows takes the table's tag exclusively
 * and waits for all transactions with arrivals. Each reads with the latest
 * snapshot after it has locked.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "groups/guesses.h"
#include "groups/moves.h"
#include "type/simhash64.h"

bool
simdup_group_member(Grouping *g, Datum key, GroupMember *member)
{
	ArrivalFound found = simdup_grouping_run(g, GROUP_MEMBER, &key, NULL);
	bool isnull;
	Datum value;

	memset(member, 0, sizeof(*member));
	if (found.n == 0)
		return false;
	member->id = DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
	member->age = DatumGetInt64(simdup_grouping_value(found, 0, 2, NULL));
	/* while a statement deletes a whole group, its group may be gone before */
	value = simdup_grouping_value(found, 0, 3, &isnull);
	member->leads = !isnull && DatumGetBool(value);
	value = simdup_grouping_value(found, 0, 4, &isnull);
	member->led_fp = isnull ? 0 : DatumGetSimhash64(value);
	member->has_others = DatumGetBool(simdup_grouping_value(found, 0, 5, NULL));
	return true;
}

void
simdup_group_set_column(Grouping *g, Datum key, int64 id)
{
	Datum values[] = {key, Int64GetDatum(id)};
	bool isnull[] = {false, id == 0};

	(void) simdup_grouping_run(g, GROUP_SET_COLUMN, values, isnull);
}

/* The group that a row comes into by its fingerprint, or 0. */
static int64
nearest_group(Grouping *g, const GroupRow *row)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key,
					  PointerGetDatum(construct_empty_array(INT8OID))};
	ArrivalFound found = simdup_grouping_run(g, GROUP_NEAREST, values, NULL);

	return found.n == 0
			   ? 0
			   : DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
}

static void
add_group(Grouping *g, int64 id, const GroupRow *row)
{
	Datum values[] = {Int64GetDatum(id), row->key, Simhash64GetDatum(row->fp)};

	(void) simdup_grouping_run(g, GROUP_ADD, values, NULL);
}

/* A group gets this row as its representative. */
static void
lead(Grouping *g, int64 id, const GroupRow *row, const char *cause)
{
	Datum values[] = {Int64GetDatum(id), row->key, Simhash64GetDatum(row->fp),
					  CStringGetTextDatum(cause)};

	(void) simdup_grouping_run(g, GROUP_LEAD, values, NULL);
}

static void
move(Grouping *g, const GroupRow *row, int64 from, int64 to, const char *kind,
	 const char *cause)
{
	Datum values[] = {row->key, Int64GetDatum(to), CStringGetTextDatum(kind),
					  Int64GetDatum(from), CStringGetTextDatum(cause)};

	(void) simdup_grouping_run(g, GROUP_MOVE, values, NULL);
}

/* A member whose group has no place for it any more comes again. */
static int64
arrive_again(Grouping *g, const GroupRow *row, int64 from, const char *cause)
{
	int64 id = nearest_group(g, row);

	if (id == from)
		return id;
	if (id != 0)
		move(g, row, from, id, "joined", cause);
	else
	{
		id = simdup_grouping_new_id(g);
		add_group(g, id, row);
		move(g, row, from, id, "split", cause);
	}
	return id;
}

/*
 * The representative goes: the oldest other row leads, and rows that are not
 * near it come again. Rows that the same statement deletes, or gives another
 * key, are passed over; their own events follow. False if there are no others.
 */
static bool
hand_over(Grouping *g, int64 id, Datum key, const char *cause)
{
	Datum values[] = {Int64GetDatum(id), key, (Datum) 0, (Datum) 0};
	ArrivalFound found = simdup_grouping_run(g, GROUP_HEIR, values, NULL);
	GroupRow heir = {0};

	if (found.n == 0)
		return false;
	heir.key = simdup_grouping_value(found, 0, 1, NULL);
	heir.fp = DatumGetSimhash64(simdup_grouping_value(found, 0, 2, NULL));
	lead(g, id, &heir, cause);
	values[2] = heir.key;
	values[3] = Simhash64GetDatum(heir.fp);
	found = simdup_grouping_run(g, GROUP_STRAYS, values, NULL);
	for (uint64 i = 0; i < found.n; i++)
	{
		GroupRow row = {0};

		CHECK_FOR_INTERRUPTS();
		row.key = simdup_grouping_value(found, i, 1, NULL);
		row.fp = DatumGetSimhash64(simdup_grouping_value(found, i, 2, NULL));
		simdup_group_set_column(g, row.key, arrive_again(g, &row, id, cause));
	}
	return true;
}

int64
simdup_group_arrive(Grouping *g, const GroupRow *row, const char *cause)
{
	Datum values[] = {row->key, (Datum) 0, CStringGetTextDatum(cause),
					  Simhash64GetDatum(row->fp)};
	int64 id;

	simdup_guesses_surprise();
	simdup_arrival_lock(g->at, row->fp);
	id = nearest_group(g, row);
	if (id != 0)
	{
		values[1] = Int64GetDatum(id);
		(void) simdup_grouping_run(g, GROUP_JOIN, values, NULL);
		return id;
	}
	id = simdup_grouping_new_id(g);
	values[1] = Int64GetDatum(id);
	(void) simdup_grouping_run(g, GROUP_OPEN, values, NULL);
	return id;
}

/* Is the row near the representative of this group? */
static bool
is_near(Grouping *g, const GroupRow *row, int64 id)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key, Int64GetDatum(id)};

	return simdup_grouping_run(g, GROUP_IS_NEAR, values, NULL).n > 0;
}

/* The row is alone, and stays so: its group gets the new fingerprint. */
static bool
change_alone(Grouping *g, const GroupRow *row, GroupMember *member,
			 const char *cause)
{
	simdup_arrival_lock(g->at, member->led_fp);
	simdup_arrival_lock(g->at, row->fp);
	if (!simdup_group_member(g, row->key, member) || !member->leads ||
		member->has_others)
		return false;
	if (member->led_fp != row->fp)
		lead(g, member->id, row, cause);
	return true;
}

int64
simdup_group_change(Grouping *g, const GroupRow *row, const char *cause)
{
	GroupMember member;

	simdup_guesses_surprise();
	simdup_arrival_share(g->at);
	if (!simdup_group_member(g, row->key, &member))
		return simdup_group_arrive(g, row, cause);
	if (member.leads && member.led_fp == row->fp && row->same)
		return member.id;
	if (member.leads && !member.has_others &&
		change_alone(g, row, &member, cause))
		return member.id;
	if (member.leads)
	{
		simdup_arrival_lock_table(g->at->table);
		if (!simdup_group_member(g, row->key, &member))
			return simdup_group_arrive(g, row, cause);
		if (member.leads && !hand_over(g, member.id, row->key, cause))
		{
			lead(g, member.id, row, cause);
			return member.id;
		}
	}
	else if (is_near(g, row, member.id))
		return member.id;
	simdup_arrival_lock(g->at, row->fp);
	return arrive_again(g, row, member.id, cause);
}

/* A representative goes that is alone: its group ends. */
static bool
leave_alone(Grouping *g, Datum key, GroupMember *member)
{
	simdup_arrival_lock(g->at, member->led_fp);
	return simdup_group_member(g, key, member) && member->leads &&
		   !member->has_others;
}

void
simdup_group_leave(Grouping *g, Datum key, const char *cause)
{
	Datum values[] = {key, CStringGetTextDatum(cause)};
	Datum id;
	GroupMember member;

	simdup_guesses_surprise();
	simdup_arrival_share(g->at);
	if (!simdup_group_member(g, key, &member))
		return;
	if (member.leads && !(!member.has_others &&
						  leave_alone(g, key, &member)))
	{
		simdup_arrival_lock_table(g->at->table);
		if (!simdup_group_member(g, key, &member))
			return;
	}
	(void) simdup_grouping_run(g, GROUP_LEAVE, values, NULL);
	id = Int64GetDatum(member.id);
	if (!member.has_others)
		(void) simdup_grouping_run(g, GROUP_END, &id, NULL);
	else if (member.leads)
		(void) hand_over(g, member.id, key, cause);
}

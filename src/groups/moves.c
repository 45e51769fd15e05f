/*
 * moves.c
 *	  Rows come into groups, leave them, and go from one to another.
 *
 * Locks. A row that comes locks the blocks of its fingerprint and, shared, the
 * table's tag (arrival/locks.c), so of two near rows one sees the other. A
 * transaction may end a group, or replace its representative, without moving
 * other rows. It then locks the blocks of the representative, because rows that
 * could join need one of them too. A transaction that moves other rows takes
 * the table's tag exclusively and waits for all transactions with arrivals.
 * Each reads with the latest snapshot after it has locked.
 */
#include "postgres.h"
#include "compat.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "groups/decisions.h"
#include "groups/guesses.h"
#include "groups/moves.h"
#include "groups/recompute.h"
#include "type/simhash64.h"

/*
 * The transaction that handed a group over last. Rows of the group whose keys
 * the same statement changes were passed over, and are looked at again.
 */
static FullTransactionId handing_over;

/* The nearest of the groups but those of an array, or 0. */
static int64
nearest_group(Grouping *g, const GroupRow *row, Datum except)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key, except};
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

static void
take_out(Grouping *g, Datum key)
{
	(void) simdup_grouping_run(g, GROUP_TAKE_OUT, &key, NULL);
}

int64
simdup_group_merge(Grouping *g, int64 a, int64 b, const char *cause)
{
	Datum values[] = {Int64GetDatum(Max(a, b)), Int64GetDatum(Min(a, b)),
					  CStringGetTextDatum(cause)};

	(void) simdup_grouping_run(g, GROUP_MERGE_MEMBERS, values, NULL);
	(void) simdup_grouping_run(g, GROUP_MERGE_COLUMN, values, NULL);
	(void) simdup_grouping_run(g, GROUP_END, values, NULL);
	(void) simdup_grouping_run(g, GROUP_REDIRECT, values, NULL);
	return Min(a, b);
}

/* Has one of the first n tied rows this group? */
static bool
is_noted(const GroupTied *tied, int n, int64 id)
{
	for (int i = 1; i < n; i++)
		if (tied->ids[i] == id)
			return true;
	return false;
}

/* The group of the rows that are tied to a row, merged; 0 if there is none. */
static int64
merge_tied(Grouping *g, const GroupTied *tied, const char *cause)
{
	int64 id = 0;

	for (int i = 1; i < tied->n; i++)
	{
		int64 other = tied->ids[i];

		if (other == 0 || is_noted(tied, i, other))
			continue;
		id = id == 0 ? other : simdup_group_merge(g, id, other, cause);
	}
	return id;
}

static bool
is_among(Datum ids, int64 id)
{
	ArrayType *array = DatumGetArrayTypeP(ids);
	const int64 *values = (const int64 *) ARR_DATA_PTR(array);
	int n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	for (int i = 0; i < n; i++)
		if (values[i] == id)
			return true;
	return false;
}

/* The groups of all rows near a row become one, unless people say otherwise. */
static int64
connect_groups(Grouping *g, const GroupRow *row, int64 id, Datum apart,
			   const char *cause)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key};
	ArrivalFound found =
		simdup_grouping_run(g, GROUP_NEAR_GROUPS, values, NULL);

	for (uint64 i = 0; i < found.n; i++)
	{
		int64 other = DatumGetInt64(simdup_grouping_value(found, i, 1, NULL));

		if (other == id || is_among(apart, other) ||
			(id != 0 && simdup_groups_are_apart(g, id, other)))
			continue;
		id = id == 0 ? other : simdup_group_merge(g, id, other, cause);
	}
	return id;
}

/* The id that a row once brought into another group, ended now; 0: none. */
static int64
brought_by(Grouping *g, Datum key)
{
	ArrivalFound found = simdup_grouping_run(g, GROUP_BROUGHT, &key, NULL);
	bool isnull = true;
	Datum id = (Datum) 0;

	if (found.n > 0)
		id = simdup_grouping_value(found, 0, 1, &isnull);
	return isnull ? 0 : DatumGetInt64(id);
}

/* A row opens a group; an id that it once brought into another comes back. */
static int64
open_group(Grouping *g, const GroupRow *row, int64 from, const char *cause)
{
	int64 brought = brought_by(g, row->key);
	int64 id = brought != 0 ? brought : simdup_grouping_new_id(g);
	Datum value = Int64GetDatum(id);

	if (brought != 0)
		(void) simdup_grouping_run(g, GROUP_DROP_REDIRECT, &value, NULL);
	add_group(g, id, row);
	move(g, row, from, id,
		 brought != 0 ? "returned"
		 : from == 0  ? "opened"
					  : "split",
		 cause);
	return id;
}

/*
 * A member that is in no group now comes into one. Groups that it is tied to
 * become one, as by a decision. Rows in it that were told apart are separated
 * then, and the row itself may be the younger one that goes.
 */
static int64
place(Grouping *g, const GroupRow *row, int64 from, const char *cause)
{
	GroupTied tied = simdup_group_tied(g, row);
	int64 id = merge_tied(g, &tied, cause);
	bool joined = id != 0;
	GroupMember member;
	Datum apart;

	if (joined)
	{
		move(g, row, from, id, "joined", cause);
		simdup_group_separate(g, id, cause);
		(void) simdup_group_member(g, row->key, &member);
		id = member.id;
	}
	apart = simdup_group_apart(g, &tied);
	if (g->connected)
		id = connect_groups(g, row, id, apart, cause);
	else if (id == 0)
		id = nearest_group(g, row, apart);
	if (id == 0)
		return open_group(g, row, from, cause);
	if (!joined)
		move(g, row, from, id, "joined", cause);
	return id;
}

/*
 * Rows that are out of their group come again, in this order. The redirect of
 * an id that they brought into the group goes with the last of its rows.
 */
static void
place_all(Grouping *g, const GroupRow *rows, uint64 n, int64 from,
		  const char *cause)
{
	for (uint64 i = 0; i < n; i++)
	{
		int64 brought = brought_by(g, rows[i].key);
		int64 id;

		CHECK_FOR_INTERRUPTS();
		id = place(g, &rows[i], from, cause);
		if (brought != 0 && brought != id)
		{
			Datum values[] = {Int64GetDatum(brought), Int64GetDatum(from),
							  Int64GetDatum(id)};

			(void) simdup_grouping_run(g, GROUP_FOLLOW, values, NULL);
		}
		simdup_group_set_column(g, rows[i].key, id);
	}
}

/* Rows of a group that are neither near its new leader nor tied to it. */
static void
scatter(Grouping *g, int64 id, const GroupRow *heir, Datum gone,
		const char *cause)
{
	Datum values[] = {Int64GetDatum(id), gone, heir->key,
					  Simhash64GetDatum(heir->fp)};
	GroupTied tied = simdup_group_tied(g, heir);
	ArrivalFound found = simdup_grouping_run(g, GROUP_STRAYS, values, NULL);
	GroupRow *strays = palloc(found.n * sizeof(GroupRow) + 1);
	uint64 n = 0;

	for (uint64 i = 0; i < found.n; i++)
	{
		GroupRow row = {0};

		row.key = simdup_grouping_value(found, i, 1, NULL);
		row.fp = DatumGetSimhash64(simdup_grouping_value(found, i, 2, NULL));
		if (simdup_group_tied_has(g, &tied, row.key))
			continue;
		take_out(g, row.key);
		strays[n++] = row;
	}
	place_all(g, strays, n, id, cause);
}

/*
 * Rows have left a group: the oldest of the others leads, and rows that have no
 * place there any more come again. Rows that the same statement deletes, or
 * gives another key, are passed over; their own events follow. False if there
 * are no others.
 */
static bool
hand_over(Grouping *g, int64 id, Datum key, bool led, const char *cause)
{
	Datum values[] = {Int64GetDatum(id), key};
	ArrivalFound found = simdup_grouping_run(g, GROUP_HEIR, values, NULL);
	GroupRow heir = {0};

	handing_over = GetTopFullTransactionId();
	if (found.n == 0)
		return false;
	heir.key = simdup_grouping_value(found, 0, 1, NULL);
	heir.fp = DatumGetSimhash64(simdup_grouping_value(found, 0, 2, NULL));
	if (led)
		lead(g, id, &heir, cause);
	if (g->connected)
		simdup_group_recompute(g, &id, 1, cause);
	else if (led)
		scatter(g, id, &heir, key, cause);
	return true;
}

/* What may merge groups waits for all others. */
static void
lock_to_place(Grouping *g, const GroupRow *row)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key};

	if (simdup_group_tied(g, row).n > 1 ||
		(g->connected &&
		 simdup_grouping_run(g, GROUP_NEAR_GROUPS, values, NULL).n > 1))
		simdup_arrival_lock_table(g->at->table);
}

/*
 * The only group for a row that nobody decided about; 0 if it opens one. False
 * if it is near several groups, which then become one.
 */
static bool
only_group(Grouping *g, const GroupRow *row, int64 *id)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key};
	ArrivalFound found;

	*id = 0;
	if (!g->connected)
	{
		*id = nearest_group(g, row,
							PointerGetDatum(construct_empty_array(INT8OID)));
		return true;
	}
	found = simdup_grouping_run(g, GROUP_NEAR_GROUPS, values, NULL);
	if (found.n == 1)
		*id = DatumGetInt64(simdup_grouping_value(found, 0, 1, NULL));
	return found.n <= 1;
}

int64
simdup_group_arrive(Grouping *g, const GroupRow *row, const char *cause)
{
	Datum values[] = {row->key, (Datum) 0, CStringGetTextDatum(cause),
					  Simhash64GetDatum(row->fp)};
	int64 id;
	bool opens;

	simdup_guesses_surprise();
	simdup_arrival_lock(g->at, row->fp);
	if (simdup_group_is_decided(g, row->key) || !only_group(g, row, &id))
	{
		lock_to_place(g, row);
		(void) simdup_grouping_run(g, GROUP_ENTER, values, NULL);
		return place(g, row, 0, cause);
	}
	opens = id == 0;
	if (opens)
		id = simdup_grouping_new_id(g);
	values[1] = Int64GetDatum(id);
	(void) simdup_grouping_run(g, opens ? GROUP_OPEN : GROUP_JOIN, values,
							   NULL);
	return id;
}

/* Is the row near the representative of this group? */
static bool
is_near(Grouping *g, const GroupRow *row, int64 id)
{
	Datum values[] = {Simhash64GetDatum(row->fp), row->key, Int64GetDatum(id)};

	return simdup_grouping_run(g, GROUP_IS_NEAR, values, NULL).n > 0;
}

/* Do people say that a row of its group is the same? */
static bool
is_bound(Grouping *g, const GroupRow *row, int64 id)
{
	GroupTied tied = simdup_group_tied(g, row);

	for (int i = 1; i < tied.n; i++)
		if (tied.ids[i] == id)
			return true;
	return false;
}

/*
 * A row has another key and is the same otherwise. Does it stay as it is? Not
 * if its group may have been handed over while it had neither key. If nobody
 * was left to lead then, the row leads.
 */
static bool
stays(Grouping *g, const GroupRow *row, const GroupMember *member,
	  const char *cause)
{
	Datum id = Int64GetDatum(member->id);

	if (member->leads ||
		!FullTransactionIdEquals(handing_over, GetTopFullTransactionId()))
		return true;
	if (g->connected || simdup_grouping_run(g, GROUP_IS_THERE, &id, NULL).n > 0)
		return false;
	/* the table has been locked since the group was handed over */
	add_group(g, member->id, row);
	lead(g, member->id, row, cause);
	scatter(g, member->id, row, row->key, cause);
	return true;
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

/* A member leaves its group and comes again; the table is locked. */
static int64
leave_and_arrive(Grouping *g, const GroupRow *row, const GroupMember *member,
				 const char *cause)
{
	Datum values[] = {row->key, Int64GetDatum(member->id)};
	Datum id = values[1];

	take_out(g, row->key);
	if (!member->has_others)
	{
		(void) simdup_grouping_run(g, GROUP_END, &id, NULL);
		(void) simdup_grouping_run(g, GROUP_BRING, values, NULL);
	}
	else if ((member->leads || g->connected) &&
			 !hand_over(g, member->id, row->key, member->leads, cause))
	{
		move(g, row, 0, member->id, "joined", cause);
		lead(g, member->id, row, cause);
		return member->id;
	}
	return place(g, row, member->id, cause);
}

int64
simdup_group_change(Grouping *g, const GroupRow *row, const char *cause)
{
	GroupMember member;

	simdup_guesses_surprise();
	simdup_arrival_share(g->at);
	if (!simdup_group_member(g, row->key, &member))
		return simdup_group_arrive(g, row, cause);
	if (row->same && stays(g, row, &member, cause))
		return member.id;
	if (!g->connected && g->at->conditions.n_columns == 0 && member.leads &&
		member.led_fp == row->fp)
		return member.id;
	if (!g->connected && member.leads && !member.has_others &&
		change_alone(g, row, &member, cause))
		return member.id;
	if (!g->connected && !member.leads && is_near(g, row, member.id))
		return member.id;
	if (!g->connected && !member.leads && !simdup_group_is_decided(g, row->key))
	{
		simdup_arrival_lock(g->at, row->fp);
		return leave_and_arrive(g, row, &member, cause);
	}
	simdup_arrival_lock_table(g->at->table);
	if (!simdup_group_member(g, row->key, &member))
		return simdup_group_arrive(g, row, cause);
	if (g->connected || !is_bound(g, row, member.id))
		return leave_and_arrive(g, row, &member, cause);
	if (member.leads)
		lead(g, member.id, row, cause);
	return member.id;
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
	Datum values[] = {key, CStringGetTextDatum(cause), (Datum) 0};
	GroupMember member;

	simdup_guesses_surprise();
	simdup_arrival_share(g->at);
	if (!simdup_group_member(g, key, &member))
		return;
	if ((member.leads || g->connected) &&
		!(member.leads && !member.has_others && leave_alone(g, key, &member)))
	{
		simdup_arrival_lock_table(g->at->table);
		if (!simdup_group_member(g, key, &member))
			return;
	}
	values[2] = Int64GetDatum(member.id);
	if (!member.has_others)
		(void) simdup_grouping_run(g, GROUP_END, &values[2], NULL);
	else if (member.leads || g->connected)
	{
		take_out(g, key);
		if (!hand_over(g, member.id, key, member.leads, cause))
			(void) simdup_grouping_run(g, GROUP_END, &values[2], NULL);
	}
	(void) simdup_grouping_run(g, GROUP_LEAVE, values, NULL);
}

static int
compare_ages(const void *a, const void *b)
{
	const GroupRow *left = a;
	const GroupRow *right = b;

	return left->age < right->age ? -1 : left->age > right->age;
}

/* A row leaves with those tied to it, and they come again. */
static void
send_away(Grouping *g, const GroupRow *row, const char *cause)
{
	GroupTied tied = simdup_group_tied(g, row);
	int64 id = tied.ids[0];
	bool led = false;

	for (int i = 0; i < tied.n; i++)
	{
		GroupMember member;

		tied.rows[i].age = tied.ages[i];
		led |=
			simdup_group_member(g, tied.rows[i].key, &member) && member.leads;
		take_out(g, tied.rows[i].key);
	}
	qsort(tied.rows, tied.n, sizeof(GroupRow), compare_ages);
	if (led || g->connected)
		(void) hand_over(g, id, row->key, led, cause);
	place_all(g, tied.rows, (uint64) tied.n, id, cause);
}

/* The rows of a group, by age. */
static ArrivalFound
rows_of(Grouping *g, int64 id)
{
	Datum value = Int64GetDatum(id);
	Datum ids =
		PointerGetDatum(construct_array(&value, 1, INT8OID, sizeof(int64),
										FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));

	return simdup_grouping_run(g, GROUP_ROWS, &ids, NULL);
}

static GroupRow
row_at(ArrivalFound found, uint64 i)
{
	GroupRow row = {0};

	row.key = simdup_grouping_value(found, i, 1, NULL);
	row.fp = DatumGetSimhash64(simdup_grouping_value(found, i, 2, NULL));
	return row;
}

/*
 * Was the row told apart from an older row of its group? Rows that it is tied
 * to do not count: users may write decisions that contradict each other, and
 * the rows would leave and meet again for ever.
 */
static bool
is_apart_from_older(Grouping *g, const GroupRow *row, int64 id)
{
	Datum values[] = {row->key, Int64GetDatum(id)};
	ArrivalFound found =
		simdup_grouping_run(g, GROUP_APART_FROM_OLDER, values, NULL);
	GroupTied tied;

	if (found.n == 0)
		return false;
	tied = simdup_group_tied(g, row);
	for (uint64 i = 0; i < found.n; i++)
		if (!simdup_group_tied_has(g, &tied,
								   simdup_grouping_value(found, i, 1, NULL)))
			return true;
	return false;
}

void
simdup_group_separate(Grouping *g, int64 id, const char *cause)
{
	ArrivalFound found;

	if (!simdup_groups_are_apart(g, id, id))
		return;
	found = rows_of(g, id);
	for (uint64 i = 0; i < found.n && simdup_groups_are_apart(g, id, id); i++)
	{
		GroupRow row = row_at(found, i);

		if (is_apart_from_older(g, &row, id))
			send_away(g, &row, cause);
	}
}

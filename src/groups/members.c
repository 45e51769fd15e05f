/*
 * members.c
 *	  A row's place among the groups, as it is written.
 */
#include "postgres.h"
#include "compat.h"

#include "groups/members.h"
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

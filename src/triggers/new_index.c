/*
 * new_index.c
 *	  Refuses an index that would leave a trigger without one answer.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "catalog/objectaccess.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "index/hamming/am.h"
#include "triggers/trigger.h"

/*
 * ERROR if a new index leaves a trigger that names none with several that differ.
 * It would fail at the next row. An index that is built concurrently is checked
 * late, and stays behind, invalid.
 */
static void
check_new_index(Relation index)
{
	Relation table = table_open(index->rd_index->indrelid, NoLock);
	Oid rival = InvalidOid;
	bool is_new = true;
	List *triggers = NIL;
	ListCell *cell;

	foreach (cell, RelationGetIndexList(table))
	{
		Relation other = index_open(lfirst_oid(cell), AccessShareLock);

		if (simdup_trigger_is_hamming(other) &&
			simdup_trigger_is_complete(other) &&
			RelationGetRelid(other) != RelationGetRelid(index))
		{
			rival = RelationGetRelid(other);
			is_new &= !simdup_trigger_is_like(index, rival);
		}
		index_close(other, NoLock);
	}
	if (OidIsValid(rival) && is_new)
		triggers =
			simdup_trigger_list(RelationGetRelid(table), index->rd_amhandler);
	foreach (cell, triggers)
	{
		const OwnTrigger *own = lfirst(cell);
		const Trigger *trigger = own->trigger;
		const char *option;

		if (trigger->tgisclone || trigger->tgenabled == TRIGGER_DISABLED ||
			own->options.index != NULL)
			continue;
		option = quote_literal_cstr(
			psprintf("index => %s", quote_identifier(get_rel_name(rival))));
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("cannot create index \"%s\" because trigger \"%s\" for table \"%s\" names no index",
					   RelationGetRelationName(index), trigger->tgname,
					   RelationGetRelationName(table)),
				errdetail("The trigger searches index \"%s\", which differs.",
						  get_rel_name(rival)),
				index->rd_index->indisready
					? errhint("Name it in the trigger: %s.", option)
					: errhint("Drop the new index, and name the other in the trigger: %s.",
							  option));
	}
	table_close(table, NoLock);
}

static object_access_hook_type next_object_access = NULL;

/*
 * Check an index when it is created, also one of a partition, which may have triggers
 * of its own. The catalog shows the index after the next command counter, which the
 * server also increments here. An index that is not ready is checked when it is
 * built.
 */
static void
check_created(ObjectAccessType access, Oid class, Oid object, int column,
			  void *arg)
{
	Relation created = NULL;

	if (next_object_access != NULL)
		next_object_access(access, class, object, column, arg);
	if (access == OAT_POST_CREATE && class == RelationRelationId)
		created = RelationIdGetRelation(object);
	if (created == NULL)
		return;
	if (created->rd_rel->relkind == RELKIND_INDEX ||
		created->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
	{
		CommandCounterIncrement();
		if (simdup_trigger_is_hamming(created) && created->rd_index->indisready)
			check_new_index(created);
	}
	RelationClose(created);
}

void
simdup_triggers_init(void)
{
	next_object_access = object_access_hook;
	object_access_hook = check_created;
	simdup_hamming_check_late = check_new_index;
}

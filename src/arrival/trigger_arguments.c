/*
 * trigger_arguments.c
 *	  Checks how an arrival trigger was written, at the first firing of each
 *	  statement. Errors say how to write it.
 */
#include "postgres.h"
#include "compat.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "arrival/arrival.h"
#include "server/catalog.h"
#include "type/simhash64.h"

static const char *
fired_when(TriggerEvent event)
{
	if (TRIGGER_FIRED_BEFORE(event))
		return TRIGGER_FIRED_FOR_ROW(event) ? "BEFORE, FOR EACH ROW"
											: "BEFORE, FOR EACH STATEMENT";
	if (TRIGGER_FIRED_AFTER(event))
		return TRIGGER_FIRED_FOR_ROW(event) ? "AFTER, FOR EACH ROW"
											: "AFTER, FOR EACH STATEMENT";
	return "INSTEAD OF";
}

/* errhint with the whole CREATE TRIGGER statement, by the table's name. */
int
simdup_arrival_hint(TriggerData *trigdata, const ArrivalUsage *usage)
{
	return errhint("Write: CREATE TRIGGER ... %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s).",
				   usage->before ? "BEFORE" : "AFTER",
				   quote_identifier(
					   RelationGetRelationName(trigdata->tg_relation)),
				   usage->function, usage->arguments);
}

/* ERROR unless a trigger calls the function, at a time that it supports. */
void
simdup_arrival_check_fired(FunctionCallInfo fcinfo, const ArrivalUsage *usage)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	TriggerEvent event;
	bool fits;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" was not called by trigger manager",
					   usage->function));

	event = trigdata->tg_event;
	if (TRIGGER_FIRED_FOR_STATEMENT(event))
		fits = usage->statement && TRIGGER_FIRED_AFTER(event);
	else
		fits = (usage->before && TRIGGER_FIRED_BEFORE(event)) ||
			   (usage->after && TRIGGER_FIRED_AFTER(event));
	if (!fits)
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" must be fired %s%s%s%s",
					   usage->function, usage->before ? "BEFORE" : "",
					   usage->before && usage->after ? " or " : "",
					   usage->after ? "AFTER" : "",
					   usage->statement ? "" : ", FOR EACH ROW"),
				errdetail("Trigger \"%s\" on table \"%s\" fires %s.",
						  trigdata->tg_trigger->tgname,
						  RelationGetRelationName(trigdata->tg_relation),
						  fired_when(event)),
				simdup_arrival_hint(trigdata, usage));
	if (!TRIGGER_FIRED_BY_INSERT(event) && !TRIGGER_FIRED_BY_UPDATE(event))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" must be fired for INSERT or UPDATE",
					   usage->function),
				errdetail("Trigger \"%s\" on table \"%s\" fires for another event too.",
						  trigdata->tg_trigger->tgname,
						  RelationGetRelationName(trigdata->tg_relation)),
				simdup_arrival_hint(trigdata, usage));
}

void
simdup_arrival_check_arguments(TriggerData *trigdata, const ArrivalUsage *usage)
{
	int n = trigdata->tg_trigger->tgnargs;

	if (n < usage->min_args || n > usage->max_args)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("wrong number of arguments for function \"%s\"",
					   usage->function),
				errdetail("Trigger \"%s\" on table \"%s\" gives %d.",
						  trigdata->tg_trigger->tgname,
						  RelationGetRelationName(trigdata->tg_relation), n),
				simdup_arrival_hint(trigdata, usage));
}

/* The column that argument n names. */
AttrNumber
simdup_arrival_column(TriggerData *trigdata, const ArrivalUsage *usage, int n,
					  const char *role)
{
	const char *name = trigdata->tg_trigger->tgargs[n];
	AttrNumber attnum;

	attnum = SPI_fnumber(RelationGetDescr(trigdata->tg_relation), name);
	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("Argument %d of trigger \"%s\" names the column with the %s.",
						  n + 1, trigdata->tg_trigger->tgname, role),
				simdup_arrival_hint(trigdata, usage));
	return attnum;
}

/* The fingerprint column, argument 0. */
AttrNumber
simdup_arrival_fp_column(TriggerData *trigdata, const ArrivalUsage *usage,
						 Oid extension)
{
	Oid simhash64 = simdup_type_in_schema(extension, "simhash64");
	AttrNumber attnum =
		simdup_arrival_column(trigdata, usage, 0, "fingerprint");
	Form_pg_attribute att;

	att = TupleDescAttr(RelationGetDescr(trigdata->tg_relation), attnum - 1);
	if (getBaseType(att->atttypid) != simhash64)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is not of type %s",
					   NameStr(att->attname),
					   RelationGetRelationName(trigdata->tg_relation),
					   "simhash64"),
				errdetail("Trigger \"%s\" names it as the fingerprint; its type is %s.",
						  trigdata->tg_trigger->tgname,
						  format_type_be(att->atttypid)),
				simdup_arrival_hint(trigdata, usage));
	return attnum;
}

/* A column that a BEFORE trigger reads or writes must exist by then. */
void
simdup_arrival_check_written(TriggerData *trigdata, const ArrivalUsage *usage,
							 AttrNumber attnum)
{
	Form_pg_attribute att;

	att = TupleDescAttr(RelationGetDescr(trigdata->tg_relation), attnum - 1);
	if (att->attgenerated && (TRIGGER_FIRED_BEFORE(trigdata->tg_event) ||
							  att->attgenerated != ATTRIBUTE_GENERATED_STORED))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated",
					   NameStr(att->attname),
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("Generated columns are computed after BEFORE triggers such as \"%s\".",
						  trigdata->tg_trigger->tgname),
				usage->after ? errhint("Let the trigger fire AFTER.")
							 : errhint("Name an ordinary column."));
}

static AttrNumber
key_argument(TriggerData *trigdata, const ArrivalUsage *usage, Oid *type)
{
	AttrNumber attnum =
		simdup_arrival_column(trigdata, usage, usage->key_arg, "key");

	simdup_arrival_check_written(trigdata, usage, attnum);
	*type = SPI_gettypeid(RelationGetDescr(trigdata->tg_relation), attnum);
	if (!OidIsValid(lookup_type_cache(*type, TYPECACHE_EQ_OPR)->eq_opr) ||
		!OidIsValid(lookup_type_cache(*type, TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" cannot be a key",
					   trigdata->tg_trigger->tgargs[usage->key_arg],
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("Its type %s has no default order.",
						  format_type_be(*type)),
				simdup_arrival_hint(trigdata, usage));
	return attnum;
}

static AttrNumber
flag_argument(TriggerData *trigdata, const ArrivalUsage *usage, Oid key_type)
{
	AttrNumber attnum =
		simdup_arrival_column(trigdata, usage, usage->flag_arg, "flag");
	Oid type = SPI_gettypeid(RelationGetDescr(trigdata->tg_relation), attnum);

	simdup_arrival_check_written(trigdata, usage, attnum);
	if (strcmp(trigdata->tg_trigger->tgargs[usage->flag_arg],
			   trigdata->tg_trigger->tgargs[usage->key_arg]) == 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("the flag cannot be the key's own column \"%s\"",
					   trigdata->tg_trigger->tgargs[usage->key_arg]),
				simdup_arrival_hint(trigdata, usage));
	if (type != key_type)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("columns \"%s\" and \"%s\" of relation \"%s\" are not of one type",
					   trigdata->tg_trigger->tgargs[usage->flag_arg],
					   trigdata->tg_trigger->tgargs[usage->key_arg],
					   RelationGetRelationName(trigdata->tg_relation)),
				errdetail("The flag takes another row's key; its type is %s, the key's is %s.",
						  format_type_be(type), format_type_be(key_type)),
				simdup_arrival_hint(trigdata, usage));
	return attnum;
}

static int
distance_argument(TriggerData *trigdata, const ArrivalUsage *usage)
{
	const char *arg = trigdata->tg_trigger->tgargs[usage->k_arg];
	char *end;
	long k;

	errno = 0;
	k = strtol(arg, &end, 10);
	/* strtol would also take leading blanks and a plus */
	if (!isdigit((unsigned char) arg[0]) || *end != '\0' || errno != 0 ||
		k > SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("distance must be an integer between 0 and %d",
					   SIMHASH64_BITS),
				errdetail("Argument %d of trigger \"%s\" is \"%s\".",
						  usage->k_arg + 1, trigdata->tg_trigger->tgname, arg),
				simdup_arrival_hint(trigdata, usage));
	return (int) k;
}

/* The arguments after the fixed ones: 'lock', and options. */
static void
read_options(TriggerData *trigdata, ArrivalTrigger *at)
{
	const ArrivalUsage *usage = at->usage;
	MemoryContext caller = MemoryContextSwitchTo(at->context);

	/* triggers that are not asked to lock always do */
	at->lock = !usage->may_lock;
	for (int i = usage->min_args; i < trigdata->tg_trigger->tgnargs; i++)
	{
		const char *arg = trigdata->tg_trigger->tgargs[i];

		if (usage->may_lock && strcmp(arg, "lock") == 0)
			at->lock = true;
		else if (!simdup_conditions_set(&at->conditions, arg))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized option of function \"%s\": \"%s\"",
						   usage->function, arg),
					errdetail("It is argument %d of trigger \"%s\".", i + 1,
							  trigdata->tg_trigger->tgname),
					simdup_arrival_hint(trigdata, usage));
	}
	simdup_conditions_find(&at->conditions, trigdata->tg_relation);
	MemoryContextSwitchTo(caller);
}

/* Has the current user one of these rights, on the table or on a column? */
static bool
has_rights(Oid table, AclMode rights)
{
	return pg_class_aclmask(table, GetUserId(), rights, ACLMASK_ANY) != 0 ||
		   pg_attribute_aclcheck_all(table, GetUserId(), rights, ACLMASK_ANY) ==
			   ACLCHECK_OK;
}

/* For RangeVarGetRelidExtended: check before the lock is waited for. */
static void
check_rights(const RangeVar *name, Oid table, Oid old pg_attribute_unused(),
			 void *arg)
{
	if (OidIsValid(table) && !has_rights(table, *(AclMode *) arg))
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(table)),
					   name->relname);
}

/*
 * A table that shall be a log, locked for users who have one of the rights:
 * others must not hold up its owner. If a right is a must, others get an error.
 * If not, they get one when there is something to log.
 */
Oid
simdup_arrival_find_log(RangeVar *name, LOCKMODE mode, AclMode rights,
						bool must)
{
	Oid table = RangeVarGetRelid(name, NoLock, true);

	if (!must && OidIsValid(table) && !has_rights(table, rights))
		return table;
	return RangeVarGetRelidExtended(name, mode, RVR_MISSING_OK, check_rights,
									&rights);
}

/* ERROR unless a log table has the columns that log writes, of fit types. */
void
simdup_arrival_check_log(Oid log, Oid key_type)
{
	static const char *const columns[] = {"new_key", "old_key", "distance",
										  "logged_at"};
	Oid types[] = {key_type, key_type, INT4OID, TIMESTAMPTZOID};

	for (size_t i = 0; i < lengthof(columns); i++)
	{
		AttrNumber attnum = get_attnum(log, columns[i]);
		Oid type;

		if (attnum == InvalidAttrNumber)
			ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
					errmsg("log table \"%s.%s\" has no column \"%s\"",
						   simdup_arrival_schema_of(log), get_rel_name(log),
						   columns[i]),
					errhint("It needs new_key and old_key of type %s, distance integer and logged_at timestamptz; others need a default or be nullable.",
							format_type_be(key_type)));
		type = get_atttype(log, attnum);
		if (!can_coerce_type(1, &types[i], &type, COERCION_ASSIGNMENT))
			ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" of log table \"%s.%s\" cannot take values of type %s",
						   columns[i], simdup_arrival_schema_of(log),
						   get_rel_name(log), format_type_be(types[i])),
					errdetail("Its type is %s.", format_type_be(type)));
	}
}

/*
 * The log table. A name without a schema is looked up in the schema of the
 * trigger's table, never along search_path: the user who inserts must not
 * choose the log. The lock is the same that an INSERT takes. It is taken before
 * the first pair is found, and keeps other sessions from dropping or renaming
 * the log until the transaction ends.
 */
static Oid
log_argument(TriggerData *trigdata, const ArrivalUsage *usage,
			 ArrivalTrigger *at)
{
	const char *arg = trigdata->tg_trigger->tgargs[usage->log_arg];
	RangeVar *name;
	Oid table;

	name =
		makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(arg)));
	if (name->schemaname == NULL)
		name->schemaname = simdup_arrival_schema_of(at->table);
	table = simdup_arrival_find_log(name, RowExclusiveLock, ACL_INSERT, false);
	if (!OidIsValid(table))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("log table \"%s.%s\" does not exist", name->schemaname,
					   name->relname),
				errdetail("Argument %d of trigger \"%s\" is \"%s\".",
						  usage->log_arg + 1, trigdata->tg_trigger->tgname,
						  arg),
				errhint("Write: CREATE TABLE %s (new_key %s, old_key %s, distance integer, logged_at timestamptz).",
						quote_qualified_identifier(name->schemaname,
												   name->relname),
						format_type_be(at->key_type),
						format_type_be(at->key_type)));
	simdup_arrival_check_log(table, at->key_type);
	return table;
}

/* Read and check the arguments of a trigger whose table is known. */
void
simdup_arrival_read_arguments(TriggerData *trigdata, ArrivalTrigger *at)
{
	const ArrivalUsage *usage = at->usage;
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);

	at->fp =
		simdup_arrival_fp_column(trigdata, usage, simdup_arrival_extension(at));
	at->fp_type = getBaseType(SPI_gettypeid(tupdesc, at->fp));
	at->key = key_argument(trigdata, usage, &at->key_type);
	if (usage->flag_arg != NO_ARGUMENT)
		at->flag = flag_argument(trigdata, usage, at->key_type);
	at->k = distance_argument(trigdata, usage);
	if (usage->log_arg != NO_ARGUMENT)
		at->log_table = log_argument(trigdata, usage, at);
	read_options(trigdata, at);
}

/*
 * attach.c
 *	  simdup_attach, simdup_alter and simdup_detach: an existing table gets,
 *	  changes or loses fingerprints and an arrival trigger, by SQL that can be
 *	  looked at first.
 */
#include "postgres.h"
#include "compat.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "arrival/arrival.h"
#include "arrival/attachment.h"
#include "core/allpairs.h"
#include "server/arguments.h"
#include "type/simhash64.h"

/* Arguments of simdup_attach and simdup_alter. */
enum
{
	ARG_TABLE,
	ARG_CONTENT,
	ARG_FIELDS,
	ARG_MAX_DISTANCE,
	ARG_ACTION,
	ARG_DRY_RUN,
	ARG_KEY,
	ARG_LOG_TABLE,
	ARG_LIVE,
	ARGS_OF_0_2_0, /* its SQL declares no more than these */
	ARG_FINGERPRINT = ARGS_OF_0_2_0,
	ARG_W,
	ARG_UNIT,
	ARG_TOKENIZER,
	ARG_WEIGHTING,
	ARG_BACKFILL,
	ARG_FOREIGN_KEY,
	ARG_MIN_RESEMBLANCE,
	ARG_WITHIN,
	ARG_MIN_FEATURES,
	ARG_METHOD
};

/* The working distances: for near-duplicates, and for copies. */
#define MINHASH64_DISTANCE 8
#define SIMHASH_DISTANCE 3

/* A text of fewer shingles says too little to be called a repeat. */
#define MIN_FEATURES 5

static bool
is_given(FunctionCallInfo fcinfo, int n)
{
	return n < PG_NARGS() && !PG_ARGISNULL(n);
}

static bool
is_true(FunctionCallInfo fcinfo, int n)
{
	return is_given(fcinfo, n) && PG_GETARG_BOOL(n);
}

/* A text argument, or NULL. */
static char *
given_text(FunctionCallInfo fcinfo, int n)
{
	return is_given(fcinfo, n) ? text_to_cstring(PG_GETARG_TEXT_PP(n)) : NULL;
}

/* The names in an array; role says of what. */
static List *
column_names(ArrayType *array, const char *role)
{
	List *names = NIL;
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
	{
		simdup_check_not_null(nulls[i], role);
		names = lappend(names, TextDatumGetCString(values[i]));
	}
	return names;
}

/* Content, fields, fingerprint and its options, where they are given. */
static void
source_arguments(FunctionCallInfo fcinfo, Attachment *a)
{
	static const char *const options[] = {"w", "unit", "tokenizer",
										  "weighting"};
	char *fingerprint = given_text(fcinfo, ARG_FINGERPRINT);
	char *content = given_text(fcinfo, ARG_CONTENT);

	if (content != NULL)
		a->content = content;
	if (is_given(fcinfo, ARG_FIELDS))
		a->fields = column_names(PG_GETARG_ARRAYTYPE_P(ARG_FIELDS), "a field");
	if (fingerprint != NULL && strcmp(fingerprint, a->fingerprint) != 0)
	{
		if (simdup_make_fingerprinter(fingerprint) == NULL)
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized fingerprint: \"%s\"", fingerprint),
					errhint("Fingerprints are minhash64 and simhash."));
		a->fingerprint = fingerprint;
		a->options = NIL;
		if (strcmp(fingerprint, "minhash64") == 0)
			simdup_attach_set_option(a, "min_features",
									 psprintf("%d", MIN_FEATURES));
	}
	if (is_given(fcinfo, ARG_MIN_FEATURES))
		simdup_attach_set_option(a, "min_features",
								 psprintf("%d",
										  PG_GETARG_INT32(ARG_MIN_FEATURES)));
	for (size_t i = 0; i < lengthof(options); i++)
	{
		int n = ARG_W + (int) i;

		if (is_given(fcinfo, n))
			simdup_attach_set_option(a, options[i],
									 n == ARG_W
										 ? psprintf("%d", PG_GETARG_INT32(n))
										 : given_text(fcinfo, n));
	}
	simdup_attach_check_sources(a);
}

/* The method of groups, where it is given. */
static void
method_argument(FunctionCallInfo fcinfo, Attachment *a)
{
	char *method = given_text(fcinfo, ARG_METHOD);

	if (method != NULL && a->action != ATTACH_GROUP)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("method needs the action \"group\""));
	if (method != NULL && strcmp(method, "leader") != 0 &&
		strcmp(method, "connected") != 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized method of groups: \"%s\"", method),
				errhint("Methods are leader and connected."));
	if (method != NULL)
		a->connected = strcmp(method, "connected") == 0;
	if (a->action != ATTACH_GROUP)
		return;
	if (a->group == NULL)
		a->group = GROUP_COLUMN;
	if (a->tables == NULL)
		a->tables = simdup_attach_choose_tables(a);
	simdup_attach_check_groups(a);
}

/* Action, key, distance, foreign key and log, where they are given. */
static void
action_arguments(FunctionCallInfo fcinfo, Attachment *a)
{
	AttachAction old_action = a->action;
	bool had_key = a->key != NULL;

	if (is_given(fcinfo, ARG_ACTION))
		a->action = simdup_attach_parse_action(given_text(fcinfo, ARG_ACTION));
	if (is_given(fcinfo, ARG_MAX_DISTANCE))
		a->max_distance = PG_GETARG_INT32(ARG_MAX_DISTANCE);
	if (a->max_distance < 0 || a->max_distance > SIMHASH64_BITS)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_distance must be between 0 and %d", SIMHASH64_BITS),
				errdetail("The value given is %d.", a->max_distance));
	if (is_given(fcinfo, ARG_KEY))
		a->key = given_text(fcinfo, ARG_KEY);
	else if (!had_key)
		a->key = simdup_attach_primary_key(a);
	/* flag and reject let it pass, as they always have */
	if (is_given(fcinfo, ARG_LOG_TABLE) && a->action == ATTACH_GROUP)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("log_table needs the action \"log\""));
	a->foreign_key = is_true(fcinfo, ARG_FOREIGN_KEY);
	if (a->foreign_key && a->action != ATTACH_FLAG)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("foreign_key needs the action \"flag\""));
	simdup_attach_check_key(a);
	method_argument(fcinfo, a);
	if (a->action == ATTACH_LOG &&
		(is_given(fcinfo, ARG_LOG_TABLE) || old_action != ATTACH_LOG ||
		 a->log_table == NULL))
		simdup_attach_find_log(a, is_given(fcinfo, ARG_LOG_TABLE)
									  ? PG_GETARG_TEXT_PP(ARG_LOG_TABLE)
									  : NULL);
}

/* What near rows must fulfil, where it is given. */
static void
condition_arguments(FunctionCallInfo fcinfo, Attachment *a)
{
	bool resembles = is_given(fcinfo, ARG_MIN_RESEMBLANCE);
	bool scoped = is_given(fcinfo, ARG_WITHIN);
	double min_resemblance =
		resembles ? PG_GETARG_FLOAT8(ARG_MIN_RESEMBLANCE) : 0;
	const List *within = scoped
							 ? column_names(PG_GETARG_ARRAYTYPE_P(ARG_WITHIN),
											"a column of within")
							 : NIL;

	simdup_attach_set_conditions(a, resembles ? &min_resemblance : NULL,
								 scoped ? &within : NULL);
}

/* live and backfill. The default of backfill depends on the action. */
static void
extra_arguments(FunctionCallInfo fcinfo, Attachment *a, bool flags_are_new)
{
	bool can_join = a->max_distance <= SIMDUP_MAX_PAIR_DISTANCE;
	bool fills = a->action == ATTACH_GROUP ||
				 (a->action == ATTACH_FLAG && flags_are_new && can_join);

	a->live = is_true(fcinfo, ARG_LIVE);
	a->backfill =
		is_given(fcinfo, ARG_BACKFILL) ? PG_GETARG_BOOL(ARG_BACKFILL) : fills;
	/* regrouping gives representatives the fingerprints that they lost */
	a->backfill |=
		a->action == ATTACH_GROUP && simdup_attach_lost_fingerprints(a);
	if (a->backfill && a->action == ATTACH_REJECT)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("backfill needs another action than \"reject\""));
	if (a->backfill && !can_join)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("backfill needs a max_distance of at most %d",
					   SIMDUP_MAX_PAIR_DISTANCE),
				errdetail("The distance is %d.", a->max_distance));
}

static void
refuse_live(Attachment *a, bool dry_run, const char *function)
{
	if (a->live && !dry_run)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("%s cannot run the statements for a live table",
					   function),
				errdetail("They need transactions of their own."),
				errhint(
					"Use dry_run => true, and run them one by one, in psql by \\gexec."));
}

/* Give the statements as the result; run them first, unless it is dry. */
static Datum
finish(FunctionCallInfo fcinfo, Attachment *a, List *statements, bool dry_run)
{
	ReturnSetInfo *result;
	ListCell *cell;

	table_close(a->table, NoLock);
	if (!dry_run)
	{
		SPI_connect();
		foreach (cell, statements)
		{
			int status = SPI_execute((char *) lfirst(cell), false, 0);

			if (status < 0)
				elog(ERROR, "SPI_execute failed: %s: %s",
					 SPI_result_code_string(status), (char *) lfirst(cell));
		}
		SPI_finish();
	}

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	foreach (cell, statements)
	{
		Datum value = CStringGetTextDatum((char *) lfirst(cell));
		bool isnull = false;

		tuplestore_putvalues(result->setResult, result->setDesc, &value,
							 &isnull);
	}
	return (Datum) 0;
}

/* Open the table at argument 0; what runs statements needs its owner. */
static bool
open_table(FunctionCallInfo fcinfo, Attachment *a, int dry_run_argument,
		   const char *function)
{
	bool dry_run = is_true(fcinfo, dry_run_argument);

	simdup_check_not_null(PG_ARGISNULL(ARG_TABLE), "target");
	if (!dry_run)
		PreventCommandIfReadOnly(function);
	simdup_attach_open(a, fcinfo->flinfo->fn_oid, PG_GETARG_OID(ARG_TABLE),
					   !dry_run);
	/* rows that came before the lock, but after the snapshot, would be left out */
	if (!dry_run && IsolationUsesXactSnapshot())
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("%s cannot run in a transaction with isolation level %s",
					   function,
					   XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE"
														 : "REPEATABLE READ"),
				errdetail("Its snapshot may not see all rows of the table."),
				errhint("Use READ COMMITTED."));
	return dry_run;
}

static void
refuse_column(Attachment *a, const char *name)
{
	if (get_attnum(RelationGetRelid(a->table), name) != InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" already exists", name,
					   RelationGetRelationName(a->table)));
}

static void
refuse_trigger(Attachment *a, const char *name)
{
	if (OidIsValid(get_trigger_oid(RelationGetRelid(a->table), name, true)))
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("trigger \"%s\" for relation \"%s\" already exists",
					   name, RelationGetRelationName(a->table)));
}

static bool
has_foreign_key(Attachment *a)
{
	return OidIsValid(get_relation_constraint_oid(RelationGetRelid(a->table),
												  FLAG_CONSTRAINT, true));
}

static void
refuse_second_attachment(Attachment *a)
{
	if (simdup_attach_triggers(a) != NIL)
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("table \"%s\" is attached already",
					   RelationGetRelationName(a->table)),
				errhint(
					"simdup_alter changes what simdup_attach made, simdup_detach removes it."));
	refuse_trigger(a, UPDATE_TRIGGER);
	refuse_trigger(a, ACTION_TRIGGER);
	if (a->foreign_key && has_foreign_key(a))
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("constraint \"%s\" for relation \"%s\" already exists",
					   FLAG_CONSTRAINT, RelationGetRelationName(a->table)));
	refuse_column(a, a->fp);
	if (a->action == ATTACH_FLAG)
		refuse_column(a, a->flag);
	if (a->action == ATTACH_GROUP)
	{
		refuse_trigger(a, MEMBER_TRIGGER);
		refuse_trigger(a, TRUNCATE_TRIGGER);
		refuse_column(a, a->group);
	}
}

/* A column of ids that was not made by attach cannot become one. */
static void
check_group_column(Attachment *a)
{
	ListCell *cell;

	foreach (cell, simdup_attach_columns(a))
		if (strcmp(lfirst(cell), a->group) == 0)
			return;
	refuse_column(a, a->group);
}

PG_FUNCTION_INFO_V1(simdup_attach);
/*
 * simdup_attach(target, content, fields, max_distance, action, dry_run, key,
 * log_table, live, fingerprint, w, unit, tokenizer, weighting, backfill,
 * foreign_key, min_resemblance, within, min_features). Up to live in the catalog of 0.2.0, which has simhash only.
 */
Datum
simdup_attach(PG_FUNCTION_ARGS)
{
	bool is_old = PG_NARGS() == ARGS_OF_0_2_0;
	Attachment a = {.fp = FP_COLUMN, .flag = FLAG_COLUMN};
	bool dry_run = open_table(fcinfo, &a, ARG_DRY_RUN, "simdup_attach()");

	simdup_check_not_null(PG_ARGISNULL(ARG_CONTENT), "content");
	simdup_check_not_null(PG_ARGISNULL(ARG_ACTION), "action");
	simdup_check_not_null(!is_old && PG_ARGISNULL(ARG_FINGERPRINT),
						  "fingerprint");
	simdup_attach_check_table(&a);
	a.fingerprint = "simhash";
	source_arguments(fcinfo, &a);
	a.max_distance = strcmp(a.fingerprint, "minhash64") == 0
						 ? MINHASH64_DISTANCE
						 : SIMHASH_DISTANCE;
	action_arguments(fcinfo, &a);
	condition_arguments(fcinfo, &a);
	refuse_second_attachment(&a);
	extra_arguments(fcinfo, &a, !is_old);
	refuse_live(&a, dry_run, "simdup_attach");
	return finish(fcinfo, &a, simdup_attach_statements(&a), dry_run);
}

/* The flag that a changed attachment shall have: its column, or a new one. */
static void
choose_flag(Attachment *a)
{
	AttrNumber key = get_attnum(RelationGetRelid(a->table), a->key);
	AttrNumber flag;
	ListCell *cell;

	if (a->flag == NULL)
	{
		a->flag = FLAG_COLUMN;
		foreach (cell, simdup_attach_columns(a))
			if (strcmp(lfirst(cell), FLAG_COLUMN) == 0)
				break;
		if (cell == NULL)
			refuse_column(a, FLAG_COLUMN);
	}
	flag = get_attnum(RelationGetRelid(a->table), a->flag);
	if (flag > 0 && get_atttype(RelationGetRelid(a->table), flag) !=
						get_atttype(RelationGetRelid(a->table), key))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("columns \"%s\" and \"%s\" of relation \"%s\" are not of one type",
					   a->flag, a->key, RelationGetRelationName(a->table)),
				errdetail("The flag takes another row's key."),
				errhint("Rename or drop column \"%s\" first.", a->flag));
}

PG_FUNCTION_INFO_V1(simdup_alter);
/* simdup_alter: the arguments of simdup_attach; NULL leaves a thing as it is. */
Datum
simdup_alter(PG_FUNCTION_ARGS)
{
	Attachment old = {0};
	Attachment a;
	bool dry_run = open_table(fcinfo, &old, ARG_DRY_RUN, "simdup_alter()");

	if (!simdup_attach_read(&old))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("table \"%s\" is not attached",
					   RelationGetRelationName(old.table)),
				errhint("simdup_attach attaches it."));
	a = old;
	a.options = list_copy(old.options);
	source_arguments(fcinfo, &a);
	action_arguments(fcinfo, &a);
	condition_arguments(fcinfo, &a);
	if (a.action == ATTACH_FLAG)
		choose_flag(&a);
	else if (a.action == ATTACH_GROUP)
	{
		check_group_column(&a);
		a.lock = false;
	}
	else
		a.lock &= a.action != ATTACH_REJECT;
	extra_arguments(fcinfo, &a,
					a.action == ATTACH_FLAG &&
						get_attnum(RelationGetRelid(a.table), a.flag) <= 0);
	a.foreign_key &= !has_foreign_key(&a);
	refuse_live(&a, dry_run, "simdup_alter");
	return finish(fcinfo, &a, simdup_alter_statements(&old, &a), dry_run);
}

PG_FUNCTION_INFO_V1(simdup_detach);
/* simdup_detach(target, dry_run, keep_columns) */
Datum
simdup_detach(PG_FUNCTION_ARGS)
{
	Attachment a = {0};
	bool dry_run = open_table(fcinfo, &a, 1, "simdup_detach()");
	List *triggers = simdup_attach_triggers(&a);
	bool keep_columns = is_true(fcinfo, 2);
	List *columns = keep_columns ? simdup_attach_marked_columns(&a)
								 : simdup_attach_columns(&a);
	List *statements = NIL;
	ListCell *cell;

	if (triggers == NIL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("table \"%s\" has nothing that simdup_attach made",
					   RelationGetRelationName(a.table)));
	foreach (cell, triggers)
	{
		const char *name = lfirst(cell);

		statements =
			lappend(statements, psprintf("DROP TRIGGER %s ON %s",
										 quote_identifier(name), a.table_name));
		if (strcmp(name, MEMBER_TRIGGER) == 0 && simdup_attach_read(&a) &&
			a.action == ATTACH_GROUP)
			statements = simdup_attach_leave_groups(&a, statements);
	}
	/* a column that stays is the user's own from here on: it loses its mark */
	foreach (cell, columns)
		statements =
			lappend(statements,
					psprintf(keep_columns ? "COMMENT ON COLUMN %s.%s IS NULL"
										  : "ALTER TABLE %s DROP COLUMN %s",
							 a.table_name, quote_identifier(lfirst(cell))));
	return finish(fcinfo, &a, statements, dry_run);
}

/*
 * conditions.c
 *	  What a near row must fulfil besides its distance: the options of the
 *	  arrival triggers for verification and scope.
 *
 * Every name in the SQL is qualified, and every value is cast to the exact
 * type that the operator or function takes. So no setting of the session and
 * no overload in the extension's schema changes what the SQL means.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "arrival/conditions.h"
#include "arrival/newrow.h"
#include "arrival/operators.h"
#include "arrival/sources.h"
#include "server/arguments.h"
#include "server/catalog.h"
#include "text/minhash64.h"

/* What shingle_resemblance does if it is not told. */
#define DEFAULT_W 4
#define DEFAULT_UNIT "word"

/* The columns in "a, b"; a name in quotes may hold any character. */
static List *
column_list(const char *value)
{
	List *names;

	if (!SplitGUCList(pstrdup(value), ',', &names) || names == NIL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("option \"within\" needs a list of columns"),
				errdetail("The value given is \"%s\".", value),
				errhint("Write: 'within => column, column'."));
	return names;
}

static double
resemblance_of(const char *value)
{
	return simdup_check_min_resemblance(
		DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(value))));
}

bool
simdup_conditions_set(SimdupConditions *c, const char *argument)
{
	char *name;
	const char *value = simdup_option_value(argument, &name);

	if (value == NULL)
		return false;
	if (strcmp(name, "content") == 0)
		c->content = pstrdup(value);
	else if (strcmp(name, "bits") == 0)
		c->bits = pstrdup(value);
	else if (strcmp(name, "min_resemblance") == 0)
		c->min_resemblance = resemblance_of(value);
	else if (strcmp(name, "w") == 0)
		c->w = simdup_get_resemblance(pg_strtoint32(value),
									  cstring_to_text(DEFAULT_UNIT))
				   .w;
	else if (strcmp(name, "unit") == 0)
	{
		(void) simdup_get_resemblance(DEFAULT_W, cstring_to_text(value));
		c->unit = pstrdup(value);
	}
	else if (strcmp(name, "within") == 0)
		c->within = column_list(value);
	else
		return false;
	return true;
}

/* ERROR unless the options fit each other. */
static void
check_options(const SimdupConditions *c)
{
	bool compares = c->content != NULL || c->bits != NULL;

	if (c->content != NULL && c->bits != NULL)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("options \"content\" and \"bits\" exclude each other"));
	if (compares != (c->min_resemblance > 0))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg(
					"option \"min_resemblance\" and a column to compare need each other"),
				errhint(
					"Write 'content => column' or 'bits => column' together with 'min_resemblance => 0.8'."));
	if (c->content == NULL && (c->w != 0 || c->unit != NULL))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg(
					"options \"w\" and \"unit\" need the option \"content\""));
}

/* The next column of the conditions. */
static ConditionColumn *
add_column(SimdupConditions *c, Relation table, const char *option,
		   const char *name)
{
	AttrNumber attnum = SPI_fnumber(RelationGetDescr(table), name);
	const char *relname = RelationGetRelationName(table);
	ConditionColumn *column = &c->columns[c->n_columns];
	Form_pg_attribute att;

	if (c->n_columns == SIMDUP_MAX_CONDITION_COLUMNS)
		ereport(ERROR, errcode(ERRCODE_TOO_MANY_COLUMNS),
				errmsg("option \"within\" names more than %d columns",
					   SIMDUP_MAX_CONDITION_COLUMNS - 1));
	if (attnum <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					   relname),
				errdetail("The option \"%s\" names it.", option));
	att = TupleDescAttr(RelationGetDescr(table), attnum - 1);
	if (att->attgenerated != '\0' &&
		att->attgenerated != ATTRIBUTE_GENERATED_STORED)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("column \"%s\" of relation \"%s\" is generated and not stored",
					   name, relname),
				errdetail("The option \"%s\" names it.", option));
	*column = (ConditionColumn){.name = pstrdup(name),
								.attnum = attnum,
								.type = getBaseType(att->atttypid),
								.typlen = att->attlen,
								.typbyval = att->attbyval};
	c->n_columns++;
	return column;
}

static void
wrong_type(Relation table, const ConditionColumn *column, const char *option,
		   const char *wanted)
{
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"%s\" of relation \"%s\" is not of %s",
				   column->name, RelationGetRelationName(table), wanted),
			errdetail("The option \"%s\" names it; its type is %s.", option,
					  format_type_be(column->type)));
}

/* A scope is told by the default equality of its type. */
static void
add_scope(SimdupConditions *c, Relation table, const char *name)
{
	ConditionColumn *column = add_column(c, table, "within", name);

	if (!OidIsValid(
			lookup_type_cache(column->type, TYPECACHE_EQ_OPR)->eq_opr) ||
		type_is_rowtype(column->type))
		wrong_type(table, column, "within", "a type with an equality operator");
}

void
simdup_conditions_find(SimdupConditions *c, Relation table)
{
	ListCell *cell;

	check_options(c);
	c->n_columns = 0;
	if (c->content != NULL)
	{
		ConditionColumn *column = add_column(c, table, "content", c->content);

		if (!simdup_is_character(column->type))
			wrong_type(table, column, "content", "a character type");
	}
	if (c->bits != NULL)
	{
		ConditionColumn *column = add_column(c, table, "bits", c->bits);

		if (column->type != VARBITOID)
			wrong_type(table, column, "bits", "type bit varying");
	}
	foreach (cell, c->within)
		add_scope(c, table, lfirst(cell));
}

void
simdup_conditions_prepare(SimdupConditions *c, TriggerData *trigdata)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);

	if (!TRIGGER_FIRED_BEFORE(trigdata->tg_event))
		return;
	for (int i = 0; i < c->n_columns; i++)
	{
		ConditionColumn *column = &c->columns[i];

		if (TupleDescAttr(tupdesc, column->attnum - 1)->attgenerated == '\0')
			continue;
		column->generation =
			simdup_arrival_generation(trigdata->tg_relation, column->attnum);
		if (c->econtext == NULL)
			c->econtext = CreateStandaloneExprContext();
	}
}

void
simdup_conditions_values(SimdupConditions *c, TriggerData *trigdata,
						 HeapTuple tuple, ConditionValues *values)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	bool is_new = tuple == simdup_arrival_new_tuple(trigdata);

	if (c->econtext != NULL)
	{
		ResetExprContext(c->econtext);
		c->econtext->ecxt_scantuple = simdup_arrival_new_slot(trigdata);
	}
	for (int i = 0; i < c->n_columns; i++)
	{
		ConditionColumn *column = &c->columns[i];

		if (c->econtext != NULL && column->generation != NULL && is_new)
			values->values[i] =
				ExecEvalExprSwitchContext(column->generation, c->econtext,
										  &values->isnull[i]);
		else
			values->values[i] = heap_getattr(tuple, column->attnum, tupdesc,
											 &values->isnull[i]);
	}
}

bool
simdup_conditions_equal(const SimdupConditions *c, const ConditionValues *a,
						const ConditionValues *b)
{
	for (int i = 0; i < c->n_columns; i++)
	{
		const ConditionColumn *column = &c->columns[i];

		if (a->isnull[i] != b->isnull[i] ||
			(!a->isnull[i] && !datumIsEqual(a->values[i], b->values[i],
											column->typbyval, column->typlen)))
			return false;
	}
	return true;
}

char *
simdup_conditions_column(const SimdupConditions *c, int i, const char *alias,
						 int first_param)
{
	if (alias == NULL)
		return psprintf("$%d", first_param + i);
	return psprintf("%s.%s", alias, quote_identifier(c->columns[i].name));
}

/* "::type", the type that an equality operator compares; "" if any. */
static char *
cast_to_compare(Oid equal)
{
	Oid left;
	Oid right;

	op_input_types(equal, &left, &right);
	/* the polymorphic operators are pg_catalog's, where no overload can be */
	if (IsPolymorphicType(left))
		return "";
	return psprintf("::%s", simdup_type_name(left));
}

/* " AND (a = b OR both are NULL)", with the default equality of the type. */
static void
append_equality(StringInfo buf, Oid type, const char *a, const char *b)
{
	Oid equal = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
	char *cast = cast_to_compare(equal);

	appendStringInfo(buf, " AND (%s%s %s %s%s OR %s IS NULL AND %s IS NULL)", a,
					 cast, simdup_arrival_operator_name(type, equal), b, cast,
					 a, b);
}

char *
simdup_conditions_scope(const SimdupConditions *c, const char *stored,
						const char *arriving, int first_param)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = c->n_columns - list_length(c->within); i < c->n_columns; i++)
		append_equality(&buf, c->columns[i].type,
						simdup_conditions_column(c, i, stored, first_param),
						simdup_conditions_column(c, i, arriving, first_param));
	return buf.data;
}

char *
simdup_conditions_resemblance(const SimdupConditions *c, const char *schema,
							  const char *stored, const char *arriving)
{
	char *function;

	if (c->min_resemblance == 0)
		return "";
	if (c->bits != NULL)
		function =
			psprintf("%s.minhash_bits_resemblance(%s::pg_catalog.varbit, %s::pg_catalog.varbit)",
					 schema, stored, arriving);
	else
		function =
			psprintf("%s.shingle_resemblance(%s::pg_catalog.text, %s::pg_catalog.text, %d, %s::pg_catalog.text)",
					 schema, stored, arriving, c->w == 0 ? DEFAULT_W : c->w,
					 quote_literal_cstr(c->unit == NULL ? DEFAULT_UNIT
														: c->unit));
	return psprintf(" AND %s OPERATOR(pg_catalog.>=) '%s'::pg_catalog.float8",
					function, float8out_internal(c->min_resemblance));
}

char *
simdup_conditions_text(const SimdupConditions *c, const char *schema,
					   const char *stored, const char *arriving,
					   int first_param)
{
	char *scope = simdup_conditions_scope(c, stored, arriving, first_param);

	if (c->min_resemblance == 0)
		return scope;
	return psprintf("%s%s", scope,
					simdup_conditions_resemblance(c, schema,
												  simdup_conditions_column(c, 0,
																		   stored,
																		   first_param),
												  simdup_conditions_column(c, 0,
																		   arriving,
																		   first_param)));
}

char *
simdup_conditions_unchanged(const SimdupConditions *c, const char *a,
							const char *b)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < c->n_columns; i++)
	{
		char *left = simdup_conditions_column(c, i, a, 0);
		char *right = simdup_conditions_column(c, i, b, 0);

		if (c->content != NULL && i == 0)
		{
			left = psprintf("(%s::pg_catalog.text COLLATE pg_catalog.\"C\")",
							left);
			right = psprintf("(%s::pg_catalog.text COLLATE pg_catalog.\"C\")",
							 right);
			append_equality(&buf, TEXTOID, left, right);
		}
		else
			append_equality(&buf, c->columns[i].type, left, right);
	}
	return buf.data;
}

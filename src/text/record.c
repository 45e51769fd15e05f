/*
 * record.c
 *	  Fingerprints of whole rows, without a list of their columns: of a row
 *	  value, and as an expression for a generated column.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "server/catalog.h"
#include "text/record.h"
#include "text/simhash_row.h"
#include "text/textform.h"
#include "type/simhash64.h"

#define ARG_CONTENT 1
#define ARG_EXCLUDE 2

/* The options of simhash_record and simhash_row_expression. */
#define ARG_FIELD_WEIGHT SIMDUP_RECORD_ARGS
#define PROFILE_ARGS \
	((SimdupProfileArgs){.n_features = 4, \
						 .tokenizer = 5, \
						 .weighting = 6, \
						 .hash = 7, \
						 .ties = 8})

typedef enum ColumnRole
{
	COLUMN_FIELD,
	COLUMN_CONTENT,
	COLUMN_LEFT_OUT
} ColumnRole;

/* The text forms of a row type's columns, kept from call to call. */
typedef struct RowForms
{
	int natts;
	SimdupTextForm *columns;
} RowForms;

/* The position of a live column, from 0. */
static int
find_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped &&
			strcmp(NameStr(column->attname), name) == 0)
			return i;
	}
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("the row has no column \"%s\"", name));
}

/* Leave the columns named by the argument exclude out of the roles. */
static void
exclude_columns(ArrayType *exclude, TupleDesc desc, ColumnRole *roles)
{
	Datum *names;
	bool *nulls;
	int n;

	deconstruct_array(exclude, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int column;

		if (nulls[i])
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("exclude must not contain nulls"));
		column = find_column(desc, NameStr(*DatumGetName(names[i])));
		if (roles[column] == COLUMN_CONTENT)
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("column \"%s\" is the content and excluded",
						   NameStr(*DatumGetName(names[i]))));
		roles[column] = COLUMN_LEFT_OUT;
	}
}

/*
 * The role of each column. Fingerprints and generated columns are left out: a
 * row's fingerprint must depend neither on itself nor on whether the generated
 * columns have been computed yet.
 */
static ColumnRole *
column_roles(FunctionCallInfo fcinfo, TupleDesc desc)
{
	ColumnRole *roles = palloc0(sizeof(ColumnRole) * (desc->natts + 1));
	Oid fingerprint = simdup_sibling_type(fcinfo->flinfo->fn_oid, "simhash64");

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (column->attisdropped || column->attgenerated ||
			getBaseType(column->atttypid) == fingerprint)
			roles[i] = COLUMN_LEFT_OUT;
	}
	if (!PG_ARGISNULL(ARG_CONTENT))
		roles[find_column(desc, NameStr(*PG_GETARG_NAME(ARG_CONTENT)))] =
			COLUMN_CONTENT;
	if (!PG_ARGISNULL(ARG_EXCLUDE))
		exclude_columns(PG_GETARG_ARRAYTYPE_P(ARG_EXCLUDE), desc, roles);
	return roles;
}

static RowForms *
row_forms(FunctionCallInfo fcinfo, int natts)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	RowForms *forms = fcinfo->flinfo->fn_extra;

	if (forms == NULL)
		forms = fcinfo->flinfo->fn_extra =
			MemoryContextAllocZero(context, sizeof(RowForms));
	if (forms->natts < natts)
	{
		forms->columns =
			MemoryContextAllocZero(context, sizeof(SimdupTextForm) * natts);
		forms->natts = natts;
	}
	return forms;
}

/* Look up the text forms of the columns in use; true if any needs pinning. */
static bool
prepare_forms(RowForms *forms, MemoryContext context, TupleDesc desc,
			  const ColumnRole *roles)
{
	bool pinned = false;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		SimdupTextForm *form = &forms->columns[i];

		if (roles[i] == COLUMN_LEFT_OUT)
			continue;
		if (form->type != column->atttypid)
		{
			const char *reason = simdup_unstable_text(column->atttypid, false);

			if (reason != NULL)
				ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("column \"%s\" of type %s has no stable text form",
							   NameStr(column->attname),
							   format_type_be(column->atttypid)),
						errdetail("The reason is that %s.", reason),
						errhint("Name it in exclude."));
			simdup_text_form_init(form, column->atttypid, context);
		}
		pinned |= form->pinned;
	}
	return pinned;
}

static void
add_column(SimdupTextForm *form, ColumnRole role, Datum value,
		   SimdupFingerprinter *fingerprinter)
{
	text *string = simdup_text_of(form, value);

	if (string == NULL)
		return;
	if (role == COLUMN_CONTENT)
		fingerprinter->add_content(fingerprinter, simdup_text_to_utf8(string));
	else
		fingerprinter->add_field(fingerprinter, simdup_text_to_utf8(string));
}

static void
add_row(FunctionCallInfo fcinfo, HeapTupleHeader row, TupleDesc desc,
		SimdupFingerprinter *fingerprinter)
{
	ColumnRole *roles = column_roles(fcinfo, desc);
	RowForms *forms = row_forms(fcinfo, desc->natts);
	bool pinned = prepare_forms(forms, fcinfo->flinfo->fn_mcxt, desc, roles);
	int level = pinned ? simdup_pin_settings() : 0;
	Datum *values = palloc(sizeof(Datum) * (desc->natts + 1));
	bool *nulls = palloc(sizeof(bool) * (desc->natts + 1));
	HeapTupleData tuple = {0};

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	tuple.t_data = row;
	heap_deform_tuple(&tuple, desc, values, nulls);
	for (int i = 0; i < desc->natts; i++)
	{
		if (roles[i] != COLUMN_LEFT_OUT && !nulls[i])
			add_column(&forms->columns[i], roles[i], values[i], fingerprinter);
	}
	if (pinned)
		simdup_unpin_settings(level);
}

Datum
simdup_record_fingerprint(FunctionCallInfo fcinfo,
						  SimdupFingerprinter *fingerprinter)
{
	HeapTupleHeader row;
	TupleDesc desc;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	row = PG_GETARG_HEAPTUPLEHEADER(0);
	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
								  HeapTupleHeaderGetTypMod(row));
	add_row(fcinfo, row, desc, fingerprinter);
	ReleaseTupleDesc(desc);
	return simdup_end_fingerprint(fingerprinter, fcinfo);
}

/*
 * The expressions of the columns: the content's to *content, the fields' with
 * commas between them to *fields. One error names all the columns whose text
 * does not last.
 */
static void
column_expressions(TupleDesc desc, const ColumnRole *roles, const char *schema,
				   const char **content, StringInfo fields)
{
	StringInfoData unstable;

	initStringInfo(&unstable);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		const char *name = quote_identifier(NameStr(column->attname));
		const char *reason;

		if (roles[i] == COLUMN_LEFT_OUT)
			continue;
		reason = simdup_unstable_text(column->atttypid, true);
		if (reason != NULL)
			appendStringInfo(&unstable, "%sColumn \"%s\" of type %s: %s.",
							 unstable.len > 0 ? "\n" : "",
							 NameStr(column->attname),
							 format_type_be(column->atttypid), reason);
		else if (roles[i] == COLUMN_CONTENT)
			*content =
				simdup_text_expression(column->atttypid, name, schema, true);
		else
			appendStringInfo(fields, "%s%s", fields->len > 0 ? ", " : "",
							 simdup_text_expression(column->atttypid, name,
													schema, true));
	}
	if (unstable.len > 0)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("columns have no text form that lasts"),
				errdetail_internal("%s", unstable.data),
				errhint(
					"Name them in exclude, or let a trigger store the fingerprint."));
}

/* A relation as it is cast from regclass to text. */
static char *
format_relation(Oid relation)
{
	return DatumGetCString(
		DirectFunctionCall1(regclassout, ObjectIdGetDatum(relation)));
}

char *
simdup_record_expression(FunctionCallInfo fcinfo, const char *function,
						 const char *options)
{
	const char *schema = quote_identifier(
		get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	Oid relation = PG_GETARG_OID(0);
	Oid row_type = get_rel_type_id(relation);
	const char *content = "NULL";
	TupleDesc desc;
	StringInfoData fields;

	if (!OidIsValid(row_type))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("%s has no rows to fingerprint",
					   format_relation(relation)));
	desc = lookup_rowtype_tupdesc(row_type, -1);
	initStringInfo(&fields);
	column_expressions(desc, column_roles(fcinfo, desc), schema, &content,
					   &fields);
	ReleaseTupleDesc(desc);
	return psprintf("%s.%s(%s, ARRAY[%s]::pg_catalog.text[]%s)", schema,
					function, content, fields.data, options);
}

PG_FUNCTION_INFO_V1(simhash_record);
/* simhash_record(row, content, exclude, field_weight, n_features, ...) */
Datum
simhash_record(PG_FUNCTION_ARGS)
{
	SimdupSimhashRow row;

	simdup_simhash_row_get(&row, fcinfo, ARG_FIELD_WEIGHT, PROFILE_ARGS);
	return simdup_record_fingerprint(fcinfo, &row.base);
}

static char *
text_option(FunctionCallInfo fcinfo, int argno)
{
	return quote_literal_cstr(text_to_cstring(PG_GETARG_TEXT_PP(argno)));
}

PG_FUNCTION_INFO_V1(simhash_row_expression);
/* simhash_row_expression(relation, content, exclude, field_weight, ...) */
Datum
simhash_row_expression(PG_FUNCTION_ARGS)
{
	SimdupSimhashRow row;
	StringInfoData options;

	simdup_simhash_row_get(&row, fcinfo, ARG_FIELD_WEIGHT, PROFILE_ARGS);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	initStringInfo(&options);
	appendStringInfo(&options, ", field_weight => %d", (int) row.field_weight);
	if (row.profile.limited)
		appendStringInfo(&options, ", n_features => %d",
						 row.profile.n_features);
	appendStringInfo(&options,
					 ", tokenizer => %s, weighting => %s, hash => %s, ties => %s",
					 text_option(fcinfo, 5), text_option(fcinfo, 6),
					 text_option(fcinfo, 7),
					 row.profile.ties ? "true" : "false");
	PG_RETURN_TEXT_P(cstring_to_text(
		simdup_record_expression(fcinfo, "simhash_row", options.data)));
}

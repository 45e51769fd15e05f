/*
 * update.c
 *	  simhash_update_trigger(fp, content [, field ...]): keeps a fingerprint
 *	  column up to date, as tsvector_update_trigger keeps a tsvector.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"

static const ArrivalUsage usage = {
	.function = "simhash_update_trigger",
	.arguments = "fp, content [, field ...]",
	.min_args = 2,
	.max_args = MaxTupleAttributeNumber,
	.before = true,
};

/* A source column and how it becomes text: as by a cast to text. */
typedef struct Source
{
	AttrNumber attnum;
	int16 typlen;
	bool typbyval;
	CoercionPathType path;
	FmgrInfo convert; /* cast or output function, where there is one */
} Source;

/* The trigger as one statement sees it; lives in fn_extra. */
typedef struct UpdateTrigger
{
	AttrNumber fp;
	int n_sources; /* the content, then the fields */
	Source *sources;
	FmgrInfo simhash; /* or simhash_row, where there are fields */
} UpdateTrigger;

/*
 * How a type becomes text. Only types whose text form no setting can change
 * do: a fingerprint must not depend on DateStyle, TimeZone or
 * extra_float_digits. The labels of an enum are stable enough.
 */
static bool
prepare_source(Source *source, Oid type, MemoryContext context)
{
	Oid function;
	bool is_varlena;

	source->path =
		find_coercion_pathway(TEXTOID, type, COERCION_EXPLICIT, &function);
	if (source->path == COERCION_PATH_RELABELTYPE || type == TEXTOID)
	{
		source->path = COERCION_PATH_RELABELTYPE;
		return true;
	}
	if (source->path == COERCION_PATH_COERCEVIAIO)
		getTypeOutputInfo(type, &function, &is_varlena);
	else if (source->path != COERCION_PATH_FUNC)
		return false;
	fmgr_info_cxt(function, &source->convert, context);
	return type_is_enum(type) ||
		   (type != FLOAT4OID && type != FLOAT8OID &&
			func_volatile(function) == PROVOLATILE_IMMUTABLE);
}

/* Argument n: a source must be there when BEFORE triggers fire, and as text. */
static void
source_argument(TriggerData *trigdata, int n, MemoryContext context,
				Source *source)
{
	const char *table = RelationGetRelationName(trigdata->tg_relation);
	bool is_content = n == 1;
	Form_pg_attribute att;
	Oid type;
	bool fits;

	source->attnum = simdup_arrival_column(trigdata, &usage, n,
										   is_content ? "content" : "field");
	att = TupleDescAttr(RelationGetDescr(trigdata->tg_relation),
						source->attnum - 1);
	type = getBaseType(att->atttypid);
	source->typlen = att->attlen;
	source->typbyval = att->attbyval;
	if (att->attgenerated)
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated",
					   NameStr(att->attname), table),
				errdetail("Generated columns are computed after BEFORE triggers such as \"%s\".",
						  trigdata->tg_trigger->tgname),
				errhint(
					"Name the columns that it is generated from, or let the fingerprint be GENERATED ALWAYS AS (simhash(...)) STORED."));

	fits = prepare_source(source, type, context);
	if (is_content && type != BPCHAROID &&
		source->path != COERCION_PATH_RELABELTYPE)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is not of a character type",
					   NameStr(att->attname), table),
				errdetail("Trigger \"%s\" names it as the content; its type is %s.",
						  trigdata->tg_trigger->tgname,
						  format_type_be(att->atttypid)),
				simdup_arrival_hint(trigdata, &usage));
	if (!fits)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" has no text form that is always the same",
					   NameStr(att->attname), table),
				errdetail("Trigger \"%s\" names it as a field; the text of type %s depends on settings.",
						  trigdata->tg_trigger->tgname,
						  format_type_be(att->atttypid)),
				errhint(
					"Keep its text in a column of its own, or leave it out."));
}

/* The function of the same extension that makes the fingerprint. */
static Oid
fingerprint_function(Oid extension, bool has_fields)
{
	Oid simhash[] = {TEXTOID, INT4OID, TEXTOID, TEXTOID, TEXTOID, BOOLOID};
	Oid simhash_row[] = {TEXTOID, TEXTARRAYOID, INT4OID, INT4OID,
						 TEXTOID, TEXTOID,		TEXTOID, BOOLOID};
	char *nspname = get_namespace_name(extension);

	return has_fields
			   ? LookupFuncName(list_make2(makeString(nspname),
										   makeString("simhash_row")),
								lengthof(simhash_row), simhash_row, false)
			   : LookupFuncName(list_make2(makeString(nspname),
										   makeString("simhash")),
								lengthof(simhash), simhash, false);
}

static UpdateTrigger *
setup(FunctionCallInfo fcinfo)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	UpdateTrigger *ut = fcinfo->flinfo->fn_extra;
	Oid extension;
	int i;

	simdup_arrival_check_fired(fcinfo, &usage);
	if (ut != NULL)
		return ut;

	simdup_arrival_check_arguments(trigdata, &usage);
	extension = get_func_namespace(fcinfo->flinfo->fn_oid);
	ut = MemoryContextAllocZero(context, sizeof(UpdateTrigger));
	ut->fp = simdup_arrival_fp_column(trigdata, &usage, extension);
	simdup_arrival_check_written(trigdata, &usage, ut->fp);
	ut->n_sources = trigdata->tg_trigger->tgnargs - 1;
	ut->sources =
		MemoryContextAllocZero(context, ut->n_sources * sizeof(Source));
	for (i = 0; i < ut->n_sources; i++)
		source_argument(trigdata, i + 1, context, &ut->sources[i]);
	fmgr_info_cxt(fingerprint_function(extension, ut->n_sources > 1),
				  &ut->simhash, context);
	fcinfo->flinfo->fn_extra = ut;
	return ut;
}

/*
 * Is a source in the UPDATE's list, or has an earlier trigger changed one?
 * Comparing bytes can only err towards computing again.
 */
static bool
source_changed(TriggerData *trigdata, UpdateTrigger *ut)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);
	int i;

	for (i = 0; i < ut->n_sources; i++)
	{
		Source *source = &ut->sources[i];
		bool old_isnull;
		bool new_isnull;
		Datum old_value;
		Datum new_value;

		if (bms_is_member(source->attnum - FirstLowInvalidHeapAttributeNumber,
						  trigdata->tg_updatedcols))
			return true;
		old_value = heap_getattr(trigdata->tg_trigtuple, source->attnum,
								 tupdesc, &old_isnull);
		new_value = heap_getattr(trigdata->tg_newtuple, source->attnum, tupdesc,
								 &new_isnull);
		if (old_isnull != new_isnull ||
			(!old_isnull && !datumIsEqual(old_value, new_value,
										  source->typbyval, source->typlen)))
			return true;
	}
	return false;
}

/* A source of the new row as text. */
static Datum
source_text(TriggerData *trigdata, Source *source, bool *isnull)
{
	Datum value = simdup_arrival_value(trigdata, source->attnum, isnull);

	if (*isnull || source->path == COERCION_PATH_RELABELTYPE)
		return value;
	if (source->path == COERCION_PATH_FUNC)
		return FunctionCall1Coll(&source->convert, DEFAULT_COLLATION_OID,
								 value);
	return CStringGetTextDatum(OutputFunctionCall(&source->convert, value));
}

static void
set_argument(FunctionCallInfo call, int n, Datum value, bool isnull)
{
	call->args[n].value = value;
	call->args[n].isnull = isnull;
}

/* n_features, tokenizer, weighting, hash, ties: as their defaults. */
static void
set_default_profile(FunctionCallInfo call, int first)
{
	set_argument(call, first, (Datum) 0, true);
	set_argument(call, first + 1, CStringGetTextDatum("word"), false);
	set_argument(call, first + 2, CStringGetTextDatum("log"), false);
	set_argument(call, first + 3, CStringGetTextDatum("city64"), false);
	set_argument(call, first + 4, BoolGetDatum(false), false);
}

/* All but the first source, as text[]. */
static Datum
fields_array(TriggerData *trigdata, UpdateTrigger *ut)
{
	int n = ut->n_sources - 1;
	Datum *values = palloc(n * sizeof(Datum));
	bool *nulls = palloc(n * sizeof(bool));
	int dims[1];
	int lower_bounds[1] = {1};
	int i;

	dims[0] = n;
	for (i = 0; i < n; i++)
		values[i] = source_text(trigdata, &ut->sources[i + 1], &nulls[i]);
	return PointerGetDatum(construct_md_array(values, nulls, 1, dims,
											  lower_bounds, TEXTOID, -1, false,
											  TYPALIGN_INT));
}

static Datum
fingerprint(TriggerData *trigdata, UpdateTrigger *ut, bool *isnull)
{
	LOCAL_FCINFO(call, 8);
	bool has_fields = ut->n_sources > 1;
	bool content_isnull;
	Datum content = source_text(trigdata, &ut->sources[0], &content_isnull);
	Datum result;

	InitFunctionCallInfoData(*call, &ut->simhash, has_fields ? 8 : 6,
							 InvalidOid, NULL, NULL);
	set_argument(call, 0, content, content_isnull);
	if (has_fields)
	{
		set_argument(call, 1, fields_array(trigdata, ut), false);
		set_argument(call, 2, Int32GetDatum(2), false); /* field_weight */
	}
	set_default_profile(call, has_fields ? 3 : 1);
	result = FunctionCallInvoke(call);
	*isnull = call->isnull;
	return result;
}

PG_FUNCTION_INFO_V1(simhash_update_trigger);
Datum
simhash_update_trigger(PG_FUNCTION_ARGS)
{
	UpdateTrigger *ut = setup(fcinfo);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	HeapTuple row = trigdata->tg_trigtuple;
	bool isnull;
	Datum value;
	int attnum = ut->fp;

	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
	{
		row = trigdata->tg_newtuple;
		if (!source_changed(trigdata, ut))
			return PointerGetDatum(row);
	}
	value = fingerprint(trigdata, ut, &isnull);
	return PointerGetDatum(
		heap_modify_tuple_by_cols(row, RelationGetDescr(trigdata->tg_relation),
								  1, &attnum, &value, &isnull));
}

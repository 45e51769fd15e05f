/*
 * field.c
 *	  simdup_field: values of any type as text that no setting of the session
 *	  changes.
 *
 * The text form of a value is its cast to text under pinned settings. A type is
 * refused if the function behind its cast is not immutable.
 * Exceptions are the types below, whose text depends on pinned settings alone.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"

#include "server/progress.h"

/* How a type's values become text, as value::text converts them. */
typedef struct TextConversion
{
	CoercionPathType path;
	FmgrInfo function; /* the cast or output function */
	bool pinned;	   /* only with the settings pinned */
} TextConversion;

/*
 * Return the cast or the output function, neither if the bits are text already.
 */
static CoercionPathType
path_to_text(Oid type, Oid *function)
{
	CoercionPathType path =
		find_coercion_pathway(TEXTOID, type, COERCION_EXPLICIT, function);

	if (path != COERCION_PATH_FUNC && path != COERCION_PATH_RELABELTYPE)
	{
		bool varlena;

		getTypeOutputInfo(type, function, &varlena);
		path = COERCION_PATH_COERCEVIAIO;
	}
	return path;
}

/* Types whose text depends on the pinned settings and on nothing else. */
static const Oid pinned_types[] = {
	CASHOID,	  DATEOID,		  INTERVALOID, TIMEOID,
	TIMESTAMPOID, TIMESTAMPTZOID, TIMETZOID,
};

/* Types whose text depends on no setting: most columns of most tables. */
static const Oid free_types[] = {
	BOOLOID, BPCHAROID, INT2OID,	INT4OID, INT8OID, JSONBOID,
	JSONOID, NAMEOID,	NUMERICOID, TEXTOID, UUIDOID, VARCHAROID,
};

static bool
is_among(Oid type, const Oid *types, int n)
{
	for (int i = 0; i < n; i++)
		if (types[i] == type)
			return true;
	return false;
}

/*
 * Return the reason, a DETAIL, why a type has no text form that even DDL cannot
 * change. NULL if it has one.
 */
static const char *
unstable_text(Oid type)
{
	Oid base = getBaseType(type);
	Oid element = get_element_type(base);
	Oid function;
	CoercionPathType path = path_to_text(base, &function);

	check_stack_depth();
	if (path == COERCION_PATH_RELABELTYPE ||
		is_among(base, pinned_types, lengthof(pinned_types)))
		return NULL;
	if (path == COERCION_PATH_COERCEVIAIO)
	{
		if (OidIsValid(element))
			return unstable_text(element);
		switch (get_typtype(base))
		{
			case TYPTYPE_ENUM:
				return gettext_noop("A label of an enum can be renamed.");
			case TYPTYPE_RANGE:
				return unstable_text(get_range_subtype(base));
			case TYPTYPE_MULTIRANGE:
				return unstable_text(get_multirange_range(base));
			case TYPTYPE_COMPOSITE:
				return gettext_noop("A composite type can be altered.");
		}
		if (base == RECORDOID)
			return gettext_noop("The columns of a record are not known.");
	}
	if (func_volatile(function) == PROVOLATILE_IMMUTABLE)
		return NULL;
	return path == COERCION_PATH_FUNC
			   ? gettext_noop("Its cast to text is not immutable.")
			   : gettext_noop("Its output function is not immutable.");
}

/* Look up the text form of a type. ERROR if it has no stable one. */
static TextConversion *
find_text_form(Oid type, MemoryContext context)
{
	TextConversion *form;
	Oid base;
	Oid function = InvalidOid;
	const char *reason;

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the value");
	reason = unstable_text(type);
	if (reason != NULL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot build a stable text form of type %s",
					   format_type_be(type)),
				errdetail("%s", _(reason)),
				errhint("Leave it out, or let a trigger store its text."));
	form = MemoryContextAllocZero(context, sizeof(*form));
	base = getBaseType(type);
	form->path = path_to_text(base, &function);
	form->pinned = !is_among(base, free_types, lengthof(free_types));
	if (form->path != COERCION_PATH_RELABELTYPE)
		fmgr_info_cxt(function, &form->function, context);
	return form;
}

/* Return the text of a value, or NULL where a user's cast gives NULL. */
static text *
text_of(TextConversion *form, Datum value)
{
	LOCAL_FCINFO(call, 3);
	Datum result;

	if (form->path == COERCION_PATH_RELABELTYPE)
		return DatumGetTextPP(value);
	if (form->path == COERCION_PATH_COERCEVIAIO)
		return cstring_to_text(OutputFunctionCall(&form->function, value));

	/* a cast function may also want the type modifier and "explicit" */
	InitFunctionCallInfoData(*call, &form->function, form->function.fn_nargs,
							 DEFAULT_COLLATION_OID, NULL, NULL);
	call->args[0] = (NullableDatum){value, false};
	call->args[1] = (NullableDatum){Int32GetDatum(-1), false};
	call->args[2] = (NullableDatum){BoolGetDatum(true), false};
	result = FunctionCallInvoke(call);
	return call->isnull ? NULL : DatumGetTextPP(result);
}

/*
 * Give fixed values to the settings that text forms depend on, until unpinned.
 * After an error, the end of the (sub)transaction unpins them.
 */
static int
pin_settings(void)
{
	int level = NewGUCNestLevel();

	/* in ISO style the order of day and month has no meaning */
	if (DateStyle != USE_ISO_DATES)
		simdup_set_local_guc("datestyle", "ISO");
	if (IntervalStyle != INTSTYLE_POSTGRES)
		simdup_set_local_guc("intervalstyle", "postgres");
	if (strcmp(pg_get_timezone_name(session_timezone), "UTC") != 0)
		simdup_set_local_guc("timezone", "UTC");
	/* from 1 on: the shortest digits that give the same number back */
	if (extra_float_digits < 1)
		simdup_set_local_guc("extra_float_digits", "1");
	if (bytea_output != BYTEA_OUTPUT_HEX)
		simdup_set_local_guc("bytea_output", "hex");
	if (strcmp(locale_monetary, "C") != 0)
		simdup_set_local_guc("lc_monetary", "C");
	return level;
}

PG_FUNCTION_INFO_V1(simdup_field);
/* Return simdup_field(value). */
Datum
simdup_field(PG_FUNCTION_ARGS)
{
	TextConversion *form = fcinfo->flinfo->fn_extra;
	text *result;
	int level = 0;

	if (form == NULL)
		fcinfo->flinfo->fn_extra = form =
			find_text_form(get_fn_expr_argtype(fcinfo->flinfo, 0),
						   fcinfo->flinfo->fn_mcxt);
	if (form->pinned)
		level = pin_settings();
	result = text_of(form, PG_GETARG_DATUM(0));
	if (form->pinned)
		AtEOXact_GUC(true, level);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(result);
}

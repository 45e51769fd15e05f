/*
 * update.c
 *	  minhash64_update_trigger and simhash_update_trigger(fp, content
 *	  [, field ...] [, option ...]): they keep a fingerprint column up to date,
 *	  as tsvector_update_trigger keeps a tsvector.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "arrival/arrival.h"
#include "arrival/sources.h"
#include "text/kinds.h"
#include "text/textform.h"

#define USAGE(name) \
	((ArrivalUsage){.function = (name), \
					.arguments = \
						"fp, content [, field ...] [, 'option => value' ...]", \
					.min_args = 2, \
					.max_args = MaxTupleAttributeNumber, \
					.before = true})

/* A source column, whose text form goes into the fingerprint. */
typedef struct Source
{
	AttrNumber attnum;
	int16 typlen;
	bool typbyval;
	SimdupTextForm form;
} Source;

/* The trigger as one statement sees it; lives in fn_extra. */
typedef struct UpdateTrigger
{
	AttrNumber fp;
	Oid fp_domain;		/* the column's type, where it is a domain */
	void *domain_extra; /* what domain_check keeps */
	MemoryContext context;
	SimdupFingerprinter *fingerprinter;
	bool pinned;   /* a text form needs the settings pinned */
	int n_sources; /* the content, then the fields */
	Source sources[FLEXIBLE_ARRAY_MEMBER];
} UpdateTrigger;

/* The source that an argument names. */
static void
find_source(TriggerData *trigdata, const ArrivalUsage *usage, int n,
			MemoryContext context, Source *source)
{
	Form_pg_attribute att;
	bool is_content = n == 1;

	source->attnum = simdup_arrival_column(trigdata, usage, n,
										   is_content ? "content" : "field");
	att = TupleDescAttr(RelationGetDescr(trigdata->tg_relation),
						source->attnum - 1);
	simdup_check_source(RelationGetRelationName(trigdata->tg_relation), att,
						is_content);
	source->typlen = att->attlen;
	source->typbyval = att->attbyval;
	simdup_text_form_init(&source->form, att->atttypid, context);
}

/*
 * The arguments after the fingerprint column: sources, then options. Options
 * may allocate memory, which must last as long as fn_extra.
 */
static void
find_sources(TriggerData *trigdata, const ArrivalUsage *usage,
			 UpdateTrigger *ut)
{
	Trigger *trigger = trigdata->tg_trigger;
	MemoryContext caller = MemoryContextSwitchTo(ut->context);

	for (int i = 1; i < trigger->tgnargs; i++)
	{
		Source *source = &ut->sources[ut->n_sources];

		if (i > 1 &&
			simdup_set_source_option(ut->fingerprinter, trigger->tgargs[i]))
			continue;
		find_source(trigdata, usage, i, ut->context, source);
		ut->pinned |= source->form.pinned;
		ut->n_sources++;
	}
	ut->fingerprinter->content_only = ut->n_sources == 1;
	MemoryContextSwitchTo(caller);
}

static UpdateTrigger *
setup(FunctionCallInfo fcinfo, const ArrivalUsage *usage,
	  const char *fingerprinter)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	UpdateTrigger *ut = fcinfo->flinfo->fn_extra;
	MemoryContext caller;
	Oid type;

	simdup_arrival_check_fired(fcinfo, usage);
	if (ut != NULL)
		return ut;

	simdup_arrival_check_arguments(trigdata, usage);
	ut = MemoryContextAllocZero(context, offsetof(UpdateTrigger, sources) +
											 trigdata->tg_trigger->tgnargs *
												 sizeof(Source));
	ut->context = context;
	ut->fp =
		simdup_arrival_fp_column(trigdata, usage,
								 get_func_namespace(fcinfo->flinfo->fn_oid));
	simdup_arrival_check_written(trigdata, usage, ut->fp);
	type = TupleDescAttr(RelationGetDescr(trigdata->tg_relation), ut->fp - 1)
			   ->atttypid;
	ut->fp_domain = getBaseType(type) != type ? type : InvalidOid;
	caller = MemoryContextSwitchTo(context);
	ut->fingerprinter = simdup_make_fingerprinter(fingerprinter);
	MemoryContextSwitchTo(caller);
	find_sources(trigdata, usage, ut);
	fcinfo->flinfo->fn_extra = ut;
	return ut;
}

/*
 * Is a source in the UPDATE's list, or has an earlier trigger changed one?
 * The comparison of bytes can only err towards computing again.
 */
static bool
source_changed(TriggerData *trigdata, UpdateTrigger *ut)
{
	TupleDesc tupdesc = RelationGetDescr(trigdata->tg_relation);

	for (int i = 0; i < ut->n_sources; i++)
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

static void
add_sources(TriggerData *trigdata, UpdateTrigger *ut)
{
	SimdupFingerprinter *fingerprinter = ut->fingerprinter;

	for (int i = 0; i < ut->n_sources; i++)
	{
		Source *source = &ut->sources[i];
		bool isnull;
		Datum value = simdup_arrival_value(trigdata, source->attnum, &isnull);
		text *string = isnull ? NULL : simdup_text_of(&source->form, value);

		if (string == NULL)
			continue;
		if (i == 0)
			fingerprinter->add_content(fingerprinter,
									   simdup_text_to_utf8(string));
		else
			fingerprinter->add_field(fingerprinter,
									 simdup_text_to_utf8(string));
	}
}

/* The new row's fingerprint, as the column's type allows it. */
static Datum
fingerprint(TriggerData *trigdata, UpdateTrigger *ut, bool *isnull)
{
	int level = ut->pinned ? simdup_pin_settings() : 0;
	uint64 fp = 0;
	Datum value;

	ut->fingerprinter->begin(ut->fingerprinter);
	add_sources(trigdata, ut);
	*isnull = !ut->fingerprinter->end(ut->fingerprinter, &fp);
	if (ut->pinned)
		simdup_unpin_settings(level);
	value = UInt64GetDatum(fp);
	if (OidIsValid(ut->fp_domain))
		domain_check(value, *isnull, ut->fp_domain, &ut->domain_extra,
					 ut->context);
	return value;
}

/*
 * Is there a fingerprint in the new row? While a table in use is filled, an
 * UPDATE may move a row that has none yet to a page that was filled before.
 */
static bool
has_fingerprint(TriggerData *trigdata, UpdateTrigger *ut)
{
	bool isnull;

	(void) simdup_arrival_value(trigdata, ut->fp, &isnull);
	return !isnull;
}

static Datum
update_row(FunctionCallInfo fcinfo, const ArrivalUsage *usage,
		   const char *fingerprinter)
{
	UpdateTrigger *ut = setup(fcinfo, usage, fingerprinter);
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	HeapTuple row = trigdata->tg_trigtuple;
	int attnum = ut->fp;
	bool isnull;
	Datum value;

	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
	{
		row = trigdata->tg_newtuple;
		if (has_fingerprint(trigdata, ut) && !source_changed(trigdata, ut))
			return PointerGetDatum(row);
	}
	value = fingerprint(trigdata, ut, &isnull);
	return PointerGetDatum(
		heap_modify_tuple_by_cols(row, RelationGetDescr(trigdata->tg_relation),
								  1, &attnum, &value, &isnull));
}

PG_FUNCTION_INFO_V1(simhash_update_trigger);
Datum
simhash_update_trigger(PG_FUNCTION_ARGS)
{
	return update_row(fcinfo, &USAGE("simhash_update_trigger"), "simhash");
}

PG_FUNCTION_INFO_V1(simdup_minhash64_update_trigger);
Datum
simdup_minhash64_update_trigger(PG_FUNCTION_ARGS)
{
	return update_row(fcinfo, &USAGE("minhash64_update_trigger"), "minhash64");
}

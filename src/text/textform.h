/*
 * textform.h
 *	  Values of any type as text that no setting of the session changes.
 */
#ifndef SIMDUP_TEXT_TEXTFORM_H
#define SIMDUP_TEXT_TEXTFORM_H

#include "fmgr.h"
#include "parser/parse_coerce.h"

/* How a type's values become text: what value::text would do. */
typedef struct SimdupTextForm
{
	Oid type; /* InvalidOid: not looked up yet */
	CoercionPathType path;
	FmgrInfo function; /* the cast or output function */
	bool pinned;	   /* only with the settings pinned */
} SimdupTextForm;

/*
 * Why a type has no text form to build a fingerprint on, or NULL if it has
 * one. frozen asks for one that is good for ever, so not even by DDL to change.
 */
extern const char *simdup_unstable_text(Oid type, bool frozen);

/* Look up the text form of a type, unless it stands there already. */
extern void simdup_text_form_init(SimdupTextForm *form, Oid type,
								  MemoryContext context);

/* The text of a value, or NULL where a cast gives that. */
extern text *simdup_text_of(SimdupTextForm *form, Datum value);

/*
 * Give the settings that text forms depend on fixed values, until unpinned; on
 * an error the end of the (sub)transaction unpins.
 */
extern int simdup_pin_settings(void);
extern void simdup_unpin_settings(int level);

#endif /* SIMDUP_TEXT_TEXTFORM_H */

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
 * Why a type has no text form to build a fingerprint on; NULL if it has one.
 * frozen asks for a text form that even DDL cannot change.
 */
extern const char *simdup_unstable_text(Oid type, bool frozen);

/* Look up the text form of a type, unless *form holds it already. */
extern void simdup_text_form_init(SimdupTextForm *form, Oid type,
								  MemoryContext context);

/* The text of a value, or NULL where a user's cast gives NULL. */
extern text *simdup_text_of(SimdupTextForm *form, Datum value);

/*
 * An SQL expression of the text form of a column, whose name is quoted; schema
 * is the extension's, quoted. NULL where no expression gives it under all
 * settings. frozen asks for an immutable expression.
 */
extern char *simdup_text_expression(Oid type, const char *column,
									const char *schema, bool frozen);

/*
 * Give fixed values to the settings that text forms depend on, until unpinned.
 * After an error, the end of the (sub)transaction unpins them.
 */
extern int simdup_pin_settings(void);
extern void simdup_unpin_settings(int level);

#endif /* SIMDUP_TEXT_TEXTFORM_H */

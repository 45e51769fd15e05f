/*
 * sources.c
 *	  The columns and options that fingerprints are made of, as triggers and
 *	  simdup_attach name them.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arrival/sources.h"
#include "text/textform.h"

/* Between an option's name and its value. */
#define ARROW " => "

bool
simdup_is_character(Oid type)
{
	Oid base = getBaseType(type);
	Oid function;

	return TypeCategory(base) == TYPCATEGORY_STRING ||
		   find_coercion_pathway(TEXTOID, base, COERCION_EXPLICIT, &function) ==
			   COERCION_PATH_RELABELTYPE;
}

void
simdup_check_source(const char *relname, Form_pg_attribute att, bool is_content)
{
	const char *reason;

	if (att->attgenerated != '\0')
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("column \"%s\" of relation \"%s\" is generated",
					   NameStr(att->attname), relname),
				errdetail(
					"BEFORE triggers cannot see the values of generated columns."),
				errhint(
					"Name the columns that it is generated from, or let the fingerprint be GENERATED ALWAYS AS (simhash(...)) STORED."));
	if (is_content && !simdup_is_character(att->atttypid))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is not of a character type",
					   NameStr(att->attname), relname),
				errdetail("It is named as the content; its type is %s.",
						  format_type_be(att->atttypid)),
				errhint(
					"Name a column of type text. Columns of other types can be fields."));
	reason = simdup_unstable_text(att->atttypid, false);
	if (reason != NULL)
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" has no stable text form",
					   NameStr(att->attname), relname),
				errdetail("Its type is %s. The reason is that %s.",
						  format_type_be(att->atttypid), reason),
				errhint(
					"Keep its text in a column of its own, or leave it out."));
}

const char *
simdup_option_value(const char *argument, char **name)
{
	const char *arrow = strstr(argument, ARROW);

	if (arrow == NULL)
		return NULL;
	*name = pnstrdup(argument, arrow - argument);
	return arrow + strlen(ARROW);
}

bool
simdup_set_source_option(SimdupFingerprinter *fingerprinter,
						 const char *argument)
{
	char *name;
	const char *value = simdup_option_value(argument, &name);

	return value != NULL &&
		   fingerprinter->set_option(fingerprinter, name, value);
}

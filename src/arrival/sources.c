/*
 * sources.c
 *	  The options of triggers, and the columns that they name.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "arrival/sources.h"

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

const char *
simdup_option_value(const char *argument, char **name)
{
	const char *arrow = strstr(argument, ARROW);

	if (arrow == NULL)
		return NULL;
	*name = pnstrdup(argument, arrow - argument);
	return arrow + strlen(ARROW);
}

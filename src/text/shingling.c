/*
 * shingling.c
 *	  The shingles of a text as hashes, as SQL asks for them.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"

#include "server/arguments.h"
#include "text/shingling.h"

SimdupShingling
simdup_get_shingling(int w, const text *unit)
{
	SimdupShingling shingling = {SIMDUP_SHINGLE_WORD, w};

	if (w < 1)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("shingle width must be at least 1"),
				errdetail("The width given is %d.", w),
				errhint("A shingle is a window of so many units."));
	if (simdup_text_is(unit, "char"))
		shingling.unit = SIMDUP_SHINGLE_CHAR;
	else if (simdup_text_is(unit, "raw"))
		shingling.unit = SIMDUP_SHINGLE_RAW;
	else if (!simdup_text_is(unit, "word"))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("unrecognized shingle unit: \"%s\"",
					   text_to_cstring(unit)),
				errhint("Units are \"word\", \"char\" and \"raw\"."));
	return shingling;
}

void
simdup_too_many_shingles(void)
{
	ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("text has too many shingles"),
			errdetail("More than %zu of them are distinct.",
					  SIMDUP_MAX_SHINGLES));
}

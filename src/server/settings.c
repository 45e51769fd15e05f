/*
 * settings.c
 *	  Settings that hold while a statement of ours runs.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/guc.h"

#include "server/settings.h"

void
simdup_set_for_now(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

int
simdup_path_begin(const char *path)
{
	int level = NewGUCNestLevel();

	simdup_set_for_now("search_path", path);
	return level;
}

void
simdup_path_end(int level)
{
	AtEOXact_GUC(true, level);
}

/*
 * simdup.c
 *	  Module magic and start-up, nothing else: each capability has its room.
 */
#include "postgres.h"

#include "compat.h"
#include "fmgr.h"

#include "batch/progress.h"

PG_MODULE_MAGIC_EXT(.name = "simdup", .version = SIMDUP_VERSION);

#if PG_VERSION_NUM < 160000
extern void _PG_init(void);
#endif

void
_PG_init(void)
{
	simdup_progress_init();
}

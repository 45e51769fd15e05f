/*
 * simdup.c
 *	  Module magic and start-up, nothing else: each capability has its directory.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/guc.h"

#include "index/hamming/am.h"
#include "joins/offer.h"
#include "server/progress.h"
#include "triggers/trigger.h"

PG_MODULE_MAGIC_EXT(.name = "simdup", .version = SIMDUP_VERSION);

void
_PG_init(void)
{
	simdup_raise_mmap_threshold();
	simdup_progress_init();
	simdup_hamming_init();
	simdup_joins_init();
	simdup_triggers_init();
	MarkGUCPrefixReserved("simdup");
}

/*
 * progress.c
 *	  The progress of a batch, and settings that a function pins. The caller gets
 *	  NOTICEs, other sessions see the application_name of pg_stat_activity.
 *
 * The server's progress views know only its own commands.
 */
#include "postgres.h"

#include <limits.h>

#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "server/progress.h"

/* Calls between two readings of the clock. */
#define CALLS_PER_POLL 256

static int progress_interval_ms = 5000;

/* A batch that reports, in a memory context of its own. */
typedef struct Progress
{
	MemoryContextCallback callback;
	struct Progress *outer;
	const char *function;
	const char *phase;
	int64 done;
	int64 total;
} Progress;

/* The innermost batch: a function in a batch's source may run another. */
static Progress *progress;
static int progress_calls;
static TimestampTz last_report;

void
simdup_progress_init(void)
{
	DefineCustomIntVariable("simdup.progress_interval",
							"Least time between two progress messages of a batch function.",
							"0 turns them off.", &progress_interval_ms, 5000, 0,
							INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL,
							NULL);
}

/*
 * End the reports when the batch's memory context goes. An error may free an outer
 * batch's context before that of an inner one.
 */
static void
progress_end(void *arg)
{
	Progress **batch = &progress;

	while (*batch != arg)
		batch = &(*batch)->outer;
	*batch = (*batch)->outer;
	pgstat_report_appname(application_name);
}

void
simdup_progress_begin(const char *function, bool goes_on)
{
	Progress *batch = palloc0(sizeof(Progress));

	batch->callback.func = progress_end;
	batch->callback.arg = batch;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &batch->callback);
	if (!goes_on && progress == NULL)
		last_report = GetCurrentTimestamp();
	batch->function = function;
	batch->phase = "starting";
	batch->outer = progress;
	progress = batch;
}

void
simdup_progress_phase(const char *phase, int64 total)
{
	if (progress == NULL)
		return;
	progress->phase = phase;
	progress->done = 0;
	progress->total = total;
}

void
simdup_progress_done(int64 done)
{
	if (++progress_calls % CALLS_PER_POLL == 0)
		simdup_progress_poll(done);
}

void
simdup_progress_poll(int64 done)
{
	TimestampTz now;
	char total[32] = "";
	char message[NAMEDATALEN + 128];

	if (progress == NULL || progress_interval_ms == 0)
		return;
	progress->done = Max(progress->done, done);
	now = GetCurrentTimestamp();
	if (!TimestampDifferenceExceeds(last_report, now, progress_interval_ms))
		return;
	last_report = now;
	if (progress->total > 0)
		snprintf(total, sizeof(total), " of " INT64_FORMAT, progress->total);
	snprintf(message, sizeof(message), "%s: %s, " INT64_FORMAT "%s",
			 progress->function, progress->phase, progress->done, total);
	ereport(NOTICE, errmsg_internal("%s", message));
	pgstat_report_appname(message);
}

void
simdup_set_local_guc(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * progress.c
 *	  How far a batch is.
 *
 * To the caller: a NOTICE every simdup.progress_interval at most.
 *
 * To other sessions: the phase stands as a comment before the statement in
 * pg_stat_activity.query, and simdup_progress() reads it there. The server's
 * own progress views know only its own commands, and shared memory of ours
 * would need a preloaded library, which is too much to ask for a report. So
 * what is visible to whom, the switch (track_activities) and the cleaning up
 * after a crash are those of pg_stat_activity. The old text comes back when
 * the batch's memory context goes, on every way out.
 */
#include "postgres.h"

#include <limits.h>

#include "compat.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "server/result.h"
#include "server/progress.h"

/* Other sessions see the numbers this often. */
#define SHOW_INTERVAL_MS 500
/* Calls between two looks at the clock. */
#define CALLS_PER_LOOK 256

static int progress_interval_ms = 5000;

typedef struct Progress
{
	const char *function;
	const char *phase;
	int64 done;
	int64 total;
	char *statement; /* what pg_stat_activity had */
	int calls;
	TimestampTz shown;
	TimestampTz told;
} Progress;

/* Of the innermost batch: a batch's query may run another. */
static Progress progress;

typedef struct ProgressEnd
{
	MemoryContextCallback callback;
	char *statement;
	Progress outer;
} ProgressEnd;

void
simdup_progress_init(void)
{
	DefineCustomIntVariable("simdup.progress_interval",
							"Least time between two progress messages of a batch function.",
							"0 turns them off. Other sessions see simdup_progress() in any case.",
							&progress_interval_ms, 5000, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
}

/* Put a text where pg_stat_activity finds it, cut where it must be. */
static void
show(const char *text)
{
	volatile PgBackendStatus *entry = MyBEEntry;
	size_t len = strlen(text);

	if (entry == NULL || !pgstat_track_activities)
		return;
	if (len > (size_t) pgstat_track_activity_query_size - 1)
		len = (size_t) pgstat_track_activity_query_size - 1;
	PGSTAT_BEGIN_WRITE_ACTIVITY(entry);
	memcpy((char *) entry->st_activity_raw, text, len);
	entry->st_activity_raw[len] = '\0';
	PGSTAT_END_WRITE_ACTIVITY(entry);
}

/* Called when the batch's memory context goes. */
static void
progress_end(void *arg)
{
	ProgressEnd *end = arg;

	show(end->statement);
	progress = end->outer;
}

void
simdup_progress_begin(const char *function)
{
	ProgressEnd *end = palloc(sizeof(ProgressEnd));

	end->statement = pstrdup(
		MyBEEntry && pgstat_track_activities ? MyBEEntry->st_activity_raw : "");
	/* nothing may fail from here on until the callback is there */
	end->outer = progress;
	progress.function = function;
	progress.statement = end->statement;
	progress.told = GetCurrentTimestamp();
	end->callback.func = progress_end;
	end->callback.arg = end;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &end->callback);
	simdup_progress_phase("starting", 0);
}

static void
show_progress(void)
{
	char head[160];
	char *text;

	/* simdup_progress reads this form, below */
	snprintf(head, sizeof(head),
			 "/* %s: %s, " INT64_FORMAT " of " INT64_FORMAT " */ ",
			 progress.function, progress.phase, progress.done, progress.total);
	text = psprintf("%s%s", head, progress.statement);
	show(text);
	pfree(text);
}

static void
tell_progress(void)
{
	if (progress.total > 0)
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT " of " INT64_FORMAT,
							   progress.function, progress.phase, progress.done,
							   progress.total));
	else
		ereport(NOTICE, errmsg("%s: %s, " INT64_FORMAT, progress.function,
							   progress.phase, progress.done));
}

void
simdup_progress_phase(const char *phase, int64 total)
{
	if (progress.function == NULL)
		return;
	progress.phase = phase;
	progress.done = 0;
	progress.total = total;
	progress.calls = 0;
	progress.shown = GetCurrentTimestamp();
	show_progress();
}

void
simdup_progress_done(int64 done)
{
	if (++progress.calls % CALLS_PER_LOOK == 0)
		simdup_progress_look(done);
}

void
simdup_progress_look(int64 done)
{
	TimestampTz now;

	if (progress.function == NULL)
		return;
	progress.done = done;
	now = GetCurrentTimestamp();
	if (TimestampDifferenceExceeds(progress.shown, now, SHOW_INTERVAL_MS))
	{
		progress.shown = now;
		show_progress();
	}
	if (progress_interval_ms > 0 &&
		TimestampDifferenceExceeds(progress.told, now, progress_interval_ms))
	{
		progress.told = now;
		tell_progress();
	}
}

/* What show_progress has written, of the sessions that the caller may see. */
PG_FUNCTION_INFO_V1(simdup_progress);
Datum
simdup_progress(PG_FUNCTION_ARGS)
{
	static const char statement[] =
		"SELECT a.pid, m[1], m[2], m[3]::pg_catalog.int8, m[4]::pg_catalog.int8"
		" FROM pg_catalog.pg_stat_activity AS a,"
		" pg_catalog.regexp_match(a.query, '^/\\* (simdup_\\w+): ([a-z ]+), (\\d+) of (\\d+) \\*/ ') AS m"
		" WHERE m IS NOT NULL AND a.state OPERATOR(pg_catalog.=) 'active'";
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	uint64 i;

	SPI_connect();
	if (SPI_execute(statement, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_stat_activity");
	for (i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(result->setResult, SPI_tuptable->vals[i]);
	SPI_finish();
	return (Datum) 0;
}

/*
 * progress.h
 *	  The progress of a batch, in NOTICEs and pg_stat_activity; and what else functions
 *	  change in their session: settings, and the C library's threshold for mmap.
 */
#ifndef SIMDUP_SERVER_PROGRESS_H
#define SIMDUP_SERVER_PROGRESS_H

/* Define simdup.progress_interval, once, when the module loads. */
extern void simdup_progress_init(void);

/*
 * Begin to report for the named function, until the current memory context is
 * reset or deleted, on every way out. Without it the calls below do nothing. The
 * interval to the next report begins anew, unless this run goes on from an earlier one
 * of its call, or runs inside another batch.
 */
extern void simdup_progress_begin(const char *function, bool goes_on);

/* Begin a phase of total units, 0 if unknown. phase stays a pointer. */
extern void simdup_progress_phase(const char *phase, int64 total);

/*
 * Note that `done` units of the phase are done. Look at the clock, and report
 * if it is time. The number never goes back within a phase.
 */
extern void simdup_progress_poll(int64 done);

/* Note the same in a tight loop. Look at the clock once in many calls. */
extern void simdup_progress_done(int64 done);

/*
 * Set a setting until AtEOXact_GUC ends the nest level that NewGUCNestLevel began,
 * or the subtransaction ends.
 */
extern void simdup_set_local_guc(const char *name, const char *value);

/* Let the C library keep the scratch of texts (host.c), when the module loads. */
extern void simdup_raise_mmap_threshold(void);

#endif /* SIMDUP_SERVER_PROGRESS_H */

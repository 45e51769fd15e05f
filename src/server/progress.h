/*
 * progress.h
 *	  How far a batch is, told to the caller by NOTICEs.
 */
#ifndef SIMDUP_SERVER_PROGRESS_H
#define SIMDUP_SERVER_PROGRESS_H

/* Defines simdup.progress_interval; called once, when the module loads. */
extern void simdup_progress_init(void);

/*
 * Begin to report for the named function, until the current memory context is
 * reset or deleted, on every way out. Without it the calls below do nothing.
 */
extern void simdup_progress_begin(const char *function);

/*
 * A new phase with so many units to do; 0 where that is not known. The text is
 * kept as a pointer.
 */
extern void simdup_progress_phase(const char *phase, int64 total);

/*
 * So many units of the phase are done. Looks at the clock, and reports if it
 * is time. The number never goes back within a phase.
 */
extern void simdup_progress_look(int64 done);

/* The same for tight loops: looks at the clock once in many calls. */
extern void simdup_progress_done(int64 done);

#endif /* SIMDUP_SERVER_PROGRESS_H */

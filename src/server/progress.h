/*
 * progress.h
 *	  How far a batch is: messages to the caller, the phase to other sessions.
 */
#ifndef SIMDUP_SERVER_PROGRESS_H
#define SIMDUP_SERVER_PROGRESS_H

/* Defines simdup.progress_interval; called once, when the module loads. */
extern void simdup_progress_init(void);

/*
 * Start reporting for the named function, until its memory context is reset
 * or deleted, whether it ends well or not.
 */
extern void simdup_progress_begin(const char *function);

/* A new phase with so many units to do; 0 where that is not known. */
extern void simdup_progress_phase(const char *phase, int64 total);

/* So many are done: looks at the clock, and reports if it is time. */
extern void simdup_progress_look(int64 done);

/* The same for tight loops: it looks once in a while. */
extern void simdup_progress_done(int64 done);

#endif /* SIMDUP_SERVER_PROGRESS_H */

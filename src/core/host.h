/*
 * host.h
 *	  What core/ needs from the program it runs in: memory and a place to stop.
 *
 * In the server these are palloc and CHECK_FOR_INTERRUPTS (server/session.c), in
 * unit tests and fuzz targets malloc and nothing (test/unit/host.c). None of
 * them returns NULL, and any of them may leave by a non-local exit: core/ must
 * therefore own nothing that memory contexts would not clean up.
 */
#ifndef SIMDUP_CORE_HOST_H
#define SIMDUP_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern void *simdup_alloc(size_t size);
extern void *simdup_alloc0(size_t size);
extern void *simdup_realloc(void *p, size_t size);
extern void simdup_free(void *p);

/*
 * Check for interrupts. Long computations do at least every few milliseconds.
 */
extern void simdup_check_interrupts(void);

#endif /* SIMDUP_CORE_HOST_H */

/*
 * host.h
 *	  What unit tests see of their host (host.c).
 */
#ifndef SIMDUP_UNIT_HOST_H
#define SIMDUP_UNIT_HOST_H

#include <stddef.h>

/* How often core/ has checked for interrupts. */
extern size_t host_n_checks;

#endif /* SIMDUP_UNIT_HOST_H */

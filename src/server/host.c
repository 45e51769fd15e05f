/*
 * host.c
 *	  The server as core/ sees it (core/host.h): palloc in the current memory
 *	  context, and interrupts. Allocations may exceed 1 GB; running out is an
 *	  ERROR.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/host.h"

void *
simdup_alloc(size_t size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE);
}

void *
simdup_alloc0(size_t size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void *
simdup_realloc(void *p, size_t size)
{
	return p == NULL ? simdup_alloc(size) : repalloc_huge(p, size);
}

void
simdup_free(void *p)
{
	if (p != NULL)
		pfree(p);
}

void
simdup_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

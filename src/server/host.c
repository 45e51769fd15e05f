/*
 * host.c
 *	  The server as core/ sees it (core/host.h): palloc in the current memory
 *	  context, and interrupts. Allocations may exceed 1 GB; running out is an
 *	  ERROR.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/host.h"
#include "server/progress.h"

/* Scratch of up to this size is not given back to the system after each text. */
#define MAX_SCRATCH (8 * 1024 * 1024)

/*
 * Let the C library keep what one text's scratch took for the next text's.
 *
 * At first, glibc maps each array from 128 kB on, and unmaps it when it is freed. From
 * MAX_SCRATCH on, simhash of 10 kB takes .75 of the time for English, .35 for Chinese.
 * Freeing a mapped block raises the limit to its size, and the memory that stays free at
 * the heap's end to twice that: see M_MMAP_THRESHOLD in mallopt(3). The block is never
 * touched. With another C library this does nothing.
 */
void
simdup_raise_mmap_threshold(void)
{
	void *volatile block = malloc(MAX_SCRATCH);

	free(block);
}

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
simdup_sort(void *array, size_t n, size_t width,
			int (*compare)(const void *, const void *))
{
	/* the server's, which allocates nothing */
	qsort(array, n, width, compare);
}

void
simdup_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

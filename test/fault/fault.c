/*
 * fault.c
 *	  Faults on demand, in one backend, for tests.
 *
 * The file is preloaded into a server (LD_PRELOAD) and replaces the C library's
 * malloc and pwrite. CREATE FUNCTION ... AS with the file's path finds the same
 * copy, so SQL can arm a fault. Only the n-th event of a kind after that fails:
 *
 *	  palloc	An allocation in a memory context runs out of memory.
 *	  malloc	An allocation by the C library runs out of memory.
 *	  cancel	At an allocation in a memory context, a cancel request arrives.
 *	  write		A write to a temporary file finds no space left on the device.
 *
 * Only the extension, and code that works directly for it, runs out of memory:
 * see is_ours. The server does not survive every failure of its own
 * allocations. Neither does ICU, so the extension makes sure beforehand that
 * there is memory. A limit tests that instead: fault_limit.
 *
 * Events in other processes do not count, nor do events here before a fault is
 * armed.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 170000
#include "utils/memutils_internal.h"
#endif

PG_MODULE_MAGIC;

/* Preloaded into other programs too, which have no such variables. */
#pragma weak InterruptPending
#pragma weak QueryCancelPending
#pragma weak TopMemoryContext

typedef enum FaultKind
{
	FAULT_NONE,
	FAULT_PALLOC,
	FAULT_MALLOC,
	FAULT_CANCEL,
	FAULT_WRITE
} FaultKind;

static FaultKind armed = FAULT_NONE;
static int64 countdown;
static bool fired;

/* Check whether this event is the one to fail. It is then also the last. */
static bool
strikes(FaultKind kind)
{
	if (armed != kind || --countdown > 0)
		return false;
	armed = FAULT_NONE;
	fired = true;
	return true;
}

/*
 * Who allocates
 */

/* Allocations of the server that are deeper than this are its own affair. */
#define MAX_SERVER_FRAMES 6
/* Deep enough for these, and for the calls between them and the extension. */
#define MAX_FRAMES (MAX_SERVER_FRAMES + 4)
/*
 * The size that LockAcquire allocates for a new lock's owners. If the
 * allocation fails, the server goes on in the next subtransaction with a lock
 * that has no owners.
 */
#define LOCK_OWNERS_SIZE (8 * 16)

typedef struct Module
{
	uintptr_t start;
	uintptr_t end;
} Module;

static Module server;
static Module extension;
static Module own;

/*
 * Functions of the server that leave pointers to nothing when they run out of
 * memory.
 *
 * pgstat_assoc_relation is called by the first reader of a relation, to count
 * the reads. It leaves an entry of a hash table without its
 * target. The end of the subtransaction that made the relation follows that
 * pointer, and the session crashes.
 *
 * GetSessionDsmHandle is called by the first plan with workers in a session. It
 * publishes the session's shared record types before it allocates the hook that
 * takes them back. Without the hook they outlive their memory.
 */
static const char *const fragile_names[] = {"pgstat_assoc_relation",
											"GetSessionDsmHandle"};
static Module fragile[lengthof(fragile_names)];

static int
note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	Module found = {UINTPTR_MAX, 0};
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
	{
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		found.start = Min(found.start, info->dlpi_addr + part->p_vaddr);
		found.end =
			Max(found.end, info->dlpi_addr + part->p_vaddr + part->p_memsz);
	}
	if (info->dlpi_name[0] == '\0')
		server = found;
	else if (strstr(info->dlpi_name, "/simdup.so") != NULL)
		extension = found;
	else if ((uintptr_t) note_module >= found.start &&
			 (uintptr_t) note_module < found.end)
		own = found;
	return 0;
}

static void
note_fragile(void)
{
	int i;

	for (i = 0; i < (int) lengthof(fragile_names); i++)
	{
		void *start = dlsym(RTLD_DEFAULT, fragile_names[i]);
		ElfW(Sym) *symbol = NULL;
		Dl_info info;

		if (start == NULL ||
			dladdr1(start, &info, (void **) &symbol, RTLD_DL_SYMENT) == 0 ||
			symbol == NULL)
			elog(ERROR, "the server has no function %s", fragile_names[i]);
		fragile[i].start = (uintptr_t) start;
		fragile[i].end = fragile[i].start + symbol->st_size;
	}
}

static bool
is_in(const Module *module, const void *address)
{
	return (uintptr_t) address >= module->start &&
		   (uintptr_t) address < module->end;
}

static bool
is_in_fragile(const void *address)
{
	int i;

	for (i = 0; i < (int) lengthof(fragile); i++)
		if (is_in(&fragile[i], address))
			return true;
	return false;
}

/*
 * Check whether the extension is the caller, directly or by few calls of the
 * server. The first frames are of this file.
 */
static bool
is_ours(void)
{
	void *frames[MAX_FRAMES];
	int n = backtrace(frames, MAX_FRAMES);
	int n_server = 0;
	int i;

	for (i = 0; i < n && n_server <= MAX_SERVER_FRAMES; i++)
	{
		if (is_in(&extension, frames[i]))
			return true;
		if (is_in_fragile(frames[i]))
			return false;
		if (!is_in(&server, frames[i]) && !is_in(&own, frames[i]))
			return false;
		n_server += is_in(&server, frames[i]);
	}
	return false;
}

/*
 * The C library
 */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static bool
malloc_strikes(void)
{
	if (armed != FAULT_MALLOC || !is_ours() || !strikes(FAULT_MALLOC))
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t size)
{
	if (malloc_strikes())
		return NULL;
	return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	if (malloc_strikes())
		return NULL;
	return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
	if (malloc_strikes())
		return NULL;
	return __libc_realloc(p, size);
}

static bool
is_temporary(int fd)
{
	char link[64];
	char path[MAXPGPATH];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	path[Max(len, 0)] = '\0';
	return strstr(path, "/pgsql_tmp/") != NULL;
}

static bool
write_strikes(int fd)
{
	if (armed != FAULT_WRITE || !is_temporary(fd) || !strikes(FAULT_WRITE))
		return false;
	errno = ENOSPC;
	return true;
}

/* servers write by this one before version 17, and by the next one from then */
ssize_t
pwrite(int fd, const void *data, size_t len, off_t offset)
{
	static ssize_t (*next)(int, const void *, size_t, off_t);

	if (write_strikes(fd))
		return -1;
	if (next == NULL)
		next = dlsym(RTLD_NEXT, "pwrite");
	return next(fd, data, len, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
	static ssize_t (*next)(int, const struct iovec *, int, off_t);

	if (write_strikes(fd))
		return -1;
	if (next == NULL)
		next = dlsym(RTLD_NEXT, "pwritev");
	return next(fd, parts, n, offset);
}

/* the same by the names that they have for large files */
extern ssize_t pwrite64(int fd, const void *data, size_t len, off_t offset)
	__attribute__((alias("pwrite")));
extern ssize_t pwritev64(int fd, const struct iovec *parts, int n, off_t offset)
	__attribute__((alias("pwritev")));

/*
 * Memory contexts. Their methods are a constant table, of which all contexts
 * of the usual kind share one: there our function takes the place of alloc.
 */

#if PG_VERSION_NUM >= 170000
#define ALLOC_ARGS MemoryContext context, Size size, int flags
#define PASSED_ARGS context, size, flags
#define ALLOC_FAILS() MemoryContextAllocationFailure(context, size, flags)
#else
#define ALLOC_ARGS MemoryContext context, Size size
#define PASSED_ARGS context, size
#define ALLOC_FAILS() NULL
#endif

static void *(*server_alloc)(ALLOC_ARGS) = NULL;

static void *
alloc_or_fault(ALLOC_ARGS)
{
	if (armed == FAULT_PALLOC && is_ours() &&
		!(context == TopMemoryContext && size == LOCK_OWNERS_SIZE) &&
		strikes(FAULT_PALLOC))
		return ALLOC_FAILS();
	if (strikes(FAULT_CANCEL))
	{
		InterruptPending = true;
		QueryCancelPending = true;
	}
	return server_alloc(PASSED_ARGS);
}

static void
replace_alloc(void)
{
	MemoryContextMethods *methods =
		(MemoryContextMethods *) TopMemoryContext->methods;
	uintptr_t page_size = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t) methods & ~(page_size - 1);
	size_t len = (uintptr_t) (methods + 1) - page;

	if (server_alloc != NULL)
		return;
	if (mprotect((void *) page, len, PROT_READ | PROT_WRITE) != 0)
		elog(ERROR, "could not write to the methods of memory contexts: %m");
	server_alloc = methods->alloc;
	methods->alloc = alloc_or_fault;
}

/*
 * SQL
 */

static FaultKind
kind_by_name(const char *name)
{
	static const char *const names[] = {"none", "palloc", "malloc", "cancel",
										"write"};
	int i;

	for (i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (FaultKind) i;
	elog(ERROR, "no fault is called \"%s\"", name);
}

PG_FUNCTION_INFO_V1(fault_arm);
/* fault_arm(kind text, n bigint): the n-th event from here on fails. */
Datum
fault_arm(PG_FUNCTION_ARGS)
{
	FaultKind kind = kind_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	replace_alloc();
	dl_iterate_phdr(note_module, NULL);
	note_fragile();
	if (extension.end == 0)
		elog(ERROR, "simdup is not loaded");
	(void) is_ours(); /* the first backtrace allocates */
	countdown = PG_GETARG_INT64(1);
	fired = false;
	armed = kind;
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(fault_disarm);
/* fault_disarm() returns boolean: has it failed? */
Datum
fault_disarm(PG_FUNCTION_ARGS)
{
	armed = FAULT_NONE;
	/* a request that came too late for the statement is not for the next */
	QueryCancelPending = false;
	PG_RETURN_BOOL(fired);
}

PG_FUNCTION_INFO_V1(fault_limit);
/*
 * fault_limit(bytes bigint): this backend gets so much more memory than it
 * has, and then no more; NULL: no limit.
 */
Datum
fault_limit(PG_FUNCTION_ARGS)
{
	struct rlimit limit;
	FILE *statm;
	long pages = 0;

	if (getrlimit(RLIMIT_DATA, &limit) != 0)
		elog(ERROR, "getrlimit: %m");
	limit.rlim_cur = limit.rlim_max;
	if (!PG_ARGISNULL(0))
	{
		statm = fopen("/proc/self/statm", "r");
		if (statm == NULL ||
			fscanf(statm, "%*d %*d %*d %*d %*d %ld", &pages) != 1)
			elog(ERROR, "could not read /proc/self/statm");
		fclose(statm);
		limit.rlim_cur =
			(rlim_t) pages * sysconf(_SC_PAGESIZE) + PG_GETARG_INT64(0);
	}
	if (setrlimit(RLIMIT_DATA, &limit) != 0)
		elog(ERROR, "setrlimit: %m");
	PG_RETURN_VOID();
}

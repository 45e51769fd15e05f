/*
 * tap.h
 *	  The few lines a C unit test needs to speak the Test Anything Protocol.
 */
#ifndef SIMDUP_UNIT_TAP_H
#define SIMDUP_UNIT_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count;
static int tap_failures;

/* One test, which passes if the condition is true. Name as printf. */
static inline bool __attribute__((format(printf, 2, 3)))
ok(bool condition, const char *name, ...)
{
	va_list args;

	printf("%sok %d - ", condition ? "" : "not ", ++tap_count);
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	putchar('\n');
	if (!condition)
		tap_failures++;
	return condition;
}

/* Two 64-bit values are equal; on failure both are shown in hex. */
static inline bool
is_u64(uint64_t got, uint64_t expected, const char *name)
{
	if (got != expected)
		printf("# got %016" PRIx64 ", expected %016" PRIx64 "\n", got,
			   expected);
	return ok(got == expected, "%s", name);
}

/* The plan, at the end; the value main returns. */
static inline int
done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures ? 1 : 0;
}

#endif /* SIMDUP_UNIT_TAP_H */

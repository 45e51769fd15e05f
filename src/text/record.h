/*
 * record.h
 *	  Fingerprints of whole rows, for functions of any kind of fingerprint.
 *
 * The functions have these arguments first: the row or the table, the content
 * column's name, and the names of the columns to leave out.
 */
#ifndef SIMDUP_TEXT_RECORD_H
#define SIMDUP_TEXT_RECORD_H

#include "fmgr.h"
#include "text/fingerprinter.h"

/* The arguments that all of them have; options follow. */
#define SIMDUP_RECORD_ARGS 3

/* The fingerprint of the row at argument 0, by a fingerprinter that has begun. */
extern Datum simdup_record_fingerprint(FunctionCallInfo fcinfo,
									   SimdupFingerprinter *fingerprinter);

/*
 * An SQL call of a row function. It gives the same fingerprint for a row of the
 * table at argument 0. options, each after a comma, are its last arguments.
 */
extern char *simdup_record_expression(FunctionCallInfo fcinfo,
									  const char *function,
									  const char *options);

#endif /* SIMDUP_TEXT_RECORD_H */

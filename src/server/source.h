/*
 * source.h
 *	  A source: a table or a view that a batch reads, with columns known by name.
 */
#ifndef SIMDUP_SERVER_SOURCE_H
#define SIMDUP_SERVER_SOURCE_H

#include "executor/tuptable.h"
#include "fmgr.h"

/*
 * Take a row, all of whose values are in the slot, in a memory context that is
 * reset after it.
 */
typedef void (*SimdupRowSink)(void *arg, TupleTableSlot *row);

/*
 * Columns that a reader may want:
 *	  key		that column, else the primary key of one column
 *	  fp		that column, else minhash64(content)
 *	  content	a text or a sketch
 *	  scope
 *	  day		the first other column of a date or a time, as a date
 * The last two are read where they exist, the others must.
 */
typedef enum SimdupSourceColumn
{
	SIMDUP_SOURCE_KEY,
	SIMDUP_SOURCE_FP,
	SIMDUP_SOURCE_CONTENT,
	SIMDUP_SOURCE_SCOPE,
	SIMDUP_SOURCE_DAY,
	SIMDUP_SOURCE_COLUMNS
} SimdupSourceColumn;

/* A set of these. */
#define SIMDUP_SOURCE_HAS(column) (1 << (column))

/* Beside them: the contents must be texts. */
#define SIMDUP_SOURCE_TEXTS (1 << SIMDUP_SOURCE_COLUMNS)

typedef struct SimdupSource
{
	char *name;						  /* schema.name, quoted */
	Oid type[SIMDUP_SOURCE_COLUMNS];  /* InvalidOid: not read */
	int place[SIMDUP_SOURCE_COLUMNS]; /* in a row, from 0; -1: not read */
	char *key;						  /* the key's column, quoted; or NULL */
	Oid key_collation;
	char *day; /* the day's column; NULL: not read */
	/* base type of the column content, also if it is not read; InvalidOid: none */
	Oid content_type;
	char *statement; /* that reads it */
} SimdupSource;

/*
 * Find the wanted columns of a source, for the function that is called. The
 * relation stays locked until the transaction ends. ERROR if it has not the
 * columns: the HINT is a view that has them.
 */
extern SimdupSource simdup_source_open(FunctionCallInfo fcinfo, Oid relation,
									   int wanted);

/*
 * Read the rows, with the caller's rights, in the order of the key if it is
 * wanted. ERROR if a key is NULL.
 */
extern void simdup_source_read(const SimdupSource *source, SimdupRowSink sink,
							   void *arg);

/* Run a SELECT of ours, and feed each row to the sink. Connects to SPI. */
extern void simdup_run_select(const char *statement, SimdupRowSink sink,
							  void *arg);

#endif /* SIMDUP_SERVER_SOURCE_H */

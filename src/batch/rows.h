/*
 * rows.h
 *	  The rows of a batch: read, and grouped by equal fingerprint.
 *
 * Rows are numbered from 0 in query order, and get a position in the order of
 * their fingerprints; rows of one group stand at consecutive positions, in
 * query order. In memory all this is plain arrays. What would go beyond
 * maintenance_work_mem goes through a tuplesort into temporary files; the
 * calls below hide which.
 */
#ifndef SIMDUP_BATCH_ROWS_H
#define SIMDUP_BATCH_ROWS_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/tuplesort.h"

#include "server/tempfile.h"

/* Rows of one fingerprint: those of the first query first. */
typedef struct SimdupGroup
{
	uint32 start;	/* position of its first row */
	uint32 n_first; /* rows that came with the first query */
	uint32 n;		/* all of them */
} SimdupGroup;

typedef struct SimdupGroupRecord
{
	uint64 fp;
	SimdupGroup group;
} SimdupGroupRecord;

/*
 * Bytes that a group, or a row that is a group of its own, takes in memory:
 * its part of the arrays below and of those the join moves about.
 */
#define SIMDUP_GROUP_BYTES 38
#define SIMDUP_ROW_BYTES (SIMDUP_GROUP_BYTES + 12)

typedef struct SimdupRows
{
	MemoryContext context;	   /* all of it; deleted at the end */
	MemoryContext row_context; /* reset after each row that is read */
	int64 budget;			   /* bytes: maintenance_work_mem */

	Oid fp_type;
	Oid key_type;
	int16 key_len; /* of the key type */
	bool key_byval;
	int sample_chars;	  /* 0: no samples */
	FmgrInfo *key_output; /* where there are samples */
	Oid query_key_type;
	StringInfoData key_buffer[2];

	uint32 n;		/* rows with a fingerprint */
	uint32 n_first; /* of them, with the first query */
	int n_queries;
	int64 n_null; /* rows without one */
	int64 n_groups;

	/* by number; NULL when spilled. A key by reference is a pointer. */
	uint64 *fps;
	uint64 *keys;
	uint32 capacity;
	char *key_chunk; /* where keys by reference go */
	size_t key_chunk_left;
	int64 key_bytes;

	uint32 *numbers;	 /* by position; NULL when spilled */
	SimdupGroup *groups; /* by position; NULL when spilled */
	uint64 *group_fps;	 /* beside them, ascending */

	/* when spilled */
	Tuplesortstate *sort; /* (fingerprint, number), while reading */
	TupleTableSlot *sort_slot;
	SimdupTempFile *key_words;	 /* by number: key, or offset in key_heap */
	SimdupTempFile *key_heap;	 /* keys by reference: length, bytes */
	SimdupTempFile *number_file; /* by position */
	SimdupTempFile *group_file;	 /* of SimdupGroupRecord, ascending */
} SimdupRows;

/*
 * A new batch in a memory context of its own below the current one, which
 * simdup_rows_end deletes. The fingerprint type is the one in the schema of
 * the called function, whose name progress goes by; the key type that of the
 * function's argument key_type_at, bigint where it has no such argument.
 */
extern SimdupRows *simdup_rows_begin(FunctionCallInfo fcinfo, int key_type_at);
extern void simdup_rows_end(SimdupRows *rows);

/*
 * Take keys of any type, as text; and where the query has a third column, the
 * first max_chars characters of its text after the key and a tab. For reports,
 * before reading.
 */
extern void simdup_rows_as_text(SimdupRows *rows, int max_chars);

/*
 * Read the (key, fingerprint) rows of a query; of two, the first first. NULL
 * fingerprints are skipped and counted.
 */
extern void simdup_rows_read(SimdupRows *rows, const char *query,
							 const char *argument);

/* After the last query: group, and say in a NOTICE what was skipped. */
extern void simdup_rows_group(SimdupRows *rows);

/* The group of that index, by ascending position and fingerprint. */
extern SimdupGroupRecord simdup_rows_get_group(SimdupRows *rows, int64 index);

/* Position to number, number to key. */
extern uint32 simdup_row_number(SimdupRows *rows, uint32 position);

/*
 * A key by reference is valid until the next call with the same buffer, 0 or
 * 1.
 */
extern Datum simdup_row_key(SimdupRows *rows, uint32 number, int buffer);

/* max_distance as given, or an ERROR. */
extern int simdup_check_max_distance(int max_distance);

#endif /* SIMDUP_BATCH_ROWS_H */

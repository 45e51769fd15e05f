/*
 * grouping_tables.c
 *	  The tables of a grouping: keys, and what stands beside them.
 */
#include "postgres.h"
#include "compat.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/groups.h"
#include "server/arguments.h"
#include "server/source.h"

/* The most columns that are read of one. */
#define MOST_COLUMNS 4

typedef struct TableReader
{
	SimdupRows *rows;
	Oid table;
	int n_keys;
	Oid type; /* of the other columns */
	void (*sink)(void *arg, Datum *values);
	void *arg;
} TableReader;

/* Take a row: a SimdupRowSink. */
static void
take_row(void *arg, TupleTableSlot *slot)
{
	const TableReader *reader = arg;
	TupleDesc columns = slot->tts_tupleDescriptor;
	Datum values[MOST_COLUMNS];
	MemoryContext old;

	for (int i = 0; i < Min(columns->natts, MOST_COLUMNS); i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool is_key = i < reader->n_keys;
		Oid type = is_key ? reader->rows->key_type : reader->type;

		if (column->atttypid != type)
			ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
						   NameStr(column->attname),
						   get_rel_name(reader->table),
						   format_type_be(column->atttypid),
						   format_type_be(type)));
		simdup_check_not_null(slot->tts_isnull[i], NameStr(column->attname));
		values[i] = is_key ? simdup_keys_take(reader->rows->keys,
											  slot->tts_values[i], false)
						   : slot->tts_values[i];
	}
	old = MemoryContextSwitchTo(reader->rows->context);
	reader->sink(reader->arg, values);
	MemoryContextSwitchTo(old);
}

void
simdup_grouping_table(SimdupRows *rows, Oid table, const char *columns,
					  const char *query, int n_keys, Oid type,
					  void (*sink)(void *arg, Datum *values), void *arg)
{
	TableReader reader = {rows, table, n_keys, type, sink, arg};

	simdup_run_select(psprintf("SELECT %s FROM %s AS t %s", columns,
							   simdup_table_name(table), query),
					  take_row, &reader);
}

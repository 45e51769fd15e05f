/*
 * documents.c
 *	  The documents of a query: keys in memory, shingle sets on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/tuptable.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "server/arguments.h"
#include "server/query.h"
#include "server/session.h"
#include "shingles/documents.h"

#define NO_NUMBER PG_UINT32_MAX
#define MAX_DOCUMENTS (PG_UINT32_MAX - 1)

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupDocuments *documents = arg;

	if (columns->natts != 2 ||
		!simdup_is_text_type(TupleDescAttr(columns, 1)->atttypid))
		return false;
	simdup_keys_expect(documents->keys, TupleDescAttr(columns, 0)->atttypid,
					   argument);
	return true;
}

static void
grow(SimdupDocuments *documents)
{
	Size n = documents->capacity == 0 ? 1024 : (Size) documents->capacity * 2;

	n = Min(n, MAX_DOCUMENTS);
	if (documents->n == MAX_DOCUMENTS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many documents for one call"),
				errdetail("At most %u documents fit into one call.",
						  MAX_DOCUMENTS));
	if (documents->capacity == 0)
	{
		documents->sizes = palloc(n * sizeof(uint32));
		documents->offsets = palloc(n * sizeof(int64));
		documents->digests = palloc(n * sizeof(uint32));
	}
	else
	{
		documents->sizes = repalloc_huge(documents->sizes, n * sizeof(uint32));
		documents->offsets =
			repalloc_huge(documents->offsets, n * sizeof(int64));
		documents->digests =
			repalloc_huge(documents->digests, n * sizeof(uint32));
	}
	documents->capacity = (uint32) n;
}

/* Return a digest of a set. Equal sets have equal digests. */
static uint32
digest_of(const SimdupHashes *set)
{
	uint64 digest = 0;

	for (size_t i = 0; i < set->n; i++)
		digest = simdup_mix64(digest ^ set->hashes[i]);
	return (uint32) digest;
}

static void
add_document(SimdupDocuments *documents, const SimdupHashes *set)
{
	uint32 number = documents->n;
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	if (number == documents->capacity)
		grow(documents);
	documents->sizes[number] = (uint32) set->n;
	documents->digests[number] = digest_of(set);
	documents->offsets[number] =
		simdup_tempfile_append(documents->sets, set->hashes,
							   set->n * sizeof(uint64));
	documents->n++;
	MemoryContextSwitchTo(old);
}

/*
 * Add a row: a SimdupRowSink. Like rows.c, because both leave out what they count.
 */
static void
add_row(void *arg, TupleTableSlot *row)
{
	SimdupDocuments *documents = arg;
	MemoryContext old;
	SimdupHashes set;

	slot_getallattrs(row);
	if (row->tts_isnull[1])
	{
		documents->n_no_content++;
		return;
	}
	old = MemoryContextSwitchTo(documents->row_context);
	set = simdup_element_set(documents->shingling,
							 simdup_text_to_utf8(
								 DatumGetTextPP(row->tts_values[1])));
	if (set.n > 0)
	{
		simdup_keys_add(documents->keys, row->tts_values[0],
						row->tts_isnull[0]);
		add_document(documents, &set);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->row_context);
	simdup_progress_done(++documents->n_rows);
}

SimdupDocuments *
simdup_read_documents(FunctionCallInfo fcinfo, SimdupFoldedShingling shingling)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup documents",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SimdupDocuments *documents = palloc0(sizeof(SimdupDocuments));
	SimdupQuery query = {text_to_cstring(PG_GETARG_TEXT_PP(0)), "query",
						 "a key and a text", "id, content"};

	documents->context = context;
	documents->row_context = AllocSetContextCreate(context, "simdup document",
												   ALLOCSET_DEFAULT_SIZES);
	documents->shingling = shingling;
	documents->keys = simdup_keys_of_function(fcinfo);
	documents->sets = simdup_tempfile_create();
	documents->loaded_number[0] = documents->loaded_number[1] = NO_NUMBER;
	simdup_progress_phase("reading", 0);
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 add_row, documents);
	simdup_tell_skipped(0, documents->n_no_content, documents->n_rows);
	MemoryContextSwitchTo(old);
	return documents;
}

void
simdup_documents_end(SimdupDocuments *documents)
{
	simdup_tempfile_close(documents->sets);
	simdup_keys_end(documents->keys);
	MemoryContextDelete(documents->context);
}

const SimdupHashes *
simdup_document_set(SimdupDocuments *documents, uint32 number, int buffer)
{
	SimdupHashes *set = &documents->loaded[buffer];

	if (documents->loaded_number[buffer] == number)
		return set;
	documents->loaded_number[buffer] = NO_NUMBER;
	set->n = documents->sizes[number];
	if (set->n > set->size)
	{
		if (set->hashes != NULL)
			pfree(set->hashes);
		set->size = set->n;
		set->hashes = MemoryContextAllocHuge(documents->context,
											 set->size * sizeof(uint64));
	}
	simdup_tempfile_read(documents->sets, documents->offsets[number],
						 set->hashes, set->n * sizeof(uint64));
	documents->loaded_number[buffer] = number;
	return set;
}

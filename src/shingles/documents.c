/*
 * documents.c
 *	  The documents of a query: keys in memory, shingle sets on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "executor/tuptable.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "server/catalog.h"
#include "server/query.h"
#include "server/session.h"
#include "shingles/documents.h"
#include "type/simhash64.h"

#define NO_NUMBER PG_UINT32_MAX
#define MAX_DOCUMENTS (PG_UINT32_MAX - 1)

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupDocuments *documents = arg;
	bool with_fp = OidIsValid(documents->fp_type);
	int natts = with_fp ? 3 : 2;

	if (columns->natts != natts ||
		!simdup_comparison_takes(&documents->comparison,
								 TupleDescAttr(columns, natts - 1)->atttypid,
								 with_fp) ||
		(with_fp && TupleDescAttr(columns, 1)->atttypid != documents->fp_type))
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
		if (OidIsValid(documents->fp_type))
			documents->fps = palloc(n * sizeof(uint64));
	}
	else
	{
		documents->sizes = repalloc_huge(documents->sizes, n * sizeof(uint32));
		documents->offsets =
			repalloc_huge(documents->offsets, n * sizeof(int64));
		documents->digests =
			repalloc_huge(documents->digests, n * sizeof(uint32));
		if (documents->fps != NULL)
			documents->fps = repalloc_huge(documents->fps, n * sizeof(uint64));
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
add_document(SimdupDocuments *documents, uint64 fp, const SimdupHashes *set)
{
	uint32 number = documents->n;
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	if (number == documents->capacity)
		grow(documents);
	if (documents->fps != NULL)
		documents->fps[number] = fp;
	documents->sizes[number] = (uint32) set->n;
	documents->digests[number] = digest_of(set);
	documents->offsets[number] =
		simdup_tempfile_append(documents->sets, set->hashes,
							   set->n * sizeof(uint64));
	documents->n++;
	MemoryContextSwitchTo(old);
}

/* Add a row: a SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *row)
{
	SimdupDocuments *documents = arg;
	bool with_fp = OidIsValid(documents->fp_type);
	int content = with_fp ? 2 : 1;
	MemoryContext old;
	SimdupHashes set;

	slot_getallattrs(row);
	if (with_fp && row->tts_isnull[1])
	{
		documents->n_no_fp++;
		return;
	}
	if (row->tts_isnull[content])
	{
		documents->n_no_content++;
		return;
	}
	old = MemoryContextSwitchTo(documents->row_context);
	set = simdup_comparison_words(&documents->comparison,
								  row->tts_values[content]);
	if (set.n > 0)
	{
		simdup_keys_add(documents->keys, row->tts_values[0],
						row->tts_isnull[0]);
		add_document(documents,
					 with_fp ? DatumGetSimhash64(row->tts_values[1]) : 0, &set);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->row_context);
	simdup_progress_done(++documents->n_rows);
}

SimdupDocuments *
simdup_read_documents(FunctionCallInfo fcinfo, SimdupFoldedShingling shingling,
					  bool with_fingerprint)
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
	documents->comparison.shingling = shingling;
	documents->keys = simdup_keys_of_function(fcinfo);
	if (with_fingerprint)
	{
		query = (SimdupQuery){query.text, "query", SIMDUP_KEY_FP_AND_CONTENT};
		documents->fp_type =
			simdup_sibling_type(fcinfo->flinfo->fn_oid, "simhash64");
	}
	documents->sets = simdup_tempfile_create();
	documents->loaded_number[0] = documents->loaded_number[1] = NO_NUMBER;
	simdup_progress_phase("reading", 0);
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 add_row, documents);
	simdup_tell_skipped(documents->n_no_fp, documents->n_no_content,
						documents->n_rows);
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

double
simdup_document_resemblance(SimdupDocuments *documents, uint32 a, uint32 b,
							double min_resemblance)
{
	double smaller = Min(documents->sizes[a], documents->sizes[b]);
	double larger = Max(documents->sizes[a], documents->sizes[b]);
	double resemblance;

	if (smaller / larger < min_resemblance)
		return -1;
	resemblance = simdup_comparison_of(&documents->comparison,
									   simdup_document_set(documents, a, 0),
									   simdup_document_set(documents, b, 1));
	return resemblance >= min_resemblance ? resemblance : -1;
}

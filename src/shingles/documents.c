/*
 * documents.c
 *	  The documents of a query: keys in memory, shingle sets on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "server/query.h"
#include "shingles/documents.h"
#include "type/simhash64.h"

#define NO_NUMBER PG_UINT32_MAX
#define MAX_DOCUMENTS (PG_UINT32_MAX - 1)

bool
simdup_is_text_type(Oid type)
{
	type = getBaseType(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

bool
simdup_has_null(FunctionCallInfo fcinfo, int n)
{
	while (n > 0 && !PG_ARGISNULL(n - 1))
		n--;
	return n > 0;
}

double
simdup_check_min_resemblance(double value)
{
	if (!(value > 0 && value <= 1))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("min_resemblance must be greater than 0 and at "
					   "most 1"),
				errdetail("The value given is %g.", value));
	return value;
}

/* A SimdupColumnCheck. */
static void
check_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupDocuments *documents = arg;
	bool with_fp = OidIsValid(documents->fp_type);
	int natts = with_fp ? 3 : 2;
	Oid key_type;

	if (columns->natts != natts ||
		!simdup_is_text_type(TupleDescAttr(columns, natts - 1)->atttypid) ||
		(with_fp && TupleDescAttr(columns, 1)->atttypid != documents->fp_type))
		simdup_wrong_columns(argument, columns,
							 with_fp ? "a key, a simhash64 and a text"
									 : "a key and a text");
	key_type = TupleDescAttr(columns, 0)->atttypid;
	simdup_check_key_type(argument, key_type, documents->key_type);
	documents->query_key_type = key_type;
}

/* A key as one of the key type, in the current memory context. */
static Datum
copy_key(const SimdupDocuments *documents, Datum key)
{
	if (documents->key_type == documents->query_key_type)
	{
		/* what the executor hands on may be toasted */
		if (documents->key_len == -1)
			return PointerGetDatum(PG_DETOAST_DATUM_COPY(key));
		return datumCopy(key, documents->key_byval, documents->key_len);
	}
	return simdup_widen_key(key, documents->query_key_type);
}

static void
grow(SimdupDocuments *documents)
{
	Size n = documents->capacity ? (Size) documents->capacity * 2 : 1024;

	n = Min(n, MAX_DOCUMENTS);
	if (documents->n == MAX_DOCUMENTS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many documents for one call"),
				errdetail("It takes at most %u.", MAX_DOCUMENTS));
	if (documents->capacity == 0)
	{
		documents->keys = palloc(n * sizeof(Datum));
		documents->sizes = palloc(n * sizeof(uint32));
		documents->offsets = palloc(n * sizeof(int64));
		if (OidIsValid(documents->fp_type))
			documents->fps = palloc(n * sizeof(uint64));
	}
	else
	{
		documents->keys = repalloc_huge(documents->keys, n * sizeof(Datum));
		documents->sizes = repalloc_huge(documents->sizes, n * sizeof(uint32));
		documents->offsets =
			repalloc_huge(documents->offsets, n * sizeof(int64));
		if (documents->fps)
			documents->fps = repalloc_huge(documents->fps, n * sizeof(uint64));
	}
	documents->capacity = (uint32) n;
}

static void
add_document(SimdupDocuments *documents, Datum key, uint64 fp,
			 const SimdupHashes *set)
{
	uint32 number = documents->n;
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	if (number == documents->capacity)
		grow(documents);
	documents->keys[number] = copy_key(documents, key);
	if (documents->fps)
		documents->fps[number] = fp;
	documents->sizes[number] = (uint32) set->n;
	documents->offsets[number] =
		simdup_tempfile_append(documents->sets, set->hashes,
							   set->n * sizeof(uint64));
	documents->n++;
	MemoryContextSwitchTo(old);
	if (documents->sink)
		documents->sink(documents->arg, number, set);
}

/* A SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *row)
{
	SimdupDocuments *documents = arg;
	bool with_fp = OidIsValid(documents->fp_type);
	int content = with_fp ? 2 : 1;
	MemoryContext old;
	SimdupHashes set;

	slot_getallattrs(row);
	if (row->tts_isnull[0])
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("key must not be null"));
	if (row->tts_isnull[content] || (with_fp && row->tts_isnull[1]))
		return;
	old = MemoryContextSwitchTo(documents->row_context);
	set = simdup_hash_set(DatumGetTextPP(row->tts_values[content]),
						  documents->shingling);
	if (set.n > 0)
		add_document(documents, row->tts_values[0],
					 with_fp ? DatumGetSimhash64(row->tts_values[1]) : 0, &set);
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->row_context);
}

SimdupDocuments *
simdup_read_documents(FunctionCallInfo fcinfo, int key_type_at,
					  SimdupShingling shingling, bool with_fingerprint,
					  SimdupDocumentSink sink, void *arg)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup documents",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SimdupDocuments *documents = palloc0(sizeof(SimdupDocuments));

	documents->context = context;
	documents->row_context = AllocSetContextCreate(context, "simdup document",
												   ALLOCSET_DEFAULT_SIZES);
	documents->shingling = shingling;
	documents->sink = sink;
	documents->arg = arg;
	documents->key_type = simdup_key_type_argument(fcinfo, key_type_at);
	get_typlenbyval(documents->key_type, &documents->key_len,
					&documents->key_byval);
	/* the type beside the function, whatever the search_path */
	if (with_fingerprint)
		documents->fp_type =
			GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
							CStringGetDatum("simhash64"),
							ObjectIdGetDatum(
								get_func_namespace(fcinfo->flinfo->fn_oid)));
	documents->sets = simdup_tempfile_create();
	documents->loaded_number[0] = documents->loaded_number[1] = NO_NUMBER;
	simdup_run_query(text_to_cstring(PG_GETARG_TEXT_PP(0)), "query",
					 check_columns, add_row, documents);
	MemoryContextSwitchTo(old);
	return documents;
}

void
simdup_documents_end(SimdupDocuments *documents)
{
	simdup_tempfile_close(documents->sets);
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
		if (set->hashes)
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
	resemblance = simdup_resemblance(simdup_document_set(documents, a, 0),
									 simdup_document_set(documents, b, 1));
	return resemblance >= min_resemblance ? resemblance : -1;
}

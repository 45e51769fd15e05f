/*
 * settings.c
 *	  What the settings of a grouping mean under their path.
 *
 * The settings name tables, and a query of keys and contents. The functions in
 * sql/60-groups.sql and sql/62-review.sql call these.
 */
#include "postgres.h"
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "batch/rows.h"
#include "server/arguments.h"

PG_FUNCTION_INFO_V1(simdup_table_in_path);
/* Return the table that a name means under a path, or NULL. */
Datum
simdup_table_in_path(PG_FUNCTION_ARGS)
{
	List *names = textToQualifiedNameList(PG_GETARG_TEXT_PP(0));
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Oid table = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);

	simdup_path_end(level);
	if (!OidIsValid(table))
		PG_RETURN_NULL();
	PG_RETURN_OID(table);
}

PG_FUNCTION_INFO_V1(simdup_schema_in_path);
/* Return the schema where a path creates, or NULL. */
Datum
simdup_schema_in_path(PG_FUNCTION_ARGS)
{
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	List *path = fetch_search_path(false);
	char *name = path == NIL ? NULL : get_namespace_name(linitial_oid(path));

	simdup_path_end(level);
	if (name == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(namein, CStringGetDatum(name)));
}

PG_FUNCTION_INFO_V1(simdup_first_type);
/* Return the type of a query's first column, under a path. */
Datum
simdup_first_type(PG_FUNCTION_ARGS)
{
	int level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Oid type = simdup_query_type(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	simdup_path_end(level);
	PG_RETURN_OID(type);
}

PG_FUNCTION_INFO_V1(simdup_key_equality);
/*
 * Return the equality of a type's default btree class, to stand in a statement.
 * ERROR if the type has no such class, or none for hashing, or is a domain over
 * a type whose equality is not the catalogs'.
 */
Datum
simdup_key_equality(PG_FUNCTION_ARGS)
{
	Oid type = PG_GETARG_OID(0);
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR |
									TYPECACHE_HASH_PROC);
	HeapTuple found;
	Oid schema;

	if (!OidIsValid(entry->btree_opf) || !OidIsValid(entry->eq_opr) ||
		!OidIsValid(entry->hash_proc) ||
		OidIsValid(get_base_element_type(type)))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail(
					"It is an array, or has no default operator class for btree or hash."));
	found = SearchSysCache1(OPEROID, ObjectIdGetDatum(entry->eq_opr));
	if (!HeapTupleIsValid(found))
		elog(ERROR, "cache lookup failed for operator %u", entry->eq_opr);
	schema = ((Form_pg_operator) GETSTRUCT(found))->oprnamespace;
	ReleaseSysCache(found);
	/* a domain's own operator there would fit a statement better */
	if (schema != PG_CATALOG_NAMESPACE && getBaseType(type) != type)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("type %s cannot be the key of a grouping",
					   format_type_be(type)),
				errdetail("It is a domain over type %s of an extension.",
						  format_type_be(getBaseType(type))),
				errhint("Cast the key to the domain's type in the query."));
	PG_RETURN_TEXT_P(
		cstring_to_text(psprintf("OPERATOR(%s.%s)",
								 quote_identifier(get_namespace_name(schema)),
								 get_opname(entry->eq_opr))));
}

typedef struct ContentRows
{
	SimdupRows *rows; /* only the keys whose contents are wanted */
	ReturnSetInfo *result;
	int content; /* the column; -1: none */
	Oid content_type;
} ContentRows;

/* Find the column content: a SimdupColumnCheck. */
static bool
find_content(void *arg, TupleDesc columns,
			 const char *argument pg_attribute_unused())
{
	ContentRows *c = arg;

	c->content = -1;
	for (int i = 1; i < columns->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(columns, i)->attname), "content") == 0)
			c->content = i;
	if (c->content >= 0)
		c->content_type = TupleDescAttr(columns, c->content)->atttypid;
	return columns->natts > 0 &&
		   getBaseType(TupleDescAttr(columns, 0)->atttypid) ==
			   getBaseType(c->rows->key_type);
}

/* Take a row: a SimdupRowSink. */
static void
take_content(void *arg, TupleTableSlot *slot)
{
	ContentRows *c = arg;
	uint32 number = SIMDUP_NO_NUMBER;
	Datum values[3];
	bool nulls[3] = {false};
	int level;

	if (c->content >= 0 && !slot->tts_isnull[0])
		number = simdup_keynumbers_find(c->rows->numbers, slot->tts_values[0]);
	if (number == SIMDUP_NO_NUMBER)
		return;
	level = simdup_exact_texts_begin();
	values[0] = CStringGetTextDatum(
		simdup_key_text(c->rows->key_type, slot->tts_values[0]));
	nulls[1] = slot->tts_isnull[c->content];
	if (!nulls[1])
		values[1] = CStringGetTextDatum(
			simdup_key_text(c->content_type, slot->tts_values[c->content]));
	values[2] = BoolGetDatum(c->content_type == VARBITOID);
	simdup_path_end(level);
	simdup_put_result(c->result, values, nulls);
}

PG_FUNCTION_INFO_V1(simdup_review_contents);
/* Return simdup_review_contents(query, keys_of, path, keys). */
Datum
simdup_review_contents(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupRows *rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS_BY_KEY, NULL);
	ContentRows c = {.rows = rows, .result = result};
	Oid input;
	Oid io_parameter;
	Datum *wanted;
	int n;
	int level;

	getTypeInputInfo(rows->key_type, &input, &io_parameter);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), TEXTOID, -1, false,
					  TYPALIGN_INT, &wanted, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		Datum key = OidInputFunctionCall(input, TextDatumGetCString(wanted[i]),
										 io_parameter, -1);
		uint32 number;

		simdup_keynumbers_get(rows->numbers, &key, 1, &number);
	}
	level = simdup_path_begin(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query", SIMDUP_KEY_AND_FP},
					 rows->parameters, find_content, take_content, &c);
	simdup_path_end(level);
	simdup_rows_end(rows);
	return (Datum) 0;
}

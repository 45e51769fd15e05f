/*
 * pairs.c
 *	  simdup_pairs, simdup_new_pairs, and the same in pieces that need not be in one
 *	  place: simdup_pieces and simdup_piece_pairs.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/join.h"
#include "core/join/pigeonhole.h"
#include "server/arguments.h"
#include "server/query.h"
#include "type/simhash64.h"

/*
 * simdup_pieces: a query's rows, packed into arrays, one set of arrays for
 * each piece that can be joined apart; and reading them again.
 *
 * A row of a table takes some 50 bytes, and to send and store it takes longer
 * than to join it. In arrays it takes 16 bytes, and thousands are one row.
 */

#define MAX_PIECES 4096
/* rows of one array: fewer where all pieces' arrays would pass work_mem */
#define MAX_PACKED 8192
#define MIN_PACKED 64
/* bytes of a row in an array that grows by doubling */
#define PACKED_ROW_BYTES 36

/* The arrays of one piece that are not yet returned: keys and fingerprints. */
typedef struct Packed
{
	MemoryContext context;		/* reset when they are */
	ArrayBuildState *arrays[2]; /* NULL: none yet */
} Packed;

typedef struct Packing
{
	SimdupRows *rows; /* keeps none */
	SimdupPieces pieces;
	ReturnSetInfo *result;
	int max_packed;
	int64 n_rows;	/* may be more than a batch takes */
	Packed *packed; /* by piece */
} Packing;

/* Cut into n pieces; ERROR if n is out of range. */
static void
check_pieces(SimdupPieces *pieces, int max_distance, int n)
{
	simdup_check_range(n, 1, MAX_PIECES, "number of pieces",
					   "The number given is %d.");
	*pieces = (SimdupPieces){(uint32) n, max_distance + 1};
}

/*
 * Packing
 */

/* Check the columns of rows: a SimdupColumnCheck. */
static bool
check_row_columns(void *arg, TupleDesc columns, const char *argument)
{
	Packing *packing = arg;

	if (columns->natts != 2 ||
		TupleDescAttr(columns, 1)->atttypid != packing->rows->fp_type)
		return false;
	simdup_keys_expect(packing->rows->keys, TupleDescAttr(columns, 0)->atttypid,
					   argument);
	return true;
}

/* Return the arrays of a piece. */
static void
put_packed(Packing *packing, uint32 piece)
{
	Packed *packed = &packing->packed[piece];
	Datum values[3] = {Int32GetDatum((int32) piece)};

	for (int i = 0; i < 2; i++)
	{
		values[i + 1] = makeArrayResult(packed->arrays[i], packed->context);
		packed->arrays[i] = NULL;
	}
	simdup_put_result(packing->result, values, NULL);
	MemoryContextReset(packed->context);
}

static void
pack(Packing *packing, uint32 piece, Datum key, Datum fp)
{
	Packed *packed = &packing->packed[piece];
	Oid types[2] = {packing->rows->key_type, packing->rows->fp_type};
	Datum values[2] = {key, fp};

	for (int i = 0; i < 2; i++)
	{
		if (packed->arrays[i] == NULL)
			packed->arrays[i] =
				initArrayResult(types[i], packed->context, false);
		(void) accumArrayResult(packed->arrays[i], values[i], false, types[i],
								packed->context);
	}
	if (packed->arrays[1]->nelems >= packing->max_packed)
		put_packed(packing, piece);
}

/* Pack a row into its pieces: a SimdupRowSink. */
static void
pack_row(void *arg, TupleTableSlot *slot)
{
	Packing *packing = arg;
	SimdupRows *rows = packing->rows;
	Datum fp = slot->tts_values[1];
	uint32 list[SIMDUP_MAX_PIECE_BLOCKS];
	Datum key;
	int n;

	simdup_progress_done(++packing->n_rows);
	if (slot->tts_isnull[1])
	{
		rows->n_null++;
		return;
	}
	key =
		simdup_keys_take(rows->keys, slot->tts_values[0], slot->tts_isnull[0]);
	n = simdup_pieces_of(&packing->pieces, DatumGetSimhash64(fp), list);
	for (int i = 0; i < n; i++)
		pack(packing, list[i], key, fp);
}

PG_FUNCTION_INFO_V1(simdup_pieces);
/* Return simdup_pieces(query [, key_type], max_distance, pieces, params). */
Datum
simdup_pieces(PG_FUNCTION_ARGS)
{
	Packing packing = {.result = simdup_begin_result(fcinfo)};
	int option = simdup_named_argument(fcinfo, "max_distance");
	int max_distance = simdup_check_max_distance(fcinfo, option);
	SimdupRows *rows;
	int64 share; /* bytes of work_mem for a piece */

	if (PG_ARGISNULL(0) || PG_ARGISNULL(option + 1))
		return (Datum) 0;
	check_pieces(&packing.pieces, max_distance, PG_GETARG_INT32(option + 1));
	packing.rows = rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS, NULL);
	share = (int64) work_mem * 1024 / packing.pieces.n;
	packing.max_packed =
		(int) Min(Max(share / PACKED_ROW_BYTES, MIN_PACKED), MAX_PACKED);
	packing.packed = palloc0(packing.pieces.n * sizeof(Packed));
	for (uint32 i = 0; i < packing.pieces.n; i++)
		packing.packed[i].context =
			AllocSetContextCreate(rows->context, "simdup piece",
								  ALLOCSET_SMALL_SIZES);
	simdup_progress_phase("reading", 0);
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query", SIMDUP_KEY_AND_FP},
					 rows->parameters, check_row_columns, pack_row, &packing);
	simdup_tell_skipped(rows->n_null, 0, packing.n_rows - rows->n_null);
	for (uint32 i = 0; i < packing.pieces.n; i++)
		if (packing.packed[i].arrays[0] != NULL)
			put_packed(&packing, i);
	simdup_rows_end(rows);
	return (Datum) 0;
}

/*
 * Reading
 */

/* Check the columns of packed rows: a SimdupColumnCheck. */
static bool
check_packed_columns(void *arg, TupleDesc columns, const char *argument)
{
	SimdupRows *rows = arg;
	Oid types[2] = {InvalidOid}; /* of keys and of fingerprints */

	for (int i = 0; i < 2 && columns->natts == 2; i++)
		types[i] = get_element_type(TupleDescAttr(columns, i)->atttypid);
	if (!OidIsValid(types[0]) || types[1] != rows->fp_type)
		return false;
	simdup_keys_expect(rows->keys, types[0], argument);
	return true;
}

/* Unpack a row: a SimdupRowSink. */
static void
unpack_row(void *arg, TupleTableSlot *slot)
{
	SimdupRows *rows = arg;
	Datum *values[2]; /* keys and fingerprints */
	bool *nulls[2];
	int n[2];

	for (int i = 0; i < 2; i++)
	{
		ArrayType *array;
		int16 len;
		bool byval;
		char align;

		if (slot->tts_isnull[i])
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("query in argument \"%s\" must not yield null arrays",
						   "query"));
		array = DatumGetArrayTypeP(slot->tts_values[i]);
		get_typlenbyvalalign(ARR_ELEMTYPE(array), &len, &byval, &align);
		deconstruct_array(array, ARR_ELEMTYPE(array), len, byval, align,
						  &values[i], &nulls[i], &n[i]);
	}
	if (n[0] != n[1])
		ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg(
					"arrays of keys and fingerprints must be of the same length"));
	for (int i = 0; i < n[0]; i++)
	{
		CHECK_FOR_INTERRUPTS();
		simdup_rows_add(rows,
						&(SimdupRow){.key = values[0][i],
									 .no_key = nulls[0][i],
									 .fp = nulls[1][i] ? 0
													   : DatumGetSimhash64(
															 values[1][i]),
									 .no_fp = nulls[1][i]});
	}
}

/*
 * simdup_pairs, simdup_new_pairs and simdup_piece_pairs: every near pair of
 * a query's rows, or those that a piece reports.
 */

typedef struct PairOutput
{
	SimdupFingerprints *fingerprints;
	ReturnSetInfo *result;
	const SimdupPieces *pieces; /* NULL: of the whole table */
	uint32 piece;
} PairOutput;

/*
 * Return one pair, if the contents resemble each other: first the row that comes
 * first in the query's order.
 */
static void
put_pair(PairOutput *output, uint32 x, uint32 y, int distance)
{
	SimdupRows *rows = output->fingerprints->rows;
	Datum values[4];
	bool nulls[4] = {false, false, false, rows->contents == NULL};

	CHECK_FOR_INTERRUPTS();
	if (rows->contents != NULL)
	{
		double resemblance =
			simdup_stored_texts_resemblance(rows->contents, x, y,
											rows->options.min_resemblance);

		if (resemblance < 0)
			return;
		values[3] = Float8GetDatum(resemblance);
	}
	values[0] = simdup_keys_get(rows->keys, Min(x, y), 0);
	values[1] = simdup_keys_get(rows->keys, Max(x, y), 1);
	values[2] = Int32GetDatum(distance);
	simdup_put_result(output->result, values, nulls);
}

/*
 * Put the pairs of two near fingerprints, or of one, but not those of old rows
 * with old rows: a SimdupFingerprintSink.
 */
static void
put_rows(void *arg, const SimdupFingerprint *a, const SimdupFingerprint *b,
		 int distance)
{
	PairOutput *output = arg;
	SimdupFingerprints *fingerprints = output->fingerprints;
	uint32 n_first = fingerprints->rows->n_first;

	/* another piece returns these pairs */
	if (output->pieces != NULL &&
		simdup_piece_of_pair(output->pieces, a->fp, b->fp) != output->piece)
		return;
	for (uint32 i = 0; i < a->n; i++)
	{
		uint32 x = simdup_row_at(fingerprints, a->start + i);

		for (uint32 j = a == b ? i + 1 : 0; j < b->n; j++)
		{
			uint32 y = simdup_row_at(fingerprints, b->start + j);

			if (x >= n_first && y >= n_first)
				break;
			put_pair(output, x, y, distance);
		}
	}
}

/* Put all pairs of the rows, and end the rows. */
static void
put_all_pairs(PairOutput *output, SimdupRows *rows)
{
	SimdupFingerprint fingerprint;
	int64 next = 0;

	output->fingerprints = simdup_rows_distinct(rows);
	simdup_progress_phase("writing equal rows", rows->n);
	while (simdup_fingerprints_next_equal(output->fingerprints, &next,
										  &fingerprint))
	{
		put_rows(output, &fingerprint, &fingerprint, 0);
		simdup_progress_done(fingerprint.start);
	}
	simdup_join_fingerprints(output->fingerprints, rows->options.max_distance,
							 put_rows, output);
	simdup_rows_end(rows);
}

/* Return the pairs of one query, or of new and old rows. */
static Datum
pairs_of(FunctionCallInfo fcinfo, int n_queries)
{
	PairOutput output = {.result = simdup_begin_result(fcinfo)};
	SimdupOptions options = simdup_options(fcinfo);
	SimdupRows *rows;

	if (simdup_has_null(fcinfo, 0, n_queries))
		return (Datum) 0;
	rows = simdup_rows_begin(fcinfo, n_queries, SIMDUP_ROWS, &options);
	simdup_rows_read(rows, fcinfo);
	put_all_pairs(&output, rows);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simdup_pairs);
/*
 * simdup_pairs(query [, key_type], max_distance, min_resemblance, w, unit,
 * params)
 */
Datum
simdup_pairs(PG_FUNCTION_ARGS)
{
	return pairs_of(fcinfo, 1);
}

PG_FUNCTION_INFO_V1(simdup_new_pairs);
/*
 * simdup_new_pairs(new_query, old_query [, key_type], max_distance,
 * min_resemblance, w, unit, params)
 */
Datum
simdup_new_pairs(PG_FUNCTION_ARGS)
{
	return pairs_of(fcinfo, 2);
}

PG_FUNCTION_INFO_V1(simdup_piece_pairs);
/* simdup_piece_pairs(query [, key_type], max_distance, piece, pieces, params) */
Datum
simdup_piece_pairs(PG_FUNCTION_ARGS)
{
	PairOutput output = {.result = simdup_begin_result(fcinfo)};
	int option = simdup_named_argument(fcinfo, "max_distance");
	SimdupOptions options = {.max_distance =
								 simdup_check_max_distance(fcinfo, option)};
	SimdupPieces pieces;
	SimdupRows *rows;

	if (PG_ARGISNULL(0) || simdup_has_null(fcinfo, option + 1, 2))
		return (Datum) 0;
	check_pieces(&pieces, options.max_distance, PG_GETARG_INT32(option + 2));
	output.pieces = &pieces;
	output.piece = (uint32) simdup_check_range(PG_GETARG_INT32(option + 1), 0,
											   (int) pieces.n - 1, "piece",
											   "The piece given is %d.");
	rows = simdup_rows_begin(fcinfo, 1, SIMDUP_ROWS, &options);
	simdup_progress_phase("reading", 0);
	simdup_run_query(&(SimdupQuery){text_to_cstring(PG_GETARG_TEXT_PP(0)),
									"query",
									"an array of keys and an array of simhash64",
									"keys, fps"},
					 rows->parameters, check_packed_columns, unpack_row, rows);
	rows->n_first = rows->n;
	simdup_tell_skipped(rows->n_null, 0, rows->n);
	put_all_pairs(&output, rows);
	return (Datum) 0;
}

/*
 * rows.c
 *	  The options of a batch; its rows, kept in memory or on disk; its distinct
 *	  fingerprints, by scope, each with its rows; and the near pairs of these.
 */
#include "postgres.h"
#include "compat.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "batch/rows.h"
#include "core/fingerprint/hamming.h"
#include "pairs/elements.h"
#include "server/arguments.h"

#define MAX_ROWS (PG_UINT32_MAX - 1)

/* Options */

static SimdupClusterMethod
method_of(FunctionCallInfo fcinfo, const char *name)
{
	/* the functions of a report */
	if (strcmp(name, "given") == 0 &&
		simdup_named_argument(fcinfo, "columns") >= 0 &&
		simdup_named_argument(fcinfo, "members") < 0)
		return SIMDUP_GIVEN;
	if (strcmp(name, "connected") == 0)
		return SIMDUP_CONNECTED;
	if (strcmp(name, "leader") == 0)
		return SIMDUP_LEADER;
	ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized clustering method: \"%s\"", name),
			errhint(
				"Methods are \"leader\" (the nearest earlier leader) and \"connected\" (connected components)."));
}

/* Return the position of an argument that must have a value; -1: no such one. */
static int
position_of(FunctionCallInfo fcinfo, const char *name)
{
	int argument = simdup_named_argument(fcinfo, name);

	if (argument >= 0)
		simdup_check_not_null(PG_ARGISNULL(argument), name);
	return argument;
}

SimdupOptions
simdup_options(FunctionCallInfo fcinfo)
{
	SimdupOptions options = {.method = SIMDUP_LEADER};
	int argument = simdup_named_argument(fcinfo, "max_distance");

	if (argument >= 0)
		options.max_distance = simdup_check_max_distance(fcinfo, argument);
	argument = position_of(fcinfo, "method");
	if (argument >= 0)
		options.method =
			method_of(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(argument)));
	argument = simdup_named_argument(fcinfo, "min_resemblance");
	if (argument >= 0 && !PG_ARGISNULL(argument))
		options.min_resemblance =
			simdup_check_fraction(PG_GETARG_FLOAT8(argument),
								  "min_resemblance");
	argument = position_of(fcinfo, "min_containment");
	if (argument >= 0)
		options.min_containment =
			simdup_check_share(PG_GETARG_FLOAT8(argument), "min_containment");
	argument = position_of(fcinfo, "w");
	if (argument >= 0)
		options.shingling =
			simdup_get_resemblance(PG_GETARG_INT32(argument),
								   PG_GETARG_TEXT_PP(
									   position_of(fcinfo, "unit")));
	return options;
}

/* Rows */

SimdupRows *
simdup_rows_feed(const SimdupFeed *feed, const SimdupOptions *options)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
							  ALLOCSET_DEFAULT_SIZES);
	SimdupRows *rows = MemoryContextAllocZero(context, sizeof(SimdupRows));

	MemoryContextSwitchTo(context);
	rows->context = context;
	rows->row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	rows->budget = feed->budget;
	rows->n_before = feed->n_before;
	rows->sort = simdup_pairsort_begin(feed->budget / 2);
	rows->key_type = feed->key_type;
	if (OidIsValid(feed->key_type))
		rows->keys =
			simdup_keys_begin(feed->key_type, feed->finds_keys
												  ? SIMDUP_KEYS_IN_MEMORY
												  : (Size) feed->budget / 4);
	if (feed->finds_keys)
	{
		rows->numbers = simdup_keyids_begin(rows->keys, feed->key_type,
											feed->key_collation);
		simdup_keyids_expect_order(rows->numbers);
	}
	if (OidIsValid(feed->scope_type))
	{
		rows->scope_keys =
			simdup_keys_begin(feed->scope_type, SIMDUP_KEYS_IN_MEMORY);
		rows->scopes = simdup_keyids_begin(rows->scope_keys, feed->scope_type,
										   feed->scope_collation);
	}
	if (options != NULL)
		rows->options = *options;
	if (rows->options.min_resemblance > 0)
		rows->contents = simdup_stored_texts_begin(rows->options.shingling,
												   feed->content_type,
												   (Size) rows->budget / 4);
	simdup_progress_begin(feed->function, feed->n_before > 0);
	simdup_progress_phase("reading", 0);
	return rows;
}

void
simdup_rows_end(SimdupRows *rows)
{
	if (rows->sort)
		simdup_pairsort_end(rows->sort);
	simdup_tempfile_close(rows->number_file);
	simdup_tempfile_close(rows->fingerprint_file);
	if (rows->contents)
		simdup_stored_texts_end(rows->contents);
	if (rows->keys)
		simdup_keys_end(rows->keys);
	MemoryContextSwitchTo(MemoryContextGetParent(rows->context));
	MemoryContextDelete(rows->context);
}

void
simdup_check_room(uint32 n)
{
	if (n == MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many rows for one batch"),
				errdetail("A batch takes at most %u rows.", MAX_ROWS));
}

/* Add the key of a row. Keys that are not looked up may go to disk. */
static void
add_key(SimdupRows *rows, const SimdupRow *row)
{
	Datum key;
	uint32 number;

	if (rows->numbers == NULL)
	{
		simdup_keys_add(rows->keys, row->key);
		return;
	}
	key = simdup_keys_take(rows->keys, row->key);
	simdup_keyids_get(rows->numbers, &key, 1, &number);
	if (number < rows->n)
		ereport(ERROR, errcode(ERRCODE_CARDINALITY_VIOLATION),
				errmsg("duplicate key in the source of a grouping"),
				errdetail("The key is (%s).",
						  simdup_key_text(rows->key_type, key)));
}

/* Return the number of a row's scope. */
static uint32
scope_of(SimdupRows *rows, const SimdupRow *row)
{
	Datum scope;
	uint32 number;

	if (rows->scopes == NULL || row->no_scope)
		return 0;
	scope = simdup_keys_take(rows->scope_keys, row->scope);
	simdup_keyids_get(rows->scopes, &scope, 1, &number);
	return number + 1;
}

uint32
simdup_rows_add(SimdupRows *rows, const SimdupRow *row)
{
	if (row->no_fp)
		rows->n_null++;
	if (row->no_fp || (rows->contents != NULL && row->no_content))
		return SIMDUP_NO_ROW;
	if (rows->contents != NULL)
		simdup_stored_texts_add(rows->contents, row->content);
	if (rows->keys)
		add_key(rows, row);
	simdup_check_room(rows->n);
	simdup_pairsort_put(rows->sort,
						(uint64) scope_of(rows, row) << 32 | row->fp >> 32,
						row->fp << 32 | rows->n);
	rows->n++;
	simdup_progress_done(rows->n_before + rows->n + rows->n_null);
	return rows->n - 1;
}

/* Distinct fingerprints */

/* Create a file of at most an item of this size for each row. */
static SimdupTempFile *
create_file(const SimdupRows *rows, Size size)
{
	/* 64 bytes a row are enough for all: 20 for both files, 44 for the join */
	return simdup_tempfile_create_cached((Size) rows->budget / 64 * size,
										 (Size) rows->n * size);
}

/* Store a fingerprint after its last row, if it has any. */
static void
end_fingerprint(SimdupRows *rows, const SimdupFingerprint *fingerprint)
{
	if (fingerprint->n == 0)
		return;
	simdup_tempfile_append(rows->fingerprint_file, fingerprint,
						   sizeof(*fingerprint));
	rows->n_distinct++;
}

/* Store the sorted rows: their numbers, and the fingerprints. */
static void
store_sorted(SimdupRows *rows)
{
	SimdupFingerprint fingerprint = {0};
	uint32 position = 0;
	uint32 n_begun = 0; /* scopes */
	SimdupSortItem sorted[512];
	uint32 numbers[lengthof(sorted)];
	Size n;

	while ((n = simdup_pairsort_get_list(rows->sort, sorted,
										 lengthof(sorted))) > 0)
	{
		for (Size i = 0; i < n; i++, position++)
		{
			uint64 scope = sorted[i].value >> 32;
			uint64 fp = sorted[i].value << 32 | sorted[i].row >> 32;

			numbers[i] = (uint32) sorted[i].row;
			if (scope >= n_begun || fp != fingerprint.fp)
			{
				end_fingerprint(rows, &fingerprint);
				fingerprint = (SimdupFingerprint){.fp = fp, .start = position};
			}
			while (n_begun <= scope)
				rows->scope_starts[n_begun++] = (uint32) rows->n_distinct;
			fingerprint.n++;
		}
		simdup_tempfile_append(rows->number_file, numbers, n * sizeof(uint32));
		simdup_progress_done(position);
	}
	end_fingerprint(rows, &fingerprint);
	while (n_begun <= rows->n_scopes)
		rows->scope_starts[n_begun++] = (uint32) rows->n_distinct;
}

void
simdup_rows_distinct(SimdupRows *rows)
{
	simdup_progress_phase("finding equal fingerprints", rows->n);
	rows->n_scopes = rows->scopes ? simdup_keyids_count(rows->scopes) + 1 : 1;
	rows->scope_starts =
		simdup_alloc(((Size) rows->n_scopes + 1) * sizeof(uint32));
	if (rows->contents != NULL)
		simdup_stored_texts_finish(rows->contents, (Size) rows->budget * 3 / 8);
	rows->number_file = create_file(rows, sizeof(uint32));
	rows->fingerprint_file = create_file(rows, sizeof(SimdupFingerprint));
	simdup_pairsort_perform(rows->sort);
	store_sorted(rows);
	simdup_pairsort_end(rows->sort);
	rows->sort = NULL;
}

SimdupFingerprint
simdup_fingerprint_at(SimdupRows *rows, int64 index)
{
	return *(const SimdupFingerprint *)
		simdup_tempfile_get(rows->fingerprint_file,
							index * (int64) sizeof(SimdupFingerprint),
							sizeof(SimdupFingerprint), &rows->buffer);
}

bool
simdup_fingerprints_next_equal(SimdupRows *rows, int64 *next,
							   SimdupFingerprint *fingerprint)
{
	/* often no two rows are equal */
	if (rows->n_distinct == rows->n)
		return false;
	while (*next < rows->n_distinct)
	{
		CHECK_FOR_INTERRUPTS();
		*fingerprint = simdup_fingerprint_at(rows, (*next)++);
		if (fingerprint->n > 1)
			return true;
	}
	return false;
}

void
simdup_fingerprints_by_row(SimdupRows *rows, uint64 *fps, uint32 *scopes)
{
	for (int64 i = 0, scope = 0; i < rows->n_distinct; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(rows, i);
		uint32 end = fingerprint.start + fingerprint.n;

		while (i >= rows->scope_starts[scope + 1])
			scope++;
		for (uint32 j = fingerprint.start; j < end; j++)
		{
			uint32 row = simdup_row_at(rows, j);

			CHECK_FOR_INTERRUPTS();
			fps[row] = fingerprint.fp;
			if (scopes != NULL)
				scopes[row] = (uint32) scope;
		}
	}
}

uint32
simdup_row_at(SimdupRows *rows, uint32 position)
{
	return *(const uint32 *) simdup_tempfile_get(rows->number_file,
												 (int64) position *
													 (int64) sizeof(uint32),
												 sizeof(uint32), &rows->buffer);
}

/* Near pairs */

typedef struct FingerprintJoin
{
	SimdupRows *rows;
	SimdupSideOf side_of; /* NULL: a join of all with all */
	SimdupRowPairSink sink;
	void *arg;
	SimdupElementJoin elements; /* an element's index is its first row */
	int64 n_done;				/* fingerprints of the scopes before */
	int64 n_scope;
} FingerprintJoin;

static void
receive_pair(void *arg, SimdupElement a, SimdupElement b)
{
	FingerprintJoin *join = arg;

	/* of a cross join, either may be of the first side */
	if ((a.index & SIMDUP_SECOND_SET) != 0)
	{
		SimdupElement swap = a;

		a = b;
		b = swap;
	}
	join->sink(join->arg, (uint32) a.index, (uint32) b.index,
			   (uint32) simdup_hamming64(a.fp, b.fp));
}

static void
show_share(void *arg, double done)
{
	const FingerprintJoin *join = arg;
	const SimdupRows *rows = join->rows;
	double part = simdup_elements_share(&join->elements, done);
	double share = ((double) join->n_done + (double) join->n_scope * part) /
				   (double) rows->n_distinct;

	simdup_progress_poll(
		(int64) (rows->shown + share * (rows->show - rows->shown)));
}

void
simdup_show_join(SimdupRows *rows, double share)
{
	if (rows->show == 0)
		simdup_progress_phase("comparing", rows->n);
	rows->shown = rows->show;
	rows->show = share * rows->n;
}

/* Join the fingerprints of one scope. */
static void
join_scope(FingerprintJoin *join, uint32 scope)
{
	SimdupRows *rows = join->rows;
	int64 from = rows->scope_starts[scope];
	int64 end = rows->scope_starts[scope + 1];

	join->n_scope = end - from;
	for (int64 i = from; i < end; i++)
	{
		SimdupFingerprint fingerprint = simdup_fingerprint_at(rows, i);
		uint32 row = simdup_row_at(rows, fingerprint.start);
		int sides = join->side_of == NULL ? SIMDUP_FIRST_SIDE
										  : join->side_of(join->arg, row);

		CHECK_FOR_INTERRUPTS();
		if ((sides & SIMDUP_FIRST_SIDE) != 0)
			simdup_elements_add(&join->elements, fingerprint.fp, row);
		if ((sides & SIMDUP_SECOND_SIDE) != 0)
			simdup_elements_add(&join->elements, fingerprint.fp,
								row | SIMDUP_SECOND_SET);
	}
	simdup_elements_join(&join->elements);
	join->n_done += join->n_scope;
}

void
simdup_join_fingerprints(SimdupRows *rows, int max_distance,
						 SimdupSideOf side_of, SimdupRowPairSink sink,
						 void *arg)
{
	FingerprintJoin join = {.rows = rows,
							.side_of = side_of,
							.sink = sink,
							.arg = arg,
							.elements = {.cross = side_of != NULL}};

	if (rows->show == 0)
		simdup_show_join(rows, 1);
	if (max_distance == 0 || rows->n_distinct < 2)
		return;
	join.elements.capacity = simdup_elements_in(rows->budget);
	join.elements.pairs = (SimdupPairJoin){.max_distance = max_distance,
										   .sink = receive_pair,
										   .progress = show_share,
										   .arg = &join,
										   .helpers = simdup_workers()};
	for (uint32 scope = 0; scope < rows->n_scopes; scope++)
		join_scope(&join, scope);
	simdup_elements_end(&join.elements);
}

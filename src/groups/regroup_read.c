/*
 * regroup_read.c
 *	  All rows of a table in the order of their age, with what is known of each.
 *
 * A hash of the members' keys finds the age and the group of a row. So three
 * scans do, without a join of whole tables. Rows that are no members yet come
 * last, by a join. So do all rows if the members take more memory than
 * maintenance_work_mem, or if their keys cannot be hashed.
 */
#include "postgres.h"
#include "compat.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "core/host.h"
#include "groups/regrouping.h"
#include "server/catalog.h"
#include "server/keynumbers.h"
#include "server/progress.h"
#include "type/simhash64.h"

/* A member whose row is there. Only this file knows of others. */
#define ROW_IS_THERE 128

/* Columns after the key, of the join. */
enum
{
	COLUMN_FP = 1,
	COLUMN_ID,
	COLUMN_LEADS,
	COLUMN_HAS_ID,
	COLUMN_SCOPE
};

/* A row whose key is to be looked up. */
typedef struct Waiting
{
	uint64 fp;
	int64 age;
	int64 id; /* 0: none */
	int64 scope;
} Waiting;

typedef struct Age
{
	int64 age;
	uint32 number;
} Age;

/* The members, numbered as they are read. */
typedef struct Members
{
	Regrouping *r;
	MemoryContext context;
	SimdupKeys *keys;
	SimdupKeyNumbers *numbers;
	uint32 n;
	uint32 capacity;
	Age *age;
	int64 *id;
	uint64 *fp;
	int64 *scope;
	uint8 *flags;
	bool leaders;	 /* are representatives read, or rows? */
	int64 n_strange; /* rows that are no members */

	MemoryContext waiting_context;
	bool byval; /* keys */
	int16 len;
	int n_waiting;
	Datum waiting_keys[SIMDUP_MANY_KEYS];
	Waiting waiting[SIMDUP_MANY_KEYS];
} Members;

static char *
key_type_name(Grouping *g)
{
	return simdup_type_name(simdup_grouping_bulk_key_type(g));
}

static void
note_row(Regrouping *r, uint64 fp, int64 old_id, uint8 flags, int64 scope)
{
	if (r->n == r->capacity)
	{
		Size n = (Size) r->capacity * 2;

		r->fp = simdup_realloc(r->fp, n * sizeof(uint64));
		r->old_id = simdup_realloc(r->old_id, n * sizeof(int64));
		r->flags = simdup_realloc(r->flags, n);
		if (r->scope != NULL)
			r->scope = simdup_realloc(r->scope, n * sizeof(int64));
		r->capacity = (uint32) Min(n, PG_UINT32_MAX);
	}
	r->fp[r->n] = fp;
	r->old_id[r->n] = old_id;
	r->flags[r->n] = flags;
	if (r->scope != NULL)
		r->scope[r->n] = scope;
	r->n++;
}

/* A SimdupRowSink. */
static void
note_joined_row(void *arg, TupleTableSlot *slot)
{
	uint8 flags = 0;
	int64 id = 0;

	if (!slot->tts_isnull[COLUMN_ID])
	{
		id = DatumGetInt64(slot->tts_values[COLUMN_ID]);
		flags = ROW_IS_MEMBER;
	}
	if (DatumGetBool(slot->tts_values[COLUMN_LEADS]))
		flags |= ROW_LEADS;
	if (DatumGetBool(slot->tts_values[COLUMN_HAS_ID]))
		flags |= ROW_HAS_ID;
	note_row(arg, DatumGetSimhash64(slot->tts_values[COLUMN_FP]), id, flags,
			 DatumGetInt64(slot->tts_values[COLUMN_SCOPE]));
}

/* All rows, or those that are no members, by a join. */
static void
join_rows(Regrouping *r, bool strange)
{
	char *query =
		simdup_grouping_text(r->g,
							 psprintf("SELECT t.{key}::%s, t.{fp}::{x}.simhash64, m.id, g.id IS NOT NULL,"
									  " (t.{group} {=} m.id) IS TRUE, %s FROM {T} t"
									  " LEFT JOIN {M} m ON m.key {keq} t.{key}"
									  " LEFT JOIN {G} g ON g.id {=} m.id AND g.representative {keq} t.{key}"
									  " AND g.simdup_fp OPERATOR({x}.=) t.{fp}"
									  " WHERE t.{fp} IS NOT NULL%s ORDER BY m.age, t.{key}",
									  key_type_name(r->g),
									  simdup_regroup_scope(r->g),
									  strange ? " AND m.key IS NULL" : ""));

	r->rows->also = note_joined_row;
	r->rows->also_arg = r;
	simdup_rows_read(r->rows, query, "target");
}

/*
 * A member takes about seventy bytes here, and fifty with an integer key in its
 * table, where longer keys take as much as here.
 */
static bool
members_fit(Grouping *g)
{
	TypeCacheEntry *type = lookup_type_cache(simdup_grouping_bulk_key_type(g),
											 TYPECACHE_HASH_PROC);
	Relation rel = relation_open(g->members, AccessShareLock);
	int64 bytes = (int64) RelationGetNumberOfBlocks(rel) * BLCKSZ;

	relation_close(rel, NoLock);
	return bytes > 0 && bytes / 2 * 3 <= (int64) maintenance_work_mem * 1024 &&
		   OidIsValid(type->hash_proc) &&
		   (!OidIsValid(g->collation) ||
			get_collation_isdeterministic(g->collation));
}

static Members *
begin_members(Regrouping *r)
{
	Oid type = simdup_grouping_bulk_key_type(r->g);
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup members",
							  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Members *m = palloc0(sizeof(Members));

	m->r = r;
	m->context = context;
	m->waiting_context = AllocSetContextCreate(context, "simdup waiting",
											   ALLOCSET_DEFAULT_SIZES);
	m->keys = simdup_keys_begin(type);
	simdup_keys_expect(m->keys, type, "target");
	get_typlenbyval(type, &m->len, &m->byval);
	m->numbers = simdup_keynumbers_begin(m->keys, type);
	m->capacity = 1024;
	m->age = simdup_alloc(m->capacity * sizeof(Age));
	m->id = simdup_alloc(m->capacity * sizeof(int64));
	MemoryContextSwitchTo(caller);
	return m;
}

/* A SimdupColumnCheck for queries of ours. */
static void
check_nothing(void *arg pg_attribute_unused(),
			  TupleDesc columns pg_attribute_unused(),
			  const char *argument pg_attribute_unused())
{
}

static void
run(Members *m, const char *text, SimdupRowSink sink)
{
	simdup_run_query(simdup_grouping_text(m->r->g, text), "target",
					 m->r->rows->parameters, check_nothing, sink, m);
}

/* A row waits, with its key, until there are enough to look up. */
static Waiting *
add_waiting(Members *m, TupleTableSlot *slot)
{
	MemoryContext caller = MemoryContextSwitchTo(m->waiting_context);
	Datum key;

	slot_getallattrs(slot);
	key = simdup_keys_take(m->keys, slot->tts_values[0], slot->tts_isnull[0]);
	m->waiting_keys[m->n_waiting] = datumCopy(key, m->byval, m->len);
	MemoryContextSwitchTo(caller);
	return &m->waiting[m->n_waiting++];
}

static void
end_waiting(Members *m)
{
	m->n_waiting = 0;
	MemoryContextReset(m->waiting_context);
	CHECK_FOR_INTERRUPTS();
}

static void
number_waiting(Members *m)
{
	uint32 numbers[SIMDUP_MANY_KEYS];

	simdup_keynumbers_get(m->numbers, m->waiting_keys, m->n_waiting, numbers);
	while (simdup_keynumbers_count(m->numbers) > m->capacity)
	{
		Size n = (Size) m->capacity * 2;

		m->age = simdup_realloc(m->age, n * sizeof(Age));
		m->id = simdup_realloc(m->id, n * sizeof(int64));
		m->capacity = (uint32) Min(n, PG_UINT32_MAX);
	}
	for (int i = 0; i < m->n_waiting; i++)
	{
		m->age[numbers[i]] = (Age){m->waiting[i].age, numbers[i]};
		m->id[numbers[i]] = m->waiting[i].id;
	}
	end_waiting(m);
}

/* A SimdupRowSink. */
static void
add_member(void *arg, TupleTableSlot *slot)
{
	Members *m = arg;
	Waiting *waiting = add_waiting(m, slot);

	waiting->age = DatumGetInt64(slot->tts_values[1]);
	waiting->id = DatumGetInt64(slot->tts_values[2]);
	if (m->n_waiting == SIMDUP_MANY_KEYS)
		number_waiting(m);
}

static void
read_members(Members *m)
{
	run(m,
		psprintf("SELECT m.key::%s, m.age, m.id FROM {M} m",
				 key_type_name(m->r->g)),
		add_member);
	number_waiting(m);
	m->n = simdup_keynumbers_count(m->numbers);
}

static void
note_there(Members *m, uint32 number, const Waiting *waiting)
{
	m->fp[number] = waiting->fp;
	m->scope[number] = waiting->scope;
	m->flags[number] |= ROW_IS_THERE | ROW_IS_MEMBER;
	if (waiting->id != 0 && m->id[number] == waiting->id)
		m->flags[number] |= ROW_HAS_ID;
}

static void
note_leader(Members *m, uint32 number, const Waiting *waiting)
{
	if ((m->flags[number] & ROW_IS_THERE) && m->id[number] == waiting->id &&
		m->fp[number] == waiting->fp)
		m->flags[number] |= ROW_LEADS;
}

static void
find_waiting(Members *m)
{
	uint32 numbers[SIMDUP_MANY_KEYS];

	simdup_keynumbers_find(m->numbers, m->waiting_keys, m->n_waiting, numbers);
	for (int i = 0; i < m->n_waiting; i++)
		if (numbers[i] != SIMDUP_NO_NUMBER)
			(m->leaders ? note_leader : note_there)(m, numbers[i],
													&m->waiting[i]);
		else if (!m->leaders)
			m->n_strange++;
	end_waiting(m);
}

/* A SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *slot)
{
	Members *m = arg;
	Waiting *waiting = add_waiting(m, slot);

	waiting->fp = DatumGetSimhash64(slot->tts_values[1]);
	waiting->id = slot->tts_isnull[2] ? 0 : DatumGetInt64(slot->tts_values[2]);
	waiting->scope = DatumGetInt64(slot->tts_values[3]);
	m->r->n_groups += m->leaders;
	if (m->n_waiting == SIMDUP_MANY_KEYS)
		find_waiting(m);
}

/* Rows, then representatives: these must be rows that are there. */
static void
find_rows(Members *m)
{
	Grouping *g = m->r->g;

	m->fp = simdup_alloc((Size) m->n * sizeof(uint64) + 1);
	m->scope = simdup_alloc((Size) m->n * sizeof(int64) + 1);
	m->flags = simdup_alloc0((Size) m->n + 1);
	run(m,
		psprintf("SELECT t.{key}::%s, t.{fp}::{x}.simhash64, t.{group}, %s"
				 " FROM {T} t WHERE t.{fp} IS NOT NULL",
				 key_type_name(g), simdup_regroup_scope(g)),
		add_row);
	find_waiting(m);
	m->leaders = true;
	m->r->n_groups = 0;
	run(m,
		psprintf("SELECT g.representative::%s, g.simdup_fp, g.id,"
				 " 0::pg_catalog.int8 FROM {G} g",
				 key_type_name(g)),
		add_row);
	find_waiting(m);
}

static int
compare_ages(const void *a, const void *b)
{
	const Age *left = a;
	const Age *right = b;

	CHECK_FOR_INTERRUPTS();
	return left->age < right->age ? -1 : left->age > right->age;
}

/* Members whose rows are there become the first rows. */
static void
put_members(Members *m)
{
	Regrouping *r = m->r;

	qsort(m->age, m->n, sizeof(Age), compare_ages);
	r->n_gone = 0;
	for (uint32 i = 0; i < m->n; i++)
	{
		uint32 number = m->age[i].number;
		uint8 flags = m->flags[number];

		CHECK_FOR_INTERRUPTS();
		if ((flags & ROW_IS_THERE) == 0)
		{
			r->n_gone++;
			continue;
		}
		note_row(r, m->fp[number], m->id[number], flags & ~ROW_IS_THERE,
				 m->scope[number]);
		simdup_rows_add(r->rows, simdup_keys_get(m->keys, number, 0), false,
						Simhash64GetDatum(m->fp[number]), false);
	}
	r->rows->n_first = r->rows->n;
}

/* True if there are rows that are no members. */
static bool
read_by_members(Regrouping *r)
{
	Members *m = begin_members(r);
	MemoryContext caller = MemoryContextSwitchTo(m->context);
	bool strange;

	simdup_progress_phase("reading", 0);
	simdup_keys_expect(r->rows->keys, simdup_grouping_bulk_key_type(r->g),
					   "target");
	read_members(m);
	find_rows(m);
	put_members(m);
	strange = m->n_strange > 0;
	MemoryContextSwitchTo(caller);
	simdup_keys_end(m->keys);
	MemoryContextDelete(m->context);
	return strange;
}

void
simdup_regroup_read(FunctionCallInfo fcinfo, Regrouping *r)
{
	Grouping *g = r->g;
	bool by_members = members_fit(g);

	r->capacity = 1024;
	r->fp = simdup_alloc(r->capacity * sizeof(uint64));
	r->old_id = simdup_alloc(r->capacity * sizeof(int64));
	r->flags = simdup_alloc(r->capacity);
	if (g->at->conditions.n_columns > 0)
		r->scope = simdup_alloc(r->capacity * sizeof(int64));
	r->n_gone = r->n_groups = -1;
	r->rows = simdup_rows_begin(fcinfo, 1);
	simdup_keys_end(r->rows->keys);
	r->rows->keys = simdup_keys_begin(simdup_grouping_bulk_key_type(g));
	/* what was committed while the lock was waited for counts too */
	PushActiveSnapshot(GetLatestSnapshot());
	if (!by_members || read_by_members(r))
		join_rows(r, by_members);
	PopActiveSnapshot();
	r->equal = simdup_rows_group(r->rows);
}

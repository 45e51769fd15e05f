/*
 * insert.c
 *	  Inserts a row's entries into a hamming index.
 *
 * A row gets an entry in each of the four rotations, one after the other, or
 * one in the tree of NULLs if it has no fingerprint. So a scan may meet the row in a later rotation and
 * not in an earlier one. It still misses no row that it must see. All four
 * entries are in before the row's transaction commits, so before any MVCC
 * snapshot sees the row. An exclusion check searches only after its own row's
 * four entries are in. So the later of two sessions sees the earlier one's row.
 */
#include "postgres.h"
#include "compat.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/hamming/am.h"
#include "index/hamming/fingerprint.h"

/* One change of a page in a generic WAL record: where, how long, then what. */
typedef struct DeltaWriter
{
	char data[64];
	int length;
} DeltaWriter;

static void
add_delta(DeltaWriter *writer, Page page, const void *changed, Size length)
{
	OffsetNumber offset = (OffsetNumber) ((const char *) changed - page);
	OffsetNumber n = (OffsetNumber) length;

	memcpy(writer->data + writer->length, &offset, sizeof(offset));
	writer->length += sizeof(offset);
	memcpy(writer->data + writer->length, &n, sizeof(n));
	writer->length += sizeof(n);
	memcpy(writer->data + writer->length, changed, length);
	writer->length += (int) length;
}

/*
 * Log what append_entry changed. The record is what GenericXLogFinish would
 * write, in the format that the server's generic_redo reads: fragments of
 * offset, length and bytes. GenericXLogFinish copies the page and compares all
 * of both: with it, the server takes 1.8 times the processor time for an INSERT
 * of one row. A server whose generic_redo reads another format would break this.
 * Replay under wal_consistency_checking shows it (hamming_crash.pl).
 */
static void
log_append(Buffer buffer, int n)
{
	Page page = BufferGetPage(buffer);
	uint16 *n_sorted = &hamming_head(page)->n_sorted;
	DeltaWriter writer = {.length = 0};
	XLogRecPtr lsn;

	add_delta(&writer, page, &((PageHeader) page)->pd_lower,
			  2 * sizeof(LocationIndex)); /* and pd_upper */
	add_delta(&writer, page, &hamming_values(page)[n], sizeof(uint64));
	add_delta(&writer, page, hamming_tid(page, n), sizeof(ItemPointerData));
	if (*n_sorted > n)
		add_delta(&writer, page, n_sorted, sizeof(*n_sorted));

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, writer.data, writer.length);
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, lsn);
}

/*
 * The leaf, locked exclusively, has room. An entry above all others of a leaf
 * without a tail is sorted: rows of one fingerprint, or of NULL, arrive so.
 */
static void
append_entry(Relation index, Buffer buffer, const SimdupEntry *entry)
{
	Page page = BufferGetPage(buffer);
	int n = hamming_count(page);
	bool is_sorted = hamming_head(page)->n_sorted == n;

	if (is_sorted && n > 0)
	{
		SimdupEntry last = hamming_leaf_entry(page, n - 1);

		is_sorted = simdup_entry_less(&last, entry);
	}
	START_CRIT_SECTION();
	hamming_values(page)[n] = entry->value;
	hamming_tid_of_row(entry->row, hamming_tid(page, n));
	simdup_hamming_set_count(page, n + 1);
	if (is_sorted)
		hamming_head(page)->n_sorted++;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_append(buffer, n);
	END_CRIT_SECTION();
}

/* Sort a leaf's tail in. */
static void
sort_leaf(Relation index, Buffer buffer)
{
	SimdupEntry entries[HAMMING_LEAF_CAPACITY];
	int n = simdup_hamming_sorted_entries(BufferGetPage(buffer), entries);
	GenericXLogState *state = GenericXLogStart(index);

	simdup_hamming_fill_leaf(GenericXLogRegisterBuffer(state, buffer,
													   GENERIC_XLOG_FULL_IMAGE),
							 entries, n);
	GenericXLogFinish(state);
}

void
simdup_hamming_insert_entry(Relation index, int tree, const SimdupEntry *entry)
{
	for (;;)
	{
		Buffer buffer = simdup_hamming_descend_to_write(index, tree, entry, 0);
		Page page = BufferGetPage(buffer);
		int n = hamming_count(page);

		if (n < HAMMING_LEAF_CAPACITY)
		{
			if (n - hamming_head(page)->n_sorted >= HAMMING_MAX_TAIL)
				sort_leaf(index, buffer);
			append_entry(index, buffer, entry);
			UnlockReleaseBuffer(buffer);
			return;
		}
		simdup_hamming_split_leaf(index, buffer, entry);
	}
}

bool
simdup_hamming_insert(Relation index, Datum *values, bool *isnull,
					  ItemPointer tid, Relation heap pg_attribute_unused(),
					  IndexUniqueCheck check_unique pg_attribute_unused(),
					  bool index_unchanged pg_attribute_unused(),
					  IndexInfo *info pg_attribute_unused())
{
	SimdupEntry entry = {0, hamming_row_of_tid(tid)};
	uint64 fp;

	if (!simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
	{
		simdup_hamming_insert_entry(index, HAMMING_NULL_TREE, &entry);
		return false;
	}
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
	{
		entry.value = simdup_rotate(fp, i);
		simdup_hamming_insert_entry(index, i, &entry);
	}
	return false;
}

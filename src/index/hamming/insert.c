/*
 * insert.c
 *	  Inserts a row's entries into a hamming index: one in each rotation, one after
 *	  the other, or one in the tree of NULLs. README says why no scan misses it.
 */
#include "postgres.h"
#include "compat.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"

#include "index/hamming/am.h"
#include "index/hamming/page.h"

/*
 * Splits: README has the two records of a split. A writer that finds a marked page
 * adds the link first. So a page that is about to be split has a link itself, and
 * the link to its right half belongs right behind that. A split that fails leaves
 * its new page empty and unused until REINDEX.
 */

static void insert_link(Relation index, Buffer buffer);

/*
 * Make `left` end where `right` begins, and mark it. Both are images; the low
 * key of the right half becomes the high key of the left one.
 */
static void
chain_halves(Page left, Page right, BlockNumber right_block,
			 const SimdupSortItem *low)
{
	HammingHead *left_head = hamming_head(left);
	HammingHead *right_head = hamming_head(right);

	right_head->right = left_head->right;
	right_head->high_value = left_head->high_value;
	right_head->high_tid = left_head->high_tid;
	simdup_hamming_set_right(left, right_block, low);
	left_head->flags |= HAMMING_INCOMPLETE_SPLIT;
}

/* Take the mark from a page: its parent gets the link in the same record. */
static void
clear_mark(GenericXLogState *state, Buffer buffer)
{
	hamming_head(GenericXLogRegisterBuffer(state, buffer, 0))->flags &=
		~HAMMING_INCOMPLETE_SPLIT;
}

/*
 * Split a full leaf to make room for the entry. Release the buffer. Rows of one
 * fingerprint, or of NULL, arrive in order, and each new entry is above all others
 * of the last leaf. Such a leaf is left nearly full.
 */
static void
split_leaf(Relation index, Buffer buffer, const SimdupSortItem *entry)
{
	SimdupSortItem entries[HAMMING_LEAF_CAPACITY];
	Page page = BufferGetPage(buffer);
	int tree = hamming_head(page)->tree;
	int n = simdup_hamming_sorted_entries(page, entries);
	bool is_nearly_full =
		hamming_is_last(page) && simdup_item_less(&entries[n - 1], entry);
	int n_left = is_nearly_full ? n * HAMMING_DEFAULT_FILLFACTOR / 100 : n / 2;
	Buffer right_buffer = simdup_hamming_extend(index, MAIN_FORKNUM);
	GenericXLogState *state = GenericXLogStart(index);
	Page left;
	Page right;

	left = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	right =
		GenericXLogRegisterBuffer(state, right_buffer, GENERIC_XLOG_FULL_IMAGE);
	simdup_hamming_init_page(right, tree, 0);
	simdup_hamming_fill_leaf(right, entries + n_left, n - n_left);
	simdup_hamming_fill_leaf(left, entries, n_left);
	chain_halves(left, right, BufferGetBlockNumber(right_buffer),
				 &entries[n_left]);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(right_buffer);
	insert_link(index, buffer);
}

/*
 * Descend, and mend splits on the way. A writer that finds a marked page adds
 * the missing link. Otherwise it could go on to the right half, which has no
 * link, and split that.
 */
static Buffer
descend_to_write(Relation index, int tree, const SimdupSortItem *key, int level)
{
	for (;;)
	{
		Buffer buffer = simdup_hamming_descend(index, tree, key, level,
											   BUFFER_LOCK_EXCLUSIVE);

		if (!hamming_is_marked(BufferGetPage(buffer)))
			return buffer;
		insert_link(index, buffer);
	}
}

/* Make a new root above the halves of the old one. */
static void
make_root(Relation index, Buffer buffer)
{
	Page page = BufferGetPage(buffer);
	HammingHead *head = hamming_head(page);
	int tree = head->tree;
	SimdupSortItem lowest = {0, 0};
	SimdupSortItem high = hamming_high_key(page);
	Buffer meta_buffer = simdup_hamming_read(index, HAMMING_META_BLOCK);
	Buffer root_buffer = simdup_hamming_extend(index, MAIN_FORKNUM);
	GenericXLogState *state;
	Page root;
	HammingMeta *meta;

	LockBuffer(meta_buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	meta = (HammingMeta *) PageGetContents(
		GenericXLogRegisterBuffer(state, meta_buffer, 0));
	if (meta->root[tree] != BufferGetBlockNumber(buffer))
		simdup_hamming_corrupted(index, BufferGetBlockNumber(buffer),
								 "The page has no parent and is not the root.");
	root =
		GenericXLogRegisterBuffer(state, root_buffer, GENERIC_XLOG_FULL_IMAGE);
	simdup_hamming_init_page(root, tree, head->level + 1);
	simdup_hamming_set_count(root, 2);
	simdup_hamming_set_child(root, 0, &lowest, BufferGetBlockNumber(buffer));
	simdup_hamming_set_child(root, 1, &high, head->right);
	meta->root[tree] = BufferGetBlockNumber(root_buffer);
	meta->level[tree] = head->level + 1;
	clear_mark(state, buffer);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(root_buffer);
	UnlockReleaseBuffer(meta_buffer);
	UnlockReleaseBuffer(buffer);
}

/* Put a link at position i of an inner page's image that has room. */
static void
add_link(Page page, int i, const SimdupSortItem *low, BlockNumber child)
{
	int n = hamming_count(page);
	uint64 *values = hamming_values(page);

	simdup_hamming_set_count(page, n + 1);
	memmove(values + i + 1, values + i, (n - i) * sizeof(*values));
	/* links grow downwards: link n is the lowest in memory */
	memmove(hamming_link(page, n), hamming_link(page, n - 1),
			(n - i) * sizeof(HammingLink));
	simdup_hamming_set_child(page, i, low, child);
}

/*
 * Part a full inner page. `right` is the image of a new page. Return the half
 * that has position *i, and set *i to the position there.
 */
static Page
split_inner(Page page, Page right, BlockNumber right_block, int *i)
{
	int n = hamming_count(page);
	int n_left = n / 2;
	SimdupSortItem border = hamming_low_key(page, n_left);

	simdup_hamming_init_page(right, hamming_head(page)->tree,
							 hamming_head(page)->level);
	simdup_hamming_set_count(right, n - n_left);
	for (int j = n_left; j < n; j++)
	{
		SimdupSortItem key = hamming_low_key(page, j);

		simdup_hamming_set_child(right, j - n_left, &key,
								 hamming_child(page, j));
	}
	simdup_hamming_set_count(page, n_left);
	chain_halves(page, right, right_block, &border);
	if (*i <= n_left)
		return page;
	*i -= n_left;
	return right;
}

/*
 * Insert the link to the right half of a marked page, locked exclusively,
 * into its parent. Releases the page. A parent that is split for it needs a
 * link, too.
 */
static void
insert_link(Relation index, Buffer buffer)
{
	HammingHead *head = hamming_head(BufferGetPage(buffer));
	SimdupSortItem low = hamming_high_key(BufferGetPage(buffer));
	HammingMeta roots = simdup_hamming_roots(index, true);
	Buffer right_buffer = InvalidBuffer;
	Buffer parent_buffer;
	GenericXLogState *state;
	Page parent;
	int position;

	if (roots.level[head->tree] == head->level)
	{
		make_root(index, buffer);
		return;
	}
	parent_buffer = descend_to_write(index, head->tree, &low, head->level + 1);
	parent = BufferGetPage(parent_buffer);
	position = simdup_hamming_find_child(parent, 0, &low) + 1;
	if (hamming_child(parent, position - 1) != BufferGetBlockNumber(buffer))
		simdup_hamming_corrupted(index, BufferGetBlockNumber(buffer),
								 "The parent has no link to the page.");
	if (hamming_count(parent) >= HAMMING_INNER_CAPACITY)
		right_buffer = simdup_hamming_extend(index, MAIN_FORKNUM);
	state = GenericXLogStart(index);
	parent = GenericXLogRegisterBuffer(state, parent_buffer, 0);
	if (BufferIsValid(right_buffer))
		parent = split_inner(parent,
							 GenericXLogRegisterBuffer(state, right_buffer,
													   GENERIC_XLOG_FULL_IMAGE),
							 BufferGetBlockNumber(right_buffer), &position);
	add_link(parent, position, &low, head->right);
	clear_mark(state, buffer);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	if (BufferIsValid(right_buffer))
	{
		UnlockReleaseBuffer(right_buffer);
		insert_link(index, parent_buffer);
	}
	else
		UnlockReleaseBuffer(parent_buffer);
}

/* Insertion */

/* Add an entry to a leaf's image that has room. */
static void
add_entry(Page page, const SimdupSortItem *entry, bool is_sorted)
{
	int n = hamming_count(page);

	hamming_values(page)[n] = entry->value;
	hamming_tid_of_row(entry->row, hamming_tid(page, n));
	simdup_hamming_set_count(page, n + 1);
	if (is_sorted)
		hamming_head(page)->n_sorted++;
}

/* One change of a page in a generic WAL record: where, how long, then what. */
typedef struct DeltaWriter
{
	char data[64];
	int length;
} DeltaWriter;

static void
add_delta(DeltaWriter *writer, Page page, const void *changed, Size length)
{
	OffsetNumber where[] = {(OffsetNumber) ((const char *) changed - page),
							(OffsetNumber) length};

	memcpy(writer->data + writer->length, where, sizeof(where));
	memcpy(writer->data + writer->length + sizeof(where), changed, length);
	writer->length += (int) (sizeof(where) + length);
}

/*
 * Log what add_entry changed. The record is what GenericXLogFinish would write,
 * in the format that the server's generic_redo reads: fragments of offset, length
 * and bytes. GenericXLogFinish copies the page and compares all of both: with it,
 * the server takes 1.8 times the processor time for an INSERT of one row. Replay
 * under wal_consistency_checking verifies the format (hamming_crash.pl).
 */
static void
log_entry(Buffer buffer, bool is_sorted)
{
	Page page = BufferGetPage(buffer);
	int n = hamming_count(page) - 1;
	DeltaWriter writer = {.length = 0};
	XLogRecPtr lsn;

	add_delta(&writer, page, &((PageHeader) page)->pd_lower,
			  2 * sizeof(LocationIndex)); /* and pd_upper */
	add_delta(&writer, page, &hamming_values(page)[n], sizeof(uint64));
	add_delta(&writer, page, hamming_tid(page, n), sizeof(ItemPointerData));
	if (is_sorted)
		add_delta(&writer, page, &hamming_head(page)->n_sorted, sizeof(uint16));

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, writer.data, writer.length);
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, lsn);
}

/*
 * Append an entry to a leaf that is locked exclusively and has room. An entry
 * above all others of a leaf without a tail is sorted: rows of one fingerprint,
 * or of NULL, arrive so.
 */
static void
append_entry(Relation index, Buffer buffer, const SimdupSortItem *entry)
{
	Page page = BufferGetPage(buffer);
	int n = hamming_count(page);
	bool is_sorted = hamming_head(page)->n_sorted == n;

	if (is_sorted && n > 0)
	{
		SimdupSortItem last = hamming_leaf_entry(page, n - 1);

		is_sorted = simdup_item_less(&last, entry);
	}
	START_CRIT_SECTION();
	add_entry(page, entry, is_sorted);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_entry(buffer, is_sorted);
	END_CRIT_SECTION();
}

static void
sort_leaf(Relation index, Buffer buffer)
{
	SimdupSortItem entries[HAMMING_LEAF_CAPACITY];
	int n = simdup_hamming_sorted_entries(BufferGetPage(buffer), entries);
	GenericXLogState *state = GenericXLogStart(index);

	simdup_hamming_fill_leaf(GenericXLogRegisterBuffer(state, buffer,
													   GENERIC_XLOG_FULL_IMAGE),
							 entries, n);
	GenericXLogFinish(state);
}

static void
insert_entry(Relation index, int tree, const SimdupSortItem *entry)
{
	for (;;)
	{
		Buffer buffer = descend_to_write(index, tree, entry, 0);
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
		split_leaf(index, buffer, entry);
	}
}

bool
simdup_hamming_insert(Relation index, Datum *values, bool *isnull,
					  ItemPointer tid, Relation heap pg_attribute_unused(),
					  IndexUniqueCheck check_unique pg_attribute_unused(),
					  bool index_unchanged pg_attribute_unused(),
					  IndexInfo *info pg_attribute_unused())
{
	SimdupSortItem entry = {0, hamming_row_of_tid(tid)};
	uint64 fp;

	if (!simdup_hamming_fingerprint(index, values[0], isnull[0], &fp))
	{
		insert_entry(index, HAMMING_NULL_TREE, &entry);
		return false;
	}
	for (int i = 0; i < SIMDUP_ROTATIONS; i++)
	{
		entry.value = simdup_rotate(fp, i);
		insert_entry(index, i, &entry);
	}
	return false;
}

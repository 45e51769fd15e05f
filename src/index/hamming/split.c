/*
 * split.c
 *	  Splits a full page of a hamming index into two.
 *
 * One WAL record writes both halves and marks the left one: its parent has no
 * link to the right half yet. The next record adds the link and removes the
 * mark. The left half stays locked until then, so only a crash or an error
 * leaves a mark behind. Searches need no link: the left half's high key and
 * right link lead them on. A writer that finds a marked page adds the link
 * first. So a page that is about to be split has a link itself, and the link to
 * its right half belongs right behind that.
 *
 * Locks go from a page to its parent to the metapage. A split that fails leaves
 * its new page empty and unused until REINDEX.
 */
#include "postgres.h"
#include "compat.h"

#include "access/generic_xlog.h"
#include "storage/bufmgr.h"

#include "index/hamming/am.h"

static void insert_link(Relation index, Buffer buffer);

/*
 * How many of the sorted entries stay left. Rows of one fingerprint, or of NULL,
 * arrive in order, and each new entry is above all others of the last leaf. Such
 * a leaf is left nearly full.
 */
static int
left_part(const SimdupEntry *entries, int n, const SimdupEntry *added,
		  bool is_last)
{
	if (is_last && simdup_entry_less(&entries[n - 1], added))
		return n * HAMMING_DEFAULT_FILLFACTOR / 100;
	return n / 2;
}

/*
 * Make `left` end where `right` begins, and mark it. Both are images; the low
 * key of the right half becomes the high key of the left one.
 */
static void
chain_halves(Page left, Page right, BlockNumber right_block,
			 const SimdupEntry *low)
{
	HammingHead *left_head = hamming_head(left);
	HammingHead *right_head = hamming_head(right);

	right_head->right = left_head->right;
	right_head->high_value = left_head->high_value;
	right_head->high_tid = left_head->high_tid;
	simdup_hamming_set_right(left, right_block, low);
	left_head->flags |= HAMMING_INCOMPLETE_SPLIT;
}

void
simdup_hamming_split_leaf(Relation index, Buffer buffer,
						  const SimdupEntry *entry)
{
	SimdupEntry entries[HAMMING_LEAF_CAPACITY];
	Page page = BufferGetPage(buffer);
	int tree = hamming_head(page)->tree;
	int n = simdup_hamming_sorted_entries(page, entries);
	int n_left = left_part(entries, n, entry, hamming_is_last(page));
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
 * A writer that finds a marked page adds the missing link. Otherwise it could
 * go on to the right half, which has no link, and split that.
 */
Buffer
simdup_hamming_descend_to_write(Relation index, int tree,
								const SimdupEntry *key, int level)
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

/* The root has been split: a new one above its halves. */
static void
make_root(Relation index, Buffer buffer)
{
	Page page = BufferGetPage(buffer);
	HammingHead *head = hamming_head(page);
	int tree = head->tree;
	SimdupEntry lowest = {0, 0};
	SimdupEntry high = hamming_high_key(page);
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
	hamming_head(GenericXLogRegisterBuffer(state, buffer, 0))->flags &=
		~HAMMING_INCOMPLETE_SPLIT;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(root_buffer);
	UnlockReleaseBuffer(meta_buffer);
	UnlockReleaseBuffer(buffer);
}

/* Put a link at position i of an inner page's image that has room. */
static void
add_link(Page page, int i, const SimdupEntry *low, BlockNumber child)
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
 * The parent is full: part it, and take the link into one of the halves. The
 * parent's parent follows.
 */
static void
split_parent(Relation index, Buffer parent_buffer, Buffer buffer, int position)
{
	Page old = BufferGetPage(parent_buffer);
	Page page = BufferGetPage(buffer);
	int n = hamming_count(old);
	int n_left = n / 2;
	SimdupEntry low = hamming_high_key(page);
	BlockNumber child = hamming_head(page)->right;
	SimdupEntry border = hamming_low_key(old, n_left);
	Buffer right_buffer = simdup_hamming_extend(index, MAIN_FORKNUM);
	GenericXLogState *state = GenericXLogStart(index);
	Page left = GenericXLogRegisterBuffer(state, parent_buffer, 0);
	Page right =
		GenericXLogRegisterBuffer(state, right_buffer, GENERIC_XLOG_FULL_IMAGE);

	simdup_hamming_init_page(right, hamming_head(old)->tree,
							 hamming_head(old)->level);
	simdup_hamming_set_count(right, n - n_left);
	for (int i = n_left; i < n; i++)
	{
		SimdupEntry key = hamming_low_key(old, i);

		simdup_hamming_set_child(right, i - n_left, &key,
								 hamming_child(old, i));
	}
	simdup_hamming_set_count(left, n_left);
	chain_halves(left, right, BufferGetBlockNumber(right_buffer), &border);
	if (position <= n_left)
		add_link(left, position, &low, child);
	else
		add_link(right, position - n_left, &low, child);
	hamming_head(GenericXLogRegisterBuffer(state, buffer, 0))->flags &=
		~HAMMING_INCOMPLETE_SPLIT;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(right_buffer);
	UnlockReleaseBuffer(buffer);
	insert_link(index, parent_buffer);
}

/*
 * Insert the link to the right half of a marked page, locked exclusively,
 * into its parent. Releases the page.
 */
static void
insert_link(Relation index, Buffer buffer)
{
	Page page = BufferGetPage(buffer);
	HammingHead *head = hamming_head(page);
	SimdupEntry low = hamming_high_key(page);
	HammingRoots roots = simdup_hamming_roots(index, true);
	Buffer parent_buffer;
	Page parent;
	int position;

	if (roots.level[head->tree] == head->level)
	{
		make_root(index, buffer);
		return;
	}
	parent_buffer = simdup_hamming_descend_to_write(index, head->tree, &low,
													head->level + 1);
	parent = BufferGetPage(parent_buffer);
	position = simdup_hamming_find_child(parent, &low) + 1;
	if (hamming_child(parent, position - 1) != BufferGetBlockNumber(buffer))
		simdup_hamming_corrupted(index, BufferGetBlockNumber(buffer),
								 "The parent has no link to the page.");
	if (hamming_count(parent) >= HAMMING_INNER_CAPACITY)
		split_parent(index, parent_buffer, buffer, position);
	else
	{
		GenericXLogState *state = GenericXLogStart(index);

		add_link(GenericXLogRegisterBuffer(state, parent_buffer, 0), position,
				 &low, head->right);
		hamming_head(GenericXLogRegisterBuffer(state, buffer, 0))->flags &=
			~HAMMING_INCOMPLETE_SPLIT;
		GenericXLogFinish(state);
		UnlockReleaseBuffer(parent_buffer);
		UnlockReleaseBuffer(buffer);
	}
}

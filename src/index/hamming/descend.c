/*
 * descend.c
 *	  From the root of a tree of a hamming index down to a key.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "index/hamming/am.h"

int
simdup_hamming_find_child(Page page, const SimdupEntry *key)
{
	int low = 0;
	int high = hamming_count(page);

	/* low key of child `low` <= key < low key of child `high` */
	while (high - low > 1)
	{
		int middle = (low + high) / 2;
		SimdupEntry middle_key = hamming_low_key(page, middle);

		if (simdup_entry_less(key, &middle_key))
			high = middle;
		else
			low = middle;
	}
	return low;
}

/*
 * A root that was split since it was cached has a right sibling. Ask for the
 * new one then; if there is none yet, right links serve.
 */
Buffer
simdup_hamming_lock_root(Relation index, int tree, int level, int mode,
						 int *root_level)
{
	for (bool fresh = false;; fresh = true)
	{
		HammingRoots roots = simdup_hamming_roots(index, fresh);
		Buffer buffer;

		*root_level = (int) roots.level[tree];
		if (*root_level < level)
		{
			if (fresh)
				simdup_hamming_corrupted(index, roots.root[tree],
										 "The tree is not high enough.");
			continue;
		}
		buffer = simdup_hamming_read_again(index, roots.root[tree]);
		LockBuffer(buffer, *root_level == level ? mode : BUFFER_LOCK_SHARE);
		simdup_hamming_check_page(index, buffer, tree, *root_level);
		if (fresh || hamming_is_last(BufferGetPage(buffer)))
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
}

/*
 * From a locked page to the one on its level that holds the key, or to a
 * marked one before it if the lock is exclusive.
 */
static Buffer
move_right(Relation index, Buffer buffer, int tree, int level,
		   const SimdupEntry *key, int mode)
{
	for (;;)
	{
		Page page = BufferGetPage(buffer);

		if (hamming_below_high_key(page, key) ||
			(mode == BUFFER_LOCK_EXCLUSIVE && hamming_is_marked(page)))
			return buffer;
		buffer = simdup_hamming_step_right(index, buffer, mode, tree, level);
	}
}

Buffer
simdup_hamming_descend(Relation index, int tree, const SimdupEntry *key,
					   int level, int mode)
{
	int at;
	Buffer buffer;

	CHECK_FOR_INTERRUPTS();
	buffer = simdup_hamming_lock_root(index, tree, level, mode, &at);
	for (;;)
	{
		Page page;
		BlockNumber child;

		buffer = move_right(index, buffer, tree, at, key,
							at == level ? mode : BUFFER_LOCK_SHARE);
		if (at == level)
			return buffer;
		page = BufferGetPage(buffer);
		child = hamming_child(page, simdup_hamming_find_child(page, key));
		UnlockReleaseBuffer(buffer);
		at--;
		buffer = simdup_hamming_read_again(index, child);
		LockBuffer(buffer, at == level ? mode : BUFFER_LOCK_SHARE);
		simdup_hamming_check_page(index, buffer, tree, at);
	}
}

/*
 * groups.c
 *	  The rows of a batch, grouped by equal fingerprint, in memory or on disk.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"

#include "batch/groups.h"
#include "core/host.h"
#include "server/session.h"

static void
append_group(SimdupGroups *groups, const SimdupGroup *group)
{
	if (group->n == 0)
		return;
	simdup_tempfile_append(groups->group_file, group, sizeof(*group));
	groups->n++;
}

/* Write the sorted rows to two files: row numbers, and groups. */
static void
group_on_disk(SimdupGroups *groups)
{
	SimdupRows *rows = groups->rows;
	SimdupGroup group;
	uint32 position = 0;
	uint64 fp;
	uint64 word;

	memset(&group, 0, sizeof(group));
	groups->number_file = simdup_tempfile_create();
	groups->group_file = simdup_tempfile_create();
	simdup_pairsort_perform(rows->sort);
	while (simdup_pairsort_get(rows->sort, &fp, &word))
	{
		uint32 number = (uint32) word;

		simdup_tempfile_append(groups->number_file, &number, sizeof(number));
		if (fp != group.fp || group.n == 0)
		{
			append_group(groups, &group);
			group.fp = fp;
			group.start = position;
			group.n = group.n_first = 0;
		}
		group.n++;
		group.n_first += number < rows->n_first;
		simdup_progress_done(++position);
	}
	append_group(groups, &group);
	simdup_pairsort_end(rows->sort);
	rows->sort = NULL;
}

/* Load the groups if they fit in memory, because many rows are equal. */
static void
load_groups(SimdupGroups *groups)
{
	SimdupRowGroups *in_memory = &groups->in_memory;
	Size n = (Size) groups->n;

	if (groups->n * SIMDUP_GROUP_BYTES > groups->rows->budget)
		return;
	in_memory->n = (uint32) n;
	in_memory->fps = simdup_alloc((n + 1) * sizeof(uint64));
	in_memory->starts = simdup_alloc((n + 1) * sizeof(uint32));
	for (Size i = 0; i < n; i++)
	{
		SimdupGroup group;

		simdup_tempfile_read(groups->group_file, (int64) (i * sizeof(group)),
							 &group, sizeof(group));
		in_memory->fps[i] = group.fp;
		in_memory->starts[i] = group.start;
	}
	in_memory->starts[n] = groups->rows->n;
	simdup_tempfile_close(groups->group_file);
	groups->group_file = NULL;
}

SimdupGroups *
simdup_rows_group(SimdupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	SimdupGroups *groups = palloc0(sizeof(SimdupGroups));

	simdup_tell_skipped(rows->n_null, rows->n_no_content, rows->n);
	simdup_progress_phase("grouping", rows->n);
	groups->rows = rows;
	if (rows->sort)
	{
		group_on_disk(groups);
		load_groups(groups);
	}
	else
	{
		groups->in_memory = simdup_group_rows(rows->fps, rows->n);
		groups->n = groups->in_memory.n;
		rows->fps = NULL;
	}
	MemoryContextSwitchTo(old);
	return groups;
}

void
simdup_groups_end(SimdupGroups *groups)
{
	simdup_tempfile_close(groups->number_file);
	simdup_tempfile_close(groups->group_file);
	simdup_rows_end(groups->rows);
}

/* How many of a group's rows came with the first query: their numbers ascend. */
static uint32
count_first(SimdupGroups *groups, uint32 start, uint32 n)
{
	uint32 n_first = groups->rows->n_first;
	uint32 low = 0;
	uint32 high = n;

	if (n_first == groups->rows->n)
		return n;
	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (simdup_groups_row(groups, start + middle) < n_first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

SimdupGroup
simdup_groups_get(SimdupGroups *groups, int64 index)
{
	const SimdupRowGroups *in_memory = &groups->in_memory;
	SimdupGroup group;

	if (groups->group_file)
	{
		simdup_tempfile_read(groups->group_file, index * (int64) sizeof(group),
							 &group, sizeof(group));
		return group;
	}
	group.fp = in_memory->fps[index];
	group.start = in_memory->starts[index];
	group.n = in_memory->starts[index + 1] - group.start;
	group.n_first = count_first(groups, group.start, group.n);
	return group;
}

uint32
simdup_groups_row(SimdupGroups *groups, uint32 position)
{
	uint32 number;

	if (groups->in_memory.numbers)
		return groups->in_memory.numbers[position];
	simdup_tempfile_read(groups->number_file,
						 (int64) position * (int64) sizeof(number), &number,
						 sizeof(number));
	return number;
}

/*
 * diff.c
 *	  The shortest edit script of two texts, by the greedy algorithm of Myers
 *	  (1986), within bounds of time and memory.
 *
 * The algorithm looks for the path through a grid of n by m units with the
 * fewest edits. Diagonal k holds the points (x, x - k). Step d finds for each
 * diagonal the farthest point that d edits reach. All steps are kept, to find
 * the way back: d squared integers in all. Near-duplicates need few edits.
 */
#include "core/compare/passages.h"

/* Edits after which the rest of both texts counts as different: 2 MB. */
#define MAX_EDITS 1000
/* Comparisons of units in one diff; repetitive texts would need far more. */
#define MAX_COMPARISONS (INT64_C(1) << 24)
/* A few blanks and marks between two changes are part of one change. */
#define MAX_GAP 3

typedef struct Unit
{
	uint32_t start;
	uint32_t hash; /* its lowest bit tells that the unit is a word */
} Unit;

/* A text in units. */
typedef struct DiffUnits
{
	const char *text;
	Unit *units;  /* n + 1 */
	bool *edited; /* units that the other text does not have */
	int64_t n;
} DiffUnits;

/* The end of the unit at p, and whether it is a word. */
static const unsigned char *
unit_end(const unsigned char *p, const unsigned char *end, bool *word)
{
	int len;
	uint8_t kind =
		simdup_char_property(simdup_utf8_decode(p, end, &len)).char_class;

	*word = kind != SIMDUP_CHAR_SEPARATOR;
	p += len;
	if (kind != SIMDUP_CHAR_SEGMENTED)
		return p;
	while (p < end &&
		   simdup_char_property(simdup_utf8_decode(p, end, &len)).char_class ==
			   SIMDUP_CHAR_SEGMENTED)
		p += len;
	return p;
}

static DiffUnits
cut_text(const char *text, size_t len)
{
	const unsigned char *start = (const unsigned char *) text;
	const unsigned char *end = start + len;
	DiffUnits cut = {.text = text};
	size_t size = 0;

	for (const unsigned char *p = start; p < end;)
	{
		bool word;
		const unsigned char *next = unit_end(p, end, &word);
		uint64_t hash = simdup_city64((const char *) p, (size_t) (next - p));

		cut.units =
			simdup_grow(cut.units, &size, (size_t) cut.n + 1, sizeof(Unit));
		simdup_check_interrupts_at((size_t) cut.n);
		cut.units[cut.n++] =
			(Unit){(uint32_t) (p - start),
				   (uint32_t) (hash >> 32 & ~UINT64_C(1)) | word};
		p = next;
	}
	cut.units = simdup_grow(cut.units, &size, (size_t) cut.n + 1, sizeof(Unit));
	cut.units[cut.n].start = (uint32_t) len;
	cut.edited = simdup_alloc0((size_t) cut.n + 1);
	return cut;
}

static bool
equal(const DiffUnits *a, int64_t i, const DiffUnits *b, int64_t j)
{
	const Unit *x = &a->units[i];
	const Unit *y = &b->units[j];
	uint32_t len = x[1].start - x->start;

	return x->hash == y->hash && len == y[1].start - y->start &&
		   memcmp(a->text + x->start, b->text + y->start, len) == 0;
}

/* The grid between the common start and the common end of both texts. */
typedef struct Grid
{
	DiffUnits a;
	DiffUnits b;
	int32_t *steps;
	size_t size; /* of that array */
	int64_t comparisons;
} Grid;

/* Step d: the x that d edits reach on the diagonals -d, -d + 2 … d. */
static int32_t *
step(const Grid *grid, int64_t d)
{
	return grid->steps + d * (d + 1) / 2;
}

/*
 * Return where the d-th edit leads on diagonal i, before equal units. It comes from
 * above, as an edit that adds a unit of b, or else from the left.
 */
static int64_t
after_edit(const Grid *grid, int64_t d, int64_t i, bool *from_above)
{
	const int32_t *before = step(grid, d - 1);

	if (d == 0)
		return 0;
	*from_above = i == 0 || (i < d && before[i - 1] < before[i]);
	return *from_above ? before[i] : before[i - 1] + 1;
}

/*
 * Take step d. Set *best to the diagonal on which most of both texts is done.
 * Return whether that is all.
 */
static bool
take_step(Grid *grid, int64_t d, int64_t *best)
{
	size_t needed = (size_t) ((d + 1) * (d + 2) / 2);
	int64_t most = -1;
	bool from_above;

	grid->steps =
		simdup_grow(grid->steps, &grid->size, needed, sizeof(int32_t));
	for (int64_t i = 0; i <= d && most < grid->a.n + grid->b.n; i++)
	{
		int64_t start = after_edit(grid, d, i, &from_above);
		int64_t x = start;
		int64_t y = x - (2 * i - d);

		for (;
			 x < grid->a.n && y < grid->b.n && equal(&grid->a, x, &grid->b, y);
			 x++)
			y++;
		grid->comparisons += x - start + 1;
		step(grid, d)[i] = (int32_t) x;
		if (x <= grid->a.n && y <= grid->b.n && x + y > most)
		{
			most = x + y;
			*best = i;
		}
	}
	return most == grid->a.n + grid->b.n;
}

/* Find the path, and note its edits: those on the way back, and the rest of both. */
static void
find_path(Grid *grid)
{
	int64_t i = 0;
	int64_t d = 0;
	int64_t x;
	int64_t y;
	bool from_above;

	for (; !take_step(grid, d, &i); d++)
	{
		if (d % 16 == 0)
			simdup_check_interrupts();
		if (d == MAX_EDITS || grid->comparisons > MAX_COMPARISONS)
			break;
	}
	x = step(grid, d)[i];
	y = x - (2 * i - d);
	memset(grid->a.edited + x, true, (size_t) (grid->a.n - x));
	memset(grid->b.edited + y, true, (size_t) (grid->b.n - y));
	for (; d > 0; d--)
	{
		x = after_edit(grid, d, i, &from_above);
		y = x - (2 * i - d);
		if (from_above)
			grid->b.edited[y - 1] = true;
		else
		{
			grid->a.edited[x - 1] = true;
			i--;
		}
	}
}

/*
 * Append units of both texts to parts in units. Units of the last part's kind
 * extend that part.
 */
static void
add_part(SimdupDiff *diff, bool same, size_t a_units, size_t b_units)
{
	SimdupDiffPart last = {0};

	if (a_units + b_units == 0)
		return;
	if (diff->n > 0)
		last = diff->parts[diff->n - 1];
	if (diff->n == 0 || last.same != same)
	{
		diff->parts = simdup_grow(diff->parts, &diff->size, diff->n + 1,
								  sizeof(SimdupDiffPart));
		diff->parts[diff->n++] =
			(SimdupDiffPart){.same = same,
							 .a_start = last.a_start + last.a_len,
							 .b_start = last.b_start + last.b_len};
	}
	diff->parts[diff->n - 1].a_len += (uint32_t) a_units;
	diff->parts[diff->n - 1].b_len += (uint32_t) b_units;
}

/* Append the parts of a grid, by the edits of either text. */
static void
add_grid(SimdupDiff *diff, const DiffUnits *a, const DiffUnits *b)
{
	for (int64_t i = 0, j = 0; i < a->n || j < b->n;)
	{
		bool gone = i < a->n && a->edited[i];
		bool come = !gone && j < b->n && b->edited[j];

		add_part(diff, !gone && !come, !come, !gone);
		i += !come;
		j += !gone;
	}
}

/*
 * Check whether the equal part between two changes is too short to be read as
 * equal. So is a short gap without a word, and a part that is small
 * beside both changes.
 */
static bool
is_noise(const DiffUnits *a, const SimdupDiffPart *before,
		 const SimdupDiffPart *part, const SimdupDiffPart *after)
{
	uint32_t left = before->a_len + before->b_len;
	uint32_t right = after->a_len + after->b_len;

	if (part->a_len > MAX_GAP)
		return false;
	for (uint32_t i = 0; i < part->a_len; i++)
		if (a->units[part->a_start + i].hash & 1)
			return 4 * part->a_len <= (left < right ? left : right);
	return true;
}

/* Make noise a part of the changes around it. Parts only become fewer. */
static void
drop_noise(const DiffUnits *a, SimdupDiff *diff)
{
	SimdupDiff clean = {diff->parts, 0, diff->size};

	for (size_t i = 0; i < diff->n; i++)
	{
		SimdupDiffPart part = diff->parts[i];

		if (part.same && clean.n > 0 && i + 1 < diff->n &&
			is_noise(a, &clean.parts[clean.n - 1], &part, &diff->parts[i + 1]))
			part.same = false;
		add_part(&clean, part.same, part.a_len, part.b_len);
	}
	diff->n = clean.n;
}

/* Return the byte at which units begin. Turn their number *len into bytes. */
static uint32_t
in_bytes(const DiffUnits *text, uint32_t start, uint32_t *len)
{
	uint32_t from = text->units[start].start;

	*len = text->units[start + *len].start - from;
	return from;
}

/* Return the grid of the units between the common start and the common end. */
static Grid
make_grid(const DiffUnits *a, const DiffUnits *b)
{
	int64_t least = a->n < b->n ? a->n : b->n;
	int64_t skip = 0;
	int64_t common = 0; /* at the end */

	while (skip < least && equal(a, skip, b, skip))
		skip++;
	while (common < least - skip &&
		   equal(a, a->n - 1 - common, b, b->n - 1 - common))
		common++;
	return (Grid){.a = {a->text, a->units + skip, a->edited + skip,
						a->n - skip - common},
				  .b = {b->text, b->units + skip, b->edited + skip,
						b->n - skip - common}};
}

SimdupDiff
simdup_diff(const char *a, size_t a_len, const char *b, size_t b_len)
{
	DiffUnits a_units = cut_text(a, a_len);
	DiffUnits b_units = cut_text(b, b_len);
	Grid grid = make_grid(&a_units, &b_units);
	size_t start = (size_t) (grid.a.units - a_units.units);
	size_t end = (size_t) (a_units.n - grid.a.n) - start;
	SimdupDiff diff = {0};

	find_path(&grid);
	add_part(&diff, true, start, start);
	add_grid(&diff, &grid.a, &grid.b);
	add_part(&diff, true, end, end);
	drop_noise(&a_units, &diff);
	for (size_t i = 0; i < diff.n; i++)
	{
		SimdupDiffPart *part = &diff.parts[i];

		part->a_start = in_bytes(&a_units, part->a_start, &part->a_len);
		part->b_start = in_bytes(&b_units, part->b_start, &part->b_len);
	}
	simdup_free(grid.steps);
	simdup_free(a_units.units);
	simdup_free(a_units.edited);
	simdup_free(b_units.units);
	simdup_free(b_units.edited);
	return diff;
}

void
simdup_diff_free(SimdupDiff *diff)
{
	simdup_free(diff->parts);
}

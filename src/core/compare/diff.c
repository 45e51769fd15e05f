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
#include <string.h>

#include "core/compare/diff.h"
#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

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
	Unit *units; /* n + 1 */
	size_t n;
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

		cut.units = simdup_grow(cut.units, &size, cut.n + 1, sizeof(Unit));
		if (cut.n % 4096 == 0)
			simdup_check_interrupts();
		cut.units[cut.n++] =
			(Unit){(uint32_t) (p - start),
				   (uint32_t) (hash >> 32 & ~UINT64_C(1)) | word};
		p = next;
	}
	cut.units = simdup_grow(cut.units, &size, cut.n + 1, sizeof(Unit));
	cut.units[cut.n].start = (uint32_t) len;
	return cut;
}

static bool
equal(const DiffUnits *a, size_t i, const DiffUnits *b, size_t j)
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
	const DiffUnits *a;
	const DiffUnits *b;
	size_t skip; /* units of the common start */
	int64_t n;	 /* units of a that are left */
	int64_t m;	 /* units of b that are left */
	int32_t *steps;
	size_t size; /* of that array */
	int64_t comparisons;
	uint8_t *gone; /* which units of a the path leaves out, n of them */
	uint8_t *come; /* which units of b it adds, m */
} Grid;

/* Step d: the x that d edits reach on the diagonals -d, -d + 2 … d. */
static int32_t *
step(const Grid *grid, int64_t d)
{
	return grid->steps + d * (d + 1) / 2;
}

/*
 * Check whether the way to diagonal i of step d comes from above, as an edit
 * that adds a unit of b. Otherwise it comes from the left.
 */
static bool
from_above(const Grid *grid, int64_t d, int64_t i)
{
	const int32_t *before = step(grid, d - 1);

	return i == 0 || (i < d && before[i - 1] < before[i]);
}

/* Return where the d-th edit leads on diagonal i, before equal units. */
static int64_t
after_edit(const Grid *grid, int64_t d, int64_t i)
{
	const int32_t *before = step(grid, d - 1);

	if (d == 0)
		return 0;
	return from_above(grid, d, i) ? before[i] : before[i - 1] + 1;
}

static int64_t
follow_equal(Grid *grid, int64_t x, int64_t k)
{
	int64_t start = x;

	while (x < grid->n && x - k < grid->m &&
		   equal(grid->a, grid->skip + (size_t) x, grid->b,
				 grid->skip + (size_t) (x - k)))
		x++;
	grid->comparisons += x - start + 1;
	return x;
}

/* Take step d. Return whether both texts end, then at diagonal *end. */
static bool
take_step(Grid *grid, int64_t d, int64_t *end)
{
	size_t needed = (size_t) ((d + 1) * (d + 2) / 2);

	grid->steps =
		simdup_grow(grid->steps, &grid->size, needed, sizeof(int32_t));
	for (int64_t i = 0; i <= d; i++)
	{
		int64_t k = 2 * i - d;
		int64_t x = follow_equal(grid, after_edit(grid, d, i), k);

		step(grid, d)[i] = (int32_t) x;
		if (x == grid->n && x - k == grid->m)
		{
			*end = i;
			return true;
		}
	}
	return false;
}

/* Return the diagonal of step d on which most of both texts is done. */
static int64_t
farthest(const Grid *grid, int64_t d)
{
	int64_t best = -1;
	int64_t most = -1;

	for (int64_t i = 0; i <= d; i++)
	{
		int64_t x = step(grid, d)[i];
		int64_t y = x - (2 * i - d);

		if (x <= grid->n && y <= grid->m && x + y > most)
		{
			most = x + y;
			best = i;
		}
	}
	return best;
}

/* Note the edits on the way back from diagonal i of step d. */
static void
trace_back(Grid *grid, int64_t d, int64_t i)
{
	for (; d > 0; d--)
	{
		int64_t x = after_edit(grid, d, i);
		int64_t y = x - (2 * i - d);

		if (from_above(grid, d, i))
			grid->come[y - 1] = 1;
		else
		{
			grid->gone[x - 1] = 1;
			i--;
		}
	}
}

/* Find the path, and note its edits. */
static void
find_path(Grid *grid)
{
	int64_t i = 0;
	int64_t d = 0;
	int64_t x;
	int64_t y;

	while (!take_step(grid, d, &i))
	{
		if (d % 16 == 0)
			simdup_check_interrupts();
		if (d == MAX_EDITS || grid->comparisons > MAX_COMPARISONS)
		{
			i = farthest(grid, d);
			break;
		}
		d++;
	}
	x = step(grid, d)[i];
	y = x - (2 * i - d);
	memset(grid->gone + x, 1, (size_t) (grid->n - x));
	memset(grid->come + y, 1, (size_t) (grid->m - y));
	trace_back(grid, d, i);
}

/* A part in units. */
typedef struct Span
{
	bool same;
	size_t a;
	size_t a_end;
	size_t b;
	size_t b_end;
} Span;

typedef struct Spans
{
	Span *spans;
	size_t n;
	size_t size;
} Spans;

/* Append units of both texts; what is like the last span becomes part of it. */
static void
add_span(Spans *list, bool same, size_t a_units, size_t b_units)
{
	Span last = {0};

	if (a_units + b_units == 0)
		return;
	if (list->n > 0)
		last = list->spans[list->n - 1];
	if (list->n == 0 || last.same != same)
	{
		list->spans =
			simdup_grow(list->spans, &list->size, list->n + 1, sizeof(Span));
		list->spans[list->n++] =
			(Span){same, last.a_end, last.a_end, last.b_end, last.b_end};
	}
	list->spans[list->n - 1].a_end += a_units;
	list->spans[list->n - 1].b_end += b_units;
}

/* Collect all spans: the common start, the path, and the common end. */
static Spans
collect(const Grid *grid)
{
	Spans list = {0};
	int64_t x = 0;
	int64_t y = 0;

	add_span(&list, true, grid->skip, grid->skip);
	while (x < grid->n || y < grid->m)
	{
		bool gone = x < grid->n && grid->gone[x];
		bool come = !gone && y < grid->m && grid->come[y];

		add_span(&list, !gone && !come, !come, !gone);
		x += !come;
		y += !gone;
	}
	add_span(&list, true, grid->a->n - grid->skip - (size_t) grid->n,
			 grid->b->n - grid->skip - (size_t) grid->m);
	return list;
}

static size_t
span_units(const Span *span)
{
	return span->a_end - span->a + span->b_end - span->b;
}

/*
 * Check whether the equal span between two changes is too short to be read as
 * equal. So is a short gap without a word, and what is small beside both
 * changes.
 */
static bool
is_noise(const DiffUnits *a, const Span *before, const Span *span,
		 const Span *after)
{
	size_t n = span->a_end - span->a;
	size_t left = span_units(before);
	size_t right = span_units(after);

	if (n > MAX_GAP)
		return false;
	for (size_t i = span->a; i < span->a_end; i++)
		if (a->units[i].hash & 1)
			return 4 * n <= (left < right ? left : right);
	return true;
}

/* Return the spans without noise. */
static Spans
without_noise(const DiffUnits *a, const Spans *list)
{
	Spans clean = {0};

	for (size_t i = 0; i < list->n; i++)
	{
		const Span *span = &list->spans[i];
		bool same = span->same;

		if (same && clean.n > 0 && i + 1 < list->n &&
			is_noise(a, &clean.spans[clean.n - 1], span, &list->spans[i + 1]))
			same = false;
		add_span(&clean, same, span->a_end - span->a, span->b_end - span->b);
	}
	return clean;
}

static SimdupDiff
in_bytes(const DiffUnits *a, const DiffUnits *b, const Spans *list)
{
	SimdupDiff diff;

	diff.n = list->n;
	diff.parts = simdup_alloc((list->n + 1) * sizeof(SimdupDiffPart));
	for (size_t i = 0; i < list->n; i++)
	{
		const Span *span = &list->spans[i];
		SimdupDiffPart *part = &diff.parts[i];

		part->same = span->same;
		part->a_start = a->units[span->a].start;
		part->a_len = a->units[span->a_end].start - part->a_start;
		part->b_start = b->units[span->b].start;
		part->b_len = b->units[span->b_end].start - part->b_start;
	}
	return diff;
}

/* Return the grid of the units between the common start and the common end. */
static Grid
make_grid(const DiffUnits *a, const DiffUnits *b)
{
	size_t least = a->n < b->n ? a->n : b->n;
	size_t common = 0;
	Grid grid = {.a = a, .b = b};

	while (grid.skip < least && equal(a, grid.skip, b, grid.skip))
		grid.skip++;
	while (common < least - grid.skip &&
		   equal(a, a->n - 1 - common, b, b->n - 1 - common))
		common++;
	grid.n = (int64_t) (a->n - grid.skip - common);
	grid.m = (int64_t) (b->n - grid.skip - common);
	grid.gone = simdup_alloc0((size_t) grid.n + 1);
	grid.come = simdup_alloc0((size_t) grid.m + 1);
	return grid;
}

SimdupDiff
simdup_diff(const char *a, size_t a_len, const char *b, size_t b_len)
{
	DiffUnits a_units = cut_text(a, a_len);
	DiffUnits b_units = cut_text(b, b_len);
	Grid grid = make_grid(&a_units, &b_units);
	Spans list;
	Spans clean;
	SimdupDiff diff;

	find_path(&grid);
	list = collect(&grid);
	clean = without_noise(&a_units, &list);
	diff = in_bytes(&a_units, &b_units, &clean);
	simdup_free(grid.steps);
	simdup_free(grid.gone);
	simdup_free(grid.come);
	simdup_free(list.spans);
	simdup_free(clean.spans);
	simdup_free(a_units.units);
	simdup_free(b_units.units);
	return diff;
}

void
simdup_diff_free(SimdupDiff *diff)
{
	simdup_free(diff->parts);
	diff->parts = NULL;
	diff->n = 0;
}

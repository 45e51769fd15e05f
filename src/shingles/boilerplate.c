/*
 * boilerplate.c
 *	  simdup_boilerplate: the passages that otherwise different texts share.
 *
 * Each text goes to a temporary file. The sort brings together the texts of each
 * sampled run of words, by the digests of their words. So copies of one text are
 * one, and the first texts of a run are a random sample. Runs that enough texts
 * have are judged by their samples, the most frequent first. Passages that were
 * found are taken out of the samples that follow.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/text.h"
#include "server/arguments.h"
#include "server/query.h"
#include "server/session.h"
#include "server/spill.h"
#include "text/profile.h"

/* Texts by which a run is judged, and which must have it at least. */
#define MAX_SAMPLE 32
#define MIN_SAMPLE 3

/* Their samples take 27 MB. */
#define MAX_FREQUENT 100000

/* In the sort, every text has this run. */
#define ANY_RUN 0

/* A run that enough texts have. */
typedef struct Frequent
{
	uint64 rank; /* the lower, the more texts have it */
	uint64 run;
	int64 n_texts;
	uint64 sample[MAX_SAMPLE]; /* digests, ascending */
} Frequent;

typedef struct Place
{
	uint64 digest;
	int64 at; /* in the file: length and bytes */
} Place;

typedef struct Search
{
	MemoryContext row_context;
	int64 n_rows;
	int64 n_no_content;
	SimdupTempFile *texts;
	SimdupPairSort *runs;	 /* run and digest of a text */
	SimdupPairSort *digests; /* digest and place of a text */
	int64 n_texts;			 /* without copies */
	Frequent *frequent;		 /* the most frequent first */
	int n_frequent;
	Place *places; /* of all samples, by digest */
	int n_places;
	SimdupBoilerplate found;
	SimdupBoilerplate refused;
} Search;

/* Check the columns: a SimdupColumnCheck. */
static bool
check_columns(void *arg pg_attribute_unused(), TupleDesc columns,
			  const char *argument pg_attribute_unused())
{
	return columns->natts == 2 &&
		   simdup_is_text_type(TupleDescAttr(columns, 1)->atttypid);
}

/* Add a row: a SimdupRowSink. */
static void
add_row(void *arg, TupleTableSlot *row)
{
	Search *search = arg;
	MemoryContext old;
	SimdupUtf8 content;
	SimdupHashes sample = {0};
	uint64 digest;
	int64 at;

	slot_getallattrs(row);
	simdup_progress_done(++search->n_rows);
	if (row->tts_isnull[1])
	{
		search->n_no_content++;
		return;
	}
	old = MemoryContextSwitchTo(search->row_context);
	content = simdup_text_to_utf8(DatumGetTextPP(row->tts_values[1]));
	if (!simdup_sample_runs((SimdupPassageText){content.bytes, content.len},
							&sample, &digest))
		simdup_too_many_words();
	at = simdup_tempfile_append(search->texts, &content.len,
								sizeof(content.len));
	simdup_tempfile_append(search->texts, content.bytes, content.len);
	simdup_pairsort_put(search->digests, digest, (uint64) at);
	simdup_pairsort_put(search->runs, ANY_RUN, digest);
	for (size_t i = 0; i < sample.n; i++)
		simdup_pairsort_put(search->runs, sample.hashes[i], digest);
	MemoryContextSwitchTo(old);
	MemoryContextReset(search->row_context);
}

/* End a run: count the texts, or keep the run if it is frequent. */
static void
end_run(Search *search, Frequent *run, double min_share)
{
	if (run->run == ANY_RUN)
		search->n_texts = run->n_texts;
	else if (run->n_texts >= MIN_SAMPLE &&
			 (double) run->n_texts >= min_share * (double) search->n_texts)
	{
		if (search->n_frequent == MAX_FREQUENT)
			ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("too many passages are shared"),
					errdetail("More than %d runs of %d words are in the share %g of the texts.",
							  MAX_FREQUENT, SIMDUP_BOILERPLATE_RUN, min_share),
					errhint("Give a larger min_share."));
		if ((search->n_frequent & (search->n_frequent + 1)) == 0)
			search->frequent =
				repalloc_huge(search->frequent,
							  (2 * (Size) search->n_frequent + 2) *
								  sizeof(Frequent));
		run->rank = UINT64_MAX - (uint64) run->n_texts;
		search->frequent[search->n_frequent++] = *run;
	}
}

/* Compare structs that begin with what they are sorted by. */
static int
compare_firsts(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a;
	uint64 y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

static void
find_frequent(Search *search, double min_share)
{
	Frequent run = {.run = ANY_RUN};
	uint64 last = 0;
	uint64 next;
	uint64 digest;

	search->frequent = palloc(sizeof(Frequent));
	simdup_progress_phase("counting runs", 0);
	simdup_pairsort_perform(search->runs);
	while (simdup_pairsort_get(search->runs, &next, &digest))
	{
		CHECK_FOR_INTERRUPTS();
		if (next != run.run)
		{
			end_run(search, &run, min_share);
			run.run = next;
			run.n_texts = 0;
		}
		if (run.n_texts == 0 || digest != last)
		{
			if (run.n_texts < MAX_SAMPLE)
				run.sample[run.n_texts] = digest;
			run.n_texts++;
		}
		last = digest;
	}
	end_run(search, &run, min_share);
	qsort(search->frequent, (size_t) search->n_frequent, sizeof(Frequent),
		  compare_firsts);
}

static int
sample_size(const Frequent *run)
{
	return (int) Min(run->n_texts, MAX_SAMPLE);
}

/* Find where the texts of all samples are. */
static void
find_places(Search *search)
{
	Place *places =
		palloc_extended(((Size) search->n_frequent * MAX_SAMPLE + 1) *
							sizeof(Place),
						MCXT_ALLOC_HUGE);
	int n = 0;
	int i = 0;
	uint64 digest;
	uint64 at;

	for (int f = 0; f < search->n_frequent; f++)
		for (int s = 0; s < sample_size(&search->frequent[f]); s++)
			places[n++].digest = search->frequent[f].sample[s];
	qsort(places, (size_t) n, sizeof(Place), compare_firsts);
	simdup_pairsort_perform(search->digests);
	while (i < n && simdup_pairsort_get(search->digests, &digest, &at))
		for (; i < n && places[i].digest == digest; i++)
			places[i].at = (int64) at;
	search->places = places;
	search->n_places = n;
}

/* Read the texts of a sample, without what was found. */
static void
read_sample(const Search *search, const Frequent *run, SimdupPassageText *texts)
{
	for (int i = 0; i < sample_size(run); i++)
	{
		const Place *place =
			bsearch(&run->sample[i], search->places, (size_t) search->n_places,
					sizeof(Place), compare_firsts);
		size_t len;
		char *bytes;
		SimdupPassage *kept;
		size_t n;

		simdup_tempfile_read(search->texts, place->at, &len, sizeof(len));
		bytes = palloc_extended(len + 1, MCXT_ALLOC_HUGE);
		simdup_tempfile_read(search->texts, place->at + (int64) sizeof(len),
							 bytes, len);
		texts[i] = (SimdupPassageText){bytes, 0};
		kept = simdup_without_boilerplate((SimdupPassageText){bytes, len},
										  &search->found, &n);
		for (size_t j = 0; j < n; j++)
		{
			size_t kept_len = kept[j].to - kept[j].from;

			memmove(bytes + texts[i].len, bytes + kept[j].from, kept_len);
			texts[i].len += kept_len;
			if (j + 1 < n)
				bytes[texts[i].len++] = '\n';
		}
	}
}

/* Return how many texts have a passage: those with its rarest run. 0: too short. */
static int64
count_texts(const Search *search, SimdupPassageText passage)
{
	SimdupHashes sample = {0};
	uint64 digest;
	int64 n_texts = 0;

	simdup_sample_runs(passage, &sample, &digest);
	for (int i = 0; i < search->n_frequent; i++)
		if (simdup_hashes_find(&sample, search->frequent[i].run) < sample.n)
			n_texts = search->frequent[i].n_texts;
	return n_texts;
}

/* Judge a run by its sample, and put the passages around it if it is boilerplate. */
static void
judge_run(Search *search, const Frequent *run, ReturnSetInfo *result)
{
	SimdupPassageText texts[MAX_SAMPLE];
	SimdupPassage *passages;
	size_t which;
	size_t n;
	bool is_boilerplate;
	MemoryContext old = MemoryContextSwitchTo(search->row_context);

	read_sample(search, run, texts);
	passages = simdup_shared_passages(texts, (size_t) sample_size(run),
									  2 * run->n_texts >= search->n_texts,
									  &which, &is_boilerplate, &n);
	MemoryContextSwitchTo(old);
	for (size_t i = 0; i < n; i++)
	{
		SimdupPassageText passage = {texts[which].bytes + passages[i].from,
									 passages[i].to - passages[i].from};
		int64 n_texts = count_texts(search, passage);
		Datum values[3];
		bool nulls[3] = {false};

		if (n_texts == 0)
			continue;
		simdup_add_boilerplate(is_boilerplate ? &search->found
											  : &search->refused,
							   passage);
		if (!is_boilerplate)
			continue;
		values[0] =
			PointerGetDatum(simdup_utf8_to_text(passage.bytes, passage.len));
		values[1] = Int64GetDatum(n_texts);
		values[2] = Float8GetDatum((double) n_texts / (double) search->n_texts);
		simdup_put_result(result, values, nulls);
	}
	MemoryContextReset(search->row_context);
}

PG_FUNCTION_INFO_V1(simdup_boilerplate);
/* Return simdup_boilerplate(query, min_share, params). */
Datum
simdup_boilerplate(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	SimdupQuery query = {NULL, "query", "a key and a text", "id, content"};
	Search search = {0};
	double min_share;

	if (simdup_has_null(fcinfo, 0, 2))
		return (Datum) 0;
	query.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	min_share = simdup_check_fraction(PG_GETARG_FLOAT8(1), "min_share");
	search.row_context =
		AllocSetContextCreate(CurrentMemoryContext, "simdup boilerplate",
							  ALLOCSET_DEFAULT_SIZES);
	search.texts = simdup_tempfile_create();
	search.runs = simdup_pairsort_begin(maintenance_work_mem / 4 * 3);
	search.digests = simdup_pairsort_begin(Max(maintenance_work_mem / 4, 64));
	simdup_progress_begin("simdup_boilerplate");
	simdup_progress_phase("reading", 0);
	simdup_run_query(&query, simdup_parameters(fcinfo, 1), check_columns,
					 add_row, &search);
	simdup_tell_skipped(0, search.n_no_content, search.n_rows);
	find_frequent(&search, min_share);
	find_places(&search);
	simdup_progress_phase("judging runs", search.n_frequent);
	for (int i = 0; i < search.n_frequent; i++)
	{
		uint64 run = search.frequent[i].run;

		simdup_progress_done(i);
		if (simdup_wordset_has(&search.found.runs, run) ||
			simdup_wordset_has(&search.refused.runs, run))
			continue;
		judge_run(&search, &search.frequent[i], result);
	}
	simdup_pairsort_end(search.runs);
	simdup_pairsort_end(search.digests);
	simdup_tempfile_close(search.texts);
	return (Datum) 0;
}

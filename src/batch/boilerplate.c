/*
 * boilerplate.c
 *	  simdup_boilerplate: the passages that otherwise different texts share.
 *
 * A sort brings together the texts of each sampled run of words, by the digests of
 * their words. So copies of one text are one, and the first texts of a run are a
 * random sample. Runs that enough texts have are judged by their samples, the most
 * frequent first. Passages that were found are taken out of the samples that follow.
 */
#include "postgres.h"
#include "compat.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/rows.h"
#include "server/arguments.h"

/* Texts by which a run is judged, and which must have it at least. */
#define MAX_SAMPLE 32
#define MIN_SAMPLE 3

/* The largest min_words. */
#define MAX_MIN_WORDS 1000

/* Their samples take 27 MB. */
#define MAX_FREQUENT 100000

/* A run that enough texts have. */
typedef struct FrequentRun
{
	uint64 rank; /* the lower, the more texts have it */
	uint64 run;
	int64 n_texts;
	uint64 sample[MAX_SAMPLE]; /* digests, ascending */
} FrequentRun;

typedef struct Search
{
	/* the texts of the source, by row */
	int content; /* column */
	SimdupKeys *contents;
	uint32 n;
	int64 n_null;
	MemoryContext row_context; /* of one row; then reset */

	size_t min_words;	   /* of a passage */
	SimdupPairSort *runs;  /* run and digest of a text */
	SimdupSortItem *texts; /* digest and row, ascending */
	int64 n_texts;		   /* without copies */
	FrequentRun *frequent; /* the most frequent first */
	int n_frequent;
	SimdupBoilerplate found;   /* passages that are boilerplate */
	SimdupBoilerplate refused; /* those that were judged to be none */
} Search;

/* Return the content of a row, which the current memory context may hold. */
static SimdupUtf8
text_of(const Search *search, uint32 row)
{
	return simdup_text_to_utf8(
		DatumGetTextPP(simdup_keys_get(search->contents, row, 0)));
}

/* Sample the runs of all texts. This takes 16 bytes a row. */
static void
sample_texts(Search *search)
{
	MemoryContext old;

	search->runs = simdup_pairsort_begin((int64) maintenance_work_mem * 1024);
	search->texts =
		simdup_alloc(((Size) search->n + 1) * sizeof(SimdupSortItem));
	simdup_progress_phase("sampling runs", search->n);
	old = MemoryContextSwitchTo(search->row_context);
	for (uint32 i = 0; i < search->n; i++)
	{
		SimdupHashes sample = {0};
		uint64 digest;

		CHECK_FOR_INTERRUPTS();
		if (!simdup_sample_runs(text_of(search, i), search->min_words, &sample,
								&digest))
			simdup_too_many_words();
		search->texts[i] = (SimdupSortItem){digest, i};
		for (size_t j = 0; j < sample.n; j++)
			simdup_pairsort_put(search->runs, sample.hashes[j], digest);
		MemoryContextReset(search->row_context);
		simdup_progress_done(i);
	}
	MemoryContextSwitchTo(old);
	simdup_sort_pairs(search->texts, search->n);
	for (uint32 i = 0; i < search->n; i++)
		search->n_texts +=
			i == 0 || search->texts[i].value != search->texts[i - 1].value;
}

/* End a run: keep it if it is frequent. */
static void
end_run(Search *search, FrequentRun *run, double min_share)
{
	if (run->n_texts < MIN_SAMPLE ||
		(double) run->n_texts / (double) search->n_texts < min_share)
		return;
	if (search->n_frequent == MAX_FREQUENT)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("too many passages are shared"),
				errdetail("More than %d runs of %d words are in the share %g of the texts.",
						  MAX_FREQUENT, SIMDUP_BOILERPLATE_RUN, min_share));
	run->rank = UINT64_MAX - (uint64) run->n_texts;
	search->frequent[search->n_frequent++] = *run;
}

static void
find_frequent(Search *search, double min_share)
{
	FrequentRun run = {0};
	uint64 last = 0;
	uint64 next;
	uint64 digest;

	search->frequent = palloc(MAX_FREQUENT * sizeof(FrequentRun));
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
		if (run.n_texts > 0 && digest == last)
			continue;
		if (run.n_texts < MAX_SAMPLE)
			run.sample[run.n_texts] = digest;
		run.n_texts++;
		last = digest;
	}
	end_run(search, &run, min_share);
	simdup_pairsort_end(search->runs);
	qsort(search->frequent, (size_t) search->n_frequent, sizeof(FrequentRun),
		  simdup_compare_words);
}

/* Read a text of a sample, without the passages found so far. */
static SimdupUtf8
read_text(const Search *search, uint64 digest)
{
	const SimdupSortItem *entry =
		bsearch(&digest, search->texts, search->n, sizeof(SimdupSortItem),
				simdup_compare_words);
	SimdupUtf8 text = text_of(search, (uint32) entry->row);
	size_t n = 0;
	SimdupPassage *kept = simdup_without_boilerplate(text, &search->found, &n);

	return simdup_join_passages(text, kept, n, "\n");
}

/* Return how many texts have a passage: those with its rarest run. 0: too short. */
static int64
count_texts(const Search *search, SimdupUtf8 passage)
{
	SimdupHashes sample = {0};
	uint64 digest;

	simdup_sample_runs(passage, search->min_words, &sample, &digest);
	for (int i = search->n_frequent; i-- > 0;)
	{
		CHECK_FOR_INTERRUPTS();
		if (simdup_hashes_has(&sample, search->frequent[i].run))
			return search->frequent[i].n_texts;
	}
	return 0;
}

/* Judge a run by its sample, and put the passages around it if it is boilerplate. */
static void
judge_run(Search *search, const FrequentRun *run, ReturnSetInfo *result)
{
	SimdupUtf8 texts[MAX_SAMPLE];
	size_t n_sample = (size_t) Min(run->n_texts, MAX_SAMPLE);
	SimdupPassage *passages;
	size_t which;
	size_t n;
	bool is_boilerplate;
	MemoryContext old = MemoryContextSwitchTo(search->row_context);

	for (size_t i = 0; i < n_sample; i++)
		texts[i] = read_text(search, run->sample[i]);
	passages =
		simdup_shared_passages(texts, n_sample,
							   2 * run->n_texts >= search->n_texts,
							   &search->refused, &which, &is_boilerplate, &n);
	MemoryContextSwitchTo(old);
	for (size_t i = 0; i < n; i++)
	{
		SimdupUtf8 passage = {texts[which].bytes + passages[i].from,
							  passages[i].to - passages[i].from};
		int64 n_texts = count_texts(search, passage);
		Datum values[3];

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
		simdup_put_result(result, values, NULL);
	}
	MemoryContextReset(search->row_context);
}

/* Store a row's text: a SimdupRowSink. */
static void
store_text(void *arg, TupleTableSlot *slot)
{
	Search *search = arg;

	if (slot->tts_isnull[search->content])
	{
		search->n_null++;
		return;
	}
	simdup_check_room(search->n);
	simdup_keys_add(search->contents, slot->tts_values[search->content]);
	simdup_progress_done(++search->n);
}

/* Read the texts of a source. */
static void
read_texts(Search *search, FunctionCallInfo fcinfo)
{
	SimdupSource source =
		simdup_source_open(fcinfo, PG_GETARG_OID(0),
						   SIMDUP_SOURCE_HAS(SIMDUP_SOURCE_CONTENT) |
							   SIMDUP_SOURCE_TEXTS);

	search->content = source.place[SIMDUP_SOURCE_CONTENT];
	search->contents = simdup_keys_begin(source.type[SIMDUP_SOURCE_CONTENT], 0);
	simdup_progress_phase("reading", 0);
	simdup_source_read(&source, store_text, search);
	if (search->n_null > 0)
		ereport(NOTICE, errmsg_plural("skipped %lld row without a text",
									  "skipped %lld rows without a text",
									  (unsigned long) search->n_null,
									  (long long) search->n_null));
}

PG_FUNCTION_INFO_V1(simdup_boilerplate);
/* Return simdup_boilerplate(source, min_share, min_words). */
Datum
simdup_boilerplate(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = simdup_begin_result(fcinfo);
	Search search = {0};
	MemoryContext context;
	MemoryContext old;
	double min_share;

	if (simdup_has_null(fcinfo, 0, 3))
		return (Datum) 0;
	min_share = simdup_check_fraction(PG_GETARG_FLOAT8(1), "min_share");
	search.min_words =
		(size_t) simdup_check_range(PG_GETARG_INT32(2), SIMDUP_BOILERPLATE_RUN,
									MAX_MIN_WORDS, "min_words");
	context = AllocSetContextCreate(CurrentMemoryContext, "simdup batch",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	search.row_context =
		AllocSetContextCreate(context, "simdup row", ALLOCSET_SMALL_SIZES);
	simdup_progress_begin(get_func_name(fcinfo->flinfo->fn_oid), false);
	read_texts(&search, fcinfo);
	sample_texts(&search);
	find_frequent(&search, min_share);
	simdup_progress_phase("judging runs", search.n_frequent);
	for (int i = 0; i < search.n_frequent; i++)
	{
		uint64 run = search.frequent[i].run;

		simdup_progress_done(i);
		if (!simdup_wordset_has(&search.found.runs, run) &&
			!simdup_wordset_has(&search.refused.runs, run))
			judge_run(&search, &search.frequent[i], result);
	}
	simdup_keys_end(search.contents);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return (Datum) 0;
}

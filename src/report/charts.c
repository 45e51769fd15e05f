/*
 * charts.c
 *	  The report's numbers, as tables with bars.
 *
 * Numbers differ by orders of magnitude, so bars are logarithmic. Each bar is an
 * SVG as wide as its cell, and its number stands beside it as text.
 */
#include "postgres.h"
#include "compat.h"

#include <math.h>

#include "utils/builtins.h"

#include "report/page.h"

/* The number of distances beyond max_distance for which chance is shown. */
#define BEYOND 4
/* Up to this share of the pairs found, chance is no matter. */
#define CHANCE_SHARE 0.05

/* Percent of the width for a value, where most is the widest. */
static double
bar_width(double value, double most)
{
	return most > 0 ? 100 * log10(1 + value) / log10(1 + most) : 0;
}

/* The marks at 1, 10, 100 …, and up to two bars. */
static void
put_bars(StringInfo page, double most, double first, double second)
{
	appendStringInfo(page,
					 "<td class=\"bars\"><svg width=\"100%%\" height=\"%d\" aria-hidden=\"true\">",
					 second < 0 ? 14 : 22);
	for (int digits = 1; pow(10, digits) <= most; digits++)
		appendStringInfo(page,
						 "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y2=\"100%%\"/>",
						 bar_width(pow(10, digits), most),
						 bar_width(pow(10, digits), most));
	appendStringInfo(page,
					 "<rect class=\"found\" y=\"1\" width=\"%.2f%%\" height=\"%d\"/>",
					 bar_width(first, most), second < 0 ? 12 : 11);
	if (second >= 0)
		appendStringInfo(page,
						 "<rect class=\"chance\" y=\"14\" width=\"%.2f%%\" height=\"6\"/>",
						 bar_width(second, most));
	appendStringInfoString(page, "</svg></td>");
}

/* A number that may be a small fraction. */
static const char *
rounded(double value)
{
	if (value >= 9.95 || value == 0)
		return simdup_grouped(value);
	if (value < 0.05)
		return "<bdi dir=\"ltr\">&lt; 0.1</bdi>";
	return psprintf("%.1f", value);
}

/* The distance up to which chance explains few pairs; -1: none. */
static int
trusted_distance(const SimdupStats *stats)
{
	for (int d = 0; d <= stats->options.max_distance; d++)
		if (stats->by_chance[d] >= 0.5 &&
			stats->by_chance[d] > CHANCE_SHARE * stats->pairs[d])
			return d - 1;
	return stats->options.max_distance;
}

static const char *
advice(const SimdupReport *report)
{
	int trusted = trusted_distance(report->stats);

	if (trusted < 0)
		return simdup_say(report, chance_everywhere);
	if (trusted == report->stats->options.max_distance)
		return simdup_say(report, chance_nowhere);
	return simdup_say_with(report, stop_at, "<strong>", psprintf("%d", trusted),
						   "</strong>");
}

static void
put_distance(const SimdupReport *report, int d, double most)
{
	StringInfo page = report->page;
	const SimdupStats *stats = report->stats;
	bool asked = d <= stats->options.max_distance;

	appendStringInfo(page, "<tr%s><th scope=\"row\">%s</th>",
					 asked ? "" : " class=\"beyond\"",
					 d == 0 ? simdup_say(report, equal)
							: simdup_say_count(report, bits, d));
	put_bars(page, most, asked ? stats->pairs[d] : 0, stats->by_chance[d]);
	appendStringInfo(page, "<td>%s</td><td>%s</td></tr>\n",
					 asked ? simdup_grouped(stats->pairs[d])
						   : simdup_say(report, not_asked),
					 rounded(stats->by_chance[d]));
}

void
simdup_put_distances(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupStats *stats = report->stats;
	int last =
		Min(stats->options.max_distance + BEYOND, SIMDUP_MAX_PAIR_DISTANCE);
	double most = 1;

	for (int d = 0; d <= last; d++)
		most = Max(most, Max(stats->pairs[d], stats->by_chance[d]));
	appendStringInfo(page,
					 "<section>\n<h2 id=\"distances\">%s</h2>\n<p>%s</p>\n<p>%s</p>\n"
					 "<div class=\"scroll\"><table class=\"chart\">\n<caption>%s</caption>\n"
					 "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"bars\">%s</th>"
					 "<th scope=\"col\">%s</th><th scope=\"col\">%s</th></tr></thead>\n<tbody>\n",
					 simdup_say(report, distances),
					 simdup_say(report, distances_intro), advice(report),
					 simdup_say(report, distance_chart),
					 simdup_say(report, distance_column),
					 simdup_say(report, pairs),
					 simdup_say(report, found_column),
					 simdup_say(report, chance_column));
	for (int d = 0; d <= last; d++)
		put_distance(report, d, most);
	appendStringInfoString(page, "</tbody></table></div>\n</section>\n");
}

void
simdup_put_sizes(const SimdupReport *report)
{
	StringInfo page = report->page;
	const SimdupStats *stats = report->stats;
	double most = 1;

	if (stats->near_groups == 0)
		return;
	for (int i = 0; i < SIMDUP_N_SIZE_BINS; i++)
		most = Max(most, (double) stats->size_bins[i]);
	appendStringInfo(page,
					 "<div class=\"scroll\"><table class=\"chart\">\n<caption>%s</caption>\n"
					 "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"bars\">%s</th>"
					 "<th scope=\"col\">%s</th></tr></thead>\n<tbody>\n",
					 simdup_say(report, size_chart),
					 simdup_say(report, letters), simdup_say(report, cases),
					 simdup_say(report, number));
	for (int i = 0;
		 i < SIMDUP_N_SIZE_BINS && ldexp(1, i) < (double) stats->largest; i++)
	{
		double last = ldexp(2, i);

		appendStringInfoString(page, "<tr><th scope=\"row\">");
		if (i == 0)
			appendStringInfoString(page, "2");
		else
			appendStringInfo(page, "%s&#8211;%s", simdup_grouped(last / 2 + 1),
							 simdup_grouped(last));
		appendStringInfoString(page, "</th>");
		put_bars(page, most, (double) stats->size_bins[i], -1);
		appendStringInfo(page, "<td>%s</td></tr>\n",
						 simdup_grouped((double) stats->size_bins[i]));
	}
	appendStringInfoString(page, "</tbody></table></div>\n");
}

/* What an earlier summary said of a number; false where it said nothing. */
static bool
number_before(const Jsonb *before, const SimdupFact *fact, double *value)
{
	const char *name = psprintf("%s: %s", fact->section, fact->item);
	JsonbValue found;

	if (before == NULL ||
		getKeyJsonValueFromContainer((JsonbContainer *) &before->root, name,
									 (int) strlen(name), &found) == NULL ||
		found.type != jbvNumeric)
		return false;
	*value =
		DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
										   NumericGetDatum(found.val.numeric)));
	return isfinite(*value) && fabs(*value) < 1e15;
}

void
simdup_put_facts(const SimdupReport *report)
{
	StringInfo page = report->page;
	SimdupFact facts[SIMDUP_N_FACTS];

	simdup_stat_facts(report->stats, facts);
	appendStringInfo(page,
					 "<section>\n<h2 id=\"numbers\">%s</h2>\n<div class=\"scroll\"><table>\n"
					 "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">%s</th>",
					 simdup_say(report, in_numbers), simdup_say(report, what),
					 simdup_say(report, now));
	if (report->before)
		appendStringInfo(page,
						 "<th scope=\"col\">%s</th><th scope=\"col\">%s</th>",
						 simdup_say(report, before),
						 simdup_say(report, change));
	appendStringInfoString(page, "</tr></thead>\n<tbody>\n");
	for (int i = 0; i < SIMDUP_N_FACTS; i++)
	{
		double now = (double) facts[i].value;
		double before;

		appendStringInfo(page, "<tr><th scope=\"row\">%s</th><td>%s</td>",
						 simdup_say_text(report, SIMDUP_TEXT_fact_all + i,
										 (const char *const[]){NULL}),
						 simdup_grouped(now));
		if (number_before(report->before, &facts[i], &before))
			appendStringInfo(page, "<td>%s</td><td>%s%s</td>",
							 simdup_grouped(before), now > before ? "+" : "",
							 simdup_grouped(now - before));
		else if (report->before)
			appendStringInfoString(page, "<td></td><td></td>");
		appendStringInfoString(page, "</tr>\n");
	}
	appendStringInfoString(page, "</tbody></table></div>\n</section>\n");
}

# report_browser: the report in a browser. Its figures are those of the data. It is
# clicked, searched and saved; and texts that try to run a script do not.
# Skipped where there is no Chromium.
#
# Runs in make test-all only.

use strict;
use warnings;
use utf8;

use FindBin;
use lib $FindBin::RealBin;

use Browser;
use Encode qw(decode_utf8 encode_utf8);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $obstacle = Browser::obstacle();
plan skip_all => $obstacle if $obstacle;

my $folder = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('browser');
$ENV{PGCLIENTENCODING} = 'UTF8';
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

sub sql { return decode_utf8($node->safe_psql('postgres', encode_utf8("SET client_min_messages = error; $_[0]"))); }

# page NAME CALL: a report in a file; its address.
sub page
{
	my ($name, $call) = @_;

	append_to_file("$folder/$name.html", encode_utf8(sql("SELECT $call")));
	return "file://$folder/$name.html";
}

sql('CREATE EXTENSION simdup');
sql(<<'SQL');
CREATE TABLE letter (id text COLLATE "C", fp simhash64, body text);
INSERT INTO letter VALUES
  ('1', '0000000000000000', 'The lamp in Mill Lane is out.'),
  ('2', '0000000000000001', 'The lamps in Mill Lane are out.'),
  ('3', '0000000000000007', 'The lamp in Mill Lane is out!'),
  ('4', '000000000000003f', E'The lamp in Mill Lane\nis out, for weeks.'),
  ('=1+2', 'ffffffff00000000', '路面有大坑，请修。'),
  (' @sum', 'ffffffff00000000', '路面有坑，请快修。'),
  ('-5', 'fffffffff0000000', '公园的灯坏了。'),
  (E'a"b,c\nd', 'fffffffff0000001', '公园里的灯坏了。'),
  ('alone', '0ff0ff000ff0ff00', 'More benches, please.');
CREATE VIEW letters AS SELECT id AS key, fp, body AS content, timestamp '2024-01-30 08:36:38' + length(id) * interval '1 day' AS at, left(body, 3) AS who FROM letter;
SQL

my $browser = Browser->new($folder);
sub js { return $browser->js(@_); }

# A test that dies leaves no browser behind.
END
{
	local $?;
	$browser->stop if $browser;
}

# fill_cases WHICH: open cases and fill them at once, which their event does later.
sub fill_cases
{
	js('const cases = [...document.querySelectorAll("details.case")];
		document.querySelectorAll("details").forEach((d) => { d.open = arguments[0] < 0 || d === cases[arguments[0]]; if (d.open) d.fill?.(); })', $_[0] // -1);
	return;
}

# axe_source(): the rules of axe-core, by npm; nothing where npm cannot have it.
sub axe_source
{
	my $place = "$folder/axe";
	mkdir $place;
	system("npm install --silent --no-audit --no-fund --ignore-scripts --prefix '$place' --cache '$place/npm' axe-core\@4 >/dev/null 2>&1");
	return -s "$place/node_modules/axe-core/axe.min.js" ? slurp_file("$place/node_modules/axe-core/axe.min.js") : '';
}

my $axe_rules = axe_source();

# check_rules WHAT: no rule of accessibility is broken.
sub check_rules
{
  SKIP:
	{
		skip 'axe-core is not to be had here', 1 if $axe_rules eq '';
		$browser->devtools('Runtime.evaluate', { expression => $axe_rules });
		is(js('return axe.run({ resultTypes: ["violations"] }).then((r) => r.violations.map((v) => `${v.id}: ${v.nodes[0].html}`).join("\n"))'), '', "axe-core: $_[0]");
	}
	return;
}

# --- the page as it opens

$browser->open_page(page('letters', qq{simdup_report_html('letters', 'Letters', 3, 'connected', row_url => 'https://city.example/letters/%s', before => '{"counts": {"rows": 7}}')}));
is(js('return document.title'), 'Letters', 'the title');
is(js('return document.getElementById("headline").textContent'), '5 of 9 letters (55.6 %) repeat another; 3 cases; largest 4', 'the headline');
is(js('return performance.getEntriesByType("resource").length'), 0, 'nothing is loaded');
is_deeply([ $browser->console ], [], 'the policy lets style and script through, and no script fails');
ok(js('return getComputedStyle(document.querySelector("del")).textDecorationLine === "line-through"
	&& getComputedStyle(document.querySelector("ins")).textDecorationLine === "underline"'), 'differences have more than a colour');
unlike(js('return [...document.querySelectorAll("header, #overview, #cases")].map((e) => e.innerText).join(" ")'),
	qr/\bbits?\b|fingerprint/i, 'the first screen speaks of letters and cases');
is(js('return [...document.querySelectorAll("#examples .entry")].filter((e) => e.textContent.startsWith("1 and 2")).map((e) => e.querySelector(".text").innerHTML).join()'),
	'The <del>lamp</del><ins>lamps</ins> in Mill Lane <del>is</del><ins>are</ins> out.', 'a pair has its two texts as one');
is(js('return [...document.querySelectorAll("details.case")].map((g) => g.querySelector(".loose") ? "loose" : "tight").join()'), 'loose,tight,tight',
	'a case that does not hold together says so');
ok(js('return document.documentElement.scrollWidth <= innerWidth'), 'the page is no wider than the window');

# every figure of the page is one of the data
sub cells { return js('return [...document.querySelectorAll(arguments[0] + " tbody tr")].map((row) => [...row.cells].map((c) => c.textContent).filter((c) => c !== "").join(" ")).join(" | ")', $_[0]); }
is(cells('#facts'), js('const c = JSON.parse(document.getElementById("data").textContent).report.counts;
	return `Letters ${c.rows} 7 +${c.rows - 7} | Without text to compare ${c.without_fingerprint} | Repeat another ${c.repeats} | Cases ${c.clusters} | Letters in cases ${c.cluster_rows} | Letters of the largest case ${c.largest}`'), 'the figures, and an earlier one');
is(cells('#periods'), js('return JSON.parse(document.getElementById("data").textContent).report.periods.counts.reverse().map((p) => `${p.from} ${p.rows} ${p.repeats}`).join(" | ")'), 'the weeks, the latest first');
is(cells('#sizes'), "2 2 | 3\x{2013}4 1", 'cases by size');
is(cells('#figures'), js('const r = JSON.parse(document.getElementById("data").textContent).report;
	return r.distances.map((d) => `${d.distance} ${d.pairs} ${Math.round(d.by_chance)}`).join(" | ")
	  + ` | Sets of equal fingerprints ${r.counts.equal_sets} | Letters in these sets ${r.counts.equal_rows} | Distinct fingerprints ${r.counts.distinct_fingerprints}`'), 'and those for engineers');

# --- the first screen

sub steps { return js('return [...document.querySelectorAll("#sections .step")].map((s) => s.innerText).join(" | ")'); }
is(steps(), 'Read the largest case: 4 letters | Judge the limit by the farthest pairs, at distance 3 | Save the cases as a file', 'what to do next');
$browser->click('#sections a');
js('return new Promise((done) => { const look = () => { if (document.querySelector("details.case[open] li")) done(); else setTimeout(look, 10); }; look(); })');
is(js('return document.querySelector("details.case").open'), JSON::PP::true, 'a click there opens the largest case');
js('document.querySelector("details.case").open = false');
is(js('const [all, part] = [...document.querySelectorAll("#share rect")].map((r) => r.getBoundingClientRect().width);
	return (100 * part / all).toFixed(1)'), '55.6', 'the share that repeats is as long as it is large');
ok(js('const all = document.querySelector("#share rect").getBoundingClientRect(), main = document.querySelector("main").getBoundingClientRect();
	return all.left >= main.left && all.right <= main.right && main.right - all.right < 4'), 'all letters are as long as the page is wide');
is(js('const bars = [...document.querySelectorAll("#sizes .bar1")].map((r) => r.getBoundingClientRect().height); return (bars[0] / bars[1]).toFixed(1)'),
	'2.0', 'and the cases of a size as high');
is(js('return document.querySelector("#sizes svg").ariaLabel ?? document.querySelector("#sizes svg").getAttribute("aria-label")'), "Cases by size. 2: 2; 3\x{2013}4: 1", 'a picture says its numbers');
is(js('return [...document.querySelectorAll("#periods title")].map((e) => e.textContent).join(" | ")'), js('const all = JSON.parse(document.getElementById("data").textContent).report.periods.counts; return all.map((p) => `${p.from}: ${p.rows} / ${p.repeats}`).join(" | ")'),
	'and each of its columns, too');

# On a wide window, the blocks stand in one row that takes most of the window, and a case is seen below.
sql('CREATE VIEW undated AS SELECT key, fp, content FROM letters');
for my $lang ('en', 'zh')
{
	for my $source ('letters', 'undated')
	{
		$browser->open_page(page("$source-$lang", qq{simdup_report_html('$source', 'Letters', 3, 'connected', lang => '$lang')}));
		for my $size ([ 1280, 800 ], [ 1920, 1000 ])
		{
			$browser->devtools('Emulation.setDeviceMetricsOverride', { width => $size->[0], height => $size->[1], deviceScaleFactor => 1, mobile => JSON::PP::false });
			is(js('const boxes = [...document.querySelectorAll(".beside > *")].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
				const main = document.querySelector("main").getBoundingClientRect(), first = document.querySelector("details.case").getBoundingClientRect();
				return [boxes.length, new Set(boxes.map((b) => Math.round(b.top))).size, (boxes.at(-1).right - main.left) / main.width > 0.85, main.width / innerWidth > 0.7,
				  first.bottom < innerHeight, [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).length].join()'),
				($source eq 'letters' ? 4 : 3) . ',1,true,true,true,0', "$lang, $source, $size->[0] px: one screen has figures, bars and the first case");
		}
		$browser->devtools('Emulation.clearDeviceMetricsOverride', {});
	}
}

# A word without an end, and text from right to left, in every place that has a text.
sql(q{CREATE VIEW long AS SELECT i || repeat('w', 999) AS key, simhash64 '00000000000000ff' AS fp, repeat('مرحبا', 900) || i AS content,
	repeat(E'\u202e\u0645', 300) AS scope, repeat('wide', 500) AS "nobreak nobreak" FROM generate_series(1, 3) AS i});
$browser->open_page(page('long', q{simdup_report_html('long', repeat('W', 500), 3, noun => repeat('w', 90))}));
fill_cases();
for my $width (390, 768, 1280)
{
	$browser->devtools('Emulation.setDeviceMetricsOverride', { width => $width, height => 800, deviceScaleFactor => 1, mobile => JSON::PP::false });
	cmp_ok(js('return document.documentElement.scrollWidth'), '<=', $width, "$width px: words without an end make the page no wider");
}
$browser->devtools('Emulation.clearDeviceMetricsOverride', {});

# no_overlap WHICH WHAT: at four widths, the names below a picture's columns stand apart, within the page.
sub no_overlap
{
	my ($which, $what) = @_;

	for my $width (360, 768, 1280, 1920)
	{
		$browser->devtools('Emulation.setDeviceMetricsOverride', { width => $width, height => 800, deviceScaleFactor => 1, mobile => JSON::PP::false });
		is(js('const boxes = [...document.querySelectorAll(arguments[0] + " .picture > text")].slice(1).map((e) => e.getBoundingClientRect());
			return [boxes.length > 1, boxes.every((b, i) => i === 0 || boxes[i - 1].right < b.left), document.documentElement.scrollWidth <= innerWidth].join()', $which),
			'true,true,true', "$what, $width px: no name hides another");
	}
	$browser->devtools('Emulation.clearDeviceMetricsOverride', {});
	return;
}

# Campaigns: each has its template once, and each letter its own words. No limit brought the letters there.
sql(q{CREATE VIEW campaigns AS SELECT c * 100 + i AS key, c AS cluster, CASE WHEN i > 1 THEN format('The lamp number %s in Mill Lane is out. ', c) ELSE '' END || 'Please mend it before the winter comes.'
	|| CASE i WHEN 2 THEN ' My son fell there last week.' ELSE '' END AS content FROM generate_series(1, 6) AS c, generate_series(1, 1 + (1 << c - 1)) AS i});
for my $lang ('en', 'zh')
{
	$browser->open_page(page("campaigns-$lang", qq{simdup_report_html('campaigns', 'Campaigns', method => 'given', lang => '$lang')}));
	no_overlap('#sizes', "$lang, campaigns by size");
}
$browser->open_page("file://$folder/campaigns-en.html");
fill_cases(0);
is(js('const one = document.querySelector("details.case"); return [one.querySelector(":scope > .text").textContent, ...[...one.querySelectorAll("li")].slice(0, 3).map((e) => e.textContent)].join(" | ")'),
	'The lamp number 6 in Mill Lane is out. Please mend it before the winter comes. | 602 distance 25, resemblance 0.36  adds: My son fell there last week.other numbers: 6 | '
	. '601 the first letter  adds nothingleaves out: The lamp number 6 in Mill Lane is out. | 603 distance 16, resemblance 0.50  adds nothingother numbers: 6',
	'a campaign has its template, and each letter what it adds');
is(steps(), 'Read the largest case: 33 letters | Save the cases as a file', 'and nothing asks for a limit');

# 61 months, of which some have no letter, and more than a picture has
sql(q{CREATE VIEW months AS SELECT i AS key, ((i / 2) * 7919)::bigint::simhash64 AS fp, date '2001-01-01' + 31 * i AS at FROM generate_series(1, 60) AS i WHERE i NOT IN (5, 6);
	CREATE VIEW years AS SELECT i AS key, ((i / 2) * 7919)::bigint::simhash64 AS fp, date '2001-01-01' + 31 * i AS at FROM generate_series(1, 200) AS i});
for my $some ([ 'months', 61, '' ], [ 'years', 120, 'The latest 118 of 200 are shown.' ])
{
	$browser->open_page(page($some->[0], qq{simdup_report_html('$some->[0]', 'Months', 0)}));
	for my $width (390, 768, 1280, 1920)
	{
		$browser->devtools('Emulation.setDeviceMetricsOverride', { width => $width, height => 800, deviceScaleFactor => 1, mobile => JSON::PP::false });
		is(js('const columns = [...document.querySelectorAll("#periods g")], box = document.getElementById("periods").getBoundingClientRect();
			const inside = columns.every((c) => c.getBoundingClientRect().left >= box.left && c.getBoundingClientRect().right <= box.right);
			return [columns.length, inside, document.documentElement.scrollWidth <= innerWidth, [...document.querySelectorAll("#periods .scroll")].some((s) => s.checkVisibility() && s.scrollHeight > s.clientHeight)].join()'),
			"$some->[1],true,true,false", "$some->[0], $width px: each month is a column within the page");
	}
	no_overlap('#periods', $some->[0]);
	is(js('return document.querySelector("#periods > .rest")?.textContent ?? ""'), $some->[2], 'and the page says which are left out');
}
is(js('return document.querySelector("#periods tbody").checkVisibility()'), JSON::PP::false, 'the numbers are behind the picture');
$browser->click('#periods summary');
is(js('return document.querySelector("#periods tbody").checkVisibility()'), JSON::PP::true, 'and one click away');

# nothing, nothing that repeats, one case, and ten thousand
sql(q{CREATE VIEW numbered AS SELECT i AS key, (i / 2 * 7919)::bigint::simhash64 AS fp FROM generate_series(2, 20001) AS i;
	CREATE VIEW empty AS SELECT * FROM numbered WHERE false;
	CREATE VIEW apart AS SELECT * FROM numbered WHERE key % 2 = 0 AND key < 9;
	CREATE VIEW single AS SELECT * FROM numbered WHERE key < 4});
for my $some ([ 'empty', 0, '' ], [ 'apart', 0, 'No case: ask with a larger max_distance' ],
	[ 'single', 1, 'Read the largest case: 2 letters | Save the cases as a file' ],
	[ 'numbered', 10000, 'Read the largest case: 2 letters | Save the cases as a file' ])
{
	$browser->open_page(page($some->[0], "simdup_report_html('$some->[0]', 'Some', 0, max_groups => 10000)"));
	is(js('return document.querySelectorAll("details.case").length') . ' ' . steps(), "$some->[1] $some->[2]", "$some->[1] cases: $some->[0]");
	is(js('return document.querySelector("#cases .tools").checkVisibility() && !/none/.test(document.getElementById("headline").textContent)'),
		$some->[1] > 0 ? JSON::PP::true : JSON::PP::false, 'which the headline says, and what there is nothing to search in has no tools');
	is_deeply([ $browser->console ], [], 'and no script fails');
	check_rules($some->[0]) if $some->[1] < 2;
}
js('document.getElementById("open-all").click()');
is(js('return new Promise((done) => { const look = () => { const n = document.querySelectorAll("details.case[open] li").length; if (n === 20000) done(n); else setTimeout(look, 100); }; look(); })'),
	20000, 'ten thousand open at once');
$browser->open_page("file://$folder/letters.html");

# --- clicks and keys

$browser->click('details.case summary');
js('return new Promise((done) => { const look = () => { if (document.querySelector("details.case[open] li")) done(); else setTimeout(look, 10); }; look(); })');
sub open_letters { return js('return [...document.querySelectorAll("details.case[open] li")].map((li) => li.innerText.replace(/\s+/g, " ").trim()).join(" | ")'); }
is(js('return document.querySelector("details.case[open] > .text").innerText'), 'The lamp in Mill Lane is out.', 'what its letters have in common');
is(open_letters(),
	'2 2024-01-31 The adds: The lamps in Mill Lane are out. leaves out: The lamp in Mill Lane is out. | 4 2024-01-31 The adds: for weeks. | '
	. '1 2024-01-31 The the first letter adds nothing | 3 2024-01-31 The adds nothing', 'and each by its own words, the most added first');
is(js('return [...document.querySelectorAll("details.case[open] li a")].map((a) => a.href).join()'),
	'https://city.example/letters/2,https://city.example/letters/4,https://city.example/letters/1,https://city.example/letters/3', 'with links');
$browser->click('#show-numbers');
like(open_letters(), qr/2 2024-01-31 The distance 1, resemblance 0\.38 adds: .* distance 6, beyond the limit, /, 'distances are one click away');
js('document.querySelector("details.case summary").focus()');
$browser->type('details.case summary', "\x{E007}");
is(js('return document.querySelector("details.case").open'), JSON::PP::false, 'Enter closes it');
$browser->click('#open-all');
is(js('return document.querySelectorAll("details.case[open]").length'), 3, 'all open at once');
$browser->click('#open-all');
is(js('return document.querySelectorAll("details.case[open]").length'), 0, 'and close');

# --- search

sub groups_shown
{
	return js('return [...document.querySelectorAll("details.case")].filter((g) => g.checkVisibility()).map((g) => g.querySelector("h3").textContent.slice(5)).join()');
}
for my $search ([ '公园', '3', '1 of 3 cases shown' ], [ 'MILL lane', '1', '1 of 3 cases shown' ], [ 'adds nothing', '', '0 of 3 cases shown' ])
{
	js('const search = document.getElementById("search"); search.value = ""; search.dispatchEvent(new Event("input"))');
	$browser->type('#search', $search->[0]);
	is(groups_shown() . ' ' . js('return document.getElementById("found").textContent'), "$search->[1] $search->[2]", encode_utf8("a search for $search->[0]"));
}
js('const search = document.getElementById("search"); search.value = ""; search.dispatchEvent(new Event("input"))');

# --- files

ok(js('const far = [...document.querySelectorAll("#example-list h3")].map((h) => h.textContent); return far[0] === "Distance 3" && far.at(-1) === "Equal fingerprints"'), 'the farthest pairs come first');
ok(js('const gap = (head) => head.nextElementSibling.getBoundingClientRect().left - head.getBoundingClientRect().right; return [...document.querySelectorAll("#example-list h3")].every((head) => gap(head) > 10)'), 'a distance stands apart from its number of pairs');
ok(js('const svg = document.querySelector("#periods svg"), edge = svg.getBoundingClientRect(), longest = [...document.querySelectorAll("#periods .bar0")].map((b) => b.getBoundingClientRect());
	return longest.every((b) => b.left > edge.left && b.right < edge.right && b.top > edge.top && b.bottom < edge.bottom)'), 'the longest bar keeps its edge');
is(js('return document.querySelector("details.case .column").title'), 'at 2024-01-31T08:36:38', 'a date has its time behind it');
ok(js('const fold = document.querySelector("#asked details"); return fold === document.querySelector("main").lastElementChild.lastElementChild && !fold.open && /SELECT/.test(fold.textContent) && /PostgreSQL/.test(fold.textContent)'),
	'the statement and the versions are folded, and last');
like(js('return document.getElementById("figures").textContent'), qr/logarithmic/, 'logarithmic bars say so');
is(js('return ["a;=1", "a;\\t+1", "x;1", "\\t@x", "5;-1"].map(csvCell).join()'), q{"a;'=1","a;'	'+1","x;1","'	'@x","5;'-1"}, 'no cell is a formula after another separator');
is(js('return ["a\\n=1", "a\\r\\n @x", "a\\r-1", "a\\n\\"=1", "a\\n1"].map(csvCell).join()'), qq{"a\n'=1","a\r'\n' \@x","a\r'-1","a\n'""=1","a\n1"}, 'nor after the end of a line');
SKIP:
{
	skip 'LibreOffice is not there', 2 if system('command -v soffice >/dev/null') != 0;
	append_to_file("$folder/cells.csv", encode_utf8(js('return csv(["key", "text"], [["k", "a\\n=20+3;b"], ["k", "a\\r\\n=20+3\\tb"], ["k;=20+3", "=20+3"]])')));
	for my $separator (ord ';', ord "\t")
	{
		local $ENV{HOME} = $folder;
		system("soffice --headless --infilter=CSV:$separator,34,76 --convert-to csv --outdir '$folder/$separator' '$folder/cells.csv' >/dev/null 2>&1");
		unlike(slurp_file("$folder/$separator/cells.csv"), qr/23|Err/, "LibreOffice computes no cell that it parts by character $separator");
	}
}
$browser->click('#with-texts');
$browser->click('#save-cases');
is( decode_utf8($browser->downloaded('cases.csv')),
	"\x{feff}" . join('', map { "$_\r\n" } '"case","key","distance","text"', '"1","1","0","The lamp in Mill Lane is out."',
		'"1","2","1","The lamps in Mill Lane are out."', '"1","3","3","The lamp in Mill Lane is out!"', qq("1","4","6","The lamp in Mill Lane\nis out, for weeks."),
		qq("2","' \@sum","0","路面有坑，请快修。"), qq("2","'=1+2","0","路面有大坑，请修。"), '"3","-5","0","公园的灯坏了。"', qq("3","a""b,c\nd","1","公园里的灯坏了。")),
	'cases as CSV: all rows, and no cell is a formula');
$browser->click('#save-pairs');
my ($first, @pairs) = split /\r\n/, decode_utf8($browser->downloaded('pairs.csv'));
is( join("\n", sort map { s/^"//r =~ s/"$//r =~ s/","/|/gr =~ s/""/"/gr =~ s/(^|\|)'/$1/gr } @pairs),
	join("\n", sort split /\0/, sql(q{SELECT string_agg(concat_ws('|', a.id, b.id, a.fp <~> b.fp), E'\x01')
		FROM letter AS a JOIN letter AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 3)}) =~ s/\x01/\0/gr),
	'pairs as CSV: those of a join');

# --- for everybody

my $contrast = <<'JS';
const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const colour = (text) => text.match(/[\d.]+/g).map(Number);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = colour(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
let least = 21;
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
  const [a, b] = [light(colour(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
  least = Math.min(least, (a + 0.05) / (b + 0.05));
}
return least;
JS
my %background;
for my $scheme ('light', 'dark')
{
	$browser->devtools('Emulation.setEmulatedMedia', { features => [ { name => 'prefers-color-scheme', value => $scheme } ] });
	$background{$scheme} = js('return getComputedStyle(document.body).backgroundColor');
	fill_cases();
	unlike(js('return document.body.innerText'), qr/\[object|undefined|NaN/, "$scheme: every value is a text");
	cmp_ok(js($contrast), '>=', 4.5, "$scheme: every text can be read on its background");
	check_rules("$scheme page");
}
isnt($background{light}, $background{dark}, 'dark where the reader wants it dark');
is_deeply([ $browser->console ], [], 'all the while no script failed');

# --- paper and phone

fill_cases();
$browser->devtools('Emulation.setDeviceMetricsOverride', { width => 390, height => 800, deviceScaleFactor => 1, mobile => JSON::PP::true });
is(js('return [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).length'), 0, 'a phone cuts off no column');
ok(js('return document.documentElement.scrollWidth <= 390'), 'nor anything else');
$browser->devtools('Emulation.clearDeviceMetricsOverride', {});
$browser->devtools('Emulation.setEmulatedMedia', { media => 'print', features => [] });
fill_cases(1);
is(js('const end = (s) => document.querySelector(s).getBoundingClientRect().bottom;
	const at = (s) => document.querySelector(s).getBoundingClientRect();
	return [end("#facts") < end("#case-list"), end("#case-list") < end("#periods"), at("#sizes").top === at("#facts").top && at("#sizes").left > at("#facts").right].join()'),
	'true,true,true', 'paper has the figures, the sizes beside them, and the cases first');
js('dispatchEvent(new Event("beforeprint"))');
is(js('return document.getElementById("case-rest").innerText.trim()'), '', 'paper says nothing of cases that it leaves out where there are none');
is(js('return document.querySelector(".tools").checkVisibility() || document.getElementById("examples").checkVisibility()'), JSON::PP::false, 'paper shows no tools and no pairs');
is(js('return [...document.querySelectorAll("details.case")].filter((d) => d.querySelector("li")?.checkVisibility()).length'), 1, 'and of cases what is open');
$browser->devtools('Emulation.setEmulatedMedia', { media => '', features => [] });

sql('CREATE TABLE many AS SELECT i AS key, (i / 2 * 7919)::bigint::simhash64 AS fp FROM generate_series(2, 501) AS i');
$browser->open_page(page('many', q{simdup_report_html('many', 'Many', 0, max_groups => 220)}));
is(js('return document.getElementById("case-rest").innerText.split("\n")[0]'), '30 smaller cases are left out. A larger max_groups shows more.', 'the screen says what it leaves out');
fill_cases(12);
js('dispatchEvent(new Event("beforeprint"))');
$browser->devtools('Emulation.setEmulatedMedia', { media => 'print', features => [] });
my $printed = js('return [...document.querySelectorAll("details.case")].filter((d) => d.checkVisibility()).length');
is("$printed " . js('return document.getElementById("case-rest").innerText.trim()'), '11 239 more cases are not printed.', 'and paper what paper leaves out');
$browser->devtools('Emulation.setEmulatedMedia', { media => '', features => [] });

# --- a grouping: answers are kept, and saved as one script

sql('SET search_path = public; CREATE TABLE petition AS SELECT i AS id, body, minhash64(body) AS fp FROM (VALUES
  (1, $$To the mayor: the lamp at the corner of Mill Lane has been out for three weeks, please mend it soon, since children walk home there.$$),
  (2, $$To the mayor: the lamp at the corner of Mill Lane has been out for four weeks, please mend it now, since old people walk home there.$$),
  (3, $$To the mayor: the lamp at the corner of Fish Street has been out for four weeks, please mend it now, since my children walk to school there.$$),
  (4, $$公园的灯坏了，请修。$$), (5, $$公园的灯坏了，请快修。$$)) AS v (i, body);
  CREATE VIEW petitions AS SELECT id AS key, fp, body AS content FROM petition;
  SELECT simdup_group($$petition_case$$, $$petitions$$, 12);
  SELECT count(*) FROM simdup_regroup($$petition_case$$)');
my $cases = page('cases', q{simdup_report_html('petitions', 'Petitions', groups => 'petition_case')});
$browser->open_page($cases);
is(js('return document.querySelectorAll("details.case").length'), sql('SELECT count(*) FROM (SELECT FROM petition_case GROUP BY id HAVING count(*) > 1) AS c'),
	'the cases of the grouping');
my $pairs = js('return document.querySelectorAll(".pair").length');
cmp_ok($pairs, '>', 0, 'there are pairs to decide');
$browser->click('.pair input[value=false]');
like(js('return document.getElementById("decided").textContent'), qr/^1 of $pairs pairs decided, not saved yet$/, 'an answer is counted');
check_rules('a page with questions');
$browser->open_page($cases);
is(js('return document.querySelector(".pair input[value=false]").checked'), JSON::PP::true, 'a reload keeps it');
like(js('return document.getElementById("kept").textContent'), qr/^1 of your answers/, 'and tells');
$browser->click('#save-answers');
my $script = decode_utf8($browser->downloaded('decisions.sql'));
like($script, qr/^SELECT \* FROM public\.simdup_decide\('public\.petition_case', ARRAY\['\d+'\], ARRAY\['\d+'\], same => false, refresh => true\);$/m,
	'answers are saved as one call');
sql($script);
is(sql('SELECT count(*) FROM petition_case_decisions WHERE NOT same'), 1, 'which stores them');
sql('SELECT count(*) FROM simdup_undecide($$petition_case$$, ARRAY(SELECT a FROM petition_case_decisions), ARRAY(SELECT b FROM petition_case_decisions));
	CREATE ROLE clerk; GRANT SELECT, DELETE, INSERT (a, b, same, note) ON petition_case_decisions TO clerk');
$browser->open_page($cases);
$browser->click('.pair input[value=true]');
$browser->click('#save-inserts');
my $inserts = decode_utf8($browser->downloaded('decisions-insert.sql'));
like($inserts, qr/^INSERT INTO public\.petition_case_decisions \(a, b, same\) VALUES\n  \('\d+', '\d+', true\);$/m, 'or as an INSERT');
sql("SET ROLE clerk; $inserts");
is(sql('SELECT count(*) FROM petition_case_decisions WHERE same AND by = $$clerk$$'), 1, 'or as an INSERT that a clerk runs');

# --- languages

$browser->open_page(page('chinese', q{simdup_report_html('petitions', '来信', groups => 'petition_case', lang => 'zh')}));
is(js('return document.documentElement.lang'), 'zh', 'a Chinese page says so');
is(js('const seen = document.body.cloneNode(true);
	seen.querySelectorAll("script, noscript, code, .key, .text, .start, b, #decisions, #asked").forEach((e) => e.remove());
	return (seen.textContent.match(/[a-z]{4,}/gi) ?? []).join()'), 'psql', 'and says nothing in English');
unlike(js('return document.body.textContent'), qr/。 /, 'no blank parts its sentences');
my $translations = q{{"cases_many": "{1} F\u00e4lle", "case": "Fall <b>{1}</b>", "direction": "rtl", "open_all": "\"><img src=x onerror=\"window.hacked = 1\">", "found": "<script>{1}</script>"}};
$browser->open_page(page('german', qq{simdup_report_html('letters', 'Briefe', 3, lang => 'de', translations => \$t\$$translations\$t\$)}));
is(js('return document.documentElement.lang + " " + getComputedStyle(document.body).direction'), 'de rtl', 'another language, and its direction');
is(js('return document.querySelector(".case h3").textContent'), 'Fall <b>1</b>', 'translations are text');
is(js('return document.getElementById("open-all").textContent'), '"><img src=x onerror="window.hacked = 1">', 'in the tools');
ok(js('return window.hacked === undefined && document.documentElement.scrollWidth <= innerWidth'), 'which does not run');
check_rules('a page from right to left');

$browser->open_page(page('noun', q{simdup_report_html('letters', 'Petitions', 3, noun => 'petition <b>y')}));
like(js('return document.getElementById("headline").textContent'), qr/^4 of 9 petition <b>ys /, 'another noun than letter');
is(js('document.querySelectorAll("script, noscript, code, .text, .start").forEach((e) => e.remove()); return (document.body.textContent.match(/letters?/gi) ?? []).join()'), '', 'everywhere');

# --- hostile texts, keys, column names, title, query and template

my @bad = (
	'<script>window.hacked = 1</script>', q{"><img src=x onerror="window.hacked = 1">}, q{' onmouseover='window.hacked = 1},
	'</script><script>window.hacked = 1</script>', '</style><svg onload="window.hacked = 1">', '<!--', ']]>', '&lt;b&gt;&#60;i>',
	'javascript:window.hacked=1', "\\u003cscript>", '</title><script>window.hacked = 1</script>', '{{constructor.constructor("window.hacked = 1")()}}',
	"\x{202e}desrever\x{2066}", "\x{200b}\x{feff}\x{2028}", "\x01\x1b[31m\x7f", 'مرحبا بالعالم', '../../../etc', '%s%%00');
sub sql_literal { return "'" . $_[0] =~ s/'/''/gr . "'"; }
# the template's own elements, on a harmless page
my $names = 'return [...new Set([...document.querySelectorAll("*")].flatMap((e) => [e.localName, ...[...e.attributes].map((a) => a.name)]))].sort().join()';
my %template = map { $_ => 1 } split /,/, js($names);
$browser->open_page($cases);
fill_cases();
$template{$_} = 1 for split(/,/, js($names)), 'hidden', 'href', 'rel', 'title', 'open', 'span', 'del', 'ins', 'i', 'a', 'br', 'strong', 'bdi', 'svg', 'rect', 'height', 'width', 'aria-hidden', 'aria-label', 'role', 'tabindex', 'b',
	qw(figure figcaption g line text text-anchor x x1 x2 y y1 y2);
srand 36;
my $reports = 400;
my @faults;
for (my $from = 0; $from < $reports; $from += 20)
{
	# many reports are made by one statement
	my @views;
	my @calls = map {
		my ($k, $t, $c, $title, $say) = map { join ' ', map { $bad[ rand @bad ] } 0 .. rand 3 } 1 .. 5;
		my $column = '"' . (substr($c, 0, 15) =~ s/"/""/gr) . '_"';
		my $rows = join ', ', map { sprintf "(%s, %s, %s)", sql_literal($k . $_), sql_literal("$t $_"), sql_literal($c) } 1 .. 3;
		my $source = 'hostile' . @views;
		push @views, "CREATE OR REPLACE TEMPORARY VIEW $source AS SELECT k AS key, simhash64 '00000000000000ff' AS fp, t AS content, c AS $column, c AS scope FROM (VALUES $rows) AS v (k, t, c)";
		sprintf 'simdup_report_html(%s, %s, 3, row_url => %s, translations => jsonb_build_object(%s, %s::text, %s, %s::text))',
		  sql_literal($source), sql_literal($title), sql_literal(q{https://city.example/"onclick=window.hacked=1//'<b>\\%s?'"><script>window.hacked=1</script>}),
		  sql_literal((qw(case cases count_x common adds search_cases))[ rand 2 ]), sql_literal($say), sql_literal('headline_many'), sql_literal($say)
	} 1 .. 20;
	my @pages = split /\x00/, sql(join('; ', @views) . '; SELECT ' . join(q{ || E'\x01' || }, @calls)) =~ s/\x01/\0/gr;
	for my $i (0 .. $#pages)
	{
		append_to_file("$folder/hostile$from-$i.html", encode_utf8($pages[$i]));
		$browser->open_page("file://$folder/hostile$from-$i.html");
		fill_cases();
		js('for (const e of document.querySelectorAll("body *")) { e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })); e.dispatchEvent(new Event("error")); }');
		my @new = grep { !$template{$_} } split /,/, js($names);
		push @faults, "$from-$i: @new" if @new;
		push @faults, "$from-$i: ran" unless js('return window.hacked === undefined && document.scripts.length === 3 && document.styleSheets.length === 1');
		push @faults, "$from-$i: loads" if js('return performance.getEntriesByType("resource").length');
		push @faults, "$from-$i: links" unless js('return [...document.querySelectorAll("main a:not(#sections a)")].every((a) => new URL(a.href).origin === "https://city.example")');
		unlink "$folder/hostile$from-$i.html";
	}
}
is(join("\n", @faults), '', "$reports hostile reports have no element, handler or request that the template has not");
like(js("try { $_; return 'done'; } catch (error) { return error.message; }"), qr/requires 'Trusted/, "the policy stops what a fault might let through: $_")
  for 'document.body.innerHTML = "<b>"', 'document.createElement("script").textContent = "window.late = 1"';
ok(js('return fetch("data:,x").then(() => false, () => true)'), 'nothing is sent anywhere');

# --- by cron: today beside the last day

my $report_script = sql(q{SELECT setting FROM pg_config WHERE name = 'SHAREDIR'}) . '/extension/simdup-report.sql';
# by_cron NAME, VALUE...: the command of a day's report, whose files have this name
sub by_cron
{
	my ($name, @values) = @_;
	return ('psql', '-X', '-d', $node->connstr('postgres'), (map { ('-v', $_) } @values, "out=$folder/$name"), '-f', $report_script);
}
sql(q{SELECT simdup_group('cron_case', 'letters', 3); SELECT simdup_regroup('cron_case')});
for my $case ([ 'by_source', 'source=letters', 'distance=3' ], [ 'by_columns', 'table=letter', 'body=body', 'fp=fp', 'distance=3' ],
	[ 'by_expressions', 'table=letter WHERE true', 'key=id || $$$$', 'body=btrim(body)', q{fp='00000000000000ff'::simhash64} ],
	[ 'by_contents', 'table=petition', 'body=left(body, 8)' ], [ 'in_chinese', 'source=letters', 'distance=3', 'lang=zh', encode_utf8('title=来信') ],
	[ 'by_groups', 'source=letters', 'groups=cron_case' ])
{
	my @command = by_cron(@$case);
	my ($stdout, $stderr) = run_command(\@command);
	is("$stdout$stderr", '', "$case->[0]: cron has nothing to send");
	$browser->open_page("file://$folder/$case->[0].html");
	is(js('return document.getElementById("headline").textContent.split(/[;\uff1b]/)[0]'),
		{ by_expressions => '8 of 9 letters (88.9 %) repeat another', by_contents => '3 of 5 letters (60.0 %) repeat another',
			in_chinese => '9 封信中有 4 封（44.4%）与别的信重复' }->{ $case->[0] }
		  // '4 of 9 letters (44.4 %) repeat another', "$case->[0]: the page");
}
my @cron = by_cron('daily', 'table=letter', 'body=body', 'fp=fp', 'distance=3', 'url=/letters/%s');
command_ok(\@cron, 'the first day');
my $numbers = slurp_file("$folder/daily.json") =~ s/"day": "[^"]+"/"day": "2001-02-03"/r;
unlink "$folder/daily.json";
append_to_file("$folder/daily.json", $numbers);
sql(q{INSERT INTO letter SELECT 'new' || i, '0ff0ff000ff0ff00', '' FROM generate_series(1, 2) AS i});
for my $run ('the next day', 'the next day once more')
{
	command_ok(\@cron, $run);
	like(slurp_file("$folder/daily.txt"), qr/^ rows +\| +11 \| +9 \| +2$/m, "$run: today beside the day before, as text");
	$browser->open_page("file://$folder/daily.html");
	like(cells('#facts'), qr/^Letters 11 9 \+2 /, "$run: and as a page");
}

$node->stop;
done_testing();

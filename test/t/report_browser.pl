# report_browser: the report in a browser. It is opened, clicked, searched,
# saved and read by its structure; and texts that try to run a script do not.
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
CREATE TABLE letter (id text, fp simhash64, body text);
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
SQL

my $browser = Browser->new($folder);
sub js { return $browser->js(@_); }

# --- the page as it opens

$browser->open_page(page('letters', q{simdup_report_html('SELECT id, fp, body AS content FROM letter ORDER BY id COLLATE "C"',
	'Letters', 3, row_url => 'https://city.example/letters/%s')}));
is(js('return document.title'), 'Letters', 'the title');
is(js('return document.querySelector(".headline").textContent'),
	'5 of 9 letters (55.6 %) repeat another; 3 cases; largest 4', 'the headline');
is(js('return performance.getEntriesByType("resource").length'), 0, 'nothing is loaded');
is_deeply([ $browser->console ], [], 'the policy lets style and script through, and no script fails');
ok(js('return getComputedStyle(document.querySelector("del")).textDecorationLine === "line-through"
	&& getComputedStyle(document.querySelector("ins")).textDecorationLine === "underline"'), 'differences have more than a colour');
unlike(js('return [...document.querySelectorAll("header, .group summary, #groups + p, .tools")].map((e) => e.innerText).join(" ")'),
	qr/\bbits?\b|distance|fingerprint/i, 'the first screen speaks of letters and cases');
is(js('return [...document.querySelectorAll("details:has(> summary > h3)")].map((d) => d.querySelector("h3").textContent).join()'),
	'Case 1,Case 2,Case 3,Equal fingerprints,Distance 1,Distance 2,Distance 3', 'cases, then pairs');
is(js('return [...document.querySelectorAll("details.group")].map((g) => g.querySelector(".loose") ? "loose" : "tight").join()'),
	'loose,tight,tight', 'a case that does not hold together says so');
is(js('return [...document.querySelectorAll("a[href^=http]")].map((a) => a.href).sort().at(-1)'),
	'https://city.example/letters/a%22b%2Cc%0Ad', 'a link of a key');

# bars are as long as the numbers say, on a scale of logarithms
is(js('const rows = [...document.querySelectorAll("#distances ~ .scroll tbody tr")].slice(0, 4);
	const widths = rows.map((row) => row.querySelector("rect.found").getBoundingClientRect().width);
	const numbers = rows.map((row) => Number(row.cells[2].textContent));
	const most = Math.max(...numbers);
	return rows.every((row, i) => Math.abs(widths[i] / Math.max(...widths) - Math.log(1 + numbers[i]) / Math.log(1 + most)) < 0.01)
	  ? numbers.join() : "no"'), '1,2,1,2', 'bars and numbers agree');
cmp_ok(js('return document.querySelector("svg").getBoundingClientRect().width / innerWidth'), '>', 0.6, 'charts are wide');
ok(js('return document.documentElement.scrollWidth <= innerWidth'), 'and the page is no wider than the window');

# --- clicks and keys

is(js('return document.querySelector("details.group").open'), JSON::PP::false, 'a case is closed');
$browser->click('details.group summary');
is(js('return document.querySelector("details.group").open'), JSON::PP::true, 'a click opens it');
sub open_letters { return js('return [...document.querySelectorAll("details.group[open] li")].map((li) => li.innerText.replace(/\s+/g, " ")).join(" | ")'); }
is(js('return document.querySelector("details.group[open] > .text").innerText'), 'The lamp in Mill Lane is out.', 'what its letters have in common');
is(open_letters(),
	'2 adds: The lamps in Mill Lane are out. leaves out: The lamp in Mill Lane is out. | 4 adds: is out, for weeks. | '
	. '1 the first letter adds nothing | 3 adds nothing', 'and each by its own words, the most added first');
$browser->click('#show-numbers');
like(open_letters(), qr/^2 distance 1 adds: .* \| 4 distance 6, beyond the limit adds: .* \| 3 distance 3 adds nothing$/, 'numbers are one click away');
$browser->click('#show-numbers');
unlike(open_letters(), qr/distance/, 'and go by another');
js('document.querySelector("details.group summary").focus()');
$browser->type('details.group summary', "\x{E007}");
is(js('return document.querySelector("details.group").open'), JSON::PP::false, 'Enter closes it');
$browser->click('#open-all');
is(js('return document.querySelectorAll("details.group[open]").length'), 3, 'all open at once');
$browser->click('#open-all');
is(js('return document.querySelectorAll("details.group[open]").length'), 0, 'and close');

# --- search

sub groups_shown
{
	return js('return [...document.querySelectorAll("details.group")].filter((g) => g.checkVisibility()).map((g) => g.querySelector("h3").textContent.slice(5)).join()');
}
$browser->type('#search', '公园');
is(groups_shown(), '3', 'a search leaves the cases that it finds');
is(js('return document.getElementById("found").textContent'), '1 of 3 cases shown', 'and counts them');
ok(js('return document.querySelectorAll("details.group")[2].open'), 'few that are found are open');
js('const search = document.getElementById("search"); search.value = ""; search.dispatchEvent(new Event("input"))');
is(groups_shown(), '1,2,3', 'no search, all cases');
$browser->type('#search', 'adds nothing');
is(groups_shown(), '', "the page's own words are not searched");
js('const search = document.getElementById("search"); search.value = ""; search.dispatchEvent(new Event("input"))');
$browser->type('#search', 'MILL lane');
is(groups_shown(), '1', 'capitals are alike');
$browser->type('#search', ' nowhere');
is(groups_shown(), '', 'what is nowhere is not found');
is(js('return document.getElementById("found").textContent'), '0 of 3 cases shown', 'and the page says so');

# --- files

$browser->click('#save-groups');
is( decode_utf8($browser->downloaded('cases.csv')),
	"\x{feff}" . join('', map { "$_\r\n" } '"case","key","distance"', '"1","1","0"', '"1","2","1"', '"1","3","3"', '"1","4","6"',
		qq("2","' \@sum","0"), qq("2","'=1+2","0"), '"3","-5","0"', qq("3","a""b,c\nd","1")),
	'cases as CSV: all rows, and no cell is a formula');
unlink "$folder/downloads/cases.csv";
$browser->click('#with-texts');
$browser->click('#save-groups');
is( decode_utf8($browser->downloaded('cases.csv')),
	"\x{feff}" . join('', map { "$_\r\n" } '"case","key","distance","text"', '"1","1","0","The lamp in Mill Lane is out."',
		'"1","2","1","The lamps in Mill Lane are out."', '"1","3","3","The lamp in Mill Lane is out!"', qq("1","4","6","The lamp in Mill Lane\nis out, for weeks."),
		qq("2","' \@sum","0","路面有坑，请快修。"), qq("2","'=1+2","0","路面有大坑，请修。"), '"3","-5","0","公园的灯坏了。"', qq("3","a""b,c\nd","1","公园里的灯坏了。")),
	'with the texts, if they are ticked');
$browser->click('#save-pairs');
my ($head, @pairs) = split /\r\n/, decode_utf8($browser->downloaded('pairs.csv'));
is( join("\n", sort map { s/^"//r =~ s/"$//r =~ s/","/|/gr =~ s/""/"/gr =~ s/(^|\|)'/$1/gr } @pairs),
	join("\n", sort split /\0/, sql(q{SELECT string_agg(concat_ws('|', a, b, distance), E'\x01') FROM simdup_pairs(
		'SELECT id, fp FROM letter ORDER BY id COLLATE "C"', NULL::text, 3)}) =~ s/\x01/\0/gr),
	'pairs as CSV: those of simdup_pairs');

# --- for everybody

my $contrast = <<'JS';
const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const colour = (text) => text.match(/[\d.]+/g).map(Number);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = colour(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
document.querySelectorAll('details').forEach((d) => { d.open = true; });
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
	cmp_ok(js($contrast), '>=', 4.5, "$scheme: every text can be read on its background");
}
isnt($background{light}, $background{dark}, 'dark where the reader wants it dark');
is(js('return document.documentElement.lang'), 'en', 'the page has a language');
is(js('return [...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1])).reduce((worst, level, i, all) => Math.max(worst, level - (all[i - 1] ?? 0)), 0)'),
	1, 'no level of headings is left out');
is(js('return [...document.querySelectorAll("input, button")].filter((e) => !(e.labels?.length || e.textContent.trim())).length'),
	0, 'each control has a name');
is(js('return [...document.querySelectorAll("th")].filter((e) => !e.scope).length'), 0, 'each heading of a table says of what');
is(js('return document.querySelectorAll("[tabindex], [role=img], [accesskey]").length'), 0, 'keys go in the order of the page');
is_deeply([ $browser->console ], [], 'all the while no script failed');

# --- a grouping: answers are kept, and saved as one script

sql('SET search_path = public; CREATE TABLE petition AS SELECT i AS id, body, minhash64(body) AS fp FROM (VALUES
  (1, $$To the mayor: the lamp at the corner of Mill Lane has been out for three weeks, please mend it soon, since children walk home there.$$),
  (2, $$To the mayor: the lamp at the corner of Mill Lane has been out for four weeks, please mend it now, since old people walk home there.$$),
  (3, $$To the mayor: the lamp at the corner of Fish Street has been out for four weeks, please mend it now, since my children walk to school there.$$),
  (4, $$公园的灯坏了，请修。$$), (5, $$公园的灯坏了，请快修。$$)) AS v (i, body);
  ALTER TABLE petition ADD PRIMARY KEY (id);
  SELECT simdup_group($$petition_case$$, $$SELECT id, fp, body AS content FROM public.petition ORDER BY id$$, 12);
  SELECT count(*) FROM simdup_regroup($$petition_case$$)');
my $cases = page('cases', q{simdup_report_html('SELECT id, fp, body AS content FROM petition ORDER BY id', 'Petitions', 12, groups => 'petition_case')});
$browser->open_page($cases);
is(js('return document.querySelectorAll("details.group").length'), sql('SELECT count(*) FROM (SELECT FROM petition_case GROUP BY id HAVING count(*) > 1) AS c'),
	'the cases of the grouping');
my $pairs = js('return document.querySelectorAll(".pair").length');
cmp_ok($pairs, '>', 0, 'there are pairs to decide');
is(js('return new Set([...document.querySelectorAll("legend")].map((l) => l.textContent)).size'), $pairs, 'each with a name of its own');
$browser->click('.pair input[value=false]');
like(js('return document.getElementById("decided").textContent'), qr/^1 of $pairs pairs decided, not saved yet$/, 'an answer is counted');
$browser->open_page($cases);
is(js('return document.querySelector(".pair input[value=false]").checked'), JSON::PP::true, 'a reload keeps it');
like(js('return document.getElementById("kept").textContent'), qr/^1 of your answers/, 'and tells');
$browser->click('#save-decisions');
my $script = decode_utf8($browser->downloaded('decisions.sql'));
like($script, qr/^SELECT \* FROM public\.simdup_decide\('public\.petition_case', ARRAY\['\d+'\]::pg_catalog\.int4\[\], ARRAY\['\d+'\]::pg_catalog\.int4\[\], same => false, refresh => true\);$/m,
	'answers are saved as one call');
sql($script);
is(sql('SELECT count(*) FROM petition_case_decisions WHERE NOT same'), 1, 'which stores them');
$browser->open_page($cases);
is(js('return document.getElementById("kept").textContent'), '', 'and the browser keeps nothing more');

# --- paper and phone

js('dispatchEvent(new Event("beforeprint"))');
is(js('return document.querySelectorAll("details:not([open])").length'), 0, 'paper shows every case');
js('dispatchEvent(new Event("afterprint"))');
cmp_ok(js('return document.querySelectorAll("details:not([open])").length'), '>', 0, 'and the screen what it showed');
$browser->devtools('Emulation.setDeviceMetricsOverride', { width => 390, height => 800, deviceScaleFactor => 1, mobile => JSON::PP::true });
js('document.querySelectorAll("details").forEach((d) => { d.open = true; })');
is(js('return [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).length'), 0, 'a phone cuts off no column');
ok(js('return document.documentElement.scrollWidth <= 390'), 'nor anything else');
$browser->devtools('Emulation.clearDeviceMetricsOverride', {});

# --- languages

sql(q{INSERT INTO petition SELECT 10 + i, '春风路口的路灯从五月起一直不亮，夜里学生回家看不清路，请尽快派人修理。' || own, minhash64('春风路口的路灯从五月起一直不亮，夜里学生回家看不清路，请尽快派人修理。')
	FROM unnest(ARRAY['', '上周我母亲在那里摔伤了手腕。', '谢谢。']) WITH ORDINALITY AS u (own, i); SELECT count(*) FROM simdup_regroup('petition_case')});
$browser->open_page(page('chinese', q{simdup_report_html('SELECT id, fp, body AS content FROM petition ORDER BY id', '来信', 12, groups => 'petition_case', lang => 'zh')}));
is(js('return document.documentElement.lang'), 'zh', 'a Chinese page says so');
is(js('const seen = document.body.cloneNode(true);
	seen.querySelectorAll("script, code, .key, .text, .start, b, #question ~ dl").forEach((e) => e.remove());
	return (seen.textContent.match(/[a-z]{4,}/gi) ?? []).join()'), 'postgres',
	'and says nothing in English but who decided');
is(js('const group = [...document.querySelectorAll("details.group")].find((g) => g.textContent.includes("春风")); group.open = true;
	return [...group.querySelectorAll("li")].map((li) => li.innerText.replace(/\s+/g, " ")).join(" | ")'),
	'12 增加： 上周我母亲在那里摔伤了手腕。 | 13 增加： 谢谢。 | 11 第一封信 没有增加内容', 'what each letter adds');
$browser->type('#search', '摔伤');
is(js('return document.getElementById("found").textContent'), '显示 ' . js('return document.querySelectorAll(".group").length') . ' 个案件中的 1 个', 'the script speaks Chinese, too');
unlink "$folder/downloads/cases.csv";
$browser->click('#save-groups');
like(decode_utf8($browser->downloaded('cases.csv')), qr/^\x{feff}"案件","编号","距离"\r$/m, 'and so do the files');
my $translations = q{{"cases_many": "{1} F\u00e4lle", "case": "Fall <b>{1}</b>", "direction": "rtl", "open_all": "\"><img src=x onerror=\"window.hacked = 1\">", "found": "<script>{1}</script>"}};
$browser->open_page(page('german', qq{simdup_report_html('SELECT id, fp, body AS content FROM petition ORDER BY id', 'Briefe', 12, groups => 'petition_case', lang => 'de', translations => \$t\$$translations\$t\$)}));
is(js('return document.documentElement.lang + " " + getComputedStyle(document.body).direction'), 'de rtl', 'another language, and its direction');
is(js('return document.querySelector(".group h3").textContent'), 'Fall <b>' . js('return JSON.parse(document.getElementById("data").textContent).rows[0][0]') . '</b>', 'translations are text');
like(js('return document.querySelector(".headline").textContent'), qr/ repeat another; \d+ Fälle; /, 'and what lacks one stays English');
is(js('return document.getElementById("open-all").textContent'), '"><img src=x onerror="window.hacked = 1">', 'in the tools');
$browser->type('#search', 'lamp');
is(js('return document.getElementById("found").textContent'), '<script>1</script>', 'and in what the script says');
ok(js('return window.hacked === undefined && document.documentElement.scrollWidth <= innerWidth'), 'which does not run');

# --- hostile texts, keys, title, query and template

my @bad = (
	'<script>window.hacked = 1</script>', q{"><img src=x onerror="window.hacked = 1">}, q{' onmouseover='window.hacked = 1},
	'</script><script>window.hacked = 1</script>', '</style><svg onload="window.hacked = 1">', '<!--', ']]>', '&lt;b&gt;&#60;i>',
	'javascript:window.hacked=1', "\\u003cscript>", '</title><script>window.hacked = 1</script>', '{{constructor.constructor("window.hacked = 1")()}}',
	"\x{202e}desrever\x{2066}", "\x{200b}\x{feff}\x{2028}", "\x01\x1b[31m\x7f", 'مرحبا بالعالم', '../../../etc', '%s%%00');
# each in a group of its own
my $n = 0;
my $values = join ', ', map { my ($q, $fp) = (s/'/''/gr, sprintf('%02x', $n++) x 8); "('$q', '$fp', '$q'), ('$q', '$fp', '$q and')" } @bad;
my $title = join ' ', @bad;
my $large = q{('1 MB', 'ffffffffffffffff', repeat('<b>one</b> ', 100000)), ('1 MB too', 'ffffffffffffffff', repeat('<b>one</b> ', 99999) || '<i>')};
$browser->open_page(page('hostile', qq{simdup_report_html(\$q\$SELECT k::text, f::simhash64, t::text FROM (VALUES $values, $large) AS v (k, f, t)\$q\$,
	\$t\$$title\$t\$, 3, row_url => \$u\$https://city.example/"onclick=window.hacked=1//'<b>\\%s?'"><script>window.hacked=1</script>\$u\$)}));
js('document.querySelectorAll("details").forEach((d) => { d.open = true; })');
js('for (const e of document.querySelectorAll("body *")) { e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })); e.dispatchEvent(new Event("load")); e.dispatchEvent(new Event("error")); }');
ok(js('return window.hacked === undefined'), 'no text of a table runs as a script');
is(js('return document.scripts.length + document.styleSheets.length'), 4, 'the page has its own scripts and style only');
is(js('return [...new Set([...document.querySelectorAll("body *")].map((e) => e.localName))].sort().join()'),
	'a,article,b,bdi,button,caption,code,dd,del,details,div,dl,dt,h1,h2,h3,h4,header,i,input,ins,label,li,line,main,nav,ol,output,p,rect,script,section,span,summary,svg,table,tbody,td,th,thead,time,tr',
	'no element is made of data');
is(js('return [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].map((a) => a.name)).filter((name) => name.startsWith("on") || name === "style" || name === "src").length'),
	0, 'nor an attribute');
is(js('return [...new Set([...document.querySelectorAll("main a")].map((a) => new URL(a.href).origin))].join()'), 'https://city.example', 'links stay on their host');
is(js('return [...document.querySelectorAll("b.key")].filter((b) => b.textContent === arguments[0]).length > 0', $bad[0]), JSON::PP::true, 'a hostile key is shown as it is');
is(js('return [...document.querySelectorAll("b.key")].filter((b) => b.textContent.includes("U+202E")).length > 0'), JSON::PP::true, 'what turns the text round is named');
is(js('return JSON.parse(document.getElementById("data").textContent).rows.filter((row) => row[1] === arguments[0]).length', $bad[3]), 2, 'and goes whole into files');
like(js("try { $_; return 'done'; } catch (error) { return error.message; }"), qr/requires 'Trusted/, "the policy stops what a fault might let through: $_")
  for 'document.body.innerHTML = "<b>"', 'document.createElement("script").textContent = "window.late = 1"',
  'document.createElement("img").setAttribute("onerror", "window.late = 1")', 'setTimeout("window.late = 1")';
ok(js('return fetch("data:,x").then(() => false, () => true)'), 'nothing is sent anywhere');
like(join("\n", $browser->console), qr/Content Security Policy/, 'and says so');

# --- many groups

sql(q{CREATE TABLE many AS SELECT i AS id, (('x' || substr(md5((i / 2)::text), 1, 16))::bit(64))::simhash64 AS fp,
	'letter ' || i || repeat(' and a few words', 20) AS body FROM generate_series(2, 20001) AS i});
$browser->open_page(page('many', q{simdup_report_html('SELECT id, fp, body AS content FROM many ORDER BY id', 'Many', 0, max_groups => 1000000)}));
cmp_ok(-s "$folder/many.html", '<', 12_000_000, '10,000 cases are a page of ' . (-s "$folder/many.html") . ' bytes');
$browser->type('#search', 'letter 776 and');
like(js('return document.getElementById("found").textContent'), qr/^1 of [\d,]+ cases shown$/, 'in which a search finds one');
like(js('return document.querySelector("#groups ~ .rest")?.textContent ?? "all are shown"'), qr/left out|all are shown/, 'and which says what it leaves out');

# --- by cron: today beside the last day

my @cron = ('psql', '-X', '-d', $node->connstr('postgres'), '-v', 'table=letter', '-v', 'body=body', '-v', 'distance=3', '-v', "out=$folder/daily",
	'-v', 'url=/letters/%s', '-f', "$FindBin::RealBin/../demo/report.sql");
command_ok(\@cron, 'the first day');
like(slurp_file("$folder/daily.txt"), qr/^ headline +\| 5 of 9 rows \(55.6 %\) repeat another; 3 clusters; largest 4 +\| +5 \| +\|/m, 'has no day before it');
my $numbers = slurp_file("$folder/daily.json") =~ s/"day": "[^"]+"/"day": "2001-02-03"/r;
unlink "$folder/daily.json";
append_to_file("$folder/daily.json", $numbers);
sql(q{INSERT INTO letter SELECT 'new' || i, '0ff0ff000ff0ff00', '' FROM generate_series(1, 2) AS i});
for my $run ('the next day', 'the next day once more')
{
	command_ok(\@cron, $run);
	like(slurp_file("$folder/daily.txt"), qr/^ rows +\| all +\| +11 \| +9 \| +2$/m, "$run: today beside the day before, as text");
	$browser->open_page("file://$folder/daily.html");
	is(js('return [...document.querySelectorAll("#numbers ~ .scroll tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent).join(" ")).slice(0, 1).join()'),
		'letters: all 11 9 +2', "$run: and as a page");
}

$browser->stop;
$node->stop;
done_testing();

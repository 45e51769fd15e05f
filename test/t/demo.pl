# demo: make demo finds the duplicates that were written into the project's
# petitions, and reads CSV files of several kinds.

use strict;
use warnings;

use Encode qw(decode_utf8 encode_utf8);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('demo');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

my $folder = PostgreSQL::Test::Utils::tempdir();
my $report = "$folder/pages/report.html";
my ($output, $errors);

# Run the demo on a CSV, or on the project's petitions; its exit status.
sub demo
{
	my ($csv) = @_;

	my $script = '. test/server.sh; export PGHOST="$1" PGPORT="$2"; . test/demo/run.sh';

	local $ENV{DATA} = $csv // '';
	local $ENV{TEXT} = $_[1] // '';
	local $ENV{REPORT} = $report;
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS demo');
	IPC::Run::run [ 'bash', '-c', $script, 'bash', $node->host, $node->port ],
	  '<', '/dev/null', '>', \$output, '2>', \$errors;
	$output = decode_utf8($output);
	return $? >> 8;
}

# A CSV of these bytes.
sub csv
{
	my ($bytes, $name) = @_;
	my $file = "$folder/" . ($name // 'user.csv');

	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle $bytes;
	close $handle;
	return $file;
}

sub answer
{
	my ($sql) = @_;
	return $node->safe_psql('demo', $sql);
}

# Output is for a terminal of 100 columns, and has nothing but its results.
sub readable
{
	my ($name) = @_;
	my @wide = grep {
		# where the file is, is the user's affair
		my $line = s{/\S*/}{}r;
		my $double = () = $line =~ /[\p{East_Asian_Width=Wide}\p{East_Asian_Width=Fullwidth}]/g;
		length($line) + $double > 100;
	} split /\n/, $output;
	my @noise = grep { /^(CREATE|ALTER|COPY|INSERT|UPDATE|DO|SELECT)( [A-Z]+| [0-9 ]+)?$/ }
	  split /\n/, $output;

	is($errors, '', "$name: nothing goes wrong");
	unlike($output, qr/^SELECT .*\) *\n(?:Time|\z)/m, "$name: a statement that is shown has its semicolon");
	is_deeply(\@wide, [], "$name: at most 100 columns");
	is_deeply(\@noise, [], "$name: no command tags");
	return;
}

# --- the project's petitions

is(demo(), 0, 'the demo runs');
readable('the demo');
like($output, qr/^Next: /m, 'the demo says what to look at next');

is(answer('SELECT count(*), count(minhash64(content)) FROM petition WHERE id < 2000'), '269|269',
	'every petition has a fingerprint');
is( answer(q{SELECT count(*) FROM petition AS a JOIN petition AS b ON a.id < b.id AND a.content = b.content
             WHERE NOT EXISTS (SELECT FROM truth WHERE (truth.a, truth.b, kind) = (a.id, b.id, 'copy'))}),
	'0', 'equal texts are known copies');
is( answer(q{SELECT kind, count(*), count(*) FILTER (WHERE distance <= 3), count(distance)
             FROM truth LEFT JOIN pair USING (a, b) GROUP BY kind ORDER BY kind}),
	"addition|14|2|6\ncopy|14|14|14\nedit|27|8|25\nplace_only|15|6|15\ntemplate|72|34|72",
	'what is found of each kind within 3 and 8');

# The rows that the indexes find for every row, against every pair.
for my $search (
	[ 'petition_blocks', 'simhash_blocks(p.fp, 4) && simhash_blocks(q.fp, 4) AND p.fp <~> q.fp <= 3', 'q.fp <~> p.fp <= 3' ],
	[ 'petition_near', 'simdup_resembles(p.content, q.content, 0.5)',
		'minhash64(p.content) <~> minhash64(q.content) <= minhash64_distance(0.5) AND shingle_resemblance(p.content, q.content) >= 0.5' ])
{
	my ($index, $condition, $plain) = @$search;
	my $query = "SELECT q.id AS q, p.id FROM petition AS q JOIN petition AS p ON $condition";
	my $indexed = 'SET simdup.enable_join = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';

	like(answer("$indexed EXPLAIN (COSTS OFF) $query"), qr/Index Scan (?:on|using) $index/, "a search uses $index");
	is( answer("$indexed $query ORDER BY 1, 2"),
		answer("SELECT p.id, q.id FROM petition AS p, petition AS q WHERE $plain ORDER BY 1, 2"),
		'and finds what a comparison of all rows finds');
}

is( answer('SELECT id, repeats FROM petition WHERE id > 2000 ORDER BY id'),
	"2001|1004\n2002|\n2003|1259",
	'new petitions: an edit and a forwarded letter are flagged, another matter is not');
is( answer(q{SELECT count(*) FROM petition WHERE id < 2000 AND repeats IS NOT NULL}),
	'0', 'earlier petitions are not');

# A decision of a person holds: the two letters are in different cases.
is(answer('SELECT count(DISTINCT id) FROM petition_case WHERE key IN (1017, 1056)'), '2', 'rows decided not the same are in two cases');
like($output, qr/^ *1056 \| +\d+ \| +\d+$/m, 'the demo shows which row moves');

# The large table: which of its last letters are a pair with the letter that they repeat.
is( answer(q{SELECT count(*), count(*) FILTER (WHERE near) > 9900, count(*) FILTER (WHERE near <> (pair.a IS NOT NULL))
             FROM (SELECT o.id AS a, c.id AS b, o.content <~~> c.content <= 8 AS near
                   FROM letter AS o JOIN letter AS c ON c.id = 90000 + o.id / 9 WHERE o.id % 9 = 0 AND o.id <= 90000) AS repeat
             LEFT JOIN (WITH f AS MATERIALIZED (SELECT id, minhash64(content) AS fp FROM letter)
               SELECT a.id AS a, b.id AS b FROM f AS a JOIN f AS b ON a.id < b.id AND simhash_within(a.fp, b.fp)) AS pair USING (a, b)}),
	'10000|t|0', 'the repeats of the large table are found');
my ($n_pairs, $n_repeats) = $output =~ /^== 7\. .*^ +pairs *\n-+\n +(\d+)\n.*^ rows that repeat another *\n-+\n +(\d+)\n/ms;
cmp_ok($n_pairs // 0, '>=', 10000, 'and the pairs of it');
cmp_ok($n_repeats // 0, '>=', 10000, '... and its clusters');
like($output, qr/^== 7\. .*^CREATE INDEX letter_near .*^Time: .*^== 8\. The road of the documents/ms, 'the large table is timed, before the documents');

# The two fingerprints side by side: minhash64 finds more and errs less.
is( answer(q{SELECT fingerprint, within, round(recall, 3), round(precision, 3), "other place only" FROM quality ORDER BY within, fingerprint}),
	"minhash64|3|0.457|1.000|6\nsimhash|3|0.323|1.000|2\nminhash64|8|0.921|1.000|15\nsimhash|8|0.717|0.981|10\n"
	  . "minhash64|10|0.945|1.000|15\nsimhash|10|0.795|0.974|13",
	'recall and precision of both fingerprints');
like($output, qr/^Recommended: minhash64 within 8/m, 'the demo recommends one');

# The report is a page, with the planted copy as a pair.
my $page = slurp_file($report);
like($output, qr/^The report: \Q$report\E$/m, 'the demo names its report');
like($page, qr/^<!DOCTYPE html>.*1004.*2001/s, 'which has the edited copy');

# Pairs and cases, against all pairs.
sub check_pairs
{
	my ($name) = @_;

	is( answer('SELECT least(a, b), greatest(a, b), distance FROM pair ORDER BY 1, 2'),
		answer('SELECT a.id, b.id, minhash64(a.content) <~> minhash64(b.content) FROM petition AS a JOIN petition AS b ON a.id < b.id
		        WHERE minhash64(a.content) <~> minhash64(b.content) <= 8 ORDER BY 1, 2'),
		"$name: pairs");
	is( answer('SELECT count(*) FROM (SELECT key, min(key) OVER (PARTITION BY id) AS first FROM petition_case) AS c
	            WHERE key <> first AND NOT EXISTS (SELECT FROM pair WHERE (least(key, first), greatest(key, first)) = (a, b))'),
		'0', "$name: each row of a case is near its first");
	return;
}
check_pairs('petitions');

# Letters of the locale's language come first.
my $chinese = qr/\p{Script=Han}/;
my $first = qr/^== 2\..*?1\.00 \| *([^\n]*)/ms;
like(($output =~ $first)[0], qr/^I am /, 'an English letter comes first');
{
	delete local $ENV{LC_MESSAGES};
	local $ENV{LANG} = 'zh_CN.UTF-8';
	is(demo(), 0, 'the demo runs in a Chinese locale');
	readable('in Chinese');
	like(($output =~ $first)[0], qr/^$chinese/, 'where a Chinese letter comes first');
	like(slurp_file($report), qr/<html lang="zh"/, 'the report is in Chinese');
	is(answer('SELECT count(DISTINCT id) FROM petition_case WHERE key IN (1025, 1032)'), '2', 'and two Chinese letters are decided on');
}

# --- a user's CSV

my $one = 'The bridge over the old canal has been closed to bicycles since the flood in May.';
my $two = 'Please mend the lamp at the corner of the fish market; it has been dark for weeks.';
my $zh = encode_utf8("\x{6865}\x{8fb9}\x{7684}\x{8def}\x{706f}\x{574f}\x{4e86}\x{4e09}\x{4e2a}\x{6708}\x{3002}");

# The demo takes this CSV: its text and its row names are from these columns,
# and this is how many rows have a fingerprint.
sub takes
{
	my ($name, $bytes, $content, $id, $rows, $fingerprints, $text) = @_;

	s/"/""/g for grep { defined } $content, $id;
	is(demo(csv($bytes), $text), 0, "$name: the demo runs");
	readable($name);
	like($output, qr/^The text is column "\Q$content\E"$/m, "$name: the text");
	like($output,
		defined $id ? qr/^The name of a row is column "\Q$id\E"$/m : qr/^No column names each row once/m,
		"$name: the name of a row");
	# three more rows have arrived
	is(answer('SELECT (SELECT count(*) FROM csv), count(minhash64(content)) - 3 FROM petition'),
		"$rows|$fingerprints", "$name: rows and fingerprints");
	is( answer('SELECT count(*) FROM petition AS p JOIN petition AS q ON q.id = p.repeats AND upper(q.content) || $$!$$ = p.content'),
		'1', "$name: the planted copy is flagged");
	like(slurp_file($report), qr/^<!DOCTYPE html>/, "$name: the report is written");
	return;
}

takes('plain', "id,text\n7,$one\n8,$two\n", 'text', 'id', 2, 2);
my $long = join ' ', ("https://example.org/attachments/$one") =~ s/ /-/gr, 'HTTP://example.org/' . 'x' x 100;
takes('a docket, with longer links', "id,Comment,Attachments,place\n7,$one,\"$long\",\n8,$two,\"$long, www.example.org\",x\n", 'Comment', 'id', 2, 2);
takes('no name for a text, and links', "id,says,link\n7,$one,$long\n8,$two,$long\n", 'says', 'id', 2, 2);
takes('a column that is named', "id,text,says\n7,$one a,$two\n8,$two a,$one\n", 'says', 'id', 2, 2, 'says');
isnt(demo(csv("id,link\n7,$long\n"), 'says'), 0, 'a column that is not there');
like($errors, qr/no column of .* is the text; name it: TEXT=column/, '... the message');
takes('byte order mark, line ends of Windows',
	"\xef\xbb\xbfid,text\r\n7,$one\r\n8,$two\r\n", 'text', 'id', 2, 2);
takes('quoted names',
	qq("the ""id"" of it","what, they\nwrote",note\n7,"$one",a\n8,"$two\nTwice.",b\n),
	'what, they wrote', undef, 2, 2);
takes('byte order mark before a quote', qq(\xef\xbb\xbf"id","text"\n7,"$one"\n), 'text', 'id', 1, 1);
takes('one column', "letter\n$two\n$two\n", 'letter', undef, 2, 2);
takes('no line end at the end', "id,text\n7,$one", 'text', 'id', 1, 1);
takes('Chinese', encode_utf8("\x{7559}\x{8a00}\x{7f16}\x{53f7},\x{7559}\x{8a00}\x{8be6}\x{60c5},longer\n") . "1,$zh,$one\n2,$zh,$two\n",
	"\x{7559}\x{8a00}\x{8be6}\x{60c5}", "\x{7559}\x{8a00}\x{7f16}\x{53f7}", 2, 2);
takes('empty texts', "id,text\n1,\n2,$one\n3,\"\"\n4,...\n", 'text', 'id', 4, 1);
takes('names given twice, or not at all, or taken by the server',
	"fp,,xmin,fp,\n1,2,3,$one,5\n", 'fp column 4', undef, 1, 1);
takes('ids given twice', "id,text\n7,$one\n7,$two\n", 'text', undef, 2, 2);
takes('an id is missing', "id,text\n7,$one\n,$two\n", 'text', undef, 2, 2);
takes('ids with leading zeros', "id,text\n7,$one\n07,$two\n", 'text', 'id', 2, 2);
takes('ids as text', "key,text\n0b9f6d4e-3c1a-4f7e-9d7e-2b1c5a7f8e90,$one\nb,$two\n", 'text', 'key', 2, 2);
takes('semicolons', "id;text\n7;\"$one\"\n", 'text', 'id', 1, 1);
takes('tabs', "id\ttext\n7\t$one\n", 'text', 'id', 1, 1);
takes('bars', "id|text\n7|\"$one\"\n", 'text', 'id', 1, 1);
takes('a comma in a name between semicolons', "id;text;date, if any\n7;\"$one\";2026\n", 'text', 'id', 1, 1);
takes('a quoted name with a comma', qq("id";"what, they, wrote"\n7;"$one"\n), 'what, they, wrote', 'id', 1, 1);
takes('line ends of old Macs', "id,text\r7,$one\r8,$two\r", 'text', 'id', 2, 2);
takes('hostile names', qq("id","a'b""; DROP TABLE csv; --\\"\n1,"$one"\n), qq(a'b"; DROP TABLE csv; --\\), 'id', 1, 1);
takes('columns called as in the queries', "line,key,value,content,csv_row\na,7,b,$one,c\n", 'content', 'key', 1, 1);
takes('nothing alike', "id,text\n" . join('', map { "$_,only " . $_ x 5 . " here\n" } 1 .. 3), 'text', 'id', 3, 3);
takes('all alike', "id,text\n" . join('', map { "$_,$one\n" } 1 .. 300), 'text', 'id', 300, 300);
check_pairs('all alike');
takes('a chain', "id,text\n" . join('', map { "$_," . join(' ', map { "word$_" } $_ .. $_ + 60) . "\n" } 1 .. 80),
	'text', 'id', 80, 80);
check_pairs('a chain');

is(demo(csv("id,text\n7,$one\n", q(it's "mine" $HOME.csv))), 0, 'a file name with everything in it');

# The demo refuses this file, with these words and nothing on its output.
sub refuses
{
	my ($name, $file, $words) = @_;

	isnt(demo($file), 0, "$name: the demo stops");
	like($errors, $words, "$name: and says why");
	return;
}

refuses('no file', "$folder/absent.csv", qr/there is no file .*absent/);
refuses('a folder', $folder, qr/is not a file/);
refuses('empty', csv(''), qr/is empty/);
refuses('only a header', csv("id,text\n"), qr/has no rows/);
refuses('no words', csv("id,text\n,\n,...\n"), qr/no words/);
refuses('another encoding', csv("id,text\n1,\xc7\xc5\xb1\xdf\n"), qr/is not UTF-8.*iconv/);
refuses('not text', csv("id,text\n1,a\0b\n"), qr/is not a text file/);
refuses('UTF-16', csv("\xff\xfei\0d\0"), qr/UTF-16.*iconv/);
refuses('too many fields', csv("id,text\n7,$one\n8,$two,more\n"), qr/line 3.*cannot be read as CSV/s);
refuses('too few fields', csv("id,text\n7\n"), qr/line 2.*cannot be read as CSV/s);
refuses('a quote without its other', csv("id,text\n7,\"$one\n"), qr/cannot be read as CSV/);

done_testing();

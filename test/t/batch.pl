# batch: joins and windows of many rows. On disk they find the same as in memory, which
# their results take none of. A cancelled window leaves no temporary file. Both say how
# far they are. The report is the same page in any encoding.
#
# join_limits.pl stops joins and lets them fail, and memory.pl repeats both.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(peak_kb);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('batch');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "hash_mem_multiplier = 1\nenable_nestloop = off\nlog_temp_files = 0\n");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{
  CREATE EXTENSION simdup;
  CREATE FUNCTION fp_of(i int) RETURNS simhash64 IMMUTABLE
    RETURN (('x' || substr(md5(i::text), 1, 16))::bit(64))::simhash64;
  CREATE TABLE rows (kind text, id bigint, fp simhash64, pad text GENERATED ALWAYS AS (repeat('x', (id % 50)::int)) STORED);
  -- more than 256 kB of each
  INSERT INTO rows SELECT 'copies', i, CASE WHEN i % 10 = 0
      THEN (fp_of(i / 20)::bigint # (1::bigint << i % 61) # (1::bigint << i % 59))::simhash64 ELSE fp_of(i) END
    FROM generate_series(1, 30000) i;
  -- three values of the high half: runs that do not fit in memory either
  INSERT INTO rows SELECT 'skewed', i, (fp_of(i)::bigint & 4294967295 | (i % 3)::bigint << 40)::simhash64
    FROM generate_series(1, 30000) i;
  -- all of 16 bits: dense, and hardly anything to cut
  INSERT INTO rows SELECT 'dense', i, ((i & 255)::bigint | ((i >> 8)::bigint << 50))::simhash64
    FROM generate_series(0, 65535) i;
  INSERT INTO rows SELECT 'equal', i, fp_of(i % 7000) FROM generate_series(1, 40000) i;
  ANALYZE rows;
});

# The pairs of a kind of rows, as a table.
sub pairs_of
{
	my ($kind, $k) = @_;

	return "(SELECT a.id AS a, b.id AS b, b.pad FROM rows a JOIN rows b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k) WHERE a.kind = '$kind' AND b.kind = '$kind')";
}

# The rows of a table, in any order, as one checksum.
sub checksum
{
	my ($memory, $table) = @_;

	return sql("SET work_mem = '$memory'; SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM $table AS t");
}

for my $case ([ copies => 3 ], [ copies => 6 ], [ skewed => 1 ], [ skewed => 3 ], [ dense => 1 ], [ equal => 0 ], [ equal => 3 ])
{
	my $pairs = pairs_of(@$case);

	like(sql("EXPLAIN SELECT * FROM $pairs AS p"), qr/Custom Scan \(Hamming Join\)/, "@$case: by the node");
	is(checksum('256kB', $pairs), checksum('1GB', $pairs), "@$case: the same on disk");
}
is(checksum('1GB', pairs_of('equal', 0)), checksum('1GB', pairs_of('equal', 0) =~ s/simhash_within\(a.fp, b.fp, 0\)/a.fp = b.fp/r), 'equal rows: the same as by equality');
sql(q{CREATE VIEW skewed AS SELECT id AS key, fp FROM rows WHERE kind = 'skewed'});
my ($on_disk, $in_memory) = map {
	sql(qq{SET enable_nestloop = on; SET maintenance_work_mem = '$_'; SET work_mem = '$_';
	  SELECT md5((simdup_report('skewed', 2) - 'made')::text)})
} '1MB', '1GB';
is($on_disk, $in_memory, 'a report is the same on disk');

# Clusters of rows of a kind as a window function, in partitions, as a table.
sub window_of
{
	my ($call, $partition) = @_;
	return "(SELECT id, $call OVER (PARTITION BY kind, $partition ORDER BY id) AS cluster FROM rows WHERE kind <> 'equal' OR id < 3000)";
}

# the same with little memory and with much, in partitions large and small
for my $call (q{simdup_cluster(id, fp, 3, 'connected')}, 'simdup_cluster(id, fp, 2)', q{simdup_cluster('key ' || id, fp, 1)}, 'simdup_component(id, id + 3)')
{
	for my $partition ('id % 1', 'id / 9')
	{
		($on_disk, $in_memory) = map {
			sql("SET work_mem = '$_'; SELECT count(*), count(DISTINCT cluster), sum(hashtextextended(w::text, 0)::numeric) FROM " . window_of($call, $partition) . ' AS w')
		} '256kB', '1GB';
		is($on_disk, $in_memory, "$call by $partition is the same on disk");
	}
}

like(slurp_file($node->logfile), qr/temporary file/, 'the disk was used');

# --- results take no memory

SKIP:
{
	skip 'no /proc here', 3 unless -r '/proc/self/status';
	# of whole rows, as the planner drops a column that nobody reads
	my $peak_kb = sub { return peak_kb($node, "SET work_mem = '8MB'; SELECT count(t) FROM $_[0] AS t"); };
	my $equal = '(SELECT fp_of(i % 1) AS fp, i FROM generate_series(1, %d) i)';
	my ($small, $giant) = map { my $rows = sprintf $equal, $_; $peak_kb->("(SELECT a.i FROM $rows a JOIN $rows b ON a.i < b.i AND simhash_within(a.fp, b.fp, 8))") } 100, 3000;

	cmp_ok($giant - $small, '<', 12_000, "4.5 million pairs take none to speak of ($small and $giant kB)");
	my $clusters = $peak_kb->('(SELECT simdup_cluster(i, fp_of(i % 1)) OVER (ORDER BY i) FROM generate_series(1, 10000) i)');
	cmp_ok($clusters - $small, '<', 12_000, "nor does a cluster of 10000 ($clusters kB)");

	# texts of 8 kB that the table has compressed
	sql(q{CREATE TABLE long AS SELECT i, fp_of(i) AS fp, repeat(md5(i::text), 250) AS content FROM generate_series(1, 10000) i});
	my $texts = $peak_kb->('(SELECT simdup_cluster(i, fp, content, 8, 0.5) OVER (ORDER BY i) FROM long)');
	cmp_ok($texts - $small, '<', 30_000, "80 MB of texts are not kept in memory ($texts kB)");
}

# --- windows that end early

sub temp_files { return sql('SELECT count(*) FROM pg_ls_tmpdir()'); }

my $window = q{SELECT count(c) FROM (SELECT simdup_cluster(i, fp_of(i), 12) OVER (ORDER BY i) AS c FROM generate_series(1, 300000) i) AS w};
for my $timeout (20, 100, 500, 1500)
{
	my ($result, $stdout, $stderr) = $node->psql('postgres', "SET work_mem = '64kB'; SET statement_timeout = $timeout; $window");
	like($stderr, qr/canceling statement due to statement timeout/, "a window is cancelled after $timeout ms");
	is(temp_files(), '0', 'and no temporary file is left');
}
is( sql(q{SET work_mem = '64kB'; SELECT simdup_cluster(i, fp_of(i), 3) OVER (ORDER BY i) FROM generate_series(1, 30000) i LIMIT 1; SELECT count(*) FROM pg_ls_tmpdir()}),
	"1\n0", 'a window that nobody reads to its end leaves none');
{
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		q{SET work_mem = '64kB'; SELECT count(c) FROM (SELECT simdup_cluster(id, (fp::bigint / (65000 - id))::simhash64) OVER (ORDER BY id) AS c FROM rows) AS w});
	like($stderr, qr/division by zero/, 'an argument that fails late');
	is(temp_files(), '0', 'leaves none');
	($result, $stdout, $stderr) = $node->psql('postgres',
		q{SET temp_file_limit = '1MB'; SET work_mem = '64kB'; SELECT count(c) FROM (SELECT simdup_cluster(id, fp) OVER (ORDER BY id) AS c FROM rows) AS w});
	like($stderr, qr/temporary file size exceeds "?temp_file_limit"?/, 'temp_file_limit holds for windows');
	is(temp_files(), '0', 'and leaves none');
}

# --- progress: messages come when asked for, and not otherwise. No phase comes twice,
# and within a phase no number goes back, nor beyond the total. Each phase has one total,
# and no later one is less.

my $skewed = "FROM rows WHERE kind = 'skewed'";
my $anti = "(SELECT id FROM rows a WHERE kind = 'copies' AND NOT EXISTS (SELECT FROM rows b WHERE kind = 'skewed' AND simhash_within(a.fp, b.fp, %d)))";
my $none = "(SELECT id $skewed AND EXISTS (SELECT FROM rows b WHERE kind = 'skewed' AND b.id <> rows.id AND simhash_within(rows.fp, b.fp, 6) AND b.id + rows.id < 0))";
my $texts = "(SELECT i, md5((i / 2)::text) || repeat(' lorem ' || i % 9, 4) AS body FROM generate_series(1, 6000) i)";
my $alike = "(WITH t AS MATERIALIZED $texts SELECT a.i FROM t a JOIN t b ON a.i < b.i AND simdup_resembles(a.body, b.body, 0.9, 1))";
for my $case (
	[ '1GB', 'Hamming Join', pairs_of('skewed', 3) ],
	[ '64kB', 'Hamming Join', pairs_of('skewed', 1) ],
	[ '1GB', 'Hamming Join', sprintf($anti, 4) ],
	[ '64kB', 'Hamming Join', sprintf($anti, 1) ],
	[ '64kB', 'Hamming Join', sprintf($anti, 5) ],
	[ '1GB', 'Hamming Join', $none, 'evaluating' ],
	[ '64kB', 'Shingle Join', $alike, 'joining' ],
	[ '1GB', 'simdup_cluster', "(SELECT id, simdup_cluster(id, fp, 4, 'connected') OVER (ORDER BY id) $skewed)" ],
	[ '1GB', 'simdup_cluster', "(SELECT id, simdup_cluster(id, fp, 4) OVER (ORDER BY id) $skewed)" ],
	[ '64kB', 'simdup_cluster', "(SELECT id, simdup_cluster(id, fp, 3) OVER (ORDER BY id) $skewed)" ])
{
	my ($memory, $name, $rows, $expected) = @$case;
	my (undef, undef, $stderr) = $node->psql('postgres', "SET work_mem = '$memory'; SET simdup.progress_interval = 1; SELECT count(r) FROM $rows AS r");
	my @told = $stderr =~ /NOTICE:  $name: ([a-z ]+), (\d+)(?: of (\d+))?$/mg;
	my (%last, %total, @phases, $back);
	my $most = 0;

	while (my ($phase, $done, $total) = splice(@told, 0, 3))
	{
		push @phases, $phase if !@phases || $phases[-1] ne $phase;
		$back = 1 if $done < ($last{$phase} // 0) || $done > ($total // $done);
		$back = 1 if ($total // 0) != ($total{$phase} //= $total // 0) || ($total // $most) < $most;
		$most = $total // $most;
		$last{$phase} = $done;
	}
	cmp_ok($last{$expected // 'comparing'} // 0, '>', 0, "$name, $memory: progress is told");
	ok(!$back && @phases == keys %last, "$name, $memory: and never goes back (@phases)");
	(undef, undef, $stderr) = $node->psql('postgres', "SET work_mem = '$memory'; SET simdup.progress_interval = 0; SELECT count(r) FROM $rows AS r");
	is($stderr, '', "$name, $memory: no progress is told where it is turned off");
}

# others see it too, and nothing of it once the statement ends or is cancelled
my $slow = q{SELECT simdup_cluster(i, (CASE WHEN pg_sleep(0.001) IS NOT NULL THEN i END)::simhash64) OVER () FROM generate_series(1, 100000::bigint) AS i};
my $run = IPC::Run::start([ 'psql', '-qXAt', '-d', $node->connstr('postgres') . q{ application_name=nightly}, '-c', 'SET simdup.progress_interval = 1',
	'-c', $slow, '-c', 'SELECT pg_sleep(600)' ], '<', \undef, '>', '/dev/null', '2>', '/dev/null');
my $session = q{FROM pg_stat_activity WHERE query ~ 'pg_sleep' AND pid <> pg_backend_pid()};
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $session AND application_name ~ '^simdup_cluster: [a-z ]+, [0-9]+'"), 'pg_stat_activity has the progress');
sql("SELECT pg_cancel_backend(pid) $session");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $session AND query ~ '600' AND application_name = 'nightly'"), 'and the name again after a cancel');
sql("SELECT pg_terminate_backend(pid) $session");
$run->finish;

# --- the report in other encodings

sql(q{CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
sql(q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0});
my %page;
for my $database ('postgres', 'latin', 'bytes')
{
	$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS simdup');
	# bytes of UTF-8
	$page{$database} = $node->safe_psql($database,
		q{SET client_encoding = 'UTF8'; CREATE VIEW german AS SELECT i AS key, simhash64 '00000000000000ff' AS fp, }
		. "'gr\xc3\xbc\xc3\x9fe <''\"&>' AS content"
		. q{ FROM generate_series(1, 3) i; SELECT simdup_report_html('german', 'x')});
}
s/"made": \{.*?\}// for values %page;
like($page{postgres}, qr/gr\\u00fc\\u00dfe \\u003c\\u0027\\"\\u0026\\u003e/, 'a report from UTF8');
is($page{latin}, $page{postgres}, 'the same page from LATIN1');
is($page{bytes}, $page{postgres}, 'and from SQL_ASCII with UTF-8 in it');

$node->stop;
done_testing();

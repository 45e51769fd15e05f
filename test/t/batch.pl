# batch: batch functions on a server. On disk they find the same as in memory. A
# cancelled run leaves no temporary file, and repeated runs do not grow. Other
# sessions see the phase. The report is the same page in any encoding.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = PostgreSQL::Test::Cluster->new('batch');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "work_mem = '1MB'\nlog_temp_files = 0\n");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{
  CREATE EXTENSION simdup;
  CREATE FUNCTION fp_of(i int) RETURNS simhash64 IMMUTABLE
    RETURN (('x' || substr(md5(i::text), 1, 16))::bit(64))::simhash64;
  CREATE TABLE rows (kind text, id bigint, fp simhash64);
  -- more than 1 MB of each
  INSERT INTO rows SELECT 'copies', i, CASE WHEN i % 10 = 0
      THEN (fp_of(i / 20)::bigint # (1::bigint << i % 61) # (1::bigint << i % 59))::simhash64 ELSE fp_of(i) END
    FROM generate_series(1, 60000) i;
  -- three values of the high half: runs that do not fit in memory either
  INSERT INTO rows SELECT 'skewed', i, (fp_of(i)::bigint & 4294967295 | (i % 3)::bigint << 40)::simhash64
    FROM generate_series(1, 60000) i;
  -- all of 16 bits: dense, and hardly anything to cut
  INSERT INTO rows SELECT 'dense', i, ((i & 255)::bigint | ((i >> 8)::bigint << 50))::simhash64
    FROM generate_series(0, 65535) i;
  INSERT INTO rows SELECT 'equal', i, fp_of(i % 7000) FROM generate_series(1, 40000) i;
  CREATE INDEX ON rows (kind, id);
  ANALYZE rows;
});

# The result of a call as one checksum, with little memory and with much.
sub checksum
{
	my ($memory, $call) = @_;
	return sql(qq{
	  SET maintenance_work_mem = '$memory';
	  SELECT count(*), sum(hashtextextended(f::text, 0)::numeric) FROM $call AS f;
	});
}

my @cases = (
	[ copies => 3, 'simdup_pairs(%s, 3)' ],
	[ copies => 8, 'simdup_pairs(%s, 6)' ],
	[ skewed => 3, 'simdup_pairs(%s, 3)' ],
	[ skewed => 1, 'simdup_pairs(%s, 1)' ],
	[ dense  => 2, 'simdup_pairs(%s, 1)' ],
	[ equal  => 0, 'simdup_pairs(%s, 0)' ],
	[ equal  => 3, 'simdup_pairs(%s, 3)' ],);
for my $case (@cases)
{
	my ($kind, $k, $call) = @$case;
	$call = sprintf($call,
		"'SELECT id, fp FROM rows WHERE kind = ''$kind'' ORDER BY id'");
	is(checksum('1MB', $call), checksum('1GB', $call),
		"$kind: $call is the same on disk");
}

sql(q{CREATE VIEW skewed AS SELECT id AS key, fp FROM rows WHERE kind = 'skewed'});
is(checksum('1MB', q{jsonb_each(simdup_report('skewed', 2) - 'made')}), checksum('1GB', q{jsonb_each(simdup_report('skewed', 2) - 'made')}),
	'a report is the same on disk');

# Clusters of rows of a kind as a window function, in partitions, as a table.
sub window_of
{
	my ($call, $partition) = @_;
	return "(SELECT id, $call OVER (PARTITION BY kind, $partition ORDER BY id) AS cluster FROM rows WHERE kind <> 'equal' OR id < 3000)";
}

# the same with little memory and with much, in partitions large and small
for my $call (q{simdup_cluster(id, fp, 3, 'connected')}, 'simdup_cluster(id, fp, 5)', q{simdup_cluster('key ' || id, fp, 1)}, 'simdup_component(id, id + 3)')
{
	for my $partition ('id % 1', 'id / 9')
	{
		my ($on_disk, $in_memory) = map {
			sql("SET work_mem = '$_'; SELECT count(*), count(DISTINCT cluster), sum(hashtextextended(w::text, 0)::numeric) FROM " . window_of($call, $partition) . ' AS w')
		} '64kB', '1GB';
		is($on_disk, $in_memory, "$call by $partition is the same on disk");
	}
}

# keys by reference, long and short, go to disk and come back
my $texts =
  q{simdup_pairs('SELECT id || repeat(''x'', (id %% 50)::int), fp FROM rows WHERE kind = ''copies'' ORDER BY id', NULL::text, 3)};
$texts =~ s/%%/%/;
is(checksum('1MB', $texts), checksum('1GB', $texts), 'text keys are the same on disk');
my $new =
  q{simdup_new_pairs('SELECT id, fp FROM rows WHERE kind = ''copies'' AND id %% 5 = 0 ORDER BY id', 'SELECT id, fp FROM rows WHERE kind = ''copies'' AND id %% 5 > 0 ORDER BY id', 3)};
$new =~ s/%%/%/g;
is(checksum('1MB', $new), checksum('1GB', $new), 'new pairs are the same on disk');
like(slurp_file($node->logfile), qr/temporary file/, 'the disk was used');

# in memory they are right: the join that the server itself does
is( checksum('1GB', q{simdup_pairs('SELECT id, fp FROM rows WHERE kind = ''equal'' ORDER BY id', 0)}),
	sql(q{SELECT count(*), sum(hashtextextended(ROW(a.id, b.id, 0, NULL)::text, 0)::numeric)
	      FROM rows a JOIN rows b ON a.fp = b.fp AND a.id < b.id AND a.kind = 'equal' AND b.kind = 'equal'}),
	'equal rows: the same as a join');

# the memory of a session, from the system
sub peak_kb
{
	my ($pid) = @_;
	my ($peak) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+)/;
	return $peak;
}

SKIP:
{
	skip 'no /proc here', 3 unless -r '/proc/self/status';

	my $run = sub {
		my ($statement, $times) = @_;
		my $result = sql(qq{
		  SET maintenance_work_mem = '8MB';
		  SET client_min_messages = error;
		  CREATE TEMP TABLE usage (n int, kb bigint);
		  DO \$do\$
		  BEGIN
		    FOR n IN 1 .. $times LOOP
		      PERFORM $statement;
		      INSERT INTO usage SELECT n, substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::bigint;
		    END LOOP;
		  END \$do\$;
		  SELECT string_agg(kb::text, ' ' ORDER BY n) FROM usage});
		return split / /, $result;
	};
	# ten thousand equal rows: fifty million pairs are counted off a temporary file
	my @small = $run->(
		q{count(*) FROM simdup_pairs('SELECT i, fp_of(1) FROM generate_series(1, 100) i')}, 1);
	my @giant = $run->(
		q{count(*) FROM simdup_pairs('SELECT i, fp_of(1) FROM generate_series(1, 3000) i')}, 1);
	cmp_ok($giant[0] - $small[0], '<', 20_000,
		"4.5 million pairs take no memory to speak of ($small[0] and $giant[0] kB)");
	my @clusters = $run->(
		q{count(c) FROM (SELECT simdup_cluster(i, fp_of(1)) OVER (ORDER BY i) AS c FROM generate_series(1, 10000) i) AS c}, 1);
	cmp_ok($clusters[0] - $small[0], '<', 20_000,
		"nor does a cluster of 10000 ($clusters[0] kB)");
	my @often = $run->(
		q{count(c) FROM (SELECT simdup_cluster(id, fp, 3) OVER (ORDER BY id) AS c FROM rows WHERE kind = 'copies') AS c}, 12);
	cmp_ok($often[-1] - $often[2], '<', 2_000,
		"a session that runs it again and again does not grow (@often kB)");
}

# cancelled runs, in every phase, and failed ones
sub temp_files
{
	return sql('SELECT count(*) FROM pg_ls_tmpdir()');
}
my $long =
  q{SELECT count(*) FROM simdup_pairs('SELECT i, fp_of(i) FROM generate_series(1, 300000) i', 12)};
for my $timeout (20, 100, 500, 1500)
{
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		"SET maintenance_work_mem = '1MB'; SET statement_timeout = $timeout; $long");
	like($stderr, qr/canceling statement due to statement timeout/,
		"cancelled after $timeout ms");
	is(temp_files(), '0', 'and no temporary file is left');
}
{
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		q{SET maintenance_work_mem = '1MB';
		  SELECT count(*) FROM simdup_pairs('SELECT id / (65000 - id), fp FROM rows ORDER BY id')});
	like($stderr, qr/division by zero/, 'a query that fails late');
	is(temp_files(), '0', 'leaves no temporary file');
	($result, $stdout, $stderr) = $node->psql('postgres',
		q{SET temp_file_limit = '4MB'; SET maintenance_work_mem = '1MB';
		  SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM rows')});
	like($stderr, qr/temporary file size exceeds "?temp_file_limit"?/, 'temp_file_limit holds');
	is(temp_files(), '0', 'and leaves none');
}

# windows, too
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

# another session can cancel at once
{
	my ($stdout, $stderr) = ('', '');
	my $worker = IPC::Run::start(
		[ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "SET application_name = worker; " . $long =~ s{300000}{3000000}r ],
		'>', \$stdout, '2>', \$stderr);
	my $at_work = q{FROM pg_stat_activity WHERE application_name = 'worker' AND state = 'active' AND clock_timestamp() > query_start + interval '1 s'};
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $at_work"), 'a batch is at work');
	my $started = Time::HiRes::time();
	is(sql("SELECT pg_cancel_backend(pid) $at_work"), 't', 'it is cancelled');
	$worker->finish;
	cmp_ok(Time::HiRes::time() - $started, '<', 5, 'and stops at once');
	like($stderr, qr/canceling statement due to user request/, 'with the usual error');
}

# Messages come when asked for, and not otherwise. No phase comes twice, and
# within a phase no number goes back.
my $skewed = q{SELECT id, fp FROM rows WHERE kind = ''skewed''};
for my $case (
	[ '1GB', "simdup_pairs('$skewed', 3)" ],
	[ '1MB', "simdup_pairs('$skewed', 3)" ],
	[ '1GB', "simdup_new_pairs('$skewed AND id % 3 = 0', '$skewed AND id % 3 > 0', 4)" ],
	[ '1MB', "simdup_new_pairs('$skewed AND id % 3 = 0', '$skewed AND id % 3 > 0', 3)" ],
	[ '1GB', "(SELECT id, simdup_cluster(id, fp, 4, 'connected') OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'skewed')" ],
	[ '1GB', "(SELECT id, simdup_cluster(id, fp, 4) OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'skewed')" ],
	[ '64kB', "(SELECT id, simdup_cluster(id, fp, 3) OVER (ORDER BY id) AS cluster FROM rows WHERE kind = 'skewed')" ])
{
	my ($memory, $batch) = @$case;
	my ($name) = $batch =~ /(simdup_\w+)/;
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		($batch =~ /OVER/ ? "SET work_mem = '$memory';" : "SET maintenance_work_mem = '$memory';")
		  . " SET simdup.progress_interval = 1; SELECT count(b) FROM $batch AS b");
	my @told = $stderr =~ /NOTICE:  $name: ([a-z ]+), (\d+)/g;
	my (%last, @phases, $back);

	while (my ($phase, $done) = splice(@told, 0, 2))
	{
		push @phases, $phase if !@phases || $phases[-1] ne $phase;
		$back = 1 if $done < ($last{$phase} // 0);
		$last{$phase} = $done;
	}
	like($stderr, qr/NOTICE:  $name: comparing, \d+ of \d+/, "$batch, $memory: progress is told");
	ok(!$back && @phases == keys %last, "$batch, $memory: and never goes back (@phases)");
}
{
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		"SET simdup.progress_interval = 0; SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM rows', 3)");
	is($stderr, '', 'no progress is told where it is turned off');
}

# a batch in a batch's query, and one in a failed subtransaction
is( sql(q{SELECT count(*) FROM simdup_pairs('SELECT a, fp_of(1) FROM simdup_pairs(''SELECT i, fp_of(2) FROM generate_series(1, 5) i'')')}),
	'45', 'a batch may read from a batch');
is( sql(q{
	DO $$ BEGIN
	  PERFORM count(*) FROM simdup_pairs('SELECT 1 / (3 - i), fp_of(1) FROM generate_series(1, 5) i');
	EXCEPTION WHEN division_by_zero THEN
	  PERFORM count(*) FROM simdup_pairs('SELECT i, fp_of(1) FROM generate_series(1, 5) i');
	END $$;
	SELECT count(*) FROM simdup_pairs('SELECT i, fp_of(1) FROM generate_series(1, 5) i')}),
	'10', 'a batch that fails in a subtransaction leaves the next ones as they are');

# the report in other encodings
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
		. q{ FROM generate_series(1, 3) i; SELECT simdup_report_html('german'::regclass, 'x')});
}
s/"made": \{.*?\}// for values %page;
like($page{postgres}, qr/gr\\u00fc\\u00dfe \\u003c\\u0027\\"\\u0026\\u003e/, 'a report from UTF8');
is($page{latin}, $page{postgres}, 'the same page from LATIN1');
is($page{bytes}, $page{postgres}, 'and from SQL_ASCII with UTF-8 in it');

# schema of one's own, hostile search_path
$node->safe_psql('latin', q{
  DROP EXTENSION simdup; CREATE SCHEMA odd; CREATE EXTENSION simdup SCHEMA odd;
  CREATE SCHEMA evil;
  CREATE FUNCTION evil.array_position(anyarray, anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1/0';
  CREATE FUNCTION evil.eq(int, int) RETURNS bool LANGUAGE sql AS 'SELECT (1/0) = 1';
  CREATE OPERATOR evil.> (LEFTARG = bigint, RIGHTARG = int, FUNCTION = pg_catalog.int84gt)});
is( $node->safe_psql('latin', q{
	SET search_path = evil;
	SELECT max(c) FROM (SELECT odd.simdup_cluster(i, 1::bigint::odd.simhash64) OVER (ORDER BY i) AS c FROM generate_series(1, 3) i) AS w;
	SELECT max(c) FROM (SELECT odd.simdup_component(i, i + 1) OVER () AS c FROM generate_series(1, 3) i) AS w;
	SELECT count(*) FROM odd.simdup_pairs('SELECT i, 1::bigint::odd.simhash64 FROM generate_series(1, 3) i')}),
	"1\n1\n3", 'in another schema, below a hostile search_path');

$node->stop;
done_testing();

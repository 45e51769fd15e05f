# hamming_crash: the server is killed at any moment of builds, inserts, splits
# and VACUUM; standbys follow; writers, VACUUM and readers meet. Afterwards the
# index is sound, and finds the rows of the table.
#
# How often it is killed, and how many seconds the writers meet, is the suite's affair.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use Helpers qw($lean $whole);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $few = $Hamming::of_texts || $lean;
my $rounds = $whole ? 12 : $few ? 4 : 8;
my $seconds = $whole ? 15 : $few ? 3 : 5;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->append_conf('postgresql.conf', <<'CONF');
max_connections = 40
jit = off
max_parallel_workers_per_gather = 0
wal_consistency_checking = 'generic'
checkpoint_timeout = 30s
max_wal_size = 200MB
wal_keep_size = 4GB
max_standby_streaming_delay = 2s
hot_standby_feedback = off
CONF
$primary->start;
$primary->safe_psql('postgres', $Hamming::setup);

sub agrees
{
	my ($node, $table, $name, $step) = @_;

	is($node->safe_psql('postgres', "SELECT simdup_index_check('${table}_fp', true)"), '', "$name: the index is sound");
	is($node->safe_psql('postgres', "SELECT differences('$table', $step)"), '0', "$name: index and table agree");
	return;
}

# --- kill -9, at moments that differ from round to round
$primary->safe_psql('postgres', "CREATE TABLE t (id bigint, fp simhash64); CREATE TABLE built (id bigint, fp simhash64) WITH (parallel_workers = 2);"
	  . "SELECT fill('t', 'mixed', 1, 3000); SELECT fill('built', 'mixed', 1, 30000); CREATE INDEX t_fp ON t USING hamming (fp) WITH (fillfactor = 10)");
my %work = (
	inserts => sub { join "\n", map { "SELECT fill('t', 'mixed', " . ($_[0] * 1000000 + $_ * 50) . ', ' . ($_[0] * 1000000 + $_ * 50 + 49) . ');' } 1 .. 4000 },
	equal => sub { "SELECT fill('t', 'equal', " . ($_[0] * 1000000) . ', ' . ($_[0] * 1000000 + 60000) . ');' },
	vacuum => sub { "DELETE FROM t WHERE hashint8(id) % 3 = 0; VACUUM t; SELECT fill('t', 'uniform', " . ($_[0] * 1000000) . ', ' . ($_[0] * 1000000 + 9000) . '); DELETE FROM t WHERE hashint8(id) % 5 = 0; VACUUM t;' },
	build => sub { "SET maintenance_work_mem = '1MB'; CREATE INDEX built_fp ON built USING hamming (fp);" . "REINDEX TABLE built;" x 50 });
my @kinds = qw(inserts equal vacuum build);
for my $round (1 .. $rounds)
{
	my $kind = $kinds[ $round % @kinds ];
	my @running = (Hamming::in_background($primary, $work{$kind}->(2 * $round)));
	push @running, Hamming::in_background($primary, $work{inserts}->(2 * $round + 1)) if $round % 3 == 0;
	sleep(0.05 + rand(1.5));
	Hamming::kill_server($primary);
	$_->finish for @running;
	$primary->start;
	agrees($primary, 't', "killed in $kind, round $round", 16);
	# the index goes on to be used
	$primary->safe_psql('postgres', "SELECT fill('t', 'mixed', " . (-1000 * $round) . ', ' . (-1000 * $round + 500) . '); VACUUM t');
	agrees($primary, 't', "round $round, used again", 32);
	$primary->safe_psql('postgres', 'DROP INDEX IF EXISTS built_fp');
	$primary->safe_psql('postgres', 'DELETE FROM t WHERE id > 100000; VACUUM t') if $round % 4 == 0;
}

# --- an unlogged index is empty after a crash, and works
$primary->safe_psql('postgres', "CREATE UNLOGGED TABLE u (id bigint, fp simhash64); CREATE INDEX u_fp ON u USING hamming (fp); SELECT fill('u', 'mixed', 1, 3000)");
Hamming::kill_server($primary);
$primary->start;
is($primary->safe_psql('postgres', 'SELECT count(*) FROM u'), '0', 'unlogged: empty');
$primary->safe_psql('postgres', "SELECT fill('u', 'mixed', 1, 3000)");
agrees($primary, 'u', 'unlogged, after a crash', 16);

# --- a standby, and one that follows it
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$standby->backup('second');
my $cascaded = PostgreSQL::Test::Cluster->new('cascaded');
$cascaded->init_from_backup($standby, 'second', has_streaming => 1);
$cascaded->start;

# --- writers, VACUUM and readers with an oracle
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE storm (id bigint PRIMARY KEY, fp simhash64);
CREATE INDEX storm_fp ON storm USING hamming (fp);
CREATE SEQUENCE storm_id;
-- one snapshot for both: they must agree
CREATE FUNCTION storm_read() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE q simhash64 := fingerprint('clustered', (random() * 49)::bigint); k int := (random() * 20)::int; a record; b record;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', true);
  EXECUTE format('SELECT count(*) n, sum(id) s FROM storm WHERE simhash_within(fp, %L, %s)', q, k) INTO a;
  EXECUTE format('SELECT count(*) n, sum(id) s FROM (SELECT * FROM storm OFFSET 0) t WHERE fp <~> %L <= %s', q, k) INTO b;
  IF a IS DISTINCT FROM b THEN
    RAISE 'index and table differ: % and % at k = % around %', a, b, k, q;
  END IF;
  RETURN a.n;
END $$;
SQL
my $write = PostgreSQL::Test::Utils::tempdir() . '/write.sql';
append_to_file($write, <<'SQL');
INSERT INTO storm SELECT n, fingerprint(CASE n % 3 WHEN 0 THEN 'equal' WHEN 1 THEN 'clustered' ELSE 'mixed' END, n)
FROM (SELECT nextval('storm_id') AS n FROM generate_series(1, 40)) s;
UPDATE storm SET fp = fingerprint('clustered', id + 1) WHERE id IN (SELECT (random() * (SELECT last_value FROM storm_id))::bigint FROM generate_series(1, 3));
DELETE FROM storm WHERE id IN (SELECT (random() * (SELECT last_value FROM storm_id))::bigint FROM generate_series(1, 30));
SQL
my $read = PostgreSQL::Test::Utils::tempdir() . '/read.sql';
append_to_file($read, "SELECT storm_read();\n");
my @out = ('') x 4;
my @load = map {
	my ($node, $clients, $script, $out) = @$_;
	IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-j', 2, '-T', $seconds, '-f', $script, $node->connstr('postgres') ], '<', \undef, '>&', $out)
} ([ $primary, 8, $write, \$out[0] ], [ $primary, 2, $read, \$out[1] ]);
my $end = time + $seconds;
my $vacuums = 0;
my ($reads, $wrong, $conflicts) = (0, '', 0);
while (time < $end)
{
	$primary->safe_psql('postgres', 'VACUUM storm');
	$vacuums++;
	for my $node ($standby, $cascaded)
	{
		my ($stdout, $stderr);
		$node->psql('postgres', 'SELECT storm_read()', stdout => \$stdout, stderr => \$stderr);
		if ($stderr eq '') { $reads++; }
		# the standby had to go on, or has not the table yet
		elsif ($stderr =~ /conflict with recovery|does not exist/) { $conflicts++; }
		else { $wrong .= $stderr; }
	}
}
$_->finish for @load;
unlike("@out", qr/differ|ERROR: (?!.*deadlock)|aborted in command 0/, 'readers find what the table holds, all through the storm');
like($out[1], qr/transactions actually processed: [1-9]/, 'and they did read');
cmp_ok($vacuums, '>', 0, 'VACUUM ran');
is($wrong, '', 'standbys answer like their tables, all through the storm');
cmp_ok($reads, '>', 0, 'and they did answer');
$primary->safe_psql('postgres', 'VACUUM storm');
agrees($primary, 'storm', 'after the storm', 16);

# --- the standbys have the same, and go on alone
$primary->safe_psql('postgres', 'CREATE INDEX built_fp ON built USING hamming (fp)');
$primary->wait_for_catchup($standby, 'replay');
$standby->wait_for_catchup($cascaded, 'replay', $primary->lsn('insert'));
for my $node ($standby, $cascaded)
{
	is($node->safe_psql('postgres', 'SELECT storm_read() IS NOT NULL FROM generate_series(1, 10) LIMIT 1'), 't', $node->name . ' answers');
	my $log = slurp_file($node->logfile);
	unlike($log, qr/inconsistent page|PANIC|TRAP/, $node->name . ' found every page consistent');
}

# --- an index-only scan on a standby counts no row that is removed while it runs
$primary->safe_psql('postgres', "CREATE TABLE gone (id bigint, fp simhash64); CREATE INDEX gone_fp ON gone USING hamming (fp); SELECT fill('gone', 'mixed', 1, 20000)");
$primary->safe_psql('postgres', 'VACUUM gone');
# the scan stays on a page that VACUUM need not touch
$primary->safe_psql('postgres', "DELETE FROM gone WHERE ctid >= '(5,1)'");
my $left = $primary->safe_psql('postgres', 'SELECT count(*) - 1 FROM gone');
$primary->wait_for_catchup($standby, 'replay');
my $scan = $standby->background_psql('postgres');
like($scan->query_safe('SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS off) SELECT count(*) FROM gone'),
	qr/^Aggregate\n  ->  Index Only Scan using gone_fp on gone$/, 'count(*) is an index-only scan');
$scan->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT 1 FROM gone; FETCH c');
$primary->safe_psql('postgres', 'VACUUM (TRUNCATE false) gone');
$primary->wait_for_catchup($standby, 'replay');
is(scalar(my @rest = split /\n/, $scan->query_safe('FETCH ALL FROM c')), $left, 'rows removed since are not counted');
$scan->quit;

$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', "SELECT fill('t', 'mixed', 5000000, 5005000)");
for my $table ('storm', 't', 'built')
{
	agrees($standby, $table, "promoted, $table", 16);
}

done_testing();

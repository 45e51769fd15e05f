# citus: tables that Citus distributes over workers: the script, all pairs on the
# workers, and workers that are killed.
#
# It needs a server with Citus. test/matrix builds one where it can.
#
# Runs in make test-all only.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = 'test/demo/citus.sql';
my $has_citus = -e `pg_config --sharedir` =~ s/\n//r . '/extension/citus.control';

# What psql says on both streams, one line each.
sub run_script
{
	my ($node, $db) = @_;
	my $output = '';

	IPC::Run::run([ 'psql', '-X', '-d', $node->connstr($db), '-f', $script ], '>', \$output, '2>&1');
	return split /\n/, $output;
}

sub server
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	# Citus reaches even its own server by TCP
	$node->append_conf('postgresql.conf', <<'CONF') if $has_citus;
shared_preload_libraries = 'citus'
listen_addresses = 'localhost'
citus.enable_statistics_collection = off
citus.recover_2pc_interval = 1s
jit = off
CONF
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE city');
	$node->safe_psql('city', ($has_citus ? 'CREATE EXTENSION citus;' : '') . 'CREATE EXTENSION simdup');
	return $node;
}

my $coordinator = server('coordinator');
if (!$has_citus)
{
	is_deeply([ run_script($coordinator, 'city') ], ['skipped: this database has no Citus (CREATE EXTENSION citus)'], 'without Citus: skipped');
	$coordinator->stop;
	# nothing follows a test that is skipped
	SKIP: { skip 'this server has no Citus', 1; }
	done_testing();
	exit;
}

my @workers = map { server("worker$_") } 1 .. 4;
$coordinator->safe_psql('city', "SELECT citus_set_coordinator_host('localhost', " . $coordinator->port . ')');

sub sql
{
	return $coordinator->safe_psql('city', $_[0]);
}

# --- all pairs: on 1, 2 and 4 workers those of one server

my $text = slurp_file('test/demo/citus_pairs.sql');
sql($text);
sql(<<'SQL');
CREATE TABLE origin (kind text, id bigint, fp simhash64);
INSERT INTO origin SELECT 'uniform', i, (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 5, 1) # (7::bigint << (i % 60)) ELSE hashint8extended(i, 1) END)::simhash64
FROM generate_series(1, 5000) i;
INSERT INTO origin SELECT 'clustered', 10000 + i, (hashint8extended(i % 40, 0)
  # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)) # (1::bigint << (i / 23 % 64)))::simhash64
FROM generate_series(1, 1200) i;
INSERT INTO origin SELECT 'clustered', 20000 + i, NULLIF(hashint8extended(i % 30, 5), hashint8extended(7, 5))::simhash64 FROM generate_series(1, 300) i;
CREATE TABLE letter (id bigint, title text, district text, category text, received_at timestamp, content text);
\copy letter FROM 'test/data/petitions.csv' (FORMAT csv, HEADER)
INSERT INTO origin SELECT 'petitions', 30000 + id, minhash64(content) FROM letter;
SQL

sub add_workers
{
	my ($from, $to) = @_;

	sql("SELECT citus_add_node('localhost', " . $workers[ $_ - 1 ]->port . ')') for $from .. $to;
	is(sql('SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards'), $to, "$to workers");
	return;
}

# the table that all pairs are of, on the workers that there are
sub distribute
{
	sql("DROP TABLE IF EXISTS petition; CREATE TABLE petition (kind text, id bigint, fp simhash64);
		SELECT create_distributed_table('petition', 'id', shard_count => 6, colocate_with => 'none');
		INSERT INTO petition SELECT * FROM origin;");
	return;
}

# a table with itself, where rows are within k
sub near
{
	my ($table, $k) = @_;

	return "$table AS a JOIN $table AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k)";
}

my %pairs_here = map { $_ => sql('SELECT a.id, b.id, a.fp <~> b.fp FROM ' . near('origin', $_) . ' ORDER BY 1, 2') } 0, 3, 8;

sub pairs_of_workers
{
	my ($k, $more) = (@_, '');

	sql("DROP TABLE IF EXISTS pairs");
	sql("CALL simdup_citus_pairs('petition', 'id', 'fp', $k, 'pairs'$more)");
	return sql('SELECT a, b, distance FROM pairs ORDER BY a, b');
}

sub same_pairs
{
	my ($workers) = @_;

	distribute();
	is(pairs_of_workers($_), $pairs_here{$_}, "$workers workers: all pairs within $_") for sort keys %pairs_here;
	is(pairs_of_workers(3, ', pieces => 7'), $pairs_here{3}, '... in more pieces than workers');
	is(sql("SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'pairs'::regclass"), $workers, '... which are on all workers');
	return;
}

cmp_ok(() = $pairs_here{8} =~ /^$_/mg, '>', 50, 'pairs of each kind') for '\d{1,4}\|', '1\d{4}\|', '2\d{4}\|', '3\d{4}\|';
add_workers(1, 1);
same_pairs(1);
add_workers(2, 2);
same_pairs(2);
is(sql("SELECT count(*) FROM (SELECT a, simdup_component(a, b) OVER () FROM pairs
	EXCEPT SELECT id, simdup_cluster(id, fp, 3, 'connected') OVER (ORDER BY id) FROM origin) AS d"), '0', 'their components are the clusters');

my (undef, undef, $refusal) = $coordinator->psql('city', "CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'pairs')");
like($refusal, qr/relation "pairs" already exists/, 'a result is not overwritten');
(undef, undef, $refusal) = $coordinator->psql('city', "CALL simdup_citus_pairs('petition', 'id', 'kind', 3, 'other')");
like($refusal, qr/could not send all rows .*DETAIL: .*simhash_pieces/s, 'an error of a worker is told');

# --- the script, on two workers

my @said = run_script($coordinator, 'city');
for my $line (@said)
{
	my ($ok, $what) = $line =~ /^(.*?) - (.*)/;

	is($ok, 'ok', $what // "said: $line");
}
is($said[-1], 'ok - a table distributed by fingerprint', 'the script came to its end');
cmp_ok(scalar(@said), '>', 25, '... and left nothing out');

# --- a worker is killed

my $victim = $workers[1];

# Start a statement on the coordinator; once $what is running on the victim, kill
# it. Return what the statement said.
sub killed_during
{
	my ($statement, $what) = @_;
	my ($out, $err) = ('', '');
	my $client = IPC::Run::start([ 'psql', '-qXAt', '-d', $coordinator->connstr('city'), '-c', $statement ], '<', \'', '>', \$out, '2>', \$err);

	$victim->poll_query_until('city', "SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query ~ '$what'")
	  or die "$what never ran on the worker";
	$victim->stop('immediate');
	$client->finish;
	$victim->start;
	is($out, '', "killed during $what: no result");
	like($err, qr/ERROR/, '... but an error');
	return;
}

# a search that takes its time on each shard
sql("CREATE FUNCTION slow(fp simhash64) RETURNS boolean LANGUAGE plpgsql COST 100000 AS 'BEGIN PERFORM pg_sleep(0.05); RETURN true; END'");
my $search = "SELECT count(*) FROM petition WHERE simhash_within(fp, '0123456789abcdef', 64)";
my $all = sql($search);
killed_during("$search AND slow(fp)", 'slow');
is(sql($search), $all, '... and the next search is complete');

killed_during("INSERT INTO petition SELECT kind, id + 100000, fp FROM petition WHERE slow(fp)", 'slow');
is(sql('SELECT count(*) FROM petition'), sql('SELECT count(*) FROM origin'), '... and no row of it is there');
is(sql("INSERT INTO petition SELECT kind, id + 100000, fp FROM petition WHERE kind = 'uniform'; SELECT count(*) FROM petition WHERE id > 100000"),
	'5000', '... and again, it succeeds');
sql('DELETE FROM petition WHERE id > 100000; DROP TABLE pairs');

# Sending waits for a lock on one of the victim's shards. The pairs of equal rows
# take longer than the look at what runs.
my $shard = sql("SELECT min(shard_name) FROM citus_shards WHERE table_name = 'petition'::regclass AND nodeport = " . $victim->port);
my $held = "SELECT count(*) > 0 FROM pg_locks WHERE relation = '$shard'::regclass AND mode = 'AccessExclusiveLock' AND granted";
sql("INSERT INTO petition SELECT 'many', 1000000 + i, hashint8extended(i % 8, 9)::simhash64 FROM generate_series(1, 4800) i");
my $many = sql('CREATE TEMP TABLE here AS SELECT id, fp FROM petition; SELECT count(*), sum(a.id # b.id) FROM ' . near('here', 3));
for my $phase ('simhash_pieces', 'simhash_within')
{
	my $locker;

	if ($phase eq 'simhash_pieces')
	{
		$locker = IPC::Run::start([ 'psql', '-qXAt', '-d', $victim->connstr('city'),
			'-c', 'SET citus.enable_manual_changes_to_shards = on', '-c', "BEGIN; LOCK TABLE $shard IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1000)" ], '&>', \my $ended);
		$victim->poll_query_until('city', $held) or die 'no lock';
	}
	killed_during("CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'pairs')", "INSERT INTO .*$phase\\(");
	$locker->finish if $locker;
	is(sql("SELECT to_regclass('pairs') IS NULL"), 't', '... and no table of pairs');
	sql("CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'pairs')");
	is(sql('SELECT count(*), sum(a # b) FROM pairs'), $many, '... and again, it succeeds');
	is(sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'pairs\\_simdup%'"), '0', '... and nothing else is left');
	sql('DROP TABLE pairs');
}

# --- four

add_workers(3, 4);
same_pairs(4);

$_->stop for $coordinator, @workers;
done_testing();

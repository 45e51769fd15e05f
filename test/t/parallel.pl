# parallel: joins and queries with parallel workers. The rows and their order are
# the same for any number of workers. A worker that is killed and a leader that is
# cancelled leave nothing behind. Without workers, a join runs alone.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('parallel');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf',
	"dynamic_shared_memory_type = mmap\nwork_mem = '64MB'\nmaintenance_work_mem = '256MB'\nmax_worker_processes = 12\nmax_parallel_workers = 8\n"
	  . "log_min_messages = debug1\nmin_parallel_table_scan_size = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# The number of parallel workers that the server has started.
sub n_started
{
	my $log = slurp_file($node->logfile);
	return scalar(() = $log =~ /starting background worker process "parallel worker/g);
}

# What parallel queries leave behind if they fail: workers, segments and files.
sub leftovers
{
	my $data = $node->data_dir;
	my $workers = sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	my @files = glob("$data/base/pgsql_tmp/*");
	my @segments = glob("$data/pg_dynshmem/*");
	return ($workers, scalar(@files), scalar(@segments));
}

sql(q{
  CREATE EXTENSION simdup;
  CREATE TABLE rows AS SELECT i::bigint AS id,
      (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 1, 0) # (255::bigint << (i % 56)::int)
       ELSE hashint8extended(i, 0) END)::simhash64 AS fp
    FROM generate_series(1, 300000) AS i;
  CREATE TABLE texts AS SELECT i AS id, repeat(md5(i::text), 4) AS content FROM generate_series(1, 5000) AS i;
  VACUUM ANALYZE rows, texts;
});

my $query = q{'SELECT id, fp FROM rows ORDER BY id', 14};

# The rows of a call in their order, as one checksum.
sub checksum
{
	my ($workers, $call, $settings) = @_;
	return sql(($settings // '') . qq{
	  SET max_parallel_workers_per_gather = $workers;
	  SELECT md5(string_agg(f::text, ',')) FROM $call AS f;
	});
}

foreach my $call ("simdup_pairs($query)", "simdup_clusters($query)", "simdup_clusters($query, 'connected')",
	q{simdup_new_pairs('SELECT id, fp FROM rows WHERE id > 200000 ORDER BY id', 'SELECT id, fp FROM rows WHERE id <= 200000 ORDER BY id', 14)})
{
	my $before   = n_started();
	my $expected = checksum(0, $call);
	is(n_started(), $before, "$call without workers starts none");
	foreach my $workers (1, 2, 8)
	{
		$before = n_started();
		is(checksum($workers, $call), $expected, "$call with $workers workers: the same rows in the same order");
		# those of the query, and those of each block of the join
		cmp_ok(n_started() - $before, '>', 2 * $workers, 'workers were started');
	}
}

# Wherever the function stands.
my $pairs    = "simdup_pairs($query)";
my $settings = 'SET max_parallel_workers_per_gather = 2;';
my $n        = sql("SELECT count(*) FROM $pairs");
my $before   = n_started();
is(sql("$settings CREATE TEMP TABLE t AS SELECT * FROM $pairs; SELECT count(*) FROM t"), $n, 'CREATE TABLE AS');
is(sql("$settings CREATE TEMP TABLE t (a text, b text, d int, r float8); INSERT INTO t SELECT * FROM $pairs; SELECT count(*) FROM t"), $n, 'INSERT SELECT');
is(sql("$settings BEGIN; DECLARE c CURSOR FOR SELECT distance > 14 FROM $pairs; FETCH c; FETCH c; COMMIT"), "f\nf", 'a cursor');
is( sql("$settings CREATE TEMP TABLE own AS TABLE rows; SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM own ORDER BY id', 14)"),
	$n, 'a temporary table');
is( sql(qq{$settings
	  DO \$\$ BEGIN
	    BEGIN
	      SET LOCAL statement_timeout = '1s';
	      PERFORM pg_sleep(0);
	      CREATE TEMP TABLE lost AS SELECT 1 / (distance - distance) FROM $pairs;
	    EXCEPTION WHEN division_by_zero OR query_canceled THEN NULL;
	    END;
	    SET LOCAL statement_timeout = 0;
	    CREATE TEMP TABLE found AS SELECT * FROM $pairs;
	  END \$\$;
	  SELECT count(*) FROM found}),
	$n, 'PL/pgSQL after a failed subtransaction');
cmp_ok(n_started() - $before, '>=', 10, 'all of these had workers');
my $forced = $node->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
is(checksum(2, $pairs, "SET $forced = on;"), checksum(0, $pairs), $forced);
is_deeply([ leftovers() ], [ (leftovers())[0], 0, (leftovers())[2] ], 'no temporary file is left');

# The caller's query has a parallel plan if it has an order of its own.
my $explain = q{
  LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
  SET auto_explain.log_level = notice; SET max_parallel_workers_per_gather = 2;
  SELECT count(*) FROM simdup_pairs('SELECT id, minhash64(content) FROM texts %s');};
my (undef, undef, $plan) = $node->psql('postgres', sprintf($explain, 'ORDER BY id'));
like($plan, qr/Query Text: SELECT id, minhash64.*?Gather Merge.*?Parallel Seq Scan/s, 'a query with ORDER BY has a parallel plan');
(undef, undef, $plan) = $node->psql('postgres', sprintf($explain, ''));
like($plan, qr/Query Text: SELECT id, minhash64.*?Seq Scan on texts/s, 'a query without runs');
unlike($plan, qr/Gather/, 'a query without ORDER BY has no parallel plan');

# Faults. The large join takes seconds.
sql(q{CREATE TABLE more AS SELECT i::bigint AS id, hashint8extended(i, 0)::simhash64 AS fp FROM generate_series(1, 1000000) AS i});
my $large   = q{SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM more', 14)};
my @at_rest = leftovers();

# Run the large join, do something to one of its workers, and return the error.
sub disturb
{
	my ($what) = @_;
	my ($out, $err, $done) = ('', '', '');
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET application_name = large', '-c', $settings, '-c', $large ],
		'>', \$out, '2>', \$err);
	for (my $i = 0; $i < 1200 && $done eq ''; $i++)
	{
		sleep 0.05;
		$done = sql("SELECT $what FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND application_name = 'large' LIMIT 1");
	}
	my $start = time;
	$session->finish;
	note(sprintf 'the error came after %.2f s', time - $start);
	return $err;
}

like(disturb('pg_cancel_backend(leader_pid)'), qr/canceling statement due to user request/, 'the leader is cancelled');
is_deeply([ leftovers() ], \@at_rest, 'nothing is left of it');
like(disturb('pg_cancel_backend(pid)'), qr/canceling statement/, 'a worker is cancelled');
is_deeply([ leftovers() ], \@at_rest, 'nothing is left of it');
like(disturb('pg_terminate_backend(pid)'), qr/terminating (background worker|connection)|lost connection to parallel worker/, 'a worker is terminated');
is_deeply([ leftovers() ], \@at_rest, 'nothing is left of it');
is(sql("$settings SELECT count(*) FROM $pairs"), $n, 'the next join is complete');

# No workers to have.
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
is(sql("$settings SELECT count(*) FROM $pairs"), $n, 'max_worker_processes = 1');

$node->stop;
done_testing();

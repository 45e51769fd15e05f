# parallel: joins and queries with parallel workers. The rows and their order are
# the same for any number of workers, on a primary and on a standby. Whatever ends a
# join, by an error or a crash, leaves nothing behind. Without workers, or without
# shared memory for them, a join runs with fewer or alone.
#
# Depends on the server's internals.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('parallel');
$node->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
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

foreach my $call ("simdup_pairs($query)",
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

# A process that ends takes its segments along a moment after its client has the error.
sub nothing_left
{
	my @left;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		@left = leftovers();
		last if "@left" eq "@at_rest";
		sleep(0.1);
	}
	return is_deeply(\@left, \@at_rest, 'nothing is left of it');
}

# Run the large join, do something to one of its workers, which is its leader's
# or its own pid, and return the error.
sub disturb
{
	my ($what, $signal) = @_;
	my ($out, $err, $done) = ('', '', '');
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET application_name = large', '-c', $settings, '-c', $large ],
		'>', \$out, '2>', \$err);
	for (my $i = 0; $i < 1200 && $done eq ''; $i++)
	{
		sleep 0.05;
		$done = sql("SELECT $what FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND application_name = 'large' LIMIT 1");
	}
	my $start = time;
	kill $signal, $done if defined $signal;
	$session->finish;
	note(sprintf 'the error came after %.2f s', time - $start);
	return $err;
}

like(disturb('pg_cancel_backend(leader_pid)'), qr/canceling statement due to user request/, 'the leader is cancelled');
nothing_left();
like(disturb('pg_cancel_backend(pid)'), qr/canceling statement/, 'a worker is cancelled');
nothing_left();
like(disturb('pg_terminate_backend(pid)'), qr/terminating (background worker|connection)|lost connection to parallel worker/, 'a worker is terminated');
nothing_left();
is(sql("$settings SELECT count(*) FROM $pairs"), $n, 'the next join is complete');

# The server's own limits: of temporary files, for the pairs found so far, and of
# memory, for what the leader takes.
sub failing
{
	my ($before) = @_;
	my (undef, undef, $err) = $node->psql('postgres', "$settings $before SELECT * FROM $pairs", on_error_stop => 0);
	return $err;
}
like(failing("SET work_mem = '64kB'; SET temp_file_limit = '128kB';"), qr/temporary file size exceeds "?temp_file_limit/, 'temp_file_limit');
nothing_left();
SKIP:
{
	skip 'no prlimit', 4 if $^O ne 'linux' || system('prlimit --version >/dev/null 2>&1') != 0;
	my $limit = q{awk '/VmSize/ { print ($2 + %d) * 1024 }' /proc/$pid/status};
	foreach my $room (4000, 20000)
	{
		my $err = failing("SELECT pg_backend_pid() AS pid \\gset\n\\setenv pid :pid\n\\! prlimit --pid \$pid --as=\$(" . sprintf($limit, $room) . ")\n");
		like($err, qr/out of memory|Cannot allocate memory/, "$room kB of memory are not enough");
		nothing_left();
	}
}

# A worker that is killed outright makes the server start again.
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
like(disturb('pid', 'KILL'), qr/terminating connection because of crash|server closed the connection/, 'a worker is killed');
# psql without an input: while the server starts, nobody reads it
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	my ($ready) = run_command([ $node->installed_command('psql'), '-XAtd', $node->connstr('postgres'), '-c', 'SELECT 1' ]);
	last if $ready eq '1';
	sleep(0.1);
}
nothing_left();
is(sql("$settings SELECT count(*) FROM $pairs"), $n, 'the next join is complete');

# A standby.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$before = () = slurp_file($standby->logfile) =~ /starting background worker process "parallel worker/g;
is($standby->safe_psql('postgres', "$settings SELECT count(*) FROM $pairs"), $n, 'a standby');
cmp_ok(scalar(() = slurp_file($standby->logfile) =~ /starting background worker process "parallel worker/g), '>', $before, 'it has workers');
$standby->stop;

# A small /dev/shm, as in containers: in name spaces where the user may mount one.
sub start_with_memory
{
	my ($kb) = @_;
	my @pg_ctl = ('pg_ctl', '-w', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start');
	$node->stop;
	return system('unshare', '-rm', 'sh', '-c', "mount -t tmpfs -o size=${kb}k tmpfs /dev/shm && exec unshare --map-user=$< --map-group=" . ($( + 0) . ' "$@"', 'sh', @pg_ctl) == 0;
}
SKIP:
{
	skip 'no name spaces', 6 if system('unshare -rm mount -t tmpfs tmpfs /dev/shm 2>/dev/null') != 0;
	$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = posix');
	my %seen;
	# eight workers take 640 kB
	for (my $kb = 4500; $kb < 10000 && !grep({ $_ > 0 } keys %seen); $kb += 400)
	{
		die 'the server did not start' unless start_with_memory($kb);
		my (undef, $out, $err) =
		  $node->psql('postgres', "SET max_parallel_workers_per_gather = 8; SELECT count(*) FROM $pairs");
		$seen{ $err =~ /NOTICE:  joining with ([0-7]) of 8 parallel workers/ ? $1 : 8 } = $out;
		system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
		$node->start;
	}
	is($seen{0}, $n, 'without room for workers, the join runs alone');
	my ($fewer) = grep { $_ > 0 && $_ < 8 } keys %seen;
	is($seen{ $fewer // 'fewer' }, $n, 'with little room, the join has fewer workers');

	# memory that the server has reserved, before a /dev/shm that has none
	my $join = "SET parallel_setup_cost = 1e10; SET max_parallel_workers_per_gather = 8; SELECT count(*) FROM $pairs";
	my ($out, $err, $mb);
	for my $reserved (1, 0)
	{
		$node->append_conf('postgresql.conf', 'min_dynamic_shared_memory = ' . ($reserved || $mb + 5) . 'MB');
		die 'the server did not start' unless start_with_memory(4500);
		# ends when there is no room
		$node->psql('postgres', q{COPY (SELECT repeat('x', 1000) FROM generate_series(1, 10000)) TO '/dev/shm/full'}) if !$reserved;
		$before = n_started();
		(undef, $out, $err) = $node->psql('postgres', $join);
		next if !$reserved;
		($mb) = $err =~ /All of them need (\d+) MB of shared memory, and \d MB is there/ or die "no room asked for: $err";
		system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
		$node->start;
	}
	is("$out$err", $n, 'with reserved memory, the join has all workers, and says nothing');
	cmp_ok(n_started(), '>', $before, '... and they start');
	# six joins at once have too little of it
	my @errors = ('') x 6;
	my @joins = map {
		IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $join . " UNION ALL SELECT count(*) FROM $pairs" x 3 ],
			'<', '/dev/null', '>', '/dev/null', '2>', \$errors[$_])
	} 0 .. 5;
	$_->finish for @joins;
	my @failed = grep { $_ ne '' } @errors;
	cmp_ok(scalar @failed, '>', 0, 'where the room went meanwhile, the server fails');
	is_deeply([ grep { !/^ERROR: +could not resize shared memory segment .*\nHINT: +Make \/dev\/shm larger, raise min_dynamic_shared_memory/ } @failed ],
		[], '... and the error says what to do');
	system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
	$node->append_conf('postgresql.conf', 'min_dynamic_shared_memory = 0');
	$node->start;
}

# No workers to have.
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
is(sql("$settings SELECT count(*) FROM $pairs"), $n, 'max_worker_processes = 1');

$node->stop;
done_testing();

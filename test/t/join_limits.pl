# join_limits: joins by the join node under the server's limits. The rows are the same with
# any number of workers, in little memory, and on a standby. A cancel stops a join in each
# of its stages within a moment. A join that ends by an error or a crash leaves
# nothing behind.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole n_started peak_kb);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('join_limits');
$node->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
dynamic_shared_memory_type = mmap
shared_buffers = 32MB
work_mem = 64MB
hash_mem_multiplier = 1
max_worker_processes = 12
max_parallel_workers = 8
max_parallel_workers_per_gather = 0
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
log_min_messages = debug1
restart_after_crash = on
CONF
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# What joins leave behind if they fail: workers, segments and files.
sub leftovers
{
	my $data = $node->data_dir;
	my $workers = sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	my @files = glob("$data/base/pgsql_tmp/*");
	my @segments = glob("$data/pg_dynshmem/*");

	return ($workers, scalar(@files), scalar(@segments));
}

sql(<<'SQL');
CREATE EXTENSION simdup;
-- each tenth is near the one before; some are equal
CREATE TABLE letter AS
  SELECT i::bigint AS id, (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 1, 0) # (255::bigint << (i % 56)::int)
                                WHEN i % 100 = 3 THEN hashint8extended(i / 2000, 5) ELSE hashint8extended(i, 0) END)::simhash64 AS fp,
    i % 50 AS scope, repeat(md5(i::text), 4) AS pad
  FROM generate_series(1, 60000) AS i;
CREATE TABLE text AS
  SELECT i AS id, (SELECT string_agg(md5((CASE WHEN i % 2 = 0 AND j < 7 THEN i - 1 ELSE i END * 10 + j)::text), ' ') FROM generate_series(1, 8) AS j) AS content
  FROM generate_series(1, 500) AS i;
VACUUM ANALYZE letter, text;
SQL
my @at_rest = leftovers();

# A process that ends takes its segments along a moment after its client has the error.
sub nothing_left
{
	my ($name) = @_;
	my @left;

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		@left = leftovers();
		# a session may still have been ending when they were counted first
		$at_rest[$_] > $left[$_] and $at_rest[$_] = $left[$_] for 0 .. 2;
		# the server's statistics grow by a segment now and then
		$left[2] = $at_rest[2] if $left[2] > $at_rest[2] && $left[2] <= $at_rest[2] + 2;
		last if "@left" eq "@at_rest";
		sleep(0.1);
	}
	return is_deeply(\@left, \@at_rest, "$name: nothing is left of it");
}

# --- the same rows, with workers and without, in memory and on disk

my %joins = (
	pairs => 'SELECT a.id AS a, b.id AS b, b.pad AS p FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8)',
	scopes => 'SELECT a.id AS a, b.id AS b, a.pad AS p FROM letter a JOIN letter b ON a.id <> b.id AND a.scope = b.scope AND simhash_within(a.fp, b.fp, 8)',
	'new rows' => 'SELECT a.id AS a, b.id AS b, a.pad AS p FROM letter a LEFT JOIN letter b ON a.id <> b.id AND b.id % 10 < 3 AND a.fp <~> b.fp <= 8 WHERE a.id % 3 = 0',
	alone => 'SELECT a.id AS a, 0 AS b, a.pad AS p FROM letter a WHERE NOT EXISTS (SELECT FROM letter b WHERE b.id < a.id AND b.id > 1000 AND simhash_within(a.fp, b.fp, 8))',
	known => 'SELECT a.id AS a, 0 AS b, a.pad AS p FROM letter a WHERE EXISTS (SELECT FROM letter b WHERE b.id < a.id AND simhash_within(a.fp, b.fp, 8))',
	texts => 'SELECT a.id AS a, b.id AS b, b.content AS p FROM text a JOIN text b ON a.id < b.id AND simdup_resembles(a.content, b.content, 0.6)',
	shingles => 'SELECT a.id AS a, b.id AS b, a.content AS p FROM text a JOIN text b ON a.id < b.id AND shingle_resemblance(a.content, b.content) >= 0.5');

# The rows of a join in any order, as a checksum.
sub checksum
{
	my ($join, $settings, $on) = @_;

	return ($on // $node)->safe_psql('postgres', ($settings // '') . " SELECT count(*), sum(hashtextextended(concat(a, '-', b), 0)::numeric), sum(hashtextextended(p, 0)::numeric) FROM ($join) AS x");
}

# near rows, by a nested loop: by an index, or one by one
my %expected;
sql('CREATE INDEX letter_fp ON letter USING hamming (fp)');
for my $name (sort keys %joins)
{
	like(sql("EXPLAIN $joins{$name}"), qr/Custom Scan \((Hamming|Shingle) Join\)/, "$name: by the node");
	my $seen = checksum($joins{$name});

	# only simhash_within uses the index
	$expected{$name} = checksum($joins{$name} =~ s/a.fp <~> b.fp <= 8/simhash_within(a.fp, b.fp, 8)/r, 'SET simdup.enable_join = off; SET enable_nestloop = on; SET max_parallel_workers_per_gather = 2;');
	cmp_ok((split /\|/, $seen)[0], '>', 30, "$name: many rows");
	is($seen, $expected{$name}, "$name: those of a nested loop");
	for my $memory ("SET work_mem = '64kB';", "SET work_mem = '1MB'; SET max_parallel_workers_per_gather = 2;", "SET work_mem = '4MB'; SET max_parallel_workers_per_gather = 4;")
	{
		is(checksum($joins{$name}, $memory), $expected{$name}, "$name: the same after $memory");
	}
	nothing_left($name);
}
sql('DROP INDEX letter_fp');
my $before = n_started($node);
is(checksum('SELECT a.id AS a, b.id AS b, a.pad AS p FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 12)', 'SET max_parallel_workers_per_gather = 2;'),
	checksum('SELECT a.id AS a, b.id AS b, a.pad AS p FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 12)'), 'a larger distance, with workers');
cmp_ok(n_started($node), '>', $before, 'workers were started');

# --- memory stays within the bound

SKIP:
{
	skip 'no /proc to read the size of a session from', 4 unless -r '/proc/self/status';
	my $peak = sub { return peak_kb($node, $_[0]) / 1024; };
	my $scan = $peak->("SELECT count(a.fp <~> a.fp), max(pad) FROM letter a");

	for my $megabytes (1, 8)
	{
		for my $name ('pairs', 'alone')
		{
			my $used = $peak->("SET work_mem = '${megabytes}MB'; SELECT count(*), max(p) FROM ($joins{$name}) AS x") - $scan;

			cmp_ok($used, '<', 1.1 * $megabytes + 4, sprintf '%s at work_mem = %d MB: %.1f MB beside a scan', $name, $megabytes, $used);
		}
	}
}

# --- a cancel, in each stage of a join, comes within a moment

# rows that are slow to read; random ones that are slow to compare; equal ones that are many pairs
my $equal = '(SELECT i, (i % 1)::bigint::simhash64 AS fp FROM generate_series(1, 200000) AS i)';
my %slow = (
	reading => 'SELECT count(*) FROM (SELECT hashint8extended(i, 0)::simhash64 AS fp FROM generate_series(1, 100000000) AS i) a JOIN (SELECT fp FROM letter) b ON simhash_within(a.fp, b.fp, 3)',
	'reading the other side' => 'SELECT count(*) FROM letter a LEFT JOIN (SELECT hashint8extended(i, 0)::simhash64 AS fp FROM generate_series(1, 100000000) AS i) b ON simhash_within(a.fp, b.fp, 3)',
	fingerprinting => 'SELECT count(*) FROM (SELECT repeat(md5(i::text), 300) AS t FROM generate_series(1, 100000) AS i) a JOIN text b ON simhash_within(minhash64(a.t), minhash64(b.content), 3)',
	joining => 'SELECT count(*) FROM more a JOIN more b ON a.id < b.id AND simhash_within(a.fp, b.fp, 20)',
	'joining in scopes' => 'SELECT count(*) FROM more a JOIN more b ON a.scope = b.scope AND simhash_within(a.fp, b.fp, 28)',
	output => "SELECT count(*) FROM $equal a JOIN $equal b ON simhash_within(a.fp, b.fp, 3)",
	'output that a filter removes' => "SELECT count(*) FROM $equal a JOIN $equal b ON simhash_within(a.fp, b.fp, 3) AND a.i + b.i < 0",
	'an anti join that finds nothing' => "SELECT count(*) FROM $equal a WHERE NOT EXISTS (SELECT FROM $equal b WHERE simhash_within(a.fp, b.fp, 3) AND a.i + b.i < 0)",
	shingling => q{SELECT count(*) FROM (SELECT (SELECT string_agg(md5((i * 1000 + j)::text), '') FROM generate_series(1, 100) j) AS t FROM generate_series(1, 100000) AS i OFFSET 0) a JOIN text b ON shingle_resemblance(a.t, b.content) >= 0.4},
	'joining sets' => q{SELECT count(*) FROM word a JOIN word b ON shingle_resemblance(a.t, b.t, 1, 'word') >= 0.2},
	'output of sets' => q{SELECT count(*) FROM (SELECT i, repeat('equal', 1 + i % 1) AS t FROM generate_series(1, 50000) AS i) a JOIN (SELECT i, repeat('equal', 1 + i % 1) AS t FROM generate_series(1, 50000) AS i) b ON shingle_resemblance(a.t, b.t) >= 0.5});
sql(<<'SQL');
CREATE TABLE more AS SELECT i AS id, i % 5 AS scope, hashint8extended(i, 0)::simhash64 AS fp FROM generate_series(1, 700000) AS i;
CREATE TABLE word AS SELECT i, (SELECT string_agg((abs(hashint8extended(i * 40 + j, 0) % 300))::text, ' ') FROM generate_series(1, 30) AS j) AS t FROM generate_series(1, 30000) AS i;
ANALYZE more, word;
SQL

# The processor time that a statement uses beyond its timeout, at the least of eight tries:
# others use the machine.
sub overtime
{
	my ($settings, $statement, $ms) = @_;
	my $least;

	for (1 .. 8)
	{
		my ($out, $err);

		$node->psql('postgres', <<SQL, stdout => \$out, stderr => \$err, on_error_stop => 0);
$settings SET statement_timeout = '${ms}ms'; $statement;
RESET statement_timeout;
SELECT 'ticks', u + s FROM regexp_match(pg_read_file('/proc/self/stat'), '\\)(?: \\S+){11} (\\d+) (\\d+)') AS f, LATERAL (SELECT f[1]::int, f[2]::int) AS t (u, s);
SQL
		return "no timeout: $out $err" if $err !~ /canceling statement due to statement timeout/ || $out !~ /^ticks\|(\d+)$/;
		my $over = $1 / 100 - $ms / 1000;
		$least = $over if !defined $least || $over < $least;
		last if $least < 1;
	}
	return $least;
}
for my $stage (sort keys %slow)
{
	like(sql("EXPLAIN $slow{$stage}"), qr/Custom Scan/, "$stage: by the node");
	for my $case ([ 300, '' ], [ $whole ? 1200 : 700, "SET work_mem = '256kB'; SET max_parallel_workers_per_gather = 2;" ])
	{
		my ($ms, $settings) = @$case;

		cmp_ok(overtime($settings, $slow{$stage}, $ms), '<', 1, "$stage: stops in time after $ms ms $settings");
	}
	nothing_left($stage);
}

# --- errors that come in the middle

for my $case (
	[ "SET work_mem = '64kB'; SET temp_file_limit = '500kB'; $joins{pairs}", qr/temporary file size exceeds "?temp_file_limit/, 'temp_file_limit' ],
	[ "SET work_mem = '1MB'; SET temp_file_limit = '6MB'; SET max_parallel_workers_per_gather = 2; $joins{pairs}", qr/temporary file size exceeds "?temp_file_limit/, 'temp_file_limit, with workers' ],
	[ "SET work_mem = '64kB'; SET temp_file_limit = '200kB'; $joins{shingles}", qr/temporary file size exceeds "?temp_file_limit/, 'temp_file_limit for shingles' ],
	[ "SET work_mem = '64kB'; $joins{pairs} AND 1 / (a.id - 9) > -1", qr/division by zero/, 'an error of the filter' ],
	[ "SET work_mem = '64kB'; SELECT 1 / (a - 19) FROM ($joins{pairs}) AS x", qr/division by zero/, 'an error of the output' ],
	[ "SET work_mem = '64kB'; SELECT a.id FROM letter a JOIN letter b ON simhash_within(CASE WHEN a.id = 50000 THEN (1 / (a.id - 50000))::simhash64 ELSE a.fp END, b.fp, 3)", qr/division by zero/, 'an error of a fingerprint' ],
	[ 'SELECT a.id FROM letter a JOIN letter b ON simhash_within(a.fp, b.fp, 60 + (SELECT 5))', qr/radius must be between 0 and 64/, 'a distance that is none' ],
	[ 'SELECT a.id FROM text a JOIN text b ON simdup_resembles(a.content, b.content, 1 + (SELECT 0.5))', qr/min_resemblance must be between 0 and 1/, 'a resemblance that is none' ],
	[ q{SELECT a.id FROM text a JOIN text b ON shingle_resemblance(a.content, b.content, 3, (SELECT 'line')) >= 0.5}, qr/unrecognized shingle unit/, 'a unit that is none' ])
{
	my ($script, $error, $name) = @$case;
	my ($out, $err);

	$node->psql('postgres', "SET statement_timeout = '20s'; $script;\n$script;\nRESET ALL; SELECT 'works ' || count(*) FROM ($joins{texts}) AS x", stdout => \$out, stderr => \$err, on_error_stop => 0);
	is(scalar(() = $err =~ /$error/g), 2, "$name: the error, twice") or diag($err);
	like($out, qr/works \d/, "$name: the session works");
	nothing_left($name);
}
# in a subtransaction, beside a cursor that goes on
is(sql(<<"SQL"), (split /\|/, $expected{pairs})[0], 'an error beside an open cursor');
SET work_mem = '64kB';
BEGIN;
DECLARE c CURSOR FOR $joins{pairs};
MOVE 5 FROM c;
DO \$\$
DECLARE
  c refcursor := 'c';
  n int := 5;
BEGIN
  BEGIN
    PERFORM 1 / (x.a - 19) FROM ($joins{pairs}) AS x;
  EXCEPTION WHEN division_by_zero THEN NULL;
  END;
  LOOP
    MOVE c;
    EXIT WHEN NOT FOUND;
    n := n + 1;
  END LOOP;
  PERFORM set_config('my.n', n::text, false);
END \$\$;
COMMIT;
SELECT current_setting('my.n');
SQL

# --- workers that are disturbed

my $large = 'SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM more a JOIN more b ON a.id < b.id AND simhash_within(a.fp, b.fp, 18)';

# Run the large join, do something to one of its workers, which is its leader's
# or its own pid, and return the error.
sub disturb
{
	my ($what, $signal) = @_;
	my ($out, $err, $done) = ('', '', '');
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET application_name = large', '-c', $large ], '<', \undef, '>', \$out, '2>', \$err);

	for (1 .. 1200)
	{
		sleep 0.05;
		$done = sql("SELECT $what FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND application_name = 'large' LIMIT 1");
		# workers that read end before those that compare start, and one may be gone by now
		last if $done ne '' && (!defined $signal || kill $signal, $done);
	}
	my $start = time;
	$session->finish;
	note(sprintf 'the error came after %.2f s', time - $start);
	return $err;
}

like(disturb('pg_cancel_backend(leader_pid)'), qr/canceling statement due to user request/, 'the leader is cancelled');
nothing_left('the leader is cancelled');
like(disturb('pg_cancel_backend(pid)'), qr/canceling statement/, 'a worker is cancelled');
nothing_left('a worker is cancelled');
like(disturb('pg_terminate_backend(pid)'), qr/terminating (background worker|connection)|lost connection to parallel worker/, 'a worker is terminated');
nothing_left('a worker is terminated');
like(disturb('pg_terminate_backend(leader_pid)'), qr/terminating connection|server closed the connection/, 'the leader is terminated');
nothing_left('the leader is terminated');
is(checksum($joins{pairs}, 'SET max_parallel_workers_per_gather = 2;'), $expected{pairs}, 'the next join is complete');

# --- no memory

SKIP:
{
	skip 'no prlimit', 19 if $^O ne 'linux' || system('prlimit --version >/dev/null 2>&1') != 0;
	my $limit = q{awk '/VmSize/ { print ($2 + %d) * 1024 }' /proc/$pid/status};

	my $n_refused = 0;

	for my $room (2000, 8000, 20000)
	{
		for my $join ($joins{pairs}, $joins{shingles})
		{
			my ($out, $err);

			# libraries that a session loads on its first join do not count
			$node->psql('postgres', <<"SQL" =~ s/LIMIT/sprintf $limit, $room/er, stdout => \$out, stderr => \$err, on_error_stop => 0);
SELECT count(*) FROM ($join) AS x WHERE a < 0;
SELECT pg_backend_pid() AS pid \\gset
\\setenv pid :pid
\\! prlimit --pid \$pid --as=\$(LIMIT):
SET work_mem = '1GB';
SET max_parallel_workers_per_gather = 2;
SELECT max(p) < '' FROM ($join) AS x;
\\! prlimit --pid \$pid --as=unlimited:
SET work_mem = '4MB';
SELECT count(*) > 0 FROM ($join) AS x;
SQL
			$n_refused++ if $err =~ /out of memory|Cannot allocate memory/;
			is(join(' ', grep { !/out of memory|Cannot allocate memory/ } $err =~ /ERROR: +(.*)/g), '', "with $room kB, the error is of memory");
			like($out, qr/t$/, 'the session works');
			nothing_left("$room kB");
		}
	}
	cmp_ok($n_refused, '>=', 2, "joins without memory: $n_refused");
}

# --- a worker that is killed outright makes the server start again

like(disturb('pid', 'KILL'), qr/terminating connection because of crash|server closed the connection/, 'a worker is killed');
# psql without an input: while the server starts, nobody reads it
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	my ($ready) = run_command([ $node->installed_command('psql'), '-XAtd', $node->connstr('postgres'), '-c', 'SELECT 1' ]);
	last if ($ready // '') eq '1';
	sleep(0.1);
}
nothing_left('a worker is killed');
is(checksum($joins{pairs}, 'SET max_parallel_workers_per_gather = 2;'), $expected{pairs}, 'the next join is complete');

# --- a standby

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('join_limits_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$before = n_started($standby);
for my $name (sort keys %joins)
{
	is(checksum($joins{$name}, "SET max_parallel_workers_per_gather = 2; SET work_mem = '1MB';", $standby), $expected{$name}, "$name on a standby");
}
is($standby->safe_psql('postgres', 'SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 14)'),
	sql('SELECT count(*) FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 14)'), 'a larger distance on a standby');
cmp_ok(n_started($standby), '>', $before, 'it has workers');
$standby->stop;

# --- no workers to have

$node->append_conf('postgresql.conf', "max_worker_processes = 1\nmax_wal_senders = 0\nwal_level = minimal");
$node->restart;
is(checksum($joins{pairs}, 'SET max_parallel_workers_per_gather = 2;'), $expected{pairs}, 'max_worker_processes = 1');

$node->stop;
done_testing();

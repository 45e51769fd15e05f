# parallel: rows come in the same order for any number of workers, wherever a join or
# window stands. Without shared memory for workers, a join runs with fewer or alone.
#
# join_limits.pl stops joins with workers, lets them fail, and runs them on a standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole n_started);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no POSIX shared memory' if !-d '/dev/shm' || !-w _;

my $n_rows = $whole ? 300000 : 200000;
my $node = PostgreSQL::Test::Cluster->new('parallel');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
dynamic_shared_memory_type = posix
work_mem = 64MB
max_worker_processes = 12
max_parallel_workers = 8
parallel_setup_cost = '1e10'  # the leader reads the rows, in their order
log_min_messages = debug1
enable_nestloop = off
CONF
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(<<"SQL");
CREATE EXTENSION simdup;
CREATE TABLE rows AS SELECT i::bigint AS id,
    (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 1, 0) # (255::bigint << (i % 56)::int)
     ELSE hashint8extended(i, 0) END)::simhash64 AS fp
  FROM generate_series(1, $n_rows) AS i;
VACUUM ANALYZE rows;
SQL

# --- the same rows in the same order

my $pairs = '(SELECT a.id AS a, b.id AS b FROM rows a JOIN rows b ON a.id < b.id AND simhash_within(a.fp, b.fp, 14))';
my %tables = (
	pairs => $pairs,
	'new rows' => '(SELECT a.id AS a, b.id AS b FROM rows a LEFT JOIN rows b ON b.id <= ' . $n_rows / 2 . ' AND simhash_within(a.fp, b.fp, 16) WHERE a.id > ' . $n_rows / 2 . ')',
	components => q{(SELECT simdup_cluster(id, fp, 14, 'connected') OVER (ORDER BY id) FROM rows)});
for my $name (sort keys %tables)
{
	my ($alone, @others) = map {
		my $before = n_started($node);
		my $rows = sql("SET max_parallel_workers_per_gather = $_; SELECT md5(string_agg(t::text, ',')), count(*) FROM $tables{$name} AS t");
		my $n = n_started($node) - $before;

		$_ == 0 ? is($n, 0, "$name: without workers none is started") : cmp_ok($n, '>=', $_, "$name: $n workers");
		$rows
	} 0, 1, 2, 8;
	is_deeply(\@others, [ ($alone) x 3 ], "$name: the same rows in the same order");
}
my $n = sql("SELECT count(*) FROM $pairs AS p");
# of the server, as workers look for the library before they have the session's settings; from
# 18 on, functions are looked for in this path, too
for my $path (sql('SHOW server_version_num') < 180000 ? '/nowhere' : (), '$libdir')
{
	$node->append_conf('postgresql.conf', "dynamic_library_path = '$path'");
	$node->reload;
	is(sql("SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM $pairs AS p"), $n, "workers find the library where functions do, with $path");
}

# --- a small /dev/shm, as in containers: in name spaces where the user may mount one

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
	my %seen;
	# less than the rows take; eight workers take 640 kB
	my $little = 0.015 * $n_rows;
	for (my $kb = $little; $kb < $little + 5500 && !grep({ $_ > 0 } keys %seen); $kb += 400)
	{
		die 'the server did not start' unless start_with_memory($kb);
		my (undef, $out, $err) =
		  $node->psql('postgres', "SET max_parallel_workers_per_gather = 8; SELECT count(*) FROM $pairs AS p");
		$seen{ $err =~ /NOTICE:  joining with ([0-7]) of 8 parallel workers/ ? $1 : 8 } = $out;
		system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
		$node->start;
	}
	is($seen{0}, $n, 'without room for workers, the join runs alone');
	my ($fewer) = grep { $_ > 0 && $_ < 8 } keys %seen;
	is($seen{ $fewer // 'fewer' }, $n, 'with little room, the join has fewer workers');

	# memory that the server has reserved, before a /dev/shm that has none
	my $join = "SET max_parallel_workers_per_gather = 8; SELECT count(*) FROM $pairs AS p";
	my ($out, $err, $mb, $before);
	for my $reserved (1, 0)
	{
		$node->append_conf('postgresql.conf', 'min_dynamic_shared_memory = ' . ($reserved || $mb + 5) . 'MB');
		die 'the server did not start' unless start_with_memory($little);
		# ends when there is no room
		$node->psql('postgres', q{COPY (SELECT repeat('x', 1000) FROM generate_series(1, 10000)) TO '/dev/shm/full'}) if !$reserved;
		$before = n_started($node);
		(undef, $out, $err) = $node->psql('postgres', $join);
		next if !$reserved;
		($mb) = $err =~ /All of them need (\d+) MB of shared memory, and \d MB is there/ or die "no room asked for: $err";
		system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
		$node->start;
	}
	is("$out$err", $n, 'with reserved memory, the join has all workers, and says nothing');
	cmp_ok(n_started($node), '>', $before, '... and they start');
	# six joins at once have too little of it
	my @errors = ('') x 6;
	my @joins = map {
		IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $join . " UNION ALL SELECT count(*) FROM $pairs AS p" x 3 ],
			'<', '/dev/null', '>', '/dev/null', '2>', \$errors[$_])
	} 0 .. 5;
	$_->finish for @joins;
	my @failed = grep { $_ ne '' } @errors;
	cmp_ok(scalar @failed, '>', 0, 'where the room went meanwhile, the server fails');
	is_deeply([ grep { !/^ERROR: +could not resize shared memory segment .*\nHINT: +Make \/dev\/shm larger, raise min_dynamic_shared_memory/ } @failed ],
		[], '... and the error says what to do');
	system('pg_ctl', '-s', '-m', 'fast', '-D', $node->data_dir, 'stop');
}

$node->stop;
done_testing();

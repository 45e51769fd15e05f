# hamming_build: CREATE INDEX with parallel workers, and beyond its memory. The
# index is the same as one that a single process makes, errors and cancel
# requests leave nothing behind, and few passes over temporary files are enough.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use Helpers qw($whole);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = PostgreSQL::Test::Cluster->new('build');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
max_parallel_workers_per_gather = 0
max_worker_processes = 16
max_parallel_workers = 8
max_parallel_maintenance_workers = 3
maintenance_work_mem = 1MB
CONF
$node->start;
$node->safe_psql('postgres', $Hamming::setup);

# Run statements. Return the workers that each build had, '' where there were none.
sub workers_of
{
	my ($statements) = @_;
	my ($out, $err);

	$node->psql('postgres', "SET client_min_messages = debug1; $statements", stdout => \$out, stderr => \$err, on_error_die => 1);
	return join ' ', $err =~ /using (\d+) parallel workers/g;
}

# The index is sound; with $step, its searches give the rows of the table, at every $step-th k.
sub agrees
{
	my ($table, $index, $name, $step) = @_;

	is($node->safe_psql('postgres', "SELECT simdup_index_check('$index', true)"), '', "$name: the index is sound");
	is($node->safe_psql('postgres', "SELECT differences('$table', $step)"), '0', "$name: index and table agree") if $step;
	return;
}

# Check that statements build an index with this number of workers, and as it must be.
sub builds
{
	my ($workers, $table, $index, $name, $step, $statements) = @_;

	is(workers_of($statements), $workers, $name);
	agrees($table, $index, $name, $step);
	return;
}

my $stat = q{SELECT (s).*, pg_relation_size('%s'), (SELECT reltuples FROM pg_class WHERE oid = '%1$s'::regclass) FROM simdup_index_stat('%1$s') s};

# --- by workers and alone: the same pages, the same rows; with and without files
for my $kind (qw(uniform clustered equal nothing mixed))
{
	$node->safe_psql('postgres', "CREATE TABLE $kind (id bigint, fp simhash64) WITH (parallel_workers = 3); SELECT fill('$kind', '$kind', 1, 20000)");
	for my $memory ('1MB', '64MB')
	{
		my $set = "SET maintenance_work_mem = '$memory';";
		builds('', $kind, "${kind}_fp", "$kind, $memory: alone", 0,
			"$set SET max_parallel_maintenance_workers = 0; CREATE INDEX ${kind}_fp ON $kind USING hamming (fp)");
		my $alone = $node->safe_psql('postgres', sprintf($stat, "${kind}_fp"));
		$node->safe_psql('postgres', "DROP INDEX ${kind}_fp");
		builds('3', $kind, "${kind}_fp", "$kind, $memory: by three workers", $memory eq '1MB' ? 16 : 0,
			"$set CREATE INDEX ${kind}_fp ON $kind USING hamming (fp)");
		is($node->safe_psql('postgres', sprintf($stat, "${kind}_fp")), $alone, "$kind, $memory: as large as the index built alone");
		$node->safe_psql('postgres', "DROP INDEX ${kind}_fp");
	}
}
$node->safe_psql('postgres', 'CREATE TABLE empty (id bigint, fp simhash64) WITH (parallel_workers = 3)');
is(workers_of('CREATE INDEX empty_fp ON empty USING hamming (fp)'), '', 'an empty table needs no workers') if $node->pg_version < 17;
is(workers_of('CREATE INDEX ON empty USING hamming (fp)'), '3', 'workers have nothing to do for an empty table') if $node->pg_version >= 17;
$node->safe_psql('postgres', "INSERT INTO empty SELECT * FROM uniform LIMIT 1; CREATE INDEX one_fp ON empty USING hamming (fp)");
agrees('empty', 'one_fp', 'one row', 16);

# --- indexes of all kinds
$node->safe_psql('postgres', 'UPDATE mixed SET fp = fingerprint($$uniform$$, id) WHERE id % 5 = 0; DELETE FROM mixed WHERE id % 11 = 0');
builds('3', 'mixed', 'ball', 'an expression', 0, 'CREATE INDEX ball ON mixed USING hamming (simhash_ball(fp, 3))');
builds('3', 'mixed', 'part', 'a part of the rows', 0, 'CREATE INDEX part ON mixed USING hamming (fp) WHERE id % 3 = 0');
is( $node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM mixed WHERE id % 3 = 0 AND simhash_within(fp, '0123456789abcdef', 64)}),
	$node->safe_psql('postgres', 'SELECT count(fp) FROM mixed WHERE id % 3 = 0'), 'a part of the rows is found');
builds('3', 'mixed', 'mixed_fp', 'CONCURRENTLY', 32, 'CREATE INDEX CONCURRENTLY mixed_fp ON mixed USING hamming (fp)');
builds('3', 'mixed', 'mixed_fp', 'REINDEX', 0, 'REINDEX INDEX mixed_fp');
builds('3', 'mixed', 'mixed_fp', 'REINDEX CONCURRENTLY', 0, 'REINDEX INDEX CONCURRENTLY mixed_fp');
builds('3', 'apart', 'apart_fp', 'a constraint', 0,
	'CREATE TABLE apart (LIKE uniform) WITH (parallel_workers = 3); INSERT INTO apart SELECT * FROM uniform;'
	  . 'ALTER TABLE apart ADD CONSTRAINT apart_fp EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=)');
$node->psql('postgres', 'INSERT INTO apart SELECT 0, fp FROM apart LIMIT 1', stderr => \my $refused);
like($refused, qr/conflicting key value violates exclusion constraint/, 'a constraint holds');
builds('3', 'unlogged', 'unlogged_fp', 'unlogged', 32,
	'CREATE UNLOGGED TABLE unlogged (LIKE uniform) WITH (parallel_workers = 3); INSERT INTO unlogged SELECT * FROM mixed;'
	  . 'CREATE INDEX unlogged_fp ON unlogged USING hamming (fp)');
# rows that an older snapshot of this transaction sees
builds('3', 'mixed', 'late', 'after updates of the same transaction', 0,
	"BEGIN; UPDATE mixed SET id = -id WHERE id % 2 = 0; UPDATE mixed SET fp = fingerprint('uniform', id) WHERE id % 4 = 0;"
	  . 'CREATE INDEX late ON mixed USING hamming (fp); COMMIT');

# --- no worker is asked for, or none comes
builds('', 'mixed', 'none', 'no worker comes', 0, 'SET max_parallel_workers = 0; CREATE INDEX none ON mixed USING hamming (fp)');
builds('1', 'mixed', 'none', 'one worker comes', 0, 'SET max_parallel_workers = 1; REINDEX INDEX none');
builds('', 'mixed', 'none', 'no worker comes, CONCURRENTLY', 0, 'SET max_parallel_workers = 0; REINDEX INDEX CONCURRENTLY none');
is(workers_of('ALTER TABLE mixed SET (parallel_workers = 0); REINDEX INDEX none; ALTER TABLE mixed SET (parallel_workers = 3)'), '', 'the table wants no workers');
is(workers_of('CREATE FUNCTION alone(simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$ BEGIN RETURN $1; END $$;'
		  . 'CREATE INDEX unsafe ON mixed USING hamming (alone(fp))'), '', 'an expression that is not parallel safe');
is(workers_of('CREATE TEMP TABLE own (LIKE mixed) WITH (parallel_workers = 3); INSERT INTO own SELECT * FROM mixed; CREATE INDEX ON own USING hamming (fp)'), '', 'a temporary table');

# --- errors and cancel requests, wherever they come
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('mixed')");
$path =~ s,[^/]*$,,;
my $files = sub { opendir my $dir, $path or die "$path: $!"; scalar grep { /^\d+$/ && -s "$path/$_" } readdir $dir };
$node->safe_psql('postgres', 'CREATE FUNCTION fussy(fp simhash64, id bigint) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS'
	  . q{ $$ BEGIN IF id = -18000 THEN RAISE 'this row is not for me'; END IF; RETURN fp; END $$; CHECKPOINT});
my $before = $files->();
for my $round (1 .. 3)
{
	$node->psql('postgres', 'CREATE INDEX fussy ON mixed USING hamming (fussy(fp, id))', stderr => \my $said);
	like($said, qr/ERROR:  this row is not for me/, "an error of an expression, $round");
}
my %ended;
for my $ms (map { 3 * $_ } 1 .. 25)
{
	$node->psql('postgres', "SET statement_timeout = $ms; CREATE INDEX short ON mixed USING hamming (fp); DROP INDEX short", stderr => \my $said);
	$ended{ $said eq '' ? 'in time' : $said =~ /canceling statement due to statement timeout/ ? 'canceled' : $said }++;
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS short');
}
is(join(' ', grep { !/^(in time|canceled)$/ } keys %ended), '', 'a cancel request is one, wherever it comes');
cmp_ok($ended{canceled}, '>', 0, 'some were canceled');
$node->safe_psql('postgres', 'CHECKPOINT');
is($files->(), $before, 'no file of an index is left');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), '0', 'no worker is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no temporary file is left');
builds('3', 'mixed', 'after', 'afterwards a build works as before', 0, 'CREATE INDEX after ON mixed USING hamming (fp)');

# a worker that is terminated takes the build with it, and nothing else
$node->safe_psql('postgres', 'CREATE FUNCTION slow(fp simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS'
	  . q{ $$ BEGIN PERFORM pg_sleep(0.02); RETURN fp; END $$});
my $slow = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', 'CREATE INDEX slow ON mixed USING hamming (slow(fp))' ], '<', \undef, '>&', \my $slow_said);
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_progress_create_index WHERE phase = 'building index: scanning table' AND blocks_done BETWEEN 1 AND blocks_total}),
	'progress: the table is scanned');
# one only: the others end with it, and a poll does not end while there are warnings of processes that are gone
ok($node->poll_query_until('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1}), 'a worker is terminated');
$slow->finish;
like($slow_said, qr/^(FATAL|ERROR): .*(terminating (connection|background worker)|lost connection to parallel worker)/m, 'the build fails');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), '0', 'all workers are gone') or diag $slow_said;

# --- progress of the last phase, seen at its end
$node->safe_psql('postgres', 'CREATE TABLE progress (phase text, done bigint, total bigint)');
my $watch = Hamming::in_background($node, join '', "INSERT INTO progress SELECT phase, tuples_done, tuples_total FROM pg_stat_progress_create_index WHERE phase LIKE '%rotations';\n" x 3000);
$node->safe_psql('postgres', "REINDEX INDEX after; REINDEX INDEX after; REINDEX INDEX after");
$watch->finish;
is($node->safe_psql('postgres', 'SELECT count(*) FROM progress WHERE done > total OR total <> 4 * (SELECT count(fp) FROM mixed) + (SELECT count(*) - count(fp) FROM mixed)'), '0', 'progress: entries written, of all');

# --- equal fingerprints and NULLs beyond the memory: how much goes to files
for my $kind (qw(equal nothing near uniform))
{
	my $n = $whole ? 200000 : 100000;
	my $bytes = 'SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()';
	$node->safe_psql('postgres', "CREATE TABLE large_$kind (id bigint, fp simhash64); SELECT fill('large_$kind', '$kind', 1, $n); SELECT pg_stat_force_next_flush()");
	my $start = $node->safe_psql('postgres', $bytes);
	$node->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0; CREATE INDEX large_${kind}_fp ON large_$kind USING hamming (fp)");
	$node->poll_query_until('postgres', "SELECT ($bytes) > $start");
	my $written = ($node->safe_psql('postgres', $bytes) - $start) / $n / 16;
	# the rows once, and each rotation's once more; a part that is too large again
	cmp_ok($written, '<=', $kind eq 'nothing' ? 2.2 : 5.8, "$kind: files of $written times the rows");
	agrees("large_$kind", "large_${kind}_fp", "$kind, large", 0);
}

done_testing();

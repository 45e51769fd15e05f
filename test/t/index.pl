# index: the GIN index after crashes, built while rows arrive.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# The rows that only one of two searches finds, by index and by scan, over some
# radii and centers; and whether the first search used the index.
my $functions = <<'SQL';
CREATE EXTENSION simdup;
CREATE FUNCTION rows_of(by_index boolean, k int, center simhash64) RETURNS SETOF tid LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('enable_seqscan', (NOT by_index)::text, true),
          set_config('enable_bitmapscan', by_index::text, true);
  RETURN QUERY EXECUTE format('SELECT ctid FROM t WHERE fp <@ %L::simhash_ball', simhash_ball(center, k));
END $$;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
  SELECT coalesce(sum(n), 0)::bigint
  FROM unnest(ARRAY[0, 1, 3, 8, 11, 20]) k, generate_series(1, 20) i,
    LATERAL (SELECT hashint8extended(i * 50, 1)::simhash64 AS center) c,
    LATERAL (SELECT count(*) AS n FROM (
      (SELECT rows_of(true, k, center) EXCEPT SELECT rows_of(false, k, center)) UNION ALL
      (SELECT rows_of(false, k, center) EXCEPT SELECT rows_of(true, k, center))) d) s $$;
CREATE FUNCTION matches() RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM generate_series(1, 20) i, rows_of(true, 8, hashint8extended(i * 50, 1)::simhash64) $$;
SQL

# Rows i of a table: fingerprints, a third of them neighbours of others.
sub rows
{
	my ($from, $to) = @_;
	return <<"SQL";
INSERT INTO t SELECT i, (hashint8extended(i % 1000 * (i % 3 + 1), 1) # ((1::bigint << (i % 61)) - 1 & i))::simhash64
FROM generate_series($from, $to) i;
SQL
}

my $table = 'CREATE TABLE t (id int, fp simhash64);';

# A fingerprint that is slow to come by, so that a build can be caught at work.
my $slow = <<'SQL';
CREATE FUNCTION slow(fp simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF random() < 0.002 THEN PERFORM pg_sleep(0.1); END IF;
  RETURN fp;
END $$;
SQL
my $index = 'CREATE INDEX t_fp ON t USING gin (fp)';

# The plan really is by index, or nothing here would be tested.
sub uses_index
{
	my ($node) = @_;
	return $node->safe_psql('postgres',
		"SET enable_seqscan = off; EXPLAIN SELECT * FROM t WHERE fp <@ '<0123456789abcdef,3>'") =~ /Index Cond/;
}

sub agrees
{
	my ($node, $name) = @_;
	ok(uses_index($node), "$name: searches go through the index");
	cmp_ok($node->safe_psql('postgres', 'SELECT matches()'), '>', 0, "$name: there is something to find");
	is($node->safe_psql('postgres', 'SELECT differences()'), '0', "$name: index and scan agree");
	return;
}

# Everything that runs goes at once, as if the machine had.
sub kill_server
{
	my ($node) = @_;
	my @pids = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	kill 'KILL', $postmaster, @pids;
	# the next start needs them gone
	for (1 .. 600)
	{
		last if !grep { kill 0, $_ } $postmaster, @pids;
		sleep 0.05;
	}
	# the harness believes that the server runs
	$node->stop('immediate', fail_ok => 1);
	$node->{_pid} = undef;
	unlink $node->data_dir . '/postmaster.pid';
	return;
}

# psql in the background, on a script; its end is not of interest.
sub in_background
{
	my ($node, $script) = @_;
	my $file = $node->basedir . '/background.sql';
	open my $handle, '>', $file or die "$file: $!";
	print $handle $script;
	close $handle;
	return IPC::Run::start([ 'psql', '-qXAt', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', \undef, '>', \my $out, '2>', \my $err);
}

# Wait until a query says t.
sub wait_for
{
	my ($node, $query) = @_;
	$node->poll_query_until('postgres', $query) or die "never true: $query";
	return;
}

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmaintenance_work_mem = 1MB");
$primary->start;
$primary->safe_psql('postgres', $functions . $slow . $table . rows(1, 20000));

# --- crash while the index is built, some of it already written
my $build = in_background($primary, 'CREATE INDEX t_fp ON t USING gin (slow(fp));');
wait_for($primary, 'SELECT count(*) > 0 FROM pg_stat_progress_create_index WHERE blocks_done > blocks_total / 3');
kill_server($primary);
$build->finish;
$primary->start;
is($primary->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 't_fp'"),
	'0', 'crash during the build: no half index remains');
$primary->safe_psql('postgres', $index);
agrees($primary, 'built after a crash');

# --- crash while rows are inserted, with and without the pending list
for my $fastupdate ('on', 'off')
{
	$primary->safe_psql('postgres',
		"DROP INDEX t_fp; $index WITH (fastupdate = $fastupdate, gin_pending_list_limit = 64); CHECKPOINT");
	my $before = $primary->safe_psql('postgres', 'SELECT count(*) FROM t');
	my $insert = in_background($primary, join("\n", map { rows(30000 + 100 * $_, 30099 + 100 * $_) } 1 .. 1000));
	wait_for($primary, "SELECT count(*) > $before + 500 FROM t");
	kill_server($primary);
	$insert->finish;
	$primary->start;
	cmp_ok($primary->safe_psql('postgres', 'SELECT count(*) FROM t'),
		'>', $before + 500, "crash during inserts, fastupdate $fastupdate: committed rows are there");
	agrees($primary, "crash during inserts, fastupdate $fastupdate");
}

# --- an index built concurrently while rows come and go
$primary->safe_psql('postgres', 'DROP INDEX t_fp; TRUNCATE t;' . rows(1, 20000));
my $writer = in_background(
	$primary,
	join("\n",
		map { rows(40000 + 10 * $_, 40009 + 10 * $_) . 'DELETE FROM t WHERE id = ' . (7 * $_) . ';' } 1 .. 500));
wait_for($primary, 'SELECT count(*) > 20010 FROM t');
$primary->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY t_fp ON t USING gin (fp)');
$writer->finish;
is($primary->safe_psql('postgres', "SELECT indisvalid FROM pg_index WHERE indexrelid = 't_fp'::regclass"),
	't', 'the concurrent build is valid');
agrees($primary, 'built concurrently');

# --- a search that reads a long pending list with many probes answers a cancel,
# though no sooner than GIN gives its page lock back

$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE pending (fp simhash64);
CREATE INDEX ON pending USING gin (fp) WITH (fastupdate = on, gin_pending_list_limit = 1000000);
INSERT INTO pending SELECT hashint8extended(i, 3)::simhash64 FROM generate_series(1, 20000) i;
SQL
my ($stdout, $stderr);
$primary->psql('postgres', <<'SQL', stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
SET enable_seqscan = off;
SET statement_timeout = '100ms';
SELECT count(*) FROM pending WHERE fp <@ '<0123456789abcdef,13>';
SQL
like($stderr, qr/canceling statement due to statement timeout/, 'a search of the pending list is cancelled');

# --- amcheck, and the parallel build of 18
SKIP:
{
	skip 'gin_index_check came with PostgreSQL 18', 2 if $primary->safe_psql('postgres', 'SHOW server_version_num') < 180000;
	$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION amcheck;
DROP INDEX t_fp;
ALTER TABLE t SET (parallel_workers = 2);
SET min_parallel_table_scan_size = 0;
SET maintenance_work_mem = '128MB';
CREATE INDEX t_fp ON t USING gin (fp);
SELECT gin_index_check('t_fp');
SQL
	pass('gin_index_check finds nothing');
	is($primary->safe_psql('postgres', 'SELECT differences()'), '0', 'parallel build: index and scan agree');
}

# --- dump and restore, the extension in a schema that nothing names
$primary->safe_psql('postgres', <<'SQL');
CREATE DATABASE source;
CREATE DATABASE target;
\c source
CREATE SCHEMA tools;
CREATE EXTENSION simdup SCHEMA tools;
CREATE TABLE public.kept (id int, fp tools.simhash64, ball tools.simhash_ball);
INSERT INTO public.kept
SELECT i, hashint8extended(i, 1)::tools.simhash64, tools.simhash_ball(hashint8extended(i, 1)::tools.simhash64, i % 65)
FROM generate_series(1, 20000) i;
CREATE INDEX kept_fp ON public.kept USING gin (fp);
CREATE INDEX kept_part ON public.kept (id) WHERE tools.simhash_within(fp, '0123456789abcdef', 20);
CREATE VIEW public.near AS SELECT id FROM public.kept WHERE fp OPERATOR(tools.<@) '<0123456789abcdef,20>';
SQL
my $dump = $primary->basedir . '/dump.sql';
$primary->command_ok([ 'pg_dump', '-d', $primary->connstr('source'), '-f', $dump ], 'dump');
$primary->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $primary->connstr('target'), '-f', $dump ], 'restore');
my $contents = 'SELECT count(*), sum(hashint8(fp::bigint)), min(ball::text), max(ball::text) FROM kept; SELECT count(*) FROM near';
is( $primary->safe_psql('target', $contents),
	$primary->safe_psql('source', $contents),
	'what was restored is what was dumped');
like(
	$primary->safe_psql('target',
		"ANALYZE kept; EXPLAIN SELECT * FROM kept WHERE tools.simhash_within(fp, '0123456789abcdef', 3)"),
	qr/Bitmap Index Scan on kept_fp/,
	'the restored index is used, no schema of the extension in search_path');
$primary->stop;

done_testing();

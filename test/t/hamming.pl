# hamming: a search by the index finds the same as a scan of the table, for all
# kinds of rows and after all kinds of changes. The index stays sound, and an
# insert writes little to the log.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use Helpers qw($lean $whole);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hamming');
# pages are damaged below: their checksums would hide the answers of the index
$node->init(extra => [ '--locale=C', '--encoding=UTF8', $node->pg_version >= 18 ? '--no-data-checksums' : () ]);
$node->append_conf('postgresql.conf', "jit = off\nmax_parallel_workers_per_gather = 0\nmax_wal_size = 4GB\ncheckpoint_timeout = 1h");
$node->start;
$node->safe_psql('postgres', $Hamming::setup);

sub agrees
{
	my ($table, $name, $step) = @_;

	my ($fault, $differences, $disorder) = split /\n/,
	  $node->safe_psql('postgres', "SELECT simdup_index_check('${table}_fp', true); SELECT differences('$table', $step); SELECT disorder('$table')"), -1;

	is($fault, '', "$name: the index is sound");
	is($differences, '0', "$name: index and table agree");
	is($disorder, '0', "$name: the order is right");
	return;
}

# --- all kinds of values, through the life of a table
my $n = $whole ? 6000 : 2000;
for my $kind (qw(uniform clustered equal near sign nothing mixed))
{
	$node->safe_psql('postgres', "CREATE TABLE $kind (id bigint, fp simhash64); SELECT fill('$kind', '$kind', 1, $n);"
		  . "CREATE INDEX ${kind}_fp ON $kind USING hamming (fp)");
	agrees($kind, "$kind, built", $whole || $kind eq 'mixed' ? 1 : 3);
	$node->safe_psql('postgres', "SELECT fill('$kind', '$kind', $n + 1, 2 * $n)");
	agrees($kind, "$kind, inserted", 8);
	$node->safe_psql('postgres', "UPDATE $kind SET fp = fingerprint('uniform', id) WHERE id % 5 = 0; UPDATE $kind SET id = -id WHERE id % 7 = 0;"
		  . "DELETE FROM $kind WHERE id % 3 = 0");
	agrees($kind, "$kind, changed", 16);
	$node->safe_psql('postgres', "VACUUM $kind");
	agrees($kind, "$kind, vacuumed", 8);
	$node->safe_psql('postgres', "SELECT fill('$kind', '$kind', 3 * $n, 4 * $n)");
	agrees($kind, "$kind, filled again", 16);
	$node->safe_psql('postgres', "REINDEX INDEX ${kind}_fp");
	agrees($kind, "$kind, reindexed", 16);
}

# --- pages that are nearly empty make a tree of three levels, and split there
$node->safe_psql('postgres', "CREATE TABLE high (id bigint, fp simhash64); SELECT fill('high', 'uniform', 1, 30000);"
	  . 'CREATE INDEX high_fp ON high USING hamming (fp) WITH (fillfactor = 10)');
is($node->safe_psql('postgres', "SELECT levels FROM simdup_index_stat('high_fp')"), '3', 'three levels');
agrees('high', 'three levels', 16);
$node->safe_psql('postgres', "SELECT fill('high', 'clustered', 30001, @{[ $whole ? 60000 : 36000 ]})");
agrees('high', 'three levels, inserted', 16);

# --- temporary files, and many equal rows
$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; CREATE TABLE many (id bigint, fp simhash64);"
	  . "SELECT fill('many', 'equal', 1, 100000); SELECT fill('many', 'mixed', 100001, 130000); CREATE INDEX many_fp ON many USING hamming (fp)");
agrees('many', 'built by files', 16);
is($node->safe_psql('postgres', "SELECT n_rows + n_nulls, largest_block >= 100000 FROM simdup_index_stat('many_fp')"),
	'130000|t', 'the statistics count all rows and the equal ones');
$node->safe_psql('postgres', 'DELETE FROM many WHERE id <= 100000; VACUUM many');
agrees('many', 'equal rows deleted', 16);

# --- tablespaces
$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''");
my $space = "SELECT coalesce(spcname, 'pg_default'), pg_relation_filepath(c.oid) ~ 'pg_tblspc' FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = reltablespace WHERE relname = 'mixed_fp'";
$node->safe_psql('postgres', 'DROP INDEX mixed_fp; CREATE INDEX mixed_fp ON mixed USING hamming (fp) TABLESPACE other');
is($node->safe_psql('postgres', $space), 'other|t', 'built in a tablespace');
agrees('mixed', 'built in a tablespace', 16);
$node->safe_psql('postgres', 'ALTER INDEX mixed_fp SET TABLESPACE pg_default');
is($node->safe_psql('postgres', $space), 'pg_default|f', 'moved to another');
$node->safe_psql('postgres', "SELECT fill('mixed', 'mixed', 5 * $n, 6 * $n)");
agrees('mixed', 'moved to another tablespace', 16);
for my $how ('INDEX', 'INDEX CONCURRENTLY', 'TABLE')
{
	my $target = $how =~ /INDEX/ ? 'mixed_fp' : 'mixed';
	my $to = $how eq 'INDEX CONCURRENTLY' ? 'pg_default' : 'other';
	$node->safe_psql('postgres', "REINDEX (TABLESPACE $to) $how $target");
	is($node->safe_psql('postgres', $space), $to eq 'other' ? 'other|t' : 'pg_default|f', "REINDEX $how in another tablespace");
	agrees('mixed', "REINDEX $how in another tablespace", 32);
}
$node->safe_psql('postgres', "CREATE UNLOGGED TABLE unlogged (id bigint, fp simhash64); SELECT fill('unlogged', 'mixed', 1, $n);"
	  . 'CREATE INDEX unlogged_fp ON unlogged USING hamming (fp); ALTER INDEX unlogged_fp SET TABLESPACE other');
agrees('unlogged', 'unlogged, moved to another tablespace', 32);
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM unlogged'), '0', 'unlogged, moved, after a crash: empty');
$node->safe_psql('postgres', "SELECT fill('unlogged', 'mixed', 1, $n)");
agrees('unlogged', 'unlogged, moved, after a crash', 32);
$node->safe_psql('postgres', 'DROP TABLE unlogged; ALTER INDEX mixed_fp SET TABLESPACE pg_default; DROP TABLESPACE other');

# --- an exclusion check keeps a pin on the leaf whose rows it compares. VACUUM
# waits for it before it removes entries there, and can be canceled meanwhile.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION slow_ball(fp simhash64) RETURNS simhash_ball LANGUAGE plpgsql IMMUTABLE SET search_path = public AS $$
BEGIN
  IF fp = '0123456789abcdef' THEN
    PERFORM pg_advisory_lock_shared(15), pg_advisory_unlock_shared(15);
  END IF;
  RETURN simhash_ball(fp, 3);
END $$;
CREATE TABLE pinned (id int, fp simhash64, CONSTRAINT pinned_fp EXCLUDE USING hamming (slow_ball(fp) WITH ~=));
INSERT INTO pinned VALUES (0, '0123456789abcdef');
INSERT INTO pinned SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, 450) i;
-- rows of other pages of the table, but of the same leaves of the index
DELETE FROM pinned WHERE id > 250;
SQL
my $holder = $node->background_psql('postgres', on_error_die => 1);
$holder->query_safe('SELECT pg_advisory_lock(15)');
sub in_session
{
	my ($out, $query) = @_;
	return IPC::Run::start([ 'psql', '-qXAt', '-d', $node->connstr('postgres'), '-c', Hamming::of_class($query) ], '<', \undef, '>&', $out);
}
my ($inserted, $canceled, $vacuumed) = ('') x 3;
my $insert = in_session(\$inserted, q{INSERT INTO pinned VALUES (1001, '0123456789abcdee')});
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO pinned%' AND wait_event = 'advisory'");
my $waiting = "FROM pg_stat_activity WHERE query LIKE 'VACUUM%pinned' AND wait_event IN ('BufferPin', 'BufferCleanup')";
my $vacuum = in_session(\$canceled, 'VACUUM (INDEX_CLEANUP ON) pinned');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $waiting"), 'VACUUM waits for the pin of an exclusion check');
is($node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $waiting"), 't', 'it is asked to stop');
$vacuum->finish;
like($canceled, qr/canceling statement due to user request/, 'it stops');
$vacuum = in_session(\$vacuumed, 'VACUUM (INDEX_CLEANUP ON) pinned');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $waiting"), 'the next one waits too');
$holder->quit;
$_->finish for $insert, $vacuum;
like($inserted, qr/conflicting key value violates exclusion constraint "pinned_fp"/, 'the check goes on, and finds the row');
is($vacuumed, '', 'VACUUM goes on');
# the row that was refused is dead, but it is younger than the VACUUM
is($node->safe_psql('postgres', "SELECT n_rows FROM simdup_index_stat('pinned_fp')"), '252', 'VACUUM has removed what was deleted');
is($node->safe_psql('postgres', "SELECT simdup_index_check('pinned_fp', true)"), '', 'and the index is sound');

# --- the log, while a table doubles: splits, and tails that are sorted in
my $rows = $whole ? 50000 : 20000;
$node->safe_psql('postgres', "CREATE TABLE logged (id bigint, fp simhash64); SELECT fill('logged', 'uniform', 1, $rows); CREATE INDEX logged_fp ON logged USING hamming (fp); CHECKPOINT");
my $before = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', "SELECT fill('logged', 'uniform', $rows + 1, 2 * $rows)");
my $bytes = $node->safe_psql('postgres', "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$before') / $rows");
cmp_ok($bytes, '<=', 800, 'an insert writes at most 800 bytes');

# --- corrupted pages are found, and never more than an error
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('high_fp')");
my $good = do { $node->safe_psql('postgres', 'CHECKPOINT'); $node->stop; slurp_file($path) };

# Write the file anew with some change.
sub write_changed
{
	my ($change) = @_;
	my $bad = $good;
	$change->(\$bad);
	open my $handle, '>:raw', $path or die "$path: $!";
	print $handle $bad;
	close $handle;
	return;
}

# The pages of an index on texts are the same, and those of other servers: make test damages each
# fourth of them.
my $n_damages = 0;
sub is_left_out { return ($Hamming::of_texts || $lean) && !$whole && $n_damages++ % 4; }

# Then search and check.
sub damaged
{
	my ($name, $change, $must_fail, $codes) = @_;
	return if is_left_out();
	write_changed($change);
	$node->start;
	my $failed = 0;
	my $wrong = '';
	for my $query ("SELECT simdup_index_check('high_fp', true)",
		map { "SET enable_seqscan = off; SET statement_timeout = '60s'; $_" }
		"SELECT count(*) FROM high WHERE simhash_within(fp, '0123456789abcdef', 64)",
		"SELECT count(*) FROM high WHERE simhash_within(fp, fingerprint('clustered', 7), 9)",
		"SELECT count(*) FROM (SELECT id FROM high ORDER BY fp <~> '0123456789abcdef' LIMIT 100) s",
		"BEGIN; SELECT fill('high', 'uniform', 70001, 70200); ROLLBACK",
		"DELETE FROM high WHERE id % 3 = 1; VACUUM high", "SELECT simdup_index_stat('high_fp')")
	{
		my ($out, $err);
		$node->psql('postgres', "\\set VERBOSITY verbose\n$query", stdout => \$out, stderr => \$err, on_error_die => 0);
		next if $err !~ /ERROR|FATAL|PANIC|server closed/;
		$failed++;
		# bits that are flipped may make a block of another file of this one
		$codes //= qr/XX002|XX001/;
		$wrong .= $err if $err !~ /ERROR: +$codes/;
	}
	is($wrong, '', "$name: errors are those of a corrupted index");
	cmp_ok($failed, '>', 0, "$name: it is noticed") if $must_fail;
	$node->stop;
	return;
}

my $pages = length($good) / 8192;
damaged('metapage zeroed', sub { substr(${ $_[0] }, 0, 8192) = "\0" x 8192 }, 1);
damaged('leaf zeroed', sub { substr(${ $_[0] }, 8192 * 20, 8192) = "\0" x 8192 }, 1);
damaged('pages exchanged', sub { my $s = $_[0]; (substr($$s, 8192 * 30, 8192), substr($$s, 8192 * 700, 8192)) = (substr($good, 8192 * 700, 8192), substr($good, 8192 * 30, 8192)) }, 1);
damaged('right link to the left', sub { substr(${ $_[0] }, 8192 * 40 + 40, 4) = pack('L', 5) }, 1);
damaged('right link behind the end', sub { substr(${ $_[0] }, 8192 * 40 + 40, 4) = pack('L', 1 << 20) }, 1, qr/XX002/);
damaged('nothing left', sub { ${ $_[0] } = '' }, 1, qr/XX002/);
damaged('number of entries', sub { substr(${ $_[0] }, 8192 * 50 + 12, 2) = pack('S', 8000) }, 1);
damaged('number of sorted entries', sub { substr(${ $_[0] }, 8192 * 50 + 44, 2) = pack('S', 500) }, 1);
damaged('sorted entries exchanged', sub { my $s = $_[0]; (substr($$s, 8192 * 50 + 64, 8), substr($$s, 8192 * 50 + 80, 8)) = (substr($good, 8192 * 50 + 80, 8), substr($good, 8192 * 50 + 64, 8)) }, 1);
damaged('another relation', sub { substr(${ $_[0] }, 8192, 8192 * 10) = "\x5a" x 81920 }, 1);
damaged('end cut off', sub { ${ $_[0] } = substr($good, 0, 8192 * int($pages / 2)) }, 1);
srand(5);
for my $round (1 .. 6)
{
	damaged("bits flipped, $round", sub {
			my $s = $_[0];
			for (1 .. 40)
			{
				my $at = int(rand($pages)) * 8192 + int(rand(64));
				substr($$s, $at, 1) ^= chr(1 << int(rand(8)));
			}
		}, 0);
}
# --- the error names the index

my $n_errors = 0;

# The error of a statement after a change; nothing else is damaged. There are new
# dead rows for VACUUM each time.
sub error_of
{
	my ($query, $change) = @_;
	my $stderr;
	my $delete = 'DELETE FROM high WHERE id % 100 = ' . $n_errors++;

	write_changed($change);
	$node->start;
	$node->psql('postgres', "SET enable_seqscan = off; $delete; $query", stderr => \$stderr);
	$node->stop;
	return $stderr;
}

my $leaf = 20;
# where the TID of the first entry is, below the special space
my $tid = 8192 * $leaf + unpack('S', substr($good, 8192 * $leaf + 16, 2)) - 6;
my %garbage = (
	'no offset' => sub { substr(${ $_[0] }, $tid + 4, 2) = pack('S', 0) },
	'an offset that is too high' => sub { substr(${ $_[0] }, $tid + 4, 2) = pack('S', 60000) },
	'a block behind the end' => sub { substr(${ $_[0] }, $tid, 4) = pack('SS', 100, 0) });
for my $what (sort keys %garbage)
{
	for my $plan ('bitmapscan', 'indexscan')
	{
		for my $ahead (0, 4)
		{
			next if is_left_out();
			like(
				error_of("SET enable_$plan = off; SET effective_io_concurrency = $ahead; SELECT count(*) FROM high WHERE fp IS NOT NULL", $garbage{$what}),
				qr/index "high_fp" is corrupted at block $leaf.*A TID is not one of the table/s,
				"a TID with $what, without $plan, $ahead blocks ahead");
		}
	}
}
for my $query ("SELECT count(*) FROM high WHERE simhash_within(fp, '0123456789abcdef', 3)",
	'VACUUM (INDEX_CLEANUP ON) high', "INSERT INTO high VALUES (0, '0123456789abcdef')", "SELECT simdup_index_check('high_fp')")
{
	next if is_left_out();
	like(
		error_of($query, sub { substr(${ $_[0] }, 28, 4) = pack('L', 1) }),
		qr/index "high_fp" has version 1, but version 2 is supported\nHINT: +Please REINDEX it/,
		"an older version: $query");
}
for my $level (1, 3, 200)
{
	next if is_left_out();
	like(
		error_of('VACUUM (INDEX_CLEANUP ON) high', sub { substr(${ $_[0] }, 8192 * $leaf + 47, 1) = chr $level }),
		qr/index "high_fp" is corrupted at block $leaf/,
		"VACUUM meets a leaf of level $level");
}
write_changed(sub { });

done_testing();

# hamming_standby: queries that read no column are index-only scans for the
# planner. On a standby nothing keeps VACUUM's replay from the rows that they
# read. They count each row once all the same, also where HOT updates have moved it.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->append_conf('postgresql.conf', "jit = off\nmax_parallel_workers_per_gather = 0");
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE TABLE t (id int, touched int DEFAULT 0, fp simhash64, body text) WITH (fillfactor = 60, vacuum_truncate = off);
INSERT INTO t SELECT i, 0, CASE WHEN i % 10 > 0 THEN hashint8extended(i, 1)::simhash64 END, repeat('a', 200) FROM generate_series(1, 20000) i;
CREATE INDEX t_fp ON t USING hamming (fp);
CREATE INDEX t_part ON t USING hamming (fp) WHERE id % 4 = 0;
VACUUM ANALYZE t;
SQL

# Counts by an index-only scan, with the index that is named in the plan.
sub counted
{
	my ($index, $condition) = @_;
	my $query = "SELECT count(*) FROM t $condition";
	my $off = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

	like($standby->safe_psql('postgres', "$off EXPLAIN $query"), qr/Index Only Scan using $index/, "an index-only scan by $index");
	return $standby->safe_psql('postgres', "$off $query");
}

sub counts_are
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby);
	is(counted('t_fp', ''), $primary->safe_psql('postgres', 'SELECT count(id) FROM t'), "$name: all rows");
	is(counted('t_part', 'WHERE id % 4 = 0'), $primary->safe_psql('postgres', 'SELECT count(id) FROM t WHERE id % 4 = 0'), "$name: those of the partial index");
	return;
}

counts_are('new');
$primary->safe_psql('postgres', 'UPDATE t SET touched = 1 WHERE id % 20 = 0');
is($primary->safe_psql('postgres', q{SELECT pg_stat_force_next_flush(); SELECT n_tup_hot_upd > 900 FROM pg_stat_user_tables WHERE relname = 't'}) =~ s/^\n//r,
	't', 'the updates are HOT');
counts_are('HOT chains');
$primary->safe_psql('postgres', "UPDATE t SET touched = $_ WHERE id % 20 = 0") for 2 .. 4;
counts_are('long chains');
$primary->safe_psql('postgres', 'VACUUM t');
counts_are('pruned chains');
$primary->safe_psql('postgres', 'UPDATE t SET touched = 5 WHERE id % 20 = 0; DELETE FROM t WHERE id % 8 = 0; UPDATE t SET fp = hashint8extended(id, 2)::simhash64 WHERE id % 5 = 0');
counts_are('rows deleted and moved');
$primary->safe_psql('postgres', 'VACUUM t');
counts_are('vacuumed');

# The planner knows that each row is looked up.
my $plan = 'EXPLAIN SELECT count(*) FROM t';
like($primary->safe_psql('postgres', $plan), qr/Index Only Scan/, 'the primary prefers an index-only scan');
like($standby->safe_psql('postgres', $plan), qr/Seq Scan/, 'the standby does not');

# A scan that began before VACUUM goes on over the rows that replay removes.
my $reader = $standby->background_psql('postgres', on_error_die => 1);
my $rows = $primary->safe_psql('postgres', 'SELECT count(*) FROM t');
$reader->query_safe('SET enable_seqscan = off; SET enable_bitmapscan = off');
$reader->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE c CURSOR FOR SELECT FROM t");
$reader->query_safe('MOVE 100 FROM c');
# the removal of rows that no commit made visible is no conflict with the reader
$primary->safe_psql('postgres', "BEGIN; INSERT INTO t SELECT i, 0, hashint8extended(i, 3)::simhash64 FROM generate_series(1, 3000) i; ROLLBACK; VACUUM t");
$primary->safe_psql('postgres', "INSERT INTO t SELECT i, 0, hashint8extended(i, 4)::simhash64 FROM generate_series(1, 3000) i");
# Replay waits for the page that the reader is on, so he goes on meanwhile.
my $end = $primary->lsn('flush');
for (1 .. 1000)
{
	last if $standby->safe_psql('postgres', "SELECT pg_last_wal_replay_lsn() >= '$end'") eq 't';
	$reader->query_safe('MOVE 5 FROM c');
	usleep(10_000);
}
is($standby->safe_psql('postgres', "SELECT pg_last_wal_replay_lsn() >= '$end'"), 't', 'replay passes a reader who moves');
like($reader->query_safe('MOVE ALL FROM c; SELECT count(*) FROM t'), qr/^$rows$/m, 'a new count of the same snapshot');
$reader->quit;

# After promotion, pins serve again.
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT count(*) = (SELECT count(id) FROM t) FROM t'), 't', 'promoted');
like($standby->safe_psql('postgres', $plan), qr/Index Only Scan/, 'promoted: an index-only scan again');
$primary->stop('immediate');
$standby->stop;
done_testing();

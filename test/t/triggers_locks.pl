# triggers_locks: the locks of all arrivals of all sessions together leave room
# in the lock table for others.
#
# Depends on the server's internals.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 12;
my $node = PostgreSQL::Test::Cluster->new('triggers_locks');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
max_connections = 16
max_locks_per_transaction = 20
max_prepared_transactions = 4
max_wal_senders = 0
max_worker_processes = 2
autovacuum_max_workers = 1
CONF
my $major = $node->pg_version->major;
$node->append_conf('postgresql.conf', 'autovacuum_worker_slots = 1') if $major >= 18;
$node->start;

# 16 connections, two processes of autovacuum, two other workers and four
# prepared transactions; later versions count up to two more
my $entries = 20 * 24;
my $at_most = 20 * ($major > 15 ? 26 : 24);

$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
for my $n (1 .. $sessions)
{
	$node->safe_psql('postgres', <<SQL);
CREATE TABLE t$n (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON t$n USING hamming (fp);
CREATE TRIGGER r BEFORE INSERT ON t$n FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => @{[ $n % 3 * 4 ]}');
SQL
}
$node->safe_psql('postgres', join ';', map { "CREATE TABLE other$_ ()" } 1 .. 100);

# Each session writes as much as it can, one row at a time, and stays.
my @runs;
for my $n (1 .. $sessions)
{
	my %run = (in => '', out => '', err => '');

	$run{handle} = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres') ],
		'<', \$run{in}, '>', \$run{out}, '2>', \$run{err}, IPC::Run::timeout(300));
	$run{in} = "BEGIN;\n" . join('', map { "INSERT INTO t$n VALUES ($_, hashint8extended($_, $n)::simhash64);\n" } 1 .. 60)
	  . "SELECT 'there';\n";
	push @runs, \%run;
}
for my $run (@runs)
{
	$run->{handle}->pump until $run->{out} =~ /there/ || $run->{err} ne '';
}
is(join('', map { $_->{err} } @runs), '', 'all sessions write 60 rows');
my ($locks, $reserve, $whole) = split /\|/, $node->safe_psql('postgres', <<'SQL');
SELECT count(*), count(*) FILTER (WHERE classid = 0), count(*) FILTER (WHERE classid <> 0 AND objsubid = 16384 AND mode = 'ExclusiveLock')
  FROM pg_locks WHERE locktype = 'advisory'
SQL
note("$locks of $entries entries");
cmp_ok($locks, '<=', $at_most * 7 / 8 + 2 * $sessions, 'their locks leave an eighth of the lock table');
cmp_ok($locks, '>', $sessions * 15 / 2, 'and are some');
cmp_ok($reserve, '>=', $entries * 5 / 8 / 10, 'all ten-entry slots of the reserve are used');
cmp_ok($reserve, '<=', $at_most * 5 / 8 / 10, 'and no more');
is($whole, $sessions, 'all came to lock their table');

# Others are not harmed: a session takes more locks than fit its own fast path.
is( $node->safe_psql('postgres', 'BEGIN; LOCK TABLE ' . join(', ', map { "other$_" } 1 .. 40) . "; SELECT 'locked'"),
	'locked', 'another session locks 40 tables');

# The rollback of a savepoint gives locks and slots back, and one lock less
# is never too few: later rows are locked as well.
for my $run (@runs)
{
	$run->{in} .= "ROLLBACK;\n";
	$run->{handle}->finish;
}
my @taken = split /\n/, $node->safe_psql('postgres', <<'SQL');
BEGIN;
SAVEPOINT s;
INSERT INTO t1 SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, 500) i;
SELECT count(*) FILTER (WHERE classid = 0), count(*) FILTER (WHERE objsubid = 16384 AND classid <> 0 AND mode = 'ExclusiveLock') FROM pg_locks WHERE locktype = 'advisory';
ROLLBACK TO s;
SELECT count(*), 0 FROM pg_locks WHERE locktype = 'advisory';
INSERT INTO t1 SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, 2) i;
SELECT count(*) FILTER (WHERE classid <> 0 AND objsubid > 16384) > 0 OR bool_or(mode = 'ExclusiveLock' AND objsubid = 16384), 0 FROM pg_locks WHERE locktype = 'advisory';
COMMIT;
SQL
is(join(' ', @taken), '6|1 0|0 t|0', 'locks and slots are taken, given back and taken again');

$node->stop;
done_testing();

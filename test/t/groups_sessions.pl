# groups_sessions: eight sessions write to a table while six refresh its grouping, decide
# and undecide, two in each isolation level. No writer waits as long as 10 ms for a lock, and
# nobody deadlocks. Decisions contradict each other, some written by hand. No refresh and no
# decision fails but with 40001, after which it is tried again, or for its contents.
#
# Each writer has a partition, since writers of one table wait for each other as
# it grows.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('groups_sessions');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off\ndeadlock_timeout = '100ms'");
$node->start;

for my $method ('leader', 'connected')
{
	$node->safe_psql('postgres', <<SQL);
DROP EXTENSION IF EXISTS simdup CASCADE;
DROP TABLE IF EXISTS letter CASCADE;
CREATE EXTENSION simdup;
CREATE TABLE letter (writer int, id int, fp simhash64, PRIMARY KEY (writer, id)) PARTITION BY LIST (writer);
SELECT format('CREATE TABLE letter_%s PARTITION OF letter FOR VALUES IN (%1\$s)', i) FROM generate_series(0, 7) AS i \\gexec
INSERT INTO letter SELECT i % 8, i, ((i % 40)::bigint << (i % 60))::simhash64 FROM generate_series(1, 2000) AS i;
DROP TABLE IF EXISTS letter_group, letter_group_decisions, letter_group_events, letter_group_settings;
CREATE VIEW letters AS SELECT id * 10 + writer AS key, fp FROM letter;
SELECT simdup_group('letter_group', 'letters', 3, '$method');
SELECT count(*) FROM simdup_regroup('letter_group');
-- what contradicts others is refused, and what is not there cannot be taken back
CREATE OR REPLACE PROCEDURE decide(a int, b int, same bool, refresh bool) LANGUAGE plpgsql AS \$\$
BEGIN
  PERFORM simdup_decide('letter_group', a, b, same, refresh => refresh);
EXCEPTION WHEN integrity_constraint_violation THEN NULL;
END \$\$;
CREATE OR REPLACE PROCEDURE undecide(a int, b int) LANGUAGE plpgsql AS \$\$
BEGIN
  PERFORM simdup_undecide('letter_group', a, b);
EXCEPTION WHEN no_data_found THEN NULL;
END \$\$;
SQL
	my %scripts = (
		write => <<'SQL',
\set id random(1, 4000)
SET lock_timeout = '10ms';
INSERT INTO letter VALUES (:client_id, :id, ((:id % 40)::bigint << (:id % 60))::simhash64) ON CONFLICT DO NOTHING;
UPDATE letter SET fp = (:id % 64)::bigint::simhash64 WHERE writer = :client_id AND id = (:id + 7) % 4000;
DELETE FROM letter WHERE writer = :client_id AND id = (:id + 13) % 4000;
SQL
		refresh => <<'SQL');
\set a random(1, 30)
\set b random(31, 40)
\set same random(0, 1)
SELECT count(*) FROM simdup_regroup('letter_group');
CALL decide(:a, :b, :same = 1, true);
CALL decide(:b - 20, :a + 40, :same = 0, false);
CALL undecide(:a, :b);
INSERT INTO letter_group_decisions (a, b, same) VALUES (:a, :b + 1, :same = 0) ON CONFLICT DO NOTHING;
SQL
	my %outcome;
	my $folder = PostgreSQL::Test::Utils::tempdir();

	append_to_file("$folder/$method.$_.sql", $scripts{$_}) for keys %scripts;
	my @runs = map {
		my ($name, $clients, $isolation, @count) = @$_;
		my $run = "$name, $isolation";
		my $outcome = $outcome{$run} = { out => '', err => '' };
		local $ENV{PGOPTIONS} = "-c client_min_messages=error -c default_transaction_isolation=" . $isolation =~ s/ /\\ /r;

		[ IPC::Run::start(
				[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-f', "$folder/$method.$name.sql", '-c', $clients, '-j', 2,
				  @count, '--random-seed=16', 'postgres' ],
				'>', \$outcome->{out}, '2>', \$outcome->{err}), $run ];
	} ([ 'write', 8, 'read committed', '-T', $whole ? 8 : 4 ],
		map { [ 'refresh', 2, $_, '-t', 8, '--max-tries=1000' ] } 'read committed', 'repeatable read', 'serializable');
	for my $run (@runs)
	{
		my ($handle, $name) = @$run;

		$handle->finish;
		is($? ? $outcome{$name}{err} : '', '', "$method: no session of those that $name fails");
		my ($n) = $outcome{$name}{out} =~ /number of transactions actually processed: (\d+)/;
		cmp_ok($n // 0, '>=', $name =~ /write/ ? 8 : 16, "$method: those that $name do");
		unlike($outcome{$name}{out}, qr/failed transactions: [1-9]/, "$method: none of them fails");
	}
	$node->safe_psql('postgres', "SELECT count(*) FROM simdup_regroup('letter_group')");
	is($node->safe_psql('postgres', <<SQL), "0\n0", "$method: the groups are those of the rows, and the events replayed");
SELECT count(*) FROM simdup_regroup('letter_group', dry_run => true);
SELECT count(*) FROM letter_group FULL JOIN
  (SELECT DISTINCT ON (key) key, id FROM letter_group_events ORDER BY key, refresh DESC) AS e USING (key) WHERE letter_group.id IS DISTINCT FROM e.id;
SQL
}

unlike(slurp_file($node->logfile), qr/deadlock detected/, 'nobody deadlocks');

$node->stop;
done_testing();

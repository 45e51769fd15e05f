# triggers_storm: eight clients write near-duplicates in every way there is. No
# two rows within k are ever committed.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 8;
my $rounds = $whole ? 8 : 4;    # times a client goes through all tables, ten transactions each

my $node = PostgreSQL::Test::Cluster->new('triggers_storm');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
deadlock_timeout = '10ms'
lock_timeout = '1s'
max_prepared_transactions = 20
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I SET note = ''touched'' WHERE id = $1', TG_TABLE_NAME) USING NEW.id;
  RETURN NULL;
END $$;
SQL

# A table for each firing and distance. Each second one has a key that is
# checked at the end; the indexes are on a column, on an expression, and partial.
my %firing = (
	before   => 'CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON NAME FOR EACH ROW',
	after    => 'CREATE TRIGGER reject AFTER INSERT OR UPDATE ON NAME FOR EACH ROW',
	deferred => 'CREATE CONSTRAINT TRIGGER reject AFTER INSERT OR UPDATE ON NAME DEFERRABLE INITIALLY DEFERRED FOR EACH ROW',
);
my @indexes = (
	'CREATE INDEX ON NAME USING hamming (fp);',
	'CREATE INDEX ON NAME USING hamming ((coalesce(fp, NULL)));',
	'CREATE INDEX ON NAME USING hamming (fp) WHERE id > 0; CREATE INDEX ON NAME USING hamming (fp) WHERE id > 0;',
);
my @tables;
for my $firing (sort keys %firing)
{
	for my $k (0, 1, 3, 5, 8, 12)
	{
		my %table = (name => "${firing}_$k", k => $k, deferrable => @tables % 2);
		my $sql = <<SQL;
CREATE TABLE NAME (id int, fp simhash64, note text,
  CONSTRAINT NAME_key PRIMARY KEY (id) @{[ $table{deferrable} ? 'DEFERRABLE INITIALLY DEFERRED' : '' ]});
$indexes[@tables % 3]
$firing{$firing} EXECUTE FUNCTION simdup_reject_trigger('max_distance => $k');
CREATE TRIGGER a_touch AFTER INSERT ON NAME FOR EACH ROW WHEN (NEW.note = 'touch') EXECUTE FUNCTION touch();
SQL

		$node->safe_psql('postgres', $sql =~ s/NAME/$table{name}/gr);
		push @tables, \%table;
	}
}

# Tables with an exclusion constraint in place of a trigger. Clients also vacuum
# them: an entry must not vanish, nor a TID get a new row, while a check reads.
my %excluding = (exclude => '', exclude_deferred => 'DEFERRABLE INITIALLY DEFERRED');
for my $exclusion (sort keys %excluding)
{
	for my $k (0, 3, 8)
	{
		my %table = (name => "${exclusion}_$k", k => $k, deferrable => @tables % 2, excludes => 1);

		$node->safe_psql('postgres', <<SQL);
CREATE TABLE $table{name} (id int, fp simhash64, note text,
  CONSTRAINT $table{name}_key PRIMARY KEY (id) @{[ $table{deferrable} ? 'DEFERRABLE INITIALLY DEFERRED' : '' ]},
  CONSTRAINT $table{name}_near EXCLUDE USING hamming (simhash_ball(fp, $k) WITH ~=) $excluding{$exclusion});
CREATE TRIGGER a_touch AFTER INSERT ON $table{name} FOR EACH ROW WHEN (NEW.note = 'touch') EXECUTE FUNCTION touch();
SQL
		push @tables, \%table;
	}
}

# A fingerprint: one of a few centers with a few bits changed.
sub fp
{
	my $table = shift;
	my $bits = '';

	$bits .= ' # (1::bigint << ' . int(rand(64)) . ')' for 1 .. int(rand($table->{k} / 2 + 2));
	return '((hashint8extended(' . int(rand(30)) . ", $table->{k})$bits)::simhash64)";
}

# Keys are few, so that upserts, updates and deletes meet.
sub id
{
	return 1 + int(rand(40));
}

sub statement
{
	my $table = shift;
	my $t = $table->{name};
	my @can = (
		sub { "INSERT INTO $t VALUES (" . id() . ', ' . fp($table) . ')' },
		sub { "INSERT INTO $t VALUES (" . id() . ', ' . fp($table) . ", 'touch')" },
		sub { "INSERT INTO $t VALUES " . join(', ', map { '(' . id() . ', ' . fp($table) . ')' } 1 .. 3) },
		sub { "UPDATE $t SET fp = " . fp($table) . ' WHERE id = ' . id() },
		sub { "UPDATE $t SET note = 'x' WHERE id = " . id() },
		sub { "UPDATE $t SET id = " . id() . ' WHERE id = ' . id() },
		sub { "DELETE FROM $t WHERE id = " . id() },
		sub { my $id = id(); "WITH u AS (UPDATE $t SET id = " . id() . " WHERE id = $id RETURNING fp) INSERT INTO $t SELECT $id, fp FROM u" },
		sub { "MERGE INTO $t AS t USING (VALUES (" . id() . ', ' . fp($table) . ')) s(id, fp) ON t.id = s.id WHEN MATCHED THEN UPDATE SET fp = s.fp WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.fp)' },
		sub { my $id = id(); "WITH d AS (DELETE FROM $t WHERE id = $id RETURNING fp) INSERT INTO $t SELECT " . id() . ', fp FROM d' },
	);
	my $upsert = sub { "INSERT INTO $t VALUES (" . id() . ', ' . fp($table) . ') ON CONFLICT (id) DO UPDATE SET fp = EXCLUDED.fp' };

	push @can, $upsert, $upsert if !$table->{deferrable};
	return one_of(@can)->() . ";\n";
}

# A transaction of each kind: alone, several statements, savepoints that are
# kept or taken back, errors that are caught, two phases.
my $prepared = 0;
sub transaction
{
	my ($table, $client) = @_;
	my $begin = 'BEGIN ISOLATION LEVEL ' . one_of('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE') . ";\n";
	my $some = sub { join '', map { statement($table) } 1 .. 1 + int(rand(3)) };
	my $caught = sub {
		'DO $$ BEGIN ' . statement($table) . 'EXCEPTION WHEN exclusion_violation OR unique_violation THEN ' . statement($table) . "END \$\$;\n";
	};

	return "VACUUM (INDEX_CLEANUP on) $table->{name};\n" if $table->{excludes} && rand() < 0.1;
	$begin .= "SET LOCAL gin_fuzzy_search_limit = 1;\n" if rand() < 0.2;
	$begin .= one_of("SELECT FROM $table->{name};\n", '');
	return one_of(
		sub { statement($table) },
		sub { statement($table) },
		sub { $begin . $some->() . "COMMIT;\n" },
		sub { $begin . $some->() . "SET CONSTRAINTS ALL IMMEDIATE;\n" . $some->() . "COMMIT;\n" },
		sub { $begin . "SAVEPOINT s;\n" . $some->() . "RELEASE s;\n" . $some->() . "COMMIT;\n" },
		sub { $begin . $some->() . "SAVEPOINT s;\n" . $some->() . "ROLLBACK TO s;\n" . $some->() . "COMMIT;\n" },
		sub { $begin . $caught->() . $some->() . $caught->() . "COMMIT;\n" },
		sub {
			my $gid = "'storm_${client}_" . ++$prepared . "'";
			$begin . $some->() . "PREPARE TRANSACTION $gid;\n" . one_of('COMMIT', 'COMMIT', 'ROLLBACK') . " PREPARED $gid;\n";
		},
	)->();
}

# Run a script for each client, all at once; returns their errors.
# Files, since pipes would move only while this script looks at them.
sub run_clients
{
	my @scripts = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my @runs;

	for my $n (0 .. $#scripts)
	{
		append_to_file("$dir/$n.sql", $scripts[$n]);
		push @runs,
		  IPC::Run::start(
			[ 'psql', '-XqAt', '-v', 'VERBOSITY=sqlstate', '-f', "$dir/$n.sql", '-d', $node->connstr('postgres') ],
			'<', '/dev/null', '>', '/dev/null', '2>', "$dir/$n.err", IPC::Run::timeout(600));
	}
	$_->finish for @runs;
	return join '', map { slurp_file("$dir/$_.err") } 0 .. $#scripts;
}

sub counted
{
	my ($errors, $state) = @_;

	return scalar(() = $errors =~ /ERROR:  $state/g);
}

my $seed = 20261121;
my @scripts;
for my $client (1 .. $clients)
{
	my $script = '';

	srand($seed + $client);
	for my $round (1 .. $rounds)
	{
		for my $table (@tables)
		{
			$script .= transaction($table, $client) for 1 .. 10;
		}
	}
	push @scripts, $script;
}
my $errors = run_clients(@scripts);
my %expected = map { $_ => 1 } (
	'23P01',    # refused
	'23505',    # the key
	'40001', '40P01', '55P03',    # serialization failure, deadlock, lock_timeout
	'25P02', '3B001', '42704',    # what follows an error: in an aborted transaction, no savepoint, not prepared
	'21000',    # an upsert that meets its own row
);
note(join " ", map { "$_: " . counted($errors, $_) } sort keys %expected);
is(join(' ', grep { !$expected{$_} } $errors =~ /(?:ERROR|FATAL|PANIC):  (\w+)/g), '', 'no error that the storm does not explain');
cmp_ok(counted($errors, '23P01'), '>', 1000, 'rows were refused');
cmp_ok(counted($errors, '40001'), '>', 0, 'serialization failures');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), '0', 'no transaction is left prepared');
for my $table (@tables)
{
	my $t = $table->{name};

	is( $node->safe_psql('postgres', "SELECT count(*) FROM $t a JOIN $t b ON a.id < b.id AND a.fp <~> b.fp <= $table->{k}"),
		'0', "$t: no two rows within $table->{k}");
	cmp_ok($node->safe_psql('postgres', "SELECT count(fp) FROM $t"), '>', 5, "$t: rows came in");
	is($node->safe_psql('postgres', "SELECT simdup_index_check('${t}_near', true)"), '', "$t: the index is whole")
	  if $table->{excludes};
}

# Transactions of one statement on one row whose reject fires AFTER: locks of
# blocks come last, so upserts and updates do not deadlock.
$node->safe_psql('postgres', 'TRUNCATE after_3');
@scripts = ();
for my $client (1 .. $clients)
{
	srand($seed - $client);
	my $table = { name => 'after_3', k => 3 };
	push @scripts, join '', map {
		one_of("INSERT INTO after_3 VALUES (@{[ id() % 5 ]}, @{[ fp($table) ]}) ON CONFLICT (id) DO UPDATE SET fp = EXCLUDED.fp;\n",
			"UPDATE after_3 SET fp = @{[ fp($table) ]} WHERE id = @{[ id() % 5 ]};\n")
	} 1 .. 300;
}
$errors = run_clients(@scripts);
is(counted($errors, '40P01'), 0, 'single rows: AFTER, upserts and updates do not deadlock');
cmp_ok(counted($errors, '23P01'), '>', 50, 'single rows: some were refused');

unlike(slurp_file($node->logfile), qr/was terminated by signal|Failed assertion/, 'no session crashed');
$node->stop;
done_testing();

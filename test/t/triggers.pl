# triggers: many sessions at once, a crash in the middle, large loads, dumps and
# a moved extension.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use Helpers qw($whole);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('triggers');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', "deadlock_timeout = '200ms'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');

# A script file for pgbench.
sub script
{
	my ($name, $text) = @_;
	my $path = PostgreSQL::Test::Utils::tempdir() . "/$name";

	append_to_file($path, $text);
	return $path;
}

# --- near-twins from eight clients

# Fingerprints are one of a few hundred centers with up to two bits changed,
# so most rows repeat another, many at the same moment. Each refused row is kept
# in a table, by the transaction in which it was refused.
my $stress_schema = <<'SQL';
CREATE TABLE NAME (id bigserial PRIMARY KEY, fp simhash64);
CREATE TABLE NAME_refused (fp simhash64, state text);
CREATE INDEX ON NAME USING hamming (fp);
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON NAME
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => DISTANCE', 'key => id');
CREATE FUNCTION NAME_add(center int, a int, b int, many bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  new_fp simhash64 := (hashint8extended(center, 0) # (1::bigint << a) # (1::bigint << b))::simhash64;
BEGIN
  INSERT INTO NAME (fp) VALUES (new_fp);
  IF many THEN
    UPDATE NAME SET fp = (fp::bigint # (1::bigint << a))::simhash64 WHERE id = center;
  END IF;
EXCEPTION WHEN exclusion_violation THEN
  INSERT INTO NAME_refused VALUES (new_fp, SQLSTATE);
END $$;
SQL

sub stress_script
{
	my ($name, $centers, $many) = @_;

	return script("$name.sql", <<SQL);
\\set center random(1, $centers)
\\set a random(0, 63)
\\set b random(0, 63)
SELECT ${name}_add(:center, :a, :b, $many);
SQL
}

sub create_stress
{
	my ($name, $k) = @_;

	$node->safe_psql('postgres', $stress_schema =~ s/NAME/$name/gr =~ s/DISTANCE/$k/r);
	return;
}

# In the end there are no two near rows, and each refused row has a near one.
sub holds
{
	my ($name, $what, %params) = @_;
	my $k = $params{k} // 3;

	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM $name a JOIN $name b ON a.id < b.id AND a.fp <~> b.fp <= $k"),
		'0', "$what: no two rows within $k");
	return if $params{updates};
	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM ${name}_refused r WHERE NOT EXISTS (SELECT FROM $name t WHERE t.fp <~> r.fp <= $k)"),
		'0', "$what: every refused row has a row within $k");
	my ($rows, $refused) = split /\|/, $node->safe_psql('postgres',
		"SELECT (SELECT count(*) FROM $name), (SELECT count(*) FROM ${name}_refused)");
	cmp_ok($rows, '>', 20, "$what: rows came in");
	cmp_ok($refused, '>', 20, "$what: rows were refused");
	return;
}

sub pgbench
{
	my ($file, @options) = @_;

	return $node->command_ok(
		[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-f', $file, '-c', 8, '-j', 2, @options, 'postgres' ],
		'pgbench ends without an error');
}

create_stress('stress', 3);
pgbench(stress_script('stress', 400, 'false'), '-t', 300);
holds('stress', 'stress');

# at this distance it is pairs of blocks that are locked
create_stress('wide', 8);
pgbench(stress_script('wide', 200, 'false'), '-t', 60);
holds('wide', 'distance 8', k => 8);

# serialization failures are retried, and deadlocks of rows that do two things
create_stress('serializable', 3);
{
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=serializable';
	pgbench(stress_script('serializable', 400, 'false'), '-t', 100, '--max-tries', 200);
}
holds('serializable', 'serializable');
create_stress('updates', 3);
pgbench(stress_script('updates', 400, 'true'), '-t', 150, '--max-tries', 200);
holds('updates', 'with updates', updates => 1);

# --- a crash in the middle

create_stress('crash', 3);
my $out = '';
my $run = IPC::Run::start(
	[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-f', stress_script('crash', 1500, 'false'),
		'-c', 8, '-j', 2, '-T', 60, 'postgres' ],
	'>', \$out, '2>', \$out);
$node->poll_query_until('postgres',
	'SELECT (SELECT count(*) > 300 FROM crash) AND (SELECT count(*) > 150 FROM crash_refused)')
  or die 'the stress does not get going';
Hamming::kill_server($node);
$run->finish;
$node->start;
holds('crash', 'after a crash');
$node->safe_psql('postgres', "SET enable_seqscan = off; INSERT INTO crash (fp) VALUES ('0123456789abcdef')");
my ($status, undef, $stderr) = $node->psql('postgres', "INSERT INTO crash (fp) VALUES ('0123456789abcdee')");
like($stderr, qr/repeats a row within distance 3, refused by "reject"/, 'after a crash: twins are refused');

# --- COPY of many rows with each trigger, into a table that starts empty

my $data = PostgreSQL::Test::Utils::tempdir() . '/rows';
# those of the second half repeat the row that far before them, in one bit; two in three are alone
my $n = $whole ? 100000 : 22000;    # the first repeat is of the first row
my $half = $n / 2;
$node->safe_psql('postgres', <<SQL);
COPY (SELECT i, CASE WHEN i % 3 = 0 AND i > $half THEN hashint8extended(i - $half, 0) # (1::bigint << (i % 64))
                ELSE hashint8extended(i, 0) END::simhash64
      FROM generate_series(1, $n) i) TO '$data';
COPY (SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, $n) i) TO '$data.alone';
COPY (SELECT i, 'petition ' || i || ' ' || md5(i::text) || ' ' || md5((-i)::text) FROM generate_series(1, $n) i) TO '$data.text';
SQL
my $repeats = grep { $_ % 3 == 0 } $half + 1 .. $n;

sub load
{
	my ($name, $trigger, $file, $check) = @_;

	return $node->safe_psql('postgres', <<SQL);
CREATE TABLE $name (id int PRIMARY KEY, fp simhash64, dup int, body text);
CREATE INDEX ON $name USING hamming (fp);
CREATE TABLE ${name}_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER t $trigger;
BEGIN;
COPY $name (id, @{[ $file =~ /text/ ? 'body' : 'fp' ]}) FROM '$file';
$check;
COMMIT;
SQL
}

is( load('copy_flag', q{BEFORE INSERT ON copy_flag FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3', 'key => id')},
		$data, "SELECT count(*), count(dup), count(*) FILTER (WHERE dup = id - $half) FROM copy_flag"),
	"$n|$repeats|$repeats", 'COPY with simdup_flag_trigger');
is( load('copy_log', q{AFTER INSERT ON copy_log FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('copy_log_log', 'max_distance => 3', 'key => id')},
		$data, "SELECT count(*), count(*) FILTER (WHERE old_key = new_key - $half AND distance = 1) FROM copy_log_log"),
	"$repeats|$repeats", 'COPY with simdup_log_trigger');
is( load('copy_reject', q{BEFORE INSERT ON copy_reject FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id')},
		"$data.alone", q{SELECT (SELECT count(*) FROM copy_reject),
			count(*) < 0.5 * current_setting('max_locks_per_transaction')::int * current_setting('max_connections')::int
			FROM pg_locks WHERE locktype = 'advisory'}),
	"$n|t", 'COPY with simdup_reject_trigger, and locks within bounds');
($status, undef, $stderr) = $node->psql('postgres', "DELETE FROM copy_reject; COPY copy_reject (id, fp) FROM '$data'");
like($stderr, qr/DETAIL:  The row with \(id\)=\(1\) is at distance 1/, 'COPY of rows that repeat each other is refused');

# --- cancelled while it waits for another session's row

$node->safe_psql('postgres', 'CREATE TABLE waiting (LIKE stress INCLUDING ALL)');
$node->safe_psql('postgres',
	"CREATE TRIGGER reject BEFORE INSERT ON waiting FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id')");
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 2');
$node->restart;
$node->safe_psql('postgres', "BEGIN; INSERT INTO waiting (fp) VALUES ('0123456789abcdef'); PREPARE TRANSACTION 'holder'");
$node->restart;
($status, undef, $stderr) = $node->psql('postgres',
	"SET lock_timeout = '200ms'; INSERT INTO waiting (fp) VALUES ('0123456789abcdee')");
like($stderr, qr/lock timeout/, 'a prepared transaction keeps its locks over a restart');
($status, undef, $stderr) = $node->psql('postgres',
	"SET statement_timeout = '200ms'; INSERT INTO waiting (fp) VALUES ('0123456789abcdee')");
like($stderr, qr/canceling statement due to statement timeout/, 'a wait can be cancelled');
is( $node->safe_psql('postgres', "INSERT INTO waiting (fp) VALUES ('fedcba9876543210') RETURNING fp"),
	'fedcba9876543210', 'a row without a block in common does not wait');
$node->safe_psql('postgres', "COMMIT PREPARED 'holder'");
($status, undef, $stderr) = $node->psql('postgres', "INSERT INTO waiting (fp) VALUES ('0123456789abcdee')");
like($stderr, qr/is at distance 1/, 'and what it wrote is seen when it ends');

# --- dumped, restored, moved

# Names in an order that puts the table before the extension and its log last.
$node->safe_psql('postgres', 'CREATE DATABASE dumped');
$node->safe_psql('dumped', <<'SQL');
CREATE SCHEMA "M ext";
CREATE EXTENSION simdup SCHEMA "M ext";
CREATE SCHEMA "A data";
CREATE SCHEMA "Z log";
CREATE TABLE "Z log"."Found" (line bigserial, new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TABLE "A data"."Pet" (id int PRIMARY KEY, body text, dup int REFERENCES "A data"."Pet",
  fp "M ext".simhash64 GENERATED ALWAYS AS ("M ext".simhash(body)) STORED);
CREATE TABLE "A data".beside (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE INDEX ON "A data"."Pet" USING hamming (fp);
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON "A data"."Pet" FOR EACH ROW
  EXECUTE FUNCTION "M ext".simdup_flag_trigger('dup', 'max_distance => 8', 'key => id');
CREATE TRIGGER c AFTER INSERT OR UPDATE ON "A data"."Pet" FOR EACH ROW
  EXECUTE FUNCTION "M ext".simdup_log_trigger('"Z log"."Found"', 'max_distance => 8', 'key => id');
CREATE TRIGGER d AFTER INSERT OR UPDATE ON "A data"."Pet" FOR EACH ROW
  EXECUTE FUNCTION "M ext".simdup_log_trigger('beside', 'max_distance => 8', 'key => id');
CREATE CONSTRAINT TRIGGER e AFTER INSERT OR UPDATE ON "A data"."Pet" DEFERRABLE FOR EACH ROW
  EXECUTE FUNCTION "M ext".simdup_reject_trigger('max_distance => 0', 'key => id');
SQL
my $insert = q{INSERT INTO "A data"."Pet" VALUES };
my $long = join ' ', map { "word$_" } 1 .. 60;
$node->safe_psql('dumped', "$insert (1, '$long'), (2, '$long and one more')");

# Everything the triggers keep, as one text.
sub state_of
{
	my ($db) = @_;

	return $node->safe_psql($db, <<'SQL');
SELECT id, fp, dup FROM "A data"."Pet" ORDER BY id;
SELECT new_key, old_key, distance FROM "Z log"."Found" ORDER BY line;
SELECT new_key, old_key, distance FROM "A data".beside ORDER BY 1;
SQL
}

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'dumped' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok(
	[ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-f', $dump, 'restored' ],
	'restore');
is(state_of('restored'), state_of('dumped'), 'a restored table has what the dumped one had');
is_deeply(
	[ map { $node->safe_psql($_, q{SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname}) } 'dumped', 'restored' ],
	[ ($node->safe_psql('dumped', q{SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname})) x 2 ],
	'and the same triggers');
$node->safe_psql($_, "SET search_path = ''; $insert (3, '$long and one more thing')") for 'dumped', 'restored';
is(state_of('restored'), state_of('dumped'), 'which do the same');
like(state_of('restored'), qr/^3\|[0-9a-f]{16}\|2$/m, 'namely flag');
# in one session, with plans made before
is( $node->safe_psql('restored', <<SQL),
$insert (4, '$long and one more thing still');
$insert (5, '$long and one more thing of it');
ALTER SCHEMA "M ext" RENAME TO "Else where";
ALTER TABLE "A data".beside RENAME COLUMN new_key TO new_key_;
ALTER TABLE "A data".beside RENAME COLUMN new_key_ TO new_key;
ALTER EXTENSION simdup UPDATE;
$insert (6, '$long and one more thing for it');
SELECT count(dup) FROM "A data"."Pet";
SQL
	'5', "they work on when the extension's schema is renamed and it is updated");
($status, undef, $stderr) = $node->psql('restored', "$insert (9, '$long')");
like($stderr, qr/within distance 0, refused by "e"/, 'the constraint trigger refuses what is the same');

$node->stop;
done_testing();

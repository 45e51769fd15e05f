# triggers_objects: objects that a trigger knows are dropped, renamed, moved or
# changed before, during and after its statement, by the same session and by
# another. Each case works, waits or ends in an error that is no internal one.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('triggers_objects');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "deadlock_timeout = '100ms'\n");
$node->start;

if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name IN ('dblink', 'citext')") != 2)
{
	plan skip_all => 'dblink and citext are not installed';
}

# Every kind of trigger on one partitioned table. The key's type, the log, the
# table and the extension have a schema each. The triggers c_act and f_act do
# what trial.action says, at the row that says 'act'.
my $setup = <<'SQL';
CREATE SCHEMA data;
CREATE SCHEMA logs;
CREATE SCHEMA kt;
CREATE SCHEMA ext;
CREATE SCHEMA elsewhere;
CREATE EXTENSION dblink;
CREATE EXTENSION citext SCHEMA kt;
CREATE EXTENSION simdup SCHEMA ext;
CREATE TABLE data.pet (id kt.citext, region text, fp ext.simhash64, dup kt.citext, note text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE data.pet_n PARTITION OF data.pet FOR VALUES IN ('n');
CREATE TABLE data.pet_s PARTITION OF data.pet FOR VALUES IN ('s');
CREATE INDEX pet_fp ON data.pet USING hamming (fp);
CREATE TABLE logs.found (new_key kt.citext, old_key kt.citext, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION public.act() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS DISTINCT FROM 'act' OR TG_NAME <> current_setting('trial.trigger') THEN
    RETURN NEW;
  END IF;
  IF current_setting('trial.by') = 'itself' THEN
    EXECUTE current_setting('trial.action');
    RETURN NEW;
  END IF;
  BEGIN
    PERFORM public.dblink_exec(format('host=%s port=%s dbname=%s', current_setting('unix_socket_directories'),
                                      current_setting('port'), current_database()),
                               'SET lock_timeout = 50; ' || current_setting('trial.action'));
    RAISE WARNING 'done';
  EXCEPTION WHEN lock_not_available THEN
    RAISE WARNING 'waits';
  END;
  RETURN NEW;
END $$;
CREATE FUNCTION public.always(a data.pet, b data.pet) RETURNS boolean LANGUAGE sql AS 'SELECT a IS DISTINCT FROM b';
CREATE TRIGGER b_flag BEFORE INSERT OR UPDATE ON data.pet FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_flag_trigger('dup', 'max_distance => 3', 'key => id', 'lock => true');
CREATE TRIGGER c_act BEFORE INSERT ON data.pet FOR EACH ROW EXECUTE FUNCTION public.act();
CREATE TRIGGER d_reject BEFORE INSERT OR UPDATE ON data.pet FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 0', 'key => id');
CREATE TRIGGER e_log AFTER INSERT OR UPDATE ON data.pet FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_log_trigger('logs.found', 'max_distance => 3', 'key => id', 'condition => public.always');
CREATE TRIGGER f_act AFTER INSERT ON data.pet FOR EACH ROW EXECUTE FUNCTION public.act();
CREATE CONSTRAINT TRIGGER h_later AFTER INSERT OR UPDATE ON data.pet DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 0', 'key => id');
-- one function that does not know where the table is by now
CREATE PROCEDURE public.arrive(part text, first int, act text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
  target regclass := (SELECT oid FROM pg_class WHERE relname = part);
  fp regtype := (SELECT oid FROM pg_type WHERE typname = 'simhash64');
BEGIN
  EXECUTE format('INSERT INTO %s (id, region, fp, note)
    SELECT i::text, ''n'', (hashint8extended(i / 2, 0) # (i %% 2))::%s, CASE i %% 20 WHEN 10 THEN %L END
    FROM generate_series(%s, %s) i', target, fp, act, first, first + 19);
END $$;
INSERT INTO data.pet SELECT i::text, 's', (hashint8extended(i, 1) & -2)::ext.simhash64 FROM generate_series(-50, -1) i;
SQL
$node->safe_psql('postgres', 'CREATE DATABASE base');
$node->safe_psql('base', $setup);

# the change, by the name of its object
my @actions = (
	[ 'log: drop',                'DROP TABLE logs.found' ],
	[ 'log: rename',              'ALTER TABLE logs.found RENAME TO lost' ],
	[ 'log: move',                'ALTER TABLE logs.found SET SCHEMA elsewhere' ],
	[ 'log: rename a column',     'ALTER TABLE logs.found RENAME old_key TO older' ],
	[ 'log: drop a column',       'ALTER TABLE logs.found DROP distance' ],
	[ 'log: replace',             'DROP TABLE logs.found; CREATE TABLE logs.found (new_key kt.citext, old_key kt.citext, distance int, logged_at timestamptz)' ],
	[ 'log: truncate',            'TRUNCATE logs.found' ],
	[ 'schema of log: rename',    'ALTER SCHEMA logs RENAME TO lost' ],
	[ 'schema of log: drop',      'DROP SCHEMA logs CASCADE' ],
	[ 'schema of table: rename',  'ALTER SCHEMA data RENAME TO lost' ],
	[ 'schema of table: drop',    'DROP SCHEMA data CASCADE' ],
	[ 'partition: detach',        'ALTER TABLE data.pet DETACH PARTITION data.pet_n' ],
	[ 'partition: detach, drop the table', 'ALTER TABLE data.pet DETACH PARTITION data.pet_n; DROP TABLE data.pet CASCADE' ],
	[ 'partition: drop',          'DROP TABLE data.pet_n' ],
	[ 'partition: rename',        'ALTER TABLE data.pet_n RENAME TO lost' ],
	[ 'other partition: detach',  'ALTER TABLE data.pet DETACH PARTITION data.pet_s' ],
	[ 'other partition: drop',    'DROP TABLE data.pet_s' ],
	[ 'other partition: create',  q{CREATE TABLE data.pet_w PARTITION OF data.pet FOR VALUES IN ('w')} ],
	[ 'other partition: foreign', q{CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
		ALTER TABLE data.pet DETACH PARTITION data.pet_s; DROP INDEX data.pet_fp; ALTER TABLE data.pet DROP CONSTRAINT pet_pkey; CREATE FOREIGN TABLE data.pet_f PARTITION OF data.pet FOR VALUES IN ('f') SERVER nowhere} ],
	[ 'table: rename',            'ALTER TABLE data.pet RENAME TO lost' ],
	[ 'table: move',              'ALTER TABLE data.pet SET SCHEMA elsewhere' ],
	[ 'table: drop',              'DROP TABLE data.pet CASCADE' ],
	[ 'table: rename the key',    'ALTER TABLE data.pet RENAME id TO lost' ],
	[ 'table: rename the fingerprint', 'ALTER TABLE data.pet RENAME fp TO lost' ],
	[ 'table: drop the flag',     'ALTER TABLE data.pet DROP dup' ],
	[ 'table: row security',      'ALTER TABLE data.pet ENABLE ROW LEVEL SECURITY' ],
	[ 'index: drop',              'DROP INDEX data.pet_fp' ],
	[ 'index: another',           'CREATE INDEX ON data.pet USING hamming (fp); DROP INDEX data.pet_fp' ],
	[ 'index: on one partition',  'DROP INDEX data.pet_fp; CREATE INDEX ON data.pet_n USING hamming (fp)' ],
	[ 'key: drop its index',      'ALTER TABLE data.pet DROP CONSTRAINT pet_pkey' ],
	[ 'condition: drop',          'DROP FUNCTION public.always' ],
	[ 'condition: rename',        'ALTER FUNCTION public.always RENAME TO lost' ],
	[ 'condition: replace',       q{CREATE OR REPLACE FUNCTION public.always(a data.pet, b data.pet) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'} ],
	[ 'trigger: drop',            'DROP TRIGGER b_flag ON data.pet; DROP TRIGGER e_log ON data.pet; DROP TRIGGER d_reject ON data.pet' ],
	[ 'trigger: rename',          'ALTER TRIGGER b_flag ON data.pet RENAME TO z_flag' ],
	[ 'trigger: replace',         q{CREATE OR REPLACE TRIGGER b_flag BEFORE INSERT OR UPDATE ON data.pet FOR EACH ROW EXECUTE FUNCTION ext.simdup_flag_trigger('dup', 'max_distance => 9', 'key => id')} ],
	[ 'trigger: disable',         'ALTER TABLE data.pet DISABLE TRIGGER USER' ],
	[ 'extension: drop',          'DROP EXTENSION simdup CASCADE' ],
	[ 'schema of extension: rename', 'ALTER SCHEMA ext RENAME TO lost' ],
	[ 'type of key: move',        'ALTER EXTENSION citext SET SCHEMA elsewhere' ],
	[ 'type of key: move, drop its schema', 'ALTER EXTENSION citext SET SCHEMA elsewhere; DROP SCHEMA kt' ],
	[ 'type of key: drop',        'DROP EXTENSION citext CASCADE' ],
	[ 'schema of key: rename',    'ALTER SCHEMA kt RENAME TO lost' ],
);

# 57P02 and 57P03 would be a server that goes down, XX an internal error. A lost
# connection ends psql with status 2.
sub session
{
	my ($database, $script) = @_;
	my ($status, $stdout, $stderr) = $node->psql($database, "\\set VERBOSITY verbose\n$script", on_error_stop => 0);
	# PL/pgSQL's own, when the row's type has lost a column
	$stderr =~ s/ERROR: +XX000: cache lookup failed for type \d+\nCONTEXT: +PL\/pgSQL function act\(\) during function exit//g;
	my @internal = $stderr =~ /(?:ERROR|FATAL|PANIC): +((?:XX|57P|08).*)/g;

	push @internal, "psql ended with $status" if $status != 0;
	push @internal, 'the session did not end' if $stdout !~ /^the end$/m;
	return ("@internal", $stdout, $stderr);
}

# By the session itself, all in one session, so that plans of one case are
# there in the next. Each case is rolled back.
my %itself = (
	'before the statement'     => ['ACTION;',      "CALL public.arrive('PART', 100);"],
	'in its BEFORE trigger'    => ["SET LOCAL trial.trigger = 'c_act';", "CALL public.arrive('PART', 100, 'act');"],
	'in its AFTER trigger'     => ["SET LOCAL trial.trigger = 'f_act';", "CALL public.arrive('PART', 100, 'act');"],
	'before deferred triggers' => ["CALL public.arrive('PART', 100);", 'ACTION;'],
);
my $ends = "SAVEPOINT s; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO s; CALL public.arrive('PART', 200); ROLLBACK;";
$node->safe_psql('postgres', 'CREATE DATABASE itself TEMPLATE base');
for my $moment (sort keys %itself)
{
	my $script = "SET trial.by = 'itself';\nSET trial.trigger = '';\n";

	for my $action (@actions)
	{
		my ($name, $sql) = @$action;
		my $case = join "\n", @{ $itself{$moment} };

		for my $part ('pet_n', 'pet')
		{
			my $steps = "BEGIN;\nSET LOCAL trial.action = \$\$$sql\$\$;\nSAVEPOINT a;\n$case\n$ends\n";

			$steps =~ s/PART/$part/g;
			$steps =~ s/ACTION/$sql/;
			$script .= "\\echo $moment, $name\n$steps";
		}
	}
	my ($internal, $stdout, $stderr) = session('itself', "CALL public.arrive('pet_n', 0);\n$script\nDELETE FROM data.pet WHERE region = 'n';\n\\echo the end\n");
	is($internal, '', "objects changed $moment") or diag $stdout, substr($stderr, -2000);
	# most cases end in errors
	cmp_ok(scalar(() = $stderr =~ /ERROR/g), '>', 20, "objects changed $moment: some are errors");
}
is( $node->safe_psql('itself', "TRUNCATE logs.found; CALL public.arrive('pet_n', 0); SELECT count(*), count(dup) FROM data.pet_n; SELECT count(*) FROM logs.found"),
	"20|10\n10", 'the triggers work as before');

# By another session, while the statement is at its eleventh row; then another
# statement. An action that waits changes nothing. A statement has locked the
# log when its first AFTER trigger has fired. From then on, the actions in this
# list have to wait.
my @must_wait = ('log: drop', 'log: rename', 'log: move', 'log: replace', 'log: rename a column', 'schema of log: drop',
	'table: rename', 'table: move', 'table: drop', 'table: rename the key', 'partition: drop', 'trigger: drop', 'extension: drop');
my $database = 0;
my $fresh;
for my $action (@actions)
{
	my ($name, $sql) = @$action;

	my $must_wait = grep { $_ eq $name } @must_wait;

	for my $trigger ('c_act', $must_wait ? 'f_act' : ())
	{
		my $case = "another session, $name, at $trigger";

		if (!defined $fresh)
		{
			$fresh = 'other' . ++$database;
			$node->safe_psql('postgres', "CREATE DATABASE $fresh TEMPLATE base");
		}
		my ($internal, $stdout, $stderr) = session($fresh, <<SQL);
SET trial.by = 'another';
SET trial.trigger = '$trigger';
SET trial.action = \$\$$sql\$\$;
CALL public.arrive('pet_n', 100);
BEGIN;
CALL public.arrive('pet_n', 200, 'act');
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
CALL public.arrive('pet_n', 300);
UPDATE data.pet_n SET note = 'after';
DELETE FROM data.pet_n;
\\echo the end
SQL
		my ($outcome) = $stderr =~ /WARNING: .*(waits|done)/;
		is($internal, '', $case) or diag $stderr;
		like($outcome, $trigger eq 'f_act' ? qr/waits/ : qr/waits|done/, "$case: it was tried, and waits where it must");
		undef $fresh if $outcome ne 'waits';
	}
}
unlike(slurp_file($node->logfile), qr/was terminated by signal|Failed assertion/, 'no session crashed');
$node->stop;
done_testing();

# groups_dump: a grouping goes through dump and restore, and to a subscriber. It is
# there as it was, and the next refresh has nothing to do.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('groups_dump');
$node->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE SCHEMA office;
CREATE TABLE office.letter (id int PRIMARY KEY, fp simhash64);
INSERT INTO office.letter SELECT i, (1::bigint << (i % 7))::simhash64 FROM generate_series(1, 50) AS i;
INSERT INTO office.letter SELECT i, (-i)::bigint::simhash64 FROM generate_series(51, 60) AS i;
SELECT simdup_group('office.letter_group', 'office.letter', 3);
SELECT count(*) FROM simdup_regroup('office.letter_group');
SELECT count(*) FROM simdup_decide('office.letter_group', 1, 55, true, 'one visit');
SELECT count(*) FROM simdup_decide('office.letter_group', 2, 3, false);
SQL

my $contents = <<'SQL';
SELECT * FROM office.letter_group ORDER BY key;
SELECT a, b, same, note, at FROM office.letter_group_decisions ORDER BY a, b;
SELECT * FROM office.letter_group_events ORDER BY refresh, key;
SELECT * FROM office.letter_group_settings;
SQL
my $expected = $node->safe_psql('postgres', $contents);
my $folder = PostgreSQL::Test::Utils::tempdir();

# The same tables, nothing to refresh, and then the next id.
sub is_whole
{
	my ($server, $database, $name) = @_;

	is($server->safe_psql($database, $contents), $expected, "$name: the tables");
	is($server->safe_psql($database, "SELECT count(*) FROM simdup_regroup('office.letter_group')"), '0', "$name: nothing new");
	is($server->safe_psql($database, <<'SQL'), '1|t', "$name: a new row gets a new id");
INSERT INTO office.letter VALUES (100, '5555555555555555');
SELECT count(*), bool_and(id > (SELECT max(id) FROM office.letter_group WHERE key < 100)) FROM simdup_regroup('office.letter_group');
SQL
	is($server->safe_psql($database, "SELECT count(*) > 0 FROM simdup_undecide('office.letter_group', 1, 55)"), 't', "$name: a decision taken back");
	return;
}

sub restored
{
	my ($name, $dump, @restore) = @_;

	command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), @$dump ], "$name: dump");
	for my $command (@restore)
	{
		$node->safe_psql('postgres', "CREATE DATABASE restored") if $command eq 'new';
		command_ok([ @$command, '-d', $node->connstr('restored') ], "$name: @$command[ 0, 1 ]") if ref $command;
	}
	is_whole($node, 'restored', $name);
	$node->safe_psql('postgres', 'DROP DATABASE restored');
	return;
}

# what pg_dump writes without the operator's schema is lost, and the forms that the page names are not
$node->safe_psql('postgres', <<'SQL');
CREATE DATABASE forms;
\c forms
CREATE SCHEMA ext;
CREATE EXTENSION simdup SCHEMA ext;
SET search_path = public, ext;
CREATE FUNCTION by_string(t text) RETURNS simhash64 LANGUAGE sql IMMUTABLE AS 'SELECT minhash64(t)';
CREATE FUNCTION by_return(t text) RETURNS simhash64 LANGUAGE sql IMMUTABLE RETURN minhash64(t);
CREATE TABLE kept (a simhash64, b simhash64, t text, fp simhash64 GENERATED ALWAYS AS (by_return(t)) STORED,
  CHECK (a <> b), CHECK (a::bigint IS DISTINCT FROM b::bigint), CHECK (a IN ('0123456789abcdef', '0000000000000000')));
CREATE TABLE lost_distinct (a simhash64, b simhash64, CHECK (a IS DISTINCT FROM b));
CREATE TABLE lost_nullif (a simhash64, b simhash64, CHECK (NULLIF(a, b) IS NULL));
CREATE TABLE lost_case (a simhash64, b simhash64, CHECK (CASE a WHEN b THEN true END));
CREATE VIEW lost_using AS SELECT fp FROM kept JOIN (SELECT b AS fp FROM kept) AS k USING (fp);
CREATE TABLE lost_body (t text, fp simhash64 GENERATED ALWAYS AS (by_string(t)) STORED);
INSERT INTO kept VALUES ('0123456789abcdef', '0000000000000000', 'The lamp in the lane is out.');
INSERT INTO lost_body VALUES ('The lamp in the lane is out.');
SQL
$node->safe_psql('postgres', 'CREATE DATABASE forms_restored');
command_ok([ 'pg_dump', '-Fc', '-f', "$folder/forms", '-d', $node->connstr('forms') ], 'forms: pg_dump');
run_command([ 'pg_restore', '-d', $node->connstr('forms_restored'), "$folder/forms" ]);
is($node->safe_psql('forms_restored', q{SELECT relname FROM pg_class WHERE relname ~ '^(kept|lost)'}), 'kept', 'forms: the table whose forms survive');
is($node->safe_psql('forms_restored', 'SELECT count(fp), (SELECT count(*) FROM pg_constraint WHERE conrelid = kept.tableoid) FROM kept GROUP BY tableoid'), '1|3', 'forms: with its rows and checks');

restored('custom', [ '-Fc', '-f', "$folder/custom" ], 'new', [ 'pg_restore', '-e', "$folder/custom" ]);
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', "$folder/plain" ], 'plain: dump');
restored('parallel', [ '-Fd', '-j', 2, '-f', "$folder/parallel" ], 'new', [ 'pg_restore', '-e', '-j', 2, "$folder/parallel" ]);
restored('data only', [ '-Fc', '-f', "$folder/whole" ], 'new', [ 'pg_restore', '-e', '-s', "$folder/whole" ],
	[ 'pg_restore', '-e', '-a', "$folder/whole" ]);

# Another schema: the settings name the old one until they are changed.
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->safe_psql('restored', 'CREATE SCHEMA tools; CREATE EXTENSION simdup SCHEMA tools');
my $elsewhere = slurp_file("$folder/plain") =~ s/^(?:CREATE|COMMENT ON) EXTENSION .*;\n//gmr;
$elsewhere =~ s/\boffice\b/bureau/g;
$elsewhere =~ s/\bpublic\.simhash64/tools.simhash64/g;
# but not in the rows
$elsewhere =~ s/\tbureau\.letter\t/\toffice.letter\t/;
append_to_file("$folder/elsewhere", $elsewhere);
command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$folder/elsewhere" ], 'another schema: restore');
my (undef, undef, $refused) = $node->psql('restored', "SELECT tools.simdup_regroup('bureau.letter_group')");
like($refused, qr/ERROR:  source "office.letter" does not exist.*HINT: .* UPDATE bureau.letter_group_settings SET source = /s, 'another schema: the error shows the way out');
$node->safe_psql('restored', "UPDATE bureau.letter_group_settings SET source = 'bureau.letter'");
is($node->safe_psql('restored', "SELECT count(*) FROM tools.simdup_regroup('bureau.letter_group')"), '0', 'another schema: nothing new');
$node->safe_psql('restored', 'DROP TABLE bureau.letter');
(undef, undef, $refused) = $node->psql('restored', "SELECT tools.simdup_regroup('bureau.letter_group')");
like($refused, qr/ERROR:  source "bureau.letter" does not exist/, 'another schema: the source is dropped');
$node->safe_psql('postgres', 'DROP DATABASE restored');

# One table alone: the groups, lost, come back with their ids.
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-Fc', '-t', 'office.letter_group', '-f', "$folder/one" ], 'one table: dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE postgres');
$node->safe_psql('restored', 'DROP TABLE office.letter_group');
command_ok([ 'pg_restore', '-e', '-d', $node->connstr('restored'), "$folder/one" ], 'one table: restore');
is($node->safe_psql('restored', $contents), $expected, 'one table: the tables');
my $groups = $node->safe_psql('restored', 'SELECT * FROM office.letter_group ORDER BY key');
$node->safe_psql('restored', "TRUNCATE office.letter_group; SELECT count(*) FROM simdup_regroup('office.letter_group')");
is($node->safe_psql('restored', 'SELECT * FROM office.letter_group ORDER BY key'), $groups, 'lost groups come back');
$node->safe_psql('postgres', 'DROP DATABASE restored');

# Keys of a column whose collation takes a and A for equal: so does the grouping.
SKIP:
{
	my $has_icu = "SELECT count(*) > 0 FROM pg_collation WHERE collprovider = 'i'";

	skip('the server was built without ICU', 7) if $node->safe_psql('postgres', $has_icu) ne 't';
	$node->safe_psql('postgres', <<'SQL');
CREATE DATABASE folded TEMPLATE template0;
\c folded
CREATE EXTENSION simdup;
CREATE SCHEMA "Own";
CREATE COLLATION "Own"."no case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE letter (name text COLLATE "Own"."no case" PRIMARY KEY, fp simhash64);
INSERT INTO letter VALUES ('a', '0000000000000000'), ('B', '0000000000000001'), ('c', 'ffffffffffffffff'), ('d', NULL);
SELECT simdup_group('letter_group', 'letter', 3);
SELECT count(*) FROM simdup_regroup('letter_group');
UPDATE letter SET name = upper(name);
SQL
	my $regroup = "SELECT * FROM simdup_regroup('letter_group')";
	is($node->safe_psql('folded', $regroup), '', 'no case: nothing new');
	my $decided = $node->safe_psql('folded', <<'SQL');
SELECT * FROM simdup_decide('letter_group', ARRAY['a', 'b', 'A'], ARRAY['C', 'A', 'c'], true);
SELECT * FROM simdup_decide('letter_group', 'B', 'a', true);
SELECT a, b FROM letter_group_decisions ORDER BY b;
SELECT a, b IS NOT NULL, content_a FROM simdup_review('letter_group');
SELECT * FROM simdup_undecide('letter_group', 'b', 'A');
SQL
	like($decided, qr/\AC\|2\|1\n[aA]\|[bB]\n[aA]\|[cC]\z/, 'no case: a pair is stored once');
	(undef, undef, my $err) = $node->psql('folded', "SELECT simdup_decide('letter_group', 'a', 'A', true)");
	like($err, qr/ERROR:  cannot decide about a row and itself/, 'no case: a row is not another');
	is($node->safe_psql('folded', <<'SQL'), 'B|1|3', 'no case: a source in another order');
CREATE VIEW other AS SELECT CASE name WHEN 'a' THEN 'a' ELSE name END COLLATE "C" AS key, fp FROM letter;
BEGIN;
UPDATE letter_group_settings SET source = 'public.other';
SELECT * FROM simdup_regroup('letter_group', true);
ROLLBACK;
SQL
	command_ok([ 'pg_dump', '-d', $node->connstr('folded'), '-Fc', '-f', "$folder/folded" ], 'no case: dump');
	$node->safe_psql('postgres', 'DROP DATABASE folded; CREATE DATABASE folded TEMPLATE template0');
	command_ok([ 'pg_restore', '-e', '-d', $node->connstr('folded'), "$folder/folded" ], 'no case: restore');
	is($node->safe_psql('folded', "DELETE FROM letter_group_decisions; INSERT INTO letter VALUES ('e', NULL); $regroup"), 'C|1|2', 'no case: keys of a dump');
}

# A subscriber, which then takes over.
my $subscriber = PostgreSQL::Test::Cluster->new('groups_subscriber');
$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$subscriber->append_conf('postgresql.conf', "jit = off");
$subscriber->start;
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-s', '-f', "$folder/schema.sql" ], 'replication: dump');
command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $subscriber->connstr('postgres'), '-f', "$folder/schema.sql" ], 'replication: restore');
$node->safe_psql('postgres', 'CREATE PUBLICATION whole FOR ALL TABLES');
my $from = $node->connstr('postgres') =~ s/'//gr;
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION whole CONNECTION '$from' PUBLICATION whole");
$subscriber->wait_for_subscription_sync($node, 'whole');
$node->safe_psql('postgres', <<'SQL');
INSERT INTO office.letter VALUES (90, '3333333333333333'), (91, '3333333333333331');
SELECT count(*) FROM simdup_regroup('office.letter_group');
SELECT count(*) FROM simdup_decide('office.letter_group', 90, 91, false);
SQL
$expected = $node->safe_psql('postgres', $contents);
$node->wait_for_catchup('whole');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION whole DISABLE');
is_whole($subscriber, 'postgres', 'replication');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION whole');

$subscriber->stop;
$node->stop;
done_testing();

# moved_rows: the section "Replication, dumps, moved rows" of the page "Arrival". Rows
# that are applied, restored or moved by others keep flags and logs where triggers are held
# back, and not otherwise. Publisher and subscriber are databases of one server.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(ran said);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('moved_rows');
$node->init(allows_streaming => 'logical', extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', "max_logical_replication_workers = 8\nmax_worker_processes = 16\n");
$node->start;

# Row 2 repeats row 1, which a person has cleared; row 3 is flagged by a person.
my $tables = <<'SQL';
CREATE EXTENSION simdup;
CREATE TABLE letter (id int, region text, content text, repeats int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE letter_n PARTITION OF letter FOR VALUES IN ('n');
CREATE TABLE letter_s PARTITION OF letter FOR VALUES IN ('s');
CREATE INDEX letter_near ON letter USING hamming (content);
CREATE TABLE letter_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('letter_log', 'key => id');
CREATE TABLE entry (id int PRIMARY KEY, content text);
CREATE INDEX ON entry USING hamming (content);
CREATE TRIGGER reject BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
SQL
my $rows = <<'SQL';
INSERT INTO letter VALUES (1, 'n', 'The playground behind the school has no shade.'), (2, 'n', 'The playground behind the school has no shade!'), (3, 'n', 'Bus 14 is late every morning.');
UPDATE letter SET repeats = CASE id WHEN 3 THEN 1 END;
ALTER TABLE entry DISABLE TRIGGER reject;
INSERT INTO entry SELECT id, content FROM letter;
ALTER TABLE entry ENABLE TRIGGER reject;
SQL
my $flags = q{SELECT string_agg(format('%s%s>%s', id, region, repeats), ' ' ORDER BY id) || ' | ' || (SELECT string_agg(new_key || '>' || old_key, ' ' ORDER BY new_key, old_key) FROM letter_log) FROM letter};
my $kept = '1n> 2n> 3n>1 | 2>1';

sub sql { my ($database, $sql) = @_; return $node->safe_psql($database, $sql); }

# Subscribe to tables of the publisher under a name, in a database of that name.
sub subscribe
{
	my ($name, $schema, $what) = @_;

	sql('postgres', "CREATE DATABASE $name");
	sql($name, $schema);
	sql('publisher', "CREATE PUBLICATION $name FOR TABLE $what; SELECT pg_create_logical_replication_slot('$name', 'pgoutput')");
	sql($name, "CREATE SUBSCRIPTION $name CONNECTION '" . ($node->connstr('publisher') =~ s{'}{''}gr) . "' PUBLICATION $name WITH (create_slot = false, disable_on_error = true)");
	return;
}

sub is_stopped
{
	my ($name, $error) = @_;

	ok($node->poll_query_until($name, 'SELECT NOT subenabled FROM pg_subscription WHERE subname = current_database()'), "$name: the subscription stops");
	like(slurp_file($node->logfile), $error, '... by its error');
	return;
}

sql('postgres', 'CREATE DATABASE publisher');
sql('publisher', $tables . $rows . q{CREATE TABLE typed (id int PRIMARY KEY, content text, fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED); INSERT INTO typed SELECT id, content FROM letter});
is(sql('publisher', $flags), $kept, 'the publisher');

# --- logical replication

subscribe('held', $tables, 'letter, letter_log, entry');
subscribe('always', $tables . 'ALTER TABLE letter ENABLE ALWAYS TRIGGER flag', 'letter');
subscribe('plain', 'CREATE EXTENSION simdup; CREATE TABLE typed (id int PRIMARY KEY, content text, fp simhash64); CREATE INDEX ON typed USING hamming (content)', 'typed');
subscribe('generated', 'CREATE EXTENSION simdup; CREATE TABLE typed (id int PRIMARY KEY, content text, fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED)', 'typed');
$node->wait_for_subscription_sync(undef, $_, $_) for qw(held always plain generated);
is(sql('held', $flags), $kept, 'copied: flags and log are data');
is(sql('held', 'SELECT count(*) FROM entry'), '3', '... and no row is refused');
is(sql('always', q{SELECT string_agg(format('%s>%s', id, repeats), ' ' ORDER BY id) FROM letter}), '1> 2>1 3>', 'copied under ENABLE ALWAYS: flags are computed anew');

# a row that arrives, one that moves, and a flag that a person clears
sql('publisher', q{
	INSERT INTO letter VALUES (4, 's', 'BUS 14 is late every morning.');
	UPDATE letter SET region = 's' WHERE id IN (2, 3);
	UPDATE letter SET repeats = NULL WHERE id = 4;
	INSERT INTO typed VALUES (4, 'BUS 14 is late every morning.')});
$node->wait_for_catchup($_) for qw(held always plain generated);
is(sql($_, $flags), '1n> 2s> 3s>1 4s> | 2>1 4>3', "$_: rows moved and applied") for qw(publisher held);
is(sql('always', q{SELECT string_agg(format('%s>%s', id, repeats), ' ' ORDER BY id) FROM letter}), '1> 2>1 3> 4>', 'applied under ENABLE ALWAYS: a moved row is new, and its flag is computed anew');
is(sql('plain', q{SELECT count(fp), count(*) FILTER (WHERE content <~@ simhash_ball(minhash64('bus 14 is late every morning'), 8)) FROM typed}), '0|2', 'a generated column is not sent; the text is found');
is(sql('generated', 'SELECT count(*) FILTER (WHERE fp = minhash64(content)), count(*) FROM typed'), '4|4', '... nor missed where it is generated on both sides');
SKIP:
{
	skip 'before 18', 1 if $node->pg_version < 18;
	sql('publisher', q{ALTER PUBLICATION plain SET (publish_generated_columns = stored); INSERT INTO typed VALUES (5, 'Bus 14')});
	$node->wait_for_catchup('plain');
	is(sql('plain', 'SELECT fp = minhash64(content) FROM typed WHERE id = 5'), 't', 'publish_generated_columns sends it');
}

# log and reject, too, once they are enabled there
sql('held', 'ALTER TABLE letter ENABLE ALWAYS TRIGGER log');
sql('publisher', q{INSERT INTO letter VALUES (5, 'n', 'bus 14 is late every morning')});
# since 18 the server calls it a conflict
is_stopped('held', qr/duplicate key value violates unique constraint "letter_log_new_key_old_key_key"|conflict detected on relation "public\.letter_log": conflict=insert_exists/);
subscribe('refused', $tables . 'ALTER TABLE entry ENABLE ALWAYS TRIGGER reject', 'entry');
is_stopped('refused', qr/new row for relation "entry" repeats a row/);

# --- restores

my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$node->command_ok([ 'pg_dump', '-Fc', '--data-only', '-t', 'letter*', '-f', $dump, $node->connstr('publisher') ], 'a dump of the data');
my $here = sql('publisher', $flags);
for my $case ([ 'judged' ], [ 'restored', '--disable-triggers' ])
{
	my ($name, @options) = @$case;

	sql('postgres', "CREATE DATABASE $name");
	sql($name, $tables);
	my ($done, $out) = ran('pg_restore', '--data-only', @options, '-d', $node->connstr($name), $dump);
	ok($done, "pg_restore --data-only @options: " . ($out || 'no error'));
	(@options ? \&is : \&isnt)->(sql($name, $flags), $here, '... flags ' . (@options ? 'stay' : 'are computed anew'));
}

# --- DELETE + INSERT, as by programs that move rows to new partitions

my $move = q{WITH gone AS (DELETE FROM letter WHERE id IN (2, 3) RETURNING *) INSERT INTO letter SELECT id, 'n', content, repeats FROM gone};
is(sql('restored', "SET session_replication_role = replica; $move; $flags"), '1n> 2n> 3n>1 4s> 5n>3 | 2>1 4>3 5>3 5>4', 'rows that are moved under session_replication_role = replica keep their flags');
is(sql('restored', "BEGIN; ALTER TABLE letter DISABLE TRIGGER USER; $move; ALTER TABLE letter ENABLE TRIGGER USER; COMMIT; $flags"), '1n> 2n> 3n>1 4s> 5n>3 | 2>1 4>3 5>3 5>4', '... and with triggers disabled');
isnt(sql('restored', "$move; $flags"), '1n> 2n> 3n>1 4s> 5n>3 | 2>1 4>3 5>3 5>4', '... and are judged otherwise');

sql($_, "ALTER SUBSCRIPTION $_ DISABLE; ALTER SUBSCRIPTION $_ SET (slot_name = NONE); DROP SUBSCRIPTION $_") for qw(held always plain generated refused);
$node->stop;
done_testing();

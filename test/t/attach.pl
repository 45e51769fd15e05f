# attach: what simdup_attach made is known after a dump and a restore into
# another schema, with comments and without, and can be changed and taken off.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('attach');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE office');
$node->safe_psql('office', <<'SQL');
CREATE SCHEMA "Our Tools";
CREATE EXTENSION simdup SCHEMA "Our Tools";
CREATE TABLE flagged (id int PRIMARY KEY, body text, place text);
CREATE TABLE logged (id uuid PRIMARY KEY, body text, simdup_of int DEFAULT 7);
CREATE TABLE parted (id int, region text, body text, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
CREATE TABLE parted_n PARTITION OF parted FOR VALUES IN ('n');
INSERT INTO flagged SELECT i, 'letter ' || i % 20 || ' about ' || md5((i % 20)::text), 'place ' || i % 3 FROM generate_series(1, 60) i;
INSERT INTO logged (id, body) SELECT md5(id::text)::uuid, body FROM flagged;
INSERT INTO parted SELECT id, 'n', body FROM flagged;
SELECT "Our Tools".simdup_attach('flagged', 'body', '{place}', w => 3, foreign_key => true);
SELECT "Our Tools".simdup_attach('logged', 'body', action => 'log', fingerprint => 'simhash', tokenizer => 'char:3');
SELECT "Our Tools".simdup_attach('parted', 'body', key => 'id');
SQL

my $kept = q{
	SELECT id, simdup_fp, simdup_of FROM public.flagged ORDER BY id;
	SELECT id, simdup_fp, simdup_of FROM public.logged ORDER BY id;
	SELECT id, simdup_fp, simdup_of FROM public.parted ORDER BY id};
my $columns = q{SELECT attrelid::regclass, string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid IN ('public.flagged'::regclass, 'public.logged'::regclass, 'public.parted'::regclass, 'public.parted_n'::regclass)
	AND attnum > 0 AND NOT attisdropped GROUP BY 1 ORDER BY 1::regclass::text};
my $before = $node->safe_psql('office', $kept);
like($before, qr/^25\|[0-9a-f]{16}\|5$/m, 'old rows are flagged');
my $dump = $node->basedir . '/office.sql';

for my $case ([ 'same', [] ], [ 'elsewhere', [] ], [ 'without_comments', ['--no-comments'] ])
{
	my ($db, $options) = @$case;
	my $schema = $db eq 'elsewhere' ? 'elsewhere' : '"Our Tools"';

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-d', 'office', '-f', "$dump.$db.plain", @$options ], "$db: dump");
	append_to_file("$dump.$db", slurp_file("$dump.$db.plain") =~ s/"Our Tools"/$schema/gr);
	$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $db, '-f', "$dump.$db" ], "$db: restore");
	is($node->safe_psql($db, $kept), $before, "$db: the same fingerprints and flags");

	# the triggers work, by the same rules
	$node->safe_psql($db, q{INSERT INTO flagged (id, body, place) SELECT 100, body, place FROM flagged WHERE id = 25;
		INSERT INTO logged (id, body) SELECT md5('100')::uuid, body FROM flagged WHERE id = 25});
	is($node->safe_psql($db, 'SELECT simdup_of FROM flagged WHERE id = 100'), '25', "$db: flags");
	is($node->safe_psql($db, 'SELECT count(*) > 0 FROM logged_simdup_log'), 't', "$db: logs");

	# a change, and everything off again; the table's own column stays
	$node->safe_psql($db, "SELECT $schema.simdup_alter('flagged', max_distance => 5, w => 4); SELECT $schema.simdup_alter('parted', w => 2)");
	is($node->safe_psql($db, "SELECT count(*) FROM flagged WHERE simdup_fp OPERATOR($schema.=) $schema.minhash64_row(body, ARRAY[place])"),
		'61', "$db: altered");
	is($node->safe_psql($db, "SELECT count(*) FROM parted WHERE simdup_fp OPERATOR($schema.=) $schema.minhash64(body, 2)"),
		'60', "$db: altered, partitions");
	$node->safe_psql($db, "SELECT $schema.simdup_detach(t) FROM unnest('{flagged,logged,parted}'::regclass[]) AS t");
	is($node->safe_psql($db, $columns),
		"flagged|id body place\nlogged|id body simdup_of\nparted|id region body\nparted_n|id region body",
		"$db: detached");
}

$node->stop;
done_testing();

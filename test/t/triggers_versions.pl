# triggers_versions: what servers from 18 on add to tables with triggers: virtual generated
# columns in conditions, keys without overlaps, and window functions that ignore NULLs; and to
# removals: NOT NULL that is not valid, and foreign keys with PERIOD.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(said);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('versions');
plan skip_all => 'before 18' if $node->pg_version < 18;

$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup; CREATE EXTENSION btree_gist');

# The sql of a table with a virtual column that the condition compares. Partitions have the
# columns in another order, and the same expression.
my @tables = (
	[ 'a table' => 'CREATE TABLE t (id int, place text, fp simhash64, repeats int, low text GENERATED ALWAYS AS (lower(place)) VIRTUAL, PRIMARY KEY (id, place))' ],
	[ 'partitions' => q{
		CREATE TABLE t (id int, place text, fp simhash64, repeats int, low text GENERATED ALWAYS AS (lower(place)) VIRTUAL, PRIMARY KEY (id, place))
			PARTITION BY RANGE (place);
		CREATE TABLE t_upper PARTITION OF t FOR VALUES FROM ('A') TO ('a');
		CREATE TABLE t_lower (low text GENERATED ALWAYS AS (lower(place)) VIRTUAL, repeats int, gone int, fp simhash64, place text NOT NULL, id int NOT NULL);
		ALTER TABLE t_lower DROP gone;
		ALTER TABLE t ATTACH PARTITION t_lower FOR VALUES FROM ('a') TO (MAXVALUE) } ]);
my @triggers = (
	[ 'flag', 'BEFORE', "'repeats', 'key => id', " ], [ 'log', 'AFTER', "'t_log', 'key => id', " ],
	[ 'reject', 'BEFORE', '' ], [ 'reject', 'AFTER', '' ]);

for my $case (@tables)
{
	my ($name, $table) = @$case;

	for (@triggers)
	{
		my ($kind, $time, $options) = @$_;
		my $key = $name eq 'a table' ? 'ALTER TABLE t ADD UNIQUE (id)' : 'SELECT';
		my $out = said($node, qq{
			SET client_min_messages = error;
			$table;
			$key;
			CREATE INDEX ON t USING hamming (fp);
			CREATE TABLE t_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
			CREATE FUNCTION same_place(new_row t, near_row t) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT new_row.low = near_row.low';
			CREATE TRIGGER t $time INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION simdup_${kind}_trigger(${options}'condition => same_place');
			INSERT INTO t VALUES (1, 'North', '0000000000000001'), (2, 'South', '0000000000000001');
			INSERT INTO t VALUES (3, 'south', '0000000000000001');
			UPDATE t SET place = 'Mid' WHERE id = 1;
			UPDATE t SET place = 'MID', fp = '0000000000000003' WHERE id = 1;
			SELECT string_agg(format('%s>%s', id, repeats), ' ' ORDER BY id), (SELECT string_agg(format('%s>%s', new_key, old_key), ' ') FROM t_log) FROM t });

		my %want = (flag => '1> 2> 3>2|', log => '1> 2> 3>|3>2', reject => 'repeats a row');
		like($out, qr/\Q$want{$kind}\E/, "$kind $time, $name: a condition reads a virtual column of both rows");
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t, t_log CASCADE');
	}
}

$node->safe_psql('postgres', q{
	CREATE TABLE t (id int, place text, fp simhash64, repeats int, low text GENERATED ALWAYS AS (lower(place)) VIRTUAL, PRIMARY KEY (id, place))
		PARTITION BY RANGE (place);
	CREATE TABLE t_upper PARTITION OF t FOR VALUES FROM ('A') TO ('a');
	CREATE TABLE t_lower (id int NOT NULL, place text NOT NULL, fp simhash64, repeats int, low text GENERATED ALWAYS AS (upper(place)) VIRTUAL);
	ALTER TABLE t ATTACH PARTITION t_lower FOR VALUES FROM ('a') TO (MAXVALUE);
	CREATE INDEX ON t USING hamming (fp);
	CREATE FUNCTION same_place(new_row t, near_row t) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT new_row.low = near_row.low';
	CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id', 'condition => same_place') });
is(said($node, q{INSERT INTO t VALUES (1, 'North', '0000000000000001'), (2, 'north', '0000000000000001') RETURNING id, repeats, low}), "1||north\n2|1|north",
	'a partition with another expression: the condition sees what a SELECT from the parent sees');
$node->safe_psql('postgres', 'DROP TABLE t CASCADE');

$node->safe_psql('postgres', 'CREATE TABLE t (id int PRIMARY KEY, v int GENERATED ALWAYS AS (id + 1), fp simhash64, repeats int); CREATE INDEX ON t USING hamming (fp)');
like(said($node, q{CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'columns => v'); INSERT INTO t VALUES (1)}),
	qr/column "v" of relation "t" is generated.*A virtual column is not stored.*name the columns/s, 'a virtual column in the option columns: the error has the reason');

# --- versions of one row

$node->safe_psql('postgres', q{
	CREATE TABLE rate (id int, during int4range, fp simhash64, PRIMARY KEY (id, during WITHOUT OVERLAPS));
	CREATE INDEX ON rate USING hamming (fp);
	CREATE TRIGGER r BEFORE INSERT OR UPDATE ON rate FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
	INSERT INTO rate VALUES (1, '[1,5)', '0000000000000001') });
is(said($node, q{INSERT INTO rate VALUES (1, '[1,5)', '0000000000000001'), (1, '[4,9)', '0000000000000001') ON CONFLICT DO NOTHING RETURNING id}), '',
	'WITHOUT OVERLAPS: the row that ON CONFLICT meets is that row');
like(said($node, q{INSERT INTO rate VALUES (1, '[5,9)', '0000000000000001')}), qr/repeats a row.*\(id, during\)=\(1, \[1,5\)\)/s, 'the next period is a repeat of its own row');
is(said($node, q{
	CREATE FUNCTION another_rate(new_row rate, near_row rate) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT new_row.id <> near_row.id';
	CREATE OR REPLACE TRIGGER r BEFORE INSERT OR UPDATE ON rate FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => another_rate');
	INSERT INTO rate VALUES (1, '[5,9)', '0000000000000001') RETURNING id }), '1', '... but for a condition on the id');
like(said($node, q{INSERT INTO rate VALUES (2, '[5,9)', '0000000000000001')}), qr/repeats a row/, '... by which another row is refused');

# --- removals

sub removed
{
	return said($node, q{SELECT statement FROM simdup_removal('doc', 'map') ORDER BY step \gexec}) . "\n" . said($node, shift);
}
$node->safe_psql('postgres', q{
	CREATE TABLE doc (id int PRIMARY KEY, code text UNIQUE);
	INSERT INTO doc VALUES (1, NULL), (2, 'b');
	ALTER TABLE doc ADD CONSTRAINT n NOT NULL code NOT VALID;
	CREATE TABLE ref (code text REFERENCES doc (code));
	INSERT INTO ref VALUES ('b');
	CREATE VIEW map AS SELECT 2 AS removed, 1 AS kept });
like(removed('SELECT code FROM ref'), qr/there are none.*\nb$/s, 'NOT NULL NOT VALID: a reference is not moved to NULL');
$node->safe_psql('postgres', q{
	DROP TABLE ref;
	CREATE TABLE tag (doc int REFERENCES doc, name text, UNIQUE (doc, name));
	INSERT INTO tag VALUES (1, NULL), (2, NULL);
	ALTER TABLE tag ADD CONSTRAINT n NOT NULL name NOT VALID });
like(removed('SELECT count(*) FROM tag'), qr/violates not-null.*\n2$/s, '... and rows with NULL are not taken for equal ones');
$node->safe_psql('postgres', q{
	DROP TABLE doc, tag CASCADE;
	CREATE TABLE doc (id int PRIMARY KEY, code int, during daterange) PARTITION BY RANGE (id);
	CREATE TABLE doc_1 PARTITION OF doc FOR VALUES FROM (1) TO (9);
	ALTER TABLE doc_1 ADD UNIQUE (code, during WITHOUT OVERLAPS);
	CREATE TABLE ref (code int, during daterange, FOREIGN KEY (code, PERIOD during) REFERENCES doc_1 (code, PERIOD during)) });
like(said($node, q{SELECT simdup_removal('doc', 'map')}), qr/foreign key with PERIOD/, 'a foreign key with PERIOD to a partition is refused');

SKIP:
{
	skip 'before 19', 4 if $node->safe_psql('postgres', 'SHOW server_version_num') < 190000;
	like(said($node, "SELECT $_ IGNORE NULLS OVER () FROM rate"), qr/does not allow .*NULLS/, "$_ refuses IGNORE NULLS")
		for 'simdup_cluster(id, fp, 8)', 'simdup_campaign(id, id::text)', 'simdup_component(id, id)', q{simdup_window('101'::varbit, 2)};
}

done_testing();

# existing_table: the fill of the page "An existing table" sets on a table that has
# rows what its trigger sets when they arrive one by one, in the order of their
# keys. The statements are those of the page.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($fill) = slurp_file('doc/simdup-existing-table.md') =~ /^\\set condition true\n(.*?^DROP TABLE fill;)$/ms;
isnt($fill, undef, 'the page has the fill');
my ($batches) = $fill =~ /(SELECT format\(.*\\gexec\n)/s;
my $in_batches = $fill =~ s/5000/40/r;

my $node = PostgreSQL::Test::Cluster->new('existing_table');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\njit = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
-- texts that resemble some others, texts that are equal, and rows without a text
CREATE FUNCTION body(kind int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN '...' ELSE
    (SELECT string_agg(md5(concat(kind, ' ', CASE WHEN j = abs(hashint4(i * 7 + kind)) % 14 THEN i ELSE abs(hashint4(i + kind)) % 30 END, ' ', j)), ' ') FROM generate_series(1, 12) AS j)
    || ' number ' || abs(hashint4(i)) % 3 END $$;
SQL

my @conditions = (
	[ 8, undef ],
	[ 0, undef ],
	[ 14, q{new_row.place IS NOT DISTINCT FROM near_row.place} ],
	[ 20, q{new_row.at - near_row.at < 30} ],
	[ 14, q{simdup_resembles(new_row.content, near_row.content, 0.7) OR near_row.place = 'north'} ]);
my @keys = ('integer' => 'i', 'text COLLATE "C"' => q{md5(i::text)}, 'uuid' => q{md5(i::text)::uuid});
my $tables = 0;
while (my ($type, $key) = splice @keys, 0, 2)
{
	for (@conditions)
	{
		my ($distance, $condition) = @$_;
		my $name = "Letter $tables";
		my $option = $condition ? ", 'condition => same'" : '';
		my $call = $condition ? 'public.same(new_row, near_row)' : 'true';

		$node->safe_psql('postgres', <<"SQL");
CREATE TABLE "$name" ("The key" $type PRIMARY KEY, content text, place text, at date, "Repeats" $type);
CREATE TABLE arriving AS SELECT $key AS k, body($tables, i) AS content, CASE i % 5 WHEN 0 THEN 'north' WHEN 1 THEN 'south' END AS place, date '2026-01-01' + i % 100 AS at
  FROM generate_series(1, 300) AS i;
CREATE INDEX near_$tables ON "$name" USING hamming (content);
@{[ $condition ? qq{CREATE FUNCTION same(new_row "$name", near_row "$name") RETURNS boolean LANGUAGE sql STABLE AS \$\$SELECT $condition\$\$;} : '' ]}
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON "$name" FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('Repeats', 'max_distance => $distance'$option);
DO \$\$ DECLARE r record; BEGIN
  FOR r IN SELECT * FROM arriving ORDER BY k LOOP
    INSERT INTO "$name" VALUES (r.k, r.content, r.place, r.at);
  END LOOP;
END \$\$;
CREATE TABLE one_by_one AS SELECT * FROM "$name";
UPDATE "$name" SET "Repeats" = NULL;
SQL
		my $setup = "\\set table '$name'\n\\set key 'The key'\n\\set content content\n\\set flag Repeats\n\\set distance $distance\n\\set condition '$call'\n";
		# a batch fails, and the rest is run again
		my $first = $in_batches =~ s/\\gexec.*//sr;
		my $err;
		$node->psql('postgres', "\\set ON_ERROR_STOP off\n$setup" . ($first =~ s/ORDER BY batch\) AS b/ORDER BY batch) AS b WHERE batch < 3/r)
			  . "\\gexec\nALTER TABLE \"$name\" ADD CONSTRAINT no_more CHECK (\"Repeats\" IS NULL) NOT VALID;\n$batches", stderr => \$err);
		like($err, qr/violates check constraint "no_more"/, "$type, distance $distance: a batch fails");
		$node->safe_psql('postgres', "ALTER TABLE \"$name\" DROP CONSTRAINT no_more;\n$setup$batches DROP TABLE fill");
		is( $node->safe_psql('postgres',
				qq{SELECT count(*) FROM "$name" AS a JOIN one_by_one AS b USING ("The key") WHERE a."Repeats" IS DISTINCT FROM b."Repeats"}),
			'0', "$type, distance $distance: the fill sets what the trigger sets");
		cmp_ok($node->safe_psql('postgres', 'SELECT count("Repeats") FROM one_by_one'), '>', $distance == 0 ? 5 : 40, '... which is something');
		$node->safe_psql('postgres', 'DROP TABLE arriving, one_by_one');
		$node->safe_psql('postgres', qq{DROP TABLE "$name" CASCADE});
		$tables++;
	}
}

$node->stop;
done_testing();

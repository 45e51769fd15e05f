# upgrade: from each released version to the next by ALTER EXTENSION UPDATE. The
# catalog must be that of a fresh installation. Objects built on the old version
# must work with the new library, before the update and after it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Digest::SHA ();
use Dependents;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Released;
use Test::More;

my $obstacle = install_released();
plan skip_all => $obstacle if $obstacle;

# Released versions with the SHA-256 of what was released as theirs: a change
# to those files would be one to history.
my %released = (
	'simdup--0.1.0.sql' => 'c354ae2ae79b69c5751bc70841696f9d0c95a8b723413f1a08a266bdc2e79939',
	'simdup--0.2.0.sql' => '7e0345f3ef6487f2c61f213fbce8fade9cf7696836e94112122042b8198c8941');

for my $file (sort keys %released)
{
	is(Digest::SHA->new(256)->addfile("test/data/$file")->hexdigest, $released{$file},
		"$file is as it was released");
}
is( join(' ', map { s{.*/}{}r } sort glob 'test/data/simdup--*.sql'),
	join(' ', sort keys %released),
	'each released install script is among them');

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;

my $current = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'simdup'");
my @versions = released_versions();

# A new database with nothing but simdup, at that version.
sub database
{
	my ($db, $version, @options) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0 @options");
	$node->safe_psql($db, "CREATE EXTENSION simdup VERSION '$version'") if defined $version;
	return $db;
}

# --- the catalog rows of a database, without those of an empty one

# One statement that gives every catalog row of an object made after initdb, or
# with a reference to one: all columns, with names in place of OIDs. The server
# tells which columns are OIDs of which catalog.
sub catalog_query
{
	my @columns = map { [ split /\|/, $_, -1 ] } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT c.relname, attname, t.typname, fk.pktable, fk.is_array
FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid JOIN pg_type AS t ON t.oid = atttypid
  LEFT JOIN pg_get_catalog_foreign_keys() AS fk ON fktable = c.oid AND fkcols = ARRAY[attname::text]
WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace AND attnum > 0 AND NOT attisdropped
  AND (NOT relisshared OR relname = 'pg_shdepend') AND relname !~ '^pg_statistic'
ORDER BY c.relname, attnum
SQL
	my %tables;
	my @selects;

	push @{ $tables{ $_->[0] } }, $_ for @columns;
	for my $table (sort keys %tables)
	{
		my %has = map { $_->[1] => 1 } @{ $tables{$table} };
		my (@shown, @oids);

		for (@{ $tables{$table} })
		{
			my (undef, $column, $type, $target, $is_array) = @$_;
			my $shown;

			next if $column eq 'dbid';
			push @oids, "$column\::oid" if $type =~ /^(oid|reg.*)$/;
			if ($column eq 'oid')
			{
				$shown = "pg_describe_object('$table'::regclass, oid, 0)";
			}
			elsif ($column =~ /^(ref)?obj(id|oid)$/)
			{
				my $class = ($1 // '') . "class$2";
				my $subid = $has{ ($1 // '') . 'objsubid' } ? ($1 // '') . 'objsubid' : '0';
				$shown = "pg_describe_object($class, $column, $subid)";
			}
			elsif ($target && $is_array eq 't')
			{
				$shown = "ARRAY(SELECT pg_describe_object('$target'::regclass, o, 0) "
				  . "FROM unnest($column\::oid[]) WITH ORDINALITY AS u (o, n) ORDER BY n)::text";
			}
			elsif ($target)
			{
				$shown = "pg_describe_object('$target'::regclass, $column\::oid, 0)";
			}
			elsif ($type eq 'pg_node_tree')
			{
				# where in the script it stood is no property of it
				$shown = "regexp_replace($column\::text, ':(location|stmt_location|stmt_len) -?[0-9]+', '', 'g')";
			}
			else
			{
				$shown = "$column\::text";
			}
			push @shown, "'$column', $shown";
		}
		next unless @oids;
		push @selects,
		  "SELECT concat('$table ', json_build_object(" . join(', ', @shown) . ")) FROM $table WHERE ("
		  . join(' OR ', map { "$_ >= 16384" } @oids) . ')'
		  . ($has{dbid} ? ' AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())' : '');
	}
	return join("\nUNION ALL ", @selects) . ';';
}
my $catalog_query = catalog_query();

# A database's catalog as a set of lines; after a statement that is taken back.
sub catalog
{
	my ($db, $first) = @_;
	my %lines;

	$lines{$_}++ for split /\n/, $node->safe_psql($db, 'BEGIN; ' . ($first // '') . ";\n$catalog_query ROLLBACK;");
	return \%lines;
}

# The rows that only one of two catalogs has.
sub differences
{
	my ($one, $other) = @_;

	return join("\n",
		(map { "- $_" } grep { ($other->{$_} // 0) != $one->{$_} } sort keys %$one),
		(map { "+ $_" } grep { !$one->{$_} } sort keys %$other));
}

# --- every path there is ends in the catalog of a fresh installation

database('fresh', $current);
my $fresh = catalog('fresh');
my $members = $node->safe_psql('fresh', <<'SQL');
SELECT count(*) FROM pg_depend WHERE deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simdup')
SQL
cmp_ok($members, '>', 100, 'the extension has members');
for my $table (qw(pg_proc pg_type pg_operator pg_am pg_opclass pg_opfamily pg_amop pg_amproc pg_cast
	pg_aggregate pg_ts_parser pg_description pg_extension pg_depend))
{
	ok((grep { /^$table / } keys %$fresh), "$table has a part in the comparison");
}

my %paths;
for (split /\n/, $node->safe_psql('postgres',
	"SELECT source, target, path FROM pg_extension_update_paths('simdup') WHERE path IS NOT NULL"))
{
	my ($source, $target, $path) = split /\|/;
	$paths{"$source $target"} = $path;
}
ok($paths{"$_ $current"}, "a path leads from $_ to $current") for @versions;

my $n = 0;
for (sort keys %paths)
{
	my ($source, $target) = split / /;
	my $db = database('path_' . ++$n, $source);

	$node->safe_psql($db, "ALTER EXTENSION simdup UPDATE TO '$target'");
	is(differences(catalog(database("end_$n", $target)), catalog($db)), '', "$paths{$_}: the catalog is that of a fresh $target");
}
cmp_ok($n, '>=', scalar(@versions), 'every released version was updated');

# The comparison sees every kind of change that an update script could make or omit.
for my $change (
	'ALTER FUNCTION simhash_within(simhash64, simhash64, integer) COST 7',
	'ALTER FUNCTION simdup_hash(text, text) VOLATILE',
	'ALTER FUNCTION simdup_hash(text, text) SET work_mem = 64',
	"COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS 'another'",
	'COMMENT ON OPERATOR <~> (simhash64, simhash64) IS NULL',
	'REVOKE EXECUTE ON FUNCTION simdup_summary FROM PUBLIC',
	'ALTER EXTENSION simdup DROP FUNCTION simdup_summary',
	'ALTER OPERATOR < (simhash64, simhash64) SET (RESTRICT = scalarlesel)',
	'ALTER OPERATOR FAMILY simhash64_hash_ops USING hash DROP FUNCTION 2 (simhash64)',
	'ALTER TYPE simhash64 SET (TYPMOD_IN = NONE, RECEIVE = NONE)',
	'DROP CAST (simhash64 AS bytea)',
	'ALTER TEXT SEARCH PARSER simdup_icu RENAME TO other',
	'CREATE CAST (simhash64 AS varbit) WITH INOUT',
	'CREATE OR REPLACE FUNCTION simdup_hash(content text, algorithm text DEFAULT \'java\') RETURNS bigint '
	. 'AS \'$libdir/simdup\' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE',
	'CREATE FUNCTION simdup_extra() RETURNS integer LANGUAGE sql AS \'SELECT 1\'')
{
	my $member = $change =~ /DROP FUNCTION simdup_summary/ ? '' : $change =~ /DROP CAST/ ? 'ALTER EXTENSION simdup DROP CAST (simhash64 AS bytea);' : '';

	isnt(differences($fresh, catalog('fresh', "$member $change")), '', "seen: $change");
}
is(differences($fresh, catalog('fresh')), '', 'and nothing is seen where nothing changed');

# --- the library of today below the catalog of each released version

for my $version (@versions)
{
	my $db = database('library_' . $version =~ s/\W/_/gr, $version);
	my $functions = "pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass "
	  . "JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass "
	  . "JOIN pg_language AS l ON l.oid = prolang WHERE deptype = 'e' AND extname = 'simdup' AND lanname = 'c'";

	cmp_ok($node->safe_psql($db, "SELECT count(pg_catalog.fmgr_c_validator(p.oid)) FROM $functions AND p.probin = '\$libdir/simdup'"),
		'>', 50, "the library exports every symbol that $version names");
}
my (undef, undef, $lost) = $node->psql('fresh',
	q{CREATE FUNCTION gone() RETURNS integer AS '$libdir/simdup', 'simdup_gone' LANGUAGE C});
like($lost, qr/could not find function "simdup_gone"/, 'one that it did not export would be an error');

build_dependents($node, database('built_fresh', $current));
my $stored = stored($node, 'built_fresh');
my $answers = answers($node, 'built_fresh');
like($stored, qr/^1001\|[0-9a-f]{16}\|/m, 'there are fingerprints');

# Index and scan find the same, and the index is used.
sub scans_agree
{
	my ($db, $what) = @_;

	for (scans($node, $db))
	{
		my ($index, $by_index, $by_scan, $plan) = @$_;

		is($by_index, $by_scan, "$what: $index finds what a scan finds");
		unlike($by_index, qr/^0\|/, "$what: $index finds something");
		like($plan, qr/ on $index\b| using $index\b/, "$what: $index is used");
	}
	return;
}

# The files of tables and indexes: a rewrite or a rebuild would change them.
my $files = "SELECT oid::regclass, relfilenode FROM pg_class WHERE oid >= 16384 AND relfilenode <> 0 ORDER BY oid";

for my $version (@versions)
{
	my $db = database('built_' . $version =~ s/\W/_/gr, $version);
	my $before;

	build_dependents($node, $db);
	is(stored($node, $db), $stored, "$version: fingerprints are those of $current");
	is(answers($node, $db), $answers, "$version, new library: everything answers as $current does");
	scans_agree($db, "$version, new library");

	$before = $node->safe_psql($db, $files);
	$node->safe_psql($db, 'ALTER EXTENSION simdup UPDATE');
	is($node->safe_psql($db, "SELECT extversion FROM pg_extension WHERE extname = 'simdup'"),
		$current, "$version: updated to $current");
	is($node->safe_psql($db, $files), $before, "$version updated: no table and no index was rewritten");
	is(stored($node, $db), $stored, "$version updated: fingerprints are the same");
	is(answers($node, $db), $answers, "$version updated: everything answers as before");
	scans_agree($db, "$version updated");

	# once more is no error, and the objects that were built can be dropped
	$node->safe_psql($db, 'ALTER EXTENSION simdup UPDATE; DROP EXTENSION simdup CASCADE');
	is( $node->safe_psql($db, "SELECT count(*) FROM pg_proc WHERE probin = '\$libdir/simdup'"),
		'0', "$version updated: dropped as a whole");
}

# --- who may call simdup_attach, which the update makes anew

$node->safe_psql('postgres', 'CREATE ROLE caller; CREATE ROLE maker SUPERUSER');
for my $version (@versions)
{
	my $db = database('granted_' . $version =~ s/\W/_/gr);
	my $privileges = q{SELECT proowner::regrole, proacl, (SELECT string_agg(concat_ws(' ', deptype, refobjid::regrole), ', ' ORDER BY deptype, refobjid)
		FROM pg_shdepend AS d WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = 'pg_proc'::regclass AND d.objid = p.oid),
		(SELECT count(*) FROM pg_init_privs AS i WHERE classoid = 'pg_proc'::regclass AND i.objoid = p.oid) FROM pg_proc AS p WHERE proname = 'simdup_attach'};
	my ($before, $stderr);

	$node->safe_psql($db, "SET ROLE maker; CREATE EXTENSION simdup VERSION '$version';
		REVOKE ALL ON FUNCTION simdup_attach FROM public; GRANT EXECUTE ON FUNCTION simdup_attach TO caller WITH GRANT OPTION");
	$before = $node->safe_psql($db, $privileges);
	is($before, 'maker|{maker=X/maker,caller=X*/maker}|a caller, o maker|0', "$version: simdup_attach is granted");
	$node->safe_psql($db, 'ALTER EXTENSION simdup UPDATE');
	is($node->safe_psql($db, $privileges), $before, "$version updated: its owner and privileges are the same");
	$node->psql($db, 'DROP ROLE caller', stderr => \$stderr);
	like($stderr, qr/privileges for function simdup_attach/, "$version updated: and the server knows of them");
	$node->safe_psql($db, 'DROP OWNED BY caller; DROP EXTENSION simdup');
	is($node->safe_psql($db, q{SELECT count(*) FROM pg_shdepend WHERE classid = 'pg_proc'::regclass
		AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())}), '0', "$version updated: nothing stays behind");
}

# --- by an ordinary user, whose database it is

$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; CREATE ROLE passer_by LOGIN');
my @clerk = (extra_params => [ '-U', 'clerk' ]);
for my $version (@versions)
{
	my $db = database('clerk_' . $version =~ s/\W/_/gr, undef, 'OWNER clerk');
	my $new = database('clerk_new_' . $version =~ s/\W/_/gr, undef, 'OWNER clerk');
	my ($status, $stderr);

	$node->safe_psql($_, 'CREATE SCHEMA office', @clerk) for $db, $new;
	$node->safe_psql($new, 'CREATE EXTENSION simdup SCHEMA office', @clerk);
	$node->safe_psql($db, "CREATE EXTENSION simdup VERSION '$version' SCHEMA office", @clerk);
	$status = $node->psql($db, 'ALTER EXTENSION simdup UPDATE', stderr => \$stderr, extra_params => [ '-U', 'passer_by' ]);
	isnt($status, 0, "$version: someone else may not update");
	like($stderr, qr/must be owner of extension simdup/, "$version: and is told why");
	$node->safe_psql($db, 'ALTER EXTENSION simdup UPDATE', @clerk);
	is(differences(catalog($new), catalog($db)), '', "$version: the database's owner updates, and the catalog is that of a fresh $current");
}

$node->stop;
done_testing();

# upgrade: from this version to a next one by ALTER EXTENSION UPDATE. The next
# version is made here, in a copy of the sources, with an upgrade script in
# sql/upgrade. The upgraded catalog must be that of a fresh installation, and objects
# built on this version must stay as they are.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Dependents;
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The output of pg_config.
sub config
{
	my ($option) = @_;
	my ($stdout) = run_command([ 'pg_config', $option ]);

	return $stdout;
}

# --- a server of our own, whose extensions are a copy

my $scratch = PostgreSQL::Test::Utils::tempdir();
my $prefix = "$scratch/pg";
my $bindir = $prefix . config('--bindir');

# PostgreSQL finds its folders relative to its programs.
system_or_bail('mkdir', '-p', map { $prefix . dirname(config($_)) } '--bindir', '--sharedir', '--pkglibdir');
system_or_bail('cp', '-RL', config('--bindir'), $bindir);
system_or_bail('cp', '-Rs', config($_), $prefix . config($_)) for '--sharedir', '--pkglibdir';

# --- the next version, in a copy of the sources

my ($version) = slurp_file('simdup.control') =~ /^default_version = '(.*)'/m;
my $next = $version =~ s/(\d+)(?=\D*$)/$1 + 1/er;
my $copy = "$scratch/simdup";

# Change a file of the copy behind the pattern's match; 0 if nothing matches.
sub change
{
	my ($file, $pattern, $replacement) = @_;
	my $content = slurp_file($file);

	$content =~ s{$pattern}{($1 // '') . $replacement}e or return 0;
	unlink $file;
	append_to_file($file, $content);
	return 1;
}

# Change what one file of the install script has.
sub change_sql
{
	my ($pattern, $replacement) = @_;
	my $n = grep { change($_, $pattern, $replacement) } glob "$copy/sql/*.sql";

	die "$n files of the install script have something like $pattern" if $n != 1;
	return;
}

mkdir $copy;
system_or_bail('cp', '-r', qw(Makefile simdup.control sql src), $copy);
change("$copy/simdup.control", qr/^(default_version = ').*(?=')/m, $next);

# a comment and two functions change, one function goes, one comes
change_sql(qr/^(COMMENT ON OPERATOR <~> \(simhash64, simhash64\) IS ')[^']*/m, 'distance');
change_sql(qr/^(CREATE FUNCTION simdup_numbers\(content text[^;]* COST )100/m, '50');
change_sql(qr/^(CREATE FUNCTION simdup_hash\([^;]*)(?=;)/m, ' LEAKPROOF');
change_sql(qr/^CREATE FUNCTION simdup_icu_version\(\)[^;]*;\nCOMMENT ON FUNCTION simdup_icu_version\(\) IS\s+'[^']*';\n/m, '');
my $added = <<'SQL';
CREATE FUNCTION simdup_next(fp simhash64) RETURNS simhash64
  AS 'SELECT fp' LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION simdup_next(simhash64) IS 'what only the next version has';
SQL
append_to_file("$copy/sql/99-next.sql", $added);
mkdir "$copy/sql/upgrade";
append_to_file("$copy/sql/upgrade/simdup--$version--$next.sql", <<"SQL");
COMMENT ON OPERATOR <~> (simhash64, simhash64) IS 'distance';
ALTER FUNCTION simdup_numbers(text, text) COST 50;
CREATE OR REPLACE FUNCTION simdup_hash(content text, algorithm text DEFAULT 'city64') RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
DROP FUNCTION simdup_icu_version();
$added
SQL

# Its library is that of this version.
my $sharedir = $prefix . config('--sharedir');
unlink "$sharedir/extension/simdup.control";
system_or_bail('env', '-u', 'MAKEFLAGS', '-u', 'MAKELEVEL', 'make', '-s', '-C', $copy, 'install', 'PG_CONFIG=pg_config',
	'MODULE_big=', 'OBJS=', 'DOCS=', "datadir=$sharedir");

my $node = PostgreSQL::Test::Cluster->new('upgrade', install_path => dirname($bindir));
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# A new database with nothing but simdup, at that version.
sub database
{
	my ($db, $at, @options) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0 @options");
	$node->safe_psql($db, "CREATE EXTENSION simdup VERSION '$at'") if defined $at;
	return $db;
}

# The version that a database has.
sub version_of
{
	my ($db) = @_;

	return $node->safe_psql($db, "SELECT extversion FROM pg_extension WHERE extname = 'simdup'");
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
			elsif ($column eq 'prosqlbody')
			{
				# the tree has numbers of functions
				$shown = 'pg_get_function_sqlbody(oid)';
			}
			elsif ($column eq 'attoptions')
			{
				# the server's own number for a version of a composite type
				$shown = "regexp_replace($column\::text, 'pg_attver=[0-9]+', '')";
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

# --- the upgraded catalog is that of a fresh installation

my $fresh = catalog(database('fresh', $next));
for my $table (qw(pg_proc pg_type pg_operator pg_am pg_opclass pg_opfamily pg_amop pg_amproc pg_cast
	pg_aggregate pg_description pg_extension pg_depend))
{
	ok((grep { /^$table / } keys %$fresh), "$table has a part in the comparison");
}
database('updated', $version);
isnt(differences($fresh, catalog('updated')), '', "$version and $next differ");
$node->safe_psql('updated', 'ALTER EXTENSION simdup UPDATE');
is(version_of('updated'), $next, "updated to $next");
is(differences($fresh, catalog('updated')), '', "the catalog is that of a fresh $next");

# The comparison sees every kind of change that an update script could make or omit.
for my $change (
	'ALTER FUNCTION simhash_within(simhash64, simhash64, integer) COST 7',
	'ALTER FUNCTION simdup_hash(text, text) VOLATILE',
	'ALTER FUNCTION simdup_hash(text, text) SET work_mem = 64',
	"COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS 'another'",
	'COMMENT ON OPERATOR <~> (simhash64, simhash64) IS NULL',
	'REVOKE EXECUTE ON FUNCTION simdup_report FROM PUBLIC',
	'ALTER EXTENSION simdup DROP FUNCTION simdup_tune',
	'ALTER OPERATOR < (simhash64, simhash64) SET (RESTRICT = scalarlesel)',
	'ALTER OPERATOR FAMILY simhash64_hash_ops USING hash DROP FUNCTION 2 (simhash64)',
	'ALTER TYPE simhash64 SET (TYPMOD_IN = NONE, RECEIVE = NONE)',
	'ALTER EXTENSION simdup DROP CAST (simhash64 AS bytea); DROP CAST (simhash64 AS bytea)',
	'CREATE CAST (simhash64 AS varbit) WITH INOUT',
	"CREATE OR REPLACE FUNCTION simdup_hash(content text, algorithm text DEFAULT 'java') RETURNS bigint "
	  . q{AS '$libdir/simdup' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE},
	q{CREATE FUNCTION simdup_extra() RETURNS integer LANGUAGE sql AS 'SELECT 1'})
{
	isnt(differences($fresh, catalog('fresh', $change)), '', "seen: $change");
}
is(differences($fresh, catalog('fresh')), '', 'and nothing is seen where nothing changed');

# --- objects built on this version stay as they are

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
my $files = 'SELECT oid::regclass, relfilenode FROM pg_class WHERE oid >= 16384 AND relfilenode <> 0 ORDER BY oid';

build_dependents($node, database('built', $version));
my %before = (stored => stored($node, 'built'), answers => answers($node, 'built'), files => $node->safe_psql('built', $files));
$node->safe_psql('built', 'ALTER EXTENSION simdup UPDATE');
is(version_of('built'), $next, 'a database that uses simdup is updated');
is($node->safe_psql('built', $files), $before{files}, 'no table and no index is rewritten');
is(stored($node, 'built'), $before{stored}, 'fingerprints are the same');
is(answers($node, 'built'), $before{answers}, 'everything answers as before');
scans_agree('built', 'updated');
$node->safe_psql('built', 'ALTER EXTENSION simdup UPDATE; DROP EXTENSION simdup CASCADE');
is($node->safe_psql('built', q{SELECT count(*) FROM pg_proc WHERE probin = '$libdir/simdup'}), '0', 'updated, it is dropped as a whole');

# --- by an ordinary user, whose database it is

$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; CREATE ROLE passer_by LOGIN');
my @clerk = (extra_params => [ '-U', 'clerk' ]);
database($_, undef, 'OWNER clerk') for 'clerk_new', 'clerk_updated';
$node->safe_psql($_, 'CREATE SCHEMA office', @clerk) for 'clerk_new', 'clerk_updated';
$node->safe_psql('clerk_new', 'CREATE EXTENSION simdup SCHEMA office', @clerk);
$node->safe_psql('clerk_updated', "CREATE EXTENSION simdup VERSION '$version' SCHEMA office", @clerk);
my $status = $node->psql('clerk_updated', 'ALTER EXTENSION simdup UPDATE', stderr => \my $refused, extra_params => [ '-U', 'passer_by' ]);
isnt($status, 0, 'another role cannot update');
like($refused, qr/must be owner of extension simdup/, 'and is told why');
$node->safe_psql('clerk_updated', 'ALTER EXTENSION simdup UPDATE', @clerk);
is(differences(catalog('clerk_new'), catalog('clerk_updated')), '', "the database's owner updates, and the catalog is that of a fresh $next");

$node->stop;
done_testing();

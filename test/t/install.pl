# install: beside other extensions, in hostile schemas, by ordinary users,
# under another name of its schema, dumped and restored, and gone without a trace.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('install');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;

# Whether the server could install an extension.
sub available
{
	my ($extension) = @_;

	return $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'");
}

# Run a script; the exit status and what went to stderr.
sub try_sql
{
	my ($db, $sql, %params) = @_;
	my ($stdout, $stderr);
	my $status = $node->psql($db, $sql, stdout => \$stdout, stderr => \$stderr, %params);

	return ($status, $stdout, $stderr);
}

# The script runs through.
sub runs
{
	my ($db, $sql, $name, %params) = @_;
	my ($status, undef, $stderr) = try_sql($db, $sql, on_error_stop => 1, %params);

	ok($status == 0, $name) or diag($stderr);
	return;
}

# The answer of a script, for a test of its own. If it stops, show why.
sub answer
{
	my ($db, $sql) = @_;
	my ($status, $stdout, $stderr) = try_sql($db, $sql, on_error_stop => 1);

	diag($stderr) if $status != 0;
	return $stdout;
}

# --- beside other extensions, in one schema

# Each extension and simdup must work with all of them in the path.
my $use = <<'SQL';
SET search_path = together;
CREATE TABLE t (id integer PRIMARY KEY, fp simhash64, body text);
INSERT INTO t
  SELECT i, ('x' || substr(md5(i::text), 1, 16))::bit(64)::simhash64, 'petition ' || i
  FROM generate_series(1, 100) AS i;
CREATE INDEX ON t (fp);
CREATE INDEX ON t USING hash (fp);
CREATE INDEX ON t USING gin (simhash_blocks(fp));
SELECT count(*) FROM t WHERE fp <~> '0000000000000000' <= 64;
SELECT count(*) FROM t AS a, t AS b
  WHERE simhash_blocks(a.fp) && simhash_blocks(b.fp) AND a.fp <~> b.fp = 0;
SELECT count(*) FROM t WHERE fp = '0000000000000000' OR fp < 'ffffffffffffffff';
SELECT simhash_distance('0000000000000000', '0000000000000007');
CREATE INDEX ON t USING hamming (body);
SET enable_seqscan = off;
SELECT id FROM t WHERE simdup_resembles(body, 'PETITION 7', 1) AND body <~@ simhash_ball(minhash64('Petition 7'), 0);
SELECT id FROM t ORDER BY body <~~> 'petition 8' LIMIT 1;
SQL
my $answers = "100\n100\n100\n3\n7\n8";

my %others = (
	pg_trgm => "SELECT 'word' % 'words', similarity('word', 'word')",
	intarray => "SELECT '{1,2}'::int[] && '{2,3}'::int[], icount('{1,2}')",
	hstore => "SELECT ('a=>1'::hstore) -> 'a', 'a=>1'::hstore ? 'a'",
	btree_gin => "CREATE INDEX ON t USING gin (id); SELECT 1",
	fuzzystrmatch => "SELECT levenshtein('petition', 'petitions')",
	pg_similarity => "SELECT lev('petition', 'petition'), 'a b' ~== 'a b'",
	vector => "SELECT '[1,2]'::vector <-> '[1,4]', B'1010' <~> B'1001'");
my %their_answers = (
	pg_trgm => 't|1',
	intarray => 't|2',
	hstore => '1|t',
	btree_gin => '1',
	fuzzystrmatch => '1',
	pg_similarity => '1|t',
	vector => '2|2');

for my $other (sort keys %others)
{
	SKIP:
	{
		# Debian packages of their own; the rest is PostgreSQL's contrib
		skip "$other is not installed on this machine", 2 unless available($other);

		for my $order ([ $other, 'simdup' ], [ 'simdup', $other ])
		{
			my $db = "beside_${other}_$order->[0]";
			my $create = join(' ', map { "CREATE EXTENSION $_ SCHEMA together;" } @$order);

			$node->safe_psql('postgres', "CREATE DATABASE $db");
			my $stdout = answer($db, "CREATE SCHEMA together; $create\n$use\n$others{$other};");
			is($stdout, "$answers\n$their_answers{$other}", "@$order in one schema");
			$node->safe_psql('postgres', "DROP DATABASE $db");
		}
	}
}

for my $order ([ 'simdup', sort keys %others ], [ (sort keys %others), 'simdup' ])
{
	my @installed = grep { available($_) } @$order;
	my @theirs = grep { $_ ne 'simdup' } @installed;

	$node->safe_psql('postgres', 'CREATE DATABASE together');
	my $stdout = answer('together',
		'CREATE SCHEMA together; '
		  . join(' ', map { "CREATE EXTENSION $_ SCHEMA together;" } @installed)
		  . "\n$use\n"
		  . join('', map { "$others{$_};\n" } @theirs));
	is($stdout, join("\n", $answers, map { $their_answers{$_} } @theirs), "@installed in one schema");
	$node->safe_psql('postgres', 'DROP DATABASE together');
}

# --- a hostile schema: an object of one of our names and argument types makes
# CREATE EXTENSION fail; none is taken over (CVE-2020-14350)

$node->safe_psql('postgres', 'CREATE DATABASE hostile');
$node->safe_psql('hostile', 'CREATE EXTENSION simdup');
my @signatures = split /\n/, $node->safe_psql('hostile', <<'SQL');
SELECT format('%I(%s)', proname, oidvectortypes(proargtypes))
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
  JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE d.deptype = 'e' AND extname = 'simdup'
  AND NOT EXISTS (SELECT FROM unnest(proargtypes) AS a (type) JOIN pg_type AS t ON t.oid = a.type
                  WHERE typnamespace <> 'pg_catalog'::regnamespace)
ORDER BY 1;
SQL
my @types = split /\n/, $node->safe_psql('hostile', <<'SQL');
SELECT quote_ident(typname)
FROM pg_type AS t JOIN pg_depend AS d ON d.objid = t.oid AND d.classid = 'pg_type'::regclass
  JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE d.deptype = 'e' AND extname = 'simdup' AND typcategory <> 'A'
ORDER BY 1;
SQL
$node->safe_psql('hostile', 'DROP EXTENSION simdup');
cmp_ok(scalar(@signatures), '>', 5, 'there are functions to stand in the way');

my @taken_over;
for my $obstacle (
	(map { "FUNCTION trap.$_ RETURNS bigint LANGUAGE internal AS 'pg_backend_pid'" } @signatures),
	(map { "TYPE trap.$_ AS (a integer)" } @types),
	(map { "DOMAIN trap.$_ AS bigint" } @types))
{
	my ($status, undef, $stderr) = try_sql('hostile',
		"CREATE SCHEMA trap; CREATE $obstacle;", on_error_stop => 1);

	die "cannot set up $obstacle: $stderr" if $status != 0;
	($status, undef, $stderr) = try_sql('hostile', 'CREATE EXTENSION simdup SCHEMA trap', on_error_stop => 1);
	push @taken_over, "$obstacle: $stderr" if $status == 0 || $stderr !~ /already exists|is not only a shell/;
	$node->safe_psql('hostile', 'DROP EXTENSION IF EXISTS simdup CASCADE; DROP SCHEMA trap CASCADE');
}
is(join("\n", @taken_over), '', 'no object in the schema is taken over');

# Someone else's functions and operators in the schema and in the path are not
# called by the install script either.
runs('hostile', <<'SQL', 'hostile operators and functions in the schema change nothing');
CREATE SCHEMA trap;
CREATE FUNCTION trap.boom(simple anyelement, other anyelement) RETURNS boolean
  LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE OPERATOR trap.= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = trap.boom);
CREATE FUNCTION trap.eqsel(internal, oid, internal, integer) RETURNS float8
  LANGUAGE internal AS 'pg_backend_pid';
CREATE FUNCTION trap.btequalimage(oid) RETURNS boolean LANGUAGE internal AS 'pg_backend_pid';
SET search_path = trap, pg_catalog;
CREATE EXTENSION simdup SCHEMA trap;
SQL
is( $node->safe_psql('hostile', <<'SQL'),
SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e ON d.objid = any (
  SELECT m.objid FROM pg_depend AS m WHERE m.refobjid = e.oid AND m.deptype = 'e')
WHERE extname = 'simdup' AND d.refobjid IN (
  SELECT oid FROM pg_proc WHERE pronamespace = 'trap'::regnamespace AND proname IN ('boom', 'eqsel', 'btequalimage'));
SQL
	'0', 'no member depends on what stood there');

# Those that would be bound in place of the catalogs' own stop the installation.
my @better = (
	"FUNCTION trap.jsonb_build_object(text, jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''{}''::jsonb'",
	"FUNCTION trap.jsonb_build_object(text, jsonb, text, jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''{}''::jsonb'",
	"FUNCTION trap.jsonb_build_array(text) RETURNS jsonb LANGUAGE sql AS 'SELECT ''[]''::jsonb'");
for my $better (@better)
{
	$node->safe_psql('hostile', "DROP EXTENSION simdup; DROP SCHEMA trap CASCADE; CREATE SCHEMA trap; CREATE $better");
	(undef, undef, my $stderr) = try_sql('hostile', 'CREATE EXTENSION simdup SCHEMA trap', on_error_stop => 1);
	like($stderr, qr/would shadow a catalog function: function /, "refused: $better");
	$node->safe_psql('hostile', 'CREATE EXTENSION simdup');
}

# --- an ordinary user who may create in the database installs, uses, drops

$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; CREATE DATABASE trusted');
my (undef, undef, $stderr) = try_sql('trusted', 'CREATE EXTENSION simdup', extra_params => [ '-U', 'clerk' ]);
like($stderr, qr/permission denied/, 'without CREATE on the database: permission denied');
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE trusted TO clerk');
runs('trusted', <<'SQL', 'with it, it can be installed', extra_params => [ '-U', 'clerk' ]);
CREATE SCHEMA office;
CREATE EXTENSION simdup SCHEMA office;
SET search_path = office;
CREATE TABLE t (fp simhash64 PRIMARY KEY);
INSERT INTO t VALUES ('0123456789abcdef');
CREATE INDEX ON t USING gin (simhash_blocks(fp));
SELECT fp <~> 'ffffffffffffffff' FROM t;
DROP TABLE t;
DROP EXTENSION simdup;
SQL

# --- nothing is left of a dropped extension

my @catalogs = qw(pg_proc pg_type pg_operator pg_opclass pg_opfamily pg_amop pg_amproc
  pg_cast pg_aggregate pg_class pg_description pg_depend pg_shdepend pg_init_privs pg_trigger
  pg_ts_parser);
my $snapshot = join(' UNION ALL ', map {
	"(SELECT '$_', md5(string_agg(c::text, E'\\n' ORDER BY c::text)) FROM $_ AS c)" } @catalogs) . ' ORDER BY 1';
$node->safe_psql('postgres', 'CREATE DATABASE traces');
my $before = $node->safe_psql('traces', $snapshot);
$node->safe_psql('traces', 'CREATE EXTENSION simdup');
isnt($node->safe_psql('traces', $snapshot), $before, 'an installed extension is seen in the catalogs');
$node->safe_psql('traces', 'DROP EXTENSION simdup');
is($node->safe_psql('traces', $snapshot), $before, 'a dropped one is not');

# --- relocation, with everything that was built on it still standing

# Objects on top of the extension, all names qualified with $schema.
sub petitions
{
	my ($db, $schema) = @_;
	my $has_simhash = $node->safe_psql($db, <<"SQL");
SELECT count(*) FROM pg_proc WHERE pronamespace = '$schema'::regnamespace
  AND proname = 'simhash' AND proargtypes[0] = 'text'::regtype
SQL
	my $fp = $has_simhash ? "GENERATED ALWAYS AS ($schema.simhash(body)) STORED" : '';

	return <<"SQL";
SET search_path = '';
CREATE TABLE public.petition (
  id integer PRIMARY KEY,
  body text,
  code $schema.simhash64 DEFAULT '0123456789abcdef' CHECK (code OPERATOR($schema.<~>) '0123456789abcdef' < 65),
  fp $schema.simhash64 $fp);
INSERT INTO public.petition (id, body, code)
  SELECT i, 'petition number ' || i || ' ' || md5(i::text),
         ('x' || substr(md5(i::text), 1, 16))::bit(64)::$schema.simhash64
  FROM generate_series(1, 100) AS i;
CREATE INDEX petition_btree ON public.petition (code);
CREATE INDEX petition_hash ON public.petition USING hash (code);
CREATE INDEX petition_blocks ON public.petition USING gin ($schema.simhash_blocks(code));
CREATE INDEX petition_near ON public.petition (id) WHERE code OPERATOR($schema.<~>) '0000000000000000' < 30;
CREATE VIEW public.near AS
  SELECT a.id AS a, b.id AS b, a.code OPERATOR($schema.<~>) b.code AS distance
  FROM public.petition AS a JOIN public.petition AS b ON a.id < b.id
  WHERE $schema.simhash_distance(a.code, b.code) < 20;
CREATE MATERIALIZED VIEW public.codes AS SELECT code, count(*) AS n FROM public.petition GROUP BY code;
CREATE UNIQUE INDEX codes_key ON public.codes (code);
CREATE VIEW public.petition_source AS SELECT id AS key, body AS content FROM public.petition;
SQL
}

# The answers of the petitions, at any search_path.
sub petition_answers
{
	my ($db) = @_;

	return $node->safe_psql($db, <<'SQL');
SELECT count(*), md5(string_agg(concat(id, body, code, fp), ',' ORDER BY id)) FROM public.petition;
SELECT count(*), sum(distance) FROM public.near;
SELECT count(*), min(code::text) FROM public.codes;
INSERT INTO public.petition (id, body) VALUES (1000, 'one more');
SELECT code IS NOT NULL FROM public.petition WHERE id = 1000;
DELETE FROM public.petition WHERE id = 1000;
REFRESH MATERIALIZED VIEW public.codes;
REINDEX TABLE public.petition;
ANALYZE public.petition;
SQL
}

$node->safe_psql('postgres', 'CREATE DATABASE moved');
$node->safe_psql('moved', <<'SQL');
-- version 19 lacks the setting
DO $$ BEGIN SET standard_conforming_strings = off; EXCEPTION WHEN OTHERS THEN NULL; END $$;
CREATE SCHEMA ext;
CREATE EXTENSION simdup SCHEMA ext;
SQL
is(answer('moved', q{SELECT ext.simdup_report_start('one two three', 9)}), 'one two ...', 'installed with backslashes as escapes');
runs('moved', petitions('moved', 'ext'), 'objects on top of the extension');
my $answered = petition_answers('moved');
(undef, undef, $stderr) = try_sql('moved', 'ALTER EXTENSION simdup SET SCHEMA public');
like($stderr, qr/extension "simdup" does not support SET SCHEMA/, 'it stays in its schema');

# Functions in PL/pgSQL have the schema's name. Those bound to their objects have not.
my $grouped = <<'SQL';
SET search_path = '';
SELECT count(*) FROM %1$s.simdup_regroup('public.petition_case', true);
SQL
my $bound = q{SELECT %1$s.simdup_report_start('one two three', 9)};
runs('moved', q{SET search_path = ext; SELECT simdup_group('public.petition_case', 'public.petition_source')}, 'a grouping');
my $expected = answer('moved', sprintf $grouped, 'ext');
cmp_ok($expected, '>', 0, 'and its rows, with an empty path');
runs('moved', 'ALTER SCHEMA ext RENAME TO "Other Place"', 'ALTER SCHEMA RENAME');
is(petition_answers('moved'), $answered, 'everything answers as before');
is(answer('moved', sprintf $bound, '"Other Place"'), 'one two ...', 'a function that is bound');
(undef, undef, $stderr) = try_sql('moved', sprintf $grouped, '"Other Place"');
like($stderr, qr/ERROR:  schema "ext" does not exist/, 'not one in PL/pgSQL');
runs('moved', 'ALTER SCHEMA "Other Place" RENAME TO ext', 'renamed back');
is(answer('moved', sprintf $grouped, 'ext'), $expected, 'it answers again');
runs('moved', 'ALTER SCHEMA ext RENAME TO "Other Place"', 'renamed again');
is( $node->safe_psql('moved', <<'SQL'),
SET search_path = '';
SET enable_seqscan = off;
SELECT id FROM public.petition
WHERE "Other Place".simhash_blocks(code) OPERATOR(pg_catalog.&&)
        "Other Place".simhash_blocks((SELECT code FROM public.petition WHERE id = 7))
  AND code OPERATOR("Other Place".<~>) (SELECT code FROM public.petition WHERE id = 7) = 0;
SQL
	'7', 'the index is found under the new name');

# --- dump and restore: the dump runs with an empty path

for my $format ('plain', 'custom')
{
	my $dump = $node->basedir . "/$format.dump";
	my $db = "restored_$format";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-d', 'moved', '-F', $format, '-f', $dump ], "dump, $format");
	if ($format eq 'plain')
	{
		$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $db, '-f', $dump ], 'restore, plain');
	}
	else
	{
		$node->command_ok([ 'pg_restore', '-e', '-j', '2', '-d', $db, $dump ], 'restore, custom');
	}
	is(petition_answers($db), $answered, "what was restored answers as before, $format");
}

$node->stop;
done_testing();

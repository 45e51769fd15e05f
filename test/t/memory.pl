# memory: a session that calls every function again and again does not grow.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Statements;
use Test::More;

my $node = Statements::new_node('memory');
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;
$node->safe_psql('postgres', "CREATE EXTENSION simdup; $Statements::setup");

my @statements = (@Statements::small, @Statements::other);
push @statements, $Statements::icu if $node->safe_psql('postgres', 'SELECT simdup_icu_version() IS NOT NULL') eq 't';

# --- all of them are called. Functions of types that only C knows are called by
# what uses them, and others by functions in SQL and PL/pgSQL.

my $every = join ' ', @statements, @Statements::making, $Statements::setup, $node->safe_psql('postgres', <<'SQL');
SELECT string_agg(coalesce(pg_get_function_sqlbody(p.oid), prosrc), ' ')
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
  JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
  JOIN pg_language AS l ON l.oid = prolang
WHERE d.deptype = 'e' AND extname = 'simdup' AND lanname IN ('sql', 'plpgsql')
SQL
my @missing = grep { $every !~ /\b\Q$_\E\b/ } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT DISTINCT proname
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
  JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE d.deptype = 'e' AND extname = 'simdup'
  AND NOT prorettype || proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[]
  AND NOT EXISTS (SELECT FROM pg_operator WHERE oprcode = p.oid)
  AND NOT EXISTS (SELECT FROM pg_cast WHERE castfunc = p.oid)
  AND NOT EXISTS (SELECT FROM pg_amproc WHERE amproc = p.oid)
  AND NOT EXISTS (SELECT FROM pg_type WHERE p.oid IN (typinput, typoutput, typreceive, typsend))
ORDER BY 1;
SQL
is("@missing", '', 'every function is called');
isnt($node->safe_psql('postgres', "BEGIN; $_; ROLLBACK"), '', "answers: $_") for @Statements::making;

# --- again and again, each time in a transaction of its own

# Name and used bytes of the contexts that outlive a transaction, and their sum. Not
# their blocks: these double, so that one byte more may count as a megabyte. The
# server's table of open relations only doubles, now and then.
my $held = <<'SQL';
SELECT 'held', name, bytes FROM (
  SELECT name, sum(used_bytes) AS bytes FROM pg_backend_memory_contexts
  WHERE name IN ('TopMemoryContext', 'CacheMemoryContext') OR name LIKE 'simdup%' GROUP BY name
  UNION ALL SELECT 'total', sum(used_bytes) FROM pg_backend_memory_contexts WHERE name <> 'smgr relation table') AS c
ORDER BY name;
SQL
sub rounds
{
	my ($n) = @_;

	return join "\n", map { "BEGIN; $_; ROLLBACK;" } map { @statements } 1 .. $n;
}

# The first rounds fill the caches; from the sixth on, plans may be generic. A leak
# grows in each span of rounds, a cache or a hash table of the server in some.
my ($n_spans, $n_rounds) = (5, 8);
my $out = $node->safe_psql('postgres', rounds(8) . $held . (rounds($n_rounds) . $held) x $n_spans);
my @held;
for (split /\n/, $out)
{
	next unless /^held\|(.*)\|(\d+)$/;
	push @held, {} if !@held || exists $held[-1]{$1};
	$held[-1]{$1} = $2;
}
is(scalar @held, $n_spans + 1, 'measured after each span of rounds');
is(join(' ', sort keys %{ $held[-1] }), join(' ', sort keys %{ $held[0] }), 'the same contexts before and after');
for my $name (sort keys %{ $held[0] })
{
	my @bytes = map { $_->{$name} } @held;
	my @growth = sort { $a <=> $b } map { $bytes[$_] - $bytes[ $_ - 1 ] } 1 .. $n_spans;

	# less than a byte a call, which no leak is
	cmp_ok($growth[0], '<', $n_rounds * @statements, "$name stays level in a span of rounds (@bytes bytes)");
}

# --- one statement of many rows, each checked by an exclusion constraint. A
# trigger tells the statement's memory at its end.

my @used = split /\n/, $node->safe_psql('postgres', <<'SQL');
CREATE TABLE kept (fp simhash64, EXCLUDE USING hamming (simhash_ball(fp, 2) WITH ~=));
CREATE TABLE used (bytes bigint);
CREATE FUNCTION use() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO used SELECT sum(used_bytes) FROM pg_backend_memory_contexts;
  RETURN NULL;
END $$;
CREATE TRIGGER use AFTER INSERT ON kept FOR EACH STATEMENT EXECUTE FUNCTION use();
INSERT INTO kept SELECT hashint8extended(i, 1)::simhash64 FROM generate_series(1, 100) AS i;
INSERT INTO kept SELECT hashint8extended(i, 1)::simhash64 FROM generate_series(101, 5000) AS i ON CONFLICT DO NOTHING;
SELECT bytes FROM used ORDER BY bytes;
SQL
cmp_ok($used[1] - $used[0], '<', 4900 * 500, "an exclusion check keeps no memory (@used bytes)");

$node->stop;
done_testing();

# join_rights: the join node shows nobody a row that is hidden from him. It takes no
# function or operator for the extension's own by its name. It joins wherever a statement
# stands: views, row security, foreign tables, tables made from it, loops, savepoints.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(has_node said);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('join_rights');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
enable_indexscan = off
enable_bitmapscan = off
max_worker_processes = 12
min_parallel_table_scan_size = 0
CONF
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

my $off = 'SET simdup.enable_join = off; RESET enable_nestloop; SET enable_nestloop = on;';

# Compare the answers of a script with and without the node. The rows come in any order.
sub agree
{
	my ($script, $name, @params) = @_;
	my $by_node = join "\n", sort split /\n/, said($node, $script, @params);
	my $by_loop = join "\n", sort split /\n/, said($node, "$off $script", @params);

	isnt($by_node, '', "$name: it answers");
	return is($by_node, $by_loop, "$name: the answer is that of a nested loop");
}

sql(<<'SQL');
CREATE SCHEMA ext;
CREATE EXTENSION simdup SCHEMA ext;
CREATE ROLE clerk LOGIN;
CREATE ROLE other LOGIN;
GRANT USAGE ON SCHEMA ext TO clerk;
ALTER ROLE clerk SET search_path = public, ext;
ALTER DATABASE postgres SET search_path = public, ext;
SET search_path = public, ext;
CREATE TABLE letter (id int, owner name, scope int, fp simhash64, content text);
INSERT INTO letter
  SELECT i, CASE WHEN i % 3 = 0 THEN 'other' ELSE 'clerk' END, i % 4,
    CASE WHEN i % 11 > 0 THEN (hashint8extended(i % 7, 1) # (1::bigint << (i % 60)))::simhash64 END,
    format('letter %s about the lamp in lane %s', i % 5, i % 7)
  FROM generate_series(1, 90) AS i;
CREATE TABLE known (LIKE letter);
INSERT INTO known SELECT id + 1000, owner, scope, fp, content FROM letter WHERE id % 2 = 0;
GRANT ALL ON letter, known TO clerk;
ANALYZE;
-- cheap functions that tell what they see
CREATE FUNCTION tell(a int, b int) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0001 AS $$
BEGIN RAISE NOTICE 'seen % %', a, b; RETURN true; END $$;
CREATE FUNCTION tell(a int) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0001 AS $$
BEGIN RAISE NOTICE 'seen %', a; RETURN true; END $$;
CREATE FUNCTION tell(id int, fp simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$
BEGIN RAISE NOTICE 'seen %', id; RETURN fp; END $$;
CREATE FUNCTION tell(id int, content text) RETURNS text LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$
BEGIN RAISE NOTICE 'seen %', id; RETURN content; END $$;
SQL

# --- rows that are hidden by a policy or behind a security barrier

sql(<<'SQL');
CREATE VIEW shown_letter WITH (security_barrier) AS SELECT * FROM letter WHERE id % 3 > 0;
CREATE VIEW shown_known WITH (security_barrier) AS SELECT * FROM known WHERE id % 3 > 0;
GRANT SELECT ON shown_letter, shown_known TO clerk;
SQL
my @hidden = (
	'SELECT count(*) FROM %s a JOIN %s b ON a.id <> b.id AND simhash_within(a.fp, b.fp, 8) AND tell(a.id, b.id)',
	'SELECT count(*) FROM %s a JOIN %s b ON simhash_within(a.fp, b.fp, 8) WHERE tell(a.id) AND tell(b.id)',
	'SELECT count(*) FROM %s a JOIN %s b ON a.scope = b.scope AND simhash_within(tell(a.id, a.fp), tell(b.id, b.fp), 8)',
	'SELECT count(*) FROM %s a LEFT JOIN %s b ON a.fp <~> b.fp <= 8 AND tell(a.id, b.id)',
	'SELECT count(*) FROM %s a LEFT JOIN %s b ON a.fp <~> b.fp <= 8 WHERE coalesce(tell(a.id, b.id), true)',
	'SELECT count(*) FROM %s a WHERE EXISTS (SELECT FROM %s b WHERE tell(a.id, b.id) AND a.fp <@ simhash_ball(b.fp, 8))',
	'SELECT count(*) FROM %s a WHERE NOT EXISTS (SELECT FROM %s b WHERE tell(a.id, b.id) AND a.fp <@ simhash_ball(b.fp, 8))',
	'SELECT count(*) FROM %s a JOIN %s b ON simdup_resembles(tell(a.id, a.content), b.content, 0.8) AND tell(b.id)',
	'SELECT count(*) FROM %s a JOIN %s b ON tell(a.id, b.id) AND shingle_resemblance(tell(a.id, a.content), tell(b.id, b.content)) >= 0.8');
sub hides
{
	my ($left, $right) = @_;

	for my $statement (@hidden)
	{
		my $sql = sprintf $statement, $left, $right;
		my $plan = said($node, "EXPLAIN (COSTS OFF) $sql", extra_params => [ '-U', 'clerk' ]);

		ok(has_node($plan), "by the node: $sql") or diag($plan);
		my $seen = said($node, $sql, extra_params => [ '-U', 'clerk' ]);
		my @numbers = map { split / / } $seen =~ /seen ([\d ]+)/g;

		cmp_ok(scalar @numbers, '>', 20, 'it tells what it sees');
		is(join(' ', grep { ($_ > 1000 && $right !~ /shown/ ? $_ - 1000 : $_) % 3 == 0 } @numbers), '', 'no hidden row is among it');
		is($seen =~ s/^NOTICE.*\n?//mgr, said($node, "$off $sql", extra_params => [ '-U', 'clerk' ]) =~ s/^NOTICE.*\n?//mgr, 'the answer is that of a nested loop');
	}
	return;
}
hides('shown_letter', 'shown_known');
hides('shown_letter', 'shown_letter');
sql(<<'SQL');
ALTER TABLE letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE known ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON letter USING (owner = current_user);
CREATE POLICY own ON known USING (owner = current_user);
SQL
hides('letter', 'known');
hides('letter', 'letter');
# a plan that was made for one role is not another's
is( sql(<<'SQL'),
GRANT ALL ON letter TO other;
GRANT USAGE ON SCHEMA ext TO other;
PREPARE pairs AS SELECT count(*) > 0, min(a.owner), max(b.owner) FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8);
EXECUTE pairs;
SET ROLE clerk;
EXECUTE pairs;
SET ROLE other;
EXECUTE pairs;
SQL
	"t|clerk|other\nt|clerk|clerk\nt|other|other", 'a prepared join by two roles');
sql('ALTER TABLE letter DISABLE ROW LEVEL SECURITY; ALTER TABLE known DISABLE ROW LEVEL SECURITY');

# a column that the user may not read is not read by a condition either
sql('CREATE TABLE secret AS SELECT id, fp FROM letter; GRANT SELECT (id) ON secret TO clerk');
like(said($node, 'SELECT a.id FROM secret a JOIN letter b ON simhash_within(a.fp, b.fp, 3)', extra_params => [ '-U', 'clerk' ]), qr/permission denied for table secret/, 'a column without SELECT');

# filters run in the order of their cost, so that a cheap one keeps out rows on which another fails
agree(<<'SQL', 'a dear filter comes last');
CREATE OR REPLACE FUNCTION pg_temp.dear(a int, b int) RETURNS boolean LANGUAGE plpgsql COST 10000 AS $$
BEGIN RETURN 1 / (a - b) IS NOT NULL; END $$;
SELECT count(*) FROM letter a JOIN letter b ON pg_temp.dear(a.id, b.id) AND simhash_within(a.fp, b.fp, 3) AND a.id <> b.id;
SQL

# --- look-alikes

sql(<<'SQL');
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO clerk;
SET search_path = evil, public, ext;
CREATE FUNCTION evil.simhash_within(a simhash64, b simhash64, k int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN a <> b; END $$;
CREATE FUNCTION evil.simdup_resembles(a text, b text, r float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN a <> b; END $$;
CREATE FUNCTION evil.shingle_resemblance(a text, b text, w int, unit text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN (a <> b)::int; END $$;
CREATE FUNCTION evil.shingle_resemblance(a text, b text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN (a <> b)::int; END $$;
CREATE FUNCTION evil.distance(a simhash64, b simhash64) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN CASE WHEN a = b THEN 60 ELSE 0 END; END $$;
CREATE OPERATOR evil.<~> (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = evil.distance, COMMUTATOR = OPERATOR(evil.<~>));
CREATE FUNCTION evil.inside(a simhash64, b simhash_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN NOT a OPERATOR(ext.<@) b; END $$;
CREATE OPERATOR evil.<@ (LEFTARG = simhash64, RIGHTARG = simhash_ball, FUNCTION = evil.inside);
CREATE FUNCTION evil.simhash_ball(a simhash64, k int) RETURNS simhash_ball LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN ext.simhash_ball((~a::bigint)::simhash64, 63 - k); END $$;
CREATE FUNCTION evil.more(a int, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN a OPERATOR(pg_catalog.>) b; END $$;
CREATE OPERATOR evil.<= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.more);
CREATE FUNCTION evil.less(a float8, b float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN a OPERATOR(pg_catalog.<) b; END $$;
CREATE OPERATOR evil.>= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = evil.less);
CREATE FUNCTION evil.differ(a int, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN a <> b; END $$;
CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.differ);
SQL
my $evil = 'SET search_path = evil, pg_catalog, public, ext;';
for my $condition (
	'evil.simhash_within(a.fp, b.fp, 3)', 'simhash_within(a.fp, b.fp, 3)', 'a.fp <~> b.fp OPERATOR(pg_catalog.<=) 3', 'a.fp OPERATOR(ext.<~>) b.fp <= 3', 'a.fp <@ ext.simhash_ball(b.fp, 3)',
	'a.fp OPERATOR(ext.<@) evil.simhash_ball(b.fp, 3)', 'simdup_resembles(a.content, b.content, 0.8)', 'shingle_resemblance(a.content, b.content) OPERATOR(pg_catalog.>=) 0.8',
	'shingle_resemblance(a.content, b.content, 3, $$char$$) OPERATOR(pg_catalog.>=) 0.8', 'ext.shingle_resemblance(a.content, b.content) >= 0.8')
{
	my $sql = "SELECT count(*), sum(a.id * b.id) FROM letter a JOIN letter b ON a.id <> b.id AND $condition";

	unlike(said($node, "$evil EXPLAIN (COSTS OFF) $sql"), qr/Custom Scan|ERROR/, "not taken for the extension's own: $condition");
	agree("$evil $sql", $condition);
}
# the rest of the condition may be anybody's
agree("$evil SELECT a.id, b.id FROM letter a JOIN letter b ON ext.simhash_within(a.fp, b.fp, 3) AND a.scope = b.scope", 'an equality that is none');
like(said($node, "$evil EXPLAIN (COSTS OFF) SELECT FROM letter a JOIN letter b ON ext.simhash_within(a.fp, b.fp, 3)"), qr/Hamming Cond: .*ext\.simhash_within/, "the extension's own, by its schema");
agree('SET search_path = pg_catalog; SELECT a.id, b.id FROM public.letter a JOIN public.letter b ON ext.simhash_within(a.fp, b.fp, 3) AND a.id < b.id', 'without the schema in the path');

# in SQL: whether a query is joined by the node
my $by_node = <<'SQL';
CREATE FUNCTION by_node(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text; found boolean := false;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP found := found OR line ~ 'Custom Scan'; END LOOP;
  RETURN found;
END $$;
SQL
# in one session, the extension is dropped and created, and its old schema's name is another's
is(sql(<<'SQL' . $by_node . <<'SQL'), "t|t\nf|80\nt|t", 'a new extension in an old session');
CREATE DATABASE again;
\c again
SET enable_nestloop = off;
SQL
CREATE TABLE t AS SELECT i, i::bigint AS fp FROM generate_series(1, 10) i;
CREATE EXTENSION simdup;
SELECT by_node('SELECT FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1)'), count(*) > 10 FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1);
DROP EXTENSION simdup;
CREATE DOMAIN simhash64 AS bigint;
CREATE FUNCTION simhash_within(simhash64, simhash64, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 - $2 NOT IN (0, 1); END $$;
SELECT by_node('SELECT FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1)'), count(*) - 1 FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1);
DROP FUNCTION simhash_within;
DROP DOMAIN simhash64;
CREATE EXTENSION simdup;
SELECT by_node('SELECT FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1)'), count(*) > 10 FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1);
SQL
# in a database without the extension, the library takes nothing for its own
is(sql(<<'SQL' . $by_node . <<'SQL'), "f|81\nf|90\nf|90", 'the library without the extension');
CREATE DATABASE bare;
\c bare
LOAD 'simdup';
SET enable_nestloop = off;
SQL
CREATE TABLE t AS SELECT i, i::bigint AS fp, i::text AS content FROM generate_series(1, 10) i;
CREATE DOMAIN simhash64 AS bigint;
CREATE FUNCTION simhash_within(simhash64, simhash64, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 - $2 NOT IN (0, 1); END $$;
CREATE FUNCTION simdup_resembles(text, text, float8, float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 <> $2; END $$;
CREATE FUNCTION shingle_resemblance(int, int, int, text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN abs($1 - $2); END $$;
SELECT by_node('SELECT FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1)'), count(*) FROM t a JOIN t b ON simhash_within(a.fp::simhash64, b.fp::simhash64, 1);
SELECT by_node('SELECT FROM t a JOIN t b ON simdup_resembles(a.content, b.content, 0.5, 0.9)'), count(*) FROM t a JOIN t b ON simdup_resembles(a.content, b.content, 0.5, 0.9);
SELECT by_node($$SELECT FROM t a JOIN t b ON shingle_resemblance(a.i, b.i, 4, 'char') >= 0.5$$), count(*) FROM t a JOIN t b ON shingle_resemblance(a.i, b.i, 4, 'char') >= 0.5;
SQL

# --- where a join stands

my $pairs = 'SELECT a.id AS a, b.id AS b FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8)';
my $digest = "count(*), sum(hashtextextended(concat(a, '-', b), 0)::numeric)";
ok(has_node(sql("EXPLAIN $pairs")), 'pairs are joined by the node');
agree("CREATE TEMP TABLE made AS $pairs; SELECT $digest FROM made", 'CREATE TABLE AS');
agree("SELECT a AS a, b AS b INTO TEMP made FROM ($pairs) x; SELECT $digest FROM made", 'SELECT INTO');
agree("BEGIN; CREATE MATERIALIZED VIEW made AS $pairs; CREATE UNIQUE INDEX ON made (a, b); INSERT INTO letter SELECT id + 500, owner, scope, fp FROM letter; REFRESH MATERIALIZED VIEW made; SELECT $digest FROM made; DELETE FROM letter WHERE id > 550; REFRESH MATERIALIZED VIEW CONCURRENTLY made; SELECT $digest FROM made; ROLLBACK", 'a materialized view');
agree("CREATE TEMP VIEW made AS $pairs; SELECT $digest FROM made; SELECT $digest FROM made WHERE a < 20 AND b > 30", 'a view');
agree("WITH x AS MATERIALIZED ($pairs), y AS NOT MATERIALIZED ($pairs) SELECT $digest FROM x JOIN y USING (a, b)", 'CTEs');
agree("WITH RECURSIVE r AS (SELECT 1 AS id UNION SELECT b.id FROM r JOIN letter a ON a.id = r.id JOIN letter b ON simhash_within(a.fp, b.fp, 3)) SELECT * FROM r", 'a recursive CTE');
agree("WITH d AS (DELETE FROM letter a USING known b WHERE simhash_within(a.fp, b.fp, 1) RETURNING a.id) SELECT count(DISTINCT id) FROM d; SELECT count(*) FROM letter" =~ s/^/BEGIN; /r . '; ROLLBACK', 'DELETE in a CTE');
agree("INSERT INTO known (id) SELECT a FROM ($pairs) x; SELECT count(*) FROM known" =~ s/^/BEGIN; /r . '; ROLLBACK', 'INSERT');
# expressions that an outer join makes NULL, of both sides of a self-join
my $computed = 'SELECT id, fp, coalesce(nullif(scope, 2), 77) AS c, 1 AS one FROM letter';
agree("SELECT r1.id, r2.id, r2.c, r2.one, r2::text FROM ($computed) r1 LEFT JOIN ($computed) r2 ON r1.id < r2.id AND r1.id > 50 AND simhash_within(r1.fp, r2.fp, 8)", 'expressions of a left join');
agree("SELECT o.i, x.* FROM generate_series(50, 120) AS o (i) LEFT JOIN (SELECT r1.id, r2.id AS other, r1.c, r2.c FROM ($computed) r1 JOIN ($computed) r2 ON r1.id < r2.id AND simhash_within(r1.fp, r2.fp, 8)) x ON o.i = x.id", 'expressions below a left join');
# outer joins that may change places
agree("SELECT a.id, b.id, c.id, c IS NULL FROM (SELECT * FROM letter WHERE id < 9) a LEFT JOIN (letter b LEFT JOIN known c ON simhash_within(b.fp, c.fp, 8)) ON a.scope = b.scope$_", "outer joins that may change places$_")
  for '', ' AND simhash_within(a.fp, b.fp, 12)';
agree(<<'SQL', 'INSERT into a partition whose trigger changes the row');
BEGIN;
CREATE TABLE pair (a int, scope_a int, b int, scope_b int) PARTITION BY LIST (b);
CREATE TABLE pair_1 PARTITION OF pair DEFAULT;
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a := NEW.a + 100; NEW.scope_b := NEW.scope_b + 1; RETURN NEW; END $$;
CREATE TRIGGER change BEFORE INSERT ON pair_1 FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO pair SELECT a.id, a.scope, b.id, b.scope FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8);
SELECT * FROM pair;
ROLLBACK;
SQL
agree("COPY ($pairs) TO STDOUT", 'COPY');
agree("SELECT array(SELECT b.id FROM letter b JOIN known c ON simhash_within(b.fp, c.fp, 2) AND b.id < a.id ORDER BY 1) FROM letter a WHERE id < 9", 'a subquery');
agree("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; $pairs UNION ALL $pairs", 'UNION ALL');

# an expression of each row may write, also if a worker compared the rows
my $workers = 'SET max_parallel_workers_per_gather = 3; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
sql(<<'SQL');
CREATE TABLE written (a int, b int);
CREATE INDEX ON written (a, b);
CREATE FUNCTION write(a int, b int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written VALUES (a, b); RETURN true; END $$;
CREATE TABLE more AS SELECT i AS id, (hashint8extended(i / 2, 1) # (i % 2))::simhash64 AS fp, i % 100 AS scope, repeat('x', 200) AS pad FROM generate_series(1, 20000) i;
ANALYZE more;
SQL
my $many = 'SELECT a.id AS a, b.id AS b FROM more a JOIN more b ON a.id < b.id AND simhash_within(a.fp, b.fp, 6)';
for my $settings ('', $workers)
{
	is(sql("BEGIN; $settings SELECT count(write(a, b)) FROM ($many) x; SELECT count(*) FROM written; ROLLBACK"), "9999\n9999", 'a function that writes, in the output');
	is(sql("BEGIN; $settings SELECT count(*) FROM more a JOIN more b ON a.id < b.id AND simhash_within(a.fp, b.fp, 6) AND write(a.id, b.id); SELECT count(*) FROM written; ROLLBACK"), "9999\n9999", 'and in the filter');
	is(sql(<<"SQL"), "9999\n9999\n4999", 'a loop that writes, with savepoints, and one that ends early');
BEGIN;
$settings
DO \$\$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN $many LOOP
    n := n + 1;
    IF n % 1000 = 3 THEN
      BEGIN
        INSERT INTO written VALUES (0, 0);
        RAISE EXCEPTION 'undone';
      EXCEPTION WHEN raise_exception THEN NULL;
      END;
    END IF;
    INSERT INTO written VALUES (r.a, r.b);
  END LOOP;
END \$\$;
SELECT count(*) FROM written;
SELECT count(DISTINCT a) FROM written;
DO \$\$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN $many LOOP n := n + 1; EXIT WHEN n = 5000; DELETE FROM written WHERE (a, b) = (r.a, r.b); END LOOP;
END \$\$;
SELECT 9999 - count(*) FROM written;
ROLLBACK;
SQL
	is(sql(<<"SQL"), join("\n", 5, 1, 7, 1, 1, 9988, 9995), 'cursors, side by side and through a savepoint');
$settings
SET work_mem = '64kB';
BEGIN;
CREATE TEMP TABLE got (c int, a int);
CREATE FUNCTION pg_temp.take(c refcursor, n int) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE r record; taken int := 0;
BEGIN
  WHILE taken < n LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    taken := taken + 1;
    INSERT INTO got VALUES (CASE c::text WHEN 'one' THEN 1 ELSE 2 END, r.a);
  END LOOP;
  RETURN taken;
END \$\$;
DECLARE one CURSOR FOR $many;
DECLARE two CURSOR WITH HOLD FOR $many;
SAVEPOINT s;
SELECT pg_temp.take('one', 5);
ROLLBACK TO s;
SELECT pg_temp.take('two', 1);
SELECT pg_temp.take('one', 7 );
SAVEPOINT s;
SELECT pg_temp.take('two', 1) + 0 * count(*) FROM got;
RELEASE s;
SELECT count(DISTINCT c) - 1 FROM got;
SELECT pg_temp.take('one', 20000) + 1;
COMMIT;
BEGIN;
SELECT pg_temp.take('two', 20000) - 2;
COMMIT;
SQL
}
is(sql(<<"SQL"), "100|t", 'a loop that commits');
$workers
CREATE PROCEDURE commit_often() LANGUAGE plpgsql AS \$\$
DECLARE r record; n int := 0;
BEGIN
  FOR r IN $many LOOP
    INSERT INTO written VALUES (r.a, r.b);
    n := n + 1;
    IF n % 10 = 0 THEN COMMIT; END IF;
    EXIT WHEN n = 100;
  END LOOP;
END \$\$;
CALL commit_often();
SELECT count(*), count(*) = count(DISTINCT a) FROM written;
SQL

# --- foreign tables, with conditions that the other server may not be sent, or may

sql(<<'SQL');
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN
  EXECUTE format('CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
    split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
  EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER loop OPTIONS (user %L)', current_user);
END $$;
CREATE FOREIGN TABLE far_letter (id int, scope int, fp ext.simhash64, content text) SERVER loop OPTIONS (table_name 'letter');
CREATE FOREIGN TABLE far_known (id int, scope int, fp ext.simhash64, content text) SERVER loop OPTIONS (table_name 'known');
SQL
for my $option ('', "ALTER SERVER loop OPTIONS (ADD extensions 'simdup')")
{
	sql($option) if $option;
	for my $join ('FROM far_letter a JOIN far_known b ON simhash_within(a.fp, b.fp, 8)', 'FROM letter a JOIN far_known b ON a.scope = b.scope AND simhash_within(a.fp, b.fp, 8)', 'FROM far_letter a LEFT JOIN far_letter b ON a.id < b.id AND simdup_resembles(a.content, b.content, 0.9)')
	{
		agree("SELECT a.id, b.id $join", "$join $option");
		ok(has_node(sql("EXPLAIN SELECT a.id, b.id $join")), 'by the node') if !$option;
	}
	agree('BEGIN; UPDATE far_known a SET scope = 77 FROM far_letter b WHERE simhash_within(a.fp, b.fp, 2); SELECT id, scope FROM known; ROLLBACK', "UPDATE of a foreign table $option");
}

is(sql('SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no temporary file is left');
$node->stop;
done_testing();

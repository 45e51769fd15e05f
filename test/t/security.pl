# security: the extension calls no function or operator that others put into a
# schema that comes before pg_catalog in search_path. Triggers, joins, windows and
# searches are tried. Names may hold SQL. No user sees or does more
# through the extension than without it.
#
# install.pl tries objects that wait in the extension's own schema, and join_rights.pl
# look-alikes and hidden rows in joins.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(said);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('security');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(<<'SQL');
CREATE SCHEMA ext;
CREATE EXTENSION simdup SCHEMA ext;
CREATE SCHEMA data;
CREATE TABLE data.doc (id int PRIMARY KEY, body text, fp ext.simhash64);
INSERT INTO data.doc SELECT i, b, ext.simhash(b)
  FROM (SELECT i, (SELECT string_agg('word' || j * (i / 3 + 1), ' ') || ' and ' || i FROM generate_series(1, 40) AS j) AS b
        FROM generate_series(1, 12) AS i) AS x;
CREATE INDEX doc_fp ON data.doc USING hamming (fp);
CREATE VIEW data.page AS SELECT id AS key, body::varchar AS content, id % 2 AS scope FROM data.doc;
CREATE VIEW data.form AS SELECT body || (SELECT string_agg(' end' || i, '') FROM generate_series(1, 20) AS i) AS content FROM data.doc;
ANALYZE;

-- A twin for each function, operator and type that there is. Whatever is not
-- named with its schema, or comes with the type it works on, is one of these.
CREATE ROLE mallory LOGIN;
CREATE SCHEMA evil AUTHORIZATION mallory;
GRANT USAGE ON SCHEMA evil, ext TO public;
SET client_min_messages = error;
DO $$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_identity_arguments(oid) AS identity,
             pg_get_function_result(oid) AS result, prokind
           FROM pg_proc WHERE pronamespace IN ('pg_catalog'::regnamespace, 'ext'::regnamespace)
  LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', o.proname, o.identity, o.result,
        'BEGIN RAISE EXCEPTION ''trapped in function ' || quote_ident(o.proname) || '''; END');
    EXCEPTION WHEN OTHERS THEN NULL; -- of types that only C takes
    END;
  END LOOP;
  FOR o IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result, oprkind, row_number() OVER () AS n
           FROM pg_operator WHERE oprresult <> 0
  LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION evil.operator_%s(%s) RETURNS %s LANGUAGE plpgsql AS %L', o.n,
        concat_ws(',', CASE WHEN o.oprkind = 'b' THEN o.l END, o.r), o.result,
        'BEGIN RAISE EXCEPTION ''trapped in operator ' || o.oprname || '''; END');
      EXECUTE format('CREATE OPERATOR evil.%s (%s RIGHTARG = %s, FUNCTION = evil.operator_%s)', o.oprname,
        CASE WHEN o.oprkind = 'b' THEN format('LEFTARG = %s,', o.l) END, o.r, o.n);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  CREATE FUNCTION evil.bad() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped in a type''; END';
  FOR o IN SELECT typname, format_type(oid, NULL) AS type FROM pg_type
           WHERE typnamespace IN ('pg_catalog'::regnamespace, 'ext'::regnamespace) AND typtype = 'b' AND typcategory <> 'A'
  LOOP
    EXECUTE format('CREATE DOMAIN evil.%I AS %s CHECK (evil.bad())', o.typname, o.type);
  END LOOP;
  FOR o IN SELECT unnest(ARRAY['doc', 'pg_class', 'pg_trigger', 'pg_stat_activity', 'simdup_new', 'keys', 'pairs', 'labels', 'new_rows', 'log']) AS name
  LOOP
    EXECUTE format('CREATE VIEW evil.%I AS SELECT evil.bad()', o.name);
  END LOOP;
END $$;
ALTER DEFAULT PRIVILEGES IN SCHEMA evil GRANT EXECUTE ON FUNCTIONS TO public;
SQL
cmp_ok(sql(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'evil'::regnamespace}), '>', 2500, 'there are traps for functions');
cmp_ok(sql(q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'evil'::regnamespace}), '>', 700, 'and operators');
like(said($node, 'SET search_path = evil, pg_catalog; SELECT 1 + 1'), qr/trapped in operator \+/, 'which work: an operator');
like(said($node, q{SET search_path = evil, pg_catalog, ext; SELECT simhash_blocks(ext.simhash('a'), 4)}), qr/trapped in function simhash_blocks/, 'a function');
like(said($node, 'SET search_path = evil, pg_catalog; SELECT \'1\'::int8'), qr/trapped in a type/, 'a type');

# --- each of them with a good path and with bad ones

# in the caller's statement, all names are qualified
my $arrive = <<'SQL';
CREATE TABLE data.t (id int PRIMARY KEY, body pg_catalog.text, place varchar(20), dup int,
  fp ext.simhash64 GENERATED ALWAYS AS (ext.simhash_row(body, ARRAY[place::pg_catalog.text])) STORED);
CREATE TABLE data.found (new_key int, old_key int, distance int, logged_at pg_catalog.timestamptz, UNIQUE (new_key, old_key));
CREATE INDEX ON data.t USING %s;
SET LOCAL check_function_bodies = off;
CREATE FUNCTION data.alike(a data.t, b data.t) RETURNS boolean LANGUAGE sql
  AS 'SELECT a.place = b.place AND shingle_resemblance(a.body, b.body) >= 0.3 AND abs(a.id - b.id) < 100';
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON data.t FOR EACH ROW EXECUTE FUNCTION ext.simdup_flag_trigger('dup', 'max_distance => 3', 'lock => true');
CREATE TRIGGER c AFTER INSERT OR UPDATE ON data.t FOR EACH ROW EXECUTE FUNCTION ext.simdup_log_trigger('found', 'max_distance => 3', 'key => id', 'lock => true');
INSERT INTO data.t VALUES (1, 'the lights in the park are out', 'North'), (2, 'a tree has fallen on the road', 'South');
INSERT INTO data.t VALUES (3, 'the lights in the park are out', 'North'), (4, 'the lights in the park are out', 'North');
UPDATE data.t SET body = 'a tree has fallen on the road', place = 'South' WHERE id OPERATOR(pg_catalog.=) 4;
TABLE data.t ORDER BY 1;
SELECT new_key, old_key, distance FROM data.found ORDER BY 1, 2;
CREATE TRIGGER f BEFORE INSERT ON data.t FOR EACH ROW EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 3', 'key => id');
INSERT INTO data.t VALUES (5, 'the lights in the park are out', 'North');
SQL
my $by_node = 'SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off; ';
my %statements = (
	'a join of fingerprints' => $by_node . q{SELECT a.id, b.id FROM data.doc AS a JOIN data.doc AS b ON ext.simhash_within(a.fp, b.fp, 8) ORDER BY 1, 2},
	'a join within scopes' => $by_node . q{SELECT a.id, b.id FROM data.page AS p, data.doc AS a LEFT JOIN data.doc AS b ON a.id OPERATOR(pg_catalog.%) 2 OPERATOR(pg_catalog.=) b.id OPERATOR(pg_catalog.%) 2 AND a.fp OPERATOR(ext.<@) ext.simhash_ball(b.fp, 8) WHERE p.key OPERATOR(pg_catalog.=) a.id ORDER BY 1, 2},
	'a join of contents' => $by_node . q{SELECT a.id, b.id FROM data.doc AS a JOIN data.doc AS b ON ext.simdup_resembles(a.body, b.body, 0.3) ORDER BY 1, 2},
	'a join of shingles' => $by_node . q{SELECT a.id, b.id FROM data.doc AS a JOIN data.doc AS b ON ext.shingle_resemblance(a.body, b.body, 1, 'word') OPERATOR(pg_catalog.>=) 0.3 ORDER BY 1, 2},
	'simhash_pieces' => q{SELECT id, ext.simhash_pieces(fp, 3, 3) FROM data.doc ORDER BY id},
	'simdup_cluster' => q{SELECT id, ext.simdup_cluster(id, fp, 8) OVER (ORDER BY id) FROM data.doc ORDER BY id},
	'simdup_cluster, connected' => q{SELECT id, ext.simdup_cluster(body, fp, 8, 'connected') OVER (ORDER BY id) FROM data.doc ORDER BY id},
	'simdup_cluster, contents' => q{SELECT id, ext.simdup_cluster(id, fp, body, 12, 0.3) OVER (ORDER BY id), ext.simdup_cluster(id, body) OVER (ORDER BY id) FROM data.doc ORDER BY id},
	'simdup_campaign' => q{SELECT id, ext.simdup_campaign(id, body) OVER (ORDER BY id) FROM data.doc ORDER BY id},
	'simdup_template' => q{SELECT id, ext.simdup_template(id, body) OVER (ORDER BY id) FROM data.doc ORDER BY id},
	'simdup_component' => q{SELECT id, ext.simdup_component(id, id) OVER (), ext.simdup_component(body, body) OVER () FROM data.doc ORDER BY id},
	'simdup_tune' => q{SELECT * FROM ext.simdup_tune('data.doc')},
	'simdup_removal' => q{CREATE TABLE data.refers (doc int REFERENCES data.doc ON DELETE CASCADE, n int, UNIQUE (doc, n));
		CREATE VIEW data.doc_map AS SELECT 2 AS removed, 1 AS kept;
		SELECT * FROM ext.simdup_removal('data.doc', 'data.doc_map')},
	'simdup_boilerplate' => q{SELECT * FROM ext.simdup_boilerplate('data.form')},
	'groups' => q{SELECT ext.simdup_group('data.page_case', 'data.page', min_resemblance => 0.3);
		SELECT * FROM ext.simdup_regroup('data.page_case');
		SELECT * FROM ext.simdup_decide('data.page_case', 1, 12, true);
		SELECT a, b, why FROM ext.simdup_review('data.page_case');
		SELECT * FROM ext.simdup_undecide('data.page_case', ARRAY[12], ARRAY[1]);
		SELECT ext.simdup_group_of('data.page_case', 1), ext.simdup_ungroup('data.page_case')},
	'simdup_report' => q{SELECT ext.simdup_report('data.doc') OPERATOR(pg_catalog.-) 'made'},
	'simdup_report_html' => q{SELECT pg_catalog.regexp_replace(ext.simdup_report_html('data.page', 'title'), '"made": \{.*?\}', '')},
	'simdup_explain' => q{SELECT * FROM ext.simdup_explain('a rose is a rose', 'a rose is red', 'simhash', 1)},
	'imatch_lexicon' => q{SELECT ext.imatch_lexicon(body, 0, 9, 'word') FROM data.doc},
	'term_idf' => q{SELECT t.* FROM (SELECT ext.term_idf(body) AS terms FROM data.doc) AS a, pg_catalog.unnest(terms) AS t},
	'simhash_agg' => q{SELECT ext.simhash_agg(body), ext.simhash_agg(body, 2) FROM data.doc},
	'search' => q{SET enable_seqscan = off; SELECT id FROM data.doc WHERE ext.simhash_within(fp, '9e3779b97f4a7c15', 30);
		EXPLAIN (COSTS OFF) SELECT id FROM data.doc WHERE ext.simhash_within(fp, '9e3779b97f4a7c15', 3);
		SELECT id FROM data.doc WHERE fp OPERATOR(ext.<@) ext.simhash_ball(fp, 3) ORDER BY id},
	'estimates' => q{EXPLAIN SELECT * FROM data.doc AS a, data.doc AS b WHERE a.fp OPERATOR(ext.<@) ext.simhash_ball(b.fp, 3)},
	'triggers' => sprintf($arrive, 'hamming (fp)'),
	'triggers, expression' => sprintf($arrive, 'hamming (ext.simhash_row(body, ARRAY[place::pg_catalog.text]))'),
	'triggers, text' => sprintf($arrive, 'hamming (body)'),
	'triggers, conditions' => sprintf($arrive, 'hamming (fp)') =~
	  s/(simdup_(?:flag|log|reject)_trigger\([^)]*)\)/$1, 'condition => alike')/gr,
);

my $temp = 'CREATE TEMP VIEW doc AS SELECT evil.bad(); CREATE TEMP VIEW keys AS SELECT evil.bad(); '
  . 'CREATE TEMP VIEW simdup_new AS SELECT evil.bad(); CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (evil.bad()); '
  . 'CREATE DOMAIN pg_temp.timestamptz AS pg_catalog.timestamptz CHECK (evil.bad()); ';
my %paths = (
	'evil, pg_catalog, ext' => 'SET search_path = evil, pg_catalog, ext;',
	'evil' => 'SET search_path = evil;',
	'pg_temp' => $temp . 'SET search_path = pg_temp, evil, pg_catalog;');
# A statement's answer, which its rollback undoes. Each begins with the same pages,
# without the dead rows of others: new rows go where there is room.
sub answer
{
	my ($sql) = @_;

	sql('VACUUM FULL data.doc');
	return said($node, "BEGIN; $sql");
}

for my $name (sort keys %statements)
{
	my $good = answer($statements{$name});

	isnt($good, '', "$name answers");
	is(answer("$paths{$_} $statements{$name}"), $good, "$name answers the same with search_path $_")
	  for sort keys %paths;
}

# the path of a role and of a function
sql(<<'SQL');
CREATE FUNCTION data.batch() RETURNS bigint LANGUAGE sql SET search_path = evil, pg_catalog
  AS $$ SELECT n_found FROM ext.simdup_tune('data.doc') LIMIT 1 $$;
CREATE ROLE careless SUPERUSER LOGIN;
ALTER ROLE careless SET search_path = evil, pg_catalog;
SQL
is(sql('SELECT data.batch()'), sql(q{SELECT n_found FROM ext.simdup_tune('data.doc') LIMIT 1}), 'a function with a bad path');
is(said($node, $statements{simdup_report}, extra_params => [ '-U', 'careless' ]), said($node, $statements{simdup_report}), 'a role with a bad path');

# --- names that hold SQL

my @names = (
	q{upper Case}, q{it's}, q{two "quotes"}, q{semi;colon -- and comment}, q{back\\slash}, q{x$simdup$; SELECT 1/0; --},
	q{%s %I %1$s}, q{"; DROP TABLE data.doc; --}, q{'); DROP TABLE data.doc; --}, 'n' x 63, "\xc3\xa9" x 31, 'select', 'page');
my $number = 0;
for my $name (@names)
{
	my $quoted = '"' . $name =~ s/"/""/gr . '"';
	my $argument = "'key => " . $quoted =~ s/'/''/gr . "'";

	# the table, its key and its fingerprint are called so, or nearly
	for my $action (
		[ 'flag', 'BEFORE', "simdup_flag_trigger('of', $argument, 'max_distance => 0')" ],
		[ 'log', 'AFTER', "simdup_log_trigger('log', $argument, 'max_distance => 0')" ],
		[ 'reject', 'BEFORE', "simdup_reject_trigger($argument, 'max_distance => 0')" ])
	{
		my ($what, $when, $call) = @$action;
		my $schema = 'named_' . ++$number;
		my $got = said($node, qq{CREATE SCHEMA $schema; SET search_path = $schema, ext, public;
			CREATE TABLE $quoted ($quoted int PRIMARY KEY, body text, other text, of int,
				fp simhash64 GENERATED ALWAYS AS (minhash64(body)) STORED);
			CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz);
			CREATE INDEX ON $quoted USING hamming (fp);
			CREATE TRIGGER t $when INSERT ON $quoted FOR EACH ROW EXECUTE FUNCTION $call;
			SET search_path = ext, public;
			INSERT INTO $schema.$quoted VALUES (1, 'the lights are out', 'x'), (2, 'a tree has fallen', 'y');
			INSERT INTO $schema.$quoted VALUES (3, 'the lights are out', 'x');
			SELECT 'flag ' || of FROM $schema.$quoted WHERE of IS NOT NULL;
			SELECT 'log ' || old_key FROM $schema.log});

		like($got, $what eq 'reject' ? qr/^ERROR:  new row for relation/ : qr/^$what 1$/, "$what: $name");
	}
}
is(sql('SELECT count(*) FROM data.doc'), '12', 'nothing was dropped');

# --- the report

my @bad = ('<script>alert(1)</script>', q{"><img src=x onerror=alert(1)>}, q{' onload='x}, '&amp;', '</style><b>', "\xe2\x80\xa8");
my $page = sql('CREATE VIEW data.bad AS SELECT k AS key, ext.simhash64 \'00000000000000ff\' AS fp, s AS content FROM (VALUES '
	  . join(', ', map { "(\$k\$$_\$k\$, \$k\$$_\$k\$), (\$k\$$_\$k\$, \$k\$$_\$k\$)" } @bad) . ") AS v (k, s); SELECT ext.simdup_report_html('data.bad', \$t\$" . join(' ', @bad) . '$t$)');
my @scripts = $page =~ /<script\b([^>]*)>/gi;
is("@scripts", ' type="application/json" id="texts"  type="application/json" id="data" ', 'a report has its own three scripts');
unlike($page, qr/<img\b|<b>|[^\x00-\x7f]/i, 'and no tag of its data');
# in data of scripts, text stays text; elsewhere nothing may end an attribute or begin one
my $outside = $page =~ s{<script type="application/json" id="(?:texts|data)">[^<]*</script>}{}gr;
unlike($outside, qr/onload='|"><img|<\/style><b>/i, 'and no attribute of its title');
like($page, qr/\\u003cscript\\u003ealert/, 'but has it as data');

# --- who may do what

sql(<<'SQL');
CREATE ROLE clerk LOGIN;
CREATE ROLE owner LOGIN;
GRANT USAGE ON SCHEMA data TO clerk, owner;
GRANT CREATE ON SCHEMA data TO owner, mallory;
GRANT USAGE ON SCHEMA data TO mallory;
CREATE TABLE data.petition (id int PRIMARY KEY, who text DEFAULT current_user, body text);
ALTER TABLE data.petition OWNER TO owner;
GRANT SELECT, INSERT, UPDATE ON data.petition TO clerk;
SQL

# log works with the rights of the user who writes, and under row security
sql(<<'SQL');
ALTER TABLE data.petition ADD dup int, ADD fp ext.simhash64 GENERATED ALWAYS AS (ext.minhash64(body)) STORED;
CREATE INDEX ON data.petition USING hamming (fp);
CREATE TABLE data.petition_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
ALTER TABLE data.petition_log OWNER TO owner;
CREATE TRIGGER log AFTER INSERT OR UPDATE ON data.petition FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_log_trigger('data.petition_log', 'max_distance => 3');
INSERT INTO data.petition VALUES (1, 'owner', 'the lights in the park are out');
SQL
my @as_clerk = (extra_params => [ '-U', 'clerk' ]);
my $clerk = q{INSERT INTO data.petition VALUES (%d, 'clerk', 'the lights in the park are out')};
like(said($node, sprintf($clerk, 2), @as_clerk), qr/permission denied for table petition_log/, 'who may not write to the log is told');
sql('GRANT INSERT ON data.petition_log TO clerk');
is(said($node, sprintf($clerk, 2), @as_clerk), '', 'who may, writes');
is(sql('SELECT new_key, old_key FROM data.petition_log'), '2|1', 'what it should be');
like(said($node, 'SELECT * FROM data.petition_log', @as_clerk), qr/permission denied/, 'but does not read it');
sql(<<'SQL');
ALTER TABLE data.petition_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON data.petition_log FOR INSERT WITH CHECK (new_key % 2 = 1);
SQL
is(said($node, sprintf($clerk, 3), @as_clerk), '', 'a policy of the log lets pass');
like(said($node, sprintf($clerk, 4), @as_clerk), qr/new row violates row-level security policy for table "petition_log"/, 'or not');

# row security of the searched table
sql(<<'SQL');
DROP TRIGGER log ON data.petition;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON data.petition FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_flag_trigger('dup', 'max_distance => 3');
ALTER TABLE data.petition ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON data.petition USING (who = current_user);
INSERT INTO data.petition VALUES (10, 'owner', 'a tree has fallen on the road');
SQL
is(said($node, q{INSERT INTO data.petition VALUES (11, 'clerk', 'a tree has fallen on the road') RETURNING dup}, @as_clerk),
	'', 'a flag names no row that the writer may not see');
is(said($node, q{INSERT INTO data.petition VALUES (12, 'clerk', 'a tree has fallen on the road') RETURNING dup}, @as_clerk),
	'11', 'but those that he may');
sql(<<'SQL');
INSERT INTO data.petition VALUES (13, 'owner', 'the fountain on the square is dry');
CREATE FUNCTION data.speaks() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'asked for a row'; RETURN true; END $$;
CREATE POLICY speaks ON data.petition AS RESTRICTIVE FOR SELECT USING (data.speaks());
SQL
for my $settings (
	"client_min_messages = 'debug5'",
	map({ "client_min_messages = 'log'; SET debug_print_$_ = on" } 'parse', 'rewritten', 'plan'),
	"client_min_messages = 'notice'")
{
	# what kinds of messages come, without their numbers
	my ($near_it, $near_none) = map {
		my $text = said($node, "SET $settings; BEGIN; INSERT INTO data.petition VALUES (14, 'clerk', '$_'); ROLLBACK", @as_clerk);
		join "\n", map { s/\d+//gr } $text =~ /^((?:DEBUG|LOG|NOTICE|WARNING|ERROR):.{0,40})/gm;
	} 'the fountain on the square is dry', 'a lamp on the bridge has gone out';
	is($near_it, $near_none, "no message tells of a row that the writer may not see: $settings");
}
sql('DROP POLICY speaks ON data.petition; DELETE FROM data.petition WHERE id = 13');
is( said($node, q{SELECT ext.simdup_report('data.petition') -> 'counts' -> 'rows'}, @as_clerk),
	sql(q{SELECT count(*) FROM data.petition WHERE who = 'clerk'}), 'a report sees what its caller may');

# security barriers: a function that is not leakproof sees no rows before the barrier
sql(<<'SQL');
CREATE TABLE data.hidden AS SELECT id, fp, id % 2 = 0 AS open FROM data.doc;
CREATE INDEX ON data.hidden USING hamming (fp);
ANALYZE data.hidden;
CREATE VIEW data.shown WITH (security_barrier) AS SELECT id, fp FROM data.hidden WHERE open;
GRANT SELECT ON data.shown TO clerk;
SQL
my $plan = said($node, q{EXPLAIN (COSTS OFF) SELECT id FROM data.shown WHERE ext.simhash_within(fp, '0123456789abcdef', id)}, @as_clerk);
like($plan, qr/Subquery Scan on shown\n\s+Filter: .*simhash_within.*\n\s+->\s+(Parallel )?Seq Scan on hidden\n\s+Filter: open/, 'what may raise an error stays above the barrier');
$plan = said($node, q{EXPLAIN (COSTS OFF) SELECT id FROM data.shown WHERE fp OPERATOR(ext.<@) '<0123456789abcdef,3>'}, @as_clerk);
like($plan, qr/Seq Scan on hidden\n\s+Filter: \(open AND \(fp OPERATOR/, 'what is leakproof goes below');

# estimates: no operator but a leakproof one is asked about values that the
# user may not see, and none of those is in the estimate of another
sql(<<'SQL');
CREATE TABLE data.common (id int, fp ext.simhash64);
INSERT INTO data.common SELECT i, CASE WHEN i <= 900 THEN '0123456789abcdef' ELSE (i::bigint << 40)::ext.simhash64 END FROM generate_series(1, 1000) AS i;
ANALYZE data.common;
GRANT SELECT (id) ON data.common TO clerk;
-- hides all rows, and the planner expects a third of them
CREATE FUNCTION data.sees(id int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE VIEW data.few WITH (security_barrier) AS SELECT * FROM data.common WHERE data.sees(id);
GRANT SELECT ON data.few TO clerk;
SQL
sub estimate
{
	my ($condition, @who) = @_;

	return said($node, "EXPLAIN SELECT FROM data.few WHERE $condition", @who) =~ /rows=(\d+)/ ? $1 : -1;
}
for my $within ("ext.simhash_within(fp, '%s', 0)", "fp OPERATOR(ext.<@) ext.simhash_ball('%s', 0)")
{
	my ($common, $rare) = map { sprintf $within, $_ } '0123456789abcdef', 'ffffffffffffffff';

	is(estimate($common, @as_clerk), estimate($rare, @as_clerk), "the estimate of $within tells nothing about hidden values");
	like(sql("EXPLAIN SELECT FROM data.common WHERE $common"), qr/rows=9\d\d /, 'but helps who may read them');
}
sql(<<'SQL');
GRANT SELECT ON data.common TO clerk;
ALTER TABLE data.common ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON data.common USING (data.sees(id));
SQL
for my $near ("fp OPERATOR(ext.<@) ext.simhash_ball('%s', 0)", "fp OPERATOR(ext.<) '%s'", "fp OPERATOR(ext.>=) '%s'")
{
	my ($below, $above) = map { said($node, sprintf("EXPLAIN SELECT FROM data.common WHERE $near", $_), @as_clerk) =~ s/'.*'//gr } '0123456789abcdef', '0123456789abcdf0';

	is($below, $above, "nor does the estimate of $near under row security");
}

# a constraint holds for rows that the writer does not see, without telling which
sql(<<'SQL');
DROP TRIGGER flag ON data.petition;
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON data.petition FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 0', 'key => id');
SQL
my $refused = said($node, q{INSERT INTO data.petition VALUES (20, 'clerk', 'a tree has fallen on the road')}, @as_clerk);
like($refused, qr/repeats a row within distance 0/, 'a row that the writer may not see refuses his');
unlike($refused, qr/\(10\)/, 'and is not shown to him');

# Partitions and children that belong to others: the parent's trigger works for
# users who may write to the parent, with the rights of the parent's owner.
sql(<<'SQL');
CREATE TABLE data.parted (id int, fp ext.simhash64) PARTITION BY LIST (id);
CREATE TABLE data.parted_1 PARTITION OF data.parted FOR VALUES IN (1);
CREATE TABLE data.parted_2 PARTITION OF data.parted DEFAULT;
CREATE INDEX ON data.parted USING hamming (fp);
ALTER TABLE data.parted OWNER TO owner;
ALTER TABLE data.parted_1 OWNER TO mallory;
CREATE TRIGGER r BEFORE INSERT ON data.parted FOR EACH ROW EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 3', 'key => id');
GRANT INSERT ON data.parted TO clerk;
INSERT INTO data.parted VALUES (1, '0123456789abcdef');
CREATE TABLE data.mother (id int, fp ext.simhash64);
CREATE TABLE data.child () INHERITS (data.mother);
CREATE INDEX ON data.mother USING hamming (fp);
CREATE INDEX ON data.child USING hamming (fp);
ALTER TABLE data.mother OWNER TO owner;
ALTER TABLE data.child OWNER TO mallory;
CREATE TRIGGER r BEFORE INSERT ON data.mother FOR EACH ROW EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 3', 'key => id');
GRANT INSERT ON data.mother TO clerk;
INSERT INTO data.child VALUES (1, '0123456789abcdef');
SQL
for my $table ('parted', 'mother')
{
	my $got = said($node, "INSERT INTO data.$table VALUES (2, '0123456789abcdef')", @as_clerk);

	like($got, qr/ERROR:  new row for relation "\w+" repeats a row within distance 3, refused by "r"/, "$table: a row of another's child is found");
	unlike($got, qr/\(1\)/, "$table: and not shown");
}

# who may not write to a table may not hold up its arrivals
sql('CREATE TABLE data.secret (id int, fp ext.simhash64); GRANT SELECT (id) ON data.secret TO clerk');
like(said($node, q{SELECT ext.simdup_lock_arrivals('data.secret')}, @as_clerk), qr/permission denied for table secret/, 'simdup_lock_arrivals needs the right to write');

# our estimators read statistics: nobody else attaches them to his operators
like(said($node, <<'SQL', extra_params => [ '-U', 'mallory' ]), qr/must be superuser to specify a non-built-in restriction estimator/, 'estimators are not for others');
CREATE FUNCTION evil.no(ext.simhash64, ext.simhash64) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE OPERATOR evil.<@@ (LEFTARG = ext.simhash64, RIGHTARG = ext.simhash64, FUNCTION = evil.no, RESTRICT = ext.simhash_ballsel);
SQL

# --- a DBA never runs another's code

# mallory's code leaves a row
sql(<<'SQL');
CREATE SCHEMA trap AUTHORIZATION mallory;
GRANT USAGE, CREATE ON SCHEMA trap TO public;
CREATE TYPE data.mood AS ENUM ('a', 'b');
CREATE DOMAIN data.label AS text;
SET ROLE mallory;
CREATE TABLE trap.ran (who name DEFAULT current_user);
GRANT SELECT, INSERT ON trap.ran TO public;
CREATE FUNCTION trap.runs() RETURNS boolean LANGUAGE sql AS 'INSERT INTO trap.ran DEFAULT VALUES RETURNING true';
CREATE FUNCTION trap.fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM trap.runs(); RETURN NEW; END';
CREATE TYPE trap.kind AS ENUM ('a');
SQL

# Step 1 names the table and its column, which hold statements. Operators of varchar, an enum and a
# domain fit better than those of the catalogs.
my $removed = PostgreSQL::Test::Utils::tempdir() . '/removal.sql';
for my $type ('varchar', 'data.mood', 'data.label')
{
	sql(join ';', 'SET ROLE mallory',
		map({ "CREATE FUNCTION trap.equals($_) RETURNS boolean LANGUAGE sql AS 'INSERT INTO trap.ran DEFAULT VALUES RETURNING true'" }
			"$type, $type", "$type, text", "text, $type"),
		map({ "CREATE OPERATOR trap.= (LEFTARG = $_->[0], RIGHTARG = $_->[1], FUNCTION = trap.equals)" }
			[ $type, $type ], [ $type, 'text' ], [ 'text', $type ]));
	sql(<<"SQL");
SET search_path = data;
CREATE TABLE coded (code $type PRIMARY KEY);
CREATE TABLE "reply
;INSERT INTO trap.ran DEFAULT VALUES;
--" ("of\r;INSERT INTO trap.ran DEFAULT VALUES;\r--" $type REFERENCES coded);
INSERT INTO coded VALUES ('a'), ('b');
CREATE TABLE coded_map AS SELECT 'b' AS removed, 'a' AS kept;
SQL
	my $statements = q{SELECT statement FROM ext.simdup_removal('coded', 'coded_map') ORDER BY step};
	is(said($node, "SET search_path = data, trap; $statements \\g (format=unaligned tuples_only=on) $removed\n\\i $removed\nTABLE coded"),
		'a', "removal by $type, from a file");
	is(said($node, "SET search_path = data, trap; INSERT INTO coded VALUES ('b'); $statements \\gexec\nTABLE coded"), 'a', "removal by $type, by \\gexec");
	is(sql('SELECT count(*) FROM trap.ran'), '0', 'which runs nothing of a stranger');
	is(said($node, "SET search_path = evil, pg_catalog, data, trap; INSERT INTO coded VALUES ('b'); $statements \\gexec\nTABLE coded"), 'a', "removal by $type, with another's schema before the catalogs");
	sql(q{DROP TABLE IF EXISTS data.coded_map, data.coded_removed, data.coded CASCADE;
		SELECT format('DROP TABLE %s', oid::regclass) FROM pg_class WHERE relname LIKE 'reply%' AND relkind = 'r'} . " \\gexec\n");
}

# a third role's code is refused, wherever it would run
sql(<<'SQL');
CREATE TABLE data.mail (id int PRIMARY KEY);
CREATE TABLE data.answer (mail int REFERENCES data.mail, n int UNIQUE);
CREATE VIEW data.mail_map AS SELECT 2 AS removed, 1 AS kept;
CREATE TABLE data.theirs (id int PRIMARY KEY);
ALTER TABLE data.theirs OWNER TO mallory;
SQL
my $removal = q{SELECT count(*) > 9 FROM ext.simdup_removal('data.mail', 'data.mail_map')};
my $parted = 'CREATE TABLE data.parts (mail int REFERENCES data.mail) PARTITION BY LIST (mail); CREATE TABLE data.part PARTITION OF data.parts DEFAULT;';
my %strange = (
	'an owner of a table' => 'ALTER TABLE data.answer OWNER TO mallory',
	'an owner of a partition' => "$parted ALTER TABLE data.part OWNER TO mallory",
	"a partition's trigger" => "$parted CREATE TRIGGER t AFTER UPDATE ON data.part FOR EACH ROW EXECUTE FUNCTION trap.fires()",
	"the target's trigger" => 'CREATE TRIGGER t BEFORE DELETE ON data.mail FOR EACH ROW EXECUTE FUNCTION trap.fires()',
	'a right to make triggers' => 'GRANT TRIGGER ON data.answer TO mallory; SET ROLE mallory;
		CREATE TRIGGER t AFTER UPDATE ON data.answer EXECUTE FUNCTION trap.fires(); RESET ROLE',
	"a trigger's condition" => 'CREATE TRIGGER t BEFORE UPDATE ON data.answer FOR EACH ROW WHEN (trap.runs())
		EXECUTE FUNCTION suppress_redundant_updates_trigger()',
	'a role of the system' => 'CREATE FUNCTION data.fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN END $$; ALTER FUNCTION data.fires() OWNER TO pg_monitor;
		CREATE TRIGGER t AFTER UPDATE ON data.answer EXECUTE FUNCTION data.fires()',
	'a rule' => 'CREATE RULE r AS ON DELETE TO data.mail DO ALSO SELECT trap.runs()',
	'a check' => 'ALTER TABLE data.answer ADD CHECK (trap.runs()) NOT VALID',
	'a table that refers to one that refers' => 'GRANT REFERENCES ON data.answer TO mallory; SET ROLE mallory;
		CREATE TABLE trap.third (n int REFERENCES data.answer (n) ON UPDATE CASCADE); RESET ROLE',
	'an archive' => 'CREATE TABLE data.mail_removed (); ALTER TABLE data.mail_removed OWNER TO mallory',
	"an archive's trigger" => 'CREATE TABLE data.mail_removed (); CREATE TRIGGER t BEFORE INSERT ON data.mail_removed EXECUTE FUNCTION trap.fires()',
	'an owner of the map' => 'ALTER VIEW data.mail_map OWNER TO mallory',
	"the map's function" => 'CREATE OR REPLACE VIEW data.mail_map AS SELECT 2 AS removed, 1 AS kept WHERE trap.runs()',
	"the map's view" => 'CREATE VIEW trap.pairs AS SELECT 2 AS removed, 1 AS kept; ALTER VIEW trap.pairs OWNER TO mallory;
		CREATE OR REPLACE VIEW data.mail_map AS TABLE trap.pairs',
	'a type' => 'DROP VIEW data.mail_map; CREATE TABLE data.mail_map (removed trap.kind, kept trap.kind)');
is(sql($removal), 't', 'removal is not refused');
like(said($node, "BEGIN; $strange{$_}; $removal"), qr/^ERROR:  .+ belongs to another role\nDETAIL:  Its code would run with your rights\.$/m, "but for $_")
  for sort keys %strange;
is(said($node, "BEGIN; ALTER TABLE data.answer ADD FOREIGN KEY (n) REFERENCES data.theirs; ALTER TABLE data.answer ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON data.answer USING (trap.runs()); $removal"), 't', 'what does not run is let be');

# the schema is renamed, and its name is taken
sql(q{CREATE TABLE data.page_table AS SELECT id, body AS content FROM data.doc; ALTER TABLE data.page_table ADD PRIMARY KEY (id);
	SELECT ext.simdup_group('data.kept', 'data.page_table'); SELECT count(*) FROM ext.simdup_regroup('data.kept')});
my $taken = <<'SQL';
ALTER SCHEMA ext RENAME TO moved;
CREATE SCHEMA ext;
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'moved'::regnamespace AND prokind = 'f' AND prorettype <> 'trigger'::regtype LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION ext.%s RETURNS %s LANGUAGE plpgsql AS %L', replace(f::text, 'moved.simdup', 'simdup'),
        coalesce(replace(pg_get_function_result(f), 'TABLE', 'TABLE '), 'record'), 'BEGIN RAISE EXCEPTION ''trapped in ' || f || '''; END');
    EXCEPTION WHEN OTHERS THEN NULL; -- of records
    END;
  END LOOP;
END $$;
SQL
for my $call ("simdup_group('data.other', 'data.page_table')", "simdup_regroup('data.kept')", "simdup_regroup('data.kept', true)",
	"simdup_group_of('data.kept', 1)", "simdup_ungroup('data.kept')", "simdup_decide('data.kept', 1, 2, true)", "simdup_undecide('data.kept', 1, 2)",
	"simdup_review('data.kept')", "simdup_report('data.page_table')", "simdup_report_html('data.page_table', 'title')",
	"simdup_removal('data.mail', 'data.mail_map')", "simdup_grouping('data.kept', true, false)",
	"simdup_source_rows('data.page_table', '{}', '{1}', '{}')")
{
	like(said($node, "BEGIN; $taken SELECT moved.$call"), qr/^ERROR:  assertion failed$/m, "a renamed schema: $call");
}

# scripts that a DBA runs: a report by cron, and the statement that the page on existing tables makes
sql(join ';', 'SET ROLE mallory', 'CREATE FUNCTION trap.minhash64(text) RETURNS ext.simhash64 LANGUAGE sql AS $$ INSERT INTO trap.ran DEFAULT VALUES; SELECT NULL::ext.simhash64 $$',
	map {
		my ($operator, $left, $right, $result) = @$_;
		"CREATE FUNCTION trap.takes($left, $right) RETURNS $result LANGUAGE sql AS 'INSERT INTO trap.ran DEFAULT VALUES; SELECT NULL::$result';"
		  . "CREATE OPERATOR trap.$operator (LEFTARG = $left, RIGHTARG = $right, FUNCTION = trap.takes)"
	} [ '->>', 'jsonb', 'jsonb', 'text' ], [ '||', 'regcollation', 'regcollation', 'text' ], [ '=', 'oid', 'regclass', 'boolean' ], [ '=', 'oid', 'integer', 'boolean' ]);
my $root = "$FindBin::RealBin/../..";
my ($page_statement) = slurp_file("$root/doc/simdup-existing-table.md") =~ /^(SELECT format\('ALTER TABLE .*?\\gexec\n)/ms or die 'the page adds no flag';
is(said($node, "SET search_path = data, trap;\n\\set table coded\n\\set key code\n\\set flag repeats\nCREATE TABLE coded (code text COLLATE \"C\");\n${page_statement}SELECT repeats FROM coded"),
	'', 'the statement of a page');
{
	local $ENV{PGOPTIONS} = '-c search_path=data,ext,trap';
	command_ok([ 'psql', '-X', '-d', $node->connstr('postgres'), '-v', "out=$removed", map({ ('-v', $_) } @$_), '-f', "$root/clients/psql/simdup-report.sql" ], "a report by cron: @$_")
	  for [ 'source=page_table' ], [ 'table=page_table' ];
	my $last = slurp_file("$removed.html");
	command_fails([ 'psql', '-X', '-d', $node->connstr('postgres'), '-v', "out=$removed", '-v', 'source=page_table', '-v', 'lang=de', '-f', "$root/clients/psql/simdup-report.sql" ],
		'a page that cannot be made');
	ok(slurp_file("$removed.html") eq $last, '... leaves the last one');
}
is(sql('SELECT count(*) FROM trap.ran'), '0', 'which call nothing of a stranger');
sql(q{CREATE TABLE data.pg_dist_partition (logicalrelid regclass); SET ROLE mallory;
	CREATE FUNCTION trap.format(text, text, name) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$});
is(said($node, "SET search_path = data, trap;\n\\i $root/test/demo/citus_pairs.sql\nCALL simdup_citus_pairs('doc', 'id', 'fp', 3, 'doc_pairs')") =~ /^ERROR:  (.*)/m ? $1 : '',
	'relation "pg_dist_partition" does not exist', 'nor does the procedure for Citus');

# the source of a grouping is dropped, and its name is taken
sql(q{ALTER TABLE data.page_table OWNER TO owner; UPDATE data.kept_settings SET source_owner = 'owner'; DROP TABLE data.page_table;
	SET ROLE mallory; CREATE VIEW data.page_table AS SELECT 1 AS key, trap.runs()::text AS content});
for my $call ("simdup_regroup('data.kept')", "simdup_regroup('data.kept', true)", "simdup_review('data.kept')", "simdup_report('data.doc', groups => 'data.kept')")
{
	like(said($node, "SELECT ext.$call"), qr/ERROR:  source data\.page_table belongs to another role\n.*\nHINT:  .*UPDATE data\.kept_settings SET source_owner = 'mallory';/,
		"another's source: $call");
}
is(sql('SELECT count(*) FROM trap.ran'), '0', "nothing of mallory's ran");

# a page has the names of a report in the statements that it saves
sql(q{CREATE TABLE data.made AS
	SELECT '{"counts": {"rows": 1}, "decide": {"table": "\"my \"\" data\".a_1_decisions", "decide": "ext.simdup_decide"}}'::jsonb AS report});
cmp_ok(sql(q{SELECT length(ext.simdup_report_html(title => 'title', report => report)) FROM data.made}), '>', 1000, 'a ready report');
like(said($node, q{SELECT ext.simdup_report_html(title => 'title', report => jsonb_set(report, '{decide,decide}', '"trap.simdup_decide"')) FROM data.made}),
	qr/ERROR:  argument "report" is not a report/, "a forged report: another's function");
for my $forged ('t (a) VALUES (1); DROP TABLE t; --', 't;', 't ', 'Table', '"a', 'a"b"', 't--', "t\n", 'a..b', '"a"" ; b', '')
{
	like(said($node, "SELECT ext.simdup_report_html(title => 'title', report => jsonb_set(report, '{decide,$_}', to_jsonb(\$t\$$forged\$t\$::text))) FROM data.made"),
		qr/ERROR:  argument "report" is not a report/, "a forged report: $_ $forged")
	  for 'table', 'decide';
}

# --- bytes from the wire

my $file = PostgreSQL::Test::Utils::tempdir() . '/rows';
sub copy_binary
{
	my ($type, @fields) = @_;
	my $data = "PGCOPY\n\xff\r\n\0" . pack('NN', 0, 0) . join('', map { pack('nN/a*', 1, $_) } @fields) . pack('n', 0xffff);

	open(my $out, '>:raw', $file) or die $!;
	print $out $data;
	close $out;
	return said($node, qq{CREATE TEMP TABLE t (x $type); \\copy t FROM '$file' (FORMAT binary)\nSELECT x FROM t});
}
is(copy_binary('ext.simhash64', "\x01\x23\x45\x67\x89\xab\xcd\xef"), '0123456789abcdef', 'binary: a fingerprint');
is(copy_binary('ext.simhash_ball', "\x01\x23\x45\x67\x89\xab\xcd\xef" . pack('N', 64)), '<0123456789abcdef,64>', 'binary: a ball');
for my $case (
	[ 'ext.simhash64', '', qr/insufficient data/ ],
	[ 'ext.simhash64', "\0" x 7, qr/insufficient data/ ],
	[ 'ext.simhash64', "\0" x 9, qr/incorrect binary data format/ ],
	[ 'ext.simhash_ball', "\0" x 11, qr/insufficient data/ ],
	[ 'ext.simhash_ball', "\0" x 13, qr/incorrect binary data format/ ],
	[ 'ext.simhash_ball', "\0" x 8 . pack('N', 65), qr/65/ ],
	[ 'ext.simhash_ball', "\0" x 8 . "\xff\xff\xff\xff", qr/ERROR/ ],
	[ 'text', "\xc3", qr/invalid byte sequence/ ],
	[ 'text', "\xed\xa0\x80", qr/invalid byte sequence/ ],
	[ 'text', "a\0b", qr/invalid byte sequence/ ])
{
	my ($type, $bytes, $error) = @$case;

	like(copy_binary($type, $bytes), $error, "binary: $type from " . unpack('H*', $bytes));
}

# where the server lets any byte pass, every function takes it
$node->safe_psql('postgres', q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0});
my $broken = q{convert_from('\xffc328a0a1e28228f0288cbcfeed00'::bytea, 'SQL_ASCII')};
$broken =~ s/00'/'/;
is( $node->safe_psql('bytes', <<"SQL"),
CREATE EXTENSION simdup;
CREATE TABLE t AS SELECT i, ($broken || i || $broken)::text AS body FROM generate_series(1, 20) AS i;
SELECT count(*) FROM t WHERE simhash(body) IS NULL OR minhash_signature(body, 8, 1) IS NULL OR simdup_bitmap(body) IS NULL
  OR simdup_strip_html(body) IS NULL OR simdup_hash(body) IS NULL OR rabin_fingerprint(body) IS NULL OR simhash(body, tokenizer => 'char:3') IS NULL;
SET enable_nestloop = off;
SELECT count(*) FROM t AS a JOIN t AS b ON a.i < b.i AND shingle_resemblance(a.body, b.body, 1, 'word') >= 1;
CREATE VIEW v AS SELECT body AS key, simhash(body) AS fp, body AS content FROM t;
SELECT simdup_report_html('v', body) ~ '^[[:ascii:]]*\$' FROM t LIMIT 1;
SQL
	"0\n0\nt", 'bytes that are no text in an encoding without rules');

$node->stop;
done_testing();

# hamming_damage: one entry, separator, link or TID of an index is changed.
# simdup_index_check finds it, or every search still finds the rows of a scan. A
# hundred such faults in make test, a thousand in make test-all. Then the check
# beside writers, splits and VACUUM, and on a standby: no false alarm.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole);
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $faults = $whole ? 1000 : 100;

my ($include) = run_command([ $ENV{PG_CONFIG}, '--includedir-server' ]);
my $library = PostgreSQL::Test::Utils::tempdir() . '/damage.so';
system_or_bail($ENV{CC} // 'cc', '-shared', '-fPIC', '-O1', '-D_GNU_SOURCE', '-isystem', $include, '-o', $library, 'test/fault/damage.c');

my $node = PostgreSQL::Test::Cluster->new('hamming_damage');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ], allows_streaming => 1);
$node->append_conf('postgresql.conf', "jit = off\nmaintenance_work_mem = '1MB'\nmax_parallel_workers_per_gather = 0\n");
$node->start;
if (!$node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pageinspect'"))
{
	plan skip_all => 'pageinspect is not installed';
}

# Three levels; tails and splits, rows without a fingerprint, equal rows, dead rows.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION simdup;
CREATE EXTENSION pageinspect;
CREATE FUNCTION damage(index regclass, block int, at int, bytes bytea) RETURNS void LANGUAGE c STRICT AS '$library';
CREATE TABLE t (id int, fp simhash64);
CREATE FUNCTION fill(low int, high int) RETURNS void LANGUAGE sql AS \$\$
  INSERT INTO t SELECT i, CASE WHEN i % 50 > 0 THEN
      (CASE i % 3 WHEN 0 THEN hashint8extended(i, 1) WHEN 1 THEN hashint8extended(i % 20, 2) # (1::bigint << i % 64) ELSE hashint8extended(i % 300, 3) END)::simhash64 END
    FROM generate_series(low, high) AS i \$\$;
SELECT fill(1, 27000);
CREATE INDEX t_fp ON t USING hamming (fp) WITH (fillfactor = 10);
SELECT fill(27001, 30000);
DELETE FROM t WHERE id % 40 = 7;
SQL
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION by_scan(center simhash64, k int) RETURNS text LANGUAGE sql SET enable_indexscan = off SET enable_bitmapscan = off
  AS $$ SELECT string_agg(id::text, ' ' ORDER BY id) FROM t WHERE fp <@ simhash_ball(center, k) $$;
CREATE FUNCTION by_index(center simhash64, k int) RETURNS text LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = off
  AS $$ SELECT string_agg(id::text, ' ' ORDER BY id) FROM t WHERE fp <@ simhash_ball(center, k) $$;
CREATE FUNCTION by_bitmap(center simhash64, k int) RETURNS text LANGUAGE sql SET enable_seqscan = off SET enable_indexscan = off
  AS $$ SELECT string_agg(id::text, ' ' ORDER BY id) FROM t WHERE fp <@ simhash_ball(center, k) $$;
CREATE FUNCTION nearest_by_scan(center simhash64) RETURNS text LANGUAGE sql SET enable_indexscan = off SET enable_bitmapscan = off
  AS $$ SELECT string_agg(d::text, ' ') FROM (SELECT fp <~> center AS d FROM t WHERE fp IS NOT NULL ORDER BY fp <~> center LIMIT 500) AS n $$;
CREATE FUNCTION nearest_by_index(center simhash64) RETURNS text LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
  AS $$ SELECT string_agg(d::text, ' ') FROM (SELECT fp <~> center AS d FROM t WHERE fp IS NOT NULL ORDER BY fp <~> center LIMIT 500) AS n $$;
CREATE FUNCTION nulls_by_scan() RETURNS bigint LANGUAGE sql SET enable_indexscan = off SET enable_bitmapscan = off AS 'SELECT sum(id) FROM t WHERE fp IS NULL';
CREATE FUNCTION nulls_by_index() RETURNS bigint LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = off AS 'SELECT sum(id) FROM t WHERE fp IS NULL';

-- What a search finds of these centers and a scan does not, or the other way round.
CREATE FUNCTION differs(centers simhash64[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE center simhash64; k int;
BEGIN
  FOREACH center IN ARRAY centers LOOP
    FOREACH k IN ARRAY '{0,3,8,13,25,64}'::int[] LOOP
      IF by_scan(center, k) IS DISTINCT FROM by_index(center, k) OR (k = 8 AND by_scan(center, k) IS DISTINCT FROM by_bitmap(center, k)) THEN
        RETURN true;
      END IF;
    END LOOP;
    IF nearest_by_scan(center) IS DISTINCT FROM nearest_by_index(center) THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN nulls_by_scan() IS DISTINCT FROM nulls_by_index();
END $$;

CREATE FUNCTION int_at(page bytea, at int, n int) RETURNS bigint LANGUAGE sql
  AS $$ SELECT sum(get_byte(page, at + i)::bigint << 8 * i) FROM generate_series(0, n - 1) AS i $$;
CREATE FUNCTION below(n bigint) RETURNS int LANGUAGE sql RETURN floor(random() * n)::int;
-- A copy with one bit of n bytes changed.
CREATE FUNCTION flipped(bytes bytea) RETURNS bytea LANGUAGE sql
  AS $$ SELECT set_bit(bytes, b, 1 - get_bit(bytes, b)) FROM (SELECT below(8 * length(bytes)) AS b) AS r $$;
-- The fingerprint that begins with the value of a rotation.
CREATE FUNCTION unrotated(value bigint, tree int) RETURNS simhash64 LANGUAGE sql
  AS $$ SELECT (CASE tree WHEN 0 THEN value ELSE value << 64 - 16 * tree | (value >> 16 * tree & ~(-1::bigint << 64 - 16 * tree)) END)::simhash64 $$;

CREATE TABLE fault (kind text, block int, at int, level int, tree int, ended text);
-- Change one thing on a page, ask, and change it back.
CREATE PROCEDURE harm(kind text) LANGUAGE plpgsql AS $$
DECLARE
  n_blocks int := pg_relation_size('t_fp') / 8192;
  block int; page bytea; level int; tree int; n int; i int; j int; at int; new bytea; old bytea; ended text; centers simhash64[];
BEGIN
  LOOP
    block := 1 + below(n_blocks - 1);
    IF kind IN ('separator', 'child') THEN
      -- inner pages are few
      SELECT b INTO block FROM generate_series(1, n_blocks - 1) AS b WHERE get_byte(get_raw_page('t_fp', b), 47) > 0 ORDER BY random() LIMIT 1;
    END IF;
    page := get_raw_page('t_fp', block);
    n := (int_at(page, 12, 2) - 64) / 8;
    tree := get_byte(page, 46);
    level := get_byte(page, 47);
    EXIT WHEN n > 1 AND (level = 0 OR kind NOT IN ('entry', 'TID'));
  END LOOP;
  i := below(n);
  j := below(n);
  CASE kind
    WHEN 'entry' THEN at := 64 + 8 * i; new := CASE below(2) WHEN 0 THEN flipped(substr(page, at + 1, 8)) ELSE substr(page, 65 + 8 * j, 8) END;
    WHEN 'TID' THEN at := 8192 - 6 * (i + 1);
      -- of a live row, of a dead one, of any
      new := CASE below(3) WHEN 0 THEN substr(page, 8192 - 6 * (j + 1) + 1, 6)
        WHEN 1 THEN (SELECT set_byte(set_byte(set_byte('\x000000000000'::bytea, 2, b & 255), 3, b >> 8), 4, o)
          FROM (SELECT trim(split_part(ctid::text, ',', 2), ')')::int AS o, trim(split_part(ctid::text, ',', 1), '(')::int AS b
                FROM t OFFSET below(20000) LIMIT 1) AS r)
        ELSE flipped(substr(page, at + 1, 6)) END;
    WHEN 'separator' THEN
      IF random() < 0.8 THEN at := 64 + 8 * i; new := flipped(substr(page, at + 1, 8));
      ELSE at := 8192 - 10 * (i + 1); new := flipped(substr(page, at + 1, 6)); END IF;
    WHEN 'child' THEN at := 8192 - 10 * (i + 1) + 6;
      new := CASE below(2) WHEN 0 THEN flipped(substr(page, at + 1, 4)) ELSE substr(page, 8192 - 10 * (j + 1) + 7, 4) END;
    WHEN 'right link' THEN at := 40; j := below(n_blocks); new := set_byte(set_byte('\x00000000'::bytea, 0, j & 255), 1, j >> 8);
    WHEN 'high key' THEN at := 24; new := flipped(substr(page, at + 1, 14));
    WHEN 'number' THEN at := (ARRAY[12, 38, 44, 46, 47])[1 + below(5)]; new := flipped(substr(page, at + 1, 1));
    WHEN 'root' THEN block := 0; at := 24 + 4 * (2 + below(10)); page := get_raw_page('t_fp', 0); new := flipped(substr(page, at + 1, 2));
  END CASE;
  old := substr(page, at + 1, length(new));
  IF old = new THEN
    RETURN;
  END IF;
  -- forget where the trees begin
  ALTER INDEX t_fp SET (fillfactor = 10);
  PERFORM damage('t_fp', block, at, new);
  BEGIN
    PERFORM simdup_index_check('t_fp');
    ended := 'passed';
  EXCEPTION WHEN index_corrupted THEN ended := 'found';
  END;
  IF ended = 'passed' THEN
    SELECT array_agg(fp) INTO centers FROM (SELECT fp FROM t WHERE fp IS NOT NULL ORDER BY random() LIMIT 4) AS r;
    IF kind = 'entry' THEN
      centers := centers || unrotated(int_at(old, 0, 8), tree) || unrotated(int_at(new, 0, 8), tree);
    ELSIF tree < 4 THEN
      centers := centers || unrotated(int_at(page, 64 + 8 * i, 8), tree) || unrotated(int_at(page, 64 + 8 * j, 8), tree);
    END IF;
    BEGIN
      ended := CASE WHEN differs(centers) THEN 'missed' ELSE 'harmless' END;
    EXCEPTION WHEN index_corrupted THEN ended := 'missed, ' || SQLERRM;
    END;
  END IF;
  PERFORM damage('t_fp', block, at, old);
  INSERT INTO fault VALUES (kind, block, at, level, tree, ended);
END $$;
SQL
my $script = "SET statement_timeout = '60s';\nSELECT setseed(0.5);\n";
my @kinds = ('entry', 'entry', 'TID', 'TID', 'TID', 'separator', 'child', 'right link', 'high key', 'number', 'root');
$script .= "CALL harm('$kinds[$_ % @kinds]');\n" for 1 .. 1.1 * $faults;
$node->safe_psql('postgres', $script);
is($node->safe_psql('postgres', "SELECT * FROM fault WHERE ended NOT IN ('found', 'harmless')"), '', 'each fault is found, or harms no search');
my %share = map { split /\|/ } split /\n/, $node->safe_psql('postgres', 'SELECT ended, count(*) FROM fault GROUP BY 1');
note join ', ', map { "$_ $share{$_}" } sort keys %share;
cmp_ok($share{found} + $share{harmless}, '>=', $faults, "$faults faults");
cmp_ok($share{found}, '>', 0.6 * $faults, 'most are found');
is($node->safe_psql('postgres', "SELECT simdup_index_check('t_fp', true)"), '', 'without a fault, none is found');

# --- beside writers, splits and VACUUM; on a standby that replays them

$node->safe_psql('postgres', 'ALTER INDEX t_fp SET (fillfactor = 100); REINDEX INDEX t_fp');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('hamming_damage_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $check = "SELECT simdup_index_check('t_fp', true)";
is($node->safe_psql('postgres', "BEGIN; DELETE FROM t WHERE id = 1; SAVEPOINT s; SET LOCAL lock_timeout = '1s'; $check"), '', 'a writer holds up no check');
my $tmp = PostgreSQL::Test::Utils::tempdir();
append_to_file("$tmp/write.sql", <<'SQL');
\set i random(1, 1000000)
INSERT INTO t SELECT 1000000 + :i, hashint8extended(i % 50000, 5)::simhash64 FROM generate_series(:i, :i + 200) AS i;
UPDATE t SET fp = hashint8extended(:i, 6)::simhash64 WHERE ctid = (SELECT ctid FROM t OFFSET :i % 9000 LIMIT 1 FOR UPDATE SKIP LOCKED);
DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t OFFSET :i % 20000 LIMIT 60 FOR UPDATE SKIP LOCKED));
SQL
append_to_file("$tmp/vacuum.sql", "VACUUM (TRUNCATE off) t;\n");
my ($before) = $node->safe_psql('postgres', "SELECT leaf_pages FROM simdup_index_stat('t_fp')");
my $out = '';
my $writers = IPC::Run::start(
	[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-f', "$tmp/write.sql\@8", '-f', "$tmp/vacuum.sql\@1", '-c', 4, '-j', 2, '-t',
		$faults == 1000 ? 400 : 60, 'postgres' ],
	'>', \$out, '2>', \$out);
my ($alarms, $checks, $canceled, $answered) = ('', 0, 0, 0);
while ($writers->pumpable)
{
	my ($stdout, $stderr);

	$node->psql('postgres', $check, stderr => \$stderr);
	$alarms .= $stderr;
	$checks++;
	$standby->psql('postgres', $check, stdout => \$stdout, stderr => \$stderr);
	if ($stderr =~ /conflict with recovery/) { $canceled++ }
	elsif ($stderr ne '') { $alarms .= $stderr }
	else { $answered++ }
	$writers->pump_nb;
}
$writers->finish;
unlike($out, qr/ERROR/, 'the writers have no error');
is($alarms, '', 'the check raises no false alarm beside writers and VACUUM');
cmp_ok($checks, '>', 5, "it has run $checks times");
cmp_ok($node->safe_psql('postgres', "SELECT leaf_pages FROM simdup_index_stat('t_fp')"), '>', $before + 20, 'and pages were split');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $check), '', "on the standby too, where $answered checks ended and replay canceled $canceled");

$standby->stop;
$node->stop;
done_testing();

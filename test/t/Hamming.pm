package Hamming;

# What the scripts on the access method hamming share: tables of all kinds, an
# oracle that compares index and table, and servers that die.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep);

# Is the indexed column a text? hamming_text.pl and others say so. They run the
# same scripts, whose SQL is then rewritten for a column of texts.
our $of_texts = ($ENV{HAMMING_CLASS} // '') eq 'text';

my $operand = qr/(?:[^(),]|\((?:[^()]|\([^()]*\))*\))+/;

# The same statements for a column fp of texts, and queries that are texts.
sub of_class
{
	my ($sql) = @_;

	return $sql if !$of_texts;
	$sql =~ s/\bsimhash64\b/text/g;
	$sql =~ s/simhash_within\(fp, ($operand), ($operand)\)/fp <~@ simhash_ball(minhash64($1), $2)/g;
	$sql =~ s/fp <~> /fp <~~> /g;
	$sql =~ s/count\(fp\)/count(minhash64(fp))/g;
	$sql =~ s/simhash_ball\(fp, /simhash_ball(minhash64(fp), /g;
	# near another, and not the same
	$sql =~ s/0123456789abcdee/0123456789ABCDEF/g;
	return $sql;
}

{
	no warnings 'redefine';
	my $psql = \&PostgreSQL::Test::Cluster::psql;

	*PostgreSQL::Test::Cluster::psql = sub {
		my ($node, $db, $sql, @rest) = @_;
		return $psql->($node, $db, of_class($sql), @rest);
	} if $of_texts;
}

# Rows of a kind. They are the same for the same i, so that a table can be
# filled twice.
my $fingerprints = <<'SQL';
CREATE FUNCTION fingerprint(kind text, i bigint) RETURNS simhash64 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind
    WHEN 'uniform' THEN hashint8extended(i, 1)
    WHEN 'clustered' THEN hashint8extended(i % 50, 2) # (1::bigint << (i % 61)::int) # (1::bigint << (i % 37)::int) # (1::bigint << (i % 23)::int)
    WHEN 'equal' THEN 81985529216486895
    WHEN 'near' THEN 81985529216486895 # (1::bigint << (i % 64)::int) # (1::bigint << (i / 64 % 64)::int)
    WHEN 'sign' THEN (-9223372036854775807 - 1) | (i % 5000)
    WHEN 'nothing' THEN NULL
    WHEN 'mixed' THEN CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN -1 WHEN 2 THEN 0
      WHEN 3 THEN hashint8extended(i % 20, 3) # (i & 4095) ELSE hashint8extended(i, 4) END
  END::simhash64 $$;
SQL
my $texts = <<'SQL';
CREATE FUNCTION fingerprint(kind text, i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind
    WHEN 'uniform' THEN md5(i::text)
    WHEN 'clustered' THEN format('%s %s %s %s %s', md5((i % 50)::text), md5((i % 50)::text || '!'), i % 61, i % 37, i % 23)
    WHEN 'equal' THEN 'The lamp at the corner is dark'
    WHEN 'near' THEN format('The lamp at the corner of the street has been dark for %s weeks and %s days', i % 64, i / 64 % 64)
    WHEN 'sign' THEN repeat(chr(97 + (i % 26)::int), (i % 4)::int) || (i % 50)
    WHEN 'nothing' THEN CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE ' - ' END
    WHEN 'mixed' THEN CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN '!' WHEN 2 THEN 'a'
      WHEN 3 THEN md5((i % 20)::text) || (i & 4095) ELSE md5(i::text) END
  END $$;
SQL
our $setup = "CREATE EXTENSION simdup;\n" . ($of_texts ? $texts : $fingerprints) . <<'SQL';
CREATE FUNCTION fill(target text, kind text, first bigint, last bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO %s SELECT i, fingerprint(%L, i) FROM generate_series(%s, %s) i', target, kind, first, last);
END $$;

-- Number and sum of a hash of the rows that a plain, a bitmap or an ordered
-- scan finds. Rows that are missing, strange or there twice change them.
CREATE FUNCTION found(target text, plan text, q simhash64, k int, OUT n bigint, OUT h numeric) LANGUAGE plpgsql AS $$
DECLARE line text; planned boolean := false; query text;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
          set_config('enable_indexscan', (plan <> 'Bitmap')::text, true),
          set_config('enable_bitmapscan', (plan = 'Bitmap')::text, true);
  query := format('SELECT id FROM %s WHERE simhash_within(fp, %L, %s)', target, q, k);
  IF plan = 'Order By' THEN
    query := query || format(' ORDER BY fp <~> %L', q);
  END IF;
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    planned := planned OR strpos(line, CASE plan WHEN 'Plain' THEN 'Index Scan using' WHEN 'Bitmap' THEN 'Bitmap Index Scan' ELSE plan END) > 0;
  END LOOP;
  IF NOT planned THEN
    RAISE 'not planned as %: %', plan, query;
  END IF;
  EXECUTE format('SELECT count(*), sum(hashint8extended(id, 0)::numeric) FROM (%s OFFSET 0) s', query) INTO n, h;
  PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true),
          set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
END $$;

-- Searches in which index and table differ, for every k in steps, and by each
-- plan, around values of the table and around others.
CREATE FUNCTION differences(target text, step int = 1) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE q simhash64; k int; plan text; expected record; got record; differing bigint := 0;
BEGIN
  CREATE TEMP TABLE IF NOT EXISTS distance (d int, n bigint, h numeric);
  FOR q IN EXECUTE format('(SELECT fp FROM %s WHERE (fp <~> fp) = 0 ORDER BY hashint8extended(id, 9) LIMIT 2)
      UNION SELECT ''0123456789abcdef''::simhash64 UNION SELECT ''8000000000000000''::simhash64', target) LOOP
    TRUNCATE distance;
    EXECUTE format('INSERT INTO distance SELECT (fp <~> %L) + 0, count(*), sum(hashint8extended(id, 0)::numeric)
      FROM (SELECT * FROM %s OFFSET 0) s WHERE fp IS NOT NULL GROUP BY 1', q, target);
    FOR k IN SELECT generate_series(0, 64, step) LOOP
      SELECT coalesce(sum(n), 0) AS n, sum(h) AS h INTO expected FROM distance WHERE d <= k;
      FOREACH plan IN ARRAY ARRAY['Plain', 'Bitmap', 'Order By'] LOOP
        CONTINUE WHEN plan = 'Order By' AND k % 4 <> 0;
        got := found(target, plan, q, k);
        IF (got.n, got.h) IS DISTINCT FROM (expected.n, expected.h) THEN
          RAISE WARNING '% k=% q=%: % rows, expected %', plan, k, q, got.n, expected.n;
          differing := differing + 1;
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  RETURN differing;
END $$;

-- Ordered lists that are not in order, or not of all rows.
CREATE FUNCTION disorder(target text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE q simhash64; wrong bigint := 0; rows bigint; bad boolean;
BEGIN
  EXECUTE format('SELECT count(*) FROM %s', target) INTO rows;
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_sort = off;
  FOREACH q IN ARRAY ARRAY[fingerprint('clustered', 7), '0123456789abcdef', 'ffffffffffffffff'] LOOP
    EXECUTE format('SELECT count(*) <> %s OR count(DISTINCT id) <> count(*) OR coalesce(bool_or(d < before OR (d IS NOT NULL AND before IS NULL AND place > 1)), false)
      FROM (SELECT id, d, lag(d) OVER (ORDER BY place) AS before, place
            FROM (SELECT id, d, row_number() OVER () AS place
                  FROM (SELECT id, fp <~> %L AS d FROM %s ORDER BY fp <~> %2$L) a) b) c', rows, q, target) INTO bad;
    wrong := wrong + bad::int;
  END LOOP;
  SET LOCAL enable_seqscan = on;
  SET LOCAL enable_sort = on;
  RETURN wrong;
END $$;
SQL

# The processes that a running one has started.
sub children_of
{
	my ($parent) = @_;
	my @children = map { (eval { slurp_file($_) } // '') =~ /^(\d+) \(.*\) \S $parent /s ? $1 : () } glob '/proc/[0-9]*/stat';

	return @children ? @children : die "no children of the process $parent in /proc";
}

# Everything that runs goes at once, as if the machine had. The postmaster is
# stopped first: a child that it forks meanwhile would live on, and keep the next
# server from starting.
sub kill_server
{
	my ($node) = @_;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	kill 'STOP', $postmaster;
	# a fork that is under way ends first
	my $patience = 1200;
	until (slurp_file("/proc/$postmaster/stat") =~ /^\d+ \(.*\) T /s)
	{
		die "the process $postmaster does not stop" if !$patience--;
		sleep 0.05;
	}
	my @children = children_of($postmaster);

	kill 'KILL', @children;
	$node->kill9;
	for (1 .. 1200)
	{
		return if !kill 0, $postmaster, @children;
		sleep 0.05;
	}
	die "the process $postmaster or its children do not end";
}

my $n_scripts = 0;

# psql in the background, on a script; its end is not of interest.
sub in_background
{
	my ($node, $script) = @_;
	my $file = $node->basedir . '/background' . $n_scripts++ . '.sql';
	open my $handle, '>', $file or die "$file: $!";
	print $handle of_class($script);
	close $handle;
	return IPC::Run::start([ 'psql', '-qXAt', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', \undef, '>', \my $out, '2>', \my $err);
}

1;

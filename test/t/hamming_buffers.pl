# hamming_buffers: searches on a server whose buffers hold less than an index. A
# backend remembers in which buffers it found leaves. Others are there by the time
# of the next search, and it must notice.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('buffers');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
shared_buffers = 1MB
max_connections = 10
jit = off
CONF
$node->start;
$node->safe_psql('postgres', $Hamming::setup);

# One session has all searches, of two tables in turn and of a temporary one.
is($node->safe_psql('postgres', <<'SQL'), "t\n0\n0\n0", 'searches find what the tables have');
CREATE TABLE a (id int, fp simhash64);
CREATE TABLE b (id int, fp simhash64);
CREATE TEMP TABLE c (id int, fp simhash64);
SELECT FROM fill('a', 'uniform', 1, 30000);
SELECT FROM fill('b', 'uniform', 40001, 70000);
SELECT FROM fill('c', 'uniform', 80001, 90000);
CREATE INDEX ON a USING hamming (fp);
CREATE INDEX ON b USING hamming (fp);
CREATE INDEX ON c USING hamming (fp);
SELECT pg_relation_size('a_fp_idx') > 3 * 1024 * 1024 / 2;

-- searches of the table by the index that find another number of rows than a scan
CREATE FUNCTION wrong(target text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE expected bigint; wrong bigint := 0;
BEGIN
  FOR k IN 6..24 BY 6 LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT fp FROM %s OFFSET 0) s WHERE fp <~> $1 <= $2', target)
      INTO expected USING fingerprint('uniform', k), k;
    wrong := wrong + (expected <> (found(target, 'Plain', fingerprint('uniform', k), k)).n)::int;
  END LOOP;
  RETURN wrong;
END $$;
SELECT sum(wrong(t)) FROM unnest(ARRAY['a', 'b', 'c', 'a', 'b']) t;
SELECT FROM fill('a', 'uniform', 30001, 40000);
SELECT wrong('a');
TRUNCATE b;
SELECT FROM fill('b', 'uniform', 1, 30000);
SELECT wrong('b');
SQL

$node->stop;
done_testing();

-- index: simhash_ball, simhash_within and the planner
CREATE SCHEMA index_room;
SET search_path = index_room, public;
SELECT opcname, amname, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcname ~ '^simhash' AND amname <> 'hamming' ORDER BY opcname COLLATE "C";

--
-- the type
--
SELECT '<0123456789ABCdef,3>'::simhash_ball, simhash_ball('0123456789abcdef', 64),
       '<0123456789abcdef,007>'::simhash_ball;
SELECT simhash_ball_send('<0123456789abcdef,3>');
SELECT typlen, typbyval, typalign FROM pg_type WHERE typname = 'simhash_ball';
-- not balls
SELECT ''::simhash_ball;
SELECT '0123456789abcdef'::simhash_ball;
SELECT '<0123456789abcdef>'::simhash_ball;
SELECT '<0123456789abcde,3>'::simhash_ball;
SELECT '<0123456789abcdef0,3>'::simhash_ball;
SELECT '<0123456789abcdef,>'::simhash_ball;
SELECT '<0123456789abcdef,->'::simhash_ball;
SELECT '<0123456789abcdef,3'::simhash_ball;
SELECT '<0123456789abcdef,3> '::simhash_ball;
SELECT '<0123456789abcdef, 3>'::simhash_ball;
SELECT '<0123456789abcdef,3.0>'::simhash_ball;
-- a radius is 0 to 64 in every form
SELECT '<0123456789abcdef,65>'::simhash_ball;
SELECT '<0123456789abcdef,-1>'::simhash_ball;
SELECT '<0123456789abcdef,99999999999999999999>'::simhash_ball;
SELECT simhash_ball('0123456789abcdef', 65);
SELECT simhash_ball('0123456789abcdef', -1);
SELECT simhash_within('0123456789abcdef', '0123456789abcdef', 65);
SELECT simhash_within('0123456789abcdef', '0123456789abcdef', -2147483648);

--
-- membership
--
SELECT k, simhash_within(a, b, k) AS within, a <@ simhash_ball(b, k) AS is_in,
       simhash_ball(a, k) @> b AS has
FROM (VALUES ('00000000000000ff'::simhash64, '0000000000000000'::simhash64)) v(a, b),
     unnest(ARRAY[0, 7, 8, 9, 64]) k;
SELECT simhash_within(NULL, '0123456789abcdef', 3) IS NULL AS a,
       simhash_within('0123456789abcdef', NULL, 3) IS NULL AS b,
       simhash_within('0123456789abcdef', '0123456789abcdef', NULL) IS NULL AS k,
       simhash_ball(NULL, 3) IS NULL AS center,
       '0123456789abcdef'::simhash64 <@ NULL::simhash_ball IS NULL AS ball;

--
-- the planner
--
CREATE FUNCTION some_bits(seed bigint, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT coalesce(bit_or(1::bigint << p), 0)
   FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, seed), p LIMIT n) s $$;
CREATE TABLE queries AS
SELECT i, hashint8extended(i, 11)::simhash64 AS q FROM generate_series(1, 8) i
UNION ALL VALUES (100, '0000000000000000'::simhash64), (101, 'ffffffffffffffff'), (102, '0123456789abcdef');
ANALYZE queries;
CREATE TABLE big AS
SELECT i AS id, hashint8extended(i, 11)::simhash64 AS fp FROM generate_series(1, 50000) i;
CREATE INDEX big_fp ON big USING hamming (fp);
ANALYZE big;
-- plans as they are without workers
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within('0123456789abcdef', fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE '<0123456789abcdef,3>' @> fp;
-- where a scan is cheaper
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', 40);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE fp <@ '<0123456789abcdef,40>';
-- both sides columns of one table, or a radius from it: no index condition
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, '0123456789abcdef', id);
EXPLAIN (COSTS OFF) SELECT * FROM big WHERE simhash_within(fp, (random() * 9)::bigint::simhash64, 3);
-- nested loops, from either side
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(q.q, b.fp, 3);
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(b.fp, q.q, 3);
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN big b ON simhash_within(b.fp, q.q, q.i::int % 4);
EXPLAIN (COSTS OFF) SELECT * FROM queries q WHERE NOT EXISTS (SELECT FROM big b WHERE simhash_within(b.fp, q.q, 3));
SELECT count(*) FROM (SELECT * FROM big WHERE id <= 300) a JOIN big b ON simhash_within(a.fp, b.fp, 3);
-- parameters, with a plan for each and with one for all
PREPARE search(simhash64, int) AS SELECT id FROM big WHERE simhash_within(fp, $1, $2) ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search('0123456789abcdef', 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 0);
EXECUTE search(NULL, 3);
EXECUTE search('0123456789abcdef', 65);
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE search('0123456789abcdef', 3);
EXECUTE search(hashint8extended(77, 11)::simhash64, 3);
EXECUTE search('0123456789abcdef', -1);
RESET plan_cache_mode;
RESET max_parallel_workers_per_gather;
-- an index of another kind is left alone
CREATE TABLE btree_only AS SELECT * FROM big;
CREATE INDEX ON btree_only (fp);
CREATE INDEX ON btree_only USING hash (fp);
SET enable_seqscan = off;
SELECT count(*) FROM btree_only WHERE simhash_within(fp, hashint8extended(77, 11)::simhash64, 3);
RESET enable_seqscan;
-- no name is looked up through search_path
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.simhash_ball(simhash64, int) RETURNS simhash_ball LANGUAGE sql IMMUTABLE AS
$$ SELECT public.simhash_ball('0000000000000000', 0) $$;
BEGIN;
SET LOCAL search_path = elsewhere, pg_catalog;
SELECT id FROM index_room.big WHERE public.simhash_within(fp, hashint8extended(77, 11)::public.simhash64, 3);
SET LOCAL search_path = '';
SELECT id FROM index_room.big WHERE public.simhash_within(fp, pg_catalog.hashint8extended(77, 11)::public.simhash64, 3);
EXPLAIN (COSTS OFF) SELECT id FROM index_room.big WHERE public.simhash_within(fp, '0123456789abcdef', 3);
COMMIT;

-- estimates: how far from the truth, as a factor; the sample is the whole table,
-- so that it is the same one each time
SET default_statistics_target = 1000;
ANALYZE big;
CREATE FUNCTION estimate_factor(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json; estimate numeric; truth numeric;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  estimate := greatest((plan->0->'Plan'->>'Plan Rows')::numeric, 1);
  EXECUTE 'SELECT count(*) FROM (' || query || ') s' INTO truth;
  truth := greatest(truth, 1);
  RETURN greatest(estimate / truth, truth / estimate);
END $$;
SELECT k, max(estimate_factor(format('SELECT * FROM big WHERE simhash_within(fp, %L, %s)', q, k))) <= 10 AS close
FROM (SELECT fp AS q FROM big WHERE id % 5000 = 1 UNION ALL SELECT '0123456789abcdef'
      UNION ALL (SELECT fp FROM big ORDER BY fp LIMIT 1) UNION ALL (SELECT fp FROM big ORDER BY fp DESC LIMIT 1)) s,
     unnest(ARRAY[0, 1, 3, 8, 15, 20, 24, 28, 32, 40, 64]) k
GROUP BY k ORDER BY k;
CREATE TABLE copies AS
SELECT i AS id, (hashint8extended((i::bigint * 7919 % 1000) * (i::bigint * 104729 % 997) / 2000, 12))::simhash64 AS fp FROM generate_series(1, 50000) i;
INSERT INTO copies SELECT i, NULL FROM generate_series(1, 20000) i;
ANALYZE copies;
SELECT k, max(estimate_factor(format('SELECT * FROM copies WHERE fp <@ %L', simhash_ball(fp, k)))) <= 100 AS close
FROM (SELECT DISTINCT fp FROM copies WHERE id % 500 = 0 AND fp IS NOT NULL) s, unnest(ARRAY[0, 3, 8, 32, 64]) k
GROUP BY k ORDER BY k;
CREATE TABLE same AS SELECT i AS id, '0123456789abcdef'::simhash64 AS fp FROM generate_series(1, 10000) i;
ANALYZE same;
SELECT estimate_factor('SELECT * FROM same WHERE simhash_within(fp, ''0123456789abcdef'', 3)') <= 2 AS equal_to_all,
       estimate_factor('SELECT * FROM same WHERE simhash_within(fp, ''fedcba9876543210'', 3)') <= 2 AS far_from_all,
       estimate_factor('SELECT * FROM same WHERE simhash_within(fp, NULL, 3)') <= 2 AS null_center,
       estimate_factor('SELECT * FROM same WHERE fp <@ NULL::simhash_ball') <= 2 AS null_ball,
       estimate_factor('SELECT * FROM same a JOIN queries q ON simhash_within(a.fp, q.q, 3)') <= 100 AS with_few,
       estimate_factor('SELECT * FROM queries q WHERE EXISTS (SELECT FROM same a WHERE a.fp <@ simhash_ball(q.q, 3))') <= 100 AS semi;
-- edits of ten centers: each a tenth of the rows, and no value is common
CREATE TABLE clustered AS
SELECT i AS id, (hashint8extended(i % 10, 13) # some_bits(i, 8))::simhash64 AS fp FROM generate_series(1, 5000) i;
ANALYZE clustered;
SELECT estimate_factor(format('SELECT * FROM clustered WHERE simhash_within(fp, %L, 8)', hashint8extended(3, 13)::simhash64)) <= 10 AS center;
-- no statistics
CREATE TABLE fresh (id int, fp simhash64);
INSERT INTO fresh SELECT * FROM big LIMIT 1000;
SELECT estimate_factor('SELECT * FROM fresh WHERE simhash_within(fp, ''0123456789abcdef'', 3)') <= 10 AS fresh;
RESET default_statistics_target;

-- below row-level security: the operator is leakproof, so it may use the index
CREATE ROLE simdup_reader;
GRANT USAGE ON SCHEMA index_room TO simdup_reader;
GRANT SELECT ON big TO simdup_reader;
ALTER TABLE big ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON big FOR SELECT TO simdup_reader USING (id % 2 = 1);
SET ROLE simdup_reader;
EXPLAIN (COSTS OFF) SELECT id FROM big WHERE fp <@ '<0123456789abcdef,3>';
SELECT count(*) FROM big WHERE fp = hashint8extended(77, 11)::simhash64;
SELECT count(*) FROM big WHERE simhash_within(fp, hashint8extended(77, 11)::simhash64, 3);
SELECT count(*) FROM big WHERE simhash_within(fp, hashint8extended(78, 11)::simhash64, 3);
RESET ROLE;
ALTER TABLE big DISABLE ROW LEVEL SECURITY;
DROP OWNED BY simdup_reader;
DROP ROLE simdup_reader;

-- the estimators on operators of other types
SELECT count(*) FROM pg_operator WHERE oprrest = 'simhash_ballsel'::regproc;
CREATE FUNCTION int_in(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
CREATE OPERATOR <@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = int_in,
                     RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
SELECT count(*) FROM big WHERE id <@@ 5;
SELECT count(*) FROM queries a JOIN queries b ON a.i::int <@@ b.i::int;
CREATE OPERATOR <@@ (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq,
                     RESTRICT = simhash_ballsel, JOIN = simhash_balljoinsel);
SELECT count(*) FROM (VALUES ('edits'), ('random')) v(kind) WHERE kind <@@ 'edits';
CREATE FUNCTION is_long(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1) > 5; END';
CREATE OPERATOR !!! (RIGHTARG = text, FUNCTION = is_long, RESTRICT = simhash_ballsel);
SELECT count(*) FROM (VALUES ('edits'), ('random')) v(kind) WHERE !!! kind;
-- and on an operator of fingerprints whose function is in another schema
CREATE FUNCTION fp_in(simhash64, simhash_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 <@ $2; END';
CREATE OPERATOR <@@ (LEFTARG = simhash64, RIGHTARG = simhash_ball, FUNCTION = fp_in, RESTRICT = simhash_ballsel);
SELECT max(estimate_factor(format('SELECT * FROM copies WHERE fp <@@ %L', simhash_ball(fp, 3)))) <= 100 AS close
FROM (SELECT DISTINCT fp FROM copies WHERE id % 500 = 0 AND fp IS NOT NULL) s;

-- a search is cancelled at once
SET simdup.enable_join = off;
SET enable_seqscan = off;
SET enable_material = off;
SET statement_timeout = '200ms';
SELECT count(*) FROM big a JOIN big b ON a.fp <@ simhash_ball(b.fp, 12);
RESET statement_timeout;
RESET enable_material;
RESET enable_seqscan;
RESET simdup.enable_join;

SET client_min_messages = warning;
DROP SCHEMA elsewhere, index_room CASCADE;
RESET client_min_messages;
RESET search_path;

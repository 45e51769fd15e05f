-- joins by nearness: the node against every pair compared
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

-- a fingerprint out of a number, and one with some bits flipped
CREATE FUNCTION fp_of(i int) RETURNS simhash64 IMMUTABLE
  RETURN (('x' || substr(md5(i::text), 1, 16))::bit(64))::simhash64;
CREATE FUNCTION flipped(fp simhash64, seed int, bits int) RETURNS simhash64 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE v bigint := fp::bigint;
BEGIN
  FOR j IN 1 .. bits LOOP
    v := v # (1::bigint << (('x' || substr(md5(seed || '/' || j), 1, 4))::bit(16)::int % 64));
  END LOOP;
  RETURN v::simhash64;
END $$;

-- kinds of data that shortcuts could get wrong
CREATE TABLE letter (kind text, id integer, fp simhash64);
INSERT INTO letter SELECT 'random', i, fp_of(i) FROM generate_series(1, 300) i;
INSERT INTO letter SELECT 'copies', i, CASE WHEN i % 3 = 0 THEN flipped(fp_of(i / 30), i, i % 11) ELSE fp_of(i) END
  FROM generate_series(1, 300) i;
INSERT INTO letter SELECT 'dense', i, flipped(fp_of(i % 3), i, i % 13) FROM generate_series(1, 300) i;
INSERT INTO letter SELECT 'skewed', i, (fp_of(i)::bigint & 255 | (i % 4)::bigint << 60)::simhash64 FROM generate_series(1, 300) i;
INSERT INTO letter SELECT 'equal', i, fp_of(i % 4) FROM generate_series(1, 120) i;
INSERT INTO letter SELECT 'null', i, NULL FROM generate_series(1, 3) i;
ANALYZE letter;

-- what it shows
EXPLAIN (COSTS OFF)
SELECT a.id, b.id FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, 8);
EXPLAIN (COSTS OFF, VERBOSE)
SELECT a.id FROM letter a WHERE NOT EXISTS (SELECT FROM letter b WHERE b.id < a.id AND a.fp <@ simhash_ball(b.fp, 8));
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    -- memory is the machine's, and since 18 rows have decimals
    RETURN NEXT regexp_replace(regexp_replace(line, '(Memory|Disk) Usage: \d+', '\1 Usage: N'), '(rows=\d+)\.00', '\1');
  END LOOP;
END $$;
SELECT shown($$SELECT a.id, b.id FROM letter a LEFT JOIN letter b ON a.id < b.id AND a.kind = b.kind AND a.fp <~> b.fp < 4$$);
SELECT shown($$SELECT a.id FROM letter a WHERE EXISTS (SELECT FROM letter b WHERE a.id <> b.id AND simhash_within(b.fp, a.fp, 2))$$);

-- pairs equal brute force, for distances of either kind of search
CREATE FUNCTION wrong_pairs(k integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  CREATE TEMP TABLE joined AS
  SELECT a.kind, a.id AS a, b.id AS b FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, k);
  SET LOCAL simdup.enable_join = off;
  SELECT count(*) INTO n FROM (
    SELECT FROM (
      SELECT *, 1 AS n FROM joined
      UNION ALL
      SELECT a.kind, a.id, b.id, -1 FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind WHERE a.fp <~> b.fp <= k) AS both_ways
    GROUP BY kind, a, b HAVING sum(both_ways.n) <> 0) AS difference;
  SET LOCAL simdup.enable_join = on;
  DROP TABLE joined;
  RETURN n;
END $$;
SELECT k, wrong_pairs(k) FROM generate_series(0, 32, 4) AS k;
-- on disk, the same
SET work_mem = '64kB';
SELECT k, wrong_pairs(k) FROM unnest('{0,3,8,12,17,32}'::integer[]) AS k;
RESET work_mem;

-- INSERT reads its table once, as SELECT does, also where it writes there; MERGE marks the rows of each side
CREATE TABLE near (a integer, b integer, PRIMARY KEY (a, b));
EXPLAIN (COSTS OFF)
INSERT INTO letter SELECT a.kind, -a.id, b.fp FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, 3)
ON CONFLICT DO NOTHING RETURNING id;
WITH found AS (
  INSERT INTO near SELECT a.id, b.id FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, 3)
  ON CONFLICT (a, b) DO NOTHING RETURNING a, b)
SELECT count(*) > 0 AS any, count(*) = (SELECT count(DISTINCT (a.id, b.id)) FROM letter a, letter b
    WHERE a.id < b.id AND a.kind = b.kind AND a.fp <~> b.fp <= 3) AS same FROM found;
SELECT trim(line) AS reads FROM shown($$MERGE INTO near USING
  (SELECT a.id AS x, b.id AS y FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, 3)) AS s
  ON near.a = s.x AND near.b = s.y WHEN NOT MATCHED THEN INSERT VALUES (x, y)$$) AS line WHERE line ~ 'letter';
DROP TABLE near;

-- distances that no constant tells: beyond 32 all pairs are compared, and none is below 0
PREPARE at_most(integer) AS SELECT count(*) FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND a.fp <~> b.fp <= $1;
PREPARE within(integer) AS SELECT count(*) FROM letter a JOIN letter b ON a.id < b.id AND a.kind = b.kind AND simhash_within(a.fp, b.fp, $1);
SET plan_cache_mode = force_generic_plan;
EXECUTE at_most(40);
EXECUTE at_most(2000000000);
EXECUTE at_most(-1);
EXECUTE at_most(NULL);
EXECUTE within(64);
EXECUTE within(65);
EXECUTE within(-1);
EXECUTE within(NULL);
RESET plan_cache_mode;

-- conditions of one cost stay in their order, among many: one may guard another
SELECT count(*) > 0 AS any FROM letter a JOIN letter b ON simhash_within(a.fp, b.fp, 4) AND abs(a.id - b.id) > 0 AND a.id + b.id + 1 > 0
  AND 10 / (a.id - b.id) < 77 AND a.id + b.id > 0 AND a.id + b.id * 2 > 0 AND abs(a.id * b.id) > 0 AND abs(b.id - a.id) > -1 AND a.id > b.id - 1000;

-- aggregates that the server computes below a join, from 19 on
CREATE TEMP TABLE kinds AS SELECT b.kind, sum(a.id) FROM letter a JOIN letter b ON a.kind = b.kind
  JOIN letter c ON simhash_within(c.fp, b.fp, 3) WHERE b.kind IN ('random', 'copies') GROUP BY b.kind;
SELECT kind, sum = (SELECT sum(a.id) FROM letter a WHERE a.kind = kinds.kind)
    * (SELECT count(*) FROM letter b, letter c WHERE b.kind = kinds.kind AND c.fp <~> b.fp <= 3) AS right
FROM kinds ORDER BY kind;

-- texts: by fingerprints first, and by all shingles
CREATE TABLE document (id integer PRIMARY KEY, body text);
INSERT INTO document
SELECT i, (SELECT string_agg(CASE WHEN j % 40 = i % 6 THEN 'x' || i ELSE 'w' || j || '_' || i / 6 END, ' ' ORDER BY j)
           FROM generate_series(1, 80) AS j)
FROM generate_series(1, 60) AS i;
INSERT INTO document VALUES (100, NULL), (101, '***'), (102, 'a b'), (103, 'A, b'), (104, '');
ANALYZE document;
EXPLAIN (COSTS OFF)
SELECT a.id, b.id FROM document a JOIN document b ON a.id < b.id AND simdup_resembles(a.body, b.body, 0.8);
EXPLAIN (COSTS OFF)
SELECT a.id, b.id FROM document a JOIN document b ON a.id < b.id AND 0.7 < shingle_resemblance(a.body, b.body, 2, 'word');
CREATE TABLE compared AS
SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2, 'word') AS resemblance FROM document a JOIN document b ON a.id < b.id;
CREATE FUNCTION wrong_texts(r float8) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*)
  FROM (SELECT a.id AS a, b.id AS b FROM document a JOIN document b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 2, 'word') >= r) AS j
    FULL JOIN (SELECT c.a, c.b FROM compared c WHERE c.resemblance >= r) AS c ON c.a = j.a AND c.b = j.b
  WHERE j.a IS NULL OR c.a IS NULL
$$;
-- by fingerprints first, in one table and in two
CREATE FUNCTION wrong_near(r float8) RETURNS bigint LANGUAGE sql AS $$
  SELECT (SELECT count(*)
          FROM (SELECT a.id AS a, b.id AS b FROM document a JOIN document b ON a.id < b.id AND simdup_resembles(a.body, b.body, r)) AS j
            FULL JOIN (SELECT a.id AS a, b.id AS b FROM document a JOIN document b ON a.id < b.id
                       WHERE shingle_resemblance(a.body, b.body) >= r AND minhash64(a.body) <~> minhash64(b.body) <= minhash64_distance(r)) AS c ON c.a = j.a AND c.b = j.b
          WHERE j.a IS NULL OR c.a IS NULL)
    + (SELECT count(*)
       FROM (SELECT a.id AS a, b.id AS b FROM document a JOIN document b ON a.id % 2 = 0 AND b.id % 2 = 1 AND simdup_resembles(b.body, a.body, r)) AS j
         FULL JOIN (SELECT a.id AS a, b.id AS b FROM document a JOIN document b ON a.id % 2 = 0 AND b.id % 2 = 1
                    WHERE shingle_resemblance(a.body, b.body) >= r AND minhash64(a.body) <~> minhash64(b.body) <= minhash64_distance(r)) AS c ON c.a = j.a AND c.b = j.b
       WHERE j.a IS NULL OR c.a IS NULL)
$$;
SELECT r, wrong_near(r), (SELECT count(*) FROM document a JOIN document b ON a.id < b.id AND simdup_resembles(a.body, b.body, r)) > 5 AS many
FROM unnest(ARRAY[0.3, 0.5, 0.7, 0.8, 0.9, 1.0]) AS r;
SELECT r, wrong_texts(r), (SELECT count(*) FROM compared WHERE resemblance >= r) > 50 AS many FROM unnest(ARRAY[-1, 0, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 'NaN']) AS r;
SELECT a.id, b.id FROM document a JOIN document b ON a.id < b.id AND a.id > 99 AND simdup_resembles(a.body, b.body);
-- no pair is left out, however many texts share a shingle
CREATE TABLE lamp AS
SELECT i AS id, 'Dear office, please repair the street lamp that stands in front of house number ' || i || ', thank you very much' AS body
FROM generate_series(1, 1000) AS i;
ANALYZE lamp;
SELECT count(*) = 1000 * 999 / 2 AS complete FROM lamp a JOIN lamp b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 4, 'char') >= 0.5;
-- low thresholds have the promised recall, against all pairs compared. Letters of a subject have 30 words, up to 12 of their own
CREATE TABLE petition AS
SELECT i AS id, string_agg(left(md5(format('%s %s', CASE WHEN j <= i % 13 THEN i ELSE i / 13 - 100 END, j)), 5), ' ' ORDER BY j) AS body
FROM generate_series(1, 520) AS i, generate_series(1, 30) AS j GROUP BY i;
SET simdup.enable_join = off;
CREATE TABLE exact AS
SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body) AS resemblance
FROM petition a JOIN petition b ON a.id < b.id AND shingle_resemblance(a.body, b.body) >= 0.5;
RESET simdup.enable_join;
CREATE FUNCTION recall(r float8) RETURNS TABLE (many boolean, joined boolean, clustered boolean) LANGUAGE sql AS $$
  WITH found AS (SELECT a.id AS a, b.id AS b FROM petition a JOIN petition b ON a.id < b.id AND simdup_resembles(a.body, b.body, r)),
    cluster AS MATERIALIZED (SELECT id, simdup_cluster(id, body, r, 'connected') OVER (ORDER BY id) AS cluster FROM petition)
  SELECT count(*) > 500, avg((found.a IS NOT NULL)::integer) >= 0.99, avg((x.cluster = y.cluster)::integer) >= 0.99
  FROM exact LEFT JOIN found USING (a, b) JOIN cluster AS x ON x.id = exact.a JOIN cluster AS y ON y.id = exact.b WHERE resemblance >= r $$;
SELECT r, recall.* FROM unnest('{0.5,0.7}'::float8[]) AS r, recall(r);
-- options out of range are errors where there is a text
SELECT count(*) FROM document a JOIN document b ON shingle_resemblance(a.body, b.body, 0) >= 0.5;
SELECT count(*) FROM document a JOIN document b ON shingle_resemblance(a.body, b.body, 2, 'line') >= 0.5;
SELECT count(*) FROM document a JOIN document b ON simdup_resembles(a.body, b.body, 1.5);
SELECT count(*) FROM document a JOIN document b ON a.id < 0 AND shingle_resemblance(a.body, b.body, 0) >= 0.5;
SELECT count(*) FROM document a JOIN document b ON a.id < b.id AND a.id > b.id AND simdup_resembles(a.body, b.body, (SELECT 1.5));
-- also by shingles, whose search finds no pair then
CREATE TABLE copy AS SELECT id, 'copy of ' || id % 5 AS body FROM generate_series(1, 1000) AS id;
ANALYZE copy;
SELECT count(*) FROM copy a JOIN copy b ON a.id < b.id AND simdup_resembles(a.body, b.body, (SELECT 1.5));
SELECT count(*) FROM copy a JOIN copy b ON a.id < b.id AND simdup_resembles(a.body, b.body, (SELECT 'NaN'::float8));
SELECT count(*) FROM copy a JOIN copy b ON a.id + 100000 < b.id AND simdup_resembles(a.body, b.body, (SELECT 1.5));
DROP TABLE copy;

-- why two texts are near
SELECT * FROM simdup_explain('the rose is a rose', 'The tulip is a rose', 'simhash', 2, 'word') \gx
SELECT * FROM simdup_explain('***', 'a "rose"', 'simhash') \gx
SELECT distance, resemblance FROM simdup_explain('one and the same', 'one and the same');
SELECT distance = simhash(a) <~> simhash(b) AS same FROM (VALUES ('the rose is a rose', 'The tulip is a rose')) AS t(a, b), simdup_explain(a, b, 'simhash');
SELECT * FROM simdup_explain('a', 'b', w => 0);

-- an equality without a commutator, whose outer operand is the second
CREATE FUNCTION same_rest(int, int) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE OPERATOR === (FUNCTION = same_rest, LEFTARG = int, RIGHTARG = int, HASHES);
CREATE OPERATOR CLASS same_rest_ops FOR TYPE int USING hash AS OPERATOR 1 ===, FUNCTION 1 hashint4(int);
SELECT count(*) > 0 AS found, count(*) = (SELECT count(*) FROM letter a JOIN letter b ON b.id % 7 === a.id % 7 AND simhash_within(a.fp, b.fp, 8)) AS same
FROM letter a JOIN letter b ON a.id % 7 === b.id % 7 AND simhash_within(a.fp, b.fp, 8);
SET client_min_messages = warning;
DROP FUNCTION same_rest CASCADE;
RESET client_min_messages;
DROP OPERATOR FAMILY same_rest_ops USING hash;

-- a comparison is estimated as the function is
CREATE FUNCTION estimate(condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM letter a JOIN letter b ON a.id < b.id AND ' || condition INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT estimate('a.fp <~> b.fp <= 3') BETWEEN 0.5 * n AND 2 * n AS alike, n < 100000 AS few FROM estimate('simhash_within(a.fp, b.fp, 3)') AS n;

-- plan advice rules the node out, where the server has it
RESET enable_nestloop;
SELECT current_setting('server_version_num')::int >= 190000 AS has_advice \gset
\if :has_advice
LOAD 'pg_plan_advice';
SET pg_plan_advice.advice = 'NESTED_LOOP_PLAIN(b)';
\else
SET simdup.enable_join = off;
\endif
SELECT count(*) FILTER (WHERE line ~ 'Hamming Join') AS nodes, count(*) FILTER (WHERE line ~ 'Nested Loop') AS loops
FROM shown('SELECT a.id FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8)') AS line;
RESET simdup.enable_join;

DROP TABLE letter, document, lamp, compared, petition, exact;
DROP FUNCTION fp_of, flipped, shown, estimate, wrong_pairs, wrong_texts, wrong_near, recall;

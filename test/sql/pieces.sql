-- pieces: the pairs of all pieces are the pairs of the table, each once
CREATE SCHEMA pieces;
SET search_path = pieces, public;
SET simdup.progress_interval = 0;

CREATE TABLE rows (kind text, id bigint, fp simhash64);
INSERT INTO rows SELECT 'uniform', i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 1500) i;
INSERT INTO rows SELECT 'around few centers', i, (hashint8extended(i % 40, 0)
  # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)) # (1::bigint << (i / 23 % 64)))::simhash64
  FROM generate_series(1, 1200) i;
INSERT INTO rows SELECT 'equal', i, hashint8extended(i % 4, 0)::simhash64 FROM generate_series(1, 120) i;
INSERT INTO rows SELECT 'in one block', i, i::bigint::simhash64 FROM generate_series(0, 300) i;
INSERT INTO rows SELECT 'some NULL', i, NULLIF(i % 3, 0)::bigint::simhash64 FROM generate_series(1, 90) i;

-- what the pieces return and simdup_pairs does not, or the other way round
CREATE FUNCTION wrong(of_kind text, k int, pieces int, OUT wrong bigint, OUT pairs bigint) LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT id, fp FROM rows WHERE kind = %L ORDER BY id', of_kind);
BEGIN
  CREATE TEMP TABLE packed AS SELECT * FROM simdup_pieces(query, k, pieces);
  CREATE TEMP TABLE found AS
    SELECT least(a, b) AS a, greatest(a, b) AS b, distance
    FROM generate_series(0, pieces - 1) AS n,
      simdup_piece_pairs(format('SELECT keys, fps FROM packed WHERE piece = %s', n), k, n, pieces);
  SELECT count(*) INTO wrong FROM (
    (SELECT *, count(*) FROM found GROUP BY 1, 2, 3 EXCEPT SELECT a, b, distance, 1 FROM simdup_pairs(query, k))
    UNION ALL
    (SELECT a, b, distance, 1 FROM simdup_pairs(query, k) EXCEPT SELECT *, 1 FROM found)) AS d;
  SELECT count(*) INTO pairs FROM found;
  DROP TABLE packed, found;
END $$;
SET client_min_messages = warning;
SELECT kind, k, sum((w).wrong) AS wrong, min((w).pairs) = max((w).pairs) AS same, max((w).pairs) > 50 AS many
FROM (SELECT DISTINCT kind FROM rows) AS kinds, unnest('{0, 3, 8, 16}'::int[]) AS k,
  unnest('{1, 2, 40}'::int[]) AS pieces, LATERAL (SELECT wrong(kind, k, pieces) AS w OFFSET 0) AS s
GROUP BY kind, k ORDER BY kind COLLATE "C", k;
RESET client_min_messages;

-- a row is in a piece once, in at most k + 1 of them, and the pieces are of a size
SELECT k, pieces, count(DISTINCT piece) AS used, max(n) < 1.2 * min(n) AS like, round(sum(n) / 1500.0, 1) AS copies, bool_and(n = different) AS once
FROM (SELECT k, pieces, piece, sum(cardinality(keys)) AS n,
        (SELECT count(DISTINCT key) FROM unnest(array_agg(keys::text)) AS a, unnest(a::bigint[]) AS key) AS different
      FROM (VALUES (0, 2), (3, 2), (3, 4), (8, 9)) AS v (k, pieces),
        simdup_pieces($$SELECT id, fp FROM rows WHERE kind = 'uniform'$$, k, pieces)
      GROUP BY k, pieces, piece) AS s
GROUP BY k, pieces ORDER BY k, pieces;

-- keys of other types
CREATE TABLE packed AS SELECT * FROM simdup_pieces($$SELECT 'key ' || id, fp FROM rows WHERE kind = 'equal'$$, NULL::text, 3, 2);
SELECT pg_typeof(keys), pg_typeof(fps) FROM packed LIMIT 1;
SELECT count(*), count(DISTINCT (a, b)), min(a COLLATE "C"), max(b COLLATE "C") FROM generate_series(0, 1) AS n,
  simdup_piece_pairs(format('SELECT keys, fps FROM packed WHERE piece = %s', n), NULL::text, 3, n, 2);
SELECT count(*) FROM simdup_pieces('SELECT id::smallint, fp FROM rows', 3, 2);

-- parameters
SELECT piece, keys FROM simdup_pieces('SELECT id, fp FROM rows WHERE kind = $1 AND id < $2', 3, 1, params => '{equal,4}');
SELECT * FROM simdup_piece_pairs('SELECT $1::bigint[], $2::simhash64[]', 3, 0, 1, params => ARRAY['{4,2}', '{1111111111111111,1111111111111110}']);

-- little memory: smaller arrays, and files
SET work_mem = '64kB';
SET maintenance_work_mem = '1MB';
CREATE TABLE many AS SELECT i AS id, hashint8extended(i / 2, 0)::simhash64 AS fp FROM generate_series(1, 60000) i;
CREATE TABLE many_packed AS SELECT * FROM simdup_pieces('SELECT id, fp FROM many', 3, 40);
SELECT max(cardinality(keys)), sum(cardinality(keys)) > 60000 AS copies FROM many_packed;
SELECT count(*), sum(a # b) FROM generate_series(0, 39) AS n,
  simdup_piece_pairs(format('SELECT keys, fps FROM many_packed WHERE piece = %s', n), 3, n, 40);
SELECT count(*), sum(a # b) FROM simdup_pairs('SELECT id, fp FROM many', 3);
RESET work_mem;
RESET maintenance_work_mem;

-- NULL, nothing, and what is refused
SELECT * FROM simdup_pieces(NULL, 3, 2);
SELECT * FROM simdup_piece_pairs('SELECT keys, fps FROM packed', 3, NULL, 2);
SELECT * FROM simdup_pieces('SELECT id, fp FROM rows WHERE false', 3, 2);
SELECT * FROM simdup_piece_pairs('SELECT $${}$$::bigint[], $${}$$::simhash64[]', 3, 0, 2);
SELECT * FROM simdup_pieces('SELECT id, fp FROM rows', 17, 2);
SELECT * FROM simdup_pieces('SELECT id, fp FROM rows', 3, 0);
SELECT * FROM simdup_pieces('SELECT id, fp FROM rows', 3, 4097);
SELECT * FROM simdup_pieces('SELECT NULL::bigint, fp FROM rows', 3, 2);
SELECT * FROM simdup_pieces('SELECT fp, id FROM rows', 3, 2);
SELECT * FROM simdup_piece_pairs('SELECT keys, fps FROM packed', 3, 2, 2);
SELECT * FROM simdup_piece_pairs('SELECT keys, fps FROM packed', 3, -1, 2);
SELECT * FROM simdup_piece_pairs('SELECT keys, fps FROM packed', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT id, fp FROM rows', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT 1', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT NULL::bigint[], fps FROM packed', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT $${1,NULL}$$::bigint[], $${1111111111111111,2222222222222222}$$::simhash64[]', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT $${1,2}$$::bigint[], $${1111111111111111}$$::simhash64[]', 3, 0, 2);
SELECT * FROM simdup_piece_pairs('SELECT $${1,2}$$::bigint[], $${1111111111111111,NULL}$$::simhash64[]', 3, 0, 1);
SET client_min_messages = warning;
DROP SCHEMA pieces CASCADE;
RESET ALL;

-- pieces: the pairs of all pieces are the pairs of the table, each in one of them by its smallest
CREATE TABLE rows (kind text, id bigint, fp simhash64);
INSERT INTO rows SELECT 'uniform', i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 1500) i;
INSERT INTO rows SELECT 'around few centers', i, (hashint8extended(i % 40, 0)
  # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)) # (1::bigint << (i / 23 % 64)))::simhash64
  FROM generate_series(1, 600) i;
INSERT INTO rows SELECT 'equal', i, hashint8extended(i % 4, 0)::simhash64 FROM generate_series(1, 120) i;
INSERT INTO rows SELECT 'in one block', i, i::bigint::simhash64 FROM generate_series(0, 127) i;
INSERT INTO rows SELECT 'some NULL', i, NULLIF(i % 3, 0)::bigint::simhash64 FROM generate_series(1, 90) i;

-- pairs that only the pieces or only a join of the table give
CREATE FUNCTION wrong(of_kind text, k int, n int, OUT wrong bigint, OUT pairs bigint) LANGUAGE sql AS $$
  WITH row AS MATERIALIZED (SELECT id, fp, simhash_pieces(fp, k, n) AS pieces FROM rows WHERE kind = of_kind),
    in_piece AS MATERIALIZED (SELECT id, fp, pieces, piece FROM row, unnest(pieces) AS piece),
    found AS (SELECT a.id AS a, b.id AS b FROM in_piece AS a JOIN in_piece AS b USING (piece)
      WHERE a.id < b.id AND simhash_within(a.fp, b.fp, k)
        AND piece = (SELECT min(p) FROM unnest(a.pieces) AS p WHERE p = ANY (b.pieces))),
    truth AS (SELECT a.id AS a, b.id AS b FROM row AS a JOIN row AS b ON a.id < b.id AND a.fp <~> b.fp <= k)
  SELECT (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE truth) UNION ALL (TABLE truth EXCEPT ALL TABLE found)) AS d), (SELECT count(*) FROM truth)
$$;
SELECT kind, k, sum((w).wrong) AS wrong, max((w).pairs) AS pairs
FROM (SELECT DISTINCT kind FROM rows) AS kinds, unnest('{0, 3, 8, 16}'::int[]) AS k,
  unnest('{2, 40}'::int[]) AS n, LATERAL (SELECT wrong(kind, k, n) AS w OFFSET 0) AS s
GROUP BY kind, k ORDER BY kind COLLATE "C", k;

-- a row is in at most k + 1 pieces, each named once and in order; pieces have equal sizes, also where bits are skewed
SELECT kind, k, n, count(DISTINCT piece) AS used, round(max(rows) / 200.0, 1) AS "fullest, %", round(sum(rows) / 20000.0, 1) AS copies
FROM (SELECT kind, k, n, piece, count(*) AS rows
      FROM (SELECT kind, (hashint8extended(i, 0) | (hashint8extended(i, 1) & mask))::simhash64 AS fp
            FROM (VALUES ('even', 0), ('skewed', -1)) AS m (kind, mask), generate_series(1, 20000) AS i) AS s,
        (VALUES (0, 2), (3, 2), (3, 4), (3, 256), (8, 9), (8, 100), (8, 256)) AS v (k, n), unnest(simhash_pieces(fp, k, n)) AS piece
      GROUP BY kind, k, n, piece) AS s
GROUP BY kind, k, n ORDER BY kind, k, n;
SELECT count(*), max(cardinality(p)), bool_and(p = ARRAY(SELECT DISTINCT x FROM unnest(p) AS x ORDER BY x)) AS in_order
FROM rows, unnest('{0, 3, 16}'::int[]) AS k, LATERAL (SELECT simhash_pieces(fp, k, 9) AS p) AS s WHERE p IS NOT NULL;
-- pieces that were stored stay right
SELECT simhash_pieces('0123456789abcdef', 3, 40), simhash_pieces('0123456789abcdef', 8, 4096), simhash_pieces('0123456789abcdef', 0, 1);
-- so they can be indexed
CREATE INDEX ON rows USING gin (simhash_pieces(fp, 3, 40));

-- NULL, and refusals
SELECT simhash_pieces(NULL, 3, 2), simhash_pieces('0123456789abcdef', NULL, 2), simhash_pieces('0123456789abcdef', 3, NULL);
SELECT simhash_pieces('0123456789abcdef', 33, 2);
SELECT simhash_pieces('0123456789abcdef', -1, 2);
SELECT simhash_pieces('0123456789abcdef', 3, 0);
SELECT simhash_pieces('0123456789abcdef', 3, 4097);
DROP FUNCTION wrong;
DROP TABLE rows;

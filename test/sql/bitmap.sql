-- feature bitmaps and the sliding window of class representatives
SELECT simdup_bitmap('a rose is a rose', 16), simdup_bitmap('', 16), simdup_bitmap('***', 16);
SELECT length(simdup_bitmap('a rose is a rose')), bit_count(simdup_bitmap('a rose is a rose', 32768)::bit(32768)),
       simdup_bitmap('a b', 1);
SELECT simdup_bitmap('ab', 64, 'char:1') | simdup_bitmap('c', 64, 'char:1') = simdup_bitmap('c b a', 64);

SELECT a, b, simdup_bitmap_similarity(a, b)
FROM (VALUES (B'1100', B'0110'), (B'1111', B'1111'), (B'1100', B'0011'),
             (B'0000', B'0000'), (B'0000', B'0001'), (B'', B''), (NULL, B'1')) AS t(a, b);

-- the document's rule: strictly greater, first of the ring, next class
SELECT n, bits, simdup_window(bits, 2, 0.5) OVER (ORDER BY n)
FROM (VALUES (1, B'11110000'), (2, B'11110000'), (3, B'11000000'), (4, B'11100000'),
             (5, B'00001111'), (6, B'11110000'), (7, B'00000000'), (8, B'00000000'),
             (9, NULL), (10, B'00001111')) AS t(n, bits);
-- half is not more than half
SELECT n, simdup_window(bits, 10, 0.5) OVER (ORDER BY n) AS "0.5",
       simdup_window(bits, 10, 0.49) OVER (ORDER BY n) AS "0.49",
       simdup_window(bits, 10, 0) OVER (ORDER BY n) AS "0",
       simdup_window(bits, 10, 1) OVER (ORDER BY n) AS "1"
FROM (VALUES (1, B'11110000'), (2, B'11000000'), (3, B'11110000'), (4, B'00001111')) AS t(n, bits);

-- against the document's loop, in SQL's own arithmetic
CREATE TABLE bitmap_rows (n int, part int, bits bit(32));
INSERT INTO bitmap_rows
SELECT n, n % 3, (('x' || substr(md5((n % 400)::text), 1, 8))::bit(32)
                  | (1::bit(32) << n % 32)) & ~(1::bit(32) << n % 29)
FROM generate_series(1, 10000) AS n;

CREATE FUNCTION naive_window(row_part int, window_size int, threshold float8)
RETURNS TABLE (n int, class bigint) LANGUAGE plpgsql AS $$
DECLARE
  ring bit(32)[] := '{}';
  ids bigint[] := '{}';
  current_id bigint := 0;
  bits bit(32);
BEGIN
  FOR n, bits IN SELECT r.n, r.bits FROM bitmap_rows r
                 WHERE row_part IS NULL OR part = row_part ORDER BY r.n LOOP
    SELECT ids[s.i] INTO class
    FROM generate_subscripts(ring, 1) AS s(i)
    WHERE bit_count(ring[s.i] | bits) > 0
      AND bit_count(ring[s.i] & bits)::float8 / bit_count(ring[s.i] | bits) > threshold
    ORDER BY s.i LIMIT 1;
    IF class IS NULL THEN
      ring[current_id % window_size + 1] := bits;
      ids[current_id % window_size + 1] := current_id;
      class := current_id;
      current_id := current_id + 1;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

SELECT size, threshold, count(*) AS rows, count(DISTINCT class) > 1 AS classes,
       count(*) FILTER (WHERE class IS DISTINCT FROM expected) AS wrong
FROM (VALUES (1, 0), (1, 0.5), (1, 0.9), (1, 1), (10, 0), (10, 0.5), (10, 0.9), (10, 1)) AS o(size, threshold),
  LATERAL (SELECT r.n, simdup_window(bits, size, threshold) OVER (ORDER BY r.n) AS class
           FROM bitmap_rows r) AS ours,
  LATERAL (SELECT w.n, w.class AS expected FROM naive_window(NULL, size, threshold) AS w OFFSET 0) AS naive
WHERE ours.n = naive.n
GROUP BY size, threshold ORDER BY size, threshold;

-- a partition begins anew
SELECT count(*) AS rows, count(*) FILTER (WHERE class IS DISTINCT FROM expected) AS wrong
FROM (SELECT n, part, simdup_window(bits, 20, 0.8) OVER (PARTITION BY part ORDER BY n) AS class
      FROM bitmap_rows) AS ours
JOIN (SELECT p, w.n, w.class AS expected
      FROM generate_series(0, 2) AS p, naive_window(p, 20, 0.8) AS w) AS naive
  ON p = part AND naive.n = ours.n;

-- bad input
SELECT simdup_bitmap('a', 0);
SELECT simdup_bitmap('a', 32769);
\set VERBOSITY terse
SELECT simdup_bitmap('a', 128, 'morphemes');
\set VERBOSITY default
SELECT simdup_bitmap_similarity(B'1', B'10');
SELECT simdup_bitmap_similarity(repeat('1', 32769)::varbit, repeat('1', 32769)::varbit);
SELECT simdup_window(B'1', 0, 0.5) OVER ();
SELECT simdup_window(B'1', NULL, 0.5) OVER ();
SELECT simdup_window(B'1', 10, NULL) OVER ();
SELECT simdup_window(B'1', 10, 1.5) OVER ();
SELECT simdup_window(B'1', 10, 'NaN') OVER ();
SELECT simdup_window(b, 10, 0.5) OVER () FROM (VALUES (B'1'), (B'10')) AS t(b);
SELECT simdup_window(B'1', 10, 0.5);

DROP FUNCTION naive_window(int, int, float8);
DROP TABLE bitmap_rows;

-- The workflow on table petition (id, content, fp), as run.sh has loaded it:
-- search, report on the whole table, arrivals. Table truth is there for the
-- project's own petitions, and with it what a found pair should be.

SELECT to_regclass('truth') IS NOT NULL AS own, format_type(atttypid, NULL) AS id_type
FROM pg_attribute
WHERE attrelid = 'petition'::regclass AND attname = 'id' \gset
SELECT 82 - max(length(id::text)) AS room FROM petition \gset

SELECT count(*) AS rows, count(fp) AS "with a fingerprint", count(*) - count(fp) AS "without a word",
       pg_size_pretty(coalesce(sum(octet_length(content)), 0)) AS text
FROM petition;
SELECT id, fp, shorten(content, :room - 9) AS content
FROM petition
WHERE fp IS NOT NULL
ORDER BY id
LIMIT 3;

\echo '2. Which rows are like this one, within 3 of its 64 bits?'
\echo '---------------------------------------------------------'
\set ECHO queries
CREATE INDEX petition_blocks ON petition USING gin (simhash_blocks(fp));
\set ECHO none
ANALYZE petition;

-- A row that has something to show, looked for among the first 2000.
SELECT CASE WHEN :'id_type' = 'bigint' THEN q::text ELSE quote_literal(q) END AS q
FROM (SELECT coalesce(
  (SELECT q.id
   FROM (SELECT min(id) AS id, fp FROM (SELECT id, fp FROM petition LIMIT 2000) AS sample GROUP BY fp) AS q
        JOIN petition AS p ON simhash_blocks(p.fp) && simhash_blocks(q.fp)
          AND p.fp <~> q.fp <= 3 AND p.id <> q.id
   GROUP BY q.id
   ORDER BY least(count(*), 6) DESC, max(p.fp <~> q.fp) DESC, q.id
   LIMIT 1),
  (SELECT min(id) FROM petition WHERE fp IS NOT NULL)) AS q) AS chosen \gset
\echo
\set ECHO queries
\timing on
SELECT p.id, p.fp <~> q.fp AS distance, shorten(p.content, :room) AS content
FROM petition AS p, petition AS q
WHERE q.id = :q
  AND simhash_blocks(p.fp) && simhash_blocks(q.fp) AND p.fp <~> q.fp <= 3
ORDER BY distance, p.id
LIMIT 8;
\timing off
\set ECHO none
\echo
\echo 'How the server looks for them (EXPLAIN):'
\pset tuples_only on
EXPLAIN (COSTS OFF)
SELECT p.id
FROM petition AS p, petition AS q
WHERE q.id = :q
  AND simhash_blocks(p.fp) && simhash_blocks(q.fp) AND p.fp <~> q.fp <= 3;
\pset tuples_only off

\echo '3. And within 8, the working threshold for letters of this length?'
\echo '------------------------------------------------------------------'
\set ECHO queries
CREATE INDEX petition_fp ON petition USING hamming (fp);
\set ECHO none
\echo
\set ECHO queries
\timing on
SELECT p.id, p.fp <~> q.fp AS distance, shorten(p.content, :room) AS content
FROM petition AS p, petition AS q
WHERE q.id = :q AND simhash_within(p.fp, q.fp, 8)
ORDER BY distance, p.id
LIMIT 8;
\timing off
\set ECHO none
\echo
\echo 'How the server looks for them (EXPLAIN):'
\pset tuples_only on
EXPLAIN (COSTS OFF)
SELECT p.id
FROM petition AS p, petition AS q
WHERE q.id = :q AND simhash_within(p.fp, q.fp, 8);
\pset tuples_only off

\echo '4. Which rows of the whole table are like each other?'
\echo '-----------------------------------------------------'
-- Equal fingerprints count once. All pairs of different ones are compared, up to a
-- size at which this takes seconds.
CREATE TABLE fingerprint AS
SELECT fp, count(*) AS rows, min(id) AS first
FROM petition
WHERE fp IS NOT NULL
GROUP BY fp
ORDER BY first
LIMIT 10000;
SELECT sum(rows) AS reported, count(*) AS distinct FROM fingerprint \gset
SELECT count(fp) > :reported AS cut FROM petition \gset
\if :cut
  \echo 'This report compares every pair, so it takes the first' :reported 'rows only.'
\endif
\echo 'Comparing every pair of' :distinct 'different fingerprints:'
\timing on
CREATE TABLE near AS
SELECT a.fp AS a, b.fp AS b, a.fp <~> b.fp AS distance
FROM fingerprint AS a JOIN fingerprint AS b ON a.fp < b.fp AND a.fp <~> b.fp <= 8;
\timing off

CREATE VIEW pairs_by_distance AS
SELECT distance, coalesce(sum(pairs), 0) AS pairs
FROM generate_series(0, 8) AS distance
     LEFT JOIN (SELECT 0 AS distance, rows * (rows - 1) / 2 AS pairs FROM fingerprint
                UNION ALL
                SELECT near.distance, a.rows * b.rows
                FROM near JOIN fingerprint AS a ON a.fp = near.a
                     JOIN fingerprint AS b ON b.fp = near.b) AS found USING (distance)
GROUP BY distance;

\echo
\echo 'Pairs of rows by distance:'
\if :own
  CREATE VIEW truth_distance AS
  SELECT truth.a, truth.b, truth.kind, a.fp <~> b.fp AS distance
  FROM truth JOIN petition AS a ON a.id = truth.a JOIN petition AS b ON b.id = truth.b;

  SELECT distance, pairs, count(*) FILTER (WHERE kind = 'copy') AS copies,
         count(*) FILTER (WHERE kind = 'edit') AS edits,
         count(*) FILTER (WHERE kind = 'template') AS templates,
         count(*) FILTER (WHERE kind = 'addition') AS additions,
         count(*) FILTER (WHERE kind = 'place_only') AS "other place only",
         pairs - count(kind) AS unrelated
  FROM pairs_by_distance LEFT JOIN truth_distance USING (distance)
  GROUP BY distance, pairs
  ORDER BY distance;
\else
  SELECT distance, pairs FROM pairs_by_distance ORDER BY distance;
\endif

-- Groups: all rows that pairs connect take the smallest name among them.
CREATE TABLE member AS SELECT fp, first AS leader FROM fingerprint;
ALTER TABLE member ADD PRIMARY KEY (fp);
DO $$
BEGIN
  LOOP
    UPDATE member
    SET leader = neighbour.leader
    FROM (SELECT link.fp, min(member.leader) AS leader
          FROM (SELECT a AS fp, b AS other FROM near UNION ALL SELECT b, a FROM near) AS link
               JOIN member ON member.fp = link.other
          GROUP BY link.fp) AS neighbour
    WHERE neighbour.fp = member.fp AND neighbour.leader < member.leader;
    EXIT WHEN NOT FOUND;
  END LOOP;
END $$;
CREATE TABLE near_group AS
SELECT *
FROM (SELECT leader, count(*) OVER (PARTITION BY leader) AS size, id,
             row_number() OVER (PARTITION BY leader ORDER BY id) AS n, fp, content
      FROM member JOIN petition USING (fp)) AS grouped
WHERE size > 1;

SELECT count(DISTINCT leader) AS "groups within 8", count(*) AS "rows in them",
       coalesce(max(size), 0) AS "rows in the largest"
FROM near_group;
\echo 'The largest groups, and at most four rows of each:'
SELECT CASE WHEN g.n = 1 THEN g.size END AS size, g.id, g.fp <~> leader.fp AS distance,
       shorten(g.content, :room - 7) AS content
FROM near_group AS g JOIN petition AS leader ON leader.id = g.leader
WHERE g.n <= 4 AND g.leader IN (SELECT leader FROM near_group GROUP BY leader ORDER BY count(*) DESC, leader LIMIT 6)
ORDER BY g.size DESC, g.leader, g.n;

\if :own
  \echo 'What was found of the pairs that were written as variations of one letter:'
  SELECT kind, count(*) AS pairs, count(*) FILTER (WHERE distance <= 3) AS "within 3",
         count(*) FILTER (WHERE distance <= 8) AS "within 8",
         count(*) FILTER (WHERE distance > 8) AS beyond
  FROM truth_distance
  GROUP BY kind
  ORDER BY array_position('{copy,edit,template,addition,place_only}', kind);

  \echo 'Alike, and not the same case: the closest letters about another place, and the pairs that were'
  \echo 'not written as variations. So a near-duplicate is shown to a clerk, never merged by itself:'
  WITH pair AS (
    (SELECT a, b, distance FROM truth_distance WHERE kind = 'place_only' ORDER BY distance, a LIMIT 1)
    UNION ALL
    (SELECT a.id, b.id, a.fp <~> b.fp
     FROM petition AS a JOIN petition AS b ON a.id < b.id AND a.fp <~> b.fp <= 8
     WHERE NOT EXISTS (SELECT FROM truth WHERE truth.a = a.id AND truth.b = b.id)
     ORDER BY a.fp <~> b.fp, a.id LIMIT 3)
  )
  SELECT CASE id WHEN a THEN distance END AS distance, id, shorten(content, :room) AS content
  FROM pair JOIN petition ON id IN (a, b)
  ORDER BY pair.distance, a, id;
\endif

\echo '5. Does a petition that arrives now repeat an earlier one?'
\echo '----------------------------------------------------------'
\set ECHO queries
ALTER TABLE petition ADD repeats :id_type, ADD distance integer;
CREATE FUNCTION mark_repeat() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- NEW.fp is generated after this trigger, so not there yet
  new_fp simhash64 := simhash(NEW.content);
BEGIN
  SELECT p.id, p.fp <~> new_fp INTO NEW.repeats, NEW.distance
  FROM petition AS p
  WHERE simhash_within(p.fp, new_fp, 8)
  ORDER BY p.fp <~> new_fp, p.id
  LIMIT 1;
  RETURN NEW;
END $$;
CREATE TRIGGER mark_repeat BEFORE INSERT ON petition
  FOR EACH ROW EXECUTE FUNCTION mark_repeat();
\set ECHO none

\echo
CREATE TEMP TABLE arrival (id :id_type, content text);
\if :own
  \echo 'Three letters come in: an edited copy, a new matter, one more sender of a known letter.'
  \copy arrival FROM 'test/demo/arrivals.csv' WITH (FORMAT csv, HEADER)
\else
  \echo 'Three rows come in: a copy with a greeting, a text without its end, a new matter.'
  INSERT INTO arrival
  SELECT CAST(CASE WHEN :'id_type' = 'bigint' THEN ((SELECT max(id)::text::bigint FROM petition) + n)::text
                   ELSE 'new ' || n END AS :id_type), text
  FROM petition,
       LATERAL (VALUES (1, 'Good morning! ' || content),
                       (2, left(content, length(content) * 19 / 20)),
                       (3, 'Since the clock on the market hall was mended it has struck thirteen at noon.')) AS letter(n, text)
  WHERE id = :q;
\endif
\timing on
INSERT INTO petition (id, content) SELECT id, content FROM arrival
RETURNING id, repeats, distance, shorten(content, :room - 12) AS content;
\timing off
\echo

\ir compare.sql

\if :own
  \echo 'Next: make demo DATA=/path/to/your.csv for rows of your own; README.md goes further than this.'
\else
  \echo 'Next: read pairs at each distance of step 4 to choose your threshold; README.md goes further.'
\endif

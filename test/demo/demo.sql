-- The workflow on table petition (id, content), as run.sh has loaded it: an index
-- on the texts, search, arrivals, pairs, cases, a report. A large table and the
-- documents' road follow. Table truth, with the pairs to be found,
-- is there for the project's own petitions. Letters of the language that :chinese says come first.

SELECT to_regclass('truth') IS NOT NULL AS own, format_type(atttypid, NULL) AS id_type
FROM pg_attribute
WHERE attrelid = 'petition'::regclass AND attname = 'id' \gset
SELECT 82 - greatest(max(length(id::text)), length('new 1')) AS wide FROM petition \gset
SELECT :wide - 4 AS room, :wide - 14 AS narrow, :wide / 2 - 8 AS half \gset
CREATE FUNCTION is_asked(content text, chinese boolean) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN chinese = (content ~ '[一-龥]');

\echo '== 1. An index on the texts =='
\echo 'It keeps 64 bits of each text, the fingerprint. Few of them differ for texts much alike.'
\set ECHO queries
\timing on
CREATE INDEX petition_near ON petition USING hamming (content);
\timing off
\set ECHO none
ANALYZE petition;
SELECT count(*) AS rows, count(minhash64(content)) AS "with a fingerprint", count(*) - count(minhash64(content)) AS "without a word",
       pg_size_pretty(coalesce(sum(octet_length(content)), 0)) AS text, pg_size_pretty(pg_relation_size('petition_near')) AS index
FROM petition;

\echo '== 2. Which rows resemble this one by half or more? =='
\echo 'Resemblance is the share of windows of 4 characters that two texts have in common.'
-- A row that has something to show, looked for among the first 2000.
SELECT CASE WHEN :'id_type' = 'bigint' THEN q ELSE quote_literal(q) END AS q
FROM (SELECT coalesce(
  (SELECT cluster::text
   FROM (SELECT simdup_cluster(id, fp) OVER (ORDER BY id) AS cluster, fp
         FROM (SELECT id, minhash64(content) AS fp FROM petition ORDER BY id LIMIT 2000) AS first) AS c
     JOIN petition AS f ON f.id = cluster
   GROUP BY cluster, f.content HAVING count(*) > 1
   ORDER BY is_asked(f.content, :chinese) DESC, least(count(*), 6) DESC, max(c.fp <~> minhash64(f.content)) DESC, cluster LIMIT 1),
  (SELECT min(id)::text FROM petition WHERE minhash64(content) IS NOT NULL)) AS q) AS chosen \gset
\set ECHO queries
\timing on
SELECT p.id, round(shingle_resemblance(p.content, q.content)::numeric, 2) AS resemblance,
       shorten(p.content, :room) AS content
FROM petition AS p, petition AS q
WHERE q.id = :q AND simdup_resembles(p.content, q.content, 0.5)
ORDER BY resemblance DESC, id LIMIT 6;
\timing off
\set ECHO none
\echo

\echo '== 3. Does a petition that arrives now repeat an earlier one? =='
\echo 'A trigger asks the index, and names the nearest earlier row in the column repeats.'
\set ECHO queries
ALTER TABLE petition ADD repeats :id_type;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('repeats');
\set ECHO none
CREATE TEMP TABLE arrival (id :id_type, content text);
\if :own
  \echo 'Three letters come in: one more sender of a known letter, an edited copy, a new matter.'
  \copy arrival FROM 'test/demo/arrivals.csv' WITH (FORMAT csv, HEADER)
\else
  \echo 'Three rows come in: a copy in capitals, a text without its end, a new matter.'
  INSERT INTO arrival
  SELECT CAST(CASE WHEN :'id_type' = 'bigint' THEN ((SELECT max(id)::text::bigint FROM petition) + n)::text
                   ELSE 'new ' || n END AS :id_type), text
  FROM petition,
       LATERAL (VALUES (1, upper(content) || '!'),
                       (2, left(content, length(content) * 19 / 20)),
                       (3, 'Since the clock on the market hall was mended it has struck thirteen at noon.')) AS letter(n, text)
  WHERE id = :q;
\endif
\timing on
INSERT INTO petition (id, content) SELECT id, content FROM arrival ORDER BY is_asked(content, :chinese) DESC, id
RETURNING id, repeats, shorten(content, :room) AS content;
\timing off
\echo

\echo '== 4. Which rows of the whole table are like each other? =='
\echo 'A distance is the number of bits in which two fingerprints differ; 8 is the limit by default.'
\set ECHO queries
\timing on
CREATE TABLE pair AS
WITH f AS MATERIALIZED (SELECT id, minhash64(content) AS fp FROM petition)
SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
FROM f AS a JOIN f AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8);
\timing off
\set ECHO none
\if :own
  \echo 'Pairs within a distance, and what their writers did: they changed some characters, sent the letter'
  \echo 'that others sent, added a paragraph, or wrote the same about another place:'
  SELECT k AS within, count(*) AS pairs, count(*) FILTER (WHERE kind = 'copy') AS copies,
         count(*) FILTER (WHERE kind = 'edit') AS edits,
         count(*) FILTER (WHERE kind = 'template') AS templates,
         count(*) FILTER (WHERE kind = 'addition') AS additions,
         count(*) FILTER (WHERE kind = 'place_only') AS "other place only",
         count(*) FILTER (WHERE kind IS NULL) AS others
  FROM unnest(ARRAY[0, 3, 8]) AS k JOIN pair ON distance <= k
       LEFT JOIN truth ON truth.a = least(pair.a, pair.b) AND truth.b = greatest(pair.a, pair.b)
  GROUP BY k
  ORDER BY k;
\else
  \echo 'Pairs by distance:'
  SELECT distance, count(pair.a) AS pairs
  FROM generate_series(0, 8) AS distance LEFT JOIN pair USING (distance)
  GROUP BY distance
  ORDER BY distance;
\endif
\echo 'The farthest of them: what one letter says and the other does not.'
SELECT p.a, p.b, round(shingle_resemblance(x.content, y.content)::numeric, 2) AS resemblance,
       shorten(simdup_own_text(x.content, y.content), :half) AS "only a",
       shorten(simdup_own_text(y.content, x.content), :half) AS "only b"
FROM (SELECT pair.* FROM pair JOIN petition ON id = a ORDER BY is_asked(content, :chinese) DESC, distance DESC, a, b LIMIT 3) AS p
     JOIN petition AS x ON x.id = p.a JOIN petition AS y ON y.id = p.b
ORDER BY p.distance DESC, p.a, p.b;

\echo '== 5. Which rows are one case, today and tomorrow? =='
\echo 'A grouping gives cases numbers that last. It is refreshed as rows and people''s decisions come in.'
\set ECHO queries
\timing on
\o /dev/null
SELECT simdup_group('petition_case', 'petition');
\o
SELECT count(*) AS rows, count(DISTINCT id) AS cases FROM simdup_regroup('petition_case');
\timing off
\set ECHO none
\echo 'Large cases: their first row, and what others add to it:'
SELECT CASE WHEN n = 1 THEN c.id END AS case_id, CASE WHEN n = 1 THEN size END AS rows, c.key AS id,
       shorten(CASE WHEN n = 1 THEN p.content ELSE '  + ' || coalesce(simdup_own_text(p.content, first.content), '(nothing)') END, :narrow) AS content
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY key) AS n, min(key) OVER (PARTITION BY id) AS first_key,
             count(*) OVER (PARTITION BY id) AS size FROM petition_case) AS c
     JOIN petition AS p ON p.id = c.key JOIN petition AS first ON first.id = c.first_key
WHERE n <= 3 AND c.size > 1
  AND c.id IN (SELECT l.id FROM petition_case AS l JOIN petition AS t ON t.id = l.key
               GROUP BY l.id ORDER BY bool_or(is_asked(content, :chinese)) DESC, count(*) DESC, l.id LIMIT 3)
ORDER BY c.size DESC, c.id, n;
\if :own
  \echo 'Alike, and not the same case: letters about another place. A person decides:'
  SELECT CASE WHEN :chinese THEN 1025 ELSE 1017 END AS a, CASE WHEN :chinese THEN 1032 ELSE 1056 END AS b \gset
  SELECT id, shorten(content, :wide) AS content FROM petition WHERE id IN (:a, :b) ORDER BY id;
  \set ECHO queries
  SELECT * FROM simdup_decide('petition_case', :a, :b, same => false, note => 'two places');
  \set ECHO none
\endif

\echo '== 6. A report to read and to file =='
\echo 'A page for a browser has every case and pair, with the differences marked:' :report
SELECT sum(n) AS rows, sum(n) FILTER (WHERE n > 1) - count(*) FILTER (WHERE n > 1) AS "that repeat another",
       count(*) FILTER (WHERE n > 1) AS "cases of several rows", max(n) AS "rows of the largest"
FROM (SELECT count(*) AS n FROM petition_case GROUP BY id) AS cases;
\pset format unaligned
\pset tuples_only on
\o :report
SELECT simdup_report_html('petition', CASE WHEN :chinese THEN '近似重复的诉求' ELSE 'Near-duplicate petitions' END,
  groups => 'petition_case', lang => CASE WHEN :chinese THEN 'zh' ELSE 'en' END);
\o
\pset format aligned
\pset tuples_only off

\if :own
  \ir many.sql
  \set last 8
\else
  \set last 7
\endif
\ir documents.sql

\if :own
  \echo 'Next: make demo DATA=/path/to/your.csv for rows of your own; README.md goes further than this.'
\else
  \echo 'Next: read pairs at each distance of step 4 to choose your threshold; README.md goes further.'
\endif
\echo 'The report:' :report

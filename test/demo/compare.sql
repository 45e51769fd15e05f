-- Both fingerprints on the same rows, at most the first 2000 that were there
-- before the arrivals, and what to take from here on.

\echo '6. Which fingerprint finds more, and errs less?'
\echo '-----------------------------------------------'
\echo 'The workflow above is that of simhash (Charikar 2002; Manku et al. 2007). minhash64 has the same'
\echo '8 bytes, operators and indexes, and estimates the share of common text:'
\echo
\set ECHO queries
CREATE TABLE both_fingerprints AS
SELECT id, content, simhash(content), minhash64(content)
FROM petition
WHERE id NOT IN (SELECT id FROM arrival)
ORDER BY id
LIMIT 2000;
\set ECHO none
CREATE TABLE compared AS
SELECT name AS fingerprint, a.id AS a, b.id AS b, distance
FROM both_fingerprints AS a JOIN both_fingerprints AS b ON a.id < b.id,
     LATERAL (VALUES ('simhash', a.simhash <~> b.simhash),
                     ('minhash64', a.minhash64 <~> b.minhash64)) AS measured(name, distance)
WHERE distance <= 10;
\echo
\if :own
  CREATE VIEW quality AS
  SELECT fingerprint, k AS within,
         count(*) FILTER (WHERE kind <> 'place_only')::numeric
           / (SELECT count(*) FROM truth WHERE kind <> 'place_only') AS recall,
         count(kind)::numeric / count(*) AS precision,
         count(*) FILTER (WHERE kind = 'place_only') AS "other place only"
  FROM compared LEFT JOIN truth USING (a, b), unnest(ARRAY[3, 8, 10]) AS k
  WHERE distance <= k
  GROUP BY fingerprint, k;
  \echo 'Recall: the share found of the pairs written as one letter. Precision: the share of such pairs, or'
  \echo 'of the same letter about another place, among those found:'
  SELECT fingerprint, within, round(recall, 3) AS recall, round(precision, 3) AS precision, "other place only"
  FROM quality
  ORDER BY within, fingerprint DESC;
\else
  \echo 'Pairs found, and those of them that share half of their text or more (shingles of 4 characters):'
  SELECT fingerprint, k AS within, count(*) FILTER (WHERE distance <= k) AS pairs,
         count(*) FILTER (WHERE distance <= k AND resemblance >= 0.5) AS alike
  FROM (SELECT fingerprint, distance, shingle_resemblance(x.content, y.content, 4, 'char') AS resemblance
        FROM compared JOIN both_fingerprints AS x ON x.id = a JOIN both_fingerprints AS y ON y.id = b) AS found,
       unnest(ARRAY[3, 8, 10]) AS k
  GROUP BY fingerprint, k
  ORDER BY k, fingerprint DESC;
\endif

\echo 'A distance of minhash64 says how alike two texts are, and the other way round:'
\set ECHO queries
SELECT minhash64_resemblance(8) AS "8 bits stand for",
       minhash64_distance(0.8) AS "finds 99 % of pairs alike by 0.8",
       minhash64_distance(0.9) AS "and by 0.9";
\set ECHO none
\echo
\echo 'Recommended: minhash64 within 8; for titles and other short texts minhash64(title, 2).'
\echo

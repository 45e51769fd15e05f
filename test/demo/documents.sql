-- The documents' road on the same table: simhash, its index on blocks, and how it
-- compares with minhash64 on at most the first 2000 rows.

\echo == :last. The road of the documents ==
\echo 'A simhash of the 64 most frequent words (Charikar 2002), with an index on its four blocks: two'
\echo 'fingerprints within 3 bits share a block (Manku et al. 2007).'
\set ECHO queries
ALTER TABLE petition ADD fp simhash64 GENERATED ALWAYS AS (simhash(content, 64)) STORED;
CREATE INDEX petition_blocks ON petition USING gin (simhash_blocks(fp, 4));
\set ECHO none
ANALYZE petition;
\set ECHO queries
SELECT p.id, p.fp <~> q.fp AS distance, shorten(p.content, :room) AS content
FROM petition AS p, petition AS q
WHERE q.id = :q
  AND simhash_blocks(p.fp, 4) && simhash_blocks(q.fp, 4) AND p.fp <~> q.fp <= 3
ORDER BY distance, p.id LIMIT 4;
\set ECHO none

CREATE TABLE both_fingerprints AS
SELECT id, content, fp AS simhash, minhash64(content)
FROM petition
WHERE id NOT IN (SELECT id FROM arrival)
ORDER BY id
LIMIT 2000;
CREATE TABLE compared AS
SELECT 'simhash' AS fingerprint, a.id AS a, b.id AS b, a.simhash <~> b.simhash AS distance
FROM both_fingerprints AS a JOIN both_fingerprints AS b ON a.id < b.id AND simhash_within(a.simhash, b.simhash, 10)
UNION ALL
SELECT 'minhash64', a.id, b.id, a.minhash64 <~> b.minhash64
FROM both_fingerprints AS a JOIN both_fingerprints AS b ON a.id < b.id AND simhash_within(a.minhash64, b.minhash64, 10);
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
  \echo 'Both fingerprints. Recall: the share found of the pairs written as one letter. Precision: the share'
  \echo 'of such pairs, or of the same letter about another place, among those found:'
  SELECT fingerprint, within, round(recall, 3) AS recall, round(precision, 3) AS precision, "other place only"
  FROM quality
  WHERE within <= 8
  ORDER BY within, fingerprint DESC;
\else
  \echo 'Both fingerprints, on at most 2,000 rows: pairs found, and those that resemble by half or more:'
  SELECT fingerprint, k AS within, count(*) FILTER (WHERE distance <= k) AS pairs,
         count(*) FILTER (WHERE distance <= k AND resemblance >= 0.5) AS alike
  FROM (SELECT fingerprint, distance, shingle_resemblance(x.content, y.content) AS resemblance
        FROM compared JOIN both_fingerprints AS x ON x.id = a JOIN both_fingerprints AS y ON y.id = b) AS found,
       unnest(ARRAY[3, 8, 10]) AS k
  GROUP BY fingerprint, k
  ORDER BY k, fingerprint DESC;
\endif
\echo 'Recommended: minhash64 within 8; for titles and other short texts minhash64(title, 2).'
\echo

-- All pairs over shards, on each shard: the piece of it, and its pairs within k. A pair
-- counts in the smallest piece that its rows share.
\set ON_ERROR_STOP on
\set k 8
\set shards 3
SET client_min_messages = warning;
DROP VIEW IF EXISTS found;
DROP TABLE IF EXISTS piece;
CREATE UNLOGGED TABLE piece (piece integer, id bigint, fp simhash64);
CREATE VIEW found AS
SELECT piece, a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
FROM piece AS a JOIN piece AS b USING (piece)
WHERE a.id < b.id AND simhash_within(a.fp, b.fp, :k)
  AND piece = (SELECT min(p) FROM unnest(simhash_pieces(a.fp, :k, :shards)) AS p
               WHERE p = ANY (simhash_pieces(b.fp, :k, :shards)));

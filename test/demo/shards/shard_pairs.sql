-- All pairs over shards, on each shard: the piece of it, and its pairs within k.
\set k 8
\set shards 3
CREATE UNLOGGED TABLE piece (piece integer, keys bigint[], fps simhash64[]);
ALTER TABLE piece ALTER keys SET STORAGE external, ALTER fps SET STORAGE external;
CREATE VIEW found AS
SELECT piece, least(a, b) AS a, greatest(a, b) AS b, distance
FROM (SELECT piece FROM public.piece LIMIT 1) AS p,
  simdup_piece_pairs('SELECT keys, fps FROM public.piece', :k, piece, :shards);

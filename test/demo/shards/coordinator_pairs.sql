-- All pairs over shards, on the coordinator: the rows are sent, and the pairs asked for.
\set ON_ERROR_STOP on
\set k 8
\set shards 3
SET client_min_messages = warning;
DROP TABLE IF EXISTS piece, found;
CREATE TABLE piece (piece integer, id bigint, fp simhash64) PARTITION BY LIST (piece);
CREATE TABLE found (piece integer, a bigint, b bigint, distance integer) PARTITION BY LIST (piece);
SELECT format('CREATE FOREIGN TABLE %1$s_%2$s PARTITION OF %1$s FOR VALUES IN (%2$s - 1)
               SERVER shard%2$s OPTIONS (table_name %1$L, fetch_size ''10000'', batch_size ''1000'')',
              name, shard)
FROM unnest('{piece,found}'::text[]) AS name, generate_series(1, :shards) AS shard \gexec

-- rows that an earlier run sent
TRUNCATE piece;
INSERT INTO piece SELECT unnest(simhash_pieces(fp, :k, :shards)), id, fp FROM petition;
SELECT a, b, distance FROM found ORDER BY a, b;

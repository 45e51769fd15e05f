#!/usr/bin/env bash
# clusters.sh: simdup_clusters against simdup_pairs, and simdup_components against
# sorting the same pairs. ROWS, by default 10000000, is the number of pairs. The
# fingerprints are a tenth of it.

. "$ROOT/test/bench/lib.sh"

pairs=$(rows_or 10000000)
export PGOPTIONS='-c simdup.progress_interval=0'

# A tenth of the rows are one to three bits away from another.
rows=$((pairs / 10))
sql <<SQL
CREATE TABLE fps AS
SELECT i::bigint AS id, (CASE WHEN i % 10 = 0
  THEN hashint8extended(i - 1, 0) # (1::bigint << (i / 10 % 64)::int) # (1::bigint << (i / 640 % 64)::int)
  ELSE hashint8extended(i, 0) END)::simhash64 AS fp
FROM generate_series(1, $rows::bigint) AS i;
VACUUM ANALYZE fps;
SQL
found="SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM fps', 3)"
ratio "simdup_clusters, connected : simdup_pairs" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM fps', 3, 'connected')" "$found" 5 "<= 1.3"
ratio "simdup_clusters, leader : simdup_pairs" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM fps', 3, 'leader')" "$found" 5
rows=$((rows / 100))
sql -c "CREATE TABLE equal AS SELECT i::bigint AS id, simhash64 '0123456789abcdef' AS fp FROM generate_series(1, $rows) AS i"
ratio "clusters of equal rows : of distinct ones" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM equal', 3, 'connected')" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM fps LIMIT $rows', 3, 'connected', 1)" 3
sql -c 'DROP TABLE fps, equal'

# Both read the pairs and return one row; the cluster runs no parallel workers. The
# random keys are 1.2 times as many as the pairs. The chain is sorted already.
rows=$pairs
# components LABEL RUNS [KEY_TYPE]
components()
{
  ratio "simdup_components : sort, $1" \
    "SELECT count(*) FROM simdup_components('SELECT a, b FROM near'${3:+, NULL::$3})" \
    "SELECT count(*) FROM (SELECT a, b FROM near ORDER BY a, b OFFSET 0) AS sorted" "$2" "<= 2"
}
sql -c "CREATE TABLE near AS
  SELECT abs(hashint8extended(i, 0) % ($rows * 1.7)::bigint) AS a, abs(hashint8extended(i, 1) % ($rows * 1.7)::bigint) AS b
  FROM generate_series(1, $rows::bigint) AS i" -c 'VACUUM ANALYZE near'
components "random bigint" 3
sql -c "CREATE TABLE texts AS SELECT 'key-' || a AS a, 'key-' || b AS b FROM near" \
  -c 'DROP TABLE near' -c 'ALTER TABLE texts RENAME TO near' -c 'VACUUM ANALYZE near'
components "random text" 1 text
sql -c 'DROP TABLE near' -c "CREATE TABLE near AS SELECT i AS a, i + 1 AS b FROM generate_series(1, $rows::bigint) AS i" \
  -c 'VACUUM ANALYZE near'
components "a chain of bigint, sorted" 1
sql -c 'DROP TABLE near'

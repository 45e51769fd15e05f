#!/usr/bin/env bash
# clusters.sh: simdup_cluster against the join, with little memory and in many
# partitions, simdup_component against sorting the same pairs, and verified clusters of
# texts of 1 kB. ROWS, by default
# 10000000, is the number of pairs. A tenth of it are fingerprints, a fiftieth texts.

. "$ROOT/test/bench/lib.sh"

pairs=$(rows_or 10000000)

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
found='SELECT count(*) FROM fps AS a JOIN fps AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 3)'
# clusters TABLE ARGUMENTS [PARTITION]: count the rows that follow another one.
clusters()
{
  echo "SELECT count(*) FROM (SELECT id, simdup_cluster(id, $2) OVER (${3:-} ORDER BY id) AS c FROM $1) AS w WHERE id <> c"
}
leader=$(clusters fps 'fp, 3')
ratio "simdup_cluster, connected : join" "$(clusters fps "fp, 3, 'connected'")" "$found" 5 "<= 1.3"
ratio "simdup_cluster, leader : join" "$leader" "$found" 5
ratio "simdup_cluster, 20 rows a partition : one partition" \
  "$(clusters fps 'fp, 3' "PARTITION BY id / 20")" "$(clusters fps 'fp, 3' "PARTITION BY id < 0")" 3 "<= 1.3"
ratio "simdup_cluster, work_mem of 4 MB : of 1 GB" "SET work_mem = '4MB'; $leader; SET work_mem = '1GB'" "$leader" 3
rows=$((rows / 100))
sql -c "CREATE TABLE equal AS SELECT i::bigint AS id, simhash64 '0123456789abcdef' AS fp FROM generate_series(1, $rows) AS i"
ratio "clusters of equal rows : of distinct ones" \
  "$(clusters equal "fp, 3, 'connected'")" "$(clusters "(SELECT * FROM fps LIMIT $rows) AS f" "fp, 3, 'connected'")" 3
sql -c 'DROP TABLE fps, equal'

# Both read the pairs and return one row; the cluster runs no parallel workers. The
# random keys are 1.2 times as many as the pairs. The chain is sorted already.
rows=$pairs
# components LABEL RUNS
components()
{
  ratio "simdup_component : sort, $1" \
    "SELECT count(c) FROM (SELECT simdup_component(a, b) OVER () AS c FROM near) AS w" \
    "SELECT count(*) FROM (SELECT a, b FROM near ORDER BY a, b OFFSET 0) AS sorted" "$2" "<= 2"
}
sql -c "CREATE TABLE near AS
  SELECT abs(hashint8extended(i, 0) % ($rows * 1.7)::bigint) AS a, abs(hashint8extended(i, 1) % ($rows * 1.7)::bigint) AS b
  FROM generate_series(1, $rows::bigint) AS i" -c 'VACUUM ANALYZE near'
components "random bigint" 3
sql -c "CREATE TABLE texts AS SELECT 'key-' || a AS a, 'key-' || b AS b FROM near" \
  -c 'DROP TABLE near' -c 'ALTER TABLE texts RENAME TO near' -c 'VACUUM ANALYZE near'
components "random text" 1
sql -c 'DROP TABLE near' -c "CREATE TABLE near AS SELECT i AS a, i + 1 AS b FROM generate_series(1, $rows::bigint) AS i" \
  -c 'VACUUM ANALYZE near'
components "a chain of bigint, sorted" 1
sql -c 'DROP TABLE near'

# One text in ten is its predecessor but for the beginning. Texts a second are those
# of one core, as Linux counts its time.
rows=$((pairs / 50))
sql <<SQL
CREATE TABLE texts AS
SELECT i AS id, (SELECT string_agg(concat_ws(' ', left(h, 6), substr(h, 7, 7), substr(h, 14, 5), substr(h, 20, 8)), ' ')
                 FROM (SELECT md5((CASE WHEN i % 10 = 0 AND j > 1 THEN i - 1 ELSE i END)::text || j) AS h
                       FROM generate_series(1, 33) AS j) AS hashes) AS body
FROM generate_series(1, $rows) AS i;
ALTER TABLE texts ADD fp simhash64;
UPDATE texts SET fp = minhash64(body);
VACUUM FULL ANALYZE texts;
SQL
verified=$(clusters texts "fp, body, 8, 0.5")
ratio "simdup_cluster with min_resemblance : minhash64 of the texts" "$verified" 'SELECT count(minhash64(body)) FROM texts' 3
ratio "simdup_cluster with min_resemblance : without" "$verified" "$(clusters texts 'fp, 8')" 3
sql <<SQL | awk -v rows="$rows" '$1 == "ran" && from { printf "simdup_cluster with min_resemblance: %d texts a second of a core (asked: 10000)\n", rows / (($2 - from) / 1e9) } $1 == "ran" { from = $2 }'
SELECT pg_backend_pid() AS pid \\gset
\\setenv pid :pid
\\! echo ran \$(cat /proc/\$pid/schedstat)
$verified;
\\! echo ran \$(cat /proc/\$pid/schedstat)
SQL

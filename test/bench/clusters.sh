#!/usr/bin/env bash
# clusters.sh: simdup_clusters against simdup_pairs, simdup_components against
# sorting the same pairs, and verified clusters of texts of 1 kB. ROWS, by default
# 10000000, is the number of pairs. A tenth of it are fingerprints, a fiftieth texts.

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
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM fps LIMIT $rows', 3, 'connected', min_size => 1)" 3
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
verified="SELECT count(*) FROM simdup_clusters('SELECT id, fp, body AS content FROM texts ORDER BY id', 8, 'leader', 0.5, 4, 'char')"
ratio "simdup_clusters with min_resemblance : minhash64 of the texts" "$verified" 'SELECT count(minhash64(body)) FROM texts' 3
ratio "simdup_clusters with min_resemblance : without" "$verified" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM texts ORDER BY id', 8)" 3
sql <<SQL | awk -v rows="$rows" '$1 == "ran" && from { printf "simdup_clusters with min_resemblance: %d texts a second of a core (asked: 10000)\n", rows / (($2 - from) / 1e9) } $1 == "ran" { from = $2 }'
SELECT pg_backend_pid() AS pid \\gset
\\setenv pid :pid
\\! echo ran \$(cat /proc/\$pid/schedstat)
$verified;
\\! echo ran \$(cat /proc/\$pid/schedstat)
SQL

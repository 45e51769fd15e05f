#!/usr/bin/env bash
# verified.sh: simdup_verified_clusters of ROWS texts of 1 kB, by default 200000,
# against fingerprinting them, and against simdup_clusters without the texts.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 200000)
export PGOPTIONS='-c simdup.progress_interval=0 -c client_min_messages=warning'

# One text in ten is its predecessor but for the beginning. Texts a second are those
# of one core, as Linux counts its time.
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
verified="SELECT count(*) FROM simdup_verified_clusters('SELECT id, fp, body FROM texts ORDER BY id', 8, 0.5, 4, 'char')"
ratio "simdup_verified_clusters : minhash64 of the texts" "$verified" 'SELECT count(minhash64(body)) FROM texts' 3
ratio "simdup_verified_clusters : simdup_clusters" "$verified" \
  "SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM texts ORDER BY id', 8)" 3
sql <<SQL | awk -v rows="$rows" '$1 == "ran" && from { printf "simdup_verified_clusters: %d texts a second of a core (asked: 10000)\n", rows / (($2 - from) / 1e9) } $1 == "ran" { from = $2 }'
SELECT pg_backend_pid() AS pid \\gset
\\setenv pid :pid
\\! echo ran \$(cat /proc/\$pid/schedstat)
$verified;
\\! echo ran \$(cat /proc/\$pid/schedstat)
SQL

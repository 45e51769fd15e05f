#!/usr/bin/env bash
# groups.sh: refreshes of a grouping against simdup_cluster over the same rows, the
# first of them with the writing of its result; and sizes of groups and decisions.
# ROWS, by default 1000000, is the number of rows.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)

# A tenth of the rows are one or two bits away from another.
sql <<SQL >/dev/null
CREATE TABLE fps AS
SELECT i::bigint AS id, (CASE WHEN i % 10 = 0
  THEN hashint8extended(i - 1, 0) # (1::bigint << (i / 10 % 64)::int) # (1::bigint << (i / 640 % 64)::int)
  ELSE hashint8extended(i, 0) END)::simhash64 AS fp
FROM generate_series(1, $rows::bigint) AS i;
CREATE VIEW fps_source AS SELECT id AS key, fp FROM fps;
VACUUM ANALYZE fps;
SELECT simdup_group('fps_case', 'fps_source');
CREATE TABLE result (key bigint PRIMARY KEY, cluster bigint);
SQL
clusters="SELECT count(c) FROM (SELECT simdup_cluster(id, fp) OVER (ORDER BY id) AS c FROM fps) AS w"
before='TRUNCATE fps_case, fps_case_events, result'
ratio "first grouping : clusters and INSERT of the result" \
  "SELECT count(*) FROM simdup_regroup('fps_case')" \
  "INSERT INTO result SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id) FROM fps" \
  3 "<= 2"
before=
sql -c "SELECT FROM simdup_regroup('fps_case')" >/dev/null
ratio "refresh, nothing new : simdup_cluster" "SELECT count(*) FROM simdup_regroup('fps_case')" "$clusters" 3 "<= 3"
sql -c "UPDATE fps_case_settings SET method = 'connected'" -c "SELECT FROM simdup_regroup('fps_case')" >/dev/null
ratio "refresh, nothing new : simdup_cluster, connected" \
  "SELECT count(*) FROM simdup_regroup('fps_case')" \
  "SELECT count(c) FROM (SELECT simdup_cluster(id, fp, 8, 'connected') OVER (ORDER BY id) AS c FROM fps) AS w" 3
sql -c 'DROP TABLE fps, result, fps_case, fps_case_decisions, fps_case_events, fps_case_settings CASCADE'

# One group of rows a bit or two from each other, and decisions within it: every
# other pair is the same.
rows=$((rows / 50))
for n in $((rows / 20)) $((rows / 2)); do
  sql <<SQL >/dev/null
CREATE TABLE one_$n AS SELECT i AS key, (1::bigint << (i % 60))::simhash64 AS fp FROM generate_series(1, $rows) AS i;
SELECT simdup_group('one_case_$n', 'one_$n');
SELECT FROM simdup_regroup('one_case_$n');
SQL
done
# decisions N: N decisions about rows of that group, stored at once, and taken back
decisions()
{
  echo "BEGIN; SELECT count(*) FROM (SELECT array_agg(i) AS a, array_agg(i + 1) AS b, i % 4 = 1 AS same FROM generate_series(1, $1 * 2, 2) AS i GROUP BY i % 4 = 1) AS d,
    simdup_decide('one_case_$1', d.a, d.b, d.same); ROLLBACK"
}
ratio "ten times the decisions in one group" "$(decisions $((rows / 2)))" "$(decisions $((rows / 20)))" 3 "<= 12"

# Equal rows, connected, and twice as many.
rows=$((rows * 5))
for n in $rows $((rows * 2)); do
  sql <<SQL >/dev/null
CREATE TABLE equal_$n AS SELECT i AS key, simhash64 '0123456789abcdef' AS fp FROM generate_series(1, $n) AS i;
SELECT simdup_group('equal_case_$n', 'equal_$n', method => 'connected');
SELECT FROM simdup_regroup('equal_case_$n');
SELECT FROM simdup_decide('equal_case_$n', 1, $n, false);
SQL
done
ratio "twice the equal rows, connected" "SELECT count(*) FROM simdup_regroup('equal_case_$((rows * 2))')" \
  "SELECT count(*) FROM simdup_regroup('equal_case_$rows')" 3 "<= 2.5"

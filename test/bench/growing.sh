# growing.sh: one table as it grows, at each size in ROWS (by default
# ROWS="1000000 10000000"). Measured are the cost of a row to load, keep and
# index, the pages of a search, the log of an insert, and batches over all rows.
# Each figure has its ratio to that of the size before.
#
# Of a hundred rows, ten are a cluster: a fingerprint and nine within 1 to 9 bits
# of it. The other ninety are random.

. "$ROOT/test/bench/lib.sh"

patience=25min
declare -A previous

# measured LABEL VALUE UNIT: a line of the table; a value need not be a number.
measured()
{
  local ratio
  ratio=$(awk -v a="$2" -v b="${previous[$1]:-}" 'BEGIN { if (a + 0 && b + 0) printf "%.2f", a / b }')
  previous[$1]=$2
  printf '%-48s %10s %12s %-10s %8s\n' "$1" "$rows" "$2" "$3" "$ratio"
}

# took STATEMENT...: milliseconds of processor time of the last of them (as Linux
# tells it), and milliseconds by the clock. A machine shared with others changes the second.
took()
{
  local statement
  {
    printf 'SELECT pg_backend_pid() AS pid \\gset\n\\setenv pid :pid\n\\o /dev/null\n'
    for statement in "${@:1:$#-1}"; do printf '%s;\n' "$statement"; done
    printf '%s\n\\timing on\n%s;\n%s\n' "$ran" "${!#}" "$ran"
  } | sql | awk '
    $1 == "ran" && time { print ($2 - from) / 1e6, time }
    $1 == "ran" { from = $2 }
    $1 == "Time:" { time = $2 }'
}
ran='\! echo ran $(cat /proc/$pid/schedstat)'

# rates LABEL MILLISECONDS [ROWS]: rows a second of one core, and by the clock,
# from what took said.
rates()
{
  local cpu clock n=${3:-$rows}
  read -r cpu clock <<<"$2"
  measured "$1" "$(per_second "$n" "$cpu")" rows/s
  measured "$1, by the clock" "$(per_second "$n" "$clock")" rows/s
}

per_second()
{
  awk -v n="$1" -v ms="$2" 'BEGIN { if (ms) printf "%.0f", n / ms * 1000; else print "-" }'
}

# bytes NAME: of a table or index, a row.
bytes()
{
  sql -c "SELECT round(pg_relation_size('$1') / $rows.0, 1)"
}

# --- the text's part, which is the same at every size

fingerprinting()
{
  local rows=100000 bytes
  sql <<SQL
CREATE TABLE texts AS
SELECT (SELECT string_agg(substr(md5((hashint8extended(i, w) % 5000)::text), 1, 3 + (w % 6)::int), ' ') FROM generate_series(1, 150) w) AS content
FROM generate_series(1, $rows::bigint) i;
VACUUM ANALYZE texts;
SQL
  bytes=$(sql -c 'SELECT sum(octet_length(content)) FROM texts')
  rates "simhash of texts of $((bytes / rows)) bytes" "$(took 'SELECT count(simhash(content)) FROM texts')"
  sql -c 'DROP TABLE texts'
}

# --- load and build

load()
{
  sql <<SQL
DROP TABLE IF EXISTS fps, plain;
CREATE TABLE fps (id bigint, fp simhash64, payload integer DEFAULT 0);
CREATE TABLE plain (LIKE fps INCLUDING DEFAULTS);
COPY (
  SELECT i, CASE WHEN i % 100 < 10 THEN near(hashint8extended(i / 100, 7), i % 100, i)
                 ELSE hashint8extended(i, 1) END::simhash64, i % 1000
  FROM generate_series(0, $rows::bigint - 1) i
) TO '$SCRATCH/rows';
SQL
  rates 'load by COPY, no index' "$(took "COPY fps FROM '$SCRATCH/rows'")"
  rm -f "$SCRATCH/rows"
  sql -c 'VACUUM (ANALYZE) fps'
  measured table "$(bytes fps)" bytes/row
}

build()
{
  rates "index build" "$(took "SET maintenance_work_mem = '1GB'" 'SET max_parallel_maintenance_workers = 0' \
    'CREATE INDEX fps_fp ON fps USING hamming (fp)')"
  measured index "$(bytes fps_fp)" bytes/row
}

# --- search

# centers, each searched for twice; half of them are the first of a cluster,
# half have no relatives
centers=200

search()
{
  local k cpu first again pages found
  for k in 3 8 11; do
    IFS='|' read -r first again pages found < <(sql -c 'SET enable_seqscan = off' -c "SELECT * FROM searches($k, $centers, $rows)")
    measured "search, k = $k" "$again" ms
    measured "search, k = $k, the first time" "$first" ms
    measured "search, k = $k, reads" "$pages" pages
    measured "search, k = $k, finds" "$found" rows
  done
  read -r cpu _ < <(took "SELECT FROM fps WHERE fp <~> '0123456789abcdef' <= 3")
  measured 'search by scan, any k' "$(printf '%.3f' "$cpu")" ms
}

# --- inserts

# insert TABLE LABEL: the median time of an INSERT of one row with its commit,
# and the bytes of log that it writes right after a checkpoint. The log then
# holds each changed page as a whole.
insert()
{
  local n=20000 from
  cat >"$SCRATCH/insert.sql" <<SQL
\set high random(0, 4294967295)
\set low random(0, 4294967295)
INSERT INTO $1 VALUES (0, (((:high)::bigint << 32) | :low)::simhash64);
SQL
  sql -c CHECKPOINT
  from=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
  pgbench -n -f "$SCRATCH/insert.sql" -t $n -l --log-prefix="$SCRATCH/insert" >/dev/null 2>&1
  measured "INSERT of one row, $2" "$(awk '{ print $3 / 1000 }' "$SCRATCH"/insert.[0-9]* | median)" ms
  rm "$SCRATCH"/insert.*
  measured "INSERT of one row, $2, log" \
    "$(sql -c "SELECT round(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$from') / $n)")" bytes/row
}

inserts()
{
  local n=100000
  insert plain 'no index'
  insert fps 'with index'
  rates "INSERT of $n rows, with index" \
    "$(took "INSERT INTO fps SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, $n) i")" $n
}

# --- whole tables

# peak: the most memory of its own that the batch's backend has, in MB, written
# to a file as it grows.
peak()
{
  local pid='' most=0 now
  until [ -n "$pid" ]; do
    pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'batch'")
  done
  while now=$(awk '/^RssAnon/ { print int($2 / 1024) }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
    [ "$now" -le "$most" ] || most=$now
    echo "$most" >"$SCRATCH/peak"
    sleep 0.1
  done
}

temp_bytes()
{
  sql -c "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"
}

# batch LABEL QUERY: over all rows, in memory if 4 GB do.
batch()
{
  local memory=$((rows / 1000 * 65)) times temp watcher
  [ "$memory" -le 4194304 ] || memory=4194304
  temp=$(temp_bytes)
  peak &
  watcher=$!
  times=$(PGAPPNAME='batch' took "SET work_mem = '${memory}kB'" \
    "SET statement_timeout = '$patience'" "$2" || true)
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  if [ -n "$times" ]; then
    rates "$1" "$times"
  else
    measured "$1" "over $patience" ''
  fi
  measured "$1, memory" "$(cat "$SCRATCH/peak")" MB
  measured "$1, temporary files" "$(awk -v a="$temp" -v b="$(temp_bytes)" 'BEGIN { printf "%.0f", (b - a) / 1048576 }')" MB
}

batches()
{
  rates 'plain scan' "$(took 'SELECT count(fp), max(id) FROM fps')"
  batch 'join, k = 3' 'SELECT count(*) FROM fps AS a JOIN fps AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 3)'
  batch 'simdup_cluster, k = 3' "SELECT count(c) FROM (SELECT simdup_cluster(id, fp, 3, 'connected') OVER (ORDER BY id) AS c FROM fps) AS w"
}

sql <<'SQL'
-- a fingerprint with up to n other bits, always the same for a seed
CREATE FUNCTION near(center bigint, n bigint, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT center # coalesce(bit_or(1::bigint << (hashint8extended(seed, i) & 63)::int), 0) FROM generate_series(1, n) i
$$;

-- medians of milliseconds, first and second time, and of pages; mean of rows
CREATE FUNCTION searches(k int, centers int, n_rows bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  center bigint;
  plan json;
  first float8[];
  again float8[];
  pages bigint[];
  found bigint := 0;
BEGIN
  FOR i IN 1 .. centers LOOP
    center := CASE WHEN i % 2 = 0 THEN hashint8extended(n_rows / 100 * i / (centers + 1), 7) ELSE hashint8extended(i, 3) END;
    FOR turn IN 1 .. 2 LOOP
      EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT * FROM fps WHERE fp <@ '
        || quote_literal(simhash_ball(center::simhash64, k)) INTO plan;
      IF turn = 1 THEN
        first[i] := plan->0->>'Execution Time';
      ELSE
        again[i] := plan->0->>'Execution Time';
      END IF;
    END LOOP;
    pages[i] := (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
    found := found + (plan->0->'Plan'->>'Actual Rows')::numeric;
  END LOOP;
  RETURN (SELECT concat_ws('|', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric, 3),
      round(percentile_cont(0.5) WITHIN GROUP (ORDER BY a)::numeric, 3), percentile_cont(0.5) WITHIN GROUP (ORDER BY p),
      round(found::numeric / centers, 1))
    FROM unnest(first, again, pages) AS u (f, a, p));
END $$;
SQL

# a log of 16 GB beside a large index is more than the disk need have
sql -c "ALTER SYSTEM SET max_wal_size = '4GB'" -c 'SELECT pg_reload_conf()' >/dev/null
printf '%-48s %10s %12s %-10s %8s\n' '' rows '' '' ratio
fingerprinting
for rows in ${ROWS:-1000000 10000000}; do
  load
  build
  search
  batches
  inserts
done
sql -c 'ALTER SYSTEM RESET max_wal_size' -c 'SELECT pg_reload_conf()' >/dev/null

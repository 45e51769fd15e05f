# gin.sh: gin (fp) against hamming (fp), against the index on blocks, and
# against none: build, size, insert, query. Uniform fingerprints, with neighbours
# at every distance from 0 to 15 planted around 60 centers.
# `make bench PART=gin` takes a million rows; ROWS=10000000 ten million.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
centers=60

planted "$rows" "$centers"

own_index='CREATE INDEX fps_fp ON fps USING gin (fp)'
blocks_index='CREATE INDEX fps_blocks ON fps USING gin (simhash_blocks(fp))'

# size NAME: of an index or table, in MB.
size()
{
  sql -c "SELECT round(pg_relation_size('$1') / 1048576.0, 1)"
}

# build_ms MEMORY "CREATE INDEX ...": milliseconds.
build_ms()
{
  sql -c "SET maintenance_work_mem = '$1'" -c '\timing on' -c "$2" | awk '$1 == "Time:" && $2 > 10 { print $2 }'
}

# --- build, and what it gives, by maintenance_work_mem
rounds=3
memories='32MB 64MB 1GB'
if [ "$rows" -gt 2000000 ]; then
  rounds=1
  memories=32MB
fi
for memory in $memories; do
  : > "$SCRATCH/own"
  : > "$SCRATCH/blocks"
  for ((i = 0; i < rounds; i++)); do
    sql -c 'SET client_min_messages = error' -c 'DROP INDEX IF EXISTS fps_fp, fps_blocks'
    build_ms $memory "$own_index" >> "$SCRATCH/own"
    build_ms $memory "$blocks_index" >> "$SCRATCH/blocks"
  done
  ratio_row "build (ms), maintenance_work_mem $memory : blocks" "$rows" \
    "$(median < "$SCRATCH/own")" "$(median < "$SCRATCH/blocks")" "$([ $memory != 32MB ] || echo '<= 2')"
  ratio_row "size (MB), maintenance_work_mem $memory : blocks" "$rows" "$(size fps_fp)" "$(size fps_blocks)"
  [ $memory != 32MB ] || { gin_build=$(median <"$SCRATCH/own"); gin_size=$(size fps_fp); }
done
sql -c 'DROP INDEX fps_fp, fps_blocks' -c "SET maintenance_work_mem = '32MB'" \
  -c "$own_index WITH (fastupdate = off)" -c "$blocks_index WITH (fastupdate = off)"
sql -c 'ANALYZE fps'

# --- queries: milliseconds of execution, the median over the centers
#
# searches SETTINGS CONDITION: one time a line. The condition names the center Q.
searches()
{
  sql <<SQL
SET max_parallel_workers_per_gather = 0;
$1;
CREATE FUNCTION pg_temp.execution(query text) RETURNS float8 LANGUAGE plpgsql AS \$\$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan->0->>'Execution Time')::float8;
END \$\$;
-- twice, and the first time for the cache only
SELECT min(pg_temp.execution(replace(\$q\$SELECT count(*) FROM fps WHERE $2\$q\$, 'Q', q::text)))
FROM (SELECT q FROM center ORDER BY i LIMIT ${3:-$centers}) c, generate_series(1, 2) GROUP BY q;
SQL
}

by_scan=$(searches 'SET enable_bitmapscan = off' "simhash_within(fp, 'Q', 3)" 3 | median)
by_blocks=$(searches 'SET enable_seqscan = off' "simhash_blocks(fp) && simhash_blocks('Q'::simhash64) AND fp <~> 'Q' <= 3" | median)
declare -A by_index targets
targets=([3]='<= 0.0002' [8]='<= 0.006667' [11]='<= 0.016667')
[ "$rows" -ge 10000000 ] || targets=()
for k in 0 1 3 5 7 8 11 15; do
  by_index[$k]=$(searches 'SET enable_seqscan = off' "fp <@ '<Q,$k>'" | median)
  ratio_row "query k = $k (ms) : scan" "$rows" "${by_index[$k]}" "$by_scan" "${targets[$k]:-}"
done
ratio_row 'query k = 3 (ms) : blocks and recheck' "$rows" "${by_index[3]}" "$by_blocks" \
  "$([ "$rows" -lt 10000000 ] || echo '<= 0.1')"

# hamming (fp). Only this index has plain index scans, so no other answers these.
build_ms 32MB 'CREATE INDEX fps_hamming ON fps USING hamming (fp)' >"$SCRATCH/hamming"
ratio_row 'build of gin (ms), 32MB : hamming' "$rows" "$gin_build" "$(median <"$SCRATCH/hamming")"
ratio_row 'size of gin (MB), 32MB : hamming' "$rows" "$gin_size" "$(size fps_hamming)"
for k in 0 1 3 5 7 8 11 15; do
  ratio_row "query k = $k (ms), gin : hamming" "$rows" "${by_index[$k]}" \
    "$(searches 'SET enable_seqscan = off; SET enable_bitmapscan = off' "fp <@ '<Q,$k>'" | median)"
done
sql -c 'DROP INDEX fps_hamming'

# Other Hamming indexes that this server offers.
if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")" = 1 ]; then
  sql -c 'CREATE EXTENSION vector' -c 'CREATE INDEX fps_hnsw ON fps USING hnsw ((fp::bit(64)) bit_hamming_ops)'
  by_hnsw=$(searches 'SET enable_seqscan = off' \
    "id IN (SELECT id FROM fps ORDER BY fp::bit(64) <~> 'Q'::simhash64::bit(64) LIMIT 4)" | median)
  ratio_row 'query k = 3 (ms) : pgvector hnsw, 4 nearest, inexact' "$rows" "${by_index[3]}" "$by_hnsw"
else
  echo 'pgvector: this server does not offer it'
fi

# --- what the planner chooses, and what it would have to
echo "chosen by the planner at $rows rows: $(for k in 3 8 11 12 13 14 15 16; do
  echo "k=$k $(sql -c "EXPLAIN SELECT * FROM fps WHERE simhash_within(fp, '0123456789abcdef', $k)" | head -1 | sed 's/ on .*//;s/ Heap Scan//')"
done | paste -sd, | sed 's/,/, /g')"

# --- inserts: a table without index, with this one, with the blocks index
sql <<'SQL'
CREATE TABLE plain AS SELECT * FROM fps;
CREATE TABLE with_blocks AS SELECT * FROM fps;
SET maintenance_work_mem = '32MB';
CREATE INDEX blocks_of ON with_blocks USING gin (simhash_blocks(fp)) WITH (fastupdate = off);
DROP INDEX fps_blocks;
-- most pages have been written since the last checkpoint, as on a server at work
INSERT INTO plain SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i;
INSERT INTO with_blocks SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i;
INSERT INTO fps SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i;
SQL

# insert_ms TABLE: milliseconds of one INSERT statement of one row.
insert_ms()
{
  cat > "$SCRATCH/insert.sql" <<SQL
\set high random(0, 4294967295)
\set low random(0, 4294967295)
INSERT INTO $1 VALUES (0, (((:high)::bigint << 32) | :low)::simhash64);
SQL
  pgbench -n -f "$SCRATCH/insert.sql" -t 5000 | awk '/^tps/ { printf "%.4f\n", 1000 / $3 }'
}

for fastupdate in off on; do
  target=
  [ "$fastupdate" = on ] || target='<= 2'
  sql -c "ALTER INDEX fps_fp SET (fastupdate = $fastupdate)" -c "ALTER INDEX blocks_of SET (fastupdate = $fastupdate)"
  for table in fps plain with_blocks; do : > "$SCRATCH/$table"; done
  for i in 1 2 3; do
    for table in fps plain with_blocks; do insert_ms $table >> "$SCRATCH/$table"; done
  done
  own=$(median < "$SCRATCH/fps")
  ratio_row "insert of one row (ms), fastupdate $fastupdate : none" "$rows" "$own" "$(median < "$SCRATCH/plain")" "$target"
  ratio_row "insert of one row (ms), fastupdate $fastupdate : blocks" "$rows" "$own" "$(median < "$SCRATCH/with_blocks")"
  ratio "insert of 100,000 rows (ms), fastupdate $fastupdate : blocks" \
    'INSERT INTO fps SELECT i, hashint8extended(i, (random() * 1e9)::bigint)::simhash64 FROM generate_series(1, 100000) i' \
    'INSERT INTO with_blocks SELECT i, hashint8extended(i, (random() * 1e9)::bigint)::simhash64 FROM generate_series(1, 100000) i' \
    3 '<= 2'
done

# index.sh: the hamming index on fingerprints against gin (fp), btree, a scan
# and no index: build, size, search, nearest neighbours, insert. The first table
# has uniform fingerprints, with neighbours at every distance from 0 to 15
# planted around 60 centers, ten of them within 8. The second has fingerprints
# of few different texts with many edits. `make bench PART=index` takes a
# million rows; ROWS=10000000 ten million.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
centers=60

sql <<SQL
CREATE TABLE center AS
SELECT i, hashint8extended(i, 77)::simhash64 AS q FROM generate_series(1, $centers) i;
CREATE TABLE fps AS
SELECT id, fp FROM (
  SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $rows - $centers * 17) i
  UNION ALL
  SELECT $rows - $centers * 17 + row_number() OVER (), (q::bigint # flips)::simhash64
  FROM center, (SELECT generate_series(0, 15) UNION ALL SELECT 8) AS n (d),
    LATERAL (SELECT coalesce(bit_or(1::bigint << p), 0) AS flips
             FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, i * 100 + d) LIMIT d) b) f
) s ORDER BY hashint8extended(id, 5);
VACUUM ANALYZE fps;
SQL

# build_ms "CREATE INDEX ...": milliseconds, by one process.
build_ms()
{
  sql -c 'SET max_parallel_maintenance_workers = 0' -c '\timing on' -c "$1" | awk '$1 == "Time:" && $2 > 1 { print $2 }'
}

# --- build and size
rounds=3
[ "$rows" -le 2000000 ] || rounds=1
for ((i = 0; i < rounds; i++)); do
  sql -c 'SET client_min_messages = error' -c 'DROP INDEX IF EXISTS fps_hamming, fps_btree' -c CHECKPOINT
  build_ms 'CREATE INDEX fps_hamming ON fps USING hamming (fp)' >> "$SCRATCH/hamming"
  sql -c CHECKPOINT
  build_ms 'CREATE INDEX fps_btree ON fps USING btree (fp)' >> "$SCRATCH/btree"
done
ratio_row 'build (ms) : btree' "$rows" "$(median < "$SCRATCH/hamming")" "$(median < "$SCRATCH/btree")" '<= 1.5'
ratio_row 'size, fresh : rows' "$rows" "$(sql -c "SELECT pg_relation_size('fps_hamming')")" "$rows" '<= 66'
sql -c 'DROP INDEX fps_btree'

# --- searches: milliseconds of execution, the median over the centers
#
# searches QUERY [CENTERS]: one time a line; Q is replaced by the center.
searches()
{
  sql <<SQL
SET enable_seqscan = ${scan:-off};
SET enable_indexscan = ${plain:-on};
SET enable_bitmapscan = ${bitmap:-on};
CREATE FUNCTION pg_temp.execution(query text) RETURNS float8 LANGUAGE plpgsql AS \$\$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan->0->>'Execution Time')::float8;
END \$\$;
-- three times, and the first time for the cache only
SELECT min(pg_temp.execution(replace(\$q\$$1\$q\$, 'Q', q::text)))
FROM (SELECT q FROM center ORDER BY i LIMIT ${2:-$centers}) c, generate_series(1, 3) GROUP BY q;
SQL
}

declare -A by_hamming
for k in 3 8 11 15 20 24; do
  by_hamming[$k]=$(searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,$k>'" | median)
done
nearest=$(searches "SELECT id FROM fps ORDER BY fp <~> 'Q' LIMIT 10" | median)
stranger=$(searches "SELECT id FROM fps ORDER BY fp <~> ('Q'::simhash64::bigint # hashint8extended('Q'::simhash64::bigint, 3))::simhash64 LIMIT 10" 10 | median)
everything=$(searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,64>'" 3 | median)
by_scan=$(scan=on plain=off bitmap=off searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,24>'" 3 | median)
ratio_row 'k = 24 (ms) : sequential scan' "$rows" "${by_hamming[24]}" "$by_scan" '<= 0.0625'
ratio_row 'nearest 10 of a row (ms) : k = 8' "$rows" "$nearest" "${by_hamming[8]}" '<= 2'
ratio_row 'nearest 10 of a stranger (ms) : k = 64' "$rows" "$stranger" "$everything" '<= 1.5'

sql -c 'CREATE TABLE with_gin AS SELECT * FROM fps' -c 'CREATE INDEX gin_of ON with_gin USING gin (fp) WITH (fastupdate = off)' -c 'VACUUM ANALYZE with_gin'
declare -A targets=([3]='<= 1' [8]='<= 0.25' [11]='<= 0.1667' [15]='<= 0.1' [20]='<= 0.0625')
for k in 3 8 11 15 20; do
  by_gin=$(searches "SELECT count(*) FROM with_gin WHERE fp <@ '<Q,$k>'" 20 | median)
  ratio_row "k = $k (ms) : gin" "$rows" "${by_hamming[$k]}" "$by_gin" "${targets[$k]}"
done

# --- inserts, most pages written since the last checkpoint
sql -c 'CREATE TABLE plain AS SELECT * FROM fps' \
  -c 'INSERT INTO fps SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i' \
  -c 'INSERT INTO with_gin SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i'
insert_ms()
{
  cat > "$SCRATCH/insert.sql" <<SQL
\set high random(0, 4294967295)
\set low random(0, 4294967295)
INSERT INTO $1 VALUES (0, (((:high)::bigint << 32) | :low)::simhash64);
SQL
  pgbench -n -f "$SCRATCH/insert.sql" -t 5000 | awk '/^tps/ { printf "%.4f\n", 1000 / $3 }'
}
for i in 1 2 3; do
  for table in fps plain; do insert_ms $table >> "$SCRATCH/insert_$table"; done
done
ratio_row 'insert of one row (ms) : no index' "$rows" "$(median < "$SCRATCH/insert_fps")" "$(median < "$SCRATCH/insert_plain")" '<= 1.5'
ratio 'insert of 100,000 rows (ms) : gin' \
  'INSERT INTO fps SELECT i, hashint8extended(i, (random() * 1e9)::bigint)::simhash64 FROM generate_series(1, 100000) i' \
  'INSERT INTO with_gin SELECT i, hashint8extended(i, (random() * 1e9)::bigint)::simhash64 FROM generate_series(1, 100000) i' \
  3 '<= 0.3333'
sql -c 'DROP TABLE with_gin, plain'

# --- size after 20 % and 60 % more rows, row by row
for percent in 20 60; do
  sql -c 'TRUNCATE fps' -c "INSERT INTO fps SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, $rows) i" -c 'REINDEX INDEX fps_hamming' \
    -c "INSERT INTO fps SELECT i, hashint8extended(i, 3)::simhash64 FROM generate_series(1, $rows / 100 * $percent) i"
  ratio_row "size, $percent % more : rows" "$rows" "$(sql -c "SELECT pg_relation_size('fps_hamming')")" $((rows / 100 * (100 + percent))) \
    "$([ $percent = 20 ] && echo '<= 110' || echo '<= 85')"
done

# --- skewed data: 4,000 texts, each with many edits of a few bits; pages read
pages()
{
  sql <<SQL
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION pg_temp.pages(query text) RETURNS bigint LANGUAGE plpgsql AS \$\$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint - (plan->0->'Plan'->>'Actual Rows')::bigint;
END \$\$;
SELECT pg_temp.pages(format('SELECT * FROM %s WHERE fp <@ %L', '$1', simhash_ball(fp, 8))) FROM (SELECT * FROM $1 ORDER BY hashint8extended(id, 8) LIMIT 60) s;
SQL
}
sql -c 'TRUNCATE fps' -c "INSERT INTO fps SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, $rows) i" -c 'REINDEX INDEX fps_hamming' -c 'VACUUM ANALYZE fps'
sql <<SQL
CREATE TABLE skewed AS SELECT i AS id, (hashint8extended(i % 4000, 5) & hashint8extended(i % 40, 6) # (1::bigint << (hashint8(i) & 63)::int)
  # (1::bigint << (hashint8extended(i, 7) & 63)::int) # (1::bigint << (hashint8extended(i, 8) & 63)::int))::simhash64 AS fp
FROM generate_series(1, $rows) i;
CREATE INDEX skewed_fp ON skewed USING hamming (fp);
VACUUM ANALYZE skewed;
SQL
ratio_row 'pages at k = 8, skewed : uniform' "$rows" "$(pages skewed | median)" "$(pages fps | median)" '<= 3'

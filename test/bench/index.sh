# index.sh: the hamming index on fingerprints against btree, a scan, the blocks
# and no index: build, size, search, nearest neighbours, insert. The first table
# has uniform fingerprints, with neighbours at every distance from 0 to 15
# planted around 200 centers, ten of them within 8. Others have fingerprints of few
# different texts with many edits, and of the petitions if these are beside the
# checkout. `make bench PART=index` takes a million rows; ROWS=10000000 ten million.
#
# Each search has another center: half of the centers are rows, half are strangers.
# Searches are measured by the processor time of their backend, which is the same
# on a machine that does other work too. Builds and inserts are measured by the
# clock.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
centers=400
planted="SELECT i, q FROM center WHERE i % 2 = 1"

sql <<SQL
CREATE TABLE center AS
SELECT i, hashint8extended(i, 77)::simhash64 AS q FROM generate_series(1, $centers) i;
CREATE TABLE fps AS
SELECT id, fp FROM (
  SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $rows - $centers / 2 * 17) i
  UNION ALL
  SELECT $rows - $centers / 2 * 17 + row_number() OVER (), (q::bigint # flips)::simhash64
  FROM ($planted) center, (SELECT generate_series(0, 15) UNION ALL SELECT 8) AS n (d),
    LATERAL (SELECT coalesce(bit_or(1::bigint << p), 0) AS flips
             FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, i * 100 + d) LIMIT d) b) f
) s ORDER BY hashint8extended(id, 5);
VACUUM ANALYZE fps;
SQL

# build_ms "CREATE INDEX ...": milliseconds, by one process and $workers more.
build_ms()
{
  sql -c "SET max_parallel_maintenance_workers = ${workers:-0}" -c '\timing on' -c "$1" | awk '$1 == "Time:" && $2 > 1 { print $2 }'
}

# --- build and size
rounds=3
[ "$rows" -le 2000000 ] || rounds=1
for ((i = 0; i < rounds; i++)); do
  sql -c 'DROP INDEX IF EXISTS fps_hamming, fps_btree' -c CHECKPOINT
  build_ms 'CREATE INDEX fps_hamming ON fps USING hamming (fp)' >> "$SCRATCH/hamming"
  sql -c CHECKPOINT
  build_ms 'CREATE INDEX fps_btree ON fps USING btree (fp)' >> "$SCRATCH/btree"
done
ratio_row 'build (ms) : btree' "$rows" "$(median < "$SCRATCH/hamming")" "$(median < "$SCRATCH/btree")" '<= 1.5'
ratio_row 'size, fresh : rows' "$rows" "$(sql -c "SELECT pg_relation_size('fps_hamming')")" "$rows" '<= 66'
for ((i = 0; i < rounds; i++)); do
  sql -c 'DROP INDEX fps_hamming' -c CHECKPOINT
  workers=2 build_ms 'CREATE INDEX fps_hamming ON fps USING hamming (fp)' >> "$SCRATCH/by_workers"
done
ratio_row 'build by 2 workers (ms) : alone' "$rows" "$(median < "$SCRATCH/by_workers")" "$(median < "$SCRATCH/hamming")"
sql -c 'DROP INDEX fps_btree'

# warm_up TABLE: a statement by which a session has met most pages of the index.
warm_up()
{
  echo "SELECT count(*) FROM (SELECT hashint8extended(i, 123)::simhash64 AS q FROM generate_series(1, 2000) i) c, LATERAL (SELECT FROM $1 WHERE fp <@ simhash_ball(q, 8) OFFSET 0) s;"
}

# --- searches: milliseconds of execution, the median over the centers
warm=$(warm_up fps)
declare -A by_hamming
for k in 3 6 8 11 15 20 24; do
  by_hamming[$k]=$(searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,$k>'" $((k < 15 ? centers : k < 24 ? 40 : 10)) | median)
done
by_scan=$(warm='' scan=on plain=off bitmap=off searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,8>'" 3 | median)
for k in 3 6 8 11 15 20; do
  ratio_row "k = $k (ms) : sequential scan" "$rows" "${by_hamming[$k]}" "$by_scan"
done
nearest=$(searches "SELECT id FROM fps ORDER BY fp <~> 'Q' LIMIT 10" $centers 'i % 2 = 1' | median)
stranger=$(searches "SELECT id FROM fps ORDER BY fp <~> 'Q' LIMIT 10" 40 'i % 2 = 0' | median)
everything=$(searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,64>'" 3 | median)
# few rows are also near another center, at a distance of 40 from the first
few="SELECT count(*) FROM fps WHERE fp <@ '<Q,24>' AND fp <@ simhash_ball(('Q'::simhash64::bigint # 1099511627775)::simhash64, 24)"
ratio_row 'k = 24, few rows (ms) : sequential scan' "$rows" "$(searches "$few" 10 | median)" \
  "$(warm='' scan=on plain=off bitmap=off searches "$few" 3 | median)" '<= 0.0625'
ratio_row 'k = 24, 3 % of the rows (ms) : sequential scan' "$rows" "${by_hamming[24]}" \
  "$(warm='' scan=on plain=off bitmap=off searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,24>'" 3 | median)"
ratio_row 'nearest 10 of a row (ms) : k = 8' "$rows" "$nearest" "${by_hamming[8]}" '<= 2'
ratio_row 'nearest 10 of a stranger (ms) : k = 64' "$rows" "$stranger" "$everything" '<= 1.5'

# --- cold: neither the server nor the system has the index in memory. A copy of the
# file that goes past the buffers stands in for a restart.
sql -c 'SET allow_in_place_tablespaces = on' -c "CREATE TABLESPACE simdup_bench LOCATION ''"
cold_ms()
{
  local file
  for space in simdup_bench pg_default; do
    sql -c "ALTER INDEX fps_hamming SET TABLESPACE $space"
  done
  sql -c CHECKPOINT
  file=$(sql -c "SELECT pg_relation_filepath('fps_hamming')")
  sql -c 'CREATE TEMP TABLE nothing (line text)' \
    -c "COPY nothing FROM PROGRAM 'for f in $file*; do dd of=\$f oflag=nocache conv=notrunc,fdatasync count=0 2>&1; done'"
  {
    echo "SET enable_seqscan = off; SET effective_io_concurrency = $1;"
    echo "SELECT count(*) FROM fps WHERE fp <@ '<0123456789abcdef,0>';"
    printf '\\timing on\n'
    sql -c "SELECT format('SELECT count(*) FROM fps WHERE fp <@ simhash_ball(%L, 8);', q) FROM center ORDER BY hashint4(i + $2) LIMIT 5"
  } | sql | awk '$1 == "Time:" { print $2 }'
}
for ((i = 0; i < 5; i++)); do
  cold_ms 32 $i >> "$SCRATCH/cold_ahead"
  cold_ms 0 $((i + 1000)) >> "$SCRATCH/cold_plain"
done
ratio_row 'k = 8, cold, read ahead : not (ms)' "$rows" "$(median < "$SCRATCH/cold_ahead")" "$(median < "$SCRATCH/cold_plain")" '<= 0.6'
sql -c 'DROP TABLESPACE simdup_bench'

# the documents' index, which serves this one radius
sql -c 'CREATE TABLE with_blocks AS SELECT * FROM fps' -c 'CREATE INDEX blocks_of ON with_blocks USING gin (simhash_blocks(fp))' -c 'VACUUM ANALYZE with_blocks'
ratio_row 'k = 3 (ms) : gin (simhash_blocks(fp))' "$rows" "$(searches "SELECT count(*) FROM fps WHERE fp <@ '<Q,3>'" | median)" \
  "$(searches "SELECT count(*) FROM with_blocks WHERE simhash_blocks(fp) && simhash_blocks('Q'::simhash64) AND fp <~> 'Q' <= 3" | median)" '<= 1'
sql -c 'DROP TABLE with_blocks'

# --- inserts, most pages written since the last checkpoint
sql -c 'CREATE TABLE plain AS SELECT * FROM fps' \
  -c 'INSERT INTO fps SELECT i, hashint8extended(i, 2)::simhash64 FROM generate_series(1, 50000) i'
insert_ms()
{
  cat > "$SCRATCH/insert.sql" <<SQL
\set high random(0, 4294967295)
\set low random(0, 4294967295)
INSERT INTO $1 VALUES (0, (((:high)::bigint << 32) | :low)::simhash64);
SQL
  pgbench -n -f "$SCRATCH/insert.sql" -t 3000 | awk '/^tps/ { printf "%.4f\n", 1000 / $3 }'
}
# the server's part of it, in processor time
insert_cpu()
{
  {
    echo "SELECT 'cpu', split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);"
    awk -v table="$1" -v seed="$RANDOM" 'BEGIN {
      srand(seed)
      for (i = 0; i < 5000; i++)
        printf "INSERT INTO %s VALUES (0, \047%08x%08x\047);\n", table, rand() * 4294967296, rand() * 4294967296
    }'
    echo "SELECT 'cpu', split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);"
  } | sql | awk -F'|' '$1 == "cpu" { if (n++) printf "%.5f\n", ($2 - start) / 5000 / 1e6; start = $2 }'
}
for i in 1 2 3 4 5; do
  for table in fps plain; do
    insert_ms $table >> "$SCRATCH/insert_$table"
    insert_cpu $table >> "$SCRATCH/cpu_$table"
  done
done
ratio_row 'insert of one row (ms) : no index' "$rows" "$(median < "$SCRATCH/insert_fps")" "$(median < "$SCRATCH/insert_plain")" '<= 1.5'
ratio_row 'the same, the server alone (ms)' "$rows" "$(median < "$SCRATCH/cpu_fps")" "$(median < "$SCRATCH/cpu_plain")"
sql -c 'DROP TABLE plain'

unset warm

# --- size after 20 % and 60 % more rows, row by row; it does not depend on their number
sized=$((rows < 1000000 ? rows : 1000000))
sql -c 'CREATE TABLE sized (id int, fp simhash64)' -c 'CREATE INDEX sized_fp ON sized USING hamming (fp)'
for percent in 20 60; do
  sql -c 'TRUNCATE sized' -c "INSERT INTO sized SELECT i, hashint8extended(i, 1)::simhash64 FROM generate_series(1, $sized) i" -c 'REINDEX INDEX sized_fp' -c 'VACUUM ANALYZE sized'
  fresh=$(warm=$(warm_up sized) searches "SELECT count(*) FROM sized WHERE fp <@ '<Q,8>'" | median)
  sql -c "INSERT INTO sized SELECT i, hashint8extended(i, 3)::simhash64 FROM generate_series(1, $sized / 100 * $percent) i"
  ratio_row "size, $percent % more : rows" "$sized" "$(sql -c "SELECT pg_relation_size('sized_fp')")" $((sized / 100 * (100 + percent))) \
    "$([ $percent = 20 ] && echo '<= 110' || echo '<= 85')"
  # by now leaves have tails, and many are half empty
  ratio_row "k = 8, $percent % more (ms) : fresh" "$sized" "$(warm=$(warm_up sized) searches "SELECT count(*) FROM sized WHERE fp <@ '<Q,8>'" | median)" "$fresh"
done
sql -c 'DROP TABLE sized'

# --- pages that a search at k = 8 reads where the values are uneven
#
# pages TABLE: of TABLE_fp, for 60 rows of the table, one number a line.
pages()
{
  sql <<SQL
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION pg_temp.pages(q simhash64) RETURNS bigint LANGUAGE plpgsql AS \$\$
DECLARE start bigint := pg_stat_get_xact_blocks_fetched('$1_fp'::regclass);
BEGIN
  PERFORM count(*) FROM $1 WHERE simhash_within(fp, q, 8);
  RETURN pg_stat_get_xact_blocks_fetched('$1_fp'::regclass) - start;
END \$\$;
SELECT pg_temp.pages(fp) FROM (SELECT fp FROM $1 ORDER BY hashint8extended(id, 8) LIMIT 61) s OFFSET 1;
SQL
}

# even_pages TABLE: the leaves that even radii would read for the same rows, which
# are 2, 1, 1, 1. Leaves are those of a fresh index: as many values in order as fit.
even_pages()
{
  sql <<SQL
CREATE TEMP TABLE leaf AS
SELECT i, leaf, min(block) AS low, lead(min(block), 1, 65535) OVER (PARTITION BY i ORDER BY leaf) AS high
FROM (SELECT i, (bits << 16 * (3 - i))::bit(16)::int AS block,
             row_number() OVER (PARTITION BY i ORDER BY bits << 16 * (3 - i) | bits >> 16 * (i + 1)) / 523 AS leaf
      FROM (SELECT fp::bit(64) AS bits FROM $1) b, generate_series(0, 3) i) s
GROUP BY i, leaf;
CREATE TEMP TABLE place AS SELECT i, leaf, block FROM leaf, LATERAL generate_series(low, high) block;
CREATE INDEX ON place (i, block);
CREATE TEMP TABLE flips AS SELECT f, bit_count(f::bit(16)) AS n FROM generate_series(0, 65535) f WHERE bit_count(f::bit(16)) <= 2;
ANALYZE;
SELECT (SELECT count(DISTINCT (i, leaf)) FROM place JOIN
          (SELECT i, (bits << 16 * (3 - i))::bit(16)::int # f AS block FROM generate_series(0, 3) i, flips WHERE n <= CASE i WHEN 0 THEN 2 ELSE 1 END) near
          USING (i, block))
FROM (SELECT fp::bit(64) AS bits FROM $1 ORDER BY hashint8extended(id, 8) LIMIT 61) s OFFSET 1;
SQL
}

sql <<SQL
CREATE TABLE uniform AS SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $sized) i;
CREATE INDEX uniform_fp ON uniform USING hamming (fp);
CREATE TABLE skewed AS SELECT i AS id, (hashint8extended(i % 4000, 5) & hashint8extended(i % 40, 6) # (1::bigint << (hashint8(i) & 63)::int)
  # (1::bigint << (hashint8extended(i, 7) & 63)::int) # (1::bigint << (hashint8extended(i, 8) & 63)::int))::simhash64 AS fp
FROM generate_series(1, $sized) i;
CREATE INDEX skewed_fp ON skewed USING hamming (fp);
SQL
uniform=$(pages uniform | median)
uneven()
{
  local chosen
  chosen=$(pages "$1" | median)
  ratio_row "pages at k = 8, $2 : uniform" "$sized" "$chosen" "$uniform" '<= 3'
  ratio_row "pages at k = 8, $2 : even radii" "$sized" "$chosen" "$(even_pages "$1" | median)" '<= 1'
}
uneven skewed '4,000 texts'

# the petitions' fingerprints, each with many edits of 0 to 7 bits
data=$ROOT/../shared/data
for set in zh us; do
  [ -e "$data/petitions_$set/petitions.csv" ] || continue
  case $set in
    zh) columns='id int, who text, title text, at text, body text, con text, pro text' ;;
    us) columns='id int, petition_id text, title text, body text, created text, signature_count text, status text, issues text' ;;
  esac
  sql -c "CREATE TABLE petition ($columns)"
  sql -c "\\copy petition FROM '$data/petitions_$set/petitions.csv' (FORMAT csv, HEADER)"
  for fingerprint in simhash minhash64; do
    sql <<SQL
CREATE TABLE edited AS
WITH original AS (SELECT row_number() OVER () - 1 AS n, $fingerprint(body)::bigint AS fp FROM petition WHERE $fingerprint(body) IS NOT NULL)
SELECT i AS id, (fp # coalesce((SELECT bit_or(1::bigint << (hashint8extended(i, j) & 63)::int) FROM generate_series(1, hashint8(i) & 7) j), 0))::simhash64 AS fp
FROM generate_series(1, $sized) i JOIN original ON n = i % (SELECT count(*) FROM original);
CREATE INDEX edited_fp ON edited USING hamming (fp);
SQL
    uneven edited "$fingerprint of petitions_$set"
    sql -c 'DROP TABLE edited'
  done
  sql -c 'DROP TABLE petition'
done

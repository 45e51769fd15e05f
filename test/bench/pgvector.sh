# pgvector.sh: the hamming index against pgvector's HNSW on bit(64), where the
# extension vector is installed: build, size, the nearest 10, and how many of them
# HNSW finds. Fingerprints are uniform, with neighbours at every distance from 0 to
# 15 planted around 60 centers. Searches are measured by processor time.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 100000)
if ! sql -c 'CREATE EXTENSION vector' 2>/dev/null; then
  echo "no extension vector here"
  return 0 2>/dev/null || exit 0
fi
sql <<SQL
CREATE TABLE center AS SELECT i, hashint8extended(i, 77)::simhash64 AS q FROM generate_series(1, 60) i;
CREATE TABLE fps AS
SELECT id, fp, fp::bit(64) AS bits FROM (
  SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $rows - 960) i
  UNION ALL
  SELECT $rows - 960 + row_number() OVER (), (q::bigint # flips)::simhash64
  FROM center, generate_series(0, 15) d,
    LATERAL (SELECT coalesce(bit_or(1::bigint << p), 0) AS flips
             FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, i * 100 + d) LIMIT d) b) f
) s ORDER BY hashint8extended(id, 5);
VACUUM ANALYZE fps;
SQL

build_ms()
{
  sql -c 'SET max_parallel_maintenance_workers = 0' -c '\timing on' -c "$1" | awk '$1 == "Time:" && $2 > 1 { print $2 }'
}
ratio_row 'build (ms) : hnsw' "$rows" "$(build_ms 'CREATE INDEX fps_hamming ON fps USING hamming (fp)')" \
  "$(build_ms 'CREATE INDEX fps_hnsw ON fps USING hnsw (bits bit_hamming_ops)')"
ratio_row 'size (bytes) : hnsw' "$rows" "$(sql -c "SELECT pg_relation_size('fps_hamming')")" "$(sql -c "SELECT pg_relation_size('fps_hnsw')")"

exact="SELECT id FROM fps ORDER BY fp <~> 'Q' LIMIT 10"
for ef in 40 200; do
  # shellcheck disable=SC2034
  settings="SET hnsw.ef_search = $ef;"
  ratio_row "nearest 10 (ms) : hnsw, ef_search $ef" "$rows" "$(searches "$exact" | median)" \
    "$(searches "SELECT id FROM fps ORDER BY bits <~> 'Q'::simhash64::bit(64) LIMIT 10" | median)"
  sql <<SQL
SET enable_seqscan = off;
SET hnsw.ef_search = $ef;
SELECT format('recall of hnsw with ef_search %s: %s of the nearest 10 of the centers', $ef, round(avg(least(found, 10) / 10.0), 3))
FROM center, LATERAL (
  SELECT count(*) AS found FROM (SELECT fp <~> q AS d FROM (SELECT fp FROM fps ORDER BY bits <~> q::bit(64) LIMIT 10) h) h
  WHERE d <= (SELECT max(d) FROM (SELECT fp <~> q AS d FROM fps ORDER BY fp <~> q LIMIT 10) e)) r;
SQL
done

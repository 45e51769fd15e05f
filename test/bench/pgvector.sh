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
planted "$rows" 60
sql -c 'ALTER TABLE fps ADD bits bit(64) GENERATED ALWAYS AS (fp::bit(64)) STORED' -c 'VACUUM ANALYZE fps'

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

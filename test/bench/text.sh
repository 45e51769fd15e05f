# text.sh: fingerprints of texts, against what the server does to the same rows.
# Without the Chinese petitions beside the checkout it takes the project's own.

. "$ROOT/test/bench/lib.sh"

petitions=$ROOT/../shared/data/petitions_zh/petitions.csv
if [ -e "$petitions" ]; then
  sql -c 'CREATE TABLE raw (id text, who text, title text, at text, body text, con text, pro text)'
else
  petitions=$ROOT/test/data/petitions.csv
  sql -c 'CREATE TABLE raw (id text, title text, district text, category text, at text, body text)'
fi
sql -c "\\copy raw FROM '$petitions' (FORMAT csv, HEADER)"
sql <<'SQL'
CREATE TABLE petition AS
SELECT body FROM raw, generate_series(1, (SELECT (100e6 / sum(octet_length(body)))::int + 1 FROM raw));
VACUUM ANALYZE petition;
SQL
rows=$(sql -c 'SELECT count(*) FROM petition')
echo "$(sql -c "SELECT pg_size_pretty(sum(octet_length(body))) FROM petition") of petitions, one core"
ratio "simhash(body) : to_tsvector('simple', body)" \
  'SELECT count(simhash(body)) FROM petition' \
  "SELECT count(to_tsvector('simple', body)) FROM petition" 3 '<= 0.333'
ratio 'simhash(body) : md5(body)' \
  'SELECT count(simhash(body)) FROM petition' \
  'SELECT count(md5(body)) FROM petition' 5 '<= 2.5'
ratio 'simhash_row(body, 3 fields) : simhash(body)' \
  "SELECT count(simhash_row(body, ARRAY['one', 'two', 'three'])) FROM petition" \
  'SELECT count(simhash(body)) FROM petition' 5 '<= 1.3'

cc -O2 -Wall -Wextra -I"$ROOT/src" -o "$SCRATCH/text" "$ROOT/test/bench/text.c" "$ROOT/src/core/sum.c"
"$SCRATCH/text" > "$SCRATCH/text.out"
ours=$(awk '{ print $1 }' "$SCRATCH/text.out" | median)
plain=$(awk '{ print $2 }' "$SCRATCH/text.out" | median)
ratio_row 'plain 64 counters : sum of features (ns a feature)' 200 "$plain" "$ours" '>= 15'

sql <<'SQL'
CREATE TABLE feature AS
SELECT 'feature' || i % 100000 AS feature, (i % 16)::float8 AS weight FROM generate_series(1, 5000000) i;
VACUUM ANALYZE feature;
SQL
rows=5000000
ratio 'simhash_agg(feature, weight) : sum(weight)' \
  'SELECT simhash_agg(feature, weight) FROM feature' \
  'SELECT sum(weight) FROM feature' 3
ratio 'simhash_agg(feature) : sum(length(feature))' \
  'SELECT simhash_agg(feature) FROM feature' \
  'SELECT sum(length(feature)) FROM feature' 3

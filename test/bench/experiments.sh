# experiments.sh: the experiments of Li and Han (2015). The petitions come from
# beside the checkout; without them the script makes some. ROWS is 30,000 by
# default, as in the paper, for the times.
#
#   Table 2: the time of fingerprints by hash function.
#   Table 3: recall and precision by hash function, of pairs within 8.
#   Table 4: single pass against the pigeonhole, by rows.
#   Table 5: incremental check of new rows, by index and by scan.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 30000)
petitions=$ROOT/../shared/data/petitions_zh

# Repeat the petitions until there are enough. A number at the end tells the
# copies apart.
load_petitions()
{
  sql <<SQL
CREATE TABLE real (id bigint, who text, title text, at text, body text, against text, likes text);
\copy real FROM '$petitions/petitions.csv' (FORMAT csv, HEADER)
CREATE TABLE truth (a bigint, b bigint, jaccard float8, inter int, uni int);
\copy truth FROM '$petitions/pairs.tsv' (FORMAT csv, HEADER, DELIMITER E'\t')
CREATE TABLE petitions AS SELECT row_number() OVER () AS id, body || ' ' || n AS body
  FROM generate_series(0, $rows / (SELECT count(*) FROM real)) AS n, real LIMIT $rows;
SQL
}

make_petitions()
{
  sql <<SQL
CREATE TABLE petitions AS SELECT i AS id,
  (SELECT string_agg('word' || abs(hashint8extended(i, j) % 5000), ' ') FROM generate_series(1, 150) AS j) AS body
  FROM generate_series(1, $rows) AS i;
SQL
}

if [ -r "$petitions/petitions.csv" ]; then
  load_petitions
else
  echo "no petitions at shared/data beside the checkout: made-up texts, and no table 3"
  make_petitions
fi
sql -c 'VACUUM ANALYZE'

# ms SQL: the median of three, after one untimed.
ms()
{
  local out i
  out=$({ printf '%s;\n\\timing on\n' "$1"; for i in 1 2 3; do printf '%s;\n' "$1"; done; } |
    psql -qXAt -v ON_ERROR_STOP=1 | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p')
  median <<<"$out"
}

# Which hash functions simhash has here.
hashes=
for hash in city64 murmur3 bkdr java; do
  if sql -c "SELECT simhash('a b', hash => '$hash')" >/dev/null 2>&1; then
    hashes+=" $hash"
  fi
done

printf '\nTable 2: fingerprints by hash function, ms\n%10s' rows
printf '%12s' $hashes
echo
for n in $((rows / 10)) $((rows / 3)) "$rows"; do
  printf '%10s' "$n"
  for hash in $hashes; do
    printf '%12s' "$(ms "SELECT count(simhash(body, weighting => 'tf', hash => '$hash')) FROM (SELECT body FROM petitions LIMIT $n) AS p")"
  done
  echo
done

if [ -r "$petitions/petitions.csv" ]; then
  printf '\nTable 3: pairs within 8 of %s petitions; true is a Jaccard coefficient of 0.8, right of 0.5\n%10s%12s%12s\n' \
    "$(sql -c 'SELECT count(*) FROM real')" hash recall precision
  for hash in $hashes; do
    sql -c "CREATE TABLE fp_$hash AS SELECT id, simhash(body, weighting => 'tf', hash => '$hash') AS fp FROM real"
    sql -F ' ' -c "SELECT '$hash', round(count(*) FILTER (WHERE is_found AND jaccard >= 0.8)::numeric / count(*) FILTER (WHERE jaccard >= 0.8), 3),
        round(count(*) FILTER (WHERE is_found AND jaccard IS NOT NULL)::numeric / count(*) FILTER (WHERE is_found), 3)
      FROM (SELECT x.id AS a, y.id AS b, true AS is_found FROM fp_$hash AS x JOIN fp_$hash AS y ON x.id < y.id AND simhash_within(x.fp, y.fp)) AS f
        FULL JOIN (SELECT least(a, b) AS a, greatest(a, b) AS b, jaccard FROM truth WHERE a <> b) AS t USING (a, b)" 2>/dev/null |
      while read -r name recall precision; do printf '%10s%12s%12s\n' "$name" "$recall" "$precision"; done
  done
fi

# The single pass as the document has it: each row against every leader.
sql <<'SQL'
CREATE FUNCTION single_pass(n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  leaders simhash64[] := '{}';
  row_fp simhash64;
BEGIN
  FOR row_fp IN SELECT fp FROM fps ORDER BY id LIMIT n LOOP
    IF NOT EXISTS (SELECT FROM unnest(leaders) AS leader WHERE leader <~> row_fp <= 3) THEN
      leaders := leaders || row_fp;
    END IF;
  END LOOP;
  RETURN cardinality(leaders);
END $$;
CREATE TABLE fps AS SELECT i::bigint AS id, (CASE WHEN i % 10 = 0
    THEN hashint8extended(i - 1, 0) # (1::bigint << (i / 10 % 64)::int) ELSE hashint8extended(i, 0) END)::simhash64 AS fp
  FROM generate_series(1, 1000000) AS i;
ALTER TABLE fps ADD PRIMARY KEY (id);
VACUUM ANALYZE fps;
SQL
printf '\nTable 4: all rows at once, within 3, ms\n%10s%16s%12s%12s\n' rows 'single pass' leader connected
for n in 1000 2000 4000 100000 1000000; do
  single=-
  [ "$n" -gt 4000 ] || single=$(ms "SELECT single_pass($n)")
  printf '%10s%16s%12s%12s\n' "$n" "$single" \
    "$(ms "SELECT count(DISTINCT c) FROM (SELECT simdup_cluster(id, fp, 3, 'leader') OVER (ORDER BY id) AS c FROM fps WHERE id <= $n) AS w")" \
    "$(ms "SELECT count(DISTINCT c) FROM (SELECT simdup_cluster(id, fp, 3, 'connected') OVER (ORDER BY id) AS c FROM fps WHERE id <= $n) AS w")"
done

# New rows, of which each is near an old one: look for any of them, and for all.
printf '\nTable 5: a new row against old ones, within 3, ms a row\n%10s%14s%14s%14s%14s\n' \
  rows 'scan: any' 'scan: all' 'index: any' 'index: all'
near='simhash_blocks(old.fp) && simhash_blocks(f.fp) AND old.fp <~> f.fp <= 3'
per_row()
{
  awk "BEGIN { printf \"%.3f\", $1 / $2 }"
}
for n in 10000 100000 1000000; do
  sql -c "CREATE TABLE old AS SELECT * FROM fps WHERE id <= $n" \
    -c "CREATE INDEX old_blocks ON old USING gin (simhash_blocks(fp))" \
    -c "CREATE TABLE fresh AS SELECT i, (hashint8extended(i * ($n / 200) - 3, 0) # (1::bigint << (i % 64)::int))::simhash64 AS fp FROM generate_series(1, 200) AS i" \
    -c 'VACUUM ANALYZE old' -c 'VACUUM ANALYZE fresh'
  scan_any=$(ms "SELECT count(*) FROM fresh AS f WHERE i % 40 = 0 AND EXISTS (SELECT FROM old WHERE old.fp <~> f.fp <= 3 OFFSET 0)")
  scan_all=$(ms "SELECT count(*) FROM fresh AS f, old WHERE i % 40 = 0 AND old.fp <~> f.fp <= 3")
  any=$(PGOPTIONS='-c enable_seqscan=off' ms "SELECT count(*) FROM fresh AS f, LATERAL (SELECT FROM old WHERE $near LIMIT 1) AS x")
  all=$(PGOPTIONS='-c enable_seqscan=off' ms "SELECT count(*) FROM fresh AS f JOIN old ON $near")
  printf '%10s%14s%14s%14s%14s\n' "$n" "$(per_row "$scan_any" 5)" "$(per_row "$scan_all" 5)" \
    "$(per_row "$any" 200)" "$(per_row "$all" 200)"
  sql -c 'DROP TABLE old, fresh'
done

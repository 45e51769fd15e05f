# batch: whole tables against a scan of the same query, and the join of core/
# alone against a plain sort and compare. ROWS: default 1000000.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)

# Core, without a server, in processor time: the ratios are to the recursion.
program()
{
  cc -O2 -I"$ROOT/src" "$@" "$ROOT/test/bench/batch.c" \
    "$ROOT"/src/core/{fingerprint/vectors,join/allpairs,join/ball_compare,join/ball_plan,join/balls,join/pigeonhole,search/sort}.c "$ROOT/test/unit/host.c" -lm
}
program -o "$SCRATCH/batch"
"$SCRATCH/batch" "$rows" 3 plain
"$SCRATCH/batch" "$((rows * 10))" 3 near
"$SCRATCH/batch" "$((rows * 10))" 8 uniform
"$SCRATCH/batch" "$((rows * 10))" 8 near
"$SCRATCH/batch" "$rows" 12 uniform
"$SCRATCH/batch" "$((rows / 3))" 8 p.15
"$SCRATCH/batch" "$((rows / 3))" 8 p.3
"$SCRATCH/batch" "$((rows / 10))" 8 family16
"$SCRATCH/batch" "$((rows / 50))" 8 low20
"$SCRATCH/batch" "$((rows / 10))" 8 low24
echo "for a processor without popcnt, also in the recursion:"
program -U__gnu_linux__ -o "$SCRATCH/batch_plain"
"$SCRATCH/batch_plain" "$((rows * 10))" 8 uniform 2
echo "asked: uniform, k = 8: AVX-512 .2, AVX2 .4, plain C .7; near, k = 8: .25; k = 12: .15; k = 3: 1; p and family: .5, 1.1; low: 1.1"

# A tenth of the rows are one to three bits away from another.
table_of()
{
  sql -c "CREATE TABLE $1 AS SELECT i::bigint AS id, (CASE WHEN i % 10 = 0
      THEN hashint8extended(i - 1, 0) # (1::bigint << (i / 10 % 64)::int) # (1::bigint << (i / 640 % 64)::int)
      ELSE hashint8extended(i, 0) END)::simhash64 AS fp
    FROM generate_series(1, $2::bigint) AS i" -c "VACUUM ANALYZE $1"
}

table_of fps "$rows"
scan='SELECT count(fp), max(id) FROM fps'
pairs='SELECT count(*) FROM fps AS a JOIN fps AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 3)'
far=${pairs/3)/8)}
ratio "join, k = 3, against a scan" "$pairs" "$scan" 3 "<= 8"
ratio "join, k = 8 against k = 3" "$far" "$pairs" 1 "<= 50"
for workers in 1 3; do
  ratio "join, k = 8, $workers workers against none" \
    "SET max_parallel_workers_per_gather = $workers; $far; RESET max_parallel_workers_per_gather" "$far" 1
done
clusters='SELECT count(c) FROM (SELECT simdup_cluster(id, fp) OVER (ORDER BY id) AS c FROM fps) AS w'
echo "processor time, s: join, k = 8: $(seconds "$far"), with work_mem of 4 MB: $(seconds "SET work_mem = '4MB'; $far"); simdup_cluster, k = 8: $(seconds "$clusters")"
ratio "join on disk (1 MB) against in memory" "SET work_mem = '1MB'; $pairs; RESET work_mem" "$pairs" 1
rows=$((rows * 10))
sql -c 'DROP TABLE fps'
table_of fps "$rows"
ratio "join, k = 3, against a scan" "$pairs" "$scan" 1 "<= 8"

#!/usr/bin/env bash
# shards.sh: the recipes of test/demo/shards over 1, 2 and 3 shards against
# one table: all pairs, and the time of a search. Shards are databases of one
# server, so the figures hold the work and the protocol, but no network. With
# fewer cores than shards, the shards wait for each other. ROWS is 300,000 by
# default.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 300000)
k=3
runs=3

# recipe WHERE: the script for all pairs, for $shards and $k.
recipe()
{
  sed -e "s/^\\\\set k .*/\\\\set k $k/" -e "s/^\\\\set shards .*/\\\\set shards $shards/" "$ROOT/test/demo/shards/$1_pairs.sql"
}

# One row in ten repeats an earlier one in three bits.
sql <<SQL
CREATE TABLE fps AS
SELECT i AS id, (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 5, 1) # (7::bigint << (i % 60))
                 ELSE hashint8extended(i, 1) END)::simhash64 AS fp
FROM generate_series(1, $rows) AS i;
SET maintenance_work_mem = '32MB';
CREATE INDEX fps_fp ON fps USING hamming (fp);
VACUUM ANALYZE fps;
CREATE EXTENSION postgres_fdw;
SQL

# set_up: $shards databases, and fps spread over them as table petition.
set_up()
{
  local i
  sql <<SQL
CREATE TABLE petition (id bigint, fp simhash64) PARTITION BY HASH (id);
SQL
  for ((i = 1; i <= shards; i++)); do
    createdb "${PGDATABASE}_$i"
    sql -d "${PGDATABASE}_$i" -c 'CREATE EXTENSION simdup' -c 'CREATE TABLE petition (id bigint, fp simhash64)'
    sql <<SQL
CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname '${PGDATABASE}_$i',
  extensions 'simdup', async_capable 'true', use_remote_estimate 'true');
CREATE USER MAPPING FOR PUBLIC SERVER shard$i OPTIONS (user '$PGUSER');
CREATE FOREIGN TABLE petition_$i PARTITION OF petition FOR VALUES WITH (MODULUS $shards, REMAINDER $((i - 1)))
  SERVER shard$i OPTIONS (table_name 'petition', batch_size '1000', fetch_size '10000');
SQL
  done
  sql -c 'INSERT INTO petition SELECT id, fp FROM fps'
  for ((i = 1; i <= shards; i++)); do
    sql -d "${PGDATABASE}_$i" -c "SET maintenance_work_mem = '32MB'" \
      -c 'CREATE INDEX petition_fp ON petition USING hamming (fp)' -c 'VACUUM ANALYZE petition'
  done
}

tear_down()
{
  local i
  sql -c 'DROP EXTENSION postgres_fdw CASCADE' -c 'DROP TABLE petition, piece, found'
  sql -c 'CREATE EXTENSION postgres_fdw'
  for ((i = 1; i <= shards; i++)); do
    dropdb "${PGDATABASE}_$i"
  done
}

# ms "SQL": milliseconds of one run, in a session of its own that has its
# connections already.
ms()
{
  sql <<SQL | awk '/^Time:/ { t = $2 } END { print t }'
SELECT count(*) FROM petition WHERE fp <@ '<0000000000000000,0>';
\timing on
$1
SQL
}

# searches TABLE: milliseconds of 200 prepared searches at distance k, one a line.
searches()
{
  cat > "$SCRATCH/search.sql" <<SQL
\set i random(1, $rows)
SELECT count(*) FROM $1 WHERE simhash_within(fp, hashint8extended(:i, 1)::simhash64, $k);
SQL
  rm -f "$SCRATCH"/searches.*
  pgbench -n -M prepared -f "$SCRATCH/search.sql" -t 200 --random-seed=5 -l --log-prefix="$SCRATCH/searches" > "$SCRATCH/log" 2>&1
  awk '{ print $3 / 1000 }' "$SCRATCH"/searches.*
}

single_pairs="SELECT count(*), sum(a.id), sum(b.id), sum(a.fp <~> b.fp) FROM fps AS a JOIN fps AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k);"
here_pairs=${single_pairs//fps/petition}
shard_pairs='SELECT count(*), sum(a), sum(b), sum(distance) FROM found;'

for shards in 1 2 3; do
  set_up
  for ((i = 1; i <= shards; i++)); do
    recipe shard | sql -d "${PGDATABASE}_$i"
  done
  # the recipe, timed: rows to the shards of their blocks, then the pairs
  exchange=$(recipe coordinator |
    awk '/^INSERT INTO piece/ { print "\\timing on" } /^SELECT a, b/ { exit } { print }' |
    sql | awk '/^Time:/ { t = $2 } END { print t }')
  for ((i = 1; i <= shards; i++)); do
    sql -d "${PGDATABASE}_$i" -c 'ANALYZE piece'
  done
  [ "$(sql -c "$shard_pairs")" = "$(sql -c "$single_pairs")" ] ||
    { echo "the pairs over $shards shards are not those of one table" >&2; exit 1; }
  : > "$SCRATCH/single"
  : > "$SCRATCH/sharded"
  : > "$SCRATCH/here"
  : > "$SCRATCH/local"
  : > "$SCRATCH/remote"
  for ((run = 0; run < runs; run++)); do
    ms "$single_pairs" >> "$SCRATCH/single"
    ms "$shard_pairs" >> "$SCRATCH/sharded"
    ms "$here_pairs" >> "$SCRATCH/here"
    searches fps >> "$SCRATCH/local"
    searches petition >> "$SCRATCH/remote"
  done
  sharded=$(median < "$SCRATCH/sharded")
  single=$(median < "$SCRATCH/single")
  [ "$shards" != 1 ] || one_shard=$sharded one_exchange=$exchange
  echo "rows sent to $shards shards: $(sql -c "SELECT round(count(*)::numeric / $rows, 2) FROM piece") a row, $(sql -c "SELECT round(max(n)::numeric / $rows, 2) FROM (SELECT count(*) AS n FROM piece GROUP BY piece) s") of all rows to the fullest"
  ratio_row "pairs on $shards shards (ms) : join of one table" "$rows" "$sharded" "$single"
  ratio_row "pairs on $shards shards (ms) : on 1 shard" "$rows" "$sharded" "$one_shard"
  ratio_row "join over $shards shards (ms) : one table" "$rows" "$(median < "$SCRATCH/here")" "$single"
  ratio_row "sending rows to $shards shards (ms) : to 1" "$rows" "$exchange" "$one_exchange"
  ratio_row "search, $shards shards (ms) : local table" "$rows" "$(median < "$SCRATCH/remote")" "$(median < "$SCRATCH/local")"
  tear_down
done

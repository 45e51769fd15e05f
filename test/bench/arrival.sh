#!/usr/bin/env bash
# arrival.sh: what the arrival triggers cost. One table of ROWS unrelated
# fingerprints with the index, and one trigger switched on and off in turn.
# Measured are INSERT statements of one row, and COPY of a tenth of the rows.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
load=$((rows / 10))
inserts=4000
rounds=5

sql <<SQL
CREATE TABLE petition (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fp simhash64, dup bigint);

INSERT INTO petition (fp)
  SELECT hashint8extended(i, 1)::simhash64 FROM generate_series(1, $rows) i;
CREATE INDEX petition_fp ON petition USING hamming (fp);
CREATE TABLE petition_log (new_key bigint, old_key bigint, distance int, logged_at timestamptz);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3');
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('petition_log', 'max_distance => 3');
CREATE TRIGGER log_statement AFTER INSERT ON petition
  REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION simdup_log_trigger('petition_log', 'max_distance => 3');
ALTER TABLE petition DISABLE TRIGGER USER;
VACUUM ANALYZE petition;
SQL

# A random fingerprint: two ints that pgbench can draw.
cat > "$SCRATCH/insert.sql" <<'SQL'
\set high random(0, 4294967295)
\set low random(0, 4294967295)
INSERT INTO petition (fp) VALUES (((:high::bigint << 32) | :low::bigint)::simhash64);
SQL

# only TRIGGER: switch on that one, or none.
only()
{
  sql -c 'ALTER TABLE petition DISABLE TRIGGER USER'
  [ "$1" = none ] || sql -c "ALTER TABLE petition ENABLE TRIGGER $1"
}

# inserts_ms TRIGGER CLIENTS: milliseconds a statement takes, all clients.
inserts_ms()
{
  only "$1"
  pgbench -n -M prepared -f "$SCRATCH/insert.sql" -c "$2" -j 2 -t $((inserts / $2)) --random-seed="$RANDOM" 2> "$SCRATCH/log" |
    awk '/^tps/ { printf "%.4f\n", 1000 / $3 }'
}

# copy_ms TRIGGER: milliseconds to COPY rows that no earlier COPY has had.
copy_ms()
{
  only "$1"
  copied=$((${copied:-0} + 1))
  sql -c "COPY (SELECT hashint8extended(i, 100 + $copied)::simhash64 FROM generate_series(1, $load) i) TO STDOUT" > "$SCRATCH/rows"
  sql <<SQL | awk '/^Time/ { print $2 }'
\timing on
\copy petition (fp) FROM '$SCRATCH/rows'
SQL
}

# in_turn LABEL ROWS TARGET FUNCTION TRIGGER [ARG...]: with against without.
in_turn()
{
  local label=$1 n=$2 target=$3 function=$4 trigger=$5 i
  shift 5
  : > "$SCRATCH/with"
  : > "$SCRATCH/without"
  "$function" none "$@" > /dev/null
  for ((i = 0; i < rounds; i++)); do
    "$function" "$trigger" "$@" >> "$SCRATCH/with"
    "$function" none "$@" >> "$SCRATCH/without"
  done
  ratio_row "$label" "$n" "$(median < "$SCRATCH/with")" "$(median < "$SCRATCH/without")" "$target"
}

in_turn "INSERT, flag trigger" "$rows" "<= 2" inserts_ms flag 1
in_turn "INSERT, reject trigger" "$rows" "<= 2.5" inserts_ms reject 1
in_turn "INSERT, log trigger" "$rows" "" inserts_ms log 1
in_turn "INSERT, 8 clients, reject trigger (2 is half the rate)" "$rows" "<= 2" inserts_ms reject 8
rounds=3
in_turn "COPY $load rows, flag trigger" "$rows" "<= 3" copy_ms flag
in_turn "COPY $load rows, reject trigger" "$rows" "" copy_ms reject
in_turn "COPY $load rows, log trigger for each row" "$rows" "" copy_ms log
in_turn "COPY $load rows, log trigger for the statement" "$rows" "" copy_ms log_statement

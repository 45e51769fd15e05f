# arrival.sh: the cost of the arrival triggers. One table has ROWS letters of 500
# characters, of which a tenth repeat another, and an index on the texts. One
# trigger is switched on and off in turn. Measured are INSERT statements of one row
# and of a tenth of the rows. Then the cost of one INSERT as the partitions grow,
# and of inserts in serializable transactions.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
load=$((rows / 10))
inserts=2000
rounds=5

# letter(i): 15 words of 32 characters. The last of ten letters in a row repeats
# the first but for one word.
sql <<SQL
CREATE FUNCTION letter(i bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
\$\$ SELECT string_agg(md5((CASE WHEN i % 10 = 9 AND j <> 7 THEN i - 9 ELSE i END * 16 + j)::text), ' ') FROM generate_series(1, 15) AS j \$\$;
CREATE TABLE petition (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text, repeats bigint);
INSERT INTO petition (content) SELECT letter(i) FROM generate_series(1, $rows) AS i;
CREATE INDEX petition_near ON petition USING hamming (content);
CREATE TABLE petition_log (new_key bigint, old_key bigint, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON petition
  FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('petition_log');
ALTER TABLE petition DISABLE TRIGGER USER;
VACUUM ANALYZE petition;
-- The words of each letter differ from those of all before. Reject lets it in: within
-- 3 bits, chance brings no two of so many texts together.
CREATE SEQUENCE next_letter START $((rows * 10)) INCREMENT 10;
SQL

cat > "$SCRATCH/insert.sql" <<'SQL'
INSERT INTO petition (content) SELECT letter(nextval('next_letter'));
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
  pgbench -n -M prepared -f "$SCRATCH/insert.sql" -c "$2" -j 2 -t $((inserts / $2)) 2> "$SCRATCH/log" |
    awk '/^tps/ { printf "%.4f\n", 1000 / $3 }'
}

# load_ms TRIGGER [STATEMENT]: milliseconds of one INSERT of rows that no earlier one has had, or of another
# statement about them.
load_ms()
{
  only "$1"
  sql <<SQL | awk '/^Time/ { print $2 }'
CREATE TEMP TABLE arrived AS SELECT letter(nextval('next_letter')) AS content FROM generate_series(1, $load);
\timing on
${2:-INSERT INTO petition (content) SELECT content FROM arrived};
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

in_turn "INSERT (ms), flag : no trigger" "$rows" "<= 2.1" inserts_ms flag 1
in_turn "INSERT, reject at 3" "$rows" "" inserts_ms reject 1
in_turn "INSERT, log" "$rows" "" inserts_ms log 1
in_turn "INSERT, 8 clients, reject at 3" "$rows" "" inserts_ms reject 8
rounds=3
in_turn "INSERT of $load rows, flag" "$rows" "<= 9" load_ms flag
in_turn "INSERT of $load rows, reject at 3" "$rows" "" load_ms reject
in_turn "INSERT of $load rows, log" "$rows" "" load_ms log
# the trigger and the index compute each of them
ratio_row "fingerprints of $load rows : INSERT with flag" "$rows" \
  "$(load_ms flag 'SELECT count(minhash64(content)) FROM arrived')" "$(load_ms flag)" '<= 0.03'
sql -c 'DROP TABLE petition'

# --- partitions: the same rows in one and in a hundred

for n in 1 100; do
  sql <<SQL
CREATE TABLE parted_$n (id bigint GENERATED ALWAYS AS IDENTITY, content text, repeats bigint, PRIMARY KEY (id)) PARTITION BY HASH (id);
SELECT format('CREATE TABLE parted_${n}_%s PARTITION OF parted_$n FOR VALUES WITH (MODULUS $n, REMAINDER %s)', i, i) FROM generate_series(0, $n - 1) AS i \gexec
INSERT INTO parted_$n (content) SELECT letter(i) FROM generate_series(1, $load) AS i;
CREATE INDEX ON parted_$n USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON parted_$n
  FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
SQL
  echo "INSERT INTO parted_$n (content) SELECT letter(nextval('next_letter'));" > "$SCRATCH/parted_$n.sql"
  : > "$SCRATCH/of_$n"
done
for i in 1 2 3; do
  for n in 1 100; do
    pgbench -n -f "$SCRATCH/parted_$n.sql" -t 500 2> "$SCRATCH/log" | awk '/^tps/ { printf "%.4f\n", 1000 / $3 }' >> "$SCRATCH/of_$n"
  done
done
ratio_row "INSERT with flag (ms), 100 partitions : 1" "$load" "$(median < "$SCRATCH/of_100")" "$(median < "$SCRATCH/of_1")"

# --- serializable transactions: how many of 8 clients' inserts fail, and are
# tried again

for isolation in 'read committed' serializable; do
  PGOPTIONS="-c default_transaction_isolation=${isolation// /\\ }" \
    pgbench -n -f "$SCRATCH/parted_1.sql" -c 8 -j 2 -t 250 --max-tries=1000 > "$SCRATCH/out" 2> "$SCRATCH/log"
  awk -v isolation="$isolation" '/^tps/ { tps = $3 } /number of transactions retried/ { retried = $5 } /total number of retries/ { retries = $5 }
    END { printf "8 clients, flag, %s: %.0f inserts a second, %d of 2000 retried, %d retries\n", isolation, tps, retried, retries }' "$SCRATCH/out"
done

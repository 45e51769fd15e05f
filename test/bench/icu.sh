# icu.sh: fingerprints of ICU's words against ICU's own break iteration over
# the same texts. Without the petitions beside the checkout it takes the
# project's own.

. "$ROOT/test/bench/lib.sh"

if [ -z "$(sql -c 'SELECT simdup_icu_version()')" ]; then
  echo 'simdup was built without ICU: nothing to measure'
  exit
fi
sql -c 'SELECT simdup_icu_version()'

# icu_part LABEL FILE COLUMNS: the column body of a CSV file, one text a line.
icu_part()
{
  sql -c "CREATE TEMPORARY TABLE raw ($3)" -c "\\copy raw FROM '$2' (FORMAT csv, HEADER)" \
    -c "SELECT translate(body, E'\\n\\r\\t', '   ') FROM raw WHERE body <> ''" >"$SCRATCH/texts"
  "$SCRATCH/icu" "$SCRATCH/texts" >"$SCRATCH/icu.out"
  ratio_row "$1" "$(wc -l <"$SCRATCH/texts")" "$(awk '{ print $1 }' "$SCRATCH/icu.out" | median)" \
    "$(awk '{ print $2 }' "$SCRATCH/icu.out" | median)" '<= 1.5'
}

cc -O2 -Wall -Wextra -D_GNU_SOURCE -DSIMDUP_ICU -I"$ROOT/src" -o "$SCRATCH/icu" "$ROOT/test/bench/icu.c" \
  "$ROOT/src/text/icu.c" "$ROOT"/src/core/*/*.c "$ROOT/test/unit/host.c" -licui18n -licuuc -lm
data=$ROOT/../shared/data
if [ -e "$data/petitions_zh/petitions.csv" ]; then
  icu_part 'icu fingerprints : ICU iteration (ms), Chinese' "$data/petitions_zh/petitions.csv" \
    'id text, who text, title text, at text, body text, con text, pro text'
else
  icu_part 'icu fingerprints : ICU iteration (ms)' "$ROOT/test/data/petitions.csv" \
    'id text, title text, district text, category text, at text, body text'
fi
if [ -e "$data/petitions_us/petitions.csv" ]; then
  icu_part 'icu fingerprints : ICU iteration (ms), English' "$data/petitions_us/petitions.csv" "$(
    head -n 1 "$data/petitions_us/petitions.csv" | tr -d '\r' | sed 's/,/ text, /g; s/$/ text/')"
fi

# icu.sh: fingerprints of ICU's words against those of the word tokenizer over the
# same texts. Without the petitions beside the checkout it takes the project's own.

. "$ROOT/test/bench/lib.sh"

if [ -z "$(sql -c 'SELECT simdup_icu_version()')" ]; then
  echo 'simdup was built without ICU: nothing to measure'
  exit
fi
sql -c 'SELECT simdup_icu_version()'

# icu_part LABEL FILE COLUMNS: the column body of a CSV file.
icu_part()
{
  sql -c "DROP TABLE IF EXISTS icu_text" -c "CREATE TABLE icu_text ($3)" -c "\\copy icu_text FROM '$2' (FORMAT csv, HEADER)"
  rows=$(sql -c 'SELECT count(*) FROM icu_text') ratio "simhash by icu : by word, $1" \
    "SELECT count(simhash(body, tokenizer => 'icu')) FROM icu_text" "SELECT count(simhash(body)) FROM icu_text"
}

data=$ROOT/../shared/data
if [ -e "$data/petitions_zh/petitions.csv" ]; then
  icu_part Chinese "$data/petitions_zh/petitions.csv" 'id text, who text, title text, at text, body text, con text, pro text'
else
  icu_part "the project's" "$ROOT/test/data/petitions.csv" \
    'id text, title text, district text, category text, at text, body text'
fi
if [ -e "$data/petitions_us/petitions.csv" ]; then
  icu_part English "$data/petitions_us/petitions.csv" "$(
    head -n 1 "$data/petitions_us/petitions.csv" | tr -d '\r' | sed 's/,/ text, /g; s/$/ text/')"
fi

# shingles.sh: shingles against pg_trgm, MinHash against simhash, and the join by shingles
# on synthetic commit messages. The texts of the first two are petitions from beside
# the checkout, or else the project's own, each with the next.

. "$ROOT/test/bench/lib.sh"

sql -c 'CREATE EXTENSION pg_trgm'

# load_pairs TABLE CSV COLUMNS KEY BODY [PAIRS]
load_pairs()
{
  sql -c "CREATE TABLE $1_raw ($3)" -c "\\copy $1_raw FROM '$2' (FORMAT csv, HEADER)"
  if [ -n "${6:-}" ]; then
    sql -c "CREATE TABLE $1_listed (a text, b text, jaccard float8, common int, either int)" \
      -c "\\copy $1_listed FROM PROGRAM 'tail -n +2 $6'"
  else
    sql -c "CREATE TABLE $1_listed AS SELECT $4 AS a, lead($4) OVER (ORDER BY $4) AS b FROM $1_raw"
  fi
  sql <<SQL
CREATE TABLE $1 AS SELECT x.$5 AS x, y.$5 AS y FROM $1_listed l JOIN $1_raw x ON x.$4 = a JOIN $1_raw y ON y.$4 = b;
VACUUM ANALYZE $1;
SQL
}

data=$ROOT/../shared/data
if [ -e "$data/petitions_zh/petitions.csv" ]; then
  load_pairs zh "$data/petitions_zh/petitions.csv" \
    'id text, who text, title text, at text, body text, con text, pro text' id body "$data/petitions_zh/pairs.tsv"
  columns=$(head -1 "$data/petitions_us/petitions.csv" | tr -d '\r\357\273\277' | sed 's/,/ text, /g; s/$/ text/')
  load_pairs us "$data/petitions_us/petitions.csv" "$columns" id body "$data/petitions_us/pairs.tsv"
  sets='zh us'
else
  load_pairs own "$ROOT/test/data/petitions.csv" \
    'id text, title text, district text, category text, at text, body text' id body
  sets=own
fi

for set in $sets; do
  rows=$(sql -c "SELECT count(*) FROM $set")
  ratio "$set: similarity : shingle_resemblance, char 3" \
    "SELECT sum(similarity(x, y)) FROM $set, generate_series(1, 10)" \
    "SELECT sum(shingle_resemblance(x, y, 3, 'char')) FROM $set, generate_series(1, 10)" 5 '>= 5'
  rows=$((2 * rows))
  for unit in word char; do
    ratio "$set: minhash_signature, $unit : simhash" \
      "SELECT count(minhash_signature(x, 128, 4, '$unit')) + count(minhash_signature(y, 128, 4, '$unit')) FROM $set, generate_series(1, 10)" \
      "SELECT count(simhash(x)) + count(simhash(y)) FROM $set, generate_series(1, 10)" 5 '<= 3'
  done
done

# all pairs: the cost of the join beside hashing the texts and comparing them
commits=$(rows_or 10000)
sql -c 'CREATE TABLE commits (id int, body text)'
perl "$ROOT/test/bench/commits.pl" "$commits" | sql -c '\copy commits FROM stdin'
sql -c 'VACUUM ANALYZE commits'
# pairs RESEMBLANCE [ROWS]
pairs()
{
  echo "SELECT count(*) FROM commits AS a JOIN commits AS b ON a.id < b.id AND shingle_resemblance(a.body, b.body) >= $1 ${2:+WHERE a.id <= $2 AND b.id <= $2}"
}
rows=400
ratio "every pair compared : join, 4 characters" \
  "SET simdup.enable_join = off; $(pairs 0.5 400); RESET simdup.enable_join" "$(pairs 0.5 400)" 3 '>= 5'
rows=$commits
for threshold in 0.5 0.8; do
  ratio "join at $threshold : minhash_signature" "$(pairs $threshold)" \
    "SELECT count(minhash_signature(body, 128, 4, 'char')) FROM commits" 3
done

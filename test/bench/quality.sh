# quality.sh: what fingerprints find. Pairs of real petitions at Hamming
# distance k or less against their exact Jaccard similarity, for tokenizers and
# weightings: no times, so the same on every machine.
#
# recall: of the pairs with Jaccard >= 0.8, the part that is found; precision:
# of the pairs found, the part with Jaccard >= 0.5. Jaccard is that of the sets
# of character 4-grams; pairs.tsv has every pair with 0.5 or more.

. "$ROOT/test/bench/lib.sh"

data=$ROOT/../shared/data
tokenizers='word char:4 word:2'
if sql -c "SELECT simhash('word', tokenizer => 'icu')" >/dev/null 2>&1; then
  tokenizers='word icu char:4 word:2'
else
  echo "no icu: built without ICU"
fi

# quality NAME: one set's table, out of petition (id, body) and pair (a, b, jaccard).
quality()
{
  local name=$1
  sql -v tokenizers="$tokenizers" -v name="$name" <<'SQL'
CREATE TABLE found AS
SELECT tokenizer, weighting, k, count(*) FILTER (WHERE jaccard >= 0.8) AS alike,
       count(*) FILTER (WHERE jaccard >= 0.5) AS right_ones, count(*) AS found
FROM (SELECT a.tokenizer, a.weighting, a.fp <~> b.fp AS distance, jaccard
      FROM fingerprint AS a JOIN fingerprint AS b USING (tokenizer, weighting)
      LEFT JOIN pair ON pair.a = a.id AND pair.b = b.id
      WHERE a.id < b.id AND a.fp <~> b.fp <= 10) AS near,
     unnest(ARRAY[3, 6, 8, 10]) AS k
WHERE distance <= k
GROUP BY tokenizer, weighting, k;

SELECT format(E'\n%s: %s rows, %s pairs with Jaccard >= 0.8, %s with >= 0.5\nrecall, precision', :'name',
              (SELECT count(*) FROM petition), count(*) FILTER (WHERE jaccard >= 0.8), count(*))
FROM pair;
SELECT '| tokenizer | weighting | k = 3 | k = 6 | k = 8 | k = 10 |';
SELECT '|---|---|---|---|---|---|';
SELECT format('| `%s` | `%s` | %s |', tokenizer, weighting, string_agg(cell, ' | ' ORDER BY k))
FROM (SELECT tokenizer, weighting, k,
             trim(leading '0' FROM to_char(coalesce(alike, 0)::numeric / (SELECT count(*) FROM pair WHERE jaccard >= 0.8), 'FM0.000'))
             || coalesce(', ' || trim(leading '0' FROM to_char(right_ones::numeric / found, 'FM0.000')), ', -') AS cell
      FROM string_to_table(:'tokenizers', ' ') AS tokenizer
      CROSS JOIN unnest(ARRAY['log', 'tf', 'set']) AS weighting
      CROSS JOIN unnest(ARRAY[3, 6, 8, 10]) AS k
      LEFT JOIN found USING (tokenizer, weighting, k)) AS cells
GROUP BY tokenizer, weighting
ORDER BY array_position(string_to_array(:'tokenizers', ' '), tokenizer),
         array_position(ARRAY['log', 'tf', 'set'], weighting);
DROP TABLE found, fingerprint, petition, pair;
SQL
}

# load FOLDER COLUMNS: the set's petitions, fingerprints and pairs.
load()
{
  local folder=$1 columns=$2
  sql -c "CREATE TABLE raw ($columns)" \
    -c "\\copy raw FROM '$data/$folder/petitions.csv' (FORMAT csv, HEADER)" \
    -c 'CREATE TABLE petition AS SELECT id::int, body FROM raw; DROP TABLE raw' \
    -c 'CREATE TABLE pair (a int, b int, jaccard numeric, shared int, united int)' \
    -c "\\copy pair FROM '$data/$folder/pairs.tsv' (HEADER)" >/dev/null
  sql -v tokenizers="$tokenizers" <<'SQL'
UPDATE pair SET a = b, b = a WHERE a > b;
CREATE TABLE fingerprint AS
SELECT id, tokenizer, weighting, simhash(body, tokenizer => tokenizer, weighting => weighting) AS fp
FROM petition, string_to_table(:'tokenizers', ' ') AS tokenizer, unnest(ARRAY['log', 'tf', 'set']) AS weighting;
ANALYZE petition, pair, fingerprint;
SQL
}

if [ ! -d "$data/petitions_zh" ]; then
  echo "no petitions beside the checkout: nothing to measure"
  exit 0
fi
load petitions_zh 'id text, who text, title text, at text, body text, con text, pro text'
quality 'Chinese petitions'
load petitions_us 'id text, petition_id text, title text, body text, created text, signatures text, status text, issues text'
quality 'English petitions'

# quality.sh: recall and precision of fingerprints on real petitions, for
# minhash64 and for simhash by tokenizer and weighting. No times, so the figures
# are the same on every machine.
#
# Recall is the share found of the pairs with a Jaccard similarity of 0.8 or
# more. Precision is the share of the pairs found that have 0.5 or more. The
# similarity is that of the sets of character 4-grams; pairs.tsv has every pair
# of 0.5 or more.

. "$ROOT/test/bench/lib.sh"

data=$ROOT/../shared/data
tokenizers='word char:4 word:2'
if sql -c "SELECT simhash('word', tokenizer => 'icu')" >/dev/null 2>&1; then
  tokenizers='word icu char:4 word:2'
else
  echo "no icu: built without ICU"
fi

# quality NAME: print the table of one set, from petition (id, body) and
# pair (a, b, jaccard).
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
      FROM (SELECT DISTINCT tokenizer, weighting FROM fingerprint) AS made
      CROSS JOIN unnest(ARRAY[3, 6, 8, 10]) AS k
      LEFT JOIN found USING (tokenizer, weighting, k)) AS cells
GROUP BY tokenizer, weighting
ORDER BY array_position(string_to_array(:'tokenizers', ' '), tokenizer) NULLS FIRST,
         array_position(ARRAY['log', 'tf', 'set'], weighting), weighting DESC;
DROP TABLE found, fingerprint, petition, pair;
SQL
}

# load FOLDER COLUMNS: read a set's petitions and pairs, and make fingerprints.
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
FROM petition, string_to_table(:'tokenizers', ' ') AS tokenizer, unnest(ARRAY['log', 'tf', 'set']) AS weighting
UNION ALL
SELECT id, 'minhash64', format('%s %s', w, unit), minhash64(body, w, unit)
FROM petition, (VALUES (4, 'char'), (2, 'word')) AS shingle (w, unit);
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

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
    -c "CREATE TABLE petition AS SELECT id::int, body FROM raw; DROP TABLE IF EXISTS raw_title" \
    -c 'CREATE TABLE raw_title AS SELECT id::int, title FROM raw; DROP TABLE raw' \
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

# second_opinion NAME: print what sketches of minhash_bits say of the pairs within
# 16 bits, against their texts; from petition (id, body).
second_opinion()
{
  local name=$1
  sql -v name="$name" <<'SQL'
CREATE TABLE near AS
SELECT x.body AS x, y.body AS y FROM petition AS x JOIN petition AS y ON x.id < y.id AND simhash_within(minhash64(x.body), minhash64(y.body), 16);
CREATE TABLE said AS
SELECT n_bits, shingle_resemblance(x, y) AS j,
       minhash_bits_resemblance(minhash_bits(x, n_bits), minhash_bits(y, n_bits)) AS s
FROM near, unnest(ARRAY[128, 256, 512, 1024]) AS n_bits;
SELECT format(E'\n%s: %s pairs within 16 bits of minhash64, texts of %s bytes on average\nrecall, precision', :'name',
              (SELECT count(*) FROM near), (SELECT round(avg(octet_length(body))) FROM petition));
SELECT '| n_bits | bytes | mean error | resemblance 0.5 | resemblance 0.8 |';
SELECT '|---|---|---|---|---|';
SELECT format('| %s | %s | %s | %s, %s | %s, %s |', n_bits, pg_column_size(minhash_bits('a', n_bits)), round(avg(abs(j - s))::numeric, 3),
              round(count(*) FILTER (WHERE j >= 0.5 AND s >= 0.5)::numeric / count(*) FILTER (WHERE j >= 0.5), 3),
              round(count(*) FILTER (WHERE j >= 0.5 AND s >= 0.5)::numeric / count(*) FILTER (WHERE s >= 0.5), 3),
              round(count(*) FILTER (WHERE j >= 0.8 AND s >= 0.8)::numeric / count(*) FILTER (WHERE j >= 0.8), 3),
              round(count(*) FILTER (WHERE j >= 0.8 AND s >= 0.8)::numeric / count(*) FILTER (WHERE s >= 0.8), 3))
FROM said GROUP BY n_bits ORDER BY n_bits;
DROP TABLE said, near;
SQL
}

# titles: the same by titles, which are short, from raw_title (id, title). The
# truth is the resemblance of their sets of character bigrams, of 0.5 and 0.7.
titles()
{
  sql <<'SQL'
CREATE TABLE petition AS SELECT id, title AS body FROM raw_title;
CREATE TABLE pair AS SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 2) AS resemblance
FROM petition AS a JOIN petition AS b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 2) >= 0.5;
CREATE TABLE fingerprint AS
SELECT id, 'simhash, word, log' AS kind, simhash(body) AS fp FROM petition
UNION ALL SELECT id, format('minhash64, %s characters', w), minhash64(body, w) FROM petition, unnest(ARRAY[2, 3, 4]) AS w;
SELECT format(E'\nChinese titles: %s rows, %s characters on average, %s pairs with Jaccard >= 0.7, %s with >= 0.5\nrecall, precision',
              (SELECT count(*) FROM petition), (SELECT round(avg(length(body))) FROM petition), count(*) FILTER (WHERE resemblance >= 0.7), count(*))
FROM pair;
SELECT '| fingerprint | k = 3 | k = 6 | k = 8 | k = 10 | k = 12 |';
SELECT '|---|---|---|---|---|---|';
SELECT format('| %s | %s |', kind, string_agg(cell, ' | ' ORDER BY k))
FROM (SELECT kind, k, round(count(*) FILTER (WHERE resemblance >= 0.7)::numeric / (SELECT count(*) FROM pair WHERE resemblance >= 0.7), 3)
             || ', ' || round(count(resemblance)::numeric / count(*), 3) AS cell
      FROM (SELECT a.kind, a.fp <~> b.fp AS distance, resemblance
            FROM fingerprint AS a JOIN fingerprint AS b USING (kind)
            LEFT JOIN pair ON pair.a = a.id AND pair.b = b.id
            WHERE a.id < b.id AND a.fp <~> b.fp <= 12) AS near, unnest(ARRAY[3, 6, 8, 10, 12]) AS k
      WHERE distance <= k GROUP BY kind, k) AS cells
GROUP BY kind ORDER BY kind DESC;
DROP TABLE petition, pair, fingerprint, raw_title;
SQL
}

if [ ! -d "$data/petitions_zh" ]; then
  echo "no petitions beside the checkout: nothing to measure"
  exit 0
fi
load petitions_zh 'id text, who text, title text, at text, body text, con text, pro text'
second_opinion 'Chinese petitions'
quality 'Chinese petitions'
titles
load petitions_us 'id text, petition_id text, title text, body text, created text, signatures text, status text, issues text'
second_opinion 'English petitions'
quality 'English petitions'

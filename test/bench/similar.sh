# similar.sh: how many nearest fingerprints the recipe of doc/simdup-search.md
# must look at, by the number of rows.
#
# The queries are the first halves of 300 petitions. Rows are added that are made
# of the petitions' own clauses, as many as a petition has. ROWS is their number.

. "$ROOT/test/bench/lib.sh"

data=$ROOT/../shared/data

# load FOLDER COLUMNS: petitions, halves and added rows, by increasing id.
load()
{
  sql -v rows="$rows" -c "CREATE TABLE raw ($2)" -c "\\copy raw FROM '$data/$1/petitions.csv' (FORMAT csv, HEADER)" >/dev/null
  sql -v rows="$rows" <<'SQL'
CREATE TABLE letter (id integer, content text, fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED,
  bits varbit GENERATED ALWAYS AS (minhash_bits(content)) STORED);
INSERT INTO letter SELECT row_number() OVER (ORDER BY id), btrim(body, E' \n\t\r') FROM raw WHERE minhash64(body) IS NOT NULL;
CREATE TABLE half AS
  SELECT id, fp, words, minhash64(words) AS words_fp, minhash_bits(words) AS words_bits
  FROM letter, left(content, length(content) / 2) AS words ORDER BY hashint4(id) LIMIT 300;
CREATE TABLE clause AS
  SELECT row_number() OVER () AS n, letter.id, words
  FROM letter, regexp_split_to_table(content, '(?<=[，。！？；,.!?;])') AS words WHERE words <> '';
ALTER TABLE clause ADD PRIMARY KEY (n);
ANALYZE clause;
INSERT INTO letter
  SELECT 1000000 + i, string_agg(clause.words, '')
  FROM (SELECT i, size FROM generate_series(1, :rows) AS i
        JOIN (SELECT id, count(*) AS size FROM clause GROUP BY id) AS sizes
          ON sizes.id = 1 + i % (SELECT max(id) FROM clause)) AS wanted
       CROSS JOIN generate_series(1, size) AS j
       JOIN clause ON clause.n = 1 + abs(hashint8(i * 10000::bigint + j)::bigint) % (SELECT count(*) FROM clause)
  GROUP BY i;
ANALYZE letter;
DROP TABLE raw, clause;
SQL
}

# ask CANDIDATES: SQL for the place of each half's text, NULL where it is not found,
# among these candidates.
ask()
{
  cat <<SQL
SELECT half.id, place FROM half LEFT JOIN LATERAL (
    SELECT id, row_number() OVER (ORDER BY share DESC NULLS LAST, distance, id) AS place
    FROM ($1) AS candidate, shingle_containment(words, content, 4, 'char') AS share) AS found ON found.id = half.id
SQL
}

near='SELECT id, content, bits, fp <~> words_fp AS distance FROM sample ORDER BY fp <~> words_fp LIMIT :looked_at'
by_bits="SELECT id, content, distance FROM ($near) AS near ORDER BY minhash_bits_resemblance(bits, words_bits) DESC NULLS LAST LIMIT 50"

# candidates NAME: print the table of one set.
candidates()
{
  local added
  printf '\n%s, first halves of 300; texts: of all candidates; sketches: of the 50 best by minhash_bits\n' "$1"
  echo '| rows | nearest for 97 % of the halves | candidates | texts: first ten, first | time | sketches: first ten, first | time |'
  echo '|---|---|---|---|---|---|---|'
  for added in 0 $((rows / 8)) $((rows / 2)) "$rows"; do
    sql -v added="$added" <<SQL
DROP TABLE IF EXISTS sample, by_text, by_bits;
CREATE TABLE sample AS SELECT * FROM letter WHERE id <= 1000000 + :added;
CREATE INDEX ON sample USING hamming (fp);
VACUUM ANALYZE sample;
SELECT greatest(200, count(*) / 100) AS looked_at FROM sample \gset
SELECT clock_timestamp() AS since \gset
CREATE TABLE by_text AS $(ask "$near");
SELECT extract(epoch FROM clock_timestamp() - :'since') AS text_took, clock_timestamp() AS since \gset
CREATE TABLE by_bits AS $(ask "$by_bits");
SELECT extract(epoch FROM clock_timestamp() - :'since') AS bits_took \gset
CREATE TABLE IF NOT EXISTS base AS SELECT :text_took::numeric AS took;
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', (SELECT count(*) FROM sample),
              percentile_disc(0.97) WITHIN GROUP (ORDER BY nearer), :looked_at,
              (SELECT format('%s %%, %s %%', round(count(*) FILTER (WHERE place <= 10) / 3.0, 1), round(count(*) FILTER (WHERE place = 1) / 3.0, 1)) FROM by_text),
              (SELECT round(:text_took / took, 1) FROM base),
              (SELECT format('%s %%, %s %%', round(count(*) FILTER (WHERE place <= 10) / 3.0, 1), round(count(*) FILTER (WHERE place = 1) / 3.0, 1)) FROM by_bits),
              (SELECT round(:bits_took / took, 1) FROM base))
FROM (SELECT (SELECT count(*) FROM sample WHERE (sample.fp <~> words_fp, sample.id) <= (half.fp <~> words_fp, half.id)) AS nearer
      FROM half) AS ranks;
SQL
  done
  sql -c 'DROP TABLE letter, half, sample, by_text, by_bits, base'
}

if [ ! -d "$data/petitions_zh" ]; then
  echo "no petitions beside the checkout: nothing to measure"
  exit 0
fi
rows=$(rows_or 200000)
load petitions_zh 'id int, who text, title text, at text, body text, con text, pro text'
candidates 'Chinese petitions'
load petitions_us 'id int, petition_id text, title text, body text, created text, signatures text, status text, issues text'
candidates 'English petitions'

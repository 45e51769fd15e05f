# quotes.sh: letters that quote 50 words of another one, found by shingle_winnow,
# and what its index costs beside the texts and the index of pg_trgm.
#
# The letters are petitions from beside the checkout and ROWS synthetic commit
# messages, by default 100,000. In each set, 500 letters get a passage of another
# one in their middle: 50 words, or 50 characters in Chinese.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 100000)
data=$ROOT/../shared/data
sql -c 'CREATE EXTENSION pg_trgm' >/dev/null

# quotes NAME SPLIT: ask for the sources of the letters in the table raw (content).
# SPLIT is the regular expression between two units.
quotes()
{
  sql -v split="$2" -v name="$1" <<'SQL'
DROP TABLE IF EXISTS letter, quoting, asked;
CREATE TABLE letter AS SELECT row_number() OVER ()::integer AS id, content FROM raw;
ALTER TABLE letter ADD PRIMARY KEY (id);
CREATE TABLE quoting AS
SELECT source.id AS source, left(host.content, length(host.content) / 2) || ' "' || passage || '" ' || right(host.content, -(length(host.content) / 2)) AS content,
  host.id AS host
FROM (SELECT id, content, row_number() OVER (ORDER BY hashint4(id)) AS n FROM letter
      WHERE cardinality(regexp_split_to_array(content, :'split')) >= 60 LIMIT 500) AS source
JOIN (SELECT id, content, row_number() OVER (ORDER BY hashint4(-id)) AS n FROM letter LIMIT 500) AS host USING (n),
  LATERAL (SELECT string_agg(unit, CASE :'split' WHEN '' THEN '' ELSE ' ' END ORDER BY i) AS passage
           FROM regexp_split_to_table(source.content, :'split') WITH ORDINALITY AS u (unit, i)
           WHERE i > n % 10 AND i <= n % 10 + 50) AS p
-- not a row of asterisks
WHERE (SELECT count(*) FROM minhash64_shingles(passage, 1, 'word')) >= 16;
SELECT clock_timestamp() AS since \gset
CREATE INDEX letter_passages ON letter USING gin (shingle_winnow(content)) WITH (fastupdate = off);
SELECT extract(epoch FROM clock_timestamp() - :'since') AS winnow, clock_timestamp() AS since \gset
CREATE INDEX letter_trigrams ON letter USING gin (content gin_trgm_ops) WITH (fastupdate = off);
SELECT extract(epoch FROM clock_timestamp() - :'since') AS trigrams \gset
VACUUM ANALYZE letter;
SET enable_seqscan = off;
CREATE TABLE asked AS
SELECT q.source, count(*) FILTER (WHERE l.id = q.source) AS found, count(*) FILTER (WHERE l.id NOT IN (q.source, q.host)) AS others
FROM quoting AS q LEFT JOIN letter AS l ON shingle_winnow(l.content) && shingle_winnow(q.content) GROUP BY q.source, q.host;
SELECT format('| %s | %s | %s of %s | %s | %s | %s | %s | %s |', :'name', (SELECT count(*) FROM letter), sum(found), count(*),
  round(avg(others), 2), percentile_disc(0.5) WITHIN GROUP (ORDER BY others),
  round(pg_relation_size('letter_passages')::numeric / (SELECT sum(octet_length(content)) FROM letter), 2),
  round(pg_relation_size('letter_passages')::numeric / pg_relation_size('letter_trigrams'), 2),
  round(:winnow::numeric / :trigrams, 2)) FROM asked;
SQL
}

echo 'Letters that quote, and their sources by gin (shingle_winnow(content)):'
echo '| set | letters | sources found | other candidates, mean | median | index : texts | index : gin_trgm_ops | build : gin_trgm_ops |'
echo '|---|---|---|---|---|---|---|---|'
if [ -e "$data/petitions_zh/petitions.csv" ]; then
  sql -c 'CREATE TABLE zh (id text, who text, title text, at text, body text, con text, pro text)' \
    -c "\\copy zh FROM '$data/petitions_zh/petitions.csv' (FORMAT csv, HEADER)" \
    -c "CREATE TABLE raw AS SELECT regexp_replace(body, '\\s', '', 'g') AS content FROM zh WHERE shingle_winnow(body) IS NOT NULL" >/dev/null
  quotes 'Chinese petitions' ''
  columns=$(head -1 "$data/petitions_us/petitions.csv" | tr -d '\r\357\273\277' | sed 's/,/ text, /g; s/$/ text/')
  sql -c "CREATE TABLE us ($columns)" -c "\\copy us FROM '$data/petitions_us/petitions.csv' (FORMAT csv, HEADER)" \
    -c 'DROP TABLE raw' -c 'CREATE TABLE raw AS SELECT body AS content FROM us WHERE shingle_winnow(body) IS NOT NULL' >/dev/null
  quotes 'US petitions' '\s+'
fi
sql -c 'DROP TABLE IF EXISTS raw' -c 'CREATE TABLE raw (id integer, content text)' >/dev/null
perl "$ROOT/test/bench/commits.pl" "$rows" | sql -c '\copy raw FROM STDIN' >/dev/null
quotes 'commit messages' '\s+'

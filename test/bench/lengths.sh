# lengths.sh: how long a text must be so that a distance finds it again after an
# edit. Each text is cut to a length, two of its words are replaced, and the
# distances of the two fingerprints are counted. No times, so the figures are the
# same on every machine.
#
# The texts are the petitions of ../shared/data, where they are beside the checkout.
# In Chinese a word is two characters.

. "$ROOT/test/bench/lib.sh"

data=$ROOT/../shared/data

# lengths NAME COLUMNS LENGTH...: the table of one set, in the column body.
lengths()
{
  local name=$1 columns=$2
  shift 2
  if [ ! -e "$data/petitions_$name/petitions.csv" ]; then
    echo "no petitions_$name in ../shared/data"
    return
  fi
  sql -c "CREATE TABLE petition ($columns)"
  sql -c "\\copy petition FROM '$data/petitions_$name/petitions.csv' (FORMAT csv, HEADER)"
  sql -v name="$name" -v lengths="{$(IFS=,; echo "$*")}" <<'SQL'
CREATE TABLE cut AS
SELECT id, n, left(body, n) AS body
FROM petition, unnest(:'lengths'::int[]) AS n
WHERE length(body) >= n AND hashint8extended(id, 1) % 3 = 0;
-- two words, by their places, chosen at random from each text; X does not occur
CREATE TABLE edited AS
SELECT id, n, body, (
  SELECT string_agg(CASE WHEN place IN (first, (first + 1 + abs(hashint8extended(id, 3)) % (words - 1)) % words)
                         THEN 'XQ' || place ELSE word END, CASE WHEN :'name' = 'zh' THEN '' ELSE ' ' END ORDER BY place)
  FROM unnest(w) WITH ORDINALITY AS u (word, i), LATERAL (SELECT i - 1 AS place) AS p) AS edit
FROM (SELECT id, n, body, w, cardinality(w) AS words, abs(hashint8extended(id, 2)) % cardinality(w) AS first
      FROM (SELECT id, n, body,
                   CASE WHEN :'name' = 'zh' THEN ARRAY(SELECT substr(body, i, 2) FROM generate_series(1, n, 2) AS i)
                        ELSE string_to_array(body, ' ') END AS w
            FROM cut) AS parts
      WHERE cardinality(w) > 1) AS chosen;
\pset tuples_only off
\pset format aligned
SELECT :'name' AS petitions, n AS characters, count(*) AS texts,
       round(avg((d <= 3)::int), 2) AS "k = 3", round(avg((d <= 8)::int), 2) AS "k = 8", round(avg((d <= 11)::int), 2) AS "k = 11"
FROM edited, LATERAL (SELECT minhash64(body) <~> minhash64(edit) AS d) AS measured
WHERE d IS NOT NULL
GROUP BY n ORDER BY n;
DROP TABLE petition, cut, edited;
SQL
}

lengths us 'id int, petition_id text, title text, body text, created text, signature_count text, status text, issues text' 60 100 200 300 400 600
lengths zh 'id int, who text, title text, at text, body text, con text, pro text' 20 40 60 100 200 300 400

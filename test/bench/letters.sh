# letters.sh: what letters of campaigns have, and what finds them: boilerplate, how
# far to look, which change wants which function, long texts, places, thresholds.
#
# Letters are from campaigns.pl, whose truth is a person's: the same campaign. ROWS
# is the number for times, by default 100,000. Long texts are petitions from beside
# the checkout, one after another.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 100000)
data=$ROOT/../shared/data

# letters NAME ROWS CAMPAIGNS SENTENCES FOOTER SEED [PLACE]: make the table letter.
letters()
{
  sql -c 'DROP TABLE IF EXISTS letter' \
    -c 'CREATE TABLE letter (id integer PRIMARY KEY, campaign integer, kind text, content text)' >/dev/null
  perl "$ROOT/test/bench/campaigns.pl" "${@:2}" | sql -c '\copy letter FROM STDIN'
  sql -c 'VACUUM ANALYZE letter'
}

# boilerplate NAME: precision and recall at 8 of the letters as they are, and without
# what simdup_boilerplate finds.
boilerplate()
{
  sql -v name="$1" <<'SQL'
SELECT coalesce(array_agg(passage), '{}') AS passages, count(*) AS n, coalesce(max(n_rows), 0) AS n_rows FROM simdup_boilerplate('letter') \gset
WITH fp AS MATERIALIZED (
    SELECT id, campaign, without, minhash64(CASE WHEN without THEN simdup_without(content, :'passages') ELSE content END) AS fp
    FROM letter, unnest('{f,t}'::boolean[]) AS without),
  scored AS (
    SELECT without, round(avg((x.campaign = y.campaign)::integer), 3) AS "precision",
      round(sum((x.campaign = y.campaign)::integer) / (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM letter GROUP BY campaign) AS c), 3) AS recall
    FROM fp AS x JOIN fp AS y USING (without) WHERE x.id < y.id AND simhash_within(x.fp, y.fp) GROUP BY without)
SELECT format('| %s | %s | %s of %s letters | %s, %s | %s, %s |', :'name', :n, :n_rows, (SELECT count(*) FROM letter),
  a."precision", a.recall, b."precision", b.recall) FROM scored AS a, scored AS b WHERE NOT a.without AND b.without;
SQL
}

echo 'Boilerplate; precision and recall of one campaign at 8:'
echo '| letters | passages found | in | as they are | without them |'
echo '|---|---|---|---|---|'
letters short 300 5 2 0 1 && boilerplate 'short ones'
letters short 300 5 2 1 1 && boilerplate 'the same with a disclaimer'
letters some 3000 20 2 0.3 7 && boilerplate 'short, 30 % with it'
letters few 3000 8 8 0.1 9 && boilerplate 'long, 10 % with it'
letters none 3000 8 8 0 9 && boilerplate 'the same without'
letters signed 3000 8 8 0.1 9 signed && boilerplate 'long, 10 % with it and up to 20 words behind it'
letters first 3000 8 8 0.1 9 first && boilerplate 'long, 10 % with it in front'
letters brief 3000 8 1 0.1 9 first && boilerplate 'short, 10 % with it in front'

# score QUERY: precision and recall of its groups c, by pairs.
score()
{
  sql <<SQL
WITH found AS MATERIALIZED ($1),
  pairs AS (SELECT (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY c) AS g) AS found,
    (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY campaign) AS g) AS made,
    (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY campaign, c) AS g) AS "right")
SELECT format('%s, %s', round(coalesce("right" / nullif(found, 0), 1), 3), round("right" / made, 3)) FROM pairs;
SQL
}

# campaigns NAME: precision, recall and seconds of processor time of simdup_campaign,
# without what simdup_boilerplate finds.
campaigns()
{
  local passages min campaign
  passages=$(sql -c "SELECT quote_literal(coalesce(array_agg(passage), '{}')) FROM simdup_boilerplate('letter')")
  for min in 0.3 0.35 0.4; do
    campaign="SELECT campaign, simdup_campaign(id, content, $min) OVER (ORDER BY id) AS c FROM without"
    sql -c 'DROP TABLE IF EXISTS without' \
      -c "CREATE TABLE without AS SELECT id, campaign, simdup_without(content, $passages) AS content FROM letter"
    echo "| $1 | $min | $(score "$campaign") | $(seconds "SELECT count(c) FROM ($campaign) AS w") |"
  done
}

# load OPTION...: letters of senders.pl into the table.
load()
{
  sql -c 'TRUNCATE letter' >/dev/null
  perl "$ROOT/test/bench/senders.pl" "$@" | sql -c '\copy letter FROM STDIN'
}

# times SIZES OPTION...: processor time of both functions, for campaigns of these sizes.
times()
{
  local function result="| $1"
  load rows="$rows" negatives=0 "sizes=$1" "${@:2}"
  for function in simdup_campaign simdup_template; do
    result+=" | $(seconds "SELECT count(DISTINCT c) FROM (SELECT $function(id, content) OVER (ORDER BY id) AS c FROM letter) AS w")"
  done
  echo "$result |"
}

# senders NAME OPTION...: letters of senders.pl as they are, by each function and by both.
senders()
{
  local result="| $1" function
  load "${@:2}"
  for function in simdup_campaign simdup_template; do
    result+=" | $(score "SELECT campaign, $function(id, content) OVER (ORDER BY id) AS c FROM letter")"
  done
  echo "$result | $(score 'SELECT campaign, simdup_component(c, t) OVER () AS c FROM (SELECT campaign,
    simdup_campaign(id, content) OVER w AS c, simdup_template(id, content) OVER w AS t FROM letter WINDOW w AS (ORDER BY id)) AS l') |"
}

echo
echo 'Campaigns of 10,000 letters; precision and recall, processor time in s:'
echo '| letters | min_containment | precision, recall | time |'
echo '|---|---|---|---|'
letters campaigns 10000 50 8 0 1 real && campaigns 'of 50 campaigns'
letters campaigns 10000 50 8 0.25 2 real && campaigns 'a quarter with a disclaimer'
letters campaigns 10000 3 8 0 3 real && campaigns 'of 3 campaigns'

echo
echo 'Letters as they are; precision and recall:'
echo '| letters | simdup_campaign | simdup_template | both |'
echo '|---|---|---|---|'
chinese='lang=zh rows=3500 sizes=5,10,20,30,50,100,300'
senders 'personalised' slots=0
senders 'with footers' slots=0 footers=0.3
senders 'in Chinese, with footers' $chinese slots=0 footers=0.3
senders '27 slots of 4 phrases'
senders '20 slots of 3, half own text' slots=20 phrases=3 own=0.5
senders '40 slots of 8' slots=40 phrases=8
senders '6 slots of 8' slots=6 phrases=8
senders 'in Chinese, 27 slots of 4, 30 % own text' $chinese own=0.3

echo
echo "Processor time of $rows letters, s; campaigns of exchanged phrases, but in the last line of personalised letters:"
echo '| campaigns of | simdup_campaign | simdup_template |'
echo '|---|---|---|'
times 2
times $((rows / 2))
seventh=$((rows / 14))
times $seventh,$seventh,$seventh,$seventh,$seventh,$seventh,$seventh slots=0

letters kinds 3000 8 8 0 5
echo
echo 'By what was changed in a letter of a campaign; the share found:'
echo '| change | 8 bits | 14 bits | containment 0.8 | shingle_winnow |'
echo '|---|---|---|---|---|'
sql <<'SQL'
SELECT format('| %s | %s | %s | %s | %s |', y.kind,
  round(avg((minhash64(x.content) <~> minhash64(y.content) <= 8)::integer), 2), round(avg((minhash64(x.content) <~> minhash64(y.content) <= 14)::integer), 2),
  round(avg((greatest(shingle_containment(x.content, y.content), shingle_containment(y.content, x.content)) >= 0.8)::integer), 2),
  round(avg((shingle_winnow(x.content) && shingle_winnow(y.content))::integer), 2))
FROM (SELECT DISTINCT ON (campaign) * FROM letter WHERE kind = 'none' ORDER BY campaign, id) AS x JOIN letter AS y USING (campaign)
WHERE x.id <> y.id GROUP BY y.kind ORDER BY y.kind;
CREATE TABLE fp AS SELECT id, campaign, minhash64(content) AS fp FROM letter;
SELECT E'\nHow far to look:\n| distance | pairs | precision | recall | expected_false | false | recommended |\n|---|---|---|---|---|---|---|';
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', max_distance, count(*), round(avg((x.campaign = y.campaign)::integer), 4),
  round(sum((x.campaign = y.campaign)::integer) / (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM letter GROUP BY campaign) AS c), 3),
  round(expected_false::numeric, 1), sum((x.campaign <> y.campaign)::integer), recommended)
FROM simdup_tune('letter'), fp AS x JOIN fp AS y ON x.id < y.id AND simhash_within(x.fp, y.fp, 16)
WHERE x.fp <~> y.fp <= max_distance AND max_distance IN (3, 8, 11, 12, 13, 14, 15, 16)
GROUP BY max_distance, expected_false, recommended ORDER BY max_distance;
SQL

if [ -e "$data/petitions_us/petitions.csv" ]; then
  columns=$(head -1 "$data/petitions_us/petitions.csv" | tr -d '\r\357\273\277' | sed 's/,/ text, /g; s/$/ text/')
  sql -c "CREATE TABLE us ($columns)" -c "\\copy us FROM '$data/petitions_us/petitions.csv' (FORMAT csv, HEADER)"
  echo
  echo 'Long texts: bits between unrelated ones, on average and at least; the share within 8 and 12 after 4 % of the words were replaced:'
  echo '| characters | w | unrelated | within 8 | within 12 |'
  echo '|---|---|---|---|---|'
  sql <<'SQL'
CREATE TABLE long AS
SELECT len, n, left(string_agg(body, ' ' ORDER BY id), len) AS content
FROM (SELECT id, body, len, (row_number() OVER (PARTITION BY len ORDER BY hashtext(id)) - 1) / (len / 500) AS n
      FROM (SELECT DISTINCT ON (left(body, 100)) id, body FROM us) AS u, unnest(ARRAY[2000, 10000, 50000, 200000]) AS len) AS parts
GROUP BY len, n HAVING sum(length(body)) >= len;
DELETE FROM long WHERE n > 40;
DROP TABLE fp;
CREATE TABLE fp AS
SELECT len, n, w, minhash64(content, w) AS fp,
  minhash64((SELECT string_agg(CASE WHEN hashint8(i * 31 + n) % 25 = 0 THEN 'q' || i ELSE word END, ' ' ORDER BY i) FROM string_to_table(content, ' ') WITH ORDINALITY AS s (word, i)), w) AS edited
FROM long, unnest(ARRAY[4, 6, 8]) AS w;
SELECT format('| %s | %s | %s, %s | %s | %s |', len, w, round(avg(a.fp <~> b.fp), 1), min(a.fp <~> b.fp),
  (SELECT round(avg((fp <~> edited <= 8)::integer), 2) FROM fp WHERE len = a.len AND w = a.w), (SELECT round(avg((fp <~> edited <= 12)::integer), 2) FROM fp WHERE len = a.len AND w = a.w))
FROM fp AS a JOIN fp AS b USING (len, w) WHERE a.n < b.n GROUP BY len, w ORDER BY len, w;
SQL
fi

if [ -e "$data/petitions_us/pairs.tsv" ]; then
  # the states that a petition or its title names are its place
  sql -c 'CREATE TABLE truth (a text, b text, jaccard float8, shared integer, joined integer)' -c "\\copy truth FROM '$data/petitions_us/pairs.tsv' (HEADER)"
  echo
  echo 'Pairs of petitions of 0.8 or more; those within 8 bits by minhash64, by minhash64_row with the state, and with equal numbers:'
  echo '| states | pairs | minhash64 | minhash64_row | equal numbers |'
  echo '|---|---|---|---|---|'
  sql <<'SQL'
CREATE TABLE of_state AS
SELECT id, body, (SELECT string_agg(DISTINCT m[1], ',' ORDER BY m[1]) FROM regexp_matches(title || ' ' || body,
  '\m(Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming)\M', 'g') AS m) AS state
FROM us;
SELECT format('| %s | %s | %s | %s | %s |', CASE WHEN differ THEN 'different' ELSE 'the same' END, count(*),
  sum((minhash64(a.body) <~> minhash64(b.body) <= 8)::integer), sum((minhash64_row(a.body, ARRAY[a.state]) <~> minhash64_row(b.body, ARRAY[b.state]) <= 8)::integer),
  sum((minhash64(a.body) <~> minhash64(b.body) <= 8 AND simdup_numbers(a.body) = simdup_numbers(b.body))::integer))
FROM truth AS t JOIN of_state AS a ON a.id = t.a JOIN of_state AS b ON b.id = t.b, LATERAL (SELECT a.state IS DISTINCT FROM b.state AS differ) AS d
WHERE jaccard >= 0.8 GROUP BY differ ORDER BY differ DESC;
SQL
fi

echo
echo 'Low thresholds: recall, against the join by shingle_resemblance, and processor time of the joins and of the clusters, s; the near pairs that clusters part:'
echo '| letters | threshold | pairs | recall | join | exact join | leader | connected | parted by leader | by connected |'
echo '|---|---|---|---|---|---|---|---|---|---|'
for n in "20000 1000" "$rows $((rows / 5))"; do
  letters thresholds $n 8 0 5
  for r in 0.7 0.5; do
    join='FROM letter AS a JOIN letter AS b ON a.id < b.id AND'
    sql -c 'DROP TABLE IF EXISTS pair, leader, connected' -c "CREATE TABLE pair AS SELECT a.id AS a, b.id AS b $join shingle_resemblance(a.content, b.content) >= $r"
    line="| ${n%% *} | $r | $(sql -c 'SELECT count(*) FROM pair') | $(sql -c "SELECT round(count(*)::numeric / (SELECT count(*) FROM pair), 5) $join simdup_resembles(a.content, b.content, $r)")"
    line="$line | $(seconds "SELECT count(*) $join simdup_resembles(a.content, b.content, $r)") | $(seconds "SELECT count(*) $join shingle_resemblance(a.content, b.content) >= $r")"
    for method in leader connected; do
      clusters="SELECT id, simdup_cluster(id, content, $r, '$method') OVER (ORDER BY id) AS cluster FROM letter"
      line="$line | $(seconds "SELECT count(DISTINCT cluster) FROM ($clusters) AS c")"
      sql -c "CREATE TABLE $method AS $clusters"
    done
    for method in leader connected; do
      line="$line | $(sql -c "SELECT round(avg((x.cluster <> y.cluster)::integer), 5) FROM pair JOIN $method AS x ON x.id = a JOIN $method AS y ON y.id = b")"
    done
    echo "$line |"
  done
done

echo
echo 'Processor time of simdup_resembles, ms:'
echo '| rows | 0.8 | 0.7 | 0.6 | 0.5 |'
echo '|---|---|---|---|---|'
for n in 5500 55500; do
  letters times $n 40 7 0 3
  sql -c 'CREATE INDEX ON letter USING hamming (content)' -c 'CREATE TABLE IF NOT EXISTS center (i integer, q text)' -c 'TRUNCATE center' \
    -c 'INSERT INTO center SELECT id, content FROM letter WHERE campaign > 40 ORDER BY hashint4(id) LIMIT 20'
  line="| $n |"
  for threshold in 0.8 0.7 0.6 0.5; do
    line="$line $(searches "SELECT count(*) FROM letter WHERE simdup_resembles(content, (SELECT q FROM center WHERE q = \$t\$Q\$t\$), $threshold)" | median) |"
  done
  echo "$line"
done

# records are texts of some 60 characters; equal numbers as a further condition
sql -c 'CREATE TABLE person (id integer PRIMARY KEY, of integer, content text)'
perl "$ROOT/test/bench/records.pl" 10000 | sql -c '\copy person FROM STDIN'
echo
echo 'Records of people; precision, recall, F1:'
echo '| by | precision | recall | F1 |'
echo '|---|---|---|---|'
sql <<'SQL'
CREATE TABLE found AS
SELECT format('`shingle_resemblance(…, 3)` from %s', r) AS what, x.of = y.of AS is_right, simdup_numbers(x.content) = simdup_numbers(y.content) AS has_numbers
FROM unnest('{0.3,0.4,0.5,0.7}'::float8[]) AS r, person AS x JOIN person AS y ON x.id < y.id AND shingle_resemblance(x.content, y.content, 3) >= 0.3
WHERE shingle_resemblance(x.content, y.content, 3) >= r
UNION ALL SELECT format('`minhash64(content, 3)` within %s', k), x.of = y.of, simdup_numbers(x.content) = simdup_numbers(y.content)
FROM unnest('{8,10,12,14}'::integer[]) AS k, person AS x JOIN person AS y ON x.id < y.id AND simhash_within(minhash64(x.content, 3), minhash64(y.content, 3), 14)
WHERE minhash64(x.content, 3) <~> minhash64(y.content, 3) <= k;
INSERT INTO found SELECT what || ', equal numbers', is_right, true FROM found
WHERE what IN ('`shingle_resemblance(…, 3)` from 0.3', '`minhash64(content, 3)` within 12') AND has_numbers;
SELECT format('| %s | %s | %s | %s |', what, round(p, 3), round(r, 3), round(2 * p * r / (p + r), 3))
FROM (SELECT what, avg(is_right::integer) AS p, sum(is_right::integer)::numeric / (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM person GROUP BY of) AS s) AS r
      FROM found GROUP BY what) AS scored ORDER BY what DESC;
SQL

letters times "$rows" 40 7 1 3
echo
ratio 'simdup_boilerplate : minhash64' "SELECT count(*) FROM simdup_boilerplate('letter')" 'SELECT count(minhash64(content)) FROM letter' 5 '<= 3'
passage=$(sql -c "SELECT quote_literal(array_agg(passage)) FROM simdup_boilerplate('letter')")
ratio 'minhash64 of simdup_without : minhash64' "SELECT count(minhash64(simdup_without(content, $passage))) FROM letter" 'SELECT count(minhash64(content)) FROM letter' 5

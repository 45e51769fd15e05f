#!/usr/bin/env bash
# scopes.sh: a join of 100 scopes against one join for each; what equal templates in many
# scopes cost; and a review of texts against a refresh. ROWS, by
# default 100000, is the number of letters: of 10 templates, over 100 scopes.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 100000)

# A letter is up to 8 bits from its template, so two of them are up to 16 bits apart.
sql <<SQL
CREATE TABLE letter AS
SELECT i::bigint AS id, (i / 10 % 100)::int AS district, (hashint8extended(i % 10, 0) # flips)::simhash64 AS fp,
  (hashint8extended(i % 10, i / 10 % 100) # flips)::simhash64 AS apart
FROM generate_series(1, $rows::bigint) AS i, LATERAL (
  SELECT coalesce(bit_or(1::bigint << (hashint8extended(i * 8 + b, 1) & 63)::int), 0) AS flips FROM generate_series(1, i % 9) AS b) AS f;
CREATE INDEX ON letter (district, id);
VACUUM ANALYZE letter;
SQL

# pairs CONDITION [FP]: count the pairs within 8
pairs()
{
  echo "SELECT count(*) AS n FROM letter AS a JOIN letter AS b ON a.id < b.id AND $1 AND simhash_within(a.${2:-fp}, b.${2:-fp})"
}
scoped=$(pairs 'a.district = b.district')
ratio "join, 100 scopes : the scopes one by one" "$scoped" \
  "SELECT sum(n) FROM generate_series(0, 99) AS d, LATERAL ($(pairs 'a.district = d AND b.district = d')) AS c" 3 "<= 1.2"
ratio "join, 100 scopes : 1000 templates, no scope" "$scoped" "$(pairs true apart)" 3 "<= 1.2"
# clusters FP [PARTITION]: count the rows that follow another one
clusters()
{
  echo "SELECT count(*) FROM (SELECT id, simdup_cluster(id, $1) OVER (${2:-} ORDER BY id) AS c FROM letter) AS w WHERE id <> c"
}
ratio "simdup_cluster, 100 partitions : 1000 templates, no partition" \
  "$(clusters fp 'PARTITION BY district')" "$(clusters apart)" 3 "<= 1.2"
ratio "simdup_cluster, 100 partitions : no partition" "$(clusters fp 'PARTITION BY district')" "$(clusters fp)" 1 "<= 1"
sql -c 'DROP TABLE letter'

# Half of twice as many letters of 60 words are of the templates, the rest of many more.
# Up to an eighth of the words of each are its own.
rows=$((rows * 2))
sql <<SQL
CREATE TABLE letter AS
SELECT i AS id, (hashint4(i) & 2147483647) % 100 AS district,
  string_agg(left(md5((CASE WHEN hashint8extended(i::bigint * 64 + j, 5) & 1023 < i % 7 * 20 THEN i + 0.5 ELSE template END * 64 + j)::text), 6), ' ' ORDER BY j) AS content
FROM (SELECT i, CASE WHEN i <= $rows / 2 THEN i % 10 ELSE 10 + i % ($rows / 20) END AS template FROM generate_series(1, $rows) AS i) AS l,
  generate_series(1, 60) AS j
GROUP BY i;
ALTER TABLE letter ADD PRIMARY KEY (id);
VACUUM ANALYZE letter;
CREATE VIEW letters AS SELECT id AS key, content, district AS scope FROM letter;
SQL
# reviewed NAME [OPTION]: a review of a grouping of these letters against a refresh
reviewed()
{
  sql -c "SELECT simdup_group('$1', 'letters'${2:+, $2})" \
    -c "SELECT FROM simdup_regroup('$1')" >/dev/null
  ratio "review of 200 : refresh${2:+, $2}" "SELECT count(*) FROM simdup_review('$1', 200)" "SELECT count(*) FROM simdup_regroup('$1')" 3 "<= 2"
}
reviewed leader
reviewed connected "method => 'connected'"
reviewed resembling "min_resemblance => 0.8"

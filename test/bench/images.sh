# images.sh: hashes of 256 bits, such as PDQ, searched within 31 bits by the recipe of
# doc/simdup-images.md: four quarters, each with an index.
#
# The hashes are uniform, but 16 for each of 1,000 centers are at distances 0, 3, …
# 45 from it. ROWS is the number of rows.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)

# the page's table, its indexes, and its search
page()
{
  sed -n "/^CREATE TABLE photo/,/^$1/p" "$ROOT/doc/simdup-images.md"
}

page ');' | sed '/^CREATE INDEX/,$d' | sql
sql -v rows="$rows" <<'SQL'
CREATE FUNCTION random_pdq(i bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS $$
  SELECT (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64)
    || hashint8extended(i, 3)::bit(64) || hashint8extended(i, 4)::bit(64))::bit(256) $$;
CREATE TABLE center AS SELECT i, random_pdq(-i) AS q FROM generate_series(1, 1000) AS i;
INSERT INTO photo (id, pdq) SELECT i, random_pdq(i) FROM generate_series(1, :rows - 16000) AS i;
INSERT INTO photo (id, pdq)
SELECT :rows - 16000 + row_number() OVER (), q # flips
FROM center, generate_series(0, 45, 3) AS d,
  LATERAL (SELECT coalesce(bit_or(set_bit(0::bit(256), p, 1)), 0::bit(256)) AS flips
           FROM (SELECT p FROM generate_series(0, 255) AS p ORDER BY hashint8extended(p, i * 100 + d) LIMIT d) AS b) AS f;
SQL
echo "build of four indexes, ms: $({ echo '\timing on'; page 'INSERT' | grep '^CREATE INDEX'; } | sql | awk '{ sum += $2 } END { print sum }')"
page 'END;' | sed -n '/^CREATE FUNCTION near_pdq/,$p' | sql
sql -c 'VACUUM ANALYZE photo'
sql -c "SELECT 'bytes a row: table ' || pg_relation_size('photo') / $rows || ', four indexes ' || pg_indexes_size('photo') / $rows"

# each center has 11 rows within 30 bits
sql -c "SELECT 'rows found of 11,000: ' || count(*) FROM center, near_pdq(q)"

# twice each, since the first time brings pages of the index into the cache
echo "search within 31 bits, first time, then again, ms of processor time: $(searches "SELECT * FROM near_pdq('Q')" 400 | median), $(
  warm="SELECT count(*) FROM center, near_pdq(q);" searches "SELECT * FROM near_pdq('Q')" 400 | median)"
echo "a scan for the same, ms of processor time: $(scan=on searches "SELECT id FROM photo WHERE bit_count(pdq # 'Q') <= 31" 8 | median)"

cat >"$SCRATCH/search.sql" <<'SQL'
\set i random(1, 1000)
SELECT n.* FROM center, near_pdq(q) AS n WHERE i = :i;
SQL
sql -c 'CREATE INDEX ON center (i)' -c 'ANALYZE center'
pgbench -n -M prepared -T 10 -f "$SCRATCH/search.sql" | grep -E '^(latency average|tps)'
pairs=
for q in q1 q2 q3 q4; do
  pairs+="${pairs:+ UNION }SELECT a.id, b.id FROM photo AS a JOIN photo AS b
    ON a.id < b.id AND simhash_within(a.$q, b.$q, 7) AND bit_count(a.pdq # b.pdq) <= 31"
done
all=$(sql -c '\timing on' -c "SELECT count(*) FROM ($pairs) AS pairs")
echo "all pairs within 31 bits, and the time by the clock:" $all

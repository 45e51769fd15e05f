# texts.sh: an index on texts, and searches by it, against a stored fingerprint, and
# against pg_trgm. ROWS letters of 500 characters, of which a tenth repeat another.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)

sql <<SQL
CREATE FUNCTION letter(i bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
\$\$ SELECT string_agg(md5((CASE WHEN i % 10 = 9 AND j <> 7 THEN i - 9 ELSE i END * 16 + j)::text), ' ') FROM generate_series(1, 15) AS j \$\$;
CREATE TABLE letter AS SELECT i AS id, letter(i) AS content, minhash64(letter(i)) AS fp FROM generate_series(1, $rows) AS i;
ALTER TABLE letter ALTER content SET STORAGE plain;
VACUUM ANALYZE letter;
CREATE TABLE center AS SELECT row_number() OVER () AS i, content, fp AS q FROM letter WHERE id % ($rows / 60) = 9;
SQL

# the server's own default, since that is what a user builds with
before="SET client_min_messages = error; SET maintenance_work_mem = '64MB'; DROP INDEX IF EXISTS near, equal;" ratio 'CREATE INDEX USING hamming (content) : (md5(content))' \
  'CREATE INDEX near ON letter USING hamming (content)' 'CREATE INDEX equal ON letter (md5(content))' 3 '<= 1.1'
sql -c 'DROP INDEX IF EXISTS near, equal' -c 'CREATE INDEX near ON letter USING hamming (content)' -c 'CREATE INDEX stored ON letter USING hamming (fp)' -c 'ANALYZE letter'

# search_ms "PERFORM … measured.content … measured.fp" [N]: milliseconds for each of
# N centers, the least of five runs, so that the machine's other work counts little
search_ms()
{
  sql <<SQL
SET enable_seqscan = off;
CREATE FUNCTION pg_temp.measured(content text, fp simhash64) RETURNS float8 LANGUAGE plpgsql AS \$\$
DECLARE start timestamptz; least_ms float8 := 'infinity';
BEGIN
  FOR i IN 1 .. 6 LOOP
    start := clock_timestamp();
    $1;
    least_ms := least(least_ms, 1000 * extract(epoch FROM clock_timestamp() - start));
  END LOOP;
  RETURN least_ms;
END \$\$;
SELECT pg_temp.measured(content, q) FROM (SELECT * FROM center ORDER BY i LIMIT ${2:-60}) AS c;
SQL
}

resembles="PERFORM count(*) FROM letter AS l WHERE simdup_resembles(l.content, measured.content, 0.8)"
within="PERFORM count(*) FROM letter AS l WHERE simhash_within(l.fp, measured.fp, 12)"
trgm="PERFORM count(*) FROM letter AS l WHERE l.content % measured.content"
by_resemblance=$(search_ms "$resembles" | median)
ratio_row 'simdup_resembles(content, $1, 0.8) (ms) : simhash_within(fp, $1, 12)' "$rows" "$by_resemblance" "$(search_ms "$within" | median)" '<= 2'
ratio_row 'nearest ten by content <~~> : by fp <~>' "$rows" \
  "$(search_ms "PERFORM l.id FROM letter AS l ORDER BY l.content <~~> measured.content LIMIT 10" | median)" \
  "$(search_ms "PERFORM l.id FROM letter AS l ORDER BY l.fp <~> measured.fp LIMIT 10" | median)" '<= 1.3'

if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'")" = 1 ]; then
  sql -c 'CREATE EXTENSION pg_trgm' -c 'DROP INDEX near, stored' -c 'CREATE INDEX trgm ON letter USING gin (content gin_trgm_ops)' \
    -c "ALTER DATABASE $PGDATABASE SET pg_trgm.similarity_threshold = 0.8"
  ratio_row 'simdup_resembles(content, $1, 0.8) : content % $1' "$rows" "$by_resemblance" "$(search_ms "$trgm" 10 | median)" '<= 0.1'
else
  echo 'pg_trgm: this server does not offer it'
fi

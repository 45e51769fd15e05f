# content.sh: a hamming index on texts as they are, against the same search on a
# stored fingerprint, against pg_trgm, and its build against an index on md5.
#
# The texts have some 500 characters of made-up words, few of them frequent and
# most of them rare. Around 60 of them there are seven copies each, with more and
# more words changed. Searches are measured by the processor time of their backend,
# planned once; builds by the clock, with the server's own maintenance settings.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
centers=60

# texts ROWS: numbered texts for COPY; the first ones are the centers, with copies.
texts()
{
  awk -v rows="$1" -v centers="$centers" 'BEGIN {
    srand(7)
    split("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu zan bel cor dim fen gar hol jun kel lam", part, " ")
    for (i = 0; i < 20000; i++) {
      word[i] = ""
      for (n = 1 + int(rand() * 4); n > 0; n--)
        word[i] = word[i] part[1 + int(rand() * 30)]
    }
    for (id = 1; id <= rows; id++) {
      copy = id <= centers * 8 ? (id - 1) % 8 : 0
      if (copy == 0) {
        n = 0
        for (len = 0; len < 490; len += length(text[n++]) + 1)
          text[n] = word[int(exp(rand() * 9.9))]
      }
      changed = int(n * copy / 120)
      line = ""
      for (i = 0; i < n; i++)
        line = line " " (i < changed ? word[int(rand() * 20000)] : text[i])
      print id "\t" substr(line, 2)
    }
  }'
}

sql -c 'CREATE TABLE written (id int, content text)'
texts "$rows" | sql -c 'COPY written FROM stdin'
sql <<SQL
CREATE TABLE letter AS
  SELECT id, content, minhash64(content) AS fp FROM written ORDER BY hashint8extended(id, 5);
CREATE TABLE center AS SELECT id / 8 AS i, content AS q FROM written WHERE id <= $centers * 8 AND id % 8 = 1;
DROP TABLE written;
VACUUM ANALYZE letter;
SQL

# --- builds
build_ms()
{
  sql -c 'RESET maintenance_work_mem' -c "SET maintenance_work_mem = '64MB'" -c '\timing on' -c "$1" | awk '$1 == "Time:" && $2 > 5 { print $2 }'
}
for ((i = 0; i < 3; i++)); do
  sql -c 'DROP INDEX IF EXISTS letter_near, letter_md5' -c CHECKPOINT
  build_ms 'CREATE INDEX letter_near ON letter USING hamming (content)' >> "$SCRATCH/near"
  sql -c CHECKPOINT
  build_ms 'CREATE INDEX letter_md5 ON letter (md5(content))' >> "$SCRATCH/md5"
done
ratio_row 'build on the texts (ms) : on md5(content)' "$rows" "$(median < "$SCRATCH/near")" "$(median < "$SCRATCH/md5")" '<= 1.1'

# --- searches
sql -c 'DROP INDEX letter_md5' -c 'CREATE INDEX letter_fp ON letter USING hamming (fp)' -c 'CREATE EXTENSION pg_trgm' \
  -c 'CREATE INDEX letter_trgm ON letter USING gin (content gin_trgm_ops)'
settings="SET plan_cache_mode = force_generic_plan;
SET pg_trgm.similarity_threshold = 0.8;
PREPARE by_text (text) AS SELECT count(*) FROM letter WHERE simdup_resembles(content, \$1, 0.8);
PREPARE by_fp (simhash64) AS SELECT count(*) FROM letter WHERE simhash_within(fp, \$1, 12);
PREPARE by_trgm (text) AS SELECT count(*) FROM letter WHERE content % \$1;
PREPARE nearest_text (text) AS SELECT id FROM letter ORDER BY content <~~> \$1 LIMIT 10;
PREPARE nearest_fp (simhash64) AS SELECT id FROM letter ORDER BY fp <~> \$1 LIMIT 10;"
by_text=$(searches "EXECUTE by_text ('Q')" | median)
by_fp=$(searches "EXECUTE by_fp (minhash64('Q'))" | median)
ratio_row 'simdup_resembles, 0.8 (ms) : stored, k = 12' "$rows" "$by_text" "$by_fp" '<= 2'
ratio_row 'the same (ms) : pg_trgm, GIN, 0.8' "$rows" "$by_text" "$(searches "EXECUTE by_trgm ('Q')" 10 | median)" '<= 0.1'
ratio_row 'nearest 10 of a text (ms) : stored' "$rows" "$(searches "EXECUTE nearest_text ('Q')" | median)" \
  "$(searches "EXECUTE nearest_fp (minhash64('Q'))" | median)" '<= 1.3'
sql <<'SQL'
SELECT format('Candidates of a search by fingerprint: %s on average, %s at most. Rows found: %s on average.',
  round(avg(candidates), 1), max(candidates), round(avg(found), 1))
FROM (SELECT (SELECT count(*) FROM letter WHERE simhash_within(fp, minhash64(q), 12)) AS candidates,
             (SELECT count(*) FROM letter WHERE simdup_resembles(content, q, 0.8)) AS found
      FROM center) AS s;
SQL

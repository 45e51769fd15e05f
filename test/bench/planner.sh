# planner.sh: whether the planner takes the best plan. There are the join node, a nested
# loop over the index, and a scan with the condition as a filter. The scan is a hash join
# where districts must be equal. Each is forced in turn, and stopped after twice the time of the plan
# that is chosen. ROWS, by default 1000000, is the size of the table; 1, 100, a
# hundredth and as many new rows are joined with it. KINDS are distances and
# resemblances, DISTRICTS their numbers; 1: no condition on districts.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)

# A tenth of the new rows are near a row of the table, in its district. Texts have 24 words.
sql <<SQL
CREATE FUNCTION text_of(bigint, bigint) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
  SELECT string_agg(substr(md5((CASE WHEN w = 12 THEN \$2 ELSE 0 END + \$1 * 100 + w)::text), 1, 4 + w % 5), ' ') FROM generate_series(1, 24) AS w \$\$;
CREATE TABLE corpus AS SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp, text_of(i, 0) AS content, i % 2 AS d2, i % 100 AS d100, i % 50000 AS d50000
FROM generate_series(1, $rows::bigint) AS i;
CREATE INDEX ON corpus USING hamming (fp);
CREATE INDEX ON corpus USING hamming (content);
VACUUM ANALYZE corpus;
SQL
sizes="1 100 $((rows / 100)) $rows"
for n in $sizes; do
  sql <<SQL
CREATE TABLE new_$n AS SELECT i AS id, CASE WHEN i % 10 = 1 THEN (hashint8extended(i, 1) # (7::bigint << (i % 60)::int)) ELSE hashint8extended(i, 2) END::simhash64 AS fp,
  CASE WHEN i % 10 = 1 THEN text_of(i, 77) ELSE text_of(-i, 0) END AS content, i % 2 AS d2, i % 100 AS d100, i % 50000 AS d50000
FROM generate_series(1, $n::bigint) AS i;
VACUUM ANALYZE new_$n;
SQL
done

# took SETTINGS STATEMENT LIMIT: the least processor time of three runs, or of one long
# run, and the time by the clock, in ms. After LIMIT ms it says nothing.
took()
{
  sql <<SQL 2>&1 >/dev/null | awk '
    /s user, .* s system, .* s elapsed/ { cpu = 1000 * ($2 + $5); clock = 1000 * $8; if (!n++ || cpu < least) { least = cpu; by_clock = clock } }
    END { if (n) print least, by_clock }'
$1
EXPLAIN $2;
SET statement_timeout = ${3:-0};
SET client_min_messages = log;
SET log_executor_stats = on;
$2;
$(for _ in 1 2; do [ "${rows_of:-0}" -gt 100 ] || echo "$2;"; done)
SQL
}
others_off='SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off;'
declare -A forced=(
  [node]="$others_off"
  [index]="$others_off SET enable_nestloop = on; SET enable_seqscan = off; SET simdup.enable_join = off;"
  [filter]="$others_off SET enable_hashjoin = on; SET simdup.enable_join = off;"
  [loop]="$others_off SET enable_nestloop = on; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET simdup.enable_join = off;"
)

echo '| joined by | new rows | districts | chosen | ms | node | index | filter | chosen : best |'
echo '|---|---|---|---|---|---|---|---|---|'
for kind in ${KINDS:-3 8 12 .9 .8}; do
  for n in $sizes; do
    rows_of=$n
    for districts in ${DISTRICTS:-1 2 100 50000}; do
      case $kind in
        .*) condition="simdup_resembles(c.content, n.content, $kind)" ;;
        *) condition="simhash_within(c.fp, n.fp, $kind)" ;;
      esac
      filter=loop
      [ "$districts" = 1 ] || { condition+=" AND c.d$districts = n.d$districts"; filter=filter; }
      statement="SELECT count(*) FROM new_$n AS n JOIN corpus AS c ON $condition"
      plan=$(sql -c "EXPLAIN $statement" | awk '/Custom Scan/ { print "node"; exit } /Nested Loop/ { loop = 1 } /Index Cond/ && loop { print "index"; exit } /Hash Join|Merge Join/ { print "filter"; exit } END { if (loop) print "filter" }' | head -1)
      read -r cpu clock <<<"$(took '' "$statement")"
      line="| $kind | $n | $([ "$districts" = 1 ] && echo - || echo "$districts") | $plan | $cpu |"
      best=$cpu
      for way in node index $filter; do
        other=
        if [ "${way/loop/filter}" = "$plan" ]; then
          other=$cpu
        else
          read -r other _ <<<"$(took "${forced[$way]}" "$statement" "$(awk "BEGIN { printf \"%.0f\", 2 * $clock + 20 }")")" || true
          [ -z "$other" ] || best=$(awk "BEGIN { print ($other < $best ? $other : $best) }")
        fi
        line+=" ${other:-over} |"
      done
      echo "$line $(awk -v a="$cpu" -v b="$best" 'BEGIN { r = b > .1 ? a / b : 1; printf "%.2f%s", r, (r > 2 ? " MISSED" : "") }') |"
    done
  done
done

# lib.sh: shared by the parts of make bench. Source it:
#
#   . "$ROOT/test/bench/lib.sh"
#   rows=$(rows_or 100000)
#   ratio "simhash against md5" "SELECT count(simhash(body)) FROM t" \
#     "SELECT count(md5(body)) FROM t" 5 "<= 2.5"
#
# A part runs with PGHOST, PGPORT, PGUSER and PGDATABASE set to a fresh database
# that has the extension, ROOT the checkout, SCRATCH a writable folder.

set -euo pipefail

# only the figures
export PGOPTIONS='-c client_min_messages=warning -c simdup.progress_interval=0'

bench_header_printed=

# rows_or DEFAULT: the rows asked for by ROWS=n, or else this part's own number.
rows_or()
{
  case ${ROWS:-} in
    *' '*) echo "this part takes one number of rows, not $ROWS" >&2; return 1 ;;
  esac
  echo "${ROWS:-$1}"
}

# sql [ARG...]: psql that stops at the first error; the script on stdin or by -c.
sql()
{
  psql -qXAt -v ON_ERROR_STOP=1 "$@"
}

# median: the median of the numbers on stdin, one a line.
median()
{
  sort -g | awk '{ v[NR] = $1 }
    END { if (NR) printf "%.3f\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ratio_row LABEL ROWS A B [TARGET]: one line of the table, from two medians in
# the same unit. TARGET is like "<= 2.5" or ">= 15" and is compared with A / B.
ratio_row()
{
  local label=$1 rows=$2 a=$3 b=$4 target=${5:-} ratio verdict=
  ratio=$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.3f", (b > 0 ? a / b : 0) }')
  if [ -n "$target" ]; then
    verdict=$(awk -v r="$ratio" -v op="${target%% *}" -v t="${target#* }" 'BEGIN {
      met = op == "<=" ? r <= t : op == ">=" ? r >= t : op == "<" ? r < t : r > t
      print met ? "met" : "MISSED" }')
  fi
  if [ -z "$bench_header_printed" ]; then
    bench_header_printed=yes
    printf '%-50s %10s %11s %11s %8s  %s\n' "A against B" rows "median A" "median B" "A / B" target
  fi
  printf '%-50s %10s %11s %11s %8s  %s\n' "$label" "$rows" "$a" "$b" "$ratio" "$target${verdict:+ $verdict}"
}

# times_of LETTER FILE: the sums of psql's timings under each "run LETTER" line.
times_of()
{
  awk -v letter="$1" '
    $1 == "run" { if (open) print sum; open = $2 == letter; sum = 0 }
    $1 == "Time:" && open { sum += $2 }
    END { if (open) print sum }' "$2"
}

# ratio LABEL "SQL A" "SQL B" [RUNS] [TARGET]: time A and B in turn, A B A B …,
# and print the medians in milliseconds. All runs are in one session, after one
# untimed run of each. The SQL in $before, such as a TRUNCATE, runs untimed before
# every run. The number of rows to print is $rows. Let A and B return one row,
# because the time to fetch rows counts too.
ratio()
{
  local label=$1 a=$2 b=$3 runs=${4:-5} target=${5:-} out i letter
  out=$(mktemp "$SCRATCH/ratio.XXXXXX")
  {
    echo '\o /dev/null'
    for ((i = 0; i <= runs; i++)); do
      for letter in a b; do
        printf '\\timing off\n%s\n;\n' "${before:-}"
        if [ "$i" != 0 ]; then
          printf '\\echo run %s\n\\timing on\n' "$letter"
        fi
        # a statement given with its semicolon would be followed by an empty one
        printf '%s\n;\n' "$(sed -e '$ s/;[[:space:]]*$//' <<<"${!letter}")"
      done
    done
  } | LC_ALL=C psql -qX -v ON_ERROR_STOP=1 >"$out" || return 1
  ratio_row "$label" "${rows:-${ROWS:--}}" "$(times_of a "$out" | median)" "$(times_of b "$out" | median)" "$target"
}

# planted ROWS CENTERS: make the tables center (i, q) and fps (id, fp). The ROWS
# fingerprints are uniform, but 16 for each center are at distances 0 to 15 from it.
planted()
{
  sql <<SQL
CREATE TABLE center AS
SELECT i, hashint8extended(i, 77)::simhash64 AS q FROM generate_series(1, $2) i;
CREATE TABLE fps AS
SELECT id, fp FROM (
  SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $1 - $2 * 16) i
  UNION ALL
  SELECT $1 - $2 * 16 + row_number() OVER (), (q::bigint # flips)::simhash64
  FROM center, generate_series(0, 15) d,
    LATERAL (SELECT coalesce(bit_or(1::bigint << p), 0) AS flips
             FROM (SELECT p FROM generate_series(0, 63) p ORDER BY hashint8extended(p, i * 100 + d) LIMIT d) b) f
) s ORDER BY hashint8extended(id, 5);
VACUUM ANALYZE fps;
SQL
}

# searches QUERY [CENTERS [WHICH]]: milliseconds of processor time that the query
# takes. Q is replaced by the center: each row of the table center (i, q), or of
# its first rows, of those that fulfil the condition WHICH. Each center is searched
# for once. The first quarter warms the session up, as $warm, a statement, does
# before. Each of the others has one line. $scan, $plain and $bitmap allow kinds of
# scans. $settings has other settings.
searches()
{
  {
    cat <<SQL
SET enable_seqscan = ${scan:-off};
SET enable_indexscan = ${plain:-on};
SET enable_bitmapscan = ${bitmap:-on};
${settings:-}
${warm:-}
SET client_min_messages = log;
SET log_executor_stats = on;
SQL
    sql -c "SELECT replace(\$q\$$1;\$q\$, 'Q', q::text) FROM center WHERE ${3:-true} ORDER BY i LIMIT ${2:-1000000}"
  } | LC_ALL=C sql 2>&1 >/dev/null | awk '
    /s user, .* s system, .* s elapsed/ { ms[n++] = 1000 * ($2 + $5) }
    END { for (i = int(n / 4); i < n; i++) print ms[i] }'
}

# seconds STATEMENT: its processor time, without workers.
seconds()
{
  { echo "SET work_mem = '256MB'; SET max_parallel_workers_per_gather = 0; SET client_min_messages = log; SET log_executor_stats = on;"; echo "$1"; } |
    LC_ALL=C sql 2>&1 >/dev/null | awk '/s user, .* s system, .* s elapsed/ { printf "%.2f", $2 + $5 }'
}

# run.sh: make bench. Sourced by test/run with the bench cluster running.
#
# Every test/bench/PART.sh (or those named) is run on a fresh database with
# the extension; each prints ratios of two things timed in turn in one go.
# Times of one machine say little, their ratios show the gain.

# bench_part NAME: run one; its status is the part's.
bench_part()
{
  export PGDATABASE=bench_$1 SCRATCH=$scratch/bench_$1 ROOT=$root
  mkdir "$SCRATCH"
  [ "$(id -u)" != 0 ] || chown "$server_user" "$SCRATCH"
  createdb "$PGDATABASE"
  psql -qX -c 'CREATE EXTENSION simdup'
  printf '\n== %s: make bench PART=%s%s\n' "$1" "$1" "${ROWS:+ ROWS=$ROWS}"
  bash "test/bench/$1.sh" || return 1
  dropdb "$PGDATABASE"
  rm -rf "$SCRATCH"
}

known=$(basename -s .sh test/bench/*.sh | grep -vxE 'run|lib')
[ $# != 0 ] || set -- $known
for part in "$@"; do
  grep -qx "$part" <<<"$known" || die "no part $part; there are: $(echo $known)"
done
# a pure number of rows, or several for the part that takes them, or none
[[ ${ROWS:-} =~ ^[0-9\ ]*$ ]] || die "ROWS is a number of rows, not $ROWS"
if [ -n "${ROWS:-}" ]; then export ROWS; else unset ROWS; fi

psql -qXAt -d postgres -c "SELECT split_part(version(), ' on ', 1)"
bench_failed=
for part in "$@"; do
  bench_part "$part" || { echo "part $part failed" >&2; bench_failed=yes; }
done
[ -z "$bench_failed" ]

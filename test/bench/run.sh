# run.sh: make bench. Sourced by test/run with the bench cluster running.
#
# Every test/bench/PART.sh (or those named) is run on a fresh database with
# the extension; each prints ratios of two things timed in turn in one go.
# Times of one machine say little, their ratios say what was gained.

# bench_parts: the names of all parts.
bench_parts()
{
  local file
  for file in "$root"/test/bench/*.sh; do
    case ${file##*/} in
      run.sh | lib.sh) ;;
      *) basename "$file" .sh ;;
    esac
  done
}

# bench_part NAME: run one; its status is the part's.
bench_part()
{
  local name=$1 scratch_of_part=$scratch/bench_$1
  mkdir -p "$scratch_of_part"
  [ "$(id -u)" != 0 ] || chown "$server_user" "$scratch_of_part"
  createdb "bench_$name"
  psql -qX -d "bench_$name" -c 'CREATE EXTENSION simdup'
  printf '\n== %s: make bench PART=%s%s\n' "$name" "$name" "${ROWS:+ ROWS=$ROWS}"
  PGDATABASE=bench_$name SCRATCH=$scratch_of_part ROOT=$root bash "test/bench/$name.sh" || return 1
  dropdb "bench_$name"
  rm -rf "$scratch_of_part"
}

parts=("$@")
[ ${#parts[@]} != 0 ] || mapfile -t parts < <(bench_parts)
for part in "${parts[@]}"; do
  [ -e "test/bench/$part.sh" ] || die "no part $part; there are: $(echo $(bench_parts))"
done

# A pure number of rows, or several for the part that takes them, or none.
case ${ROWS:-} in
  *[!0-9\ ]*) die "ROWS is a number of rows, not $ROWS" ;;
  '') unset ROWS ;;
  *) export ROWS ;;
esac

psql -qXAt -d postgres -c "SELECT split_part(version(), ' on ', 1)"
bench_failed=
for part in "${parts[@]}"; do
  if ! bench_part "$part"; then
    echo "part $part failed" >&2
    bench_failed=yes
  fi
done
[ -z "$bench_failed" ]

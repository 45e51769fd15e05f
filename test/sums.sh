# sums.sh: checks, and the last line of each make target that checks something.
# Sourced, after server.sh.
#
#   N passed, N failed[, N skipped]

passed=0
failed=0
skipped=0
sum_line='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'

# end_sum: the last line; its status is that of all.
end_sum()
{
  summed=yes
  echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
  [ "$failed" = 0 ]
}

# add_sum LOG STATUS: of a run that wrote LOG, whose last line is its sum, and ended
# with STATUS. Without a sum, or in failure with no failure in it, it has failed.
add_sum()
{
  local before=$failed status=$2
  if [[ $(grep -E "$sum_line" "$1" | tail -n 1) =~ $sum_line ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
  else
    status=1
  fi
  [ "$status" = 0 ] || [ "$failed" != "$before" ] || failed=$((failed + 1))
}

# counted COMMAND...: add its sum, and show the rest of its output.
counted()
{
  local status=0 log
  log=$(mktemp "${TMPDIR:-/tmp}/simdup-sum.XXXXXX")
  "$@" 2>&1 | tee "$log" | grep --line-buffered -vE "$sum_line" || status=${PIPESTATUS[0]}
  add_sum "$log" "$status"
  rm -f "$log"
}

# check NAME COMMAND...: ok if the command succeeds; otherwise not ok, with its
# output. A caller that asks for the status, by || or if, switches -e off in the
# command, too. So a function joins its commands by &&.
check()
{
  local status log
  log=$(mktemp "${TMPDIR:-/tmp}/simdup-check.XXXXXX")
  set +e
  (set -e; "${@:2}") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    echo "ok: $1"
  else
    failed=$((failed + 1))
    echo "not ok: $1"
    tail -n 100 "$log"
  fi
  rm -f "$log"
  return "$status"
}

# silent COMMAND...: it succeeds and has nothing to say.
silent()
{
  local said status=0
  said=$("$@" 2>&1) || status=$?
  echo "$said"
  [ "$status" = 0 ] && [ -z "$said" ]
}

skip()
{
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

# step COMMAND...: a failure is counted, and the next step still runs.
step()
{
  local since=$SECONDS
  echo "== $*"
  "$@" || true
  echo "== $((SECONDS - since)) s: $*"
}

# sums.sh: what checks have counted, and the line that says so, the last one of
# each make target that checks something. Sourced, after server.sh.
#
#   N passed, N failed[, N skipped]

passed=0
failed=0
skipped=0
sum_line='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'

say_sum()
{
  echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
}

# without_sum: what comes in, but for the sums.
without_sum()
{
  grep --line-buffered -vE "$sum_line" || true
}

# last_sum FILE: of a run that wrote FILE; one that stopped before it has failed.
last_sum()
{
  { grep -sE "$sum_line" "$1" || echo '0 passed, 1 failed'; } | tail -n 1
}

# add_sum LINE: to what is counted here.
add_sum()
{
  [[ $1 =~ $sum_line ]] || die "not a sum: $1"
  passed=$((passed + BASH_REMATCH[1]))
  failed=$((failed + BASH_REMATCH[2]))
  skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
}

# add_run FILE STATUS: the sum of a run that wrote FILE and ended with STATUS; to
# fail without having counted a failure is one.
add_run()
{
  local before=$failed
  add_sum "$(last_sum "$1")"
  [ "$2" = 0 ] || [ "$failed" != "$before" ] || failed=$((failed + 1))
}

# logs.sh: what no server may write to its log, even if its test passes. Sourced,
# after sums.sh.
#
# A script that provokes a PANIC says so in a line of its own:
# "# Its servers may log: PANIC:", followed by the reason.

# Failed assertions, crashes, overrun memory, and what a transaction's end finds
# still open. Servers before 17 name the kind of what leaks, later ones say that a
# resource was not closed.
log_faults=('TRAP: ' 'PANIC:' 'terminated by signal (4|6|7|8|11)\b' 'detected write past' 'problem in alloc set'
  '(reference|refcount|file|memory) leak' 'resource was not closed' 'still (referenced|active)$')

# logs_in FOLDER: the servers' logs below it.
logs_in()
{
  find "$1" -type f \( -name server.log -o -path '*/tmp_check/log/*.log' \) | LC_ALL=C sort
}

# may_log LOG: what the script that the log is of may provoke, as patterns.
may_log()
{
  local script name longest=
  for script in "$root"/test/t/*.pl; do
    name=$(basename "$script" .pl)
    [[ $(basename "$1") != "$name"_* ]] || [ ${#name} -lt ${#longest} ] || longest=$name
  done
  [ -z "$longest" ] || sed -n 's/^# Its servers may log: \([^ ]*\).*/\1/p' "$root/test/t/$longest.pl"
}

# faults_in LOG: the lines that show a fault.
faults_in()
{
  local expected
  expected=$(may_log "$1")
  grep -aE "$(IFS='|'; echo "${log_faults[*]}")" "$1" | { if [ -n "$expected" ]; then grep -avE "$expected"; else cat; fi; } || true
}

# search_logs FOLDER: nothing, or the logs with a fault and their first lines.
search_logs()
{
  local log found
  while read -r log; do
    found=$(faults_in "$log" | head -n 20)
    [ -z "$found" ] || printf '%s:\n%s\n' "$(basename "$(dirname "$log")")/$(basename "$log")" "$found"
  done < <(logs_in "$1")
}

# The search finds each fault where it is planted, and nothing in a sound log.
search_finds()
{
  local planted=$scratch/planted line n=0
  mkdir -p "$planted"/{sound,tmp_check/log}
  printf '%s\n' 'LOG:  database system is ready to accept connections' \
    'DETAIL:  Key (id)=(1) is still referenced from table "t".' >"$planted/sound/server.log"
  while read -r line; do
    n=$((n + 1))
    printf '%s\n' 'LOG:  a line before' "2026-01-01 00:00:00 UTC [1] $line" >"$planted/tmp_check/log/planted_$n.log"
    [ -n "$(search_logs "$planted/tmp_check")" ] || echo "not seen: $line"
    rm "$planted/tmp_check/log/planted_$n.log"
  done <<'FAULTS'
TRAP: FailedAssertion("page != NULL", File: "page.c", Line: 1, PID: 1)
TRAP: failed Assert("page != NULL"), File: "page.c", Line: 1, PID: 1
PANIC:  could not locate a valid checkpoint record
LOG:  server process (PID 1) was terminated by signal 11: Segmentation fault
LOG:  server process (PID 1) was terminated by signal 6: Aborted
WARNING:  detected write past chunk end in ExprContext 0x1
WARNING:  problem in alloc set ExprContext: detected write past chunk end in block 0x1, chunk 0x2
WARNING:  buffer refcount leak: [001] (rel=base/1/1, blockNum=0, flags=0x1, refcount=1 1)
WARNING:  relcache reference leak: relation "t" not closed
WARNING:  snapshot 0x1 still active
WARNING:  Snapshot reference leak: Snapshot 0x1 still referenced
WARNING:  TupleDesc reference leak: TupleDesc 0x1 (1,-1) still referenced
WARNING:  temporary file leak: File 1 still referenced
WARNING:  dynamic shared memory leak: segment 1 still referenced
WARNING:  resource was not closed: relation "t"
FAULTS
  search_logs "$planted/sound"
}

# check_logs: of all servers that the suite has run.
check_logs()
{
  check "the search of the servers' logs finds what it is for" silent search_finds || true
  rm -rf "$scratch/planted"
  check "no server logged a crash, a failed assertion or a leak ($(logs_in "$scratch" | wc -l) logs)" silent search_logs "$scratch" || true
}

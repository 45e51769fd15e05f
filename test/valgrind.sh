# valgrind.sh: make test-valgrind. Sourced by test/run, before suite.sh.
#
# The tests in SQL, regression and isolation, on a server whose processes all
# run under memcheck. Each process writes a report. An entry that valgrind.supp
# does not list is a failure, and so is a process without a report. Memcheck
# finds reads of memory that was never written or was freed, and all faults in
# ICU's memory. It does not see overruns within a block of a memory context; the
# unit tests of core/ find those under AddressSanitizer.

FOLDERS="sql specs"
reports=$scratch/reports
server_program=$scratch/postgres-valgrind

# The program that pg_ctl starts: the server under memcheck, without JIT, which
# would take minutes, and without background processes that start at any time.
# Memcheck follows forks by itself; --trace-children is for programs that the
# processes execute.
write_server_program()
{
  mkdir "$reports"
  cp "$root/test/valgrind.supp" "$scratch/"
  cat >"$server_program" <<EOF
#!/bin/sh
TMPDIR='$scratch' exec valgrind --trace-children=yes --num-callers=40 \
  --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --gen-suppressions=all --suppressions='$scratch/valgrind.supp' \
  --log-file='$reports/%p' '$bindir/postgres' "\$@" -c autovacuum=off -c jit=off
EOF
  chmod 755 "$server_program"
  [ "$(id -u)" != 0 ] || chown "$server_user" "$reports"
}

# check_reports: each process is a test; one that was killed has no summary. A
# stopped server is still writing its own.
check_reports()
{
  local report patience=60
  until [ -z "$(grep -L 'ERROR SUMMARY' "$reports"/*)" ] || [ $((patience -= 1)) = 0 ]; do
    sleep 1
  done
  for report in "$reports"/*; do
    if grep -q 'ERROR SUMMARY: 0 errors' "$report"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "not ok: process ${report##*/} under memcheck"
      head -n 200 "$report"
    fi
  done
  echo "processes under memcheck: $(find "$reports" -type f | wc -l)"
}

# the server's makefiles look for it in the environment
export COPT='-O1 -g'
write_server_program

# suite.sh: make test, and with memcheck make test-valgrind. Sourced by test/run once
# the private install stands.
# $FOLDERS, $ENCODING, $SETTINGS, $SUITE and $PROVE_FLAGS: see README.md. With $UNIT_CC, a
# compiler for another machine, the unit tests are built without sanitizers.

chosen=("$@")
folders=${FOLDERS:-$([ "$SUITE" = lean ] || echo unit) sql specs t}
read -ra settings <<<"${SETTINGS:-}"
files=()
# a crowded machine is slow, not wrong
export PGCTLTIMEOUT=600 PG_TEST_TIMEOUT_DEFAULT=600

# end_suite: a suite that stops before its sum has failed, and says so.
end_suite()
{
  [ -n "${summed:-}" ] || { check "the suite reached its end" false || end_sum || true; }
  sweep_scratch
}
trap end_suite EXIT

# names_in FOLDER EXT: the wanted test names there.
names_in()
{
  local file name
  [[ " $folders " == *" $1 "* ]] || return 0
  for file in "test/$1"/*."$2"; do
    name=$(basename "$file" ".$2")
    [ ${#chosen[@]} != 0 ] && [[ " ${chosen[*]} " != *" $name "* ]] || echo "$name"
  done
}

# is_wanted SCRIPT: by the suite, unless the script is named, and by the encoding and
# the settings.
is_wanted()
{
  case ${chosen[*]}/$SUITE in
    ?*/* | /all | /whole) ;;
    /lean) grep -qx "# Depends on the server's internals\." "$1" || return ;;
    *) ! grep -qx '# Runs in make test-all only\.' "$1" || return ;;
  esac
  { [ "$ENCODING" = UTF8 ] || grep -q 'ENV{ENCODING}' "$1"; } &&
    { [[ " ${settings[*]} " != *" jit=on "* ]] || ! grep -q 'jit = off' "$1"; }
}

# A copy of the tests that the user who runs servers can read and write, with
# the evaluation data beside it where there is any.
test_tree()
{
  tree=$scratch/tests/simdup
  # results/ is where tests in SQL write files
  mkdir -p "$tree/results"
  cp -r test expected sql src doc clients ./*.md Makefile Containerfile simdup.control "$tree/"
  if [ -d ../shared/data ]; then
    mkdir "$scratch/tests/shared"
    cp -rL ../shared/data "$scratch/tests/shared/"
    chmod -R u+w "$scratch/tests/shared"
  fi
}

# group NAME TEST...: to be run together, as a script that prove runs.
group()
{
  [ $# != 1 ] || return 0
  echo "@ARGV = qw(${*:2}); do './test/regress.pl' or die \$@;" >"$tree/$1.pl"
  files+=("$1.pl")
}

# sql_groups: the tests in SQL in as many groups as there are processors, and the specs.
sql_groups()
{
  local i
  for ((i = 1; i <= jobs; i++)); do
    group "sql$i" $(names_in sql sql | awk -v n="$jobs" -v i="$i" 'NR % n == i % n')
  done
  group specs $(names_in specs spec)
}

# unit_tests: build those of core/, as programs.
unit_tests()
{
  local names
  names=$(names_in unit c | grep -vx host) && [ "$ENCODING" = UTF8 ] && [ ${#settings[@]} = 0 ] || return 0
  mkdir "$scratch/unit"
  # shellcheck disable=SC2086
  check "the unit tests build" make -s -k -j "$jobs" -C "$scratch/unit" -f "$root/test/unit/Makefile" ROOT="$root" \
    ${UNIT_CC:+CC="$UNIT_CC" SANITIZERS=-static WERROR=-Werror} $names || true
  mapfile -t -O ${#files[@]} files < <(find "$scratch/unit" -maxdepth 1 -type f -perm -u+x | sort)
}

# scripts: those that take longest begin first, so that none of them runs alone at the end.
scripts()
{
  local name
  for name in $(names_in t pl); do
    is_wanted "test/t/$name.pl" || continue
    case $name in
      batch | campaigns | hamming* | join_* | limits | removal | replica) files=("test/t/$name.pl" "${files[@]}") ;;
      *) files+=("test/t/$name.pl") ;;
    esac
  done
}

# initdb_once: initdb takes a second of processor time, and most of the hundred clusters of a
# suite are alike. So the first cluster of some options is copied to the later ones.
initdb_once()
{
  mkdir "$scratch/templates"
  chmod 777 "$scratch/templates"
  mv "$bindir/initdb" "$bindir/initdb-plain"
  cat >"$bindir/initdb" <<EOF
#!/bin/bash
options=()
for ((i = 1; i <= \$#; i++)); do
  case \${!i} in
    -D | --pgdata) ((i++)) && folder=\${!i} ;;
    *) options+=("\${!i}") ;;
  esac
done
[ -n "\$folder" ] || exec '$bindir/initdb-plain' "\$@"
template=$scratch/templates/\$(md5sum <<<"\${options[*]@Q} \$LANG \$LC_ALL" | cut -c 1-32)
if ! [ -d "\$template" ]; then
  '$bindir/initdb-plain' -D "\$folder" "\${options[@]}" || exit
  cp -a "\$folder" "\$template.\$\$"
  mv -T "\$template.\$\$" "\$template" 2>/dev/null || rm -r "\$template.\$\$"
else
  mkdir -p "\$folder"
  cp -a "\$template/." "\$folder"
fi
EOF
  chmod 755 "$bindir/initdb"
}

# run_prove: two more at a time than there are processors, because a script often waits.
run_prove()
{
  local setting
  # On a slow machine any test would hear of the progress, and autovacuum would change a plan.
  # A plan with a disabled node costs so much that it would be compiled, each time.
  for setting in simdup.progress_interval=0 autovacuum=off jit=off "${settings[@]}"; do
    echo "${setting%%=*} = '${setting#*=}'"
  done >"$scratch/settings.conf"
  [ "$(id -u)" != 0 ] || chown -R "$server_user" "$scratch/tests"
  counted as_server env TMPDIR="$scratch" BINDIR="$bindir" SERVER_LOCALE="$(server_locale)" \
    TEMP_CONFIG="$scratch/settings.conf" PERL5LIB="$tree/test" \
    make -s -C "$tree" PG_CONFIG="$bindir/pg_config" prove_installcheck PROVE_TESTS="${files[*]}" \
    PROVE_FLAGS="--formatter Sum --timer --directives --failures -j $((jobs + 2)) ${PROVE_FLAGS:-}"
  # an expected output is best made from a real one
  if compgen -G "$tree/*/regression.diffs" >/dev/null; then
    mkdir -p results
    cp "$tree"/*/results/*.out results/ || true
    echo "what came out is in results/"
  fi
}

# --- memcheck

# The server is put under memcheck, without JIT, which would take minutes, and without
# background processes that start at any time. Each process writes a report. Memcheck
# follows forks by itself; --trace-children is for programs that the processes execute.
# It finds reads of memory that was never written or was freed, and all faults in ICU's
# memory. It does not see overruns within a block of a memory context; the unit tests
# of core/ find those under AddressSanitizer.
under_memcheck()
{
  reports=$scratch/reports
  install -d -m 777 "$reports"
  cp test/valgrind.supp "$scratch/"
  mv "$bindir/postgres" "$bindir/postgres-plain"
  cat >"$bindir/postgres" <<EOF
#!/bin/sh
[ "\$1" = -D ] || exec '$bindir/postgres-plain' "\$@"
TMPDIR='$scratch' exec valgrind --trace-children=yes --num-callers=40 \
  --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --gen-suppressions=all --suppressions='$scratch/valgrind.supp' \
  --log-file='$reports/%p' '$bindir/postgres-plain' "\$@" -c jit=off
EOF
  chmod 755 "$bindir/postgres"
}

# check_reports: each process is a test. An entry that valgrind.supp does not list is a
# failure, and so is a report without a summary. A stopped server still writes its own.
check_reports()
{
  local report patience=60
  until [ -z "$(grep -L 'ERROR SUMMARY' "$reports"/*)" ] || [ $((patience -= 1)) = 0 ]; do
    sleep 1
  done
  for report in "$reports"/*; do
    # shellcheck disable=SC2016
    check "process ${report##*/} under memcheck" sh -c 'grep -q "ERROR SUMMARY: 0 errors" "$1" || ! head -n 200 "$1"' sh "$report" || true
  done
}

# sound_logs: whether no log has a line of log_faults: failed assertions, crashes, overrun
# memory, and objects that are open at a transaction's end. Servers before 17 name the kind
# of what leaks, later ones say that a resource was not closed. Status 1 of grep is sound:
# it read all logs and found nothing. If it could not read a log, its status is 2.
sound_logs()
{
  local status=0
  grep -rE -m 20 --include='*.log' -f test/log_faults "$scratch" || status=$?
  [ "$status" = 1 ]
}

# A name that chooses nothing is a mistake, not a success.
for name in "${chosen[@]}"; do
  compgen -G "test/*/$name.*" >/dev/null || die "no test called $name"
done

test_tree
sql_groups
unit_tests
scripts
initdb_once
[ "$purpose" != valgrind ] || under_memcheck
[ ${#files[@]} = 0 ] || run_prove
[ "$purpose" != valgrind ] || check_reports
check "no server logged a crash, a failed assertion or a leak" sound_logs || true
end_sum

# suite.sh: make test. Sourced by test/run once the private install stands.
#
# Unit tests of core/ (no server), then pg_regress, isolation specs and TAP
# tests; every one of them counts its own tests, and the sums are the last
# line. Names given to `test/run test` choose among the test files, and
# $folders among the kinds of tests.
#
#   ENCODING=LATIN1         the databases' encoding, UTF8 by default
#   SETTINGS="name=value …" for every server that is started
#
# Under these, what can't depend on them is left out: the unit tests, which
# have no server, under another encoding the scripts that make databases of
# encodings they name, and with jit=on those that turn it off. What an encoding
# can't hold is skipped, by the test.

chosen=("$@")
folders=${folders:-unit sql specs t}
. "$root/test/sums.sh"
summed=
read -ra settings <<<"${SETTINGS:-}"
# a crowded machine is slow, not wrong
export PGCTLTIMEOUT=600 PG_TEST_TIMEOUT_DEFAULT=600

# end_suite: whatever stops the suite before its sum is a failure, and says so.
end_suite()
{
  local status=$?
  if [ -z "$summed" ]; then
    failed=$((failed + 1))
    echo "not ok: the suite stopped before its end (exit $status)"
    summed=yes
    say_sum
    [ "$status" != 0 ] || status=1
  fi
  # which ends with the same status
  set +e
  (exit "$status")
  close_scratch
}
trap end_suite EXIT

# wanted NAME: is it among the chosen, or is nothing chosen?
wanted()
{
  local name
  [ ${#chosen[@]} != 0 ] || return 0
  for name in "${chosen[@]}"; do
    [ "$name" != "$1" ] || return 0
  done
  return 1
}

# names_in FOLDER EXT: the wanted test names there.
names_in()
{
  local file name
  case " $folders " in *" $1 "*) ;; *) return 0 ;; esac
  for file in "$root/test/$1"/*."$2"; do
    [ -e "$file" ] || continue
    name=$(basename "$file" ".$2")
    ! wanted "$name" || echo "$name"
  done
}

# A name that chooses nothing is a mistake, not a success.
for name in "${chosen[@]}"; do
  compgen -G "$root/test/*/$name.*" >/dev/null || die "no test called $name"
done

# count_tap OUTPUT: add up the TAP lines of one program; fails if they are not
# as many as it planned.
count_tap()
{
  local ok not_ok skip planned
  # Subtests are indented: only what stands at the left counts.
  ok=$(grep -c '^ok ' "$1" || true)
  not_ok=$(grep -c '^not ok ' "$1" || true)
  skip=$(grep -ciE '^ok .*# skip' "$1" || true)
  planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$1")
  passed=$((passed + ok - skip))
  failed=$((failed + not_ok))
  # a program that skips everything is one test skipped
  [ "$planned" != 0 ] || skip=1
  skipped=$((skipped + skip))
  [ "$planned" = $((ok + not_ok)) ]
}

# run_tap NAME COMMAND...: one program that speaks TAP; an end that its lines do
# not explain is a failure of its own.
run_tap()
{
  local name=$1 before=$failed status=0 since=$SECONDS out
  shift
  out=$scratch/$name.tap
  # in a shell of its own: the output is not that of a trap in this one
  ("$@") >"$out" 2>"$out.err" || status=$?
  count_tap "$out" || [ "$status" != 0 ] || status="0, but not the tests it planned"
  if [ "$failed" != "$before" ] || [ "$status" != 0 ]; then
    [ "$failed" != "$before" ] || failed=$((failed + 1))
    echo "not ok: $name (exit $status)"
    { grep -vE '^ok ' "$out" || true; } | tail -n 60
    tail -n 60 "$out.err"
    # PostgreSQL::Test keeps what a script says to stderr, and its commands
    [ ! -e "$scratch/tap/tmp_check/log/regress_log_$name" ] || tail -n 30 "$scratch/tap/tmp_check/log/regress_log_$name"
  else
    echo "ok: $name ($(grep -c '^ok ' "$out" || true) in $((SECONDS - since)) s)"
    grep -iE '# skip' "$out" | sed 's/^/  /' || true
  fi
}

# run_regress PROGRAM NAME...: pg_regress or its isolation sibling, once.
#
# 15 looks for expected/ below the output folder, later ones below the current
# one: a folder of links that is input, output and current serves them all.
run_regress()
{
  local program=$1 dir=$scratch/regress before=$failed name reason
  shift
  [ $# != 0 ] || return 0
  rm -rf "$dir"
  mkdir -p "$dir"
  ln -s "$root/test/sql" "$root/test/specs" "$root/expected" "$dir/"
  (cd "$dir" && "$program" --inputdir=. --outputdir=. --bindir="$bindir" \
    --dbname=simdup_regression --load-extension=simdup "$@") >"$dir/log" 2>&1 || true
  for name in "$@"; do
    if ! grep -qE "^(ok +[0-9]+ +- $name |test $name +\.\.\. ok )" "$dir/log"; then
      failed=$((failed + 1))
      echo "not ok: $name"
    elif reason=$(grep -m 1 '^skipped: ' "$dir/results/$name.out"); then
      skipped=$((skipped + 1))
      echo "ok: $name # $reason"
    else
      passed=$((passed + 1))
      echo "ok: $name"
    fi
  done
  [ "$failed" != "$before" ] || return 0
  if [ -s "$dir/regression.diffs" ]; then
    head -n 400 "$dir/regression.diffs"
  else
    tail -n 40 "$dir/log"
  fi
  # an expected output is best made from a real one
  if compgen -G "$dir/results/*.out" >/dev/null; then
    mkdir -p "$root/results"
    cp "$dir"/results/*.out "$root/results/"
    echo "what came out is in results/"
  fi
}

# TAP scripts start servers, so they run as the user servers run as, on a copy
# of the tests that this user can read, with the evaluation data beside it
# where there is any.
tap_tree()
{
  tree=$scratch/tap/simdup
  mkdir -p "$tree" "$scratch/tap/tmp_check/log"
  cp -r "$root/test" "$root/expected" "$root/sql" "$root/src" "$root/Makefile" "$root/simdup.control" "$root/README.md" "$root/CHANGELOG.md" "$root/doc" "$tree/"
  if [ -d "$root/../shared/data" ]; then
    mkdir -p "$scratch/tap/shared"
    cp -rL "$root/../shared/data" "$scratch/tap/shared/"
    chmod -R u+w "$scratch/tap/shared"
  fi
  [ "$(id -u)" != 0 ] || chown -R "$server_user" "$scratch/tap"
}

# units_of_core: programs that speak TAP.
units_of_core()
{
  local core name build
  mkdir -p "$scratch/unit"
  mapfile -t core < <(find src/core -maxdepth 1 -name '*.c')
  for name in $(names_in unit c); do
    case $name in host) continue ;; esac
    build=$scratch/unit/$name
    if ${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined \
      -fno-sanitize-recover=all -Isrc -o "$build" "test/unit/$name.c" test/unit/host.c \
      "${core[@]}" -lm >"$build.log" 2>&1; then
      run_tap "$name" "$build"
    else
      failed=$((failed + 1))
      echo "not ok: $name (does not build)"
      tail -40 "$build.log"
    fi
  done
}

# sql_tests: on a server with the settings a stranger's server has, and the
# chosen ones.
sql_tests()
{
  start_cluster regress max_prepared_transactions=4 "${settings[@]}"
  # shellcheck disable=SC2046
  {
    run_regress "$regress_dir/regress/pg_regress" $(names_in sql sql)
    run_regress "$regress_dir/isolation/pg_isolation_regress" $(names_in specs spec)
  }
  stop_cluster || echo "the server did not stop by itself"
}

# names_of_scripts: the wanted TAP scripts that the encoding and the settings mean
# something to.
names_of_scripts()
{
  local name script
  for name in $(names_in t pl); do
    script=$root/test/t/$name.pl
    [ "$ENCODING" = UTF8 ] || grep -q 'ENV{ENCODING}' "$script" || continue
    [[ " ${settings[*]} " != *" jit=on "* ]] || ! grep -q 'jit = off' "$script" || continue
    echo "$name"
  done
}

# tap_scripts: whatever needs servers, databases or sessions of its own.
tap_scripts()
{
  local name
  tap_tree
  for setting in "${settings[@]}"; do
    echo "${setting%%=*} = '${setting#*=}'"
  done >"$scratch/settings.conf"
  for name in $(names_of_scripts); do
    run_tap "$name" as_server env -u PGHOST -u PGPORT -u PGUSER \
      ENCODING="$ENCODING" TEMP_CONFIG="$scratch/settings.conf" \
      TESTDATADIR="$scratch/tap/tmp_check" TESTLOGDIR="$scratch/tap/tmp_check/log" \
      TESTDIR="$scratch/tap" PG_REGRESS="$regress_dir/regress/pg_regress" \
      PERL5LIB="$regress_dir/perl:$tree/test/t" PATH="$bindir:$PATH" TMPDIR="$scratch" \
      sh -c "cd '$tree' && perl 'test/t/$name.pl'"
  done
}

[ "$ENCODING" != UTF8 ] || [ ${#settings[@]} != 0 ] || units_of_core
[ -z "$(names_in sql sql)$(names_in specs spec)" ] || sql_tests
[ -z "$(names_of_scripts)" ] || tap_scripts
[ "$purpose" != valgrind ] || check_reports
summed=yes
say_sum
[ "$failed" = 0 ]

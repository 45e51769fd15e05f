# suite.sh: make test. Sourced by test/run once the private install stands.
#
# pg_regress runs the tests in SQL and the isolation specs. Unit tests of core/,
# which need no server, and the scripts, which start their own, are run by
# prove. Each of them lists its tests and their sum. The last line adds the
# sums. Names given to `test/run test` choose among the test files, and $FOLDERS
# among the kinds of tests.
#
#   ENCODING=LATIN1         the databases' encoding, UTF8 by default
#   SETTINGS="name=value …" for every server that is started
#   PROVE_FLAGS="…"         as for prove
#
# With one of these, tests that cannot depend on it are left out. These are the
# unit tests, under ENCODING the scripts that choose an encoding, and under
# jit=on the scripts that turn JIT off. A test skips texts that the encoding
# cannot hold.

chosen=("$@")
folders=${FOLDERS:-unit sql specs t}
. "$root/test/sums.sh"
summed=
read -ra settings <<<"${SETTINGS:-}"
# a crowded machine is slow, not wrong
export PGCTLTIMEOUT=600 PG_TEST_TIMEOUT_DEFAULT=600

# end_suite: a suite that stops before its sum has failed, and says so.
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

# names_in FOLDER EXT: the wanted test names there.
names_in()
{
  local file name
  [[ " $folders " == *" $1 "* ]] || return 0
  for file in "$root/test/$1"/*."$2"; do
    name=$(basename "$file" ".$2")
    [ ${#chosen[@]} != 0 ] && [[ " ${chosen[*]} " != *" $name "* ]] || echo "$name"
  done
}

# names_of_scripts: those that the encoding and the settings mean something to.
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

# A copy of the tests that the user who runs servers can read and write, with
# the evaluation data beside it where there is any.
test_tree()
{
  tree=$scratch/tests/simdup
  mkdir -p "$tree"
  (cd "$root" && cp -r test expected sql src doc ./*.md Makefile simdup.control "$tree/")
  if [ -d "$root/../shared/data" ]; then
    mkdir "$scratch/tests/shared"
    cp -rL "$root/../shared/data" "$scratch/tests/shared/"
    chmod -R u+w "$scratch/tests/shared"
  fi
  # which upgrades start from
  cp "$root"/test/data/simdup--*.sql "$sharedir/extension/"
  [ "$(id -u)" != 0 ] || chown -R "$server_user" "$scratch/tests"
}

make_there()
{
  as_server env TMPDIR="$scratch" make -s -C "$tree" PG_CONFIG="$bindir/pg_config" "$@"
}

# run_regress SETTING NAME...: pg_regress or its isolation sibling, by make
# installcheck, which takes the names in SETTING.
run_regress()
{
  local setting=$1 log=$scratch/regress.log sum
  shift
  [ $# != 0 ] || return 0
  make_there installcheck REGRESS= ISOLATION= "$setting=$*" \
    REGRESS_OPTS="--inputdir=test --load-extension=simdup --encoding=$ENCODING" 2>&1 | tee "$log" || true
  sum=$(grep -oE '(All [0-9]+|[0-9]+ of [0-9]+) tests (passed|failed)' "$log" | tail -n 1)
  case $sum in
    All*) passed=$((passed + $(tr -dc 0-9 <<<"$sum"))) ;;
    *of*) failed=$((failed + ${sum%% of*})) passed=$((passed + $# - ${sum%% of*})) ;;
    *) failed=$((failed + 1)) ;;
  esac
  [[ $sum != All* ]] || return 0
  head -n 400 "$tree"/{,output_iso/}regression.diffs 2>/dev/null || true
  # an expected output is best made from a real one
  mkdir -p "$root/results"
  cp "$tree"/{,output_iso/}results/*.out "$root/results/" 2>/dev/null || true
  echo "what came out is in results/"
}

# sql_tests: on a server with the settings a stranger's server has, and the
# chosen ones.
sql_tests()
{
  local told
  start_cluster regress max_prepared_transactions=4 "${settings[@]}"
  # shellcheck disable=SC2046
  {
    run_regress REGRESS $(names_in sql sql)
    run_regress ISOLATION $(names_in specs spec)
  }
  stop_cluster || echo "the server did not stop by itself"
  # a test that the encoding cannot hold passes, saying so
  for told in $(grep -ls '^skipped: ' "$tree"/results/*.out || true); do
    echo "$(basename "$told" .out) $(grep -m 1 '^skipped: ' "$told")"
    passed=$((passed - 1)) skipped=$((skipped + 1))
  done
}

# build_units: the unit tests of core/, as programs.
build_units()
{
  local name names
  [ "$ENCODING" = UTF8 ] && [ ${#settings[@]} = 0 ] || return 0
  names=$(names_in unit c | grep -vx host) || return 0
  mkdir -p "$scratch/unit"
  # shellcheck disable=SC2086
  make -s -k -j "$jobs" -C "$scratch/unit" -f "$root/test/unit/Makefile" ROOT="$root" $names >&2 || true
  for name in $names; do
    if [ -x "$scratch/unit/$name" ]; then
      files+=("$scratch/unit/$name")
    else
      echo "not ok: test/unit/$name.c does not build"
      failed=$((failed + 1))
    fi
  done
}

# run_prove FILE...: all that speak TAP.
run_prove()
{
  local setting
  for setting in "${settings[@]}"; do
    echo "${setting%%=*} = '${setting#*=}'"
  done >"$scratch/settings.conf"
  ENCODING=$ENCODING TEMP_CONFIG=$scratch/settings.conf PERL5LIB=$tree/test counted make_there prove_installcheck \
    PROVE_TESTS="$*" PROVE_FLAGS="--formatter Sum --timer --directives --failures -j $jobs ${PROVE_FLAGS:-}"
}

# A name that chooses nothing is a mistake, not a success.
for name in "${chosen[@]}"; do
  compgen -G "$root/test/*/$name.*" >/dev/null || die "no test called $name"
done

test_tree
[ -z "$(names_in sql sql)$(names_in specs spec)" ] || sql_tests
mapfile -t files < <(names_of_scripts | sed 's,.*,test/t/&.pl,')
build_units
[ ${#files[@]} = 0 ] || run_prove "${files[@]}"
[ "$purpose" != valgrind ] || check_reports
summed=yes
say_sum
[ "$failed" = 0 ]

# suite.sh: make test. Sourced by test/run once the private install stands.
#
# pg_regress runs the tests in SQL and the isolation specs. Unit tests of core/,
# which need no server, and the scripts, which start their own, are run by
# prove. Each of them lists its tests and their sum. The last line adds the
# sums. Names given to `test/run test` choose among the test files, and $FOLDERS
# among the kinds of tests.
#
#   ENCODING=LATIN1         the databases' encoding, UTF8 by default.
#   SETTINGS="name=value …" for every server that is started.
#   PROVE_FLAGS="…"         As for prove.
#   SUITE=lean              of the scripts only those with the line
#                           "# Depends on the server's internals."
#   SUITE=whole             also those with the line "# Runs in make test-all only."
#
# The servers' logs are searched at the end: see logs.sh.
#
# With an ENCODING or SETTINGS, tests that cannot depend on it are left out. These are
# the unit tests, under ENCODING the scripts that choose an encoding, and under
# jit=on the scripts that turn JIT off. A test skips texts that the encoding
# cannot hold.

chosen=("$@")
folders=${FOLDERS:-$([ "$SUITE" = lean ] || echo unit) sql specs t}
. "$root/test/sums.sh"
. "$root/test/logs.sh"
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
  # close_scratch ends with the status that it finds
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
    if [ ${#chosen[@]} = 0 ] || [[ " ${chosen[*]} " == *" $name "* ]]; then
      echo "$name"
    fi
  done
}

# is_wanted SCRIPT: a script that is named always is.
is_wanted()
{
  [ ${#chosen[@]} = 0 ] || return 0
  case $SUITE in
    whole) ;;
    lean) grep -qx "# Depends on the server's internals\." "$1" ;;
    *) ! grep -qx '# Runs in make test-all only\.' "$1" ;;
  esac
}

# names_of_scripts: those that the encoding and the settings mean something to.
names_of_scripts()
{
  local name script
  for name in $(names_in t pl); do
    script=$root/test/t/$name.pl
    is_wanted "$script" || continue
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
  (cd "$root" && cp -r test expected sql src doc clients ./*.md Makefile Containerfile simdup.control "$tree/")
  if [ -d "$root/../shared/data" ]; then
    mkdir "$scratch/tests/shared"
    cp -rL "$root/../shared/data" "$scratch/tests/shared/"
    chmod -R u+w "$scratch/tests/shared"
  fi
  [ "$(id -u)" != 0 ] || chown -R "$server_user" "$scratch/tests"
}

make_there()
{
  as_server env TMPDIR="$scratch" make -s -C "$tree" PG_CONFIG="$bindir/pg_config" "$@"
}

# run_regress GROUP PORT SETTING NAME...: pg_regress or its isolation sibling, by
# make installcheck, which takes the names in SETTING. The group has a server of its
# own, because roles are a server's and VACUUM waits for other sessions. It has the
# settings of a fresh server, and the chosen ones.
run_regress()
{
  local group=$1 port=$2 setting=$3
  shift 3
  start_cluster "$group" port="$port" max_prepared_transactions=4 "${settings[@]}"
  # 15 looks for expected/ in the output and the input folder, later ones in the current one
  as_server mkdir "$tree/$group"
  ln -s ../expected "$tree/$group/expected"
  make_there installcheck REGRESS= ISOLATION= "$setting=$*" \
    REGRESS_OPTS="--inputdir=test --outputdir=$group --load-extension=simdup --encoding=$ENCODING" \
    ISOLATION_OPTS="--inputdir=test --outputdir=$group --load-extension=simdup --encoding=$ENCODING" || true
  stop_cluster || echo "the server did not stop by itself"
}

# add_regress GROUP NAME...: the sum of what the group said.
add_regress()
{
  local group=$1 sum
  shift
  cat "$scratch/$group.log"
  sum=$(grep -oE '(All [0-9]+|[0-9]+ of [0-9]+) tests (passed|failed)' "$scratch/$group.log" | tail -n 1)
  case $sum in
    All*) passed=$((passed + $(tr -dc 0-9 <<<"$sum"))) ;;
    *of*) failed=$((failed + ${sum%% of*})) passed=$((passed + $# - ${sum%% of*})) ;;
    *) failed=$((failed + 1)) ;;
  esac
  [[ $sum != All* ]] || return 0
  head -n 400 "$tree/$group/regression.diffs" 2>/dev/null || true
  # an expected output is best made from a real one
  mkdir -p "$root/results"
  cp "$tree/$group"/results/*.out "$root/results/" 2>/dev/null || true
  echo "what came out is in results/"
}

# sql_tests: run the tests in SQL in groups, side by side, with the specs, which
# mostly wait.
sql_tests()
{
  local told n port=5432 group names=() groups=() running=()
  declare -A members=()
  mapfile -t names < <(names_in sql sql)
  # where tests in SQL write files
  as_server mkdir "$tree/results"
  for n in "${!names[@]}"; do
    members[sql$((n % jobs + 1))]+=" ${names[n]}"
  done
  members[specs]=$(names_in specs spec)
  mapfile -t groups < <(printf '%s\n' "${!members[@]}" | sort)
  for group in "${groups[@]}"; do
    # shellcheck disable=SC2046
    set -- ${members[$group]}
    [ $# != 0 ] || continue
    port=$((port + 1))
    run_regress "$group" "$port" "$([ "$group" = specs ] && echo ISOLATION || echo REGRESS)" "$@" >"$scratch/$group.log" 2>&1 &
    running+=("$!")
  done
  wait "${running[@]}" || true
  for group in "${groups[@]}"; do
    set -- ${members[$group]}
    [ $# = 0 ] || add_regress "$group" "$@"
  done
  # a test that the encoding cannot hold passes, saying so
  for told in $(grep -ls '^skipped: ' "$tree"/*/results/*.out || true); do
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

# run_prove FILE...: all that speak TAP. Two more at a time than there are processors,
# because a script often waits.
run_prove()
{
  local setting
  for setting in "${settings[@]}"; do
    echo "${setting%%=*} = '${setting#*=}'"
  done >"$scratch/settings.conf"
  ENCODING=$ENCODING TEMP_CONFIG=$scratch/settings.conf PERL5LIB=$tree/test counted make_there prove_installcheck \
    PROVE_TESTS="$*" PROVE_FLAGS="--formatter Sum --timer --directives --failures -j $((jobs + 2)) ${PROVE_FLAGS:-}"
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
check_logs
summed=yes
say_sum
[ "$failed" = 0 ]

# server.sh: the packages that a purpose needs, and a private PostgreSQL. Sourced.
#
# The server is the installed one, but nothing of the machine is touched.
# PostgreSQL finds its share and library folders relative to its own executable.
# So a copy of bin beside links to lib and share is a separate install, and
# simdup is installed there. Clusters live in the same scratch folder, listen only
# on a socket in it, and are removed when the caller ends. If the caller is root,
# servers run as an ordinary user.

set -euo pipefail

# The caller's settings for libpq and its programs are for other servers.
for name in "${!PG@}"; do
  [[ $name == @(PG_CONFIG|PG_TEST_*) ]] || unset "$name"
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# how much is tested: lean, whole, or between; see suite.sh
export ENCODING=${ENCODING:-UTF8} SUITE=${SUITE:-}
PG_CONFIG=${PG_CONFIG:-pg_config}
jobs=$(getconf _NPROCESSORS_ONLN)

die()
{
  echo "simdup: $*" >&2
  exit 1
}

# runs_all: whether the suite has every script.
runs_all()
{
  [[ $SUITE == @(all|whole) ]]
}

# --- packages

# A purpose's packages in Debian. After a colon stands what shows that one is there: a
# command, a file, a C header, or a module of Python or Perl. By default it is a command
# of the package's name. MAJOR is the server's major version. A purpose with ? can do without.
# One with ! is for SUITE=all and whole, and can do without, too.
packages='
any gcc make libc6-dev:<stdlib.h> libicu-dev:<unicode/ubrk.h>
any postgresql-server-dev-MAJOR:INCLUDEDIR/postgres.h postgresql-MAJOR:SHAREDIR/extension/pg_trgm.control
test libipc-run-perl:perl=IPC::Run perl:prove
test? postgresql-MAJOR-similarity:SHAREDIR/extension/pg_similarity.control
test! unicode-data:/usr/share/unicode/UnicodeData.txt imagemagick:convert chromium chromium-driver:chromedriver
clients python3-psycopg:python=psycopg python3-psycopg2:python=psycopg2 python3-sqlalchemy:python=sqlalchemy
clients python3-alembic:python=alembic python3-django:python=django libpostgresql-jdbc-java:/usr/share/java/postgresql.jar
clients ruby-pg:/usr/share/doc/ruby-pg ruby-activerecord:/usr/share/doc/ruby-activerecord
clients php-cli:php php-pgsql:/usr/share/doc/php-pgsql php-doctrine-dbal:/usr/share/php/Doctrine/DBAL pgformatter:pg_format
clients default-jdk-headless:javac nodejs:node npm ca-certificates:/etc/ssl/certs/ca-certificates.crt
clients w3m pandoc docx2txt poppler-utils:pdftotext fonts-noto-core:/usr/share/fonts/truetype/noto
clients fonts-noto-cjk:/usr/share/fonts/opentype/noto
package git unzip perl:prove buildah
platforms perl:prove clang qemu-user:qemu-s390x
platforms gcc-s390x-linux-gnu:s390x-linux-gnu-gcc libc6-dev-s390x-cross:/usr/s390x-linux-gnu/include/stdlib.h
platforms gcc-aarch64-linux-gnu:aarch64-linux-gnu-gcc libc6-dev-arm64-cross:/usr/aarch64-linux-gnu/include/stdlib.h
valgrind libipc-run-perl:perl=IPC::Run perl:prove valgrind
lint clang-format clang-tidy clang binutils:nm shellcheck similarity-tester:sim_c perl:prove
lint? postgresql-MAJOR-plpgsql-check:SHAREDIR/extension/plpgsql_check.control
fuzz clang libclang-rt-dev:have_fuzzer
matrix mmdebstrap arch-test
'

# have_fuzzer [SANITIZERS]: check whether clang links libFuzzer with them, and runs it.
have_fuzzer()
{
  local probe status=0
  probe=$(mktemp "${TMPDIR:-/tmp}/simdup-probe.XXXXXX")
  echo 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return !p && n; }' |
    clang -x c "-fsanitize=fuzzer,${1:-address,undefined}" -o "$probe" - && "$probe" -runs=1 >/dev/null 2>&1 || status=$?
  rm -f "$probe"
  return "$status"
}

# is_there PROBE
is_there()
{
  case $1 in
    python=*) /usr/bin/python3 -c "import ${1#*=}" ;;
    perl=*) perl "-M${1#*=}" -e 1 ;;
    \<*) echo "#include $1" | gcc $(pkg-config --cflags icu-uc) -E - ;;
    INCLUDEDIR/*) [ -e "$("$PG_CONFIG" --includedir-server)/${1#*/}" ] ;;
    SHAREDIR/*) [ -e "$("$PG_CONFIG" --sharedir)/${1#*/}" ] ;;
    */*) [ -e "$1" ] ;;
    have_*) "$1" ;;
    *) command -v "$1" ;;
  esac
}

# packages_for PURPOSE...: as they stand in the table.
packages_for()
{
  awk -v purposes=" $* " 'NF && index(purposes, " " $1 " ") { for (i = 2; i <= NF; i++) print $i }' <<<"$packages"
}

# missing_for PURPOSE...: the packages that this machine still lacks, one a line.
missing_for()
{
  local word
  for word in $(packages_for "$@"); do
    is_there "${word#*:}" >/dev/null 2>&1 </dev/null || echo "${word%%:*}"
  done
}

# major_version: of the PostgreSQL that pg_config speaks for; nothing without.
major_version()
{
  { "$PG_CONFIG" --version 2>/dev/null || true; } | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p'
}

# install_packages PACKAGE...: Debian, as root. MAJOR in a name is the version of the
# server that is or will be installed, because headers must match the server. A server
# package would make and start a cluster; here it does not.
install_packages()
(
  config=/etc/postgresql-common/createcluster.d
  log=$(mktemp)
  trap 'rm -f "$log" "$config/simdup.conf"; rmdir "$config" 2>/dev/null || true' EXIT
  mkdir -p "$config"
  echo 'create_main_cluster = false' >"$config/simdup.conf"
  apt-get update -qq >"$log" 2>&1 || { cat "$log" >&2; echo "simdup: apt-get update failed, trying on" >&2; }
  major=$(major_version)
  [ -n "$major" ] || major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
  [ -n "$major" ] || die "the package lists name no PostgreSQL server"
  set -- "${@//MAJOR/$major}"
  echo "simdup: installing $*" >&2
  DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1 ||
    { tail -40 "$log" >&2; die "could not install $*"; }
)

# no_installing: why no packages can be installed here; nothing where they can.
no_installing()
{
  if [ -n "${KEEP_PACKAGES:-}" ]; then
    echo "KEEP_PACKAGES is set"
  elif [ "$(id -u)" != 0 ]; then
    echo "not root"
  elif [ ! -e /etc/debian_version ]; then
    echo "not a Debian machine"
  fi
}

# need PURPOSE: have its packages, or install them (Debian, root), or name the missing ones
# and stop. Take an optional package if the lists of packages know it.
need()
{
  local missing extras
  mapfile -t missing < <(missing_for any "$1")
  if [ -z "$(no_installing)" ]; then
    [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
    mapfile -t missing < <(missing_for any "$1")
    mapfile -t extras < <(missing_for "$1?" "$(! runs_all || echo "$1!")" |
      sed "s/MAJOR/$(major_version)/" | grep -xFf <(apt-cache pkgnames))
    [ ${#extras[@]} = 0 ] || install_packages "${extras[@]}" || true
  fi
  [ ${#missing[@]} = 0 ] || die "missing on this machine (Debian's names, MAJOR is the server's version): ${missing[*]}"
}

# --- the private server

# as_server COMMAND...: run it as the user that servers run as.
as_server()
{
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid="$server_user" --regid="$(id -g "$server_user")" --init-groups \
      env --chdir="$scratch" HOME="$scratch" USER="$server_user" LOGNAME="$server_user" "$@"
  else
    "$@"
  fi
}

# Everything private lives below $scratch, and goes with this script. If the script is
# killed, a second process removes it.
open_scratch()
{
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/simdup.XXXXXX")
  server_user=$(id -un)
  if [ "$(id -u)" = 0 ]; then
    server_user=postgres
    id "$server_user" >/dev/null 2>&1 || server_user=nobody
    chown "$server_user" "$scratch"
  fi
  chmod 755 "$scratch"
  bindir=$scratch/pg$("$PG_CONFIG" --bindir)
  trap sweep_scratch EXIT
  (trap '' HUP INT TERM; trap - EXIT; tail --pid=$$ -f /dev/null; sweep_scratch) </dev/null >/dev/null 2>&1 &
  # so that a wait for all children does not include this one
  disown
}

# sweep_scratch: end the processes whose working directory is in $scratch, and remove
# $scratch. A server's working directory is its data. SIGQUIT is a server's immediate shutdown.
sweep_scratch()
{
  local i pids
  cd /
  for ((i = 0; i < 100; i++)); do
    pids=$(find /proc/[0-9]*/cwd -prune \( -lname "$scratch" -o -lname "$scratch/*" \) 2>/dev/null | cut -d / -f 3 || true)
    [ -n "$pids" ] || break
    kill -s "$([ "$i" -ge 30 ] && echo KILL || echo QUIT)" $pids 2>/dev/null || true
    sleep 0.1
  done
  rm -rf --one-file-system "$scratch"
}

# private_install [FLAGS]: build, and install privately, bin in $bindir. A module with
# other flags of the compiler is built in a copy. Bitcode, which clang makes once more, is
# for JIT alone.
private_install()
{
  local tree=$root prefix=$scratch/pg include folder llvm=with_llvm=no
  { ! runs_all && [[ ${SETTINGS:-} != *jit=on* ]]; } || llvm=''
  if [ $# != 0 ]; then
    tree=$scratch/sources
    mkdir "$tree"
    cp -r "$root"/{Makefile,simdup.control,doc,sql,src} "$tree/"
    find "$tree/src" -name '*.[ob]*' -delete
    # the server's makefiles look for it in the environment
    export COPT=$1
  fi

  # Share, library and header folders keep their place relative to bin.
  pkglibdir=$prefix$("$PG_CONFIG" --pkglibdir)
  sharedir=$prefix$("$PG_CONFIG" --sharedir)
  include=$prefix$("$PG_CONFIG" --includedir-server)
  mkdir -p "$bindir" "$pkglibdir" "$sharedir" "${include%/*}"
  cp -L "${bindir#"$prefix"}"/* "$bindir/"
  for folder in "$pkglibdir" "$sharedir"; do
    cp -rs "${folder#"$prefix"}/." "$folder/"
  done
  ln -s "${include#"$prefix"}" "$include"
  # An installed simdup is not the one under test.
  rm -rf "$pkglibdir"/simdup.so "$pkglibdir"/bitcode/simdup* "$sharedir"/extension/simdup*

  make -s -j "$jobs" -C "$tree" $llvm PG_CONFIG="$PG_CONFIG" all >&2
  make -s -C "$tree" $llvm PG_CONFIG="$PG_CONFIG" install bindir="$bindir" \
    pkglibdir="$pkglibdir" datadir="$sharedir" docdir="$scratch/doc" >&2
  [ "$(id -u)" != 0 ] || chown -R "$server_user" "$prefix"
  export PATH="$bindir:$PATH"
}

# server_locale: for UTF8, one that knows its letters, which text search needs.
server_locale()
{
  { [ "$ENCODING" = UTF8 ] && locale -a 2>/dev/null | grep -m 1 -ixE 'C\.utf-?8'; } || echo C
}

# start_cluster NAME [SETTING=VALUE...]: initialise and start one, and export the libpq
# environment for it. A private socket trusts its callers.
start_cluster()
{
  local data=$scratch/data_$1
  shift
  as_server "$bindir/initdb" --no-sync -A trust -U postgres -E "$ENCODING" --locale="$(server_locale)" -D "$data" >"$data.log" 2>&1 ||
    { cat "$data.log" >&2; die "initdb failed"; }
  printf '%s\n' listen_addresses= unix_socket_directories="$scratch" fsync=off "$@" | sed "s/=\(.*\)/ = '\1'/" |
    as_server tee -a "$data/postgresql.conf" >/dev/null
  as_server "$bindir/pg_ctl" start -s -w -D "$data" -l "$data/server.log" ||
    { cat "$data/server.log" >&2; die "the throwaway server did not start"; }
  export PGHOST=$scratch PGPORT=5432 PGUSER=postgres PSQLRC=/dev/null
  cluster=$data
}

# server.sh: a private PostgreSQL for demo, tests and benchmarks. Sourced.
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
  case $name in
    PG_CONFIG | PG_TEST_*) ;;
    *) unset "$name" ;;
  esac
done

# To the server's makefiles NO_INSTALL means that make install does nothing.
export KEEP_PACKAGES=${KEEP_PACKAGES:-${NO_INSTALL:-}}
unset NO_INSTALL

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=
# how much is tested: lean, whole, or between; see suite.sh
export ENCODING=${ENCODING:-UTF8} SUITE=${SUITE:-}
PG_CONFIG=${PG_CONFIG:-pg_config}
jobs=$(getconf _NPROCESSORS_ONLN)

die()
{
  echo "simdup: $*" >&2
  exit 1
}

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

have_server_dev()
{
  local pgxs
  pgxs=$("$PG_CONFIG" --pgxs 2>/dev/null) && [ -e "$pgxs" ] &&
    [ -e "$("$PG_CONFIG" --includedir-server)/postgres.h" ]
}

have_server()
{
  [ -x "$("$PG_CONFIG" --bindir 2>/dev/null)/postgres" ] &&
    [ -e "$("$PG_CONFIG" --sharedir)/extension/pg_trgm.control" ]
}

have_icu()
{
  [ -e /usr/include/unicode/ubrk.h ] || pkg-config --exists icu-uc icu-i18n 2>/dev/null
}

# have_fuzzer SANITIZERS: check whether clang links libFuzzer with them, and runs it.
have_fuzzer()
{
  local probe status=0
  probe=$(mktemp "${TMPDIR:-/tmp}/simdup-probe.XXXXXX")
  echo 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return !p && n; }' |
    clang -x c "-fsanitize=fuzzer,$1" -o "$probe" - &&
    "$probe" -runs=1 >/dev/null 2>&1 || status=$?
  rm -f "$probe"
  return "$status"
}

# lacks PACKAGE COMMAND...: name the package if the command fails.
lacks()
{
  "${@:2}" >/dev/null 2>&1 || echo "$1"
}

# missing_for PURPOSE: the Debian packages that this machine still lacks, one a
# line. A name may hold MAJOR for the server's major version.
missing_for()
{
  lacks gcc command -v gcc
  lacks make command -v make
  # gcc and make alone do not bring the C library's headers
  lacks libc6-dev test -e /usr/include/stdlib.h
  lacks postgresql-server-dev-MAJOR have_server_dev
  lacks postgresql-MAJOR have_server
  lacks libicu-dev have_icu
  case $1 in
    test)
      lacks libipc-run-perl perl -MIPC::Run -MTest::More -e 1
      lacks perl command -v prove
      ;;
    clients)
      lacks python3-psycopg /usr/bin/python3 -c 'import psycopg'
      lacks python3-psycopg2 /usr/bin/python3 -c 'import psycopg2'
      lacks python3-sqlalchemy /usr/bin/python3 -c 'import sqlalchemy'
      lacks python3-alembic /usr/bin/python3 -c 'import alembic'
      lacks python3-django /usr/bin/python3 -c 'import django'
      lacks libpostgresql-jdbc-java test -e /usr/share/java/postgresql.jar
      lacks default-jdk-headless command -v javac
      lacks nodejs command -v node
      # other packages of Node.js bring npm along
      lacks npm command -v npm
      lacks ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
      ;;
    package)
      lacks git command -v git
      lacks unzip command -v unzip
      lacks perl perl -MJSON::PP -e 1
      lacks buildah command -v buildah
      ;;
    platforms)
      lacks perl command -v prove
      lacks clang command -v clang
      lacks qemu-user command -v qemu-s390x
      lacks gcc-s390x-linux-gnu command -v s390x-linux-gnu-gcc
      lacks libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/include/stdlib.h
      lacks gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
      lacks libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdlib.h
      ;;
    valgrind)
      lacks valgrind command -v valgrind
      ;;
    lint)
      lacks clang-format command -v clang-format
      lacks clang-tidy command -v clang-tidy
      lacks clang command -v clang
      lacks binutils command -v nm
      lacks shellcheck command -v shellcheck
      ;;
    fuzz)
      lacks clang command -v clang
      # sanitizers and libFuzzer, of the version that clang has
      lacks libclang-rt-dev have_fuzzer address,undefined
      ;;
  esac
}

# extras_for PURPOSE: what a purpose can do without but does more with. Only
# packages that this machine's lists know.
extras_for()
{
  local package
  [ "$1" = test ] || return 0
  for package in $(
    lacks "postgresql-$(major_version)-similarity" test -e "$("$PG_CONFIG" --sharedir)/extension/pg_similarity.control"
    if [ "$SUITE" = whole ]; then
      lacks unicode-data test -e /usr/share/unicode/UnicodeData.txt
      lacks imagemagick sh -c 'command -v magick || command -v convert'
      lacks chromium command -v chromium
      lacks chromium-driver command -v chromedriver
    fi
  ); do
    ! apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
  done
}

# install_packages PACKAGE...: Debian, as root. A name may hold MAJOR for the
# major version of the server that is or will be installed, because headers must
# match the server.
#
# A server package makes and starts a cluster when it is first installed. The
# installation turns this off, and restores the setting afterwards.
install_packages()
(
  config=/etc/postgresql-common/createcluster.conf
  export DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1
  apt_install()
  {
    apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
      -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1 ||
      { tail -40 "$log" >&2; die "could not install $*"; }
  }
  log=$(mktemp)
  trap 'rm -f "$log"; [ ! -e "$config.simdup" ] || mv "$config.simdup" "$config"' EXIT
  trap 'exit 1' HUP INT TERM

  apt-get update -qq >"$log" 2>&1 || { cat "$log" >&2; echo "simdup: apt-get update failed, trying on" >&2; }
  major=$(major_version)
  [ -n "$major" ] || major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
  [ -n "$major" ] || die "the package lists name no PostgreSQL server"

  set -- "${@//MAJOR/$major}"
  echo "simdup: installing $*" >&2
  apt_install postgresql-common
  cp -p "$config" "$config.simdup"
  echo 'create_main_cluster = false' >>"$config"
  apt_install "$@"
)

# major_version: of the PostgreSQL that pg_config speaks for; nothing without.
major_version()
{
  { "$PG_CONFIG" --version 2>/dev/null || true; } | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p'
}

# no_installing: why no packages can be installed here; nothing where they can.
no_installing()
{
  if [ -n "$KEEP_PACKAGES" ]; then
    echo "NO_INSTALL is set"
  elif [ "$(id -u)" != 0 ]; then
    echo "not root"
  elif ! command -v apt-get >/dev/null || [ ! -e /etc/debian_version ]; then
    echo "not a Debian machine"
  fi
}

# need PURPOSE: have what it takes, or install it (Debian, root), or say what
# is missing and stop.
need()
{
  local missing extras
  mapfile -t missing < <(missing_for "$1")
  if [ -n "$(no_installing)" ]; then
    [ ${#missing[@]} = 0 ] || die "missing on this machine (Debian's names, MAJOR is the server's version): ${missing[*]}"
    return 0
  fi

  if [ ${#missing[@]} != 0 ]; then
    install_packages "${missing[@]}"
    mapfile -t missing < <(missing_for "$1")
    [ ${#missing[@]} = 0 ] || die "still missing after installing: ${missing[*]}"
  fi
  mapfile -t extras < <(extras_for "$1")
  if [ ${#extras[@]} != 0 ]; then
    install_packages "${extras[@]}" || true
  fi
}

# Everything private lives below $scratch, and goes with this script.
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
  trap close_scratch EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  watch_scratch </dev/null >/dev/null 2>&1 &
  watcher=$!
}

# A script that is killed cannot stop its servers. A second process waits for that.
watch_scratch()
{
  trap - EXIT
  trap '' HUP INT
  trap 'kill $!; exit' TERM
  while kill -0 $$; do
    sleep 1 &
    wait $!
  done
  trap '' TERM
  sweep_scratch
}

sweep_scratch()
{
  local pidfile
  find "$scratch" -name postmaster.pid | while read -r pidfile; do
    as_server "$bindir/pg_ctl" stop -s -m immediate -D "${pidfile%/*}" || true
  done
  rm -rf "$scratch"
}

close_scratch()
{
  local status=$?
  trap '' HUP INT TERM
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  sweep_scratch
  exit "$status"
}

# copy_sources: for a module built by other flags, in $COPT; names their folder.
copy_sources()
{
  mkdir "$scratch/sources"
  cp -r "$root"/{Makefile,simdup.control,doc,sql,src} "$scratch/sources/"
  find "$scratch/sources/src" -name '*.[ob]*' -delete
  echo "$scratch/sources"
}

# private_install [FOLDER]: build there, by default in the tree, and install
# privately, bin in $bindir.
private_install()
{
  local tree=${1:-$root} prefix=$scratch/pg from_bin from_lib from_share from_include
  from_bin=$("$PG_CONFIG" --bindir)
  from_lib=$("$PG_CONFIG" --pkglibdir)
  from_share=$("$PG_CONFIG" --sharedir)
  from_include=$("$PG_CONFIG" --includedir-server)

  # Share and library folders keep their place relative to bin.
  pkglibdir=$prefix$from_lib
  sharedir=$prefix$from_share
  mkdir -p "$bindir" "$pkglibdir" "$sharedir"
  cp -L "$from_bin"/* "$bindir/"
  cp -rs "$from_lib/." "$pkglibdir/"
  cp -rs "$from_share/." "$sharedir/"
  # its headers are where its pg_config says
  mkdir -p "$prefix$(dirname "$from_include")"
  ln -s "$from_include" "$prefix$from_include"
  # An installed simdup is not the one under test.
  rm -rf "$pkglibdir"/simdup.so "$pkglibdir"/bitcode/simdup* "$sharedir"/extension/simdup*

  make -s -j "$jobs" -C "$tree" PG_CONFIG="$PG_CONFIG" all >&2
  make -s -C "$tree" PG_CONFIG="$PG_CONFIG" install bindir="$bindir" \
    pkglibdir="$pkglibdir" datadir="$sharedir" docdir="$scratch/doc" >&2
  if [ "$(id -u)" = 0 ]; then
    chown -R "$server_user" "$prefix"
  fi
  export PATH="$bindir:$PATH"
}

# start_cluster NAME [SETTING=VALUE...]: initialise and start one; exports the
# libpq environment for it. Without a choice its port is 5432. UTF8 has a locale that
# knows its letters, which text search needs. A private socket trusts its callers.
start_cluster()
{
  local data=$scratch/data_$1 locale=C setting port=5432
  if [ "$ENCODING" = UTF8 ]; then
    locale=$(locale -a 2>/dev/null | grep -ixE 'C\.utf-?8' | head -1) || locale=C
  fi
  shift
  as_server "$bindir/initdb" --no-sync -A trust -U postgres -E "$ENCODING" --locale="$locale" -D "$data" >"$data.log" 2>&1 ||
    { cat "$data.log" >&2; die "initdb failed"; }
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$scratch'"
    echo "fsync = off"
    for setting in "$@"; do
      echo "${setting%%=*} = '${setting#*=}'"
    done
  } | as_server tee -a "$data/postgresql.conf" >/dev/null
  for setting in "$@"; do
    [ "${setting%%=*}" != port ] || port=${setting#*=}
  done
  as_server "$bindir/pg_ctl" start -s -w ${server_program:+-p "$server_program"} \
    -D "$data" -l "$data/server.log" ||
    { cat "$data/server.log" >&2; die "the throwaway server did not start"; }
  export PGHOST=$scratch PGPORT=$port PGUSER=postgres PSQLRC=/dev/null
  cluster=$data
}

stop_cluster()
{
  as_server "$bindir/pg_ctl" stop -s -m fast -D "$cluster"
}

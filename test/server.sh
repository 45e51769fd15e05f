# server.sh: a private PostgreSQL for demo, tests and benchmarks. Sourced.
#
# The server is the installed one, but nothing of the machine is touched:
# PostgreSQL finds its share and library folders relative to its own
# executable, so a copied bin beside linked lib and share trees is an install
# of its own, and simdup goes in there. Clusters live in the same scratch
# folder, listen on a socket in it and nowhere else, and go when the caller
# ends. Called as root, servers run as an ordinary user.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=
PG_CONFIG=${PG_CONFIG:-pg_config}

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
      env HOME="$scratch" USER="$server_user" LOGNAME="$server_user" "$@"
  else
    "$@"
  fi
}

# Packages that provide what a command or file stands for, per PostgreSQL major.
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

# missing_for PURPOSE: the Debian packages this machine still lacks, one a
# line; MAJOR stands for the server's major version.
missing_for()
{
  command -v gcc >/dev/null || echo gcc
  command -v make >/dev/null || echo make
  # gcc and make alone do not bring the C library's headers
  [ -e /usr/include/stdlib.h ] || echo libc6-dev
  have_server_dev || echo postgresql-server-dev-MAJOR
  have_server || echo postgresql-MAJOR
  have_icu || echo libicu-dev
  case $1 in
    test)
      perl -MIPC::Run -MTest::More -e 1 2>/dev/null || echo libipc-run-perl
      command -v prove >/dev/null || echo perl
      ;;
    lint)
      command -v clang-format >/dev/null || echo clang-format
      command -v clang-tidy >/dev/null || echo clang-tidy
      command -v clang >/dev/null || echo clang
      command -v nm >/dev/null || echo binutils
      ;;
  esac
}

# need PURPOSE: have what it takes, or install it (Debian, root), or say what
# is missing and stop.
need()
{
  local missing major config restore=
  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0

  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || [ ! -e /etc/debian_version ]; then
    die "missing on this machine (Debian's names, MAJOR is your server's version): $(echo $missing)"
  fi
  export DEBIAN_FRONTEND=noninteractive
  echo "simdup: installing $(echo $missing)" >&2
  apt-get update -qq >&2
  major=$("$PG_CONFIG" --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
  [ -n "$major" ] || major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)

  # The server package would make and start a cluster of its own: not ours to do.
  config=/etc/postgresql-common/createcluster.conf
  if [ ! -e "$config" ]; then
    mkdir -p "${config%/*}"
    echo 'create_main_cluster = false' > "$config"
    restore=yes
  fi
  # The headers must be those of the server that will load the module.
  apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold \
    -o Dpkg::Use-Pty=0 $(echo "$missing" "postgresql-MAJOR" | sed "s/MAJOR/$major/g") >&2
  if [ -n "$restore" ] && [ -e /usr/share/postgresql-common/createcluster.conf ]; then
    cp /usr/share/postgresql-common/createcluster.conf "$config"
  fi
  [ -z "$(missing_for "$1")" ] || die "still missing after installing: $(echo $(missing_for "$1"))"
}

# Everything private lives below $scratch.
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
  trap close_scratch EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

close_scratch()
{
  local status=$? pidfile
  trap '' HUP INT TERM
  find "$scratch" -name postmaster.pid | while read -r pidfile; do
    as_server "$bindir/pg_ctl" stop -s -m immediate -D "${pidfile%/*}" || true
  done
  rm -rf "$scratch"
  exit "$status"
}

# Build in the tree, install privately. Sets bindir.
private_install()
{
  local prefix=$scratch/pg from_bin from_lib from_share common dir
  from_bin=$("$PG_CONFIG" --bindir)
  from_lib=$("$PG_CONFIG" --pkglibdir)
  from_share=$("$PG_CONFIG" --sharedir)

  # Share and library folders keep their place relative to bin.
  bindir=$prefix$from_bin
  pkglibdir=$prefix$from_lib
  sharedir=$prefix$from_share
  mkdir -p "$bindir" "$pkglibdir" "$sharedir/extension"
  cp -L "$from_bin"/* "$bindir/"
  ln -sf "$from_lib"/* "$pkglibdir/"
  for dir in "$from_share"/*; do
    [ "${dir##*/}" = extension ] || ln -sf "$dir" "$sharedir/"
  done
  ln -sf "$from_share"/extension/* "$sharedir/extension/"
  # An installed simdup is not the one under test.
  rm -rf "$pkglibdir"/simdup.so "$sharedir"/extension/simdup* "$pkglibdir"/bitcode
  mkdir -p "$pkglibdir/bitcode"

  make -s -C "$root" PG_CONFIG="$PG_CONFIG" all >&2
  make -s -C "$root" PG_CONFIG="$PG_CONFIG" install bindir="$bindir" \
    pkglibdir="$pkglibdir" datadir="$sharedir" docdir="$scratch/doc" >&2
  if [ "$(id -u)" = 0 ]; then
    chown -R "$server_user" "$prefix"
  fi
  export PATH="$bindir:$PATH"
  regress_dir=$(dirname "$("$PG_CONFIG" --pgxs)")/../test
}

# start_cluster NAME [SETTING=VALUE...]: initialise and start one; exports the
# libpq environment for it. LC_ALL=C and UTF8, trust on a private socket.
start_cluster()
{
  local name=$1 data=$scratch/data_$1 setting
  shift
  as_server "$bindir/initdb" --no-sync -A trust -U postgres -E UTF8 --locale=C -D "$data" >"$scratch/initdb.log" 2>&1 ||
    { cat "$scratch/initdb.log" >&2; die "initdb failed"; }
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$scratch'"
    echo "fsync = off"
    for setting in "$@"; do
      echo "${setting%%=*} = '${setting#*=}'"
    done
  } | as_server tee -a "$data/postgresql.conf" >/dev/null
  as_server "$bindir/pg_ctl" start -s -w -t 60 -D "$data" -l "$data/server.log" ||
    { cat "$data/server.log" >&2; die "the throwaway server did not start"; }
  unset PGSERVICE PGDATABASE PGHOSTADDR PGPASSWORD PGOPTIONS PGCLIENTENCODING PGTZ PGDATESTYLE
  export PGHOST=$scratch PGPORT=5432 PGUSER=postgres PSQLRC=/dev/null
  cluster=$data
}

stop_cluster()
{
  as_server "$bindir/pg_ctl" stop -s -m fast -D "$cluster"
}

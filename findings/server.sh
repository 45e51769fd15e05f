# server.sh: a private PostgreSQL with the table t, in a folder that is removed at the end. To be sourced.
set -eu
work=$(mktemp -d)
bin=$(pg_config --bindir)
as_server() { if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi; }
end() {
  as_server "$bin/pg_ctl" stop -s -m immediate -D "$work/data" || true
  rm -rf "$work"
}
trap end EXIT
if [ "$(id -u)" = 0 ]; then chown postgres "$work"; fi
cd "$work"
as_server "$bin/initdb" -A trust -U postgres --no-sync -D data >/dev/null
export PGHOST=127.0.0.1 PGPORT=${PGPORT:-54329} PGUSER=postgres PGDATABASE=postgres
as_server "$bin/pg_ctl" start -s -w -D data -l log -o "-p $PGPORT -k $work -c listen_addresses=127.0.0.1 -c fsync=off"
psql -qX -c 'CREATE TABLE t (id integer PRIMARY KEY, a text NOT NULL, b text GENERATED ALWAYS AS (upper(a)) STORED)' \
  -c 'CREATE INDEX t_desc ON t (a DESC NULLS LAST)'
packages() { npm install --silent --ignore-scripts --no-audit --no-fund --save-exact "$@"; }
# seen TEXT FILE: the file has the text, or the behaviour is another one
seen() { grep -F -- "$1" "$2" || { echo "changed, there is no: $1"; cat "$2"; exit 1; }; }

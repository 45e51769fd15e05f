#!/usr/bin/env bash
# citus.sh: a table that Citus distributes over 1, 2 and 4 workers, against the
# same table on one server. It measures all pairs on the workers, searches,
# inserts, bytes sent and memory. The workers are servers of this machine, so the
# figures hold the work and the protocol, but no network. With fewer cores than
# workers, the workers wait for each other. ROWS is 1,000,000 by default. WORKERS
# are the numbers of workers, in rising order. Without Citus the part is skipped.

. "$ROOT/test/bench/lib.sh"

rows=$(rows_or 1000000)
sample=$((rows < 1000000 ? rows : 1000000))
searches=500
inserts=500
most_workers=${WORKERS:-4}
most_workers=${most_workers##* }

if [ ! -e "$(pg_config --sharedir)/extension/citus.control" ]; then
  echo "skipped: this server has no Citus"
  exit
fi

# --- the servers

# as_owner COMMAND...: as the user that servers run as.
as_owner()
{
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid="$(stat -c %u "$SCRATCH")" --regid="$(stat -c %g "$SCRATCH")" --init-groups env HOME="$SCRATCH" "$@"
  else
    "$@"
  fi
}

base=$((20000 + RANDOM % 10000))

# start_node N: node 0 is the coordinator.
start_node()
{
  local data=$SCRATCH/node$1
  as_owner initdb --no-sync -A trust -U postgres -E UTF8 --locale=C -D "$data" >"$SCRATCH/log" 2>&1
  as_owner tee -a "$data/postgresql.conf" >/dev/null <<CONF
port = $((base + $1))
listen_addresses = 'localhost'
unix_socket_directories = '$SCRATCH'
shared_preload_libraries = 'citus'
citus.enable_statistics_collection = off
fsync = off
jit = off
autovacuum = off
shared_buffers = 512MB
maintenance_work_mem = 1GB
work_mem = 256MB
max_wal_size = 16GB
checkpoint_timeout = 1h
max_parallel_workers_per_gather = 0
CONF
  as_owner pg_ctl start -s -w -D "$data" -l "$data/server.log"
  node "$1" -d postgres -c 'CREATE DATABASE city'
  node "$1" -c 'CREATE EXTENSION citus' -c 'CREATE EXTENSION simdup'
}

# node N [ARG...]: psql there.
node()
{
  local n=$1
  shift
  PGHOST=localhost PGPORT=$((base + n)) PGUSER=postgres PGDATABASE=city sql "$@"
}

# with_peak COMMAND...: run it, and sample the private memory of the servers that
# the variable pid_files names, each 50 ms. $memory is the most that all processes
# of one server had together, in MB. $process is the same of one process. $gap is the longest
# time between samples, in seconds. A shorter peak may be missed.
with_peak()
{
  perl -MTime::HiRes=sleep,time - "${pid_files[@]}" >"$SCRATCH/peak" <<'PERL' &
use strict;
use warnings;

my ($most, $largest, $gap, $last) = (0, 0, 0, time);
my $parent = getppid;
my @servers = map { open my $file, '<', $_ or die "$_: $!"; <$file> + 0 } @ARGV;

# the first line that matches in a file of /proc, or nothing if the process has ended
sub first_match
{
	my ($path, $pattern) = @_;

	open my $file, '<', "/proc/$path" or return;
	while (my $line = readline $file)
	{
		return $1 if $line =~ $pattern;
	}
	return;
}

$SIG{TERM} = sub { printf "%.0f %.0f %.2f\n", $most / 1024, $largest / 1024, $gap; exit };
# the script may end by an error
while (getppid == $parent)
{
	for my $server (@servers)
	{
		my $sum = 0;

		for my $pid (split ' ', first_match("$server/task/$server/children", qr/(.*)/) // '')
		{
			my $kb = first_match("$pid/status", qr/^RssAnon:\s*(\d+)/) // 0;

			$sum += $kb;
			$largest = $kb if $kb > $largest;
		}
		$most = $sum if $sum > $most;
	}
	my $now = time;
	$gap = $now - $last if $now - $last > $gap;
	$last = $now;
	sleep 0.05;
}
PERL
  local sampler=$!
  "$@"
  kill "$sampler"
  wait "$sampler"
  read -r memory process gap <"$SCRATCH/peak"
}

# latencies FILE WHERE...: "median p99" in ms of a pgbench script there.
latencies()
{
  local file=$1
  shift
  rm -f "$SCRATCH"/latency.*
  env "$@" pgbench -n -M prepared -f "$file" -t "$searches" --random-seed=5 -l --log-prefix="$SCRATCH/latency" >"$SCRATCH/log" 2>&1
  awk '{ print $3 / 1000 }' "$SCRATCH"/latency.* | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[int(NR * 0.99)] }'
}

# insert_rate WHERE...: single-row inserts a second of one session.
insert_rate()
{
  env "$@" pgbench -n -M prepared -f "$SCRATCH/insert.sql" -t "$inserts" --random-seed=6 2>/dev/null |
    awk '/^tps/ { printf "%.0f\n", $3 }'
}

# --- one server

# One row in ten repeats an earlier one in three bits.
fps="SELECT i AS id, (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 5, 1) # (7::bigint << (i % 60))
  ELSE hashint8extended(i, 1) END)::simhash64 AS fp FROM generate_series(1, $rows) AS i"
sql -c "CREATE TABLE fps AS $fps" -c 'CREATE INDEX fps_fp ON fps USING hamming (fp)' -c 'VACUUM ANALYZE fps'
for k in 3 8; do
  cat >"$SCRATCH/search$k.sql" <<SQL
\set i random(1, $rows)
SELECT count(id) FROM fps WHERE simhash_within(fp, hashint8extended(:i, 1)::simhash64, $k);
SQL
done
cat >"$SCRATCH/insert.sql" <<SQL
\set i random(1, 1000000000)
INSERT INTO fps VALUES (1000000000 + :i, hashint8extended(:i, 2)::simhash64);
SQL

# seconds "SQL": of one run of it, on one server.
seconds()
{
  sql -c '\timing on' -c "$1" | awk '/^Time:/ { t = $2 } END { printf "%.2f\n", t / 1000 }'
}

here=()
mb_here=()
mapfile -t pid_files < <(sql -c 'SHOW data_directory' | sed 's,$,/postmaster.pid,')
for k in 3 8; do
  with_peak eval "here[$k]=\$(seconds \"CREATE TABLE pairs_$k AS SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance FROM fps AS a JOIN fps AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k)\")"
  mb_here[k]=$process
  echo "one server, k = $k: join ${here[$k]} s, largest process $process MB (samples at most $gap s apart); search $(latencies "$SCRATCH/search$k.sql" A=) ms (median, 99 %)"
done
plain_sum=$(sql -c "SELECT count(*), sum(a), sum(b), sum(distance) FROM pairs_3" -c "SELECT count(*), sum(a), sum(b), sum(distance) FROM pairs_8")
echo "one server: $(insert_rate A=) inserts a second"

# --- on workers

for ((n = 0; n <= most_workers; n++)); do
  start_node "$n"
done
node 0 -c "SELECT citus_set_coordinator_host('localhost', $base)" >/dev/null
node 0 -f "$ROOT/test/demo/citus_pairs.sql"
added=0
for workers in ${WORKERS:-1 2 4}; do
  while [ "$added" -lt "$workers" ]; do
    added=$((added + 1))
    node 0 -c "SELECT citus_add_node('localhost', $((base + added)))" >/dev/null
  done
  pid_files=()
  for ((n = 1; n <= workers; n++)); do
    pid_files+=("$SCRATCH/node$n/postmaster.pid")
  done
  node 0 <<SQL >/dev/null
SET client_min_messages = error;
DROP TABLE IF EXISTS fps;
CREATE TABLE fps (id bigint, fp simhash64);
SELECT create_distributed_table('fps', 'id', shard_count => 4, colocate_with => 'none');
INSERT INTO fps $fps;
CREATE INDEX fps_fp ON fps USING hamming (fp);
VACUUM ANALYZE fps;
SQL
  there=(PGHOST=localhost "PGPORT=$base" PGUSER=postgres PGDATABASE=city)
  sums=
  for k in 3 8; do
    with_peak node 0 -c "CALL simdup_citus_pairs('fps', 'id', 'fp', $k, 'pairs')" 2>"$SCRATCH/times"
    sent=$(awk '/send all/ { s += $(NF - 1) } END { print s }' "$SCRATCH/times")
    joined=$(awk '/join all/ { print $(NF - 1) }' "$SCRATCH/times")
    sums+=$(node 0 -c 'SELECT count(*), sum(a), sum(b), sum(distance) FROM pairs')$'\n'
    copies=$(sql -F ' ' -c "SELECT round(sum(n) / $sample.0, 2), round(max(n) / $sample.0, 3)
      FROM (SELECT count(*) AS n FROM fps, unnest(simhash_pieces(fp, $k, $workers)) AS piece WHERE id <= $sample GROUP BY piece) AS p")
    echo "$workers workers, k = $k: sent in $sent s, joined in $joined s; $copies (copies a row, those of the fullest worker); search $(latencies "$SCRATCH/search$k.sql" "${there[@]}") ms (median, 99 %)"
    echo "$workers workers, k = $k: the fullest worker $memory MB, its largest process $process MB (samples at most $gap s apart)"
    target=
    # with few rows, the fixed cost of a call is most of it
    [ "$k" != 3 ] || [ "$rows" -lt 1000000 ] || target='<= 4'
    ratio_row "k = $k, $workers workers, MB : share of the join" "$rows" "$process" "$(awk "BEGIN { printf \"%.0f\", ${mb_here[$k]} * ${copies##* } }")"
    ratio_row "k = $k, $workers workers, pairs (s) : join" "$rows" "$(awk "BEGIN { print $sent + $joined }")" "${here[$k]}" "$target"
  done
  [ "$sums" = "$plain_sum"$'\n' ] || { echo "the pairs on $workers workers are not those of one server" >&2; exit 1; }
  echo "$workers workers: $(insert_rate "${there[@]}") inserts a second"
done
for ((n = 0; n <= most_workers; n++)); do
  as_owner pg_ctl stop -s -m fast -D "$SCRATCH/node$n"
done

# citus: tables that Citus distributes over workers: the script, all pairs on the
# workers, a shard that is moved, the statements of the pages, and estimates. Workers
# are killed, added and removed.
#
# It needs a server with Citus. test/matrix builds one where it can.
#
# Runs in make test-all only.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = 'test/demo/citus.sql';
my $has_citus = -e `pg_config --sharedir` =~ s/\n//r . '/extension/citus.control';

# What psql says on both streams, one line each.
sub run_script
{
	my ($node, $db) = @_;
	my $output = '';

	IPC::Run::run([ 'psql', '-X', '-d', $node->connstr($db), '-f', $script ], '>', \$output, '2>&1');
	return split /\n/, $output;
}

sub server
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	# a shard is moved by logical replication
	$node->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
	# Citus reaches even its own server by TCP
	$node->append_conf('postgresql.conf', <<'CONF') if $has_citus;
shared_preload_libraries = 'citus'
listen_addresses = 'localhost'
citus.enable_statistics_collection = off
citus.recover_2pc_interval = 1s
max_connections = 100
jit = off
CONF
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE city');
	$node->safe_psql('city', 'CREATE EXTENSION citus') if $has_citus;
	return $node;
}

my $coordinator = server('coordinator');
$coordinator->safe_psql('city', 'CREATE EXTENSION simdup');
if (!$has_citus)
{
	is_deeply([ run_script($coordinator, 'city') ], ['skipped: this database has no Citus (CREATE EXTENSION citus)'], 'without Citus: skipped');
	$coordinator->stop;
	# nothing follows a test that is skipped
	SKIP: { skip 'this server has no Citus', 1; }
	done_testing();
	exit;
}

my @workers = map { server("worker$_") } 1 .. 4;
$coordinator->safe_psql('city', "SELECT citus_set_coordinator_host('localhost', " . $coordinator->port . ')');

sub sql
{
	return $coordinator->safe_psql('city', $_[0]);
}

# --- all pairs: on 1, 2 and 4 workers those of one server

my $text = slurp_file('test/demo/citus_pairs.sql');
sql($text);
sql(<<'SQL');
CREATE TABLE origin (kind text, id bigint, fp simhash64);
INSERT INTO origin SELECT 'uniform', i, (CASE WHEN i % 10 = 0 THEN hashint8extended(i - 5, 1) # (7::bigint << (i % 60)) ELSE hashint8extended(i, 1) END)::simhash64
FROM generate_series(1, 5000) i;
INSERT INTO origin SELECT 'clustered', 10000 + i, (hashint8extended(i % 40, 0)
  # (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)) # (1::bigint << (i / 23 % 64)))::simhash64
FROM generate_series(1, 1200) i;
INSERT INTO origin SELECT 'clustered', 20000 + i, NULLIF(hashint8extended(i % 30, 5), hashint8extended(7, 5))::simhash64 FROM generate_series(1, 300) i;
CREATE TABLE letter (id bigint, title text, district text, category text, received_at timestamp, content text);
\copy letter FROM 'test/data/petitions.csv' (FORMAT csv, HEADER)
INSERT INTO origin SELECT 'petitions', 30000 + id, minhash64(content) FROM letter;
SQL

sub add_workers
{
	my ($from, $to) = @_;

	sql("SELECT citus_add_node('localhost', " . $workers[ $_ - 1 ]->port . ')') for $from .. $to;
	is(sql('SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards'), $to, "$to workers");
	is($workers[ $to - 1 ]->safe_psql('city', "SELECT count(*) FROM pg_extension WHERE extname = 'simdup'"), '1', '... have the extension of the coordinator');
	return;
}

# the table that all pairs are of, on the workers that there are
sub distribute
{
	sql("DROP TABLE IF EXISTS petition; CREATE TABLE petition (kind text, id bigint PRIMARY KEY, fp simhash64);
		SELECT create_distributed_table('petition', 'id', shard_count => 6, colocate_with => 'none');
		INSERT INTO petition SELECT * FROM origin;");
	return;
}

# a table with itself, where rows are within k
sub near
{
	my ($table, $k) = @_;

	return "$table AS a JOIN $table AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k)";
}

sql('CREATE TABLE distinct_fp AS SELECT min(id) AS id, fp FROM origin WHERE fp IS NOT NULL GROUP BY fp');
my ($pairs_here, $distinct_here) = map {
	my $table = $_;
	+{ map { $_ => sql('SELECT a.id, b.id, a.fp <~> b.fp FROM ' . near($table, $_) . ' ORDER BY 1, 2') } 0, 3, 8 }
} 'origin', 'distinct_fp';

sub pairs_of_workers
{
	my ($k, $more) = (@_, '');

	sql("CALL simdup_citus_pairs('petition', 'id', 'fp', $k, 'pairs'$more)");
	is(sql('SELECT a, b, distance FROM pairs ORDER BY a, b'), $distinct_here->{$k}, "pairs of distinct fingerprints within $k");
	return sql('SELECT a, b, distance FROM pairs_all ORDER BY a, b');
}

sub same_pairs
{
	my ($workers) = @_;

	distribute();
	is(pairs_of_workers($_), $pairs_here->{$_}, "$workers workers: all pairs within $_") for sort keys %$pairs_here;
	is(pairs_of_workers(3, ', pieces => 7'), $pairs_here->{3}, '... in more pieces than workers');
	is(sql("SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'pairs'::regclass"), $workers, '... which are on all workers');
	return;
}

cmp_ok(() = $pairs_here->{8} =~ /^$_/mg, '>', 50, 'pairs of each kind') for '\d{1,4}\|', '1\d{4}\|', '2\d{4}\|', '3\d{4}\|';
add_workers(1, 1);
same_pairs(1);
add_workers(2, 2);
same_pairs(2);
is(sql('SELECT key, fp FROM pairs_keys ORDER BY key'), sql('SELECT id, fp FROM origin WHERE fp IS NOT NULL ORDER BY id'), 'keys and fingerprints');
is(sql("SELECT count(*) FROM (SELECT a, simdup_component(a, b) OVER () FROM pairs_all
	EXCEPT SELECT id, simdup_cluster(id, fp, 3, 'connected') OVER (ORDER BY id) FROM origin) AS d"), '0', 'their components are the clusters');

sub said
{
	my ($statement) = @_;
	my (undef, undef, $said) = $coordinator->psql('city', $statement);

	return $said;
}

sql('CREATE VIEW petition_view AS TABLE petition; CREATE TABLE beside_keys (a int); CREATE TABLE everywhere AS TABLE origin');
sql("SELECT create_reference_table('everywhere')");
# a key that is unique in each shard only
sql('CREATE TABLE twice (part int, id bigint, fp simhash64, PRIMARY KEY (part, id))');
sql("SELECT create_distributed_table('twice', 'part'); SET citus.enable_ddl_propagation = off; CREATE UNIQUE INDEX ON twice (id)");
sql('INSERT INTO twice SELECT i, i % 40, hashint8extended(i, 1)::simhash64 FROM generate_series(1, 50) i');
my @refused = (
	[ "'origin', 'id', 'fp', 3, 'other'", qr/public\.origin is not a distributed table/ ],
	[ "'everywhere', 'id', 'fp', 3, 'other'", qr/public\.everywhere is not a distributed table/ ],
	[ "'petition_view', 'id', 'fp', 3, 'other'", qr/public\.petition_view is not a distributed table/ ],
	[ "'petition', 'no', 'fp', 3, 'other'", qr/column "no" of relation public\.petition does not exist/ ],
	[ "'petition', 'kind', 'fp', 3, 'other'", qr/column "kind" of public\.petition is not unique\nDETAIL:  Key \(kind\)=\(\w+\) is duplicated/ ],
	[ "'twice', 'id', 'fp', 3, 'other'", qr/column "id" of public\.twice is not unique/ ],
	[ "'petition', 'id', 'fp', 3, 'origin'", qr/relation "origin" already exists/ ],
	[ "'petition', 'id', 'fp', 3, 'beside'", qr/relation "beside" already exists/ ],
	[ "'petition', 'id', 'kind', 3, 'other'", qr/could not send all rows\nDETAIL:  localhost:\d+: ERROR:  invalid input syntax for type simhash64: "\w+"/ ]);
like(said("CALL simdup_citus_pairs($_->[0])"), $_->[1], "simdup_citus_pairs($_->[0])") for @refused;
sql('DROP VIEW petition_view');
for my $name ('100% "of" %s $1', "n\xc3\xa4me " x 9)
{
	my $quoted = $name =~ s/"/""/gr;

	sql("CALL simdup_citus_pairs('petition', 'id', 'fp', 3, '$name')") for 1 .. 2;
	is(sql("SELECT count(*) FROM \"$quoted\""), sql('SELECT count(*) FROM pairs'), "pairs of any name: $name");
}

# --- estimates: Citus corrects the rows of a path, not those of its relation

sql("CREATE TABLE essay (id bigint PRIMARY KEY, content text); SELECT create_distributed_table('essay', 'id')");
sql("INSERT INTO essay SELECT i, string_agg(md5((i * 40 + j)::text), ' ') FROM generate_series(1, 2000) i, generate_series(1, 60) j GROUP BY i");
like(sql('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) WITH x AS MATERIALIZED (SELECT id, content FROM essay)
	SELECT a.id, b.id FROM x AS a JOIN x AS b ON a.id < b.id AND simdup_resembles(a.content, b.content)'),
	qr/Hamming Join/, 'texts of an intermediate result are joined by fingerprints');

# --- the script, on two workers

for my $run ('', ', again')
{
	my @said = run_script($coordinator, 'city');

	for my $line (@said)
	{
		my ($ok, $what) = $line =~ /^(.*?) - (.*)/;

		is($ok, 'ok', ($what // "said: $line") . $run);
	}
	is($said[-1], 'ok - a table distributed by fingerprint', 'the script came to its end');
	cmp_ok(scalar(@said), '>', 25, '... and left nothing out');
}

# --- the statements of the pages, and a shard that is moved

sql('ALTER DATABASE city SET citus.enable_unsafe_triggers = on');
sql(<<'SQL');
CREATE SCHEMA page;
SET search_path = page, public;
CREATE TABLE petition (district text, id bigint NOT NULL, content text, duplicate bigint,
  fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED, PRIMARY KEY (district, id));
CREATE INDEX petition_fp ON petition USING hamming (fp);
SELECT create_distributed_table('petition', 'district');
SQL
for my $page ('doc/simdup-operations.md', 'doc/simdup-scaling.md')
{
	for my $fence (slurp_file($page) =~ /^```sql citus\n(.*?)^```/msg)
	{
		my ($first) = $fence =~ /(.*)/;

		sql("SET search_path = page, public; SET client_min_messages = warning;\n$fence");
		pass("$page: $first");
	}
}
sql(<<'SQL');
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON page.petition FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('duplicate', 'key => id');
SQL
my $add = "INSERT INTO page.petition (district, id, content) SELECT 'district ' || i % 20, i, md5((i % 20)::text) || md5((-i % 20)::text) FROM";
sql("$add generate_series(1, 40) i");
for my $mode ('block_writes', 'force_logical')
{
	my ($shard, $from, $to) = split /\|/, sql("SELECT shardid, s.nodeport, n.nodeport FROM citus_shards s, pg_dist_node n
		WHERE table_name = 'page.petition'::regclass AND n.shouldhaveshards AND n.nodeport <> s.nodeport ORDER BY 1, 3 LIMIT 1");

	sql("SELECT citus_move_shard_placement($shard, 'localhost', $from, 'localhost', $to, '$mode')");
	is(sql("SELECT nodeport FROM citus_shards WHERE shardid = $shard"), $to, "$mode: a shard is moved");
	sql('DELETE FROM page.petition WHERE id > 20');
	sql("$add generate_series(21, 40) i");
	is(sql('SELECT count(duplicate) FROM page.petition WHERE id > 20'), '20', '... and its rows are flagged as before');
}
is( sql(<<'SQL'), '0', 'the index of each shard is checked');
SELECT count(*) FROM run_command_on_shards('page.petition', $$SELECT count(simdup_index_check(indexrelid)) FROM pg_index
  WHERE indrelid = '%s'::regclass AND indexrelid::regclass::text ~ 'petition_fp'$$) WHERE NOT success OR result <> '1'
SQL
sql('CREATE TABLE page.map (removed bigint PRIMARY KEY, kept bigint)');
like(said("SELECT * FROM $_"), qr/petition"? is a distributed table.*HINT/s, "$_ refuses it")
  for "simdup_index_check('page.petition_fp')", "simdup_index_stat('page.petition_fp')", "simdup_lock_arrivals('page.petition')",
  "simdup_removal('page.petition', 'page.map')";
sql(<<'SQL');
SELECT create_reference_table('page.map');
INSERT INTO page.map SELECT id, duplicate FROM page.petition WHERE duplicate IS NOT NULL;
DELETE FROM page.petition USING page.map WHERE id = removed;
CREATE TABLE page.arrived (id bigint PRIMARY KEY, fp simhash64);
SELECT create_reference_table('page.arrived');
INSERT INTO page.arrived SELECT id + 100, fp FROM page.petition;
INSERT INTO page.arrived VALUES (0, '0123456789abcdef');
SQL
is(sql('SELECT count(*) FROM page.petition'), '20', 'rows of a map, which is a reference table, are removed');
my $repeats = 'SELECT n.id FROM page.arrived AS n JOIN page.petition AS o ON simhash_within(o.fp, n.fp, 0)';
is(sql("SELECT count(DISTINCT id) FROM ($repeats) AS s"), '20', 'new rows of a reference table that repeat an old one');
is(sql("SELECT id FROM page.arrived EXCEPT $repeats"), '0', '... and those that do not');

# --- a schema that one worker has

sql(<<'SQL');
SET citus.enable_schema_based_sharding = on;
CREATE SCHEMA castle;
CREATE TABLE castle.letter (id bigint PRIMARY KEY, content text, repeats bigint);
CREATE INDEX letter_near ON castle.letter USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON castle.letter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id');
INSERT INTO castle.letter SELECT i, 'The lamp in our lane has been out since Monday ' || i % 2 FROM generate_series(1, 10) i;
CREATE TABLE castle.entry (id bigint PRIMARY KEY, fp simhash64, CONSTRAINT alone EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=));
INSERT INTO castle.entry VALUES (1, '0123456789abcdef');
SQL
cmp_ok(sql('SELECT count(repeats) FROM castle.letter'), '>=', 8, 'a distributed schema: letters are flagged');
like(sql('EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM castle.letter a JOIN castle.letter b ON a.id < b.id AND simdup_resembles(a.content, b.content)'),
	qr/simdup_resembles.*letter_\d+/s, '... and joined on their worker');
like(said("INSERT INTO castle.entry VALUES (2, '0123456789abcdee')"), qr/violates exclusion constraint "alone_/, '... and EXCLUDE keeps near rows out');
sql('DROP SCHEMA castle CASCADE; DROP SCHEMA page CASCADE');

# --- a worker is killed

my $victim = $workers[1];

# Start a statement on the coordinator; once $what runs on the victim, kill
# it. Return the statement's output.
sub killed_during
{
	my ($statement, $what, $expected) = @_;
	my ($out, $err) = ('', '');
	my $client = IPC::Run::start([ 'psql', '-qXAt', '-d', $coordinator->connstr('city'), '-c', $statement ], '<', \'', '>', \$out, '2>', \$err);

	$victim->poll_query_until('city', "SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query ~ '$what'")
	  or die "$what never ran on the worker";
	$victim->stop('immediate');
	$client->finish;
	$victim->start;
	is($out, '', "killed during $what: no result");
	like($err, $expected // qr/ERROR/, '... but an error');
	return;
}

# a search that takes its time on each shard
sql("CREATE FUNCTION slow(fp simhash64) RETURNS boolean LANGUAGE plpgsql COST 100000 AS 'BEGIN PERFORM pg_sleep(0.05); RETURN true; END'");
my $search = "SELECT count(*) FROM petition WHERE simhash_within(fp, '0123456789abcdef', 64)";
my $all = sql($search);
killed_during("$search AND slow(fp)", 'slow');
is(sql($search), $all, '... and the next search is complete');

killed_during("INSERT INTO petition SELECT kind, id + 100000, fp FROM petition WHERE slow(fp)", 'slow');
is(sql('SELECT count(*) FROM petition'), sql('SELECT count(*) FROM origin'), '... and no row of it is there');
is(sql("INSERT INTO petition SELECT kind, id + 100000, fp FROM petition WHERE kind = 'uniform'; SELECT count(*) FROM petition WHERE id > 100000"),
	'5000', '... and again, it succeeds');
sql('DELETE FROM petition WHERE id > 100000; DROP VIEW pairs_all; DROP TABLE pairs, pairs_keys');

# Sending waits for a lock on one of the victim's shards. Many near rows take longer
# than the look at what runs.
my $shard = sql("SELECT min(shard_name) FROM citus_shards WHERE table_name = 'petition'::regclass AND nodeport = " . $victim->port);
my $held = "SELECT count(*) > 0 FROM pg_locks WHERE relation = '$shard'::regclass AND mode = 'AccessExclusiveLock' AND granted";
sql("INSERT INTO petition SELECT 'many', 1000000 + i, (hashint8extended(i % 3, 9) # (i / 3))::simhash64 FROM generate_series(1, 4800) i");
my $many = sql('CREATE TEMP TABLE here AS SELECT id, fp FROM petition; SELECT count(*), sum(a.id # b.id) FROM ' . near('here', 3));
for my $phase ('simdup_key', 'simhash_within')
{
	my $locker;

	if ($phase eq 'simdup_key')
	{
		$locker = IPC::Run::start([ 'psql', '-qXAt', '-d', $victim->connstr('city'),
			'-c', 'SET citus.enable_manual_changes_to_shards = on', '-c', "BEGIN; LOCK TABLE $shard IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1000)" ], '&>', \my $ended);
		$victim->poll_query_until('city', $held) or die 'no lock';
	}
	killed_during("CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'pairs')", "INSERT INTO .*$phase",
		qr/could not (send|join) all (rows|pieces)\nDETAIL:.*localhost:${\$victim->port}/s);
	$locker->finish if $locker;
	is(sql("SELECT to_regclass('pairs') IS NULL"), 't', '... and no table of pairs');
	sql("CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'pairs')");
	is(sql('SELECT count(*), sum(a # b) FROM pairs_all'), $many, '... and again, it succeeds');
	is(sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'pairs\\_simdup%'"), '0', '... and nothing else is left');
	sql('DROP VIEW pairs_all; DROP TABLE pairs, pairs_keys');
}

# --- four, and one less

add_workers(3, 4);
same_pairs(4);
sql("SELECT citus_drain_node('localhost', ${\$workers[3]->port}, 'block_writes')");
sql("SELECT citus_remove_node('localhost', ${\$workers[3]->port})");
is(pairs_of_workers(3), $pairs_here->{3}, 'a node is removed: all pairs');
is(sql("SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'pairs'::regclass"), '3', '... on the others');

$_->stop for $coordinator, @workers;
done_testing();

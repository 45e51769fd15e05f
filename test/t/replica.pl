# replica: standbys under load answer like their primary, through conflicts,
# crashes and promotion; subscribers keep fingerprints and triggers of their own.
#
# Depends on the server's internals.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# Letter n: forty words, all but one those of the other letters of its group.
# Searches of each kind, each by an index of its own; they search for letter n
# and its fingerprint.
my $schema = <<'SQL';
CREATE EXTENSION simdup;
CREATE FUNCTION letter(n int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT string_agg('w' || hashint8extended(n % 200 * 64 + j + CASE WHEN j = n % 41 THEN 99999 * n ELSE 0 END, 0), ' ' ORDER BY j)
  FROM generate_series(1, 40) j $$;

CREATE TABLE petition (id int PRIMARY KEY, content text, place text, fp simhash64, dup int);
CREATE INDEX petition_fp ON petition USING hamming (fp);
CREATE INDEX petition_blocks ON petition USING gin (simhash_blocks(fp, 4)) WITH (fastupdate = off);
CREATE INDEX petition_bands ON petition USING gin (minhash_bands(minhash_signature(content, 64), 16));
CREATE INDEX petition_row ON petition USING hamming (simhash_row(content, ARRAY[place]));
CREATE INDEX petition_btree ON petition (fp);
CREATE INDEX petition_hash ON petition USING hash (fp);
CREATE TABLE petition_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION fingerprint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.fp := simhash(NEW.content);
  RETURN NEW;
END $$;
CREATE TRIGGER a_fp BEFORE INSERT OR UPDATE ON petition FOR EACH ROW EXECUTE FUNCTION fingerprint();
CREATE TRIGGER b_flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'index => petition_fp');
CREATE TRIGGER c_log AFTER INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('petition_log', 'index => petition_fp');

CREATE TABLE entry (id serial PRIMARY KEY, fp simhash64);
CREATE INDEX entry_fp ON entry USING hamming (fp);
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON entry FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');

CREATE FUNCTION write(n int, pick int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pick < 6 THEN
    INSERT INTO petition (id, content, place) VALUES (n, letter(n), 'p' || n % 7)
    ON CONFLICT (id) DO UPDATE SET content = letter(n + 1000 * pick);
  ELSIF pick < 9 THEN
    DELETE FROM petition WHERE id = n;
  ELSE
    INSERT INTO entry (fp) VALUES (simhash(letter(n)));
  END IF;
EXCEPTION WHEN exclusion_violation THEN NULL;
END $$;

CREATE FUNCTION conditions(n int) RETURNS TABLE (index text, condition text) LANGUAGE sql AS $$
  SELECT i, replace(replace(c, 'FP', quote_literal(simhash(letter(n)))), 'LETTER', quote_literal(letter(n)))
  FROM (VALUES
    ('petition_fp', 'fp <@ simhash_ball(FP, 8)'),
    ('petition_fp', 'simhash_within(fp, FP, 3)'),
    ('petition_fp', 'simhash_within(FP, fp, 11) AND dup IS NOT NULL'),
    ('petition_blocks', 'simhash_blocks(fp, 4) && simhash_blocks(FP, 4) AND fp <~> FP <= 3'),
    ('petition_bands', 'minhash_bands(minhash_signature(content, 64), 16) && minhash_bands(minhash_signature(LETTER, 64), 16)'),
    ('petition_row', $q$simhash_row(content, ARRAY[place]) <@ simhash_ball(simhash_row(LETTER, ARRAY['p1']), 8)$q$),
    ('petition_btree', $q$fp BETWEEN FP AND (FP::simhash64::bigint | (1::bigint << 56) - 1)::simhash64$q$),
    ('petition_hash', 'fp = FP')) v(i, c) $$;

CREATE FUNCTION by_index(yes boolean) RETURNS void LANGUAGE sql AS $$
  SELECT set_config(name, CASE WHEN (name = 'enable_seqscan') = yes THEN 'off' ELSE 'on' END, true)
  FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_indexscan', 'enable_indexonlyscan']) name $$;

CREATE FUNCTION ids(condition text, yes boolean) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE found int[];
BEGIN
  PERFORM by_index(yes);
  EXECUTE 'SELECT array_agg(id ORDER BY id) FROM petition WHERE ' || condition INTO found;
  RETURN found;
END $$;

-- The conditions that index and scan answer differently, of one snapshot.
CREATE FUNCTION differences(n int) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(condition, E'\n') FROM conditions(n) WHERE ids(condition, true) IS DISTINCT FROM ids(condition, false) $$;
-- All that is found, by index.
CREATE FUNCTION answers() RETURNS TABLE (n int, condition text, found int[]) LANGUAGE sql AS $$
  SELECT n, condition, ids(condition, true) FROM generate_series(1, 200, 20) n, conditions(n) $$;
-- The plan of each: whether it goes by the index it is for.
CREATE FUNCTION unused(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE c record; line text; plan text;
BEGIN
  PERFORM by_index(true);
  FOR c IN SELECT * FROM conditions(n) LOOP
    plan := '';
    FOR line IN EXECUTE 'EXPLAIN SELECT id FROM petition WHERE ' || c.condition LOOP plan := plan || line; END LOOP;
    IF plan !~ ' (on|using) petition_' THEN RETURN NEXT c.condition; END IF;
  END LOOP;
END $$;
SQL

my $tempdir = PostgreSQL::Test::Utils::tempdir();
my $conflicts = 0;

# The answer of a query, whose statements all see one snapshot. Replay cancels a
# query if the primary removed rows that the query sees: then ask again.
sub ask
{
	my ($node, $query) = @_;

	for (1 .. 1000)
	{
		my ($status, $stdout, $stderr) =
		  $node->psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ;\n$query;\nCOMMIT", on_error_stop => 1);
		return $stdout if $status == 0;
		die "$query: $stderr" if $stderr !~ /conflict with recovery/;
		$conflicts++;
		sleep 0.05;
	}
	die "always cancelled: $query";
}

# A file of this text.
sub file_of
{
	my ($name, $text) = @_;
	my $path = "$tempdir/$name";
	unlink $path;
	append_to_file($path, $text);
	return $path;
}

# Four writers, and one that vacuums, until they are stopped or the server is.
sub start_load
{
	my ($node) = @_;
	my $write = file_of('write.sql', <<'SQL');
\set n random(1, 2000)
\set pick random(1, 10)
SELECT write(:n, :pick);
SQL
	my $vacuum = file_of('vacuum.sql', <<'SQL');
VACUUM petition;
\sleep 200 ms
SQL
	my @pgbench = ('pgbench', '-n', '-h', $node->host, '-p', $node->port, '-T', 300);
	my $out = '';

	return map { IPC::Run::start([ @pgbench, @$_, 'postgres' ], '<', \undef, '>', \$out, '2>', \$out) }
	  [ '-c', 4, '-R', 400, '-f', $write ],
	  [ '-c', 1, '-f', $vacuum ];
}

sub stop_load
{
	$_->kill_kill for @_;
	return;
}

# Searches of some letters, while rows come and go.
sub agrees
{
	my ($node, $name, $from, $to) = @_;
	my @differ = grep { $_ ne '' } map { ask($node, "SELECT differences($_)") } $from .. $to;
	is("@differ", '', "$name: index and scan agree in each snapshot");
	return;
}

# All rows of a server, and its answers.
sub state_of
{
	my ($node) = @_;
	return ask($node, <<'SQL');
SELECT md5(string_agg(p::text, ',' ORDER BY id)) FROM petition p;
SELECT md5(string_agg((new_key, old_key, distance)::text, ',' ORDER BY new_key, old_key, logged_at)) FROM petition_log;
SELECT md5(string_agg(e::text, ',' ORDER BY id)) FROM entry e;
SELECT md5(string_agg(a::text, ',' ORDER BY n, condition)) FROM answers() a
SQL
}

# Along a line of standbys, each has replayed the writes of the first node.
sub caught_up
{
	my @line = @_;
	my $lsn = $line[0]->lsn('insert');
	$line[$_ - 1]->wait_for_catchup($line[$_], 'replay', $lsn) for 1 .. $#line;
	return;
}

sub sqlstate_of
{
	my ($node, $query) = @_;
	my (undef, undef, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");
	return $stderr =~ /ERROR:  (\w{5}):/ ? $1 : "none: $stderr";
}

# --- a primary, its standby and the standby's standby

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->append_conf('postgresql.conf', "jit = off\nwal_receiver_status_interval = 1\nmax_wal_size = 1GB\n");
$primary->start;
$primary->safe_psql('postgres', $schema . <<'SQL');
SELECT write(n, 1) FROM generate_series(1, 1000) n;
SELECT write(n, 10) FROM generate_series(1, 100) n;
SQL
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = '10s'");
$standby->start;
caught_up($primary, $standby);
$standby->backup('copy');
my $cascaded = PostgreSQL::Test::Cluster->new('cascaded');
$cascaded->init_from_backup($standby, 'copy', has_streaming => 1);
$cascaded->start;

for my $node ($primary, $standby)
{
	is($node->safe_psql('postgres', 'SELECT unused(7)'), '', $node->name . ': every search goes by an index');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM answers() WHERE found IS NULL'),
		'0', $node->name . ': every search finds something');
}

# --- under load

my @load = start_load($primary);
agrees($standby, 'standby under load, with feedback', 1, 4);
$primary->safe_psql('postgres', <<'SQL');
CREATE INDEX CONCURRENTLY petition_later ON petition USING hamming (fp);
SQL
$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY petition_fp');
$primary->safe_psql('postgres', 'DROP INDEX petition_later');
agrees($cascaded, "standby's standby, after concurrent builds", 5, 6);

Hamming::kill_server($standby);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = '100ms'");
$standby->start;
agrees($standby, 'standby after a crash, without feedback', 7, 10);
agrees($cascaded, "standby's standby, after its crash", 11, 12);
stop_load(@load);
note("queries cancelled by replay and asked again: $conflicts");

caught_up($primary, $standby, $cascaded);
my $state = state_of($primary);
is(state_of($_), $state, $_->name . ' has and answers what the primary has and answers') for $standby, $cascaded;

# --- a query that replay has to cancel, and the same again

$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = 0');
$standby->reload;
my $reader = file_of('reader.sql', <<'SQL');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT by_index(true);
DECLARE c CURSOR FOR SELECT id FROM petition WHERE simhash_within(fp, simhash(letter(7)), 64);
FETCH 1 FROM c;
SELECT 'ready' FROM pg_sleep(0);
SELECT pg_sleep(60);
FETCH ALL FROM c;
SQL
my ($said, $errors) = ('', '');
my $session = IPC::Run::start([ 'psql', '-qXAt', '-d', $standby->connstr('postgres'), '-f', $reader ],
	'<', \undef, '>', \$said, '2>', \$errors);
$session->pump until $said =~ /ready/;
$primary->safe_psql('postgres', 'DELETE FROM petition WHERE id % 3 = 0; VACUUM petition');
caught_up($primary, $standby);
$session->finish;
like($errors, qr/conflict with recovery/, 'a search whose rows are vacuumed on the primary is cancelled');
agrees($standby, 'asked again', 7, 7);
is(state_of($standby), state_of($primary), 'and answers like the primary');

# --- whole tables, read only, with files for what memory does not hold; joins: join_limits.pl

$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE large AS
SELECT i AS id, (hashint8extended(i % 90000, 1) # (1::bigint << (i / 90000)))::simhash64 AS fp,
  CASE WHEN i <= 500 THEN letter(i) END AS content
FROM generate_series(1, 100000) i;
CREATE VIEW few AS SELECT id AS key, fp FROM large WHERE id < 5000;
SQL
caught_up($primary, $standby);
my $rows = 'SELECT id, fp FROM large';
for my $batch (
	"SELECT count(*), sum(hashint8(id) # hashint8(cluster)) FROM (SELECT id, simdup_cluster(id, fp, 3, 'connected') OVER (ORDER BY id) AS cluster FROM large) AS c",
	"SELECT count(*), sum(hashint8(id) # hashint8(cluster)) FROM (SELECT id, simdup_cluster(id, fp, 3) OVER (PARTITION BY id % 2 ORDER BY id) AS cluster FROM large) AS c",
	"SELECT count(*), sum(hashint8(c)) FROM (SELECT simdup_component(id, id % 90000) OVER () AS c FROM large) AS c",
	"SELECT * FROM simdup_tune('few')",
	"SELECT simdup_report('few', 3) - 'made'",
	"SELECT md5(regexp_replace(simdup_report_html('few', 'title', 3), '\"made\": {.*?}', ''))",
	"SELECT count(*), sum(documents) FROM (SELECT term_idf(content) AS terms FROM large WHERE id <= 300) AS a, unnest(terms)",
	"SELECT md5(imatch_lexicon(content)::text) FROM large WHERE id <= 300",
	"SELECT max(class) FROM (SELECT simdup_window(simdup_bitmap(content), 20) OVER (ORDER BY id) AS class FROM large WHERE id <= 500) w")
{
	my $query = "SET maintenance_work_mem = '1MB'; SET work_mem = '64kB'; $batch";
	my ($name) = $batch =~ /((?:simdup_(?!bitmap)|term_|imatch_)\w+)\(/;
	my $expected = $primary->safe_psql('postgres', $query);
	isnt($expected, '', "$name gives something");
	is($standby->safe_psql('postgres', $query), $expected, "$name: the standby's is the primary's");
}
cmp_ok($standby->safe_psql('postgres', q{SELECT temp_files FROM pg_stat_database WHERE datname = 'postgres'}),
	'>', 0, 'files were used');

# what writes is refused as any write is
is(sqlstate_of($standby, $_), '25006', "refused: $_")
  for "INSERT INTO entry (fp) VALUES ('0123456789abcdef')",
  "INSERT INTO petition (id, content) VALUES (-1, 'text')",
  "SELECT simdup_lock_arrivals('entry')";

# --- applied there when a commit returns

$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'\nsynchronous_commit = remote_apply");
$primary->reload;
# one that came before the setting may have to wait for the standby to be known
$primary->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication WHERE application_name = 'standby'})
  or die 'no synchronous standby';
my $missed = 0;
for my $n (3001 .. 3020)
{
	$primary->safe_psql('postgres', "SELECT write($n, 1)");
	$missed++ if ask($standby, "SELECT by_index(true); SELECT count(*) FROM petition WHERE simhash_within(fp, simhash(letter($n)), 0) AND id = $n") !~ /^1$/m;
}
is($missed, 0, 'with remote_apply a search on the standby finds what was just inserted');

# --- the primary is gone; the standby takes over, its own standby follows

@load = start_load($primary);
$primary->poll_query_until('postgres', 'SELECT max(id) > 150 FROM entry') or die 'no load';
Hamming::kill_server($primary);
stop_load(@load);
$standby->promote;

is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_index WHERE NOT indisvalid OR NOT indisready}),
	'0', 'promoted: every index is valid');
agrees($standby, 'promoted', 13, 16);
$standby->safe_psql('postgres', 'SELECT write(n, 1 + n % 6) FROM generate_series(4001, 4300) n');
agrees($standby, 'promoted, with new rows', 17, 18);

is( $standby->safe_psql('postgres', <<'SQL'),
INSERT INTO petition (id, content) VALUES (5001, letter(5001)), (5002, letter(5001) || ' more');
SELECT dup IS NOT NULL, fp = simhash(content) FROM petition WHERE id = 5002;
SELECT count(*) FROM petition_log WHERE new_key = 5002 AND old_key = 5001;
SQL
	"t|t\n1", 'promoted: the triggers fingerprint, flag and log');
is(sqlstate_of($standby, "INSERT INTO entry (fp) VALUES ('0123456789abcdef'); INSERT INTO entry (fp) VALUES ('0123456789abcdee')"),
	'23P01', 'promoted: the trigger refuses');
caught_up($standby, $cascaded);
is(state_of($cascaded), state_of($standby), 'its standby follows, and answers the same');
my $check = $standby->safe_psql('postgres', 'SHOW server_version_num') < 180000
  ? '' : 'SELECT gin_index_check(oid) FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = $$gin$$) AND relkind = $$i$$;';
is($standby->safe_psql('postgres', "CREATE EXTENSION amcheck; SELECT bt_index_check('petition_btree', true); $check") =~ s/\n//gr,
	'', 'amcheck finds nothing');
$cascaded->stop;

# --- logical replication, of the promoted server's writes

# A twin of an entry whose text changes, for subscribers that compute their own
# fingerprint, one that takes the publisher's, and one in another encoding.
my $long = join ' ', map { "w\xc3\xb6rd$_" } 1 .. 60;
$standby->safe_psql('postgres', <<SQL);
CREATE TABLE letters (id int PRIMARY KEY, body text, dup int, fp simhash64);
CREATE FUNCTION letter_fingerprint() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
  NEW.fp := simhash(NEW.body);
  RETURN NEW;
END \$\$;
CREATE TRIGGER a_fp BEFORE INSERT OR UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION letter_fingerprint();
CREATE TABLE strict (id int PRIMARY KEY, fp simhash64);
CREATE PUBLICATION bodies FOR TABLE letters (id, body, dup);
CREATE PUBLICATION prints FOR TABLE letters (id, fp);
CREATE PUBLICATION strict FOR TABLE strict;
INSERT INTO letters VALUES (1, '$long'), (2, 'none of it');
SQL
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# a worker for each subscription, and one that copies
$subscriber->append_conf('postgresql.conf', "max_logical_replication_workers = 8\nmax_worker_processes = 16");
$subscriber->start;
my $connection = $standby->connstr . ' dbname=postgres';

# own fingerprints, in a schema that apply's empty search_path does not have
$subscriber->safe_psql('postgres', <<SQL);
CREATE SCHEMA ext;
CREATE EXTENSION simdup SCHEMA ext;
CREATE TABLE letters (id int PRIMARY KEY, body text, dup int, fp ext.simhash64, always int,
  generated ext.simhash64 GENERATED ALWAYS AS (ext.simhash(body)) STORED);
CREATE TABLE found (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE INDEX ON letters USING hamming (fp);
CREATE INDEX ON letters USING hamming (generated);
CREATE FUNCTION fingerprint() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
  NEW.fp := ext.simhash(NEW.body);
  RETURN NEW;
END \$\$;
CREATE TRIGGER a_fp BEFORE INSERT OR UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION public.fingerprint();
CREATE TRIGGER b_flag BEFORE INSERT OR UPDATE ON letters FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_flag_trigger('dup', 'index => letters_fp_idx');
CREATE TRIGGER b_flag_always BEFORE INSERT OR UPDATE ON letters FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_flag_trigger('always', 'index => letters_fp_idx');
CREATE TRIGGER c_log AFTER INSERT OR UPDATE ON letters FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_log_trigger('found', 'index => letters_fp_idx');
ALTER TABLE letters ENABLE ALWAYS TRIGGER a_fp, ENABLE ALWAYS TRIGGER b_flag_always, ENABLE REPLICA TRIGGER c_log;
CREATE TABLE strict (id int PRIMARY KEY, fp ext.simhash64);
CREATE INDEX ON strict USING hamming (fp);
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON strict FOR EACH ROW
  EXECUTE FUNCTION ext.simdup_reject_trigger('max_distance => 3');
CREATE SUBSCRIPTION bodies CONNECTION '$connection' PUBLICATION bodies;
CREATE SUBSCRIPTION strict CONNECTION '$connection' PUBLICATION strict WITH (disable_on_error = true);
CREATE DATABASE prints;
CREATE DATABASE latin1 ENCODING 'LATIN1' TEMPLATE template0;
SQL
$subscriber->safe_psql('prints', <<SQL);
CREATE EXTENSION simdup;
CREATE TABLE letters (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON letters USING hamming (fp);
CREATE SUBSCRIPTION prints CONNECTION '$connection' PUBLICATION prints WITH (binary = true);
SQL
$subscriber->safe_psql('latin1', <<SQL);
CREATE EXTENSION simdup;
CREATE TABLE letters (id int PRIMARY KEY, body text, dup int, fp simhash64 GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE SUBSCRIPTION latin1 CONNECTION '$connection' PUBLICATION bodies;
SQL
my %database_of = (bodies => 'postgres', strict => 'postgres', prints => 'prints', latin1 => 'latin1');

sub applied
{
	$standby->wait_for_catchup($_) for @_;
	return;
}
for my $subscription (sort keys %database_of)
{
	$subscriber->wait_for_subscription_sync($standby, $subscription, $database_of{$subscription});
}

$standby->safe_psql('postgres', <<SQL);
INSERT INTO letters VALUES (3, '$long');
UPDATE letters SET body = '$long' WHERE id = 2;
UPDATE letters SET dup = 3 WHERE id = 2;
SQL
applied('bodies', 'prints', 'latin1');
is( $subscriber->safe_psql('postgres', <<'SQL'),
SELECT id, dup, always, fp OPERATOR(ext.=) ext.simhash(body), fp OPERATOR(ext.=) generated FROM letters ORDER BY id;
SQL
	"1|||t|t\n2|3|1|t|t\n3||1|t|t",
	'applied and first copied rows are fingerprinted, by trigger and generated, flagged by ENABLE ALWAYS and not otherwise');
is($subscriber->safe_psql('postgres', 'SELECT new_key, old_key, distance FROM found ORDER BY 1, 2'),
	"2|1|0\n2|3|0\n3|1|0", 'and logged by ENABLE REPLICA');
my $fingerprints = 'SELECT id, fp FROM letters ORDER BY id';
is($subscriber->safe_psql($_, $fingerprints), $standby->safe_psql('postgres', $fingerprints),
	"$_: the subscriber's fingerprints are the publisher's")
  for 'postgres', 'prints', 'latin1';
is( $subscriber->safe_psql('prints', 'SET enable_seqscan = off; SELECT count(*) FROM letters WHERE simhash_within(fp, (SELECT fp FROM letters WHERE id = 1), 3)'),
	'3', 'prints: found by index');

# reject: not asked by default; by ENABLE ALWAYS it stops the subscription
$standby->safe_psql('postgres', q{INSERT INTO strict VALUES (1, '0123456789abcdef'), (2, '0123456789abcdee')});
applied('strict');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM strict'), '2', 'reject: applied rows are not refused');
$subscriber->safe_psql('postgres', q{ALTER TABLE strict ENABLE ALWAYS TRIGGER reject});
$standby->safe_psql('postgres', q{INSERT INTO strict VALUES (3, '0123456789abcdec')});
$subscriber->poll_query_until('postgres', q{SELECT NOT subenabled FROM pg_subscription WHERE subname = 'strict'})
  or die 'the subscription goes on';
my $log = slurp_file($subscriber->logfile);
like($log, qr/repeats a row within distance 3, refused by "reject"/, 'reject, ENABLE ALWAYS: the near-duplicate stops the subscription');
my ($finished) = $log =~ /processing remote data for replication origin .* finished at ([0-9A-F]+\/[0-9A-F]+)/
  or die 'no LSN to skip';
$subscriber->safe_psql('postgres', "ALTER SUBSCRIPTION strict SKIP (lsn = '$finished'); ALTER SUBSCRIPTION strict ENABLE");
$standby->safe_psql('postgres', q{INSERT INTO strict VALUES (4, 'fedcba9876543210')});
applied('strict');
is($subscriber->safe_psql('postgres', 'SELECT id FROM strict ORDER BY id'), "1\n2\n4", 'skipped, it goes on');

$subscriber->stop;
$standby->stop;
done_testing();

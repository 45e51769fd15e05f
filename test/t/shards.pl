# shards: one table over three servers by postgres_fdw, against one server.
#
# The recipe is that of test/demo/shards. shard*.sql run on each shard, by the user
# city, and coordinator*.sql on the coordinator.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'this server has no postgres_fdw'
  unless -e `pg_config --sharedir` =~ s/\n//r . '/extension/postgres_fdw.control';

my @shards = map { server("shard$_") } 1 .. 3;
my $coordinator = server('coordinator');

sub server
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	# what runs on a shard, with its plan, goes to the log
	$node->append_conf('postgresql.conf', <<'CONF') if $name =~ /shard/;
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
CONF
	# each of some thousand remote queries would be compiled
	$node->append_conf('postgresql.conf', 'jit = off');
	$node->start;
	$node->safe_psql('postgres', 'CREATE ROLE city LOGIN');
	return $node;
}

# What psql answers, both streams, as in pages.pl.
sub answer
{
	my ($node, $db, $user, $script) = @_;
	my $output = '';

	local $ENV{PGCLIENTENCODING} = 'UTF8';
	IPC::Run::run([ 'psql', '-qX', '-U', $user, '-d', $node->connstr($db) ], '<', \$script, '>', \$output, '2>&1');
	return $output =~ s/[ \t]+$//mgr =~ s/\A\n+|\n+\z//gr;
}

sub current_user
{
	return $coordinator->safe_psql('postgres', 'SELECT current_user');
}

# --- the recipe

my $recipe = 'test/demo/shards';
my @fences = map { { where => $_->[0], pairs => $_->[1], sql => slurp_file("$recipe/$_->[0]" . ($_->[1] ? '_pairs' : '') . '.sql'), text => $_->[2] } } (
	[ 'shard', 0, '' ],
	[ 'coordinator', 0, <<'TEXT' ],
 id | stored_in  | duplicate
----+------------+-----------
  1 | petition_3 |
  2 | petition_1 |
  3 | petition_2 |
  4 | petition_1 |         2
(4 rows)
TEXT
	[ 'shard', 1, '' ],
	[ 'coordinator', 1, <<'TEXT' ]);
 a | b | distance
---+---+----------
 1 | 3 |        5
 2 | 4 |        8
(2 rows)
TEXT

# Run a script in that database of the servers it is for. Host names of shards
# become these servers' sockets.
sub run_fence
{
	my ($fence, $db, $sql) = @_;

	if ($fence->{where} eq 'shard')
	{
		return join '', map { answer($_, $db, 'city', $sql) } @shards;
	}
	$sql =~ s/host 'shard(\d)', dbname 'city'/"host '" . $shards[ $1 - 1 ]->host . "', port '" . $shards[ $1 - 1 ]->port . "', dbname '$db'"/ge;
	return answer($coordinator, $db, current_user(), $sql);
}

$_->safe_psql('postgres', 'CREATE DATABASE city OWNER city') for @shards, $coordinator;
for my $fence (@fences)
{
	my $output = run_fence($fence, 'city', $fence->{sql});
	my ($first) = $fence->{sql} =~ /^-- (.*)/;

	is($output, $fence->{text} =~ s/[ \t]+$//mgr =~ s/\A\n+|\n+\z//gr, "the recipe: $first");
}
is(run_fence($fences[3], 'city', $fences[3]->{sql}), $fences[3]->{text} =~ s/\n\z//r, 'the pairs again: once each');
$shards[1]->safe_psql('city', 'ALTER TABLE piece RENAME TO lost');
my $stopped = run_fence($fences[3], 'city', $fences[3]->{sql});
like($stopped, qr/relation "public.piece" does not exist/, 'a shard without its piece');
is(() = $stopped =~ /ERROR/g, 1, '... stops the script');
$shards[1]->safe_psql('city', 'ALTER TABLE lost RENAME TO piece');

# --- the petitions, each under its district, beside the same on one server

my $columns = 'id bigint NOT NULL, title text, district text, category text, received_at timestamp, content text, fp simhash64, duplicate bigint';
my $triggers = <<'SQL';
CREATE FUNCTION fingerprint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.fp := simhash(NEW.content);
  RETURN NEW;
END $$;
CREATE TRIGGER a_fingerprint BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION fingerprint();
SQL
my $copy = "\\copy letter (id, title, district, category, received_at, content) FROM 'test/data/petitions.csv' (FORMAT csv, HEADER)\n";

answer($_, 'city', 'city', "CREATE TABLE letter ($columns, PRIMARY KEY (id)); CREATE INDEX letter_fp ON letter USING hamming (fp);
	CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('duplicate', 'key => id', 'lock => true');") for @shards;
$coordinator->safe_psql('city', <<SQL);
CREATE TABLE letter ($columns) PARTITION BY LIST (district);
CREATE TABLE letter_0 PARTITION OF letter FOR VALUES IN ('临湖区', '清河新区', 'Mill Hill');
CREATE INDEX letter_fp ON letter USING hamming (fp);
CREATE FOREIGN TABLE letter_1 PARTITION OF letter FOR VALUES IN ('望山区', '石桥县', 'Westbrook')
  SERVER shard1 OPTIONS (table_name 'letter');
CREATE FOREIGN TABLE letter_2 PARTITION OF letter FOR VALUES IN ('南浦区', '东岭区', 'Eastfield')
  SERVER shard2 OPTIONS (table_name 'letter');
CREATE FOREIGN TABLE letter_3 PARTITION OF letter DEFAULT SERVER shard3 OPTIONS (table_name 'letter');
$triggers
$copy
SQL
$coordinator->safe_psql('postgres', 'CREATE DATABASE single');
$coordinator->safe_psql('single', <<SQL);
CREATE EXTENSION simdup;
CREATE TABLE letter ($columns);
CREATE INDEX letter_fp ON letter USING hamming (fp);
$triggers
$copy
SQL

# All pairs of a table by a join.
sub pairs_of
{
	my ($table, $k) = @_;

	return "SELECT a.id, b.id, a.fp <~> b.fp FROM $table AS a JOIN $table AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k) ORDER BY 1, 2";
}

# Check whether this query gives the same on the shards and on one server.
sub same
{
	my ($query, $name, $least) = @_;
	my ($sharded, $single) = map { $coordinator->safe_psql($_, $query) } 'city', 'single';

	is($sharded, $single, $name);
	cmp_ok(() = $sharded =~ /$/mg, '>', $least // 40, '... which is not little');
	return;
}

is($coordinator->safe_psql('city', 'SELECT count(*) > 40, count(DISTINCT tableoid) FROM letter'), 't|4', 'petitions are on all shards, and here');
same('SELECT id, fp FROM letter ORDER BY id', 'COPY through the parent: fingerprints');
is( $coordinator->safe_psql('city', <<'SQL'), 't|t', 'a trigger on a shard flags repeats of its own rows');
SELECT count(*) > 10, bool_and(n.tableoid = o.tableoid AND n.fp <~> o.fp <= 8) FROM letter n JOIN letter o ON o.id = n.duplicate
SQL
is( $coordinator->safe_psql('city', <<'SQL'), '0', 'all of them');
SELECT count(*) FROM letter n WHERE duplicate IS NULL AND tableoid <> 'letter_0'::regclass
  AND EXISTS (SELECT FROM letter o WHERE o.tableoid = n.tableoid AND o.id < n.id AND o.fp <~> n.fp <= 8)
SQL
for my $k (0, 3, 8)
{
	same("CREATE TEMP TABLE q AS SELECT id, fp FROM letter; SELECT q.id, o.id FROM q JOIN letter o ON simhash_within(o.fp, q.fp, $k) WHERE q.id % 3 = 0 ORDER BY 1, 2",
		"search within $k");
	same(pairs_of('letter', $k), "pairs within $k", 3);
}
same('SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id) FROM letter ORDER BY 1', 'simdup_cluster');
same("SELECT id FROM letter WHERE fp <@ simhash_ball(simhash('x'), 24) AND fp <~> simhash('x') > 20 ORDER BY 1", '<@ and <~>', 3);

# --- statements that are shipped

sub plan_of
{
	my ($query, $before) = @_;

	return $coordinator->safe_psql('city', ($before // '') . "EXPLAIN (VERBOSE, COSTS OFF) $query");
}

my $center = "'0123456789abcdef'";
my @remote = (
	[ "SELECT id FROM petition WHERE simhash_within(fp, $center, 3)", '', q{fp OPERATOR\(public\.<@\) '<0123456789abcdef,3>'} ],
	[ "SELECT id FROM petition WHERE simhash_within(fp, $center, id::int)", '', 'public\.simhash_within\(fp, ' ],
	[ "SELECT id FROM petition WHERE fp <@ simhash_ball($center, 3)", '', q{fp OPERATOR\(public\.<@\) '<0123456789abcdef,3>'} ],
	[ "SELECT id FROM petition WHERE fp <~> $center <= 3", '', '\(fp OPERATOR\(public\.<~>\) .*\) <= 3' ],
	[ "SELECT id FROM petition WHERE simdup_resembles(content, 'The bus is late', 0.8)", '', 'public\.simdup_resembles\(content, ' ],
	[ "SELECT id FROM petition WHERE simhash_blocks(fp, 4) && simhash_blocks($center, 4)", '', 'public\.simhash_blocks\(fp, 4\) && ' ],
	[ "EXECUTE q($center, 3)", 'SET plan_cache_mode = force_generic_plan; PREPARE q(simhash64, int) AS SELECT id FROM petition WHERE simhash_within(fp, $1, $2);',
		'fp OPERATOR\(public\.<@\) public\.simhash_ball\(\$1::public\.simhash64, \$2::integer\)' ],
	[ "EXECUTE q('some text')", 'SET plan_cache_mode = force_generic_plan; PREPARE q(text) AS SELECT id FROM petition WHERE simhash_within(fp, (SELECT simhash($1)), 3);',
		'fp OPERATOR\(public\.<@\) public\.simhash_ball\(\$1::public\.simhash64, 3\)' ],);
for my $case (@remote)
{
	my ($query, $before, $sql) = @$case;
	my $plan = plan_of($query, $before);

	is(() = $plan =~ /Remote SQL: SELECT .*$sql/g, 3, "$query: the condition goes to each shard");
	is(() = $plan =~ /Async Foreign Scan/g, 3, '... at the same time');
}
# in order of distance, each shard sorts
for my $case (
	[ "SELECT id FROM petition WHERE simhash_within(fp, $center, 3) ORDER BY fp <~> $center", '', q{'0123456789abcdef'} ],
	[ "EXECUTE q($center)", 'SET plan_cache_mode = force_generic_plan; PREPARE q(simhash64) AS SELECT id FROM petition WHERE simhash_within(fp, $1, 3) ORDER BY fp <~> $1;',
		'\$1::public\.simhash64' ])
{
	my ($query, $before, $sent) = @$case;
	my $plan = plan_of($query, $before);

	is(() = $plan =~ /Remote SQL: SELECT .*(?:simhash_within\(fp, |fp OPERATOR\(public\.<@\) ).* ORDER BY \(fp OPERATOR\(public\.<~>\) $sent\) ASC/g,
		3, "$query: condition and order go to each shard");
	like($plan, qr/\AMerge Append\n(.*\n)* +->  Foreign Scan/, '... and what they return is merged');
}
like(plan_of("SELECT id FROM letter_1 ORDER BY fp <~> $center LIMIT 3"),
	qr/Remote SQL: .* ORDER BY \(fp OPERATOR\(public\.<~>\) .*\) ASC NULLS LAST LIMIT 3/, 'the nearest of one shard are found there');

# --- each shard uses its index

answer($_, 'city', 'city', <<'SQL') for @shards;
CREATE TABLE archive (id bigint NOT NULL, fp simhash64, duplicate bigint);
CREATE INDEX archive_fp ON archive USING hamming (fp);
SQL
$coordinator->safe_psql('city', <<'SQL');
CREATE TABLE archive (id bigint NOT NULL, fp simhash64, duplicate bigint) PARTITION BY HASH (id);
CREATE FOREIGN TABLE archive_1 PARTITION OF archive FOR VALUES WITH (MODULUS 3, REMAINDER 0) SERVER shard1 OPTIONS (table_name 'archive', batch_size '1000');
CREATE FOREIGN TABLE archive_2 PARTITION OF archive FOR VALUES WITH (MODULUS 3, REMAINDER 1) SERVER shard2 OPTIONS (table_name 'archive', batch_size '1000');
CREATE FOREIGN TABLE archive_3 PARTITION OF archive FOR VALUES WITH (MODULUS 3, REMAINDER 2) SERVER shard3 OPTIONS (table_name 'archive', batch_size '1000');
INSERT INTO archive SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 30000) i;
SQL
answer($_, 'city', 'city', 'ANALYZE archive') for @shards;

# Run it, and return the number of shards that searched by the index for it.
sub index_searches
{
	my ($query, $scan) = (@_, 'Index Scan (?:on|using) archive_fp');
	my @from = map { -s $_->logfile } @shards;

	$coordinator->safe_psql('city', $query);
	return scalar grep { slurp_file($shards[$_]->logfile, $from[$_]) =~ /$scan/ } 0 .. $#shards;
}

is(index_searches("SELECT id FROM archive WHERE simhash_within(fp, $center, 3)"), 3, 'simhash_within: each shard goes by its index');
is(index_searches("SELECT id FROM archive WHERE fp <@ simhash_ball($center, 5)"), 3, '<@: each shard goes by its index');
is(index_searches(q{SET plan_cache_mode = force_generic_plan; PREPARE q(simhash64) AS SELECT id FROM archive WHERE simhash_within(fp, $1, 3); EXECUTE q('0123456789abcdef')}),
	3, 'a parameter: each shard goes by its index');
$coordinator->safe_psql('city', q{CREATE INDEX archive_parent ON archive USING hamming (fp);
	CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON archive FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id')});
my ($ended, undef, $said) = $coordinator->psql('city', 'INSERT INTO archive SELECT 30001, (hashint8extended(17, 0) # 1)::simhash64');
like($said, qr/ERROR:  cannot search foreign table "archive_1"/, 'a trigger over shards says that it cannot search them');
$coordinator->safe_psql('city', 'DROP TRIGGER reject ON archive; DROP INDEX archive_parent');

my $nearest = "SELECT fp <~> $center, id FROM archive WHERE simhash_within(fp, $center, 22) ORDER BY fp <~> $center";
is(index_searches($nearest, 'Index Scan using archive_fp'), 3, 'in order of distance: each shard goes by its index');
my @found = map { [split /\|/] } split /\n/, $coordinator->safe_psql('city', $nearest);
# OFFSET keeps the shards from all but sending their rows
my @near = map { [split /\|/] } split /\n/,
  $coordinator->safe_psql('city', "SELECT * FROM (SELECT fp <~> $center AS distance, id FROM archive OFFSET 0) AS a WHERE distance <= 22 ORDER BY 1, 2");
cmp_ok(scalar @near, '>', 100, 'rows that are near enough');
is(join(' ', map { $_->[0] } @found), join(' ', map { $_->[0] } @near), '... the shards together return them in order');
is_deeply([ sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @found ], \@near, '... and all of them');

# --- all pairs over shards: the recipe against one server

$_->safe_psql('postgres', 'CREATE DATABASE pairs OWNER city') for @shards, $coordinator;
my $servers = $fences[1];
answer($_, 'pairs', 'city', 'CREATE EXTENSION simdup') for @shards;
run_fence($servers, 'pairs', $servers->{sql} =~ s/^CREATE TABLE.*//msr);
$coordinator->safe_psql('pairs', 'CREATE TABLE petition (id bigint, fp simhash64)');

# Set up and run the recipe for this number of shards and this distance, after earlier runs.
sub pairs_over
{
	my ($shards, $k) = @_;
	my $output;

	$output = run_fence($_, 'pairs', "\\pset format unaligned\n\\pset tuples_only on\n" . ($_->{sql} =~ s/^\\set k .*/\\set k $k/mr =~ s/^\\set shards .*/\\set shards $shards/mr))
	  for grep { $_->{pairs} } @fences;
	return $output;
}

my %data = (
	'unrelated rows' => 'SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 2000) i',
	'equal rows' => q{SELECT i, '0123456789abcdef'::simhash64 FROM generate_series(1, 150) i},
	'rows around a few centers' => q{SELECT i, (hashint8extended(i % 40, 0)
		# (1::bigint << (i % 64)) # (1::bigint << (i / 7 % 64)) # (1::bigint << (i / 11 % 64)) # (1::bigint << (i / 23 % 64)))::simhash64
		FROM generate_series(1, 1200) i},
	'rows that differ in one block' => q{SELECT i, i::bigint::simhash64 FROM generate_series(0, 300) i},
	'rows without a fingerprint' => q{SELECT i, NULLIF(i % 3, 0)::bigint::simhash64 FROM generate_series(1, 90) i},);
for my $name (sort keys %data)
{
	$coordinator->safe_psql('pairs', "TRUNCATE petition; INSERT INTO petition $data{$name}");
	for my $case ([ 3, 3 ], [ 2, 3 ], [ 1, 3 ], [ 3, 0 ], [ 3, 8 ], [ 2, 15 ])
	{
		my ($shards, $k) = @$case;

		is(pairs_over($shards, $k), $coordinator->safe_psql('pairs', pairs_of('petition', $k)),
			"$name: all pairs within $k over $shards shards");
	}
}
# the real ones, where copies on other shards must not be found twice
$coordinator->safe_psql('pairs', <<"SQL");
TRUNCATE petition;
CREATE TABLE letter (id bigint, title text, district text, category text, received_at timestamp, content text);
$copy
INSERT INTO petition SELECT id, simhash(content) FROM letter;
SQL
for my $k (3, 8)
{
	my $pairs = $coordinator->safe_psql('pairs', pairs_of('petition', $k));

	is(pairs_over($_, $k), $pairs, "petitions: all pairs within $k over $_ shards") for 1 .. 3;
	cmp_ok(() = $pairs =~ /$/mg, '>', 40, '... which is not little');
}

# --- a fingerprint to distribute by

$coordinator->safe_psql('single', <<'SQL');
CREATE TABLE by_fp (id bigint, fp simhash64) PARTITION BY HASH (fp);
CREATE TABLE by_fp_1 PARTITION OF by_fp FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_fp_2 PARTITION OF by_fp FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_fp SELECT i, hashint8extended(i % 500, 0)::simhash64 FROM generate_series(1, 1000) i;
SQL
is($coordinator->safe_psql('single', 'SELECT count(*) FROM (SELECT fp FROM by_fp GROUP BY fp HAVING count(DISTINCT tableoid) > 1) s'),
	'0', 'hash partitions by fingerprint hold equal ones together');
is($coordinator->safe_psql('single', 'SELECT count(*) > 400 FROM by_fp GROUP BY tableoid'), "t\nt", 'and are of a size');
is(() = $coordinator->safe_psql('single', "EXPLAIN (COSTS OFF) SELECT FROM by_fp WHERE fp = $center") =~ /Seq Scan/g, 1, 'equality is looked for in one of them');

$_->stop for $coordinator, @shards;
done_testing();

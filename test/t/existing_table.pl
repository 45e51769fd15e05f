# existing_table: the page "An existing table" fills a table at once, in batches, and by
# a bulk load. Each sets what its trigger sets for rows that arrive one by one, also beside a
# session that edits. The statements are those of the page.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = slurp_file('doc/simdup-existing-table.md');
my ($fill) = $page =~ /^(BEGIN;\nLOCK .*?^COMMIT;\n)/ms or die 'the page has no fill';
my ($fingerprint) = $page =~ /^(\\set fingerprint .*\n)/m or die 'the page names no fingerprint';
my ($add) = $page =~ /^(SELECT format\('ALTER TABLE .*?\\gexec\n)/ms or die 'the page adds no flag';
my ($batches) = $page =~ /^(SELECT format\(\$\$.*?\\gexec\n)/ms or die 'the page has no batches';
my ($load) = $page =~ /^(BEGIN;\nALTER .*?^COMMIT;\n)/ms or die 'the page has no bulk load';
my ($free) = $page =~ /^(WITH RECURSIVE walk.*?;\n)/ms or die 'the page frees no loops';
my ($index, $trigger) = (q{CREATE INDEX letter_near ON letter USING hamming (content)},
	q{CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats'});

my $node = PostgreSQL::Test::Cluster->new('existing_table');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
-- texts that resemble some others, texts that are equal, and rows without a text
CREATE FUNCTION body(kind int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN '...' ELSE
    (SELECT string_agg(md5(concat(kind, ' ', CASE WHEN j = abs(hashint4(i * 7 + kind)) % 14 THEN i ELSE abs(hashint4(i + kind)) % 30 END, ' ', j)), ' ') FROM generate_series(1, 12) AS j)
    || ' number ' || abs(hashint4(i)) % 3 END $$;
SQL

my @cases = (
	{ distance => 8 },
	{ distance => 0 },
	{ distance => 14, condition => q{new_row.place IS NOT DISTINCT FROM near_row.place} },
	{ distance => 20, condition => q{new_row.at - near_row.at < 30}, scope => q{place IS DISTINCT FROM 'south'} },
	{ distance => 14, condition => q{simdup_resembles(new_row.content, near_row.content, 0.7) OR near_row.place = 'north'} },
	{ distance => 8, scope => q{place = 'north' OR at > '2026-02-01'} });
my $tables = 0;

# Run SQL, with the page's names of the table and of its columns changed.
sub run_as
{
	my ($names, $sql) = @_;

	$sql =~ s/\b\Q$_\E\b/$names->{$_}/g for keys %$names;
	$sql =~ s/'"(\w+)"'/'$1'/g;
	return $node->safe_psql('postgres', $sql);
}

# Make a table, its index and trigger, and let 300 rows arrive one by one. Then
# store them in another order, without flags.
sub arrive
{
	my ($names, $type, $key, $case) = @_;
	my $scope = $case->{scope} ? "WHERE $case->{scope}" : '';
	my $same = $case->{condition} ? qq{CREATE FUNCTION same(new_row letter, near_row letter) RETURNS boolean LANGUAGE sql STABLE AS \$\$SELECT $case->{condition}\$\$;} : '';
	my $name = sub { my ($name) = @_; return ($names->{$name} // $name) =~ s/"//gr };
	my $option = $case->{condition} ? ", 'condition => same'" : '';

	$tables++;
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE arriving AS SELECT $key AS k, body($tables, i) AS body, CASE i % 5 WHEN 0 THEN 'north' WHEN 1 THEN 'south' END AS place, date '2026-01-01' + i % 100 AS at
  FROM generate_series(1, 300) AS i;
SQL
	run_as($names, <<"SQL");
CREATE TABLE letter (id $type PRIMARY KEY, content text, place text, at date);
\\set table '@{[ $name->('letter') ]}'
\\set key '@{[ $name->('id') ]}'
\\set flag '@{[ $name->('repeats') ]}'
$add
$index $scope;
$same
$trigger, 'max_distance => $case->{distance}'$option);
DO \$\$ DECLARE r record; BEGIN
  FOR r IN SELECT * FROM arriving ORDER BY k LOOP
    INSERT INTO letter VALUES (r.k, r.body, r.place, r.at);
  END LOOP;
END \$\$;
CREATE TABLE one_by_one AS SELECT id AS k, repeats AS flag FROM letter;
CREATE TABLE stored AS SELECT * FROM letter;
TRUNCATE letter;
ALTER TABLE letter DISABLE TRIGGER flag;
INSERT INTO letter SELECT id, content, place, at FROM stored ORDER BY hashtext(id::text);
ALTER TABLE letter ENABLE TRIGGER flag;
SQL
	return;
}

sub same_flags
{
	my ($names, $name) = @_;

	is( run_as($names, 'SELECT count(*) FROM letter JOIN one_by_one ON k = id WHERE repeats IS DISTINCT FROM flag'),
		'0', "$name sets what the trigger sets");
	return;
}

sub drop_all
{
	my ($names) = @_;

	run_as($names, 'DROP TABLE arriving, one_by_one, stored; DROP TABLE letter CASCADE');
	return;
}

# --- the fill in one statement, of any names

my @keys = ('integer' => 'i', 'text COLLATE "C"' => q{md5(i::text)}, 'uuid' => q{md5(i::text)::uuid});
while (my ($type, $key) = splice @keys, 0, 2)
{
	for my $case (@cases)
	{
		my $name = "$type, distance $case->{distance}" . join '', map { ", $case->{$_}" } grep { $case->{$_} } qw(scope condition);
		my $names = { letter => '"Letter of ours"', id => '"The key"', content => '"The text"', repeats => '"Repeats"' };
		my $scope = $case->{scope} // 'true';
		my $condition = $case->{condition} ? 'same(new_row, near_row)' : 'true';

		arrive($names, $type, $key, $case);
		# a row with a flag keeps it
		run_as($names, q{UPDATE letter SET repeats = id WHERE id IN (SELECT k FROM one_by_one ORDER BY k DESC LIMIT 3)});
		$node->safe_psql('postgres', <<"SQL");
\\set table 'Letter of ours'
\\set key 'The key'
\\set flag Repeats
\\set content 'The text'
$fingerprint\\set distance $case->{distance}
\\set scope '@{[ $scope =~ s/'/''/gr ]}'
\\set condition '$condition'
$fill
SQL
		is(run_as($names, q{SELECT count(*) FROM letter WHERE repeats = id}), '3', "$name: flags stay");
		$node->safe_psql('postgres', q{UPDATE one_by_one SET flag = k WHERE k IN (SELECT k FROM one_by_one ORDER BY k DESC LIMIT 3)});
		same_flags($names, "$name: the fill");
		cmp_ok($node->safe_psql('postgres', 'SELECT count(flag) FROM one_by_one'), '>', $case->{distance} == 0 ? 5 : 30, '... which is something');
		drop_all($names);
	}
}

# --- batches, of which one fails, and all are run again

for my $case (grep { !$_->{scope} } @cases)
{
	my $name = "distance $case->{distance}" . ($case->{condition} ? ", $case->{condition}" : '');
	my $statement = $batches =~ s/5000|4999/$& - 4960/ger;
	my $err;

	$statement =~ s/, 8\)$/, $case->{distance})/m or die 'the batches have no distance';
	$statement =~ s/^(\s*)(?=ORDER BY \(new_row\))/$1AND same((new_row), near_row) /m or die 'the batches have no order' if $case->{condition};
	arrive({}, 'integer', 'i', $case);
	$node->safe_psql('postgres', 'ALTER TABLE letter ADD CONSTRAINT no_more CHECK (id < 150 OR repeats IS NULL) NOT VALID');
	$node->psql('postgres', $statement, stderr => \$err);
	like($err, qr/violates check constraint "no_more"/, "$name: a batch fails");
	$node->safe_psql('postgres', "ALTER TABLE letter DROP CONSTRAINT no_more;\n$statement");
	same_flags({}, "$name: batches");
	drop_all({});
}

# --- a bulk load behind rows that have their flags

my $csv = PostgreSQL::Test::Utils::tempdir() . '/new.csv';
$load =~ s/STDIN (\(FORMAT csv\);\n).*?^\\\.\n/'$csv' $1/ms or die 'the load has no rows';
$load =~ s/a\.id > 4$/a.id > 200/m or die 'the load has no new keys';
arrive({}, 'integer', 'i', { distance => 8 });
$node->safe_psql('postgres', <<"SQL");
DELETE FROM letter WHERE id > 200;
UPDATE letter SET repeats = flag FROM one_by_one WHERE k = id;
ALTER TABLE letter ADD fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED;
COPY (SELECT k, body FROM arriving WHERE k > 200 ORDER BY hashint4(k)) TO '$csv' (FORMAT csv);
$load
SQL
is($node->safe_psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE flag IS NOT NULL AND k > 200) > 10 FROM letter JOIN one_by_one ON k = id'), '300|t', 'the bulk load brings all rows, and repeats');
same_flags({}, 'the bulk load');
is($node->safe_psql('postgres', 'INSERT INTO letter (id, content) SELECT 1000, content FROM letter WHERE id = 201 RETURNING repeats IS NOT NULL'), 't', 'then the trigger acts again');
drop_all({});

# --- keys in another order than the rows: no flags in a loop, and each family keeps its original

for my $case ([ 'the fill', $fill ], [ 'batches', $batches =~ s/5000|4999/$& - 4960/ger ])
{
	my ($name, $statement) = @$case;
	my $families = $node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS letter;
CREATE TABLE letter (id int PRIMARY KEY, content text, repeats int);
$index;
CREATE TEMP TABLE coming AS
  SELECT row_number() OVER (ORDER BY hashint4(i)) AS k, i, (SELECT string_agg(md5(concat(i % 60, ' ', j)), ' ') FROM generate_series(1, 8) AS j) || ' ' || i % 3 AS body
  FROM generate_series(1, 300) AS i;
INSERT INTO letter SELECT k, body FROM coming WHERE i <= 150;
$trigger);
INSERT INTO letter SELECT k, body FROM coming WHERE i > 150 ORDER BY i;
\\set table letter
\\set key id
\\set flag repeats
\\set fingerprint minhash64(content)
\\set distance 8
\\set scope true
\\set condition 'true OR false'
$statement
SELECT count(*), count(*) FILTER (WHERE originals <> 1) FROM (SELECT count(*) - count(repeats) AS originals FROM letter GROUP BY left(content, 32)) AS family;
SQL
	is((split /\n/, $families)[-1], '60|0', "$name after the trigger: each family has one original");
}

# --- beside an edit of an older copy, between the snapshot of the fill and its commit

my ($loops) = $free =~ s/UPDATE .*? \(SELECT id (.*?)\);/SELECT count(*) $1;/sr;

# psql in the background, on a script
sub in_background
{
	my ($script) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/background.sql';

	append_to_file($file, $script);
	return IPC::Run::start([ 'psql', '-qXAt', '-d', $node->connstr('postgres'), '-f', $file ], '<', \undef, '>', \my $out, '2>&1');
}

for my $case ([ 'the fill', "\\set table letter\n\\set key id\n\\set flag repeats\n${fingerprint}\\set content content\n\\set distance 8\n\\set scope true\n\\set condition true\n$fill" ],
	[ 'a batch', $batches ])
{
	my ($name, $statement) = @$case;
	my $err;

	$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS letter, go;
CREATE TABLE go (go bool);
CREATE TABLE letter (id int PRIMARY KEY, content text, repeats int);
$index;
INSERT INTO letter VALUES (1, 'Bus 14 is late, every morning, again!'), (2, 'Bus 14 is late, every morning, again.'), (3, 'No shade at all.'), (4, 'No shade at all!');
$trigger);
SQL
	# the fill waits for row 4 with all that it has found
	my $holder = in_background('BEGIN; SELECT id FROM letter WHERE id = 4 FOR UPDATE; DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM go) LOOP PERFORM pg_sleep(0.05); END LOOP; END $$; COMMIT;');
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'letter'::regclass AND mode = 'RowShareLock'}) or die 'no row is locked';
	my $filling = in_background($statement);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'}) or die 'no fill waits';
	$node->psql('postgres', q{SET lock_timeout = '300ms'; UPDATE letter SET content = content || ' Really' WHERE id = 1}, stderr => \$err);
	like($err, qr/lock timeout/, "$name: an edit waits for it");
	$node->safe_psql('postgres', 'INSERT INTO go VALUES (true)');
	$_->finish for $holder, $filling;
	is($node->safe_psql('postgres', "$loops; SELECT count(repeats) FROM letter"), "0\n2", '... and no flags lead in a loop');
}

# --- the statement that frees loops, on flags by chance

for my $seed (1 .. 20)
{
	my %flag;
	my %freed;

	srand($seed);
	%flag = map { $_ => rand() < 0.9 ? 1 + int rand 40 : undef } 1 .. 40;
	for my $id (keys %flag)
	{
		my %met;

		for (my $at = $id; defined $at && !$met{$at}; $at = $flag{$at}) { $met{$at} = 1; $freed{$id} = 1 if defined $flag{$at} && $flag{$at} == $id; }
		delete $freed{$id} if grep { $_ < $id } keys %met;
	}
	my $values = join ', ', map { "($_, " . ($flag{$_} // 'NULL') . ')' } keys %flag;
	is($node->safe_psql('postgres', "BEGIN; TRUNCATE letter; ALTER TABLE letter DISABLE TRIGGER flag; INSERT INTO letter (id, repeats) VALUES $values; SET client_min_messages = error;
		CREATE TEMP TABLE before ON COMMIT DROP AS SELECT id FROM letter WHERE repeats IS NULL; $free SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM letter WHERE repeats IS NULL AND id NOT IN (SELECT id FROM before); ROLLBACK"),
		join(' ', sort { $a <=> $b } keys %freed), "flags by chance, $seed: the smallest key of each loop is freed");
}

$node->stop;
done_testing();

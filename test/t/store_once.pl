# store_once: the statement of doc/simdup-search.md stores a text unless a near one is
# there, and returns the stored row, while 32 writers store the same texts.
#
# A transaction that ends in a deadlock (40P01) or cannot see the other row (40001) is
# run again, by pgbench.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($writers, $calls, $texts) = (32, 40, 50);

my $page = slurp_file('doc/simdup-search.md');
my ($table) = $page =~ /^(CREATE TABLE note .*?;\nCREATE INDEX .*?;\nCREATE FUNCTION same_note.*?\$\$;\n)/ms or die 'the page has no table of notes';
my ($trigger) = $page =~ /^(CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON note .*?;\n)/ms or die 'the page has no trigger';
my ($store) = $page =~ /^PREPARE store \(text\) AS\n(.*?);\n/ms or die 'the page has no statement';

my $node = PostgreSQL::Test::Cluster->new('store_once');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "deadlock_timeout = '10ms'");
$node->start;
my $scripts = PostgreSQL::Test::Utils::tempdir();

# A database with the page's table, and text n in one of four spellings: two are at
# distance 0, and two have another word.
sub new_database
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, <<"SQL");
CREATE EXTENSION simdup;
$table
$trigger
CREATE FUNCTION some_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
  SELECT string_agg(md5((n / 4 * 100 + i)::text), CASE n % 4 WHEN 0 THEN ' ' ELSE ', ' END)
    || CASE n % 4 WHEN 2 THEN ' lamp' WHEN 3 THEN ' bus' ELSE '' END FROM generate_series(1, 8) AS i \$\$;
CREATE TABLE call (n int, found bigint, is_new boolean);
SQL
	return;
}

# What the writers do: one statement, or a transaction of several.
sub script
{
	my ($name, $statements) = @_;
	my $statement = $store =~ s/\$1/some_text(:n)/r;
	my $body = join '', map { "\\set n random(0, 4 * $texts - 1)\nWITH stored AS ($statement) INSERT INTO call SELECT :n, id, is_new FROM stored;\n" } 1 .. $statements;

	append_to_file("$scripts/$name.sql", $statements > 1 ? "BEGIN;\n${body}COMMIT;\n" : $body);
	return "$scripts/$name.sql";
}

sub write_all
{
	my ($name, $statements, $tries) = @_;
	my ($out, $err) = ('', '');
	my $script = script($name, $statements);

	new_database($name);
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	ok(IPC::Run::run([ 'pgbench', '-n', '-c', $writers, '-t', $calls, "--max-tries=$tries", '-f', $script, $name ], '>', \$out, '2>', \$err), "$name: $writers writers")
	  or diag($err);
	note($1) while $out =~ /^(number of transactions (?:failed|retried|actually).*)$/mg;

	is($node->safe_psql($name, 'SELECT count(*), count(found) FROM call'), join('|', ($writers * $calls * $statements) x 2), "$name: each call returned a row");
	is( $node->safe_psql($name, 'SELECT count(*) FROM note AS a JOIN note AS b ON a.id < b.id AND minhash64(a.content) <~> minhash64(b.content) <= 3 AND same_note(a, b)'),
		'0', "$name: no duplicate is stored");
	is($node->safe_psql($name, 'SELECT count(DISTINCT n / 4) <= (SELECT count(*) FROM note) FROM call'), 't', "$name: each text is");
	is($node->safe_psql($name, 'SELECT count(*) FROM call JOIN note ON id = found WHERE minhash64(content) <~> minhash64(some_text(n)) <= 3'),
		$writers * $calls * $statements, "$name: each call returned a row near its text");
	is($node->safe_psql($name, 'SELECT count(*) = (SELECT count(*) FROM note) FROM call WHERE is_new'), 't', "$name: one call stored each row");
	is($node->safe_psql($name, 'SELECT sum(seen) FROM note'), $writers * $calls * $statements, "$name: and the others are counted");
	return $out;
}

write_all('one_statement', 1, 1);
my $out = write_all('transactions', 3, 1000);
like($out, qr/^number of failed transactions: 0 /m, 'transactions: each deadlock was retried');
{
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=repeatable\ read';
	$out = write_all('repeatable_read', 1, 1000);
	like($out, qr/^number of failed transactions: 0 /m, 'repeatable read: each failure was retried');
}

# --- texts that are near, and say something else

{
	new_database('opposite');
	my ($strict) = $page =~ /`(shingle_resemblance\(new_row[^`]*)`/ or die 'the page has no condition for longer notes';
	my $is_new = sub {
		my ($content) = @_;
		my $row = $node->safe_psql('opposite', $store =~ s/\$1/'$content'/r);
		return $row =~ /\|t$/ ? 'stored' : $row =~ /\|f$/ ? 'there' : $row;
	};
	# each is said once, and once more with another mark at its end
	my $stores = sub {
		my ($name, @said) = @_;
		is(join(' ', map { ($is_new->("$_."), $is_new->("$_!")) } @said), join(' ', ('stored there') x @said), $name);
	};
	my $contract = 'The meeting with the landlord about the new contract for the flat in Garden Road, and about the deposit of the old one';
	my $long = "$contract, and about the lamp, the lift and the bicycles in the hall that nobody takes away, and about the rent of last year";

	$stores->('opposites', 'The user is allergic to peanuts', 'The user is not allergic to peanuts');
	$stores->('two times', 'Lunch is at 15:00', 'Lunch is at 14:00');
	$stores->('two times, 3 bits apart', "$contract, is on Monday at 15:00", "$contract, is on Monday at 14:00");
	is( $node->safe_psql('opposite', "SELECT a <~> b <= 3 AND shingle_resemblance('$long at 15:00', '$long at 14:00') >= 0.95
		FROM minhash64('$long at 15:00') AS a, minhash64('$long at 14:00') AS b"), 't', 'longer notes that differ in a time are near');
	$stores->('and are two', "$long at 15:00", "$long at 14:00");
	is($is_new->("$long is needed") . ' ' . $is_new->("$long is not needed"), 'stored there', 'a "not" in a longer note is not seen');
	$node->safe_psql('opposite', "CREATE OR REPLACE FUNCTION same_note(new_row note, near_row note) RETURNS boolean LANGUAGE sql STABLE AS \$\$ SELECT $strict \$\$");
	$stores->('but with the condition for such notes', "$long was settled", "$long was not settled");
}

# --- an edit that repeats another row is refused

my ($changed) = $node->psql('one_statement', 'UPDATE note SET content = (SELECT content FROM note WHERE id = (SELECT min(id) FROM note)) WHERE id = (SELECT max(id) FROM note)',
	on_error_stop => 1);
isnt($changed, 0, 'an edit that repeats another row is an error');

# --- a row whose repeated row was deleted at the same moment

{
	new_database('deleted');
	my $lamp = 'The lamp at the corner of Fish Street has been dark since May.';
	$node->safe_psql('deleted', <<"SQL");
SELECT nextval('note_id_seq') FROM generate_series(1, 10);
ALTER TABLE note DISABLE TRIGGER flag;
INSERT INTO note (content, repeats) VALUES ('$lamp', 7);
ALTER TABLE note ENABLE TRIGGER flag;
SQL
	is($node->safe_psql('deleted', $store =~ s/\$1/'$lamp!'/r =~ s/content, seen = 1/seen/r), '11|2', 'it stands for the others');
}

$node->stop;
done_testing();

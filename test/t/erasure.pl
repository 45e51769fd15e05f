# erasure: what doc/simdup-operations.md says of a deleted text. After its statements and
# VACUUM, no file that simdup writes has the text or its fingerprint. The table's own
# pages keep the text until they are written anew.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('erasure');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

my ($section) = slurp_file('doc/simdup-operations.md') =~ /^(## Erasure\n.*?)(?=^## |\z)/ms or die 'the page has no section';
my ($statements) = $section =~ /^```sql\n(-- .*?)^```$/ms or die 'the section has no statements';

# The files of a relation, its TOAST table with them.
sub files_of
{
	my ($relation) = @_;
	my $data = $node->data_dir;

	return map { glob "$data/$_ $data/$_.[0-9]*" } grep { $_ } split /\n/, $node->safe_psql('postgres', <<"SQL");
SELECT pg_relation_filepath(oid) FROM pg_class
WHERE oid = '$relation'::regclass OR oid = (SELECT reltoastrelid FROM pg_class WHERE oid = '$relation'::regclass)
SQL
}

# The bytes that a fingerprint can be stored as: digits, or a number of either order of
# bytes. The index turns the number by 16, 32 or 48 bits.
sub bytes_of
{
	my ($fp) = @_;
	my $bits = unpack 'B64', pack 'H16', $fp;

	return ($fp, map { my $turned = pack 'B64', substr($bits, 16 * $_) . substr($bits, 0, 16 * $_); ($turned, scalar reverse $turned) } 0 .. 3);
}

# Those of the byte strings that the relation's files have.
sub found_in
{
	my ($relation, @strings) = @_;
	my $any = join '|', map { quotemeta } @strings;
	my $n = 0;

	for my $file (files_of($relation))
	{
		my $content = slurp_file($file);
		$n += () = $content =~ /$any/g;
	}
	return $n;
}

# --- one text, and all that simdup keeps of it

$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE TABLE letter (id integer PRIMARY KEY, content text, title text, repeats integer, fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED);
CREATE TABLE letter_log (new_key integer, old_key integer, distance integer, logged_at timestamptz);
CREATE INDEX letter_near ON letter USING hamming (content);
CREATE INDEX letter_fp ON letter USING hamming (fp);
CREATE INDEX letter_title ON letter USING hamming (minhash64(title, 2));
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'index => letter_near');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('letter_log', 'index => letter_near');
INSERT INTO letter (id, content, title)
  SELECT i, (SELECT string_agg(md5((100 * i + j)::text), ' ') FROM generate_series(1, 6) AS j), 'title ' || md5(i::text) FROM generate_series(1, 3000) AS i;
INSERT INTO letter (id, content, title)
  SELECT 5000 + i, content || ' Zanzibar', 'Quagga ' || title FROM letter, generate_series(1, 3) AS i WHERE id = 77;
SELECT simdup_group('letter_group', 'letter');
SELECT * FROM simdup_regroup('letter_group');
SELECT * FROM simdup_decide('letter_group', 5001, 5003, same => false, note => 'Mrs Zanzibar called');
SELECT * FROM simdup_decide('letter_group', 1, 2, same => true);
CREATE TABLE letter_removed (LIKE letter);
INSERT INTO letter_removed TABLE letter;
SQL

my @text = ('Zanzibar', 'Quagga');
my @fps = map { bytes_of($_) } split /\n/, $node->safe_psql('postgres', 'SELECT fp FROM letter WHERE id = 5001 UNION ALL SELECT minhash64(title, 2) FROM letter WHERE id = 5001');
my @kept = qw(letter_near letter_fp letter_title letter_log letter_group letter_group_decisions letter_group_events letter_group_settings letter_removed);

$node->safe_psql('postgres', 'CHECKPOINT');
cmp_ok(found_in('letter', @text), '>', 0, 'the table has the text');
cmp_ok(found_in($_, @fps), '>', 0, "$_ has its fingerprint") for qw(letter_near letter_fp letter_title);
cmp_ok(found_in('letter_removed', @text), '>', 0, 'the archive has the text');
cmp_ok(found_in('letter_group_decisions', @text), '>', 0, 'a note names it');

# all but those tried one by one below
$statements =~ s/^(REINDEX .*|VACUUM FULL letter);\n//mg;
for my $key (5001 .. 5003)
{
	my ($status, $stderr);
	$status = $node->psql('postgres', $statements =~ s/^\\set key .*$/\\set key $key/mr, stderr => \$stderr, on_error_stop => 1);
	is($status, 0, "the page's statements erase $key") or diag($stderr);
}
is($node->safe_psql('postgres', "SELECT count(*) FROM letter WHERE id > 5000"), '0', 'the rows are gone');
$node->safe_psql('postgres', 'CHECKPOINT');
is(found_in($_, @text, @fps), 0, "$_ has neither text nor fingerprint") for @kept;
is($node->safe_psql('postgres', "SELECT count(*) FROM letter_log WHERE new_key > 5000 OR old_key > 5000"), '0', 'the log does not name it');
is($node->safe_psql('postgres', "SELECT count(*) FROM letter_group_events WHERE key > 5000"), '0', 'nor do events');

cmp_ok(found_in('letter', @text), '>', 0, 'the table\'s pages keep the text');
$node->safe_psql('postgres', 'VACUUM FULL letter; CHECKPOINT');
is(found_in('letter', @text, @fps), 0, '... until VACUUM FULL');

# --- many: of a fingerprint that parts two pages, REINDEX rids the index

my %deleted = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', 'SELECT fp FROM letter WHERE id % 2 = 0');
my $remaining = sub {
	my %there;

	for my $file (files_of('letter_fp'))
	{
		my $content = slurp_file($file);
		$there{ substr $content, $_, 8 } = 1 for 0 .. length($content) - 8;
	}
	return scalar grep { grep { $there{$_} } (bytes_of($_))[ 1 .. 8 ] } keys %deleted;
};
cmp_ok($remaining->(), '==', keys %deleted, 'the index has the fingerprints of the rows');
$node->safe_psql('postgres', 'DELETE FROM letter WHERE id % 2 = 0; VACUUM letter; CHECKPOINT');
my $n = $remaining->();
note("of " . keys(%deleted) . " deleted rows, $n have their fingerprint left");
cmp_ok($n, '<=', 0.02 * keys %deleted, 'few fingerprints are left, those between pages');
$node->safe_psql('postgres', 'REINDEX INDEX letter_fp; CHECKPOINT');
is($remaining->(), 0, 'REINDEX leaves none');

$node->stop;
done_testing();

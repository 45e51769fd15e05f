# limits: results for the largest texts are right, memory is bounded, and a cancel
# stops the work.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole peak_kb);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

$ENV{ENCODING} ||= 'UTF8';

# the largest text, and words that the server adds up by itself
my $mb = $whole ? 200 : 40;
my $n_words = $whole ? 1000000 : 200000;

my $node = PostgreSQL::Test::Cluster->new('limits');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\njit = off");
$node->start;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION simdup;
CREATE TABLE page (body text);
INSERT INTO page SELECT string_agg('word' || i, ' ') FROM generate_series(1, 100000) AS i;
-- as rows of some size come: compressed, out of line
CREATE TABLE huge (body text);
INSERT INTO huge SELECT repeat(body || ' ', (${mb}e6 / octet_length(body))::int) FROM page;
SQL
cmp_ok($node->safe_psql('postgres', 'SELECT octet_length(body) FROM huge'), '>', 0.95e6 * $mb, "a text of $mb MB");

# --- right

# One token: its fingerprint is its hash.
is( $node->safe_psql('postgres', <<'SQL'),
SELECT simhash(a) = simdup_hash(a)::simhash64, simhash(a, tokenizer => 'alpha') = simhash(a),
       simhash(a, tokenizer => 'char:1') = simdup_hash('a')::simhash64,
       simhash(a, tokenizer => 'char:16') = simdup_hash(repeat('a', 16))::simhash64,
       (SELECT count(*) FROM simdup_features(a))
FROM (SELECT repeat('a', 1000000) AS a) AS x;
SQL
	't|t|t|t|1', "one million characters of 'a'");
is( $node->safe_psql('postgres', <<'SQL'),
SELECT minhash64(a) = minhash64('aaaa'), minhash64(a, 64) = minhash64(repeat('a', 64), 64),
       minhash64(a, 2, 'word') = minhash64(ARRAY[a]), minhash_bits(a) = minhash_bits('aaaa')
FROM (SELECT repeat('a', 1000000) AS a) AS x;
SQL
	't|t|t|t', "one million characters of 'a', by minhash64");
is( $node->safe_psql('postgres', <<'SQL'),
SELECT minhash64(string_agg('word' || i, ' '), 1, 'word') = minhash64_agg('word' || i)
FROM generate_series(1, 1000000) AS i;
SQL
	't', 'one million different words, by minhash64');

# The sums by SQL: for each bit, whether more hashes have it than have not.
my $sums = join(" ||\n", map {
	"CASE WHEN 2 * count(*) FILTER (WHERE h & (1::bigint << $_) <> 0) > count(*) THEN '1' ELSE '0' END"
} reverse 0 .. 63);
is( $node->safe_psql('postgres', <<"SQL"),
SELECT simhash(string_agg('word' || i, ' ')) =
  (SELECT ($sums)::bit(64)::simhash64
   FROM (SELECT simdup_hash('word' || i) AS h FROM generate_series(1, $n_words) AS i) AS hashes)
FROM generate_series(1, $n_words) AS i;
SQL
	't', "$n_words different words");

# The same words many times as often: the same order of sums.
is( $node->safe_psql('postgres', <<'SQL'),
SELECT simhash(huge.body, weighting => 'tf') = simhash(page.body, weighting => 'tf'),
       simhash(huge.body, weighting => 'set') = simhash(page.body, weighting => 'set'),
       simhash(huge.body) = simhash(page.body)
FROM huge, page;
SQL
	't|t|t', "$mb MB of text");
is( $node->safe_psql('postgres', <<'SQL'),
SELECT minhash64(huge.body) = minhash64(page.body || page.body), minhash64(huge.body, 2, 'word') = minhash64(page.body || ' ' || page.body, 2, 'word')
FROM huge, page;
SQL
	't|t', "$mb MB of text, by minhash64");

# --- as many distinct shingles, and as many words, as a text may have, and one more

my $most = 33554432;
# windows of 16 random hexadecimal digits do not repeat
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE most_shingles (t text);
ALTER TABLE most_shingles ALTER t SET STORAGE EXTERNAL;
INSERT INTO most_shingles SELECT left(string_agg(md5(i::text), ''), $most + 15) FROM generate_series(1, 1048577) AS i;
SQL
for my $call ("shingle_resemblance(t, 'none of it', 16) = 0", "minhash_signature(t, 1, 16, 'char') IS NOT NULL")
{
	my $stderr;

	is($node->safe_psql('postgres', "SELECT $call FROM most_shingles"), 't', "the most: $call");
	$node->psql('postgres', "SELECT $call FROM (SELECT t || 'g' FROM most_shingles) AS x (t)", stderr => \$stderr);
	like($stderr, qr/text has too many shingles\nDETAIL: +More than $most of them are distinct/, "one too many: $call");
}

my $stderr;
is($node->safe_psql('postgres', "SELECT length(simdup_own_text(repeat('a ', $most), 'none of it'))"), 2 * $most - 1, 'the most words');
$node->psql('postgres', "SELECT length(simdup_own_text(repeat('a ', $most + 1), 'none of it'))", stderr => \$stderr);
like($stderr, qr/text has too many words\nDETAIL: +At most $most are compared/, 'one word too many');

# --- within the memory of the text and its distinct tokens

SKIP:
{
	skip 'no /proc to read the size of a session from', 4 unless -r '/proc/self/status';

	# both detoast the text: the rest is memory of the fingerprint
	my $idle = peak_kb($node, 'SELECT 1') / 1024;
	my $text = peak_kb($node, 'SELECT octet_length(body || \'\') FROM huge') / 1024 - $idle;
	my $huge = peak_kb($node, 'SELECT simhash(body) FROM huge') / 1024 - $idle;
	# fingerprints are of UTF-8: texts in another encoding are converted
	my $copies = $ENV{ENCODING} eq 'LATIN1' ? 2 : 1;
	cmp_ok($huge, '<', 1.2 * $mb * $copies + 64, sprintf('%d MB of text: %d MB beside an idle session (reading and copying it: %d)', $mb, $huge, $text));

	my $minhash = peak_kb($node, 'SELECT minhash64(body) FROM huge') / 1024 - $idle;
	cmp_ok($minhash, '<', 1.2 * $mb * $copies + 64, sprintf('%d MB of text: %d MB beside an idle session, by minhash64', $mb, $minhash));

	# 11 MB of text in memory, twice while string_agg grows it; a table of a
	# million entries
	my $million = q{(SELECT string_agg('word' || i, ' ') FROM generate_series(1, 1000000) AS i)};
	my $text_only = peak_kb($node, "SELECT md5($million)") / 1024;
	my $words = peak_kb($node, "SELECT simhash($million)") / 1024 - $text_only;
	cmp_ok($words, '<', 128, sprintf('one million different words: %d MB beside the text', $words));

	# nothing is kept from row to row
	my $once = peak_kb($node, 'SELECT simhash(body) FROM page') / 1024;
	my $often = peak_kb($node, 'SELECT count(simhash(body)) FROM page, generate_series(1, 200)') / 1024;
	cmp_ok($often - $once, '<', 32, sprintf('200 rows take %d MB more than one', $often - $once));
}

# --- stoppable, in the middle of one call

# Builds the text, says so by a lock, and fingerprints it until it is cancelled.
# Each has a lock of its own: the session before may still be going.
my $lock = 0;
for my $call (
	"simhash(t, tokenizer => 'char:16')", "simhash(t, tokenizer => 'word:16')",
	"minhash64(t)", "minhash64(t, 8, 'word')", "minhash_bits(t, 8192)",
	"simhash_row('a', ARRAY[t])", "minhash64_row('a', ARRAY[t])", "simdup_report_differences(t, t || 'x')",
	"simhash(t, 10)", "count(*) FROM simdup_features(t, tokenizer => 'char:8')")
{
	my ($stdout, $stderr) = ('', '');
	my $locks = 'pg_locks WHERE granted AND locktype = \'advisory\' AND objid = ' . ++$lock;
	my $session = IPC::Run::start(
		[ 'psql', '-qXAt', '-d', $node->connstr('postgres'), '-c', <<"SQL" ], '<', \'', '>', \$stdout, '2>', \$stderr);
DO \$\$
DECLARE
  t text := (SELECT body FROM huge);
BEGIN
  t := t || '';
  PERFORM pg_advisory_lock($lock);
  FOR i IN 1 .. 1000 LOOP
    PERFORM $call;
  END LOOP;
END \$\$;
SQL
	my $started = $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM $locks");

	sleep(0.2);
	my $cancelled_at = time;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM $locks");
	$session->finish;
	my $took = time - $cancelled_at;
	ok($started && $stderr =~ /canceling statement due to user request/, "$call is cancelled") or diag($stderr);
	cmp_ok($took, '<', 30, sprintf('%s stops soon: %.2f s', $call, $took));
}

$node->stop;
done_testing();

# shingles: resemblance, pairs, MinHash and bitmaps on real petitions with exact
# truth, where the evaluation data lies beside the checkout.
use strict;
use warnings;
use feature 'fc';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Unicode::Normalize qw(NFC NFD NFKC);

$ENV{ENCODING} ||= 'UTF8';

my $data = '../shared/data/petitions_zh';
plan skip_all => "no evaluation data in $data" unless -e "$data/petitions.csv";
plan skip_all => "$ENV{ENCODING} lacks characters of the petitions" unless $ENV{ENCODING} =~ /^(UTF8|SQL_ASCII)$/;

my $node = PostgreSQL::Test::Cluster->new('shingles');
$node->init(extra => [ "--encoding=$ENV{ENCODING}", '--locale=C' ]);
$node->append_conf('postgresql.conf', 'enable_nestloop = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE petition (id int PRIMARY KEY, author text, title text, at text, body text, n1 text, n2 text);
	\\copy petition FROM '$data/petitions.csv' (FORMAT csv, HEADER)
	CREATE TABLE listed (a int, b int, jaccard float8, common int, either int);
	\\copy listed FROM PROGRAM 'tail -n +2 $data/pairs.tsv'
	CREATE VIEW pair AS SELECT l.*, x.body AS x, y.body AS y
	FROM listed l JOIN petition x ON x.id = a JOIN petition y ON y.id = b;
});

sub value
{
	return $node->safe_psql('postgres', $_[0]);
}

is(value('SELECT count(*) FROM pair'), 434, 'all listed pairs are there');

# The file counts windows of four characters of the body without white space,
# each as it is: unit raw. Its Jaccard has six digits, its counts are exact.
is( value(
		q{SELECT max(abs(shingle_resemblance(x, y, 4, 'raw') - jaccard)) < 1e-6
		  AND bool_and(shingle_resemblance(x, y, 4, 'raw') = common::float8 / either) FROM pair}
	),
	't',
	'raw: resemblance of all listed pairs is the file\'s');
is( value(
		q{SELECT bool_and(shingle_containment(x, y, 4, 'raw') >= jaccard - 1e-6
		  AND shingle_containment(y, x, 4, 'raw') >= jaccard - 1e-6) FROM pair}),
	't',
	'containment is at least the resemblance');

# Unit char compares the sets that minhash64_shingles gives.
is( value(
		q{SELECT max(abs(shingle_resemblance(x, y) - expected)) < 1e-6
		  FROM pair, LATERAL (SELECT count(*) FILTER (WHERE s = t)::float8 / count(*) AS expected
		    FROM minhash64_shingles(x) AS s FULL JOIN minhash64_shingles(y) AS t ON s = t) AS sets}
	),
	't',
	'char: resemblance of all listed pairs is that of their sets');

# And by Perl's own Unicode, in all that folding does but to traditional Chinese.
sub char_windows
{
	my ($text) = @_;
	my %windows;

	utf8::decode($text);
	$text = NFC(NFD(fc NFKC($text)) =~ s/\p{Mn}//gr);
	# the Chinese variants that the petitions have
	$text =~ tr/\x{4F48}\x{6607}\x{672E}\x{6A11}\x{71FB}\x{73EE}\x{85B0}\x{904A}/\x{5E03}\x{5347}\x{672F}\x{6881}\x{718F}\x{4F69}\x{718F}\x{6E38}/;
	$text =~ s/[^\p{L}\p{M}\p{N}]//g;
	$windows{ substr($text, $_, 4) } = 1 for 0 .. length($text) - 4;
	return \%windows;
}

my $wrong = 0;
foreach my $line (
	split /\n/,
	value(
		q{SELECT encode(convert_to(x, 'UTF8'), 'hex'), encode(convert_to(y, 'UTF8'), 'hex'), shingle_resemblance(x, y, 4, 'char') FROM pair}
	))
{
	my ($x, $y, $resemblance) = split /\|/, $line;
	my ($s, $t) = map { char_windows(pack 'H*', $_) } $x, $y;
	my $common = grep { exists $t->{$_} } keys %$s;
	my $jaccard = $common / (keys(%$s) + keys(%$t) - $common);

	$wrong++ if abs($jaccard - $resemblance) > 1e-6;
}
is($wrong, 0, 'char: resemblance of all listed pairs is an independent one\'s');

# Whole tables: every pair of the file and no other, with the same value.
is( value(
		q{SELECT count(*), count(*) FILTER (WHERE l.a IS NULL), count(*) FILTER (WHERE p.a IS NULL), max(abs(p.resemblance - l.jaccard)) < 1e-6
		  FROM (SELECT a.id AS a, b.id AS b, shingle_resemblance(a.body, b.body, 4, 'raw') AS resemblance
		    FROM petition a JOIN petition b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 4, 'raw') >= 0.5) AS p
		  FULL JOIN listed l ON l.a = p.a AND l.b = p.b}),
	'434|0|0|t',
	'a join finds the listed pairs and no other');
is( value(
		q{SELECT count(DISTINCT component) FROM (SELECT simdup_component(a.id, b.id) OVER () AS component
		    FROM petition a JOIN petition b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 4, 'raw') >= 0.8) AS c}
	),
	value(
		q{WITH RECURSIVE near AS (SELECT a, b FROM listed WHERE jaccard >= 0.8 UNION SELECT b, a FROM listed WHERE jaccard >= 0.8),
		  reach AS (SELECT a, b FROM near UNION SELECT r.a, n.b FROM reach r JOIN near n ON n.a = r.b)
		  SELECT count(*) FROM (SELECT a FROM reach GROUP BY a HAVING a = min(b)) AS c}
	),
	'and simdup_component their connected components');

# The fingerprint finds candidates; a verified pair is never false.
is( value(
		q{SELECT count(*) FILTER (WHERE l.jaccard >= 0.8) >= 0.95 * (SELECT count(*) FROM listed WHERE jaccard >= 0.8), count(*) FILTER (WHERE l.jaccard IS NULL OR l.jaccard < 0.8)
		  FROM (SELECT a.id AS a, b.id AS b FROM petition a JOIN petition b
		    ON a.id < b.id AND simhash_within(simhash(a.body), simhash(b.body)) AND shingle_resemblance(a.body, b.body, 4, 'raw') >= 0.8) AS p
		  LEFT JOIN listed l ON l.a = p.a AND l.b = p.b}),
	't|0',
	'verified pairs are true, and nearly all');

# MinHash: error, recall of bands, and verification of their pairs.
value(
	q{CREATE TABLE signature AS
	  SELECT id, s, minhash_bands(s, bands) AS bands, recall
	  FROM petition, minhash_signature(body, 128, 4, 'raw') AS s, minhash_bands_for(0.8)});
is( value(
		q{SELECT avg(abs(minhash_similarity(x.s, y.s) - jaccard)) <= 0.05
		  FROM listed JOIN signature x ON x.id = a JOIN signature y ON y.id = b}),
	't',
	'MinHash: mean error of 128 hashes at most 0.05');
is( value(
		q{SELECT avg((x.bands && y.bands)::int) >= max(x.recall) - 0.03
		  FROM listed JOIN signature x ON x.id = a JOIN signature y ON y.id = b WHERE jaccard >= 0.8}
	),
	't',
	'bands for 0.8 reach the recall foreseen');
is( value(
		q{SELECT avg((x.bands && y.bands)::int) >= max(x.recall) - 0.03
		  FROM listed JOIN signature x ON x.id = a JOIN signature y ON y.id = b WHERE jaccard BETWEEN 0.75 AND 0.85}
	),
	't',
	'also of the pairs near 0.8');
is( value(
		q{WITH band AS (SELECT id, unnest(bands) AS h FROM signature),
		  candidate AS (SELECT DISTINCT x.id AS a, y.id AS b FROM band x JOIN band y ON x.h = y.h AND x.id < y.id),
		  found AS (SELECT c.a, c.b FROM candidate c JOIN petition x ON x.id = a JOIN petition y ON y.id = b
					WHERE shingle_resemblance(x.body, y.body, 4, 'raw') >= 0.8)
		  SELECT count(l.a) >= 0.99 * (SELECT count(*) FROM listed WHERE jaccard >= 0.8), count(*) - count(l.a)
		  FROM found f LEFT JOIN listed l ON l.a = f.a AND l.b = f.b AND l.jaccard >= 0.8}
	),
	't|0',
	'MinHash and verification find 99 % of the pairs above 0.8, none of them false');

# A document's class is that of a similar earlier one or its own.
is( value(
		q{SELECT count(*), count(DISTINCT class) = max(class) + 1
		  FROM (SELECT simdup_window(simdup_bitmap(body, 1024), 100, 0.8) OVER (ORDER BY id) AS class FROM petition) AS w}
	),
	'4326|t',
	'classes of bitmaps are numbered without gaps');

$node->stop;
done_testing();

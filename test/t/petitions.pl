# petitions: the pairs and clusters that simdup finds in real petitions, against the
# exact Jaccard similarity of all pairs. Needs the evaluation data beside the checkout,
# in ../shared/data.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Petitions;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

plan skip_all => 'the petitions are not beside the checkout' if Petitions::missing();
plan skip_all => "$ENV{ENCODING} lacks characters of the petitions" unless $ENV{ENCODING} =~ /^(UTF8|SQL_ASCII)$/;

my $node = PostgreSQL::Test::Cluster->new('petitions');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', 'enable_nestloop = off');
$node->start;

# recall of pairs with a coefficient of 0.8, precision against those of 0.5
my %expected = (
	'petitions_zh tf' => { 3 => '0.724 0.992', 6 => '0.921 0.976', 8 => '0.979 0.971' },
	'petitions_zh log' => { 3 => '0.694 1.000', 6 => '0.903 1.000', 8 => '0.985 0.994' },
	'petitions_us tf' => { 3 => '0.804 0.987', 6 => '0.861 0.940', 8 => '0.998 0.744' },
	'petitions_us log' => { 3 => '0.792 1.000', 6 => '0.850 0.990', 8 => '0.992 0.961' });

# The pairs that a join finds within 8, by their distance. With the default weighting,
# a comparison of all rows with all finds as many.
sub pairs
{
	my ($set, $weighting) = @_;

	$node->safe_psql($set, <<"SQL");
DROP TABLE IF EXISTS fingerprint, found;
CREATE TABLE fingerprint AS SELECT id, simhash(body, weighting => '$weighting') AS fp FROM petition;
CREATE TABLE found AS
  SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
  FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8);
SQL
	for my $k (3, 6, 8)
	{
		is(sprintf('%.3f %.3f', Petitions::quality($node, $set, $k)), $expected{"$set $weighting"}{$k}, "$set, $weighting, within $k");
	}
	is( $node->safe_psql($set, 'SELECT count(*) = (SELECT count(*) FROM found) FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id WHERE a.fp <~> b.fp <= 8'),
		't', "$set, a comparison of all with all") if $weighting eq 'log';
	return;
}

# The pairs of minhash64 within 8 are no worse than these. Sketches tell the resemblance.
sub minhash_pairs
{
	my ($set, $least_recall, $least_precision) = @_;

	$node->safe_psql($set, <<'SQL');
DROP TABLE IF EXISTS fingerprint, found;
CREATE TABLE fingerprint AS SELECT id, minhash64(body) AS fp, minhash_bits(body) AS bits FROM petition;
CREATE TABLE found AS
  SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
  FROM fingerprint AS a JOIN fingerprint AS b ON a.id < b.id AND simhash_within(a.fp, b.fp);
SQL
	my ($recall, $precision) = Petitions::quality($node, $set, 8);

	note(sprintf '%s: recall %.4f, precision %.4f', $set, $recall, $precision);
	cmp_ok($recall, '>=', $least_recall, "$set, minhash64, recall within 8");
	cmp_ok($precision, '>=', $least_precision, "$set, minhash64, precision within 8");
	# the second opinion: near the truth, and better than the distance alone
	is( $node->safe_psql($set, <<'SQL'),
SELECT avg(abs(minhash_bits_resemblance(x.bits, y.bits) - jaccard)) < 0.03
FROM truth AS t JOIN fingerprint AS x ON x.id = t.a JOIN fingerprint AS y ON y.id = t.b;
SQL
		't', "$set: sketches of 512 bits tell the resemblance");
	return;
}

# Clusters verified by the texts: no row is beyond max_distance of its cluster's
# first row or resembles it too little, and hardly any true pair is parted.
sub verified_clusters
{
	my ($set) = @_;

	$node->safe_psql($set, <<'SQL');
CREATE TABLE body AS SELECT id::bigint, minhash64(body) AS fp, body FROM petition;
CREATE TABLE verified AS
SELECT id AS key, simdup_cluster(id, fp, body, 8, 0.6) OVER (ORDER BY id) AS cluster FROM body WHERE fp IS NOT NULL AND body IS NOT NULL;
CREATE TABLE known AS SELECT least(a::bigint, b::bigint) AS a, greatest(a::bigint, b::bigint) AS b, jaccard FROM truth;
SQL
	is( $node->safe_psql($set, q{
		SELECT count(*) FILTER (WHERE a.fp <~> b.fp > 8 OR shingle_resemblance(a.body, b.body, 4, 'char') < 0.6)
		FROM verified AS c JOIN body AS a ON a.id = c.key JOIN body AS b ON b.id = c.cluster WHERE c.key <> c.cluster}),
		'0', "$set: each row of a verified cluster resembles its first row");
	is($node->safe_psql($set, 'SELECT count(*) = (SELECT count(*) FROM body WHERE fp IS NOT NULL) FROM verified'), 't', "$set: each row is in one verified cluster");
	my ($recall, $precision) = split /\|/, $node->safe_psql($set, q{
		SELECT r.recall, p.precision FROM
		  (SELECT avg((a.cluster = b.cluster)::int) AS recall FROM known AS t
		   LEFT JOIN verified AS a ON a.key = t.a LEFT JOIN verified AS b ON b.key = t.b WHERE jaccard >= 0.8) AS r,
		  (SELECT avg((t.a IS NOT NULL)::int) AS precision FROM verified AS a JOIN verified AS b ON a.cluster = b.cluster AND a.key < b.key
		   LEFT JOIN known AS t ON t.a = a.key AND t.b = b.key) AS p});
	cmp_ok($recall, '>=', 0.99, "$set: recall of verified clusters");
	cmp_ok($precision, '==', 1, "$set: precision of verified clusters");
	return;
}

my %rows = (petitions_zh => 4326, petitions_us => 4095);
for my $set (sort keys %rows)
{
	Petitions::load($node, $set);
	is($node->safe_psql($set, 'SELECT count(*) FROM petition'), $rows{$set}, "$set: all petitions are there");
	pairs($set, $_) for 'tf', 'log';
	verified_clusters($set);
}

SKIP:
{
	skip 'minhash64 reads the letters of UTF8', 7 if $ENV{ENCODING} ne 'UTF8';
	minhash_pairs('petitions_zh', 0.99, 0.995);
	minhash_pairs('petitions_us', 0.995, 0.96);

	# The false pairs share a bit less than half. All but four are of one
	# petition, with those of one template.
	is( $node->safe_psql('petitions_us', <<'SQL'),
CREATE TABLE false_pair AS
  SELECT f.a, f.b, shingle_resemblance(x.body, y.body, 4, 'raw') AS j
  FROM found AS f JOIN petition AS x ON x.id = f.a JOIN petition AS y ON y.id = f.b
  WHERE NOT EXISTS (SELECT FROM truth AS t WHERE (least(t.a, t.b), greatest(t.a, t.b)) = (f.a, f.b));
SELECT count(*), min(j) > 0.42, max(j) < 0.48,
       (SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT a FROM false_pair UNION ALL SELECT b FROM false_pair) AS p GROUP BY a) AS c)
FROM false_pair;
SQL
		'41|t|t|37', 'US petitions: the false pairs are one petition beside a template');
}

$node->stop;
done_testing();

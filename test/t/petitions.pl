# petitions: the pairs that fingerprints find in real petitions, against the exact
# truth. Needs the evaluation data beside the checkout, in ../shared/data.

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
$node->start;

# The set's tables, and the pairs within 8 by comparing all rows with all.
sub load
{
	my ($set) = @_;

	Petitions::load($node, $set);
	$node->safe_psql($set, <<'SQL');
CREATE TABLE fingerprint AS SELECT id, simhash(body) AS fp FROM petition;
CREATE TABLE found AS
  SELECT x.id AS a, y.id AS b, x.fp <~> y.fp AS distance
  FROM fingerprint AS x JOIN fingerprint AS y ON x.id < y.id
  WHERE x.fp <~> y.fp <= 8;
SQL
	return;
}

# holds SET K RECALL PRECISION: no worse than these.
sub holds
{
	my ($set, $k, $least_recall, $least_precision) = @_;
	my ($recall, $precision) = Petitions::quality($node, $set, $k);

	note(sprintf '%s, within %d: recall %.4f, precision %.4f', $set, $k, $recall, $precision);
	cmp_ok($recall, '>=', $least_recall, "$set, recall within $k");
	cmp_ok($precision, '>=', $least_precision, "$set, precision within $k");
	return;
}

load('petitions_zh');
is($node->safe_psql('petitions_zh', 'SELECT count(*) FROM petition'), '4326', 'all Chinese petitions are there');
holds('petitions_zh', 3, 0.69, 1.00);
holds('petitions_zh', 8, 0.98, 0.99);

load('petitions_us');
is($node->safe_psql('petitions_us', 'SELECT count(*) FROM petition'), '4095', 'all English petitions are there');
holds('petitions_us', 3, 0.79, 0.995);
holds('petitions_us', 8, 0.99, 0.96);

$node->stop;
done_testing();

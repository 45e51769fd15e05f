# petitions: the pairs that fingerprints find in real petitions, against the exact
# truth. Needs the evaluation data beside the checkout, in ../shared/data.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $data = '../shared/data';

plan skip_all => 'the petitions are not beside the checkout' unless -e "$data/petitions_zh/petitions.csv";
plan skip_all => "$ENV{ENCODING} lacks characters of the petitions" unless $ENV{ENCODING} =~ /^(UTF8|SQL_ASCII)$/;

my $node = PostgreSQL::Test::Cluster->new('petitions');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;

# Petitions and pairs into tables; $columns are the file's, id and body among
# them.
sub load
{
	my ($set, $columns) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $set");
	$node->safe_psql($set, <<"SQL");
SET client_encoding = 'UTF8';
CREATE EXTENSION simdup;
CREATE TABLE petition (@{[ join(', ', map { "$_ text" } @$columns) ]});
\\copy petition FROM '$data/$set/petitions.csv' (FORMAT csv, HEADER)
CREATE TABLE truth (a text, b text, jaccard float8, shared integer, joined integer);
\\copy truth FROM '$data/$set/pairs.tsv' (HEADER)
CREATE TABLE fingerprint AS SELECT id, simhash(body) AS fp FROM petition;
CREATE TABLE found AS
  SELECT x.id AS a, y.id AS b, x.fp <~> y.fp AS distance
  FROM fingerprint AS x JOIN fingerprint AS y ON x.id < y.id
  WHERE x.fp <~> y.fp <= 8;
SQL
	return;
}

# Recall of the pairs with Jaccard 0.8 or more, precision among those with 0.5
# or more (all of which the truth lists), of what lies within k.
sub quality
{
	my ($set, $k) = @_;

	return split /\|/, $node->safe_psql($set, <<"SQL");
SELECT (count(*) FILTER (WHERE jaccard >= 0.8 AND distance <= $k))::float8
         / count(*) FILTER (WHERE jaccard >= 0.8),
       (count(*) FILTER (WHERE jaccard >= 0.5 AND distance <= $k))::float8
         / count(*) FILTER (WHERE distance <= $k)
FROM (SELECT least(a, b) AS a, greatest(a, b) AS b, jaccard FROM truth) AS t
  FULL JOIN found USING (a, b);
SQL
}

# holds SET K RECALL PRECISION: no worse than these.
sub holds
{
	my ($set, $k, $least_recall, $least_precision) = @_;
	my ($recall, $precision) = quality($set, $k);

	note(sprintf '%s, within %d: recall %.4f, precision %.4f', $set, $k, $recall, $precision);
	cmp_ok($recall, '>=', $least_recall, "$set, recall within $k");
	cmp_ok($precision, '>=', $least_precision, "$set, precision within $k");
	return;
}

load('petitions_zh', [qw(id who title at body con pro)]);
is($node->safe_psql('petitions_zh', 'SELECT count(*) FROM petition'), '4326', 'all Chinese petitions are there');
holds('petitions_zh', 3, 0.69, 1.00);
holds('petitions_zh', 8, 0.98, 0.99);

load('petitions_us', [qw(id petition_id title body created signature_count status issues)]);
is($node->safe_psql('petitions_us', 'SELECT count(*) FROM petition'), '4095', 'all English petitions are there');
holds('petitions_us', 3, 0.79, 0.995);
holds('petitions_us', 8, 0.99, 0.96);

$node->stop;
done_testing();

# batch_petitions: the pairs and clusters that simdup finds in real petitions,
# against the exact Jaccard similarity of all pairs. Needs the evaluation data beside the checkout.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $data = '../shared/data';
plan skip_all => "no evaluation data at $data" unless -r "$data/petitions_zh/pairs.tsv";
plan skip_all => "$ENV{ENCODING} lacks characters of the petitions" unless $ENV{ENCODING} =~ /^(UTF8|SQL_ASCII)$/;

my $node = PostgreSQL::Test::Cluster->new('batch_petitions');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', 'enable_nestloop = off');
$node->start;

# recall of pairs with a coefficient of 0.8, precision against those of 0.5
my %expected = (
	'zh tf' => { 3 => '0.724 0.992', 6 => '0.921 0.976', 8 => '0.979 0.971' },
	'zh log' => { 3 => '0.694 1.000', 6 => '0.903 1.000', 8 => '0.985 0.994' },
	'us tf' => { 3 => '0.804 0.987', 6 => '0.861 0.940', 8 => '0.998 0.744' },
	'us log' => { 3 => '0.792 1.000', 6 => '0.850 0.990', 8 => '0.992 0.961' },);

# The columns of a file: its own header, all text.
sub columns_of
{
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!";
	my $header = <$in>;
	close $in;
	$header =~ s/^\x{ef}\x{bb}\x{bf}|\r?\n$//g;
	return map { s/"//gr } split /,/, $header;
}

# Clusters verified by the texts: no row is beyond max_distance of its cluster's
# first row or resembles it too little, and hardly any true pair is parted.
sub verified_clusters
{
	my ($set, $id, $body) = @_;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE text_$set AS SELECT "$id"::bigint AS id, minhash64("$body") AS fp, "$body" AS body FROM $set;
CREATE TABLE verified_$set AS
SELECT id AS key, simdup_cluster(id, fp, body, 8, 0.6) OVER (ORDER BY id) AS cluster FROM text_$set WHERE fp IS NOT NULL AND body IS NOT NULL;
SQL
	is( $node->safe_psql('postgres', qq{
		SELECT count(*) FILTER (WHERE a.fp <~> b.fp > 8 OR shingle_resemblance(a.body, b.body, 4, 'char') < 0.6)
		FROM verified_$set AS c JOIN text_$set AS a ON a.id = c.key JOIN text_$set AS b ON b.id = c.cluster WHERE c.key <> c.cluster}),
		'0', "$set: each row of a verified cluster resembles its first row");
	is( $node->safe_psql('postgres', "SELECT count(*) = (SELECT count(*) FROM text_$set WHERE fp IS NOT NULL) FROM verified_$set"),
		't', "$set: each row is in one verified cluster");
	my ($recall, $precision) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT r.recall, p.precision FROM
		  (SELECT avg((a.cluster = b.cluster)::int) AS recall FROM truth_$set AS t
		   LEFT JOIN verified_$set AS a ON a.key = t.a LEFT JOIN verified_$set AS b ON b.key = t.b WHERE jaccard >= 0.8) AS r,
		  (SELECT avg((t.a IS NOT NULL)::int) AS precision FROM verified_$set AS a JOIN verified_$set AS b ON a.cluster = b.cluster AND a.key < b.key
		   LEFT JOIN truth_$set AS t ON least(t.a, t.b) = a.key AND greatest(t.a, t.b) = b.key) AS p});
	cmp_ok($recall, '>=', 0.99, "$set: recall of verified clusters");
	cmp_ok($precision, '==', 1, "$set: precision of verified clusters");
	return;
}

$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
for my $set ('zh', 'us')
{
	my @columns = columns_of("$data/petitions_$set/petitions.csv");
	# the Chinese table has no column called id or body: the first is the key,
	# the fifth the body
	my ($id, $body) = $set eq 'zh' ? @columns[ 0, 4 ] : ('id', 'body');
	$node->safe_psql('postgres',
		"CREATE TABLE $set (" . join(', ', map { "\"$_\" text" } @columns) . ");\n"
		  . "\\copy $set FROM '$data/petitions_$set/petitions.csv' (FORMAT csv, HEADER)\n"
		  . "CREATE TABLE truth_$set (a bigint, b bigint, jaccard float8, inter int, uni int);\n"
		  . "\\copy truth_$set FROM '$data/petitions_$set/pairs.tsv' (FORMAT csv, HEADER, DELIMITER E'\\t')\n");
	verified_clusters($set, $id, $body);
	for my $weighting ('tf', 'log')
	{
		$node->safe_psql('postgres',
			qq{CREATE TABLE fp_${set}_$weighting AS SELECT "$id"::bigint AS id, simhash("$body", weighting => '$weighting') AS fp FROM $set});
		for my $k (3, 6, 8)
		{
			my $got = $node->safe_psql('postgres', qq{
			  SELECT round(count(*) FILTER (WHERE is_found AND jaccard >= 0.8)::numeric / count(*) FILTER (WHERE jaccard >= 0.8), 3)
			    || ' ' || round(count(*) FILTER (WHERE is_found AND jaccard IS NOT NULL)::numeric / count(*) FILTER (WHERE is_found), 3)
			  FROM (SELECT a.id AS a, b.id AS b, true AS is_found FROM fp_${set}_$weighting AS a JOIN fp_${set}_$weighting AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $k)) AS f
			    FULL JOIN (SELECT least(a, b) AS a, greatest(a, b) AS b, jaccard FROM truth_$set WHERE a <> b) AS t USING (a, b)});
			is($got, $expected{"$set $weighting"}{$k}, "$set, $weighting, within $k");
		}
	}
}
$node->stop;
done_testing();

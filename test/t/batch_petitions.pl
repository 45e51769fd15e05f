# batch_petitions: the pairs that simdup finds in real petitions, against the exact
# Jaccard similarity of all pairs. Needs the evaluation data beside the checkout.

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
	for my $weighting ('tf', 'log')
	{
		$node->safe_psql('postgres',
			qq{CREATE TABLE fp_${set}_$weighting AS SELECT "$id"::bigint AS id, simhash("$body", weighting => '$weighting') AS fp FROM $set});
		for my $k (3, 6, 8)
		{
			my $found = "SELECT * FROM simdup_pairs(''SELECT id, fp FROM fp_${set}_$weighting'', $k)";
			my $got = $node->safe_psql('postgres', qq{
			  SELECT round(r.recall::numeric, 3) || ' ' || round(p.precision::numeric, 3)
			  FROM simdup_evaluate('$found', 'SELECT a, b FROM truth_$set WHERE jaccard >= 0.8') AS r,
			    simdup_evaluate('$found', 'SELECT a, b FROM truth_$set') AS p});
			is($got, $expected{"$set $weighting"}{$k}, "$set, $weighting, within $k");
		}
	}
}
$node->stop;
done_testing();

# similar: the recipe of doc/simdup-search.md finds a text by its first
# half. Needs the evaluation data beside the checkout, in ../shared/data.
#
# Its first half and a text share half of their shingles, so their fingerprints
# are about 16 bits apart. Some unrelated rows are nearer.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Petitions;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the petitions are not beside the checkout' if Petitions::missing();

my $node = PostgreSQL::Test::Cluster->new('similar');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# The page's statement, also with a condition where the page says it may stand.
sub recipe
{
	my ($name) = @_;
	my ($alike) = slurp_file('doc/simdup-search.md') =~ /^(PREPARE alike \(.*?;)$/ms or die 'the page has no alike';

	return $alike if $name eq 'alike';
	return $alike =~ s/alike \(text\)/alike_in_district (text, integer)/r =~ s/FROM letter\n/FROM letter WHERE district = \$2\n/r;
}

# The set's tables, and letters with indexes.
sub load
{
	my ($set) = @_;

	Petitions::load($node, $set);
	$node->safe_psql($set, <<"SQL");
CREATE TABLE letter AS SELECT id::integer, body AS content, id::integer % 97 AS district FROM petition;
ALTER TABLE letter ADD PRIMARY KEY (id);
CREATE INDEX letter_near ON letter USING hamming (content);
CREATE INDEX letter_district ON letter (district);
VACUUM ANALYZE letter;
CREATE TABLE half AS
  SELECT id, district, left(body, length(body) / 2) AS words
  FROM (SELECT id, district, btrim(content, E' \\n\\t\\r') AS body FROM letter WHERE minhash64(content) IS NOT NULL) AS known
  ORDER BY hashint4(id) LIMIT 300;
SQL
	return;
}

# The places at which the rows of the halves come, by the prepared statement in a
# generic plan; 0 for none.
sub places
{
	my ($set, $name) = @_;
	my @halves = split /\n/, $node->safe_psql($set, 'SELECT id FROM half ORDER BY id');
	my $parameters = $name eq 'alike' ? ':words' : ':words, :district';
	my $calls = join '', map { <<"SQL" } @halves;
SELECT quote_literal(words) AS words, district FROM half WHERE id = $_ \\gset
SELECT '= $_';
EXECUTE $name ($parameters);
SQL
	my $answers = $node->safe_psql($set, <<"SQL");
SET plan_cache_mode = force_generic_plan;
@{[ recipe($name) ]}
$calls
SQL
	my @places;

	for my $answer (grep { /\S/ } split /^= /m, $answers)
	{
		my ($right, @found) = map { s/\|.*//r } split /\n/, $answer;
		my ($place) = grep { $found[ $_ - 1 ] eq $right } 1 .. @found;

		push @places, $place // 0;
	}
	is(scalar @places, scalar @halves, "$set: each half is answered");
	return @places;
}

sub holds
{
	my ($set) = @_;

	load($set);
	my @places = places($set, 'alike');
	my $first = grep { $_ == 1 } @places;
	my $ten = grep { $_ > 0 && $_ <= 10 } @places;

	note("$set: of " . @places . " halves, $first find their text first, $ten among ten");
	is(scalar @places, 300, "$set: 300 halves");
	cmp_ok($ten, '>=', 0.97 * @places, "$set: the text is among the first ten");
	cmp_ok($first, '>=', 0.90 * @places, "$set: the text is first");

	my @within = places($set, 'alike_in_district');
	cmp_ok(scalar(grep { $_ > 0 } @within), '>=', 0.97 * @within, "$set: also within one district");

	my $plans = $node->safe_psql($set, <<"SQL");
SET plan_cache_mode = force_generic_plan;
@{[ recipe('alike') ]}
@{[ recipe('alike_in_district') ]}
EXPLAIN EXECUTE alike ('a');
EXPLAIN EXECUTE alike_in_district ('a', 1);
SQL
	like($plans, qr/Index Scan using letter_near .*Order By: \(content <~~> \$1/s, "$set: a generic plan uses the index");
	like($plans, qr/Scan (on|using) letter_district/, "$set: within a district it uses the district's");
	return;
}

holds('petitions_zh');
holds('petitions_us');

$node->stop;
done_testing();

package Petitions;

# What the scripts on real petitions share: the tables of a set, and how well
# pairs found in it agree with the exact truth. The data is beside the checkout.

use strict;
use warnings;

our $folder = '../shared/data';

# The columns of each set's file, all of them texts.
my %columns = (
	petitions_zh => 'id who title at body con pro',
	petitions_us => 'id petition_id title body created signature_count status issues');

sub missing
{
	return !-e "$folder/petitions_zh/petitions.csv";
}

# Make a database of the set's name, with the extension and the tables petition
# and truth.
sub load
{
	my ($node, $set) = @_;
	my $definition = join ', ', map { "$_ text" } split / /, $columns{$set};

	$node->safe_psql('postgres', "CREATE DATABASE $set");
	$node->safe_psql($set, <<"SQL");
SET client_encoding = 'UTF8';
CREATE EXTENSION simdup;
CREATE TABLE petition ($definition);
\\copy petition FROM '$folder/$set/petitions.csv' (FORMAT csv, HEADER)
CREATE TABLE truth (a text, b text, jaccard float8, shared integer, joined integer);
\\copy truth FROM '$folder/$set/pairs.tsv' (HEADER)
SQL
	return;
}

# Recall and precision of the pairs within k in the table found (a, b, distance),
# where a is less than b. Recall is of the pairs with Jaccard 0.8 or more. Precision
# counts pairs with 0.5 or more, all of which the truth lists.
sub quality
{
	my ($node, $set, $k) = @_;

	return split /\|/, $node->safe_psql($set, <<"SQL");
SELECT (count(*) FILTER (WHERE jaccard >= 0.8 AND distance <= $k))::float8
         / count(*) FILTER (WHERE jaccard >= 0.8),
       (count(*) FILTER (WHERE jaccard >= 0.5 AND distance <= $k))::float8
         / count(*) FILTER (WHERE distance <= $k)
FROM (SELECT least(a, b) AS a, greatest(a, b) AS b, jaccard FROM truth) AS t
  FULL JOIN found USING (a, b);
SQL
}

1;

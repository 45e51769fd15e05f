#!/usr/bin/perl
# commits.pl: synthetic commit messages with boilerplate trailers, for COPY.
#
#   commits.pl ROWS [SEED]
#
# Each line is a number, a tab and a message. Words are made of syllables and
# drawn by Zipf's law, so that their 4-grams are about as uneven as those of
# English. One message in eight repeats an earlier one: a backport with a line
# above and trailers below, or a revision with a few words changed. Trailers
# name a few hundred people, most of them again and again.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Words;

my ($rows, $seed) = @ARGV;
$rows = 1000 if !defined $rows;
Words::begin(defined $seed ? $seed : 1);

my @people = map { my ($first, $last) = map { ucfirst } words(2); "$first $last <" . lc("$first.$last") . "\@$words[zipf(60) + 200].org>" } 1 .. 400;
my @areas = map { "$words[300 + $_]: $words[900 + $_]" } 0 .. 79;

sub hex_digits
{
	my ($n) = @_;

	return join '', map { sprintf '%x', random(16) } 1 .. $n;
}

sub person
{
	return $people[ zipf(scalar @people) ];
}

sub trailers
{
	my @lines = ('Signed-off-by: ' . person());

	push @lines, 'Reviewed-by: ' . person() for 1 .. random(3);
	push @lines, 'Acked-by: ' . person() if random(3) == 0;
	push @lines, 'Cc: stable@vger.example.org # all supported versions' if random(4) == 0;
	push @lines, 'Link: https://lore.example.org/r/2021' . hex_digits(16) . '@mail.example.org' if random(2) == 0;
	push @lines, 'Fixes: ' . hex_digits(12) . ' ("' . join(' ', words(6)) . '")' if random(3) == 0;
	return join "\n", @lines;
}

sub message
{
	my $paragraphs = 1 + zipf(6);

	return join "\n\n", $areas[ zipf(scalar @areas) ] . ': ' . join(' ', words(5 + random(5))),
	  map { my @text = words(15 + random(60)); ucfirst(join ' ', @text) . '.' } 1 .. $paragraphs;
}

# A few words of a message exchanged.
sub revised
{
	my @parts = split /( )/, $_[0];

	$parts[ random(scalar @parts) ] = $words[ zipf(scalar @words) ] for 1 .. 1 + random(6);
	return join '', @parts;
}

my @earlier;
for my $number (1 .. $rows)
{
	my $body = message();
	my $kind = @earlier ? random(16) : 2;

	$body = '[ Upstream commit ' . hex_digits(40) . " ]\n\n" . $earlier[ random(scalar @earlier) ] if $kind == 0;
	$body = revised($earlier[ random(scalar @earlier) ]) if $kind == 1;
	push @earlier, $body if $kind > 1;
	my $text = "$body\n\n" . trailers();
	$text =~ s/\n/\\n/g;
	print "$number\t$text\n";
}

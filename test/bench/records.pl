#!/usr/bin/perl
# records.pl: synthetic records of people, in the manner of FEBRL, for COPY.
#
#   records.pl ROWS [SEED]
#
# Each line has a number, the number of the person, and the fields as one text: names,
# date of birth, street, place, postcode and telephone. Half of the people have a
# second record. It has one to four faults. A letter or a digit is mistyped, left out or
# exchanged with the next one, a field is missing, or two names change places.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Words;

my ($rows, $seed) = @ARGV;
Words::begin(defined $seed ? $seed : 1);

my @first = map { ucfirst } words(300);
my @last = map { ucfirst $_ . pick(qw(er son ton ley man well)) } words(2000);
my @streets = map { ucfirst($_) . pick(' Street', ' Road', ' Lane', ' Close') } words(1500);
my @places = map { ucfirst($_) . pick(qw(ham ville bury ford)) } words(400);

sub person
{
	my $place = random(scalar @places);

	return (pick(@first), pick(@last), sprintf('19%02d%02d%02d', random(100), 1 + random(12), 1 + random(28)),
		1 + random(200), pick(@streets), $places[$place], 2000 + 7 * $place, sprintf('0%d %08d', 2 + random(7), random(100000000)));
}

sub mistyped
{
	my @fields = @_;

	for (1 .. 1 + random(4))
	{
		my $kind = random(10);
		my $i = random(scalar @fields);
		my $at = random(length($fields[$i]) || 1);

		if ($kind == 0) { $fields[$i] = '' }
		elsif ($kind == 1) { @fields[ 0, 1 ] = @fields[ 1, 0 ] }
		elsif ($fields[$i] eq '') { next }
		elsif ($kind < 5) { substr $fields[$i], $at, 1, $fields[$i] =~ /[a-z]/ ? chr(97 + random(26)) : random(10) }
		elsif ($kind < 8) { substr $fields[$i], $at, 1, '' }
		else { $fields[$i] = substr($fields[$i], 0, $at) . reverse(substr $fields[$i], $at, 2) . substr($fields[$i], $at + 2 > length $fields[$i] ? length $fields[$i] : $at + 2) }
	}
	return @fields;
}

my ($number, $person) = (0, 0);
while ($number < $rows)
{
	my @fields = person();

	$person++;
	print join("\t", ++$number, $person, join ' ', @fields), "\n";
	print join("\t", ++$number, $person, join ' ', mistyped(@fields)), "\n" if random(2);
}

#!/usr/bin/perl
#
# charclass.pl: make charclass.c out of UnicodeData.txt and PropList.txt.
#
#   cd /usr/share/unicode && perl .../charclass.pl UnicodeData.txt PropList.txt > .../charclass.c
#
# The tables belong to fingerprint profile 1 and are frozen with it. The file in
# the tree was made from Unicode 15.0 (Debian's unicode-data 15.0.0) and is
# never made again from a later one. A later Unicode is a later profile.

use strict;
use warnings;

my $SEPARATOR = 0;
my $SEGMENTED = 1;
my $UNSEGMENTED = 2;

# Scripts written without spaces between words.
my @unsegmented = (
	[ 0x0E00, 0x0EFF ], [ 0x1000, 0x109F ], [ 0x1780, 0x17FF ],
	[ 0x3005, 0x3007 ], [ 0x3021, 0x3029 ], [ 0x3031, 0x3035 ],
	[ 0x3038, 0x303B ], [ 0x3040, 0x30FF ], [ 0x31F0, 0x31FF ],
	[ 0x3400, 0x4DBF ], [ 0x4E00, 0x9FFF ], [ 0xF900, 0xFAFF ],
	[ 0xFF66, 0xFF9F ], [ 0x1AFF0, 0x1B16F ], [ 0x20000, 0x323AF ]);

my $MAX = 0x110000;
my (@category, %lower, @digit_zeros);

# Sentence_Terminal without ASCII, and what ends sentences in Tibetan, Khmer and Coptic.
my @sentence_ends = ([ 0x0F0D, 0x0F12 ], [ 0x17D4, 0x17D5 ], [ 0x2CF9, 0x2CFB ]);

my $first;
while (<>)
{
	if ($ARGV eq 'PropList.txt')
	{
		push @sentence_ends, [ hex $1, hex($2 // $1) ]
		  if /^([0-9A-F]{4,})(?:\.\.([0-9A-F]+))? *; Sentence_Terminal / && hex $1 > 127;
		next;
	}
	my @field = split /;/, $_, -1;
	my $cp = hex $field[0];

	$lower{$cp} = hex $field[13] if $field[13] ne '';
	push @digit_zeros, $cp if $field[2] eq 'Nd' && $field[6] eq '0';
	if ($field[1] =~ /, First>$/)
	{
		$first = $cp;
		next;
	}
	$first = $cp if $field[1] !~ /, Last>$/;
	$category[$_] = $field[2] for $first .. $cp;
}

# Full-width forms become ASCII, then simple lower case.
sub fold
{
	my ($cp) = @_;

	$cp -= 0xFEE0 if $cp >= 0xFF01 && $cp <= 0xFF5E;
	return $lower{$cp} // $cp;
}

sub class
{
	my ($cp) = @_;

	return $SEPARATOR if ($category[$cp] // 'Cn') !~ /^[LMN]/;
	for my $range (@unsegmented)
	{
		return $UNSEGMENTED if $cp >= $range->[0] && $cp <= $range->[1];
	}
	return $SEGMENTED;
}

# Each code point is one of a few (class, distance to its folded form).
my (%property_index, @properties, @property_of);
for my $cp (0 .. $MAX - 1)
{
	my $folded = fold($cp);
	my $key = class($folded) . ',' . ($folded - $cp);

	if (!exists $property_index{$key})
	{
		$property_index{$key} = @properties;
		push @properties, $key;
	}
	$property_of[$cp] = $property_index{$key};
}
die "too many properties for a byte" if @properties > 256;

# Two stages of 128 code points a block; equal blocks are stored once.
my (%block_index, @blocks, @stage1);
for (my $cp = 0; $cp < $MAX; $cp += 128)
{
	my $block = join ',', @property_of[ $cp .. $cp + 127 ];

	if (!exists $block_index{$block})
	{
		$block_index{$block} = @blocks;
		push @blocks, $block;
	}
	push @stage1, $block_index{$block};
}

sub lines
{
	my @values = @_;
	my $out = '';

	while (my @line = splice @values, 0, 16)
	{
		$out .= "\t" . join(', ', @line) . ",\n";
	}
	return $out;
}

print <<'END';
/*
 * charclass.c
 *	  The Unicode tables of profile 1. Frozen.
 *
 * Made by tools/charclass.pl from UnicodeData.txt and PropList.txt of Unicode 15.0.
 */
#include "core/unicode/charclass.h"

END
print "const SimdupCharProperty simdup_char_properties[] = {\n";
print "\t{" . join(', ', reverse split /,/) . "},\n" for @properties;
print "};\n\n";
die "too many blocks for a byte" if @blocks > 256;
printf "const uint8_t simdup_char_stage1[%d] = {\n%s};\n\n",
  scalar @stage1, lines(@stage1);
printf "const uint8_t simdup_char_stage2[%d] = {\n%s};\n",
  128 * @blocks, lines(map { split /,/ } @blocks);
@sentence_ends = map { @$_ } sort { $a->[0] <=> $b->[0] } @sentence_ends;
my @currency_signs = grep { ($category[$_] // '') eq 'Sc' } 0 .. $MAX - 1;
for ([ 'sentence_ends', \@sentence_ends ], [ 'digit_zeros', \@digit_zeros ], [ 'currency_signs', \@currency_signs ])
{
	my ($name, $cps) = @$_;
	printf "\nconst uint32_t simdup_%s[] = {\n%s};\n", $name, lines(map { sprintf '0x%04X', $_ } @$cps);
	printf "const size_t simdup_n_%s = %d;\n", $name, scalar @$cps;
}

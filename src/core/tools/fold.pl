#!/usr/bin/perl
#
# fold.pl: make foldtables.c out of the files of Debian's unicode-data.
#
#   perl src/core/tools/fold.pl /usr/share/unicode > src/core/unicode/foldtables.c
#
# The tables belong to fingerprint profile 2 and are frozen with it. The file in
# the tree was made from Unicode 15.0 (Debian's unicode-data 15.0.0) and is
# never made again from a later one. A later Unicode is a later profile.

use strict;
use warnings;

my $SEPARATOR = 0;
my $SEGMENTED = 1;
my $UNSEGMENTED = 2;

# Scripts written without spaces between words, as in profile 1.
my @unsegmented = (
	[ 0x0E00, 0x0EFF ], [ 0x1000, 0x109F ], [ 0x1780, 0x17FF ],
	[ 0x3005, 0x3007 ], [ 0x3021, 0x3029 ], [ 0x3031, 0x3035 ],
	[ 0x3038, 0x303B ], [ 0x3040, 0x30FF ], [ 0x31F0, 0x31FF ],
	[ 0x3400, 0x4DBF ], [ 0x4E00, 0x9FFF ], [ 0xF900, 0xFAFF ],
	[ 0xFF66, 0xFF9F ], [ 0x1AFF0, 0x1B16F ], [ 0x20000, 0x323AF ]);

# Nonspacing marks in these ranges are removed.
my @removed = (
	[ 0x0300, 0x036F ], [ 0x0483, 0x0487 ], [ 0x0591, 0x05C7 ],
	[ 0x0610, 0x061A ], [ 0x064B, 0x065F ], [ 0x0670, 0x0670 ],
	[ 0x06D6, 0x06ED ], [ 0x1AB0, 0x1AFF ], [ 0x1DC0, 0x1DFF ],
	[ 0x20D0, 0x20FF ], [ 0x3099, 0x309A ], [ 0xFE20, 0xFE2F ]);
my $TATWEEL = 0x0640;

my $MAX = 0x110000;
my (@category, %decomposition, %casefold, %simplified);

# A file of the folder, packed or not.
sub unicode_file
{
	my ($name) = @_;
	my $path = "$ARGV[0]/$name";
	my $file;

	if (-e $path)
	{
		open $file, '<', $path or die "$path: $!";
	}
	else
	{
		open $file, '-|', 'bzcat', "$path.bz2" or die "$path.bz2: $!";
	}
	return $file;
}

sub read_unicode_data
{
	my $file = unicode_file('UnicodeData.txt');
	my $first;

	while (<$file>)
	{
		my @field = split /;/, $_, -1;
		my $cp = hex $field[0];

		$decomposition{$cp} = [ map { hex } split / /, $field[5] ]
		  if $field[5] ne '' && $field[5] !~ /^</;
		if ($field[1] =~ /, First>$/)
		{
			$first = $cp;
			next;
		}
		$first = $cp if $field[1] !~ /, Last>$/;
		$category[$_] = $field[2] for $first .. $cp;
	}
}

sub read_casefold
{
	my $file = unicode_file('DerivedNormalizationProps.txt');

	while (<$file>)
	{
		next unless /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; NFKC_CF;\s*([0-9A-F ]*)#/;
		my @mapping = map { hex } split ' ', $3;
		$casefold{$_} = [@mapping] for hex $1 .. hex($2 // $1);
	}
}

sub read_simplified
{
	my $file = unicode_file('Unihan_Variants.txt');

	while (<$file>)
	{
		next unless /^U\+([0-9A-F]+)\tkSimplifiedVariant\t(.*)$/;
		my $cp = hex $1;
		my @variants = sort { $a <=> $b } map { hex substr $_, 2 } split ' ', $2;
		$simplified{$cp} = $variants[0] unless grep { $_ == $cp } @variants;
	}
}

sub in_ranges
{
	my ($cp, @ranges) = @_;

	return scalar grep { $cp >= $_->[0] && $cp <= $_->[1] } @ranges;
}

sub is_removed
{
	my ($cp) = @_;

	return $cp == $TATWEEL
	  || (($category[$cp] // 'Cn') eq 'Mn' && in_ranges($cp, @removed));
}

# Hangul syllables decompose by arithmetic, and hold nothing that is removed.
sub decomposed
{
	my ($cp) = @_;

	return $cp unless $decomposition{$cp};
	return map { decomposed($_) } @{ $decomposition{$cp} };
}

sub without_marks
{
	my ($cp) = @_;
	my @all = decomposed($cp);
	my @kept = grep { !is_removed($_) } @all;

	return @kept < @all ? @kept : $cp;
}

sub fold
{
	my ($cp) = @_;

	return map { $simplified{$_} // $_ }
	  map { without_marks($_) } @{ $casefold{$cp} // [$cp] };
}

sub class
{
	my ($cp) = @_;

	return $SEPARATOR if ($category[$cp] // 'Cn') !~ /^[LMN]/;
	return in_ranges($cp, @unsegmented) ? $UNSEGMENTED : $SEGMENTED;
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

die "usage: fold.pl FOLDER\n" unless @ARGV == 1;
read_unicode_data();
read_casefold();
read_simplified();

# Each code point has a property: value, class, number of folded characters.
# The first three are those of code points that fold to themselves.
my @properties = ("0,$SEPARATOR,1", "0,$SEGMENTED,1", "0,$UNSEGMENTED,1");
my %property_index = map { $properties[$_] => $_ } 0 .. $#properties;
my (@property_of, @expansions, %expansion_at);
for my $cp (0 .. $MAX - 1)
{
	my @folded = fold($cp);
	my $key;

	if (@folded == 1)
	{
		$key = ($folded[0] - $cp) . ',' . class($folded[0]) . ',1';
	}
	else
	{
		my $text = join ',',
		  map { sprintf '0x%X', $_ | class($_) << 24 } @folded;

		if (@folded && !defined $expansion_at{$text})
		{
			$expansion_at{$text} = @expansions;
			push @expansions, split /,/, $text;
		}
		$key = ($expansion_at{$text} // 0) . ",$SEPARATOR," . @folded;
	}
	if (!exists $property_index{$key})
	{
		$property_index{$key} = @properties;
		push @properties, $key;
	}
	$property_of[$cp] = $property_index{$key};
}
die 'too many properties for 16 bits' if @properties > 65536;

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
die 'too many blocks for 16 bits' if @blocks > 65536;

# The characters of Chinese text that fold to themselves, a bit each.
my @same_han;
for (my $cp = 0x4E00; $cp <= 0x9FFF; $cp += 32)
{
	my $bits = 0;

	for (0 .. 31)
	{
		$bits |= 1 << $_ if $property_of[ $cp + $_ ] == $UNSEGMENTED;
	}
	push @same_han, sprintf '0x%08x', $bits;
}

print <<'END';
/*
 * foldtables.c
 *	  The Unicode tables of profile 2. Frozen.
 *
 * Made by tools/fold.pl from UnicodeData.txt, DerivedNormalizationProps.txt and
 * Unihan_Variants.txt of Unicode 15.0.
 */
#include "core/unicode/charclass.h"

END
printf "const SimdupFoldProperty simdup_fold_properties[%d] = {\n",
  scalar @properties;
print "\t{$_},\n" for map { s/,/, /gr } @properties;
print "};\n\n";
printf "const uint32_t simdup_fold_expansions[%d] = {\n%s};\n\n",
  scalar @expansions, lines(@expansions);
printf "const uint32_t simdup_fold_same_han[%d] = {\n%s};\n\n",
  scalar @same_han, lines(@same_han);
printf "const uint16_t simdup_fold_stage1[%d] = {\n%s};\n\n",
  scalar @stage1, lines(@stage1);
printf "const uint16_t simdup_fold_stage2[%d] = {\n%s};\n",
  128 * @blocks, lines(map { split /,/ } @blocks);

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
my $LISTED = 3;

# Scripts written without spaces between words, as in profile 1.
my @unsegmented = (
	[ 0x0E00, 0x0EFF ], [ 0x1000, 0x109F ], [ 0x1780, 0x17FF ],
	[ 0x3005, 0x3007 ], [ 0x3021, 0x3029 ], [ 0x3031, 0x3035 ],
	[ 0x3038, 0x303B ], [ 0x3040, 0x30FF ], [ 0x31F0, 0x31FF ],
	[ 0x3400, 0x4DBF ], [ 0x4E00, 0x9FFF ], [ 0xF900, 0xFAFF ],
	[ 0xFF66, 0xFF9F ], [ 0x1AFF0, 0x1B16F ], [ 0x20000, 0x323AF ]);

# What folds against the properties: letters that people type for one another, and
# spellings of one letter. Code points, and behind the colon what each becomes.
my %listed;
for (
	'131:69', 'E6:61 65', '153:6F 65', 'FE:74 68', 'F0:64', '14B:6E', '259 25B:65', '254:6F',
	'2B9 2BA 2BB 2BC 2BD 2BE 2BF:27', '5F0:5D5 5D5', '5F1:5D5 5D9', '5F2:5D9 5D9',
	'671:627', '629 6C1 6C3 6D5:647', '649 6CC:64A', '6A9:643', '901:902', '9CE:9A4 9CD',
	'D7A:D23 D4D', 'D7B:D28 D4D', 'D7C:D30 D4D', 'D7D:D32 D4D', 'D7E:D33 D4D', 'D7F:D15 D4D',
	'E41:E40 E40', 'EC1:EC0 EC0',
	# Chinese that Unihan does not link
	'4F48:5E03', '4F54:5360', '9031:5468', '904A:6E38', '6DE8:51C0', '6607:5347',
	'6E67:6D8C', '617E:6B32', '6C59:6C61', '88CF:91CC', '8AAC:8BF4', '7232:4E3A', '8846:4F17',
	'7DAB:7EBF', '8A3C:8BC1')
{
	my ($from, $to) = split /:/;
	$listed{$_} = [ map { hex } split / /, $to ] for map { hex } split / /, $from;
}

# The voiced marks of kana join what stands before them, alone and as signs.
my %voiced = (0x309B => 0x3099, 0x309C => 0x309A);
my %marks_that_stay = map { $_ => 1 } values %voiced;
my %other_marks = (0x0640 => 1, 0x093C => 1);    # tatweel, nukta
my $scripts_of_marks = qr/^(?:Inherited|Cyrillic|Hebrew|Arabic|Syriac)$/;

my $MAX = 0x110000;
my (@category, @script, @name, %cp_named, %digit);
my (%decomposition, %excluded, %casefold, %simplified, %composed);

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

		$name[$cp] = $field[1];
		$cp_named{ $field[1] } = $cp;
		$digit{$cp} = ord $field[6] if $field[2] eq 'Nd';
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

sub read_scripts
{
	my $file = unicode_file('Scripts.txt');

	while (<$file>)
	{
		next unless /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; (\w+)/;
		$script[$_] = $3 for hex $1 .. hex($2 // $1);
	}
}

sub read_normalization
{
	my $file = unicode_file('DerivedNormalizationProps.txt');

	while (<$file>)
	{
		next unless /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; (NFKC_CF|Full_Composition_Exclusion)(?:;\s*([0-9A-F ]*))?/;
		my @mapping = map { hex } split ' ', $4 // '';

		for (hex $1 .. hex($2 // $1))
		{
			if ($3 eq 'NFKC_CF') { $casefold{$_} = [@mapping] }
			else                 { $excluded{$_} = 1 }
		}
	}
}

sub read_simplified
{
	my $file = unicode_file('Unihan_Variants.txt');

	while (<$file>)
	{
		next unless /^U\+([0-9A-F]+)\tkSimplifiedVariant\t(.*)$/;
		my $cp = hex $1;
		my @variants = sort { $a <=> $b } grep { $_ != $cp } map { hex substr $_, 2 } split ' ', $2;
		$simplified{$cp} = $variants[0] if @variants;
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

	return 0 if $marks_that_stay{$cp};
	return $other_marks{$cp}
	  || (($category[$cp] // 'Cn') =~ /^M[ne]$/ && ($script[$cp] // '') =~ $scripts_of_marks);
}

# Hangul syllables decompose by arithmetic, and joining would undo it.
sub decomposed
{
	my ($cp) = @_;

	return $cp unless $decomposition{$cp};
	return map { decomposed($_) } @{ $decomposition{$cp} };
}

# The letter that a Latin or Cyrillic one has a stroke, hook or tail more than.
sub plain_letter
{
	my ($cp) = @_;

	return if ($category[$cp] // 'Cn') !~ /^L/ || ($name[$cp] // '') !~ /^(?:LATIN|CYRILLIC) /;
	my $plain = $name[$cp] =~ s/ WITH .*//r;
	$plain =~ s/^LATIN (?:LETTER SMALL CAPITAL|SMALL CAPITAL LETTER) /LATIN SMALL LETTER /;
	return if $plain eq $name[$cp];
	return $cp_named{$plain};
}

sub letter
{
	my ($cp) = @_;

	return @{ $listed{$cp} } if $listed{$cp};
	return $digit{$cp} if defined $digit{$cp};
	if (defined $simplified{$cp})
	{
		$cp = $simplified{$cp} while defined $simplified{$cp};
		return $cp;
	}
	my $plain = plain_letter($cp);
	return defined $plain ? unjoined($plain) : $cp;
}

sub unjoined
{
	my ($cp) = @_;

	return $voiced{$cp} if $voiced{$cp};
	return map { letter($_) } grep { !is_removed($_) }
	  map { decomposed($_) } @{ $casefold{$cp} // [$cp] };
}

sub fold
{
	my ($cp) = @_;
	my @folded;

	for my $next (unjoined($cp))
	{
		my $joined = @folded ? $composed{"$folded[-1] $next"} : undef;

		if (defined $joined) { $folded[-1] = $joined }
		else                 { push @folded, $next }
	}
	return @folded;
}

# The pairs of folded code points that are joined to one. Hangul is arithmetic.
sub find_pairs
{
	my @pairs;

	for my $cp (sort { $a <=> $b } keys %decomposition)
	{
		my @pair = @{ $decomposition{$cp} };

		next if @pair != 2 || $excluded{$cp};
		$composed{"@pair"} = $cp;
	}
	for my $key (keys %composed)
	{
		my ($first, $second) = split / /, $key;
		# both must be in folded texts
		next if join(' ', map { fold($_) } $first, $second) ne $key;
		die "classes of $key" if grep { class($_) != class($composed{$key}) } $first, $second;
		die "$key is common" if $first < 0x80 || ($first >= 0x4E00 && $first <= 0x9FFF);
		push @pairs, [ $second, $first, $composed{$key} ];
	}
	return sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @pairs;
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
	my $n = $values[0] =~ /{/ ? 4 : 16;
	my $out = '';

	while (my @line = splice @values, 0, $n)
	{
		$out .= "\t" . join(', ', @line) . ",\n";
	}
	return $out;
}

die "usage: fold.pl FOLDER\n" unless @ARGV == 1;
read_unicode_data();
read_scripts();
read_normalization();
read_simplified();

my @pairs = find_pairs();
my %joins = map { $_->[0] => 1 } @pairs;
$joins{$_} = 1 for 0x1161 .. 0x1175, 0x11A8 .. 0x11C2;

# Each code point has a property: value, class, number of folded characters. The
# first three are those of code points that fold to themselves.
my @properties = ("0, $SEPARATOR, 1", "0, $SEGMENTED, 1", "0, $UNSEGMENTED, 1");
my %property_index = map { $properties[$_] => $_ } 0 .. $#properties;
my (@property_of, @expansions, %expansion_at);
for my $cp (0 .. $MAX - 1)
{
	my @folded = fold($cp);
	my $key;

	if (@folded == 1 && !$joins{ $folded[0] })
	{
		$key = join ', ', $folded[0] - $cp, class($folded[0]), 1;
	}
	else
	{
		my $text = join ',',
		  map { sprintf '0x%X', $_ | class($_) << 24 | ($joins{$_} // 0) << 26 } @folded;

		if (@folded && !defined $expansion_at{$text})
		{
			$expansion_at{$text} = @expansions;
			push @expansions, split /,/, $text;
		}
		$key = join ', ', $expansion_at{$text} // 0, $LISTED, scalar @folded;
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
 * Made by tools/fold.pl from UnicodeData.txt, DerivedNormalizationProps.txt,
 * Scripts.txt and Unihan_Variants.txt of Unicode 15.0.
 */
#include "core/unicode/charclass.h"

END
printf "const SimdupFoldProperty simdup_fold_properties[%d] = {\n",
  scalar @properties;
print lines(map { "{$_}" } @properties);
print "};\n\n";
printf "const uint32_t simdup_fold_expansions[%d] = {\n%s};\n\n",
  scalar @expansions, lines(@expansions);
printf "const SimdupFoldPair simdup_fold_pairs[%d] = {\n", scalar @pairs;
print lines(map { sprintf '{0x%X, 0x%X, 0x%X}', @$_ } @pairs);
print "};\n\n";
printf "const size_t simdup_fold_n_pairs = %d;\n\n", scalar @pairs;
printf "const uint32_t simdup_fold_same_han[%d] = {\n%s};\n\n",
  scalar @same_han, lines(@same_han);
printf "const uint16_t simdup_fold_stage1[%d] = {\n%s};\n\n",
  scalar @stage1, lines(@stage1);
printf "const uint16_t simdup_fold_stage2[%d] = {\n%s};\n",
  128 * @blocks, lines(map { split /,/ } @blocks);

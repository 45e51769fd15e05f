# Folding.pm: what profile 2 folds a text to, by its rule and Unicode's files, step by
# step over whole strings. It shares nothing with the tables of core/ or their maker.

package Folding;

use strict;
use warnings;
use utf8;

use IO::File;
use IO::Uncompress::Bunzip2;

our $FOLDER = '/usr/share/unicode';

# What people type for one another, as the rule lists it: a character, and what
# each of those before it becomes.
my @typed = (
	[ 'i', 'ı' ], [ 'ae', 'æ' ], [ 'oe', 'œ' ], [ 'th', 'þ' ], [ 'd', 'ð' ], [ 'n', 'ŋ' ],
	[ 'e', 'əɛ' ], [ 'o', 'ɔ' ], [ q('), "\x{2B9}\x{2BA}\x{2BB}\x{2BC}\x{2BD}\x{2BE}\x{2BF}" ],
	[ "\x{5D5}\x{5D5}", "\x{5F0}" ], [ "\x{5D5}\x{5D9}", "\x{5F1}" ], [ "\x{5D9}\x{5D9}", "\x{5F2}" ],
	[ "\x{627}", "\x{671}" ], [ "\x{647}", "\x{629}\x{6C1}\x{6C3}\x{6D5}" ],
	[ "\x{64A}", "\x{649}\x{6CC}" ], [ "\x{643}", "\x{6A9}" ], [ "\x{902}", "\x{901}" ],
	[ "\x{9A4}\x{9CD}", "\x{9CE}" ], [ "\x{D23}\x{D4D}", "\x{D7A}" ], [ "\x{D28}\x{D4D}", "\x{D7B}" ],
	[ "\x{D30}\x{D4D}", "\x{D7C}" ], [ "\x{D32}\x{D4D}", "\x{D7D}" ], [ "\x{D33}\x{D4D}", "\x{D7E}" ],
	[ "\x{D15}\x{D4D}", "\x{D7F}" ], [ "\x{E40}\x{E40}", "\x{E41}" ], [ "\x{EC0}\x{EC0}", "\x{EC1}" ],
	map { [ substr($_, 1), substr $_, 0, 1 ] }
	  qw(佈布 佔占 週周 遊游 淨净 昇升 湧涌 慾欲 汙污 裏里 説说 爲为 衆众 綫线 証证));
my %list;
for my $pair (@typed)
{
	$list{$_} = $pair->[0] for split //, $pair->[1];
}

my (%name, %named, %general, %digit, %canonical, %lower, %upper, %script, %nfkc_cf, %excluded, %simple);
my (%pair_of, %fold_of);

# The lines of a file of the folder, packed or not.
sub lines_of
{
	my ($name) = @_;
	my $path = "$FOLDER/$name";
	my $file = -e $path ? IO::File->new($path, 'r') : IO::Uncompress::Bunzip2->new("$path.bz2");

	die "no $name in $FOLDER\n" unless $file;
	my @lines = $file->getlines;
	return @lines;
}

# Check whether the files are there, of the version that the rule is written for.
sub is_there
{
	my $version = eval { (lines_of('DerivedNormalizationProps.txt'))[0] };

	return ($version // '') =~ /-15\.0\.0\.txt/;
}

# Files with a range, a property, and perhaps a value.
sub each_property
{
	my ($file, $take) = @_;

	for (lines_of($file))
	{
		s/\s*#.*//s;
		next unless /\S/;
		my ($range, @values) = split /\s*;\s*/, $_, -1;
		my ($from, $to) = split /\.\./, $range;
		$take->(chr, @values) for hex $from .. hex($to // $from);
	}
	return;
}

sub text_of { return join '', map { chr hex } split ' ', shift }

sub load
{
	my $begin;

	for (lines_of('UnicodeData.txt'))
	{
		my ($cp, $name, $general, undef, undef, $map, undef, $digit, undef, undef, undef, undef, $upper, $lower) = split /;/;
		my $c = chr hex $cp;

		$begin = hex $cp if $name =~ /First>/;
		$general{ chr $_ } = $general for $name =~ /Last>/ ? $begin .. hex $cp : hex $cp;
		next if $name =~ /^</;
		$name{$c} = $name;
		$named{$name} = $c;
		$digit{$c} = $digit if $general eq 'Nd';
		$canonical{$c} = text_of($map) if $map ne '' && $map !~ /</;
		$upper{$c} = text_of($upper) if $upper ne '';
		$lower{$c} = text_of($lower) if $lower =~ /\S/;
	}
	each_property('Scripts.txt', sub { $script{ $_[0] } = $_[1] });
	each_property('DerivedNormalizationProps.txt', sub {
		my ($c, $property, $value) = @_;
		$nfkc_cf{$c} = text_of($value) if $property eq 'NFKC_CF';
		$excluded{$c} = 1 if $property eq 'Full_Composition_Exclusion';
	});
	for (lines_of('SpecialCasing.txt'))
	{
		next unless /^([0-9A-F]+); ([0-9A-F ]*); [0-9A-F ]*; ([0-9A-F ]*); #/;
		$lower{ chr hex $1 } = text_of($2);
		$upper{ chr hex $1 } = text_of($3);
	}
	for (lines_of('Unihan_Variants.txt'))
	{
		next unless /^U\+(\S+)\tkSimplifiedVariant\t(.*)/;
		my $c = chr hex $1;
		my @others = sort grep { $_ ne $c } map { chr hex } $2 =~ /U\+([0-9A-F]+)/g;
		$simple{$c} = $others[0] if @others;
	}
	for my $c (keys %canonical)
	{
		$pair_of{ $canonical{$c} } = $c if length $canonical{$c} == 2 && !$excluded{$c};
	}
	# Hangul: all syllables, by what they are made of
	for my $s (0 .. 11171)
	{
		my ($l, $v, $t) = (int($s / 588), int($s % 588 / 28), $s % 28);
		my $lv = chr(0xAC00 + $s - $t);
		my $made_of = $t == 0 ? chr(0x1100 + $l) . chr(0x1161 + $v) : $lv . chr(0x11A7 + $t);

		$pair_of{$made_of} = chr(0xAC00 + $s);
	}
	return;
}

sub decomposed
{
	my ($text) = @_;

	return join '', map { exists $canonical{$_} ? decomposed($canonical{$_}) : $_ } split //, $text;
}

sub forms
{
	my ($c) = @_;

	return "\x{3099}" if $c eq "\x{309B}";
	return "\x{309A}" if $c eq "\x{309C}";
	return decomposed($nfkc_cf{$c} // $c);
}

sub is_mark
{
	my ($c) = @_;

	return 0 if $c =~ /[\x{3099}\x{309A}]/;
	return 1 if $c =~ /[\x{640}\x{93C}]/;
	return ($general{$c} // '') =~ /^M[ne]$/
	  && $script{$c} =~ /^(?:Inherited|Cyrillic|Hebrew|Arabic|Syriac)$/;
}

sub letter
{
	my ($c) = @_;

	return $list{$c} if exists $list{$c};
	return $digit{$c} if exists $digit{$c};
	if (exists $simple{$c})
	{
		$c = $simple{$c} while exists $simple{$c};
		return $c;
	}
	if (($general{$c} // '') =~ /^L/ && ($name{$c} // '') =~ /^(?:LATIN|CYRILLIC) /)
	{
		my $base = $name{$c} =~ s/ WITH .*//r;

		$base =~ s/^LATIN LETTER SMALL CAPITAL |^LATIN SMALL CAPITAL LETTER /LATIN SMALL LETTER /;
		return a_to_c($named{$base}) if exists $named{$base} && $named{$base} ne $c;
	}
	return $c;
}

sub a_to_c
{
	my ($c) = @_;

	$fold_of{$c} //= join '', map { letter($_) } grep { !is_mark($_) } split //, forms($c);
	return $fold_of{$c};
}

# Step e, over a whole text.
sub joined
{
	my ($text) = @_;
	my @out;

	for my $n (split //, $text)
	{
		my $pair = @out ? $pair_of{ $out[-1] . $n } : undef;

		if   (defined $pair) { $out[-1] = $pair }
		else                 { push @out, $n }
	}
	return join '', @out;
}

# The text is characters of Unicode.
sub folded
{
	my ($text) = @_;

	return joined(join '', map { a_to_c($_) } split //, $text);
}

sub upper { return $upper{ $_[0] } // $_[0] }
sub lower { return $lower{ $_[0] } // $_[0] }

# Characters of words: letters, marks and numbers.
sub is_of_words { return ($general{ $_[0] } // '') =~ /^[LMN]/ }

1;

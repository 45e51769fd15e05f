#!/usr/bin/perl
# senders.pl: letters of campaigns among strangers, and what looks like a campaign and is none, for COPY.
#
#   senders.pl [name=value ...]
#
# Each line has a number, the number of the campaign, a kind, and the letter. A letter of no campaign has its own
# number there. The names, with their defaults:
#
#   rows=4000 sizes=5,10,20,30,50,100,300,800   letters, and those of each campaign
#   slots=27 phrases=4 words=4-8 own=0          slots of a campaign, phrases that it exchanges in each, and the share of a letter
#                                               that is its sender's own; slots=0: one letter, added to, cut and reordered
#   lang=en seed=1                              or zh
#   footers=0 footer=60,45                      the share of all letters that end with one of the footers of so many words
#   negatives=0.07                              the share that quote a law, have a greeting and a closing or a
#                                               disclaimer, fill in a form, or begin like others
#   texts=FILE                                  real texts, one a line: strangers, and what phrases are cut from
use strict;
use warnings;
use utf8;

use FindBin;
use lib $FindBin::Bin;
use Words;

my %o = (rows => 4000, sizes => '5,10,20,30,50,100,300,800', slots => 27, phrases => 4, words => '4-8', own => 0, lang => 'en', seed => 1, footers => 0, footer => '60,45', negatives => 0.07, texts => '');
for (@ARGV)
{
	my ($name, $value) = split /=/, $_, 2;

	die "senders.pl: unknown option $_\n" unless defined $value && exists $o{$name};
	$o{$name} = $value;
}
Words::begin($o{seed});
binmode STDOUT, ':utf8';
my $chinese = $o{lang} eq 'zh';
my $glue = $chinese ? '' : ' ';
my $stop = $chinese ? '。' : '.';
my $unit = $chinese ? qr/\p{Han}/ : qr/\S+/;
my @texts;
if ($o{texts} ne '')
{
	open my $in, '<:utf8', $o{texts} or die "$o{texts}: $!\n";
	chomp(@texts = <$in>);
	# another seed has other strangers
	shuffle(\@texts);
}
my $n_strangers = int(@texts * 0.8);
my $next = 0;

sub shuffle
{
	my ($list) = @_;

	for my $i (0 .. $#$list)
	{
		my $j = $i + random(@$list - $i);

		@$list[ $i, $j ] = @$list[ $j, $i ];
	}
	return;
}

# A word or, in Chinese, a character.
sub units { return $chinese ? map { chr(0x4e00 + zipf(6000) * 3 % 6000) } 1 .. $_[0] : words($_[0]); }

sub between { return $_[0] + random($_[1] - $_[0] + 1); }

# A run of words, cut from a text of the last fifth, or made. Each quotation comes from another one of its last 50.
my $n_quoted = 0;

sub run_of
{
	my ($n, $quoted) = @_;

	$n *= 2 if $chinese;
	for my $try (1 .. (@texts ? 50 : 0))
	{
		my $text = $texts[ $quoted ? -1 - $n_quoted++ % 50 : $n_strangers + random(@texts - 50 - $n_strangers) ];
		my @units = $text =~ /$unit/g;

		next if @units < $n;
		return join $glue, splice @units, random(@units - $n + 1), $n;
	}
	return join $glue, units($n);
}

sub sentence { return ucfirst(run_of(between(8, 17))) . $stop; }
sub paragraph { return join $glue, map { sentence() } 1 .. $_[0]; }
sub stranger { return @texts ? $texts[ $next++ % $n_strangers ] : paragraph(between(3, 9)); }
sub name { return $chinese ? join '', units(3) : join ' ', map { ucfirst } words(2); }
sub length_of { return scalar(my @units = $_[0] =~ /$unit/g); }

# A letter whose slots have one of their phrases each, and the sender's own sentences between.
sub exchanged
{
	my ($slots) = @_;
	my @parts = map { $_->[ random(scalar @$_) ] } @$slots;
	my $left = $o{own} / (1 - $o{own}) * length_of(join ' ', @parts);

	while ($left > 0)
	{
		my $own = sentence();

		splice @parts, random(@parts + 1), 0, $own;
		$left -= length_of($own);
	}
	return join $glue, @parts;
}

# A letter to which its sender added, from which he cut, or whose order he changed.
sub personal
{
	my @parts = @{ $_[0] };
	my $kind = random(7);

	splice @parts, random(@parts + 1), 0, sentence() for 1 .. $kind % 2 * between(1, 4);
	@parts = @parts[ 0 .. 0.6 * $#parts ] if $kind == 2;
	push @parts, splice @parts, random(scalar @parts), 1 for 1 .. ($kind == 4 ? 3 : 0);
	if ($kind == 6)
	{
		my $share = pick(0.03, 0.1);

		s/(\p{Han}|[A-Za-z]+)/random(1000) < 1000 * $share ? join('', units(1)) : $1/ge for @parts;
	}
	return join $glue, @parts, name();
}

# What many letters share and no campaign is: a list of functions that make such letters of a stranger's.
my @laws = map { run_of(70, 1) } 1 .. 3;
my @openings = map { run_of(25, 1) } 1 .. 2;
my ($greeting, $closing, $disclaimer) = (run_of(8, 1), run_of(10, 1), run_of(45, 1));
my @headings = map { run_of(3, 1) } 1 .. 8;
my @footers = map { run_of($_, 1) } split /,/, $o{footer};
my @negatives = (
	sub { my ($s) = @_; my $at = random(1 + length $s); return substr($s, 0, $at) . $glue . pick(@laws) . $glue . substr($s, $at); },
	sub { return join $glue, "$greeting,", $_[0], "$closing,", name(); },
	sub { return join $glue, "$greeting,", $_[0], $disclaimer . $stop; },
	sub { return join "\\n", map { "$_: " . run_of(between(3, 12)) } @headings; },
	sub { return pick(@openings) . $glue . $_[0]; });

my @letters;
my $campaign = 0;
for my $size (split /,/, $o{sizes})
{
	my ($least, $most) = split /-/, $o{words};
	my @slots = map { [ map { run_of(between($least, $most)) } 1 .. $o{phrases} ] } 1 .. $o{slots};
	my @body = map { sentence() } 1 .. between(4, 9);

	$campaign++;
	push @letters, [ $campaign, $o{slots} > 0 ? ('exchanged', exchanged(\@slots)) : ('personal', personal(\@body)) ] for 1 .. $size;
}
for my $i (1 .. $o{negatives} * $o{rows})
{
	my $negative = $i % @negatives;

	push @letters, [ 0, "negative$negative", $negatives[$negative]->(stranger()) ];
}
push @letters, [ 0, 'stranger', stranger() ] while @letters < $o{rows};
shuffle(\@letters);
for my $number (1 .. @letters)
{
	my ($of, $kind, $letter) = @{ $letters[ $number - 1 ] };

	$letter .= $glue . pick(@footers) . $stop if random(1000) < 1000 * $o{footers};
	print join("\t", $number, $of || $campaign + $number, $kind, $letter), "\n";
}

#!/usr/bin/perl
# campaigns.pl: synthetic letters, some of them of campaigns, for COPY.
#
#   campaigns.pl ROWS CAMPAIGNS SENTENCES FOOTER [SEED [PLACE]]
#
# Each line has a number, the number of the campaign, the change, and the letter.
# Letters of one campaign are the same to a person. A letter of none has its own number
# there. Half of the letters are of campaigns. Some have words changed, a personal
# paragraph, a footer of their own or the head of a forwarded mail. Some are cut to
# 60 %. A letter has about SENTENCES sentences. The share FOOTER of the letters
# ends with one disclaimer of 570 characters. With the PLACE `signed`, up to 20 words
# follow it; with `first`, it stands before the letter. With `real` it is as with
# `signed`, and a third of the letters have one or two of 60 sentences, as real ones do.
# Those of campaigns have 5 or 25 % of words replaced, too, or sentences in another order.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Words;

my ($rows, $n_campaigns, $sentences, $footer_share, $seed, $place) = @ARGV;
die "usage: campaigns.pl ROWS CAMPAIGNS SENTENCES FOOTER [SEED [PLACE]]\n" if @ARGV < 4;
Words::begin(defined $seed ? $seed : 1);
my $real = defined $place && $place eq 'real';

my $footer =
    'This message and its attachments are meant for the person to whom they are addressed, and may hold confidential '
  . 'information. If you are not that person, please tell the sender at once and delete all copies; you may not read, '
  . 'keep, print or pass on any part of it. Views in this message are those of the sender and not of the company. Mail '
  . 'can be changed or lost on its way, and the company takes no liability for damage from viruses, delay or wrong '
  . 'delivery. Please think of the environment before you print this message. Registered office at 14 Harbour Lane, number 5501723.';
my @greetings = ('Dear council,', 'Dear Sir or Madam,', 'To whom it may concern:', 'Hello,', 'Dear Mrs Lee,');
my @closings = ('Yours sincerely,', 'Kind regards,', 'Thank you for your help.', 'Thank you in advance, I look forward to hearing from you.', 'Best wishes,');

sub name { return join ' ', map { ucfirst } words(2) }

sub sentence
{
	return ucfirst(join ' ', words(8 + random(10))) . '.';
}

sub paragraph
{
	my ($n) = @_;

	return join ' ', map { sentence() } 1 .. $n;
}

# Lines of at most 72 characters.
sub wrapped
{
	my ($text, $before) = @_;
	my @lines = ('');

	for my $word (split ' ', $text)
	{
		push @lines, '' if length($lines[-1]) + length($word) > 71;
		$lines[-1] .= ($lines[-1] eq '' ? '' : ' ') . $word;
	}
	return join "\n", map { $before . $_ } @lines;
}

# The body of a letter with its greeting, and its end.
sub letter
{
	my ($body, $greeting, $closing) = @_;

	return ($greeting || pick(@greetings)) . "\n\n$body\n\n" . ($closing || pick(@closings)) . "\n" . name();
}

my @kinds = qw(none none none none words words paragraph footer forward cut);
my @common;
if ($real)
{
	push @kinds, qw(words5 words25 order);
	@common = map { sentence() } 1 .. 60;
}

# The body with sentences that letters share by chance, if it has one.
sub with_common
{
	my @parts = split /(?<=\.) /, $_[0];

	return $_[0] unless $real && random(3) == 0;
	splice @parts, random(@parts + 1), 0, pick(@common) for 1 .. 1 + random(2);
	return join ' ', @parts;
}

# A letter of a campaign, and its change.
sub changed
{
	my ($body, @ends) = @{ $_[0] };
	my $kind = $kinds[ random(scalar @kinds) ];

	if ($kind =~ /^words(\d+)/)
	{
		return ($kind, letter(join(' ', map { random(100) < $1 ? $words[ zipf(scalar @words) ] : $_ } split / /, $body), @ends));
	}
	if ($kind eq 'order')
	{
		my @parts = split /(?<=\.) /, $body;

		push @parts, splice @parts, random(scalar @parts), 1 for 1 .. 3;
		return ($kind, letter(join(' ', @parts), @ends));
	}

	if ($kind eq 'words')
	{
		my @parts = split / /, $body;

		$parts[ random(scalar @parts) ] = $words[ zipf(scalar @words) ] for 1 .. 1 + random(5);
		return ($kind, letter(join(' ', @parts), @ends));
	}
	if ($kind eq 'paragraph')
	{
		my @parts = split /(?<=\.) /, $body;

		splice @parts, random(@parts + 1), 0, paragraph(1 + random(4));
		return ($kind, letter(join(' ', @parts), @ends));
	}
	my $letter = letter($body, @ends);

	$letter .= "\n--\n" . join "\n", map { name() . ' ' . join ' ', words(6), random(10000) } 1 .. 8 if $kind eq 'footer';
	$letter = "---------- Forwarded message ----------\nFrom: " . name() . "\nDate: " . random(28) . " May\nSubject: " . join(' ', words(4)) . "\n\n"
	  . wrapped($letter, '> ')
	  if $kind eq 'forward';
	$letter = substr $letter, 0, int(0.6 * length $letter) if $kind eq 'cut';
	return ($kind, $letter);
}

sub body { return paragraph(int($sentences * (1 + random(100) / 100) / 1.5) || 1) }

my @campaigns = map { [ with_common(body()), pick(@greetings), pick(@closings) ] } 1 .. $n_campaigns;
for my $number (1 .. $rows)
{
	my $of = $n_campaigns && random(2) ? zipf($n_campaigns) + 1 : 0;
	my ($kind, $letter) = $of ? changed($campaigns[ $of - 1 ]) : ('own', letter(with_common(body())));

	if (random(1000) < 1000 * $footer_share)
	{
		my $said = random(3) ? $footer : wrapped($footer, random(2) ? '' : '> ');

		$letter = $place && $place eq 'first' ? "$said\n\n$letter" : "$letter\n\n$said";
		$letter .= "\n" . join ' ', words(random(21)) if $real || $place && $place eq 'signed';
	}
	$letter =~ s/\\/\\\\/g;
	$letter =~ s/\n/\\n/g;
	print join("\t", $number, $of || $n_campaigns + $number, $kind, $letter), "\n";
}

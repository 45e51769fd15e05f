# Words.pm: synthetic words and texts, the same on every machine.
#
# Words are made of syllables and drawn by Zipf's law, so that their 4-grams are
# about as uneven as those of English.
package Words;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(random zipf pick words @words);
our @words;
my $state;

# A generator of our own: Perl's differs between builds.
sub random
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return int(($state >> 8) / 0x800000 * $n);
}

# The smaller the number, the likelier: about 1 / rank.
sub zipf
{
	my ($n) = @_;

	return int(exp(random(1 << 20) / (1 << 20) * log($n + 1))) - 1;
}

sub pick
{
	return $_[ random(scalar @_) ];
}

my @onset = (qw(b c d f g h l m n p r s t v w), '', '', '', qw(st tr pr ch sh th pl cr));
my @nucleus = (qw(a e i o u), qw(e i a), qw(ea io ou ai));
my @coda = ('', '', '', '', '', qw(n r s t l d m ng nt st ck));
my %made;

# Begin with a seed, and make the words.
sub begin
{
	$state = $_[0];
	while (@words < 12000)
	{
		# frequent words are short ones
		my $syllables = 1 + random(@words < 100 ? 1 : @words < 1500 ? 2 : 3);
		my $word = join '', map { pick(@onset) . pick(@nucleus) . pick(@coda) } 1 .. $syllables;

		next if $made{$word}++ && @words >= 100;
		push @words, $word;
	}
}

sub words
{
	my ($n) = @_;

	return map { $words[ zipf(scalar @words) ] } 1 .. $n;
}

1;

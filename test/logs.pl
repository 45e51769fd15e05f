# logs.pl FOLDER: show what no server may write to its log below that folder, even if
# its test passes, and succeed if there is nothing.

use strict;
use warnings;

use File::Find qw(find);

# Failed assertions, crashes, overrun memory, and what a transaction's end finds
# still open. Servers before 17 name the kind of what leaks, later ones say that a
# resource was not closed.
my $fault = qr/TRAP:[ ]|PANIC:|terminated[ ]by[ ]signal[ ](4|6|7|8|11)\b|detected[ ]write[ ]past|problem[ ]in[ ]alloc[ ]set
  |(reference|refcount|file|memory)[ ]leak|resource[ ]was[ ]not[ ]closed|still[ ](referenced|active)$/x;

my @wrong;

sub search
{
	return unless -f && ($_ eq 'server.log' || $_ eq 'postmaster.log' || $File::Find::name =~ m{/tmp_check/log/[^/]*\.log$});
	open my $log, '<', $_ or die "$_: $!\n";
	my @found = grep { $_ =~ $fault } <$log>;
	push @wrong, "$File::Find::name:\n", splice @found, 0, 20 if @found;
	return;
}
find(\&search, @ARGV);
print @wrong;
exit(@wrong ? 1 : 0);

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

# The search finds each fault that is listed below, and nothing else there.
my @wrong = map { /^(\w+): (.*)/ ? [ $1, $2 ] : () } <DATA>;
@wrong = map { "the search is wrong on: $_->[1]\n" } grep { ($_->[1] =~ $fault) != ($_->[0] eq 'fault') } @wrong;

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

__DATA__
sound: LOG:  database system is ready to accept connections
sound: DETAIL:  Key (id)=(1) is still referenced from table "t".
fault: TRAP: FailedAssertion("page != NULL", File: "page.c", Line: 1, PID: 1)
fault: TRAP: failed Assert("page != NULL"), File: "page.c", Line: 1, PID: 1
fault: PANIC:  could not locate a valid checkpoint record
fault: LOG:  server process (PID 1) was terminated by signal 11: Segmentation fault
fault: LOG:  server process (PID 1) was terminated by signal 6: Aborted
fault: WARNING:  detected write past chunk end in ExprContext 0x1
fault: WARNING:  problem in alloc set ExprContext: detected write past chunk end in block 0x1, chunk 0x2
fault: WARNING:  buffer refcount leak: [001] (rel=base/1/1, blockNum=0, flags=0x1, refcount=1 1)
fault: WARNING:  relcache reference leak: relation "t" not closed
fault: WARNING:  snapshot 0x1 still active
fault: WARNING:  Snapshot reference leak: Snapshot 0x1 still referenced
fault: WARNING:  TupleDesc reference leak: TupleDesc 0x1 (1,-1) still referenced
fault: WARNING:  temporary file leak: File 1 still referenced
fault: WARNING:  dynamic shared memory leak: segment 1 still referenced
fault: WARNING:  resource was not closed: relation "t"

# Helpers: what several scripts ask of a server or of chance.
package Helpers;

use strict;
use warnings;

use Exporter qw(import);
use IPC::Run ();
use PostgreSQL::Test::Utils;

our @EXPORT_OK = qw($lean $whole has_node n_started one_of peak_kb ran said);

# make test-all has larger tables and more random cases, and the other servers of .ci/run fewer.
our $whole = ($ENV{SUITE} // '') eq 'whole';
our $lean = ($ENV{SUITE} // '') eq 'lean';

# One of the arguments, by chance.
sub one_of { return $_[ int rand @_ ]; }

# Whether plans have the join node.
sub has_node { return "@_" =~ /Custom Scan \((?:Hamming|Shingle) Join\)/; }

# The number of parallel workers that a server has started; it logs them at debug1.
sub n_started { return scalar(() = slurp_file($_[0]->logfile) =~ /starting background worker process "parallel worker/g); }

# Largest resident size of a new session that runs a script, in kB.
sub peak_kb
{
	my ($node, $sql) = @_;
	return $node->safe_psql('postgres', "$sql; SELECT pg_read_file('/proc/self/status')") =~ /^VmHWM:\s*(\d+) kB/m ? $1 : undef;
}

# The output of a script: its rows, then its errors and notices.
sub said
{
	my ($node, $sql, %params) = @_;
	my ($stdout, $stderr);

	$node->psql('postgres', $sql, stdout => \$stdout, stderr => \$stderr, on_error_stop => 1, %params);
	$stderr =~ s/^psql:[^:]*:\d+: //mg;
	return join "\n", grep { $_ ne '' } $stdout, $stderr;
}

# Whether a command succeeds, in three minutes at most, and its output.
sub ran
{
	my @command = @_;
	my $out = '';

	my $done = eval { IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>&1', IPC::Run::timeout(180)) };
	return ($done, $out);
}

1;

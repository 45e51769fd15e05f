# regress: pg_regress over the tests in SQL that @ARGV names, or its isolation sibling
# over the specs. A script of suite.sh, named for the group, is run by prove and calls
# this. A group has a server of its own, because roles are a server's and VACUUM waits
# for other sessions.

use strict;
use warnings;

use File::Basename qw(basename dirname);

my $group = basename($0, '.pl');
my $program = $group eq 'specs' ? dirname($ENV{PG_REGRESS}) . '/../isolation/pg_isolation_regress' : $ENV{PG_REGRESS};

# pg_regress lets LANG alone choose the locale
delete @ENV{ grep { /^LC_/ } keys %ENV };
$ENV{LANG} = $ENV{SERVER_LOCALE};
# 15 looks for expected/ in the output and the input folder, later ones in the current one
mkdir $_ for $group, 'tmp_check/log';
symlink '../expected', "$group/expected";
open my $said, '-|', $program, '--inputdir=test', "--outputdir=$group", "--temp-instance=$group/instance", "--temp-config=$ENV{TEMP_CONFIG}",
  "--bindir=$ENV{BINDIR}", '--dbname=contrib_regression', '--load-extension=simdup', "--encoding=$ENV{ENCODING}", @ARGV
  or die "$program: $!";
open my $log, '>', "tmp_check/log/regress_log_$group" or die "$group: $!";
print '1..', scalar @ARGV, "\n";
my $failed = 0;
while (<$said>)
{
	print $log $_;
	# the older way to say it, and TAP from 16 on
	my ($name, $ok) = /^test (\S+) +\.\.\. (ok)?/ ? ($1, $2) : /^(not )?ok \d+ +- (\S+)/ ? ($2, !$1) : next;
	# a test that the encoding cannot hold passes, saying so
	my ($skip) = map { /^skipped: (.*)/ } do { open my $out, '<', "$group/results/$name.out"; $out ? <$out> : () };
	print $ok ? '' : 'not ', "ok - $name", $skip && $ok ? " # SKIP $skip" : '', "\n";
	$failed ||= !$ok;
}
if ($failed && open my $differences, '<', "$group/regression.diffs")
{
	my @lines = <$differences>;
	print STDERR splice @lines, 0, 400;
}
close $said;
exit($? >> 8);

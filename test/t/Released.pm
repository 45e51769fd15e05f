# Released: the install scripts of released versions, which are kept in
# test/data, among those of the server under test.
package Released;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(basename);
use File::Copy qw(copy);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(released_versions install_released);

# Oldest first.
sub released_versions
{
	return map { basename($_) =~ /^simdup--(.*)\.sql$/ } sort glob 'test/data/simdup--*.sql';
}

# Make CREATE EXTENSION ... VERSION know them until the script ends. Why that is
# impossible, or nothing.
my @put;
sub install_released
{
	my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);

	for my $file (glob 'test/data/simdup--*.sql')
	{
		my $there = "$sharedir/extension/" . basename($file);

		# make test has put them there already
		next if -e $there;
		copy($file, $there) or return "cannot copy $file to $sharedir/extension: $!";
		push @put, $there;
	}
	return;
}

END { unlink @put; }

1;

# python: the package of clients/python, by its own tests.
#
# What is not installed is skipped. make test-all installs it: need clients in
# test/server.sh.
#
# Runs in make test-all only.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw(ran);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Debian's modules belong to Debian's Python.
my $python = '/usr/bin/python3';
plan skip_all => "there is no $python" unless -x $python;

my %needs = (
	values => [ 'django', 'psycopg2' ],
	psycopg => ['psycopg'],
	sqlalchemy => [ 'sqlalchemy', 'psycopg2', 'alembic' ],
	django => [ 'django', 'psycopg2' ],
	readme => [ 'psycopg', 'psycopg2', 'sqlalchemy', 'django' ]);

my $node = PostgreSQL::Test::Cluster->new('python');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;

sub python { return ran('sh', '-c', 'cd clients/python && exec "$@"', 'sh', $python, '-B', @_); }

for my $name (sort keys %needs)
{
	my @missing = grep { !(python('-c', "import $_"))[0] } @{ $needs{$name} };

  SKIP:
	{
		skip "$name: $python has no @missing", 1 if @missing;

		my ($done, $out) = python('-m', 'unittest', "tests.test_$name");
		my ($n) = $out =~ /^Ran (\d+) tests? in/m;

		ok($done && $n, "$name: all its " . ($n // 0) . ' tests hold') or diag($out);
		unlike($out, qr/skipped=/, "$name: none is skipped");
	}
}

$node->stop;
done_testing();

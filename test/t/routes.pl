# routes: a part of the table of doc/simdup-routes.md, three routes in three languages.
#
# A route whose tool is not installed is skipped. make test-all installs them: need clients
# in test/server.sh.
#
# Runs in make test-all only.

use strict;
use warnings;

use Cwd qw(getcwd);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('routes');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');

# what each route may cost at most, in bits: Arabic from a PDF has a ligature in another order
my %limits = (
	w3m => { en => 0, zh => 0, ar => 0 },
	docx2txt => { en => 0, zh => 0, ar => 0 },
	pdf => { en => 0, zh => 0, ar => 8 });

local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{PGDATABASE} = 'postgres';
local $ENV{ROOT} = getcwd();
local $ENV{SCRATCH} = PostgreSQL::Test::Utils::tempdir();
local $ENV{ROUTES} = join ' ', sort keys %limits;
local $ENV{LANGUAGES} = 'en zh ar';
local $ENV{RAW} = 'yes';

my ($out, $err) = ('', '');
IPC::Run::run([ 'bash', 'test/bench/routes.sh' ], '<', '/dev/null', '>', \$out, '2>', \$err);
is("$? $err", '0 ', 'the letters are sent by each route');

for my $route (sort keys %limits)
{
  SKIP:
	{
		skip $1, 3 if $out =~ /^($route: there is no .*)$/m;

		for my $lang (sort keys %{ $limits{$route} })
		{
			my ($distance, $contained) = $out =~ /^$route $lang (\d+) [\d.]+ [tf] ([tf]) /m;

			ok(defined $distance && $distance <= $limits{$route}{$lang} && $contained eq 't',
				"$route, $lang: the same letter, with its numbers")
			  or diag($out);
		}
	}
}

$node->stop;
done_testing();

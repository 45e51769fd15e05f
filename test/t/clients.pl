# clients: the drivers of applications work with simdup. Each program of
# test/clients has a database of its own, and prints TAP. Programs of the first list
# do the same things. Those of the second have the table of doc/simdup-applications.md.
#
# A driver or tool that is not installed is skipped. make test-all installs them: need clients
# in test/server.sh. The packages of package-lock.json come by npm into a scratch folder.
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

my $scratch = PostgreSQL::Test::Utils::tempdir();

# Debian's modules belong to Debian's Python.
my $python = '/usr/bin/python3';
my $jdbc = '/usr/share/java/postgresql.jar';

sub no_python
{
	my ($module) = @_;
	my ($done) = ran($python, '-c', "import $module");

	return $done ? '' : "$python has no $module";
}

sub no_node
{
	for my $program (qw(node npm))
	{
		my ($done) = ran($program, '--version');
		return "there is no $program" unless $done;
	}
	mkdir "$scratch/node";
	system_or_bail('cp', glob('test/clients/*.*js*'), "$scratch/node");

	my ($done, $out) = ran('npm', 'ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund',
		'--prefix', "$scratch/node", '--cache', "$scratch/npm");
	return $done ? '' : 'npm could not install the packages';
}

sub no_program
{
	my ($reason, @command) = @_;
	my ($done) = ran(@command);

	return $done ? '' : $reason;
}

sub no_java
{
	my ($done) = ran('javac', '-version');

	return !$done ? 'there is no JDK' : -e $jdbc ? '' : "there is no $jdbc";
}

my $node = PostgreSQL::Test::Cluster->new('clients');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# JDBC has no Unix sockets
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$node->start;

$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
my $lamp = $node->safe_psql('postgres',
	"SELECT minhash64('The lamp at the corner of Fish Street has been dark since May. I walk home there at night.')");

# the package of clients/python
$ENV{PYTHONPATH} = 'clients/python';
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGUSER} = $node->safe_psql('postgres', 'SELECT current_user');

my ($no_node, $no_java) = (no_node(), no_java());
my @clients = (
	{ name => 'psycopg3', lacks => no_python('psycopg'), command => [ $python, '-B', 'test/clients/psycopg3.py' ] },
	{ name => 'psycopg2', lacks => no_python('psycopg2'), command => [ $python, '-B', 'test/clients/psycopg2_client.py' ] },
	{ name => 'sqlalchemy', lacks => no_python('sqlalchemy, psycopg2'), command => [ $python, '-B', 'test/clients/sqlalchemy_client.py' ] },
	{ name => 'node', lacks => $no_node, command => [ 'node', "$scratch/node/node.js" ] },
	{
		name => 'jdbc',
		lacks => $no_java,
		command => [ 'java', '-XX:TieredStopAtLevel=1', '-cp', $jdbc, 'test/clients/Jdbc.java' ],
		url => 1
	});

# What every program must have done.
my @things = (
	qr/^a fingerprint is a string$/, qr/^inserted as text/, qr/^search by text$/, qr/eight times: the index is used$/,
	qr/^arrays both ways$/, qr/^the nearest ten$/, qr/^reject is caught$/, qr/^EXCLUDE is caught$/,
	qr/^ON CONFLICT DO NOTHING$/, qr/^store it unless it is there$/, qr/^half a letter finds the letter$/,
	qr/^pairs by a join$/, qr/^clusters by a window function$/, qr/^pairs as a stream$/, qr/^a grouping by position$/);

for my $client (@clients)
{
	my $name = $client->{name};

  SKIP:
	{
		skip "$name: $client->{lacks}", 1 if $client->{lacks};

		$node->safe_psql('postgres', "CREATE DATABASE $name");
		$ENV{PGDATABASE} = $name;

		my ($done, $out) = ran(@{ $client->{command} }, 'test/clients/letters.sql', $lamp,
			$client->{url} ? "jdbc:postgresql://127.0.0.1:$ENV{PGPORT}/$name?user=$ENV{PGUSER}" : ());
		my @did = $out =~ /^ok \d+ - (.*)$/mg;
		my ($plan) = $out =~ /^1\.\.(\d+)$/m;
		my @missed = grep { my $thing = $_; !grep { /$thing/ } @did } @things;

		ok($done && defined $plan && $plan == @did && !@missed, "$name: all its " . @did . ' checks hold')
			or diag("not done: @missed\n$out");
	}
}

# --- the page's programs, and the rows of its table

my ($page_table) = slurp_file('doc/simdup-applications.md') =~ /^```sql\n(.*?)^```/ms;

sub formats_operators
{
	open my $in, '>', "$scratch/q.sql" or die;
	print $in "SELECT a <~> b, c <~~> d, e <~@ f FROM g;\n";
	close $in;
	my ($done, $kept) = ran('pg_format', '-p', '<~[~@]?>?', "$scratch/q.sql");
	my (undef, $apart) = ran('pg_format', "$scratch/q.sql");
	return $kept =~ /a <~> b/ && $kept =~ /c <~~> d/ && $kept =~ /e <~@ f/ && $apart =~ /a < ~ > b/;
}

my @applications = (
	{ name => 'app_node', lacks => $no_node, command => [ 'node', "$scratch/node/app.mjs" ] },
	{
		name => 'app_java',
		lacks => $no_java,
		command => [ 'java', '-XX:TieredStopAtLevel=1', '-cp', $jdbc, 'test/clients/App.java' ],
		url => 1
	},
	{
		name => 'app_ruby',
		lacks => no_program('Ruby has no active_record or pg', 'ruby', '-e', 'require "active_record"; require "pg"'),
		command => [ 'ruby', 'test/clients/app.rb' ]
	},
	{
		name => 'app_php',
		lacks => no_program('PHP has no pdo_pgsql', 'php', '-r', 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);'),
		command => [ 'php', 'test/clients/app.php' ]
	},
	{ name => 'schema_node', lacks => $no_node, command => [ 'node', 'schema.mjs' ], folder => "$scratch/node" },
	{
		name => 'schema_doctrine',
		lacks => no_program('PHP has no Doctrine DBAL', 'php', '-r', 'require "/usr/share/php/Doctrine/DBAL/autoload.php"; exit(extension_loaded("pdo_pgsql") ? 0 : 1);'),
		command => [ 'php', 'test/clients/schema.php' ]
	},
	{
		name => 'schema_alembic',
		lacks => no_python('alembic, psycopg2'),
		command => [ $python, '-B', 'test/clients/schema_alembic.py' ]
	});

for my $client (@applications)
{
	my $name = $client->{name};

  SKIP:
	{
		skip "$name: $client->{lacks}", 1 if $client->{lacks};

		$node->safe_psql('postgres', "CREATE DATABASE $name");
		$node->safe_psql($name, "CREATE EXTENSION simdup; $page_table");
		$ENV{PGDATABASE} = $name;

		my @command = @{ $client->{command} };
		@command = ('env', '-C', $client->{folder}, @command) if $client->{folder};
		my ($done, $out) =
			ran(@command, $client->{url} ? "jdbc:postgresql://127.0.0.1:$ENV{PGPORT}/$name?user=$ENV{PGUSER}" : ());
		my $n_did = () = $out =~ /^ok \d+ - /mg;
		my ($plan) = $out =~ /^1\.\.(\d+)$/m;

		ok($done && defined $plan && $plan == $n_did, "$name: all its $n_did checks hold") or diag($out);
	}
}

SKIP:
{
	my $lacks = no_program('there is no pg_format', 'pg_format', '--version');
	skip $lacks, 1 if $lacks;
	ok(formats_operators(), 'pg_format keeps operators with -p, and takes them apart without');
}

$node->stop;
done_testing();

# citus: the script for tables that Citus distributes.
#
# The script runs on Citus where Citus is installed. Elsewhere the test runs the
# script's SQL on one server, where distributing a table does nothing.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = 'test/demo/citus.sql';
my $has_citus = -e `pg_config --sharedir` =~ s/\n//r . '/extension/citus.control';

my $node = PostgreSQL::Test::Cluster->new('citus');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# Citus reaches even its own server by TCP
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'\nlisten_addresses = 'localhost'") if $has_citus;
$node->start;

# The database's answers, one a line.
sub run_script
{
	my ($db, $text) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-X', '-d', $node->connstr($db), '-f', '-' ], '<', \$text, '>', \$out, '2>', \$err);
	is($err, '', "$db: no error");
	return split /\n/, $out;
}

sub all_ok
{
	my ($db, @lines) = @_;

	is(scalar(@lines), 7, "$db: seven answers");
	for my $line (@lines)
	{
		my ($ok, $what) = $line =~ /^(.*?) - (.*)/ or next;
		is($ok, 'ok', "$db: $what");
	}
	return;
}

my $text = slurp_file($script);
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
is_deeply([ run_script('postgres', $text) ], ['skipped: this database has no Citus (CREATE EXTENSION citus)'], 'without Citus: skipped');

$node->safe_psql('postgres', 'CREATE DATABASE alone');
$node->safe_psql('alone', <<'SQL');
CREATE EXTENSION simdup;
CREATE FUNCTION create_distributed_table(name regclass, distribution_column text, colocate_with text = 'default') RETURNS void
  LANGUAGE sql AS '';
SQL
# what comes after the question
all_ok('alone', run_script('alone', $text =~ s/^SELECT count\(\*\) > 0 AS citus.*?^\\endif\n//msr));

SKIP:
{
	skip 'Citus is not installed', 9 unless $has_citus;
	$node->safe_psql('postgres', 'CREATE DATABASE city');
	$node->safe_psql('city', 'CREATE EXTENSION citus; CREATE EXTENSION simdup');
	$node->safe_psql('city', "SELECT citus_set_coordinator_host('localhost', " . $node->port . ')');
	all_ok('city', run_script('city', $text));
}

$node->stop;
done_testing();

# groups_dump: grouped tables are dumped and restored. Rows, ids, events and
# decisions are the same, and the next row joins the group that it would have.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Dependents;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('groups_dump');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE clerk');
$node->safe_psql('postgres', 'CREATE DATABASE source TEMPLATE template0');
$node->safe_psql('source', 'CREATE EXTENSION simdup');
build_groups($node, 'source');

my $before = groups($node, 'source');
like($before, qr/^joins\|t$/m, 'a row joins the group of its copy');
like($before, qr/^opens\|t$/m, 'and another opens one');
my ($first) = $before =~ /^is back\|12\|(\d+)$/m;
my ($second) = $before =~ /^is back\|13\|(\d+)$/m;
isnt($first, $second, 'a decision that is taken back parts two rows');
is(groups($node, 'source'), $before, 'asked again, the answers are the same');

# restored DB WHAT: all is as it was.
sub restored
{
	my ($db, $what) = @_;

	is(groups($node, $db), $before, "$what: rows, ids, and where rows come next");
	is( $node->safe_psql($db, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"),
		'0', "$what: indexes are valid");
	return;
}

for my $format ('plain', 'custom', 'directory')
{
	my $file = PostgreSQL::Test::Utils::tempdir() . "/groups.$format";
	my $db = "restored_$format";

	$node->command_ok([ 'pg_dump', '-d', 'source', '-F', $format, '-f', $file ], "$format: dump");
	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $db, '-f', $file ]
		: [ 'pg_restore', '-e', '-j', '2', '-d', $db, $file ],
		"$format: restored");
	restored($db, $format);
}

# A dump of the data alone, into tables that are there: the triggers are off.
my $data = PostgreSQL::Test::Utils::tempdir() . '/groups.data';
my $schema = PostgreSQL::Test::Utils::tempdir() . '/groups.schema';
$node->command_ok([ 'pg_dump', '-d', 'source', '-s', '-f', $schema ], 'dump of the schema');
$node->command_ok([ 'pg_dump', '-d', 'source', '-a', '--disable-triggers', '-f', $data ], 'dump of the data');
$node->safe_psql('postgres', 'CREATE DATABASE in_parts TEMPLATE template0');
for my $file ($schema, $data)
{
	$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', 'in_parts', '-f', $file ], 'restored a part');
}
restored('in_parts', 'schema, then data');

$node->stop;
done_testing();

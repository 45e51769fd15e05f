# image_tree: a server finds simdup in the folder that make image-tree lays out, as
# CloudNativePG mounts it: by extension_control_path and dynamic_library_path, and
# read-only. The tests in SQL run there.
#
# The server knows extension_control_path from 18 on. On earlier ones, the folder's
# files are all that is looked at.
#
# Runs in make test-all only.

use strict;
use warnings;

use Cwd qw(getcwd);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $here = getcwd();
my $folder = PostgreSQL::Test::Utils::tempdir() . '/extensions/simdup';
my ($version) = slurp_file('simdup.control') =~ /^default_version = '(.*)'/m;

# Make, without the settings of the make that runs this test.
sub run_make
{
	my @arguments = @_;
	my $out = '';

	delete local @ENV{qw(MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL)};
	my $done = IPC::Run::run([ 'make', '-s', "PG_CONFIG=$ENV{PG_CONFIG}", @arguments ], '<', '/dev/null', '>', \$out, '2>&1');
	return ($done, $out);
}

my ($done, $out) = run_make('with_llvm=no', 'image-tree');
ok($done, 'make image-tree') or diag($out);
my $files = `cd build/image && find . -type f | LC_ALL=C sort`;
is($files, "./lib/simdup.so\n./share/extension/simdup--$version.sql\n./share/extension/simdup-report.sql\n./share/extension/simdup.control\n", 'lib and share, and nothing else');

my $node = PostgreSQL::Test::Cluster->new('image_tree');
$node->init(extra => [ '--locale=C.UTF-8', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 4');
$node->start;

SKIP:
{
	skip 'the server looks for extensions in one place only', 1
	  if $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int < 180000") eq 't';

	system_or_bail('mkdir', '-p', $folder =~ s/\/simdup$//r);
	system_or_bail('cp', '-r', 'build/image', $folder);
	system_or_bail('chmod', '-R', 'a-w', $folder);
	$node->append_conf('postgresql.conf', <<"CONF");
extension_control_path = '$folder/share:\$system'
dynamic_library_path = '$folder/lib:\$libdir'
CONF
	$node->reload;

	$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
	is($node->safe_psql('postgres', "SELECT minhash64('a text of some words') <~> minhash64('A text of some words!')"), '0', 'it works');
	my $maps = $node->safe_psql('postgres', "LOAD 'simdup'; SELECT DISTINCT right(line, length('$folder/lib/simdup.so')) FROM regexp_split_to_table(pg_read_file('/proc/self/maps'), '\\n') AS line WHERE line LIKE '%simdup.so'");
	is($maps, "$folder/lib/simdup.so", 'the library is that of the folder');
	# so is the script: the server's own folder need not have one
	my $other = "$folder-other";
	system_or_bail('mkdir', '-p', "$other/extension");
	append_to_file("$other/extension/simdup.control", slurp_file('simdup.control') =~ s/^comment = .*/comment = 'from elsewhere'/mr);
	is($node->safe_psql('postgres', "SET extension_control_path = '$other:$folder/share'; SELECT comment FROM pg_available_extensions WHERE name = 'simdup'"),
		'from elsewhere', 'the control file is that of the path');

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	system_or_bail('mkdir', '-p', 'image_tree/results', 'results');
	symlink "$here/expected", 'image_tree/expected';
	($done, $out) = run_make('installcheck', 'ISOLATION=',
		'REGRESS_OPTS=--inputdir=test --outputdir=image_tree --load-extension=simdup --encoding=UTF8');
	my ($sum) = $out =~ /((?:All \d+|\d+ of \d+) tests passed)/;
	ok($done && $sum, 'the tests in SQL: ' . ($sum // 'no sum')) or diag($out);
	is(`cd $folder && find . -type f | LC_ALL=C sort`, $files, 'nothing was written to the folder');
}

$node->stop;
done_testing();

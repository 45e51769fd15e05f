# upgrade_server: from an older server to this one, by pg_upgrade and by dump
# and restore, with a database that builds on everything simdup has.
#
# The older servers are the supported ones that this machine has with the
# headers for extensions. Without one, all tests are skipped.
#
# Runs in make test-all only.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Cwd ();
use Dependents;
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $oldest = 15;
my $tree = Cwd::cwd();

# The output of pg_config.
sub config
{
	my ($pg_config, $option) = @_;
	my ($stdout) = run_command([ $pg_config, $option ]);

	return $stdout;
}

sub major
{
	my ($pg_config) = @_;

	return config($pg_config, '--version') =~ /^PostgreSQL (\d+)/ ? $1 : 0;
}

my $new_major = major('pg_config');

# The older servers: {major => pg_config}, where Debian and Red Hat put them.
sub older_servers
{
	my %found;

	for my $pg_config (glob('/usr/lib/postgresql/*/bin/pg_config /usr/pgsql-*/bin/pg_config'))
	{
		my $major = major($pg_config);

		next if $major < $oldest || $major >= $new_major;
		$found{$major} = $pg_config
		  if -e config($pg_config, '--pgxs')
		  && -e config($pg_config, '--includedir-server') . '/postgres.h'
		  && -x config($pg_config, '--bindir') . '/postgres';
	}
	return %found;
}

my %older = older_servers();
plan skip_all => "no server older than $new_major with its headers is beside this one" unless %older;

# install_beside MAJOR: simdup of this tree for that server, in a private
# installation; where its bin folder is.
sub install_beside
{
	my ($major) = @_;
	my $pg_config = $older{$major};
	my $scratch = PostgreSQL::Test::Utils::tempdir() . "/older_$major";
	my $copy = "$scratch/simdup";

	mkdir $_ for $scratch, $copy;
	# not all of the tree: $scratch can be in it
	system_or_bail('cp', '-r', map("$tree/$_", qw(Makefile simdup.control doc sql src test)), $copy);
	# As private_install for the server under test. Bitcode would need the LLVM of
	# the older server, and no test here uses it.
	system_or_bail(
		'env', "PG_CONFIG=$pg_config", 'MAKEFLAGS=with_llvm=no', 'TMPDIR=' . $scratch, 'bash', '-c',
		'. "$1/test/server.sh"; make -s -C "$root" clean; scratch=$2; server_user=$(id -un); '
		  . 'bindir=$scratch/pg$("$PG_CONFIG" --bindir); private_install',
		'bash', $copy, $scratch);
	return $scratch . '/pg' . config($pg_config, '--bindir');
}

# A cluster that both servers make alike.
sub cluster
{
	my ($name, @where) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, @where);

	$node->init(extra => [ '--locale=C', '--encoding=UTF8', '--data-checksums' ]);
	return $node;
}

# The answers of a database: fingerprints, results, and the extension's version.
sub seen
{
	my ($node, $db) = @_;

	return {
		stored => stored($node, $db),
		answers => answers($node, $db),
		acl => $node->safe_psql($db, "SELECT has_function_privilege('clerk', oid, 'EXECUTE') FROM pg_proc WHERE proname = 'simdup_report'"),
		triggers => $node->safe_psql($db, 'SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname'),
		version => $node->safe_psql($db, "SELECT extversion FROM pg_extension WHERE extname = 'simdup'")
	};
}

# same_database NODE DB SEEN WHAT: it is as it was.
sub same_database
{
	my ($node, $db, $before, $what) = @_;
	my $now = seen($node, $db);

	is($now->{stored}, $before->{stored}, "$what: fingerprints are the same");
	is($now->{answers}, $before->{answers}, "$what: functions, views and triggers answer as before");
	is($now->{triggers}, $before->{triggers}, "$what: the triggers are the same");
	is($now->{acl}, $before->{acl}, "$what: so is who may call what");
	is($now->{version}, $before->{version}, "$what: and the version of simdup");
	return;
}

# sound NODE DB WHAT: indexes are valid, sound, used, and find what scans find.
sub sound
{
	my ($node, $db, $what) = @_;

	is($node->safe_psql($db, 'SELECT count(*) FROM pg_index WHERE NOT indisvalid OR NOT indisready'), '0', "$what: indexes are valid");
	is( $node->safe_psql($db, <<'SQL'), 't', "$what: hamming indexes are sound");
SELECT count(simdup_index_check(c.oid, true)) > 5 FROM pg_class AS c JOIN pg_am AS a ON a.oid = relam
WHERE amname = 'hamming' AND relkind = 'i'
SQL
	for (scans($node, $db))
	{
		my ($index, $by_index, $by_scan, $plan) = @$_;

		is($by_index, $by_scan, "$what: $index finds what a scan finds");
		unlike($by_index, qr/^0\|/, "$what: $index finds something");
		like($plan, qr/ on $index\b| using $index\b/, "$what: $index is used");
	}

	SKIP:
	{
		skip 'amcheck is not installed on this machine', 1
		  unless $node->safe_psql($db, "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'");
		my $indexes = "FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = relam "
		  . "WHERE relnamespace = 'public'::regnamespace AND relkind = 'i' AND amname =";
		my $checks = "SELECT count(*) FROM (SELECT bt_index_check(indexrelid, true) $indexes 'btree') AS c;";
		my $count = "SELECT count(*) $indexes 'btree';";

		if ($node->pg_version >= 18)
		{
			$checks .= "SELECT count(*) FROM (SELECT gin_index_check(indexrelid) $indexes 'gin') AS c;";
			$count .= "SELECT count(*) $indexes 'gin';";
		}
		is( $node->safe_psql($db, "SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS amcheck; $checks"),
			$node->safe_psql($db, $count),
			"$what: amcheck finds nothing wrong with btree" . ($node->pg_version >= 18 ? ' and gin' : '') . ' indexes');
		$node->safe_psql($db, 'DROP EXTENSION amcheck');
	}
	return;
}

for my $major (sort { $a <=> $b } keys %older)
{
	my $old_bindir = install_beside($major);
	# settings chosen for the suite may be unknown to it
	delete local $ENV{TEMP_CONFIG};
	my $old = cluster("old_$major", install_path => dirname($old_bindir));
	my $way = "$major to $new_major";

	$old->start;
	like($old->safe_psql('postgres', 'SHOW server_version'), qr/^$major\b/, "a server of version $major");
	$old->safe_psql('postgres', 'CREATE ROLE clerk');

	$old->safe_psql('postgres', 'CREATE DATABASE current');
	$old->safe_psql('current', 'CREATE EXTENSION simdup; REVOKE EXECUTE ON FUNCTION simdup_report FROM PUBLIC');
	build_dependents($old, 'current');
	my $before = seen($old, 'current');

	# --- dump and restore: by the old pg_dump and the new, in both formats

	my $restored = cluster("restored_$major");
	$restored->start;
	$restored->safe_psql('postgres', 'CREATE ROLE clerk');
	for my $by ($major, $new_major)
	{
		my $pg_dump = $by == $major ? "$old_bindir/pg_dump" : 'pg_dump';

		for my $format ('plain', 'custom')
		{
			my $target = "${format}_by_$by";
			my $file = PostgreSQL::Test::Utils::tempdir() . "/$target.$major";
			my $what = "$way, $format dump by pg_dump of $by";

			command_ok([ $pg_dump, '-d', $old->connstr('current'), '-F', $format, '-f', $file ], $what);
			$restored->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
			$restored->command_ok(
				$format eq 'plain'
				? [ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $target, '-f', $file ]
				: [ 'pg_restore', '-e', '-j', '2', '-d', $target, $file ],
				"$what: restored");
			same_database($restored, $target, $before, $what);
			sound($restored, $target, $what);
		}
	}
	$restored->stop;

	# --- pg_upgrade

	$old->stop;
	my $new = cluster("new_$major");
	my @pg_upgrade = (
		'pg_upgrade', '--no-sync',
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-b', $old_bindir, '-B', config('pg_config', '--bindir'),
		'-s', $new->host, '-p', $old->port, '-P', $new->port);
	chdir PostgreSQL::Test::Utils::tempdir();
	command_ok(\@pg_upgrade, "$way: pg_upgrade");
	chdir $tree;
	$new->start;
	same_database($new, 'current', $before, "$way: pg_upgrade");
	sound($new, 'current', "$way: pg_upgrade");
	$new->stop;
}

done_testing();

# environment: settings for libpq in the caller's environment do not reach a
# private server. The test tries every name that libpq knows.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;

my ($ldd) = run_command([ 'sh', '-c', 'ldd "$(command -v psql)"' ]);
my ($libpq) = $ldd =~ m{(/\S*/libpq\.so\S*)};
my %known = map { $_ => 1 } slurp_file($libpq, 0) =~ /\0(PG[A-Z]+)(?=\0)/g;
for my $name (qw(PGDATABASE PGHOST PGHOSTADDR PGOPTIONS PGPASSFILE PGPORT PGSERVICE PGSSLMODE PGTZ PGUSER))
{
	ok($known{$name}, "libpq knows $name");
}

my $csv = PostgreSQL::Test::Utils::tempdir() . '/two.csv';
append_to_file($csv, "id,text\n1,The lamp at the corner of the fish market has been dark for weeks.\n2,A tree has fallen on the road.\n");

# No server is there, no role has that name, no setting takes it.
my @hostile = ("DATA=$csv", map { "$_=nowhere" } sort keys %known, 'PGDATA', 'PGCTLTIMEOUT', 'PSQLRC');
my $script = <<'SH';
. test/server.sh
open_scratch
bindir=$("$PG_CONFIG" --bindir)
start_cluster environment
. test/demo/run.sh
psql -d demo -Atc 'SHOW port' -c 'SELECT current_user'
SH

my ($output, $errors) = run_command([ 'env', @hostile, 'psql', '-Atc', 'SELECT 1' ]);
is($output, '', 'with all of them set, psql reaches no server');
($output, $errors) = run_command([ 'env', @hostile, 'bash', '-c', $script ]);
like($output, qr/^Next: .*\n5432\npostgres$/ms, 'the demo runs on its own server');
is($errors, '', 'without a message');

done_testing();

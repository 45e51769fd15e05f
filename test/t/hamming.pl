# hamming: a search by the index finds the same as a scan of the table, for all
# kinds of rows and after all kinds of changes. The index stays sound, and an
# insert writes little to the log.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Hamming;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hamming');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmax_parallel_workers_per_gather = 0\nmax_wal_size = 4GB\ncheckpoint_timeout = 1h");
$node->start;
$node->safe_psql('postgres', $Hamming::setup);

sub agrees
{
	my ($table, $name, $step) = @_;

	is($node->safe_psql('postgres', "SELECT simhash_index_check('${table}_fp', true)"), '', "$name: the index is sound");
	is($node->safe_psql('postgres', "SELECT differences('$table', $step)"), '0', "$name: index and table agree");
	is($node->safe_psql('postgres', "SELECT disorder('$table')"), '0', "$name: the order is right");
	return;
}

# --- all kinds of values, through the life of a table
my $n = 6000;
for my $kind (qw(uniform clustered equal near sign nothing mixed))
{
	$node->safe_psql('postgres', "CREATE TABLE $kind (id bigint, fp simhash64); SELECT fill('$kind', '$kind', 1, $n);"
		  . "CREATE INDEX ${kind}_fp ON $kind USING hamming (fp)");
	agrees($kind, "$kind, built", 1);
	$node->safe_psql('postgres', "SELECT fill('$kind', '$kind', $n + 1, 2 * $n)");
	agrees($kind, "$kind, inserted", 8);
	$node->safe_psql('postgres', "UPDATE $kind SET fp = fingerprint('uniform', id) WHERE id % 5 = 0; UPDATE $kind SET id = -id WHERE id % 7 = 0;"
		  . "DELETE FROM $kind WHERE id % 3 = 0");
	agrees($kind, "$kind, changed", 16);
	$node->safe_psql('postgres', "VACUUM $kind");
	agrees($kind, "$kind, vacuumed", 8);
	$node->safe_psql('postgres', "SELECT fill('$kind', '$kind', 3 * $n, 4 * $n)");
	agrees($kind, "$kind, filled again", 16);
	$node->safe_psql('postgres', "REINDEX INDEX ${kind}_fp");
	agrees($kind, "$kind, reindexed", 16);
}

# --- pages that are nearly empty make a tree of three levels, and split there
$node->safe_psql('postgres', "CREATE TABLE high (id bigint, fp simhash64); SELECT fill('high', 'uniform', 1, 30000);"
	  . 'CREATE INDEX high_fp ON high USING hamming (fp) WITH (fillfactor = 10)');
is($node->safe_psql('postgres', "SELECT levels FROM simhash_index_stat('high_fp')"), '3', 'three levels');
agrees('high', 'three levels', 16);
$node->safe_psql('postgres', "SELECT fill('high', 'clustered', 30001, 60000)");
agrees('high', 'three levels, inserted', 16);

# --- temporary files, and many equal rows
$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; CREATE TABLE many (id bigint, fp simhash64);"
	  . "SELECT fill('many', 'equal', 1, 100000); SELECT fill('many', 'mixed', 100001, 130000); CREATE INDEX many_fp ON many USING hamming (fp)");
agrees('many', 'built by files', 16);
is($node->safe_psql('postgres', "SELECT n_rows + n_nulls, largest_block >= 100000 FROM simhash_index_stat('many_fp')"),
	'130000|t', 'the statistics count all rows and the equal ones');
$node->safe_psql('postgres', 'DELETE FROM many WHERE id <= 100000; VACUUM many');
agrees('many', 'equal rows deleted', 16);

# --- the log
$node->safe_psql('postgres', "INSERT INTO uniform SELECT i, fingerprint('uniform', i) FROM generate_series(1000000, 1000100) i; CHECKPOINT;"
	  . 'UPDATE uniform SET id = id');
my $before = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', join(";\n", map { "INSERT INTO uniform VALUES ($_, fingerprint('uniform', $_))" } 2000000 .. 2001999));
my $bytes = $node->safe_psql('postgres', "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$before') / 2000");
cmp_ok($bytes, '<=', 600, 'an insert between checkpoints writes at most 600 bytes');

# --- corrupted pages are found, and never more than an error
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('high_fp')");
my $good = do { $node->safe_psql('postgres', 'CHECKPOINT'); $node->stop; slurp_file($path) };

# Write the file anew with some change; then search and check.
sub damaged
{
	my ($name, $change, $must_fail) = @_;
	my $bad = $good;
	$change->(\$bad);
	open my $handle, '>:raw', $path or die "$path: $!";
	print $handle $bad;
	close $handle;
	$node->start;
	my $failed = 0;
	my $wrong = '';
	for my $query ("SELECT simhash_index_check('high_fp', true)",
		map { "SET enable_seqscan = off; SET statement_timeout = '60s'; $_" }
		"SELECT count(*) FROM high WHERE simhash_within(fp, '0123456789abcdef', 64)",
		"SELECT count(*) FROM high WHERE simhash_within(fp, fingerprint('clustered', 7), 9)",
		"SELECT count(*) FROM (SELECT id FROM high ORDER BY fp <~> '0123456789abcdef' LIMIT 100) s",
		"BEGIN; SELECT fill('high', 'uniform', 70001, 70200); ROLLBACK",
		"DELETE FROM high WHERE id % 3 = 1; VACUUM high", "SELECT simhash_index_stat('high_fp')")
	{
		my ($out, $err);
		$node->psql('postgres', "\\set VERBOSITY verbose\n$query", stdout => \$out, stderr => \$err, on_error_die => 0);
		next if $err !~ /ERROR|FATAL|PANIC|server closed/;
		$failed++;
		# a TID that is damaged leads behind the table's end
		$wrong .= $err if $err !~ /ERROR: +(XX002|XX001|XX000: could not open file)/;
	}
	is($wrong, '', "$name: errors are those of a corrupted index");
	cmp_ok($failed, '>', 0, "$name: it is noticed") if $must_fail;
	$node->stop;
	return;
}

my $pages = length($good) / 8192;
damaged('metapage zeroed', sub { substr(${ $_[0] }, 0, 8192) = "\0" x 8192 }, 1);
damaged('leaf zeroed', sub { substr(${ $_[0] }, 8192 * 20, 8192) = "\0" x 8192 }, 1);
damaged('pages exchanged', sub { my $s = $_[0]; (substr($$s, 8192 * 30, 8192), substr($$s, 8192 * 700, 8192)) = (substr($good, 8192 * 700, 8192), substr($good, 8192 * 30, 8192)) }, 1);
damaged('right link to the left', sub { substr(${ $_[0] }, 8192 * 41 - 8, 4) = pack('V', 5) }, 1);
damaged('number of entries', sub { substr(${ $_[0] }, 8192 * 50 + 12, 2) = pack('v', 8000) }, 1);
damaged('another relation', sub { substr(${ $_[0] }, 8192, 8192 * 10) = "\x5a" x 81920 }, 1);
damaged('end cut off', sub { ${ $_[0] } = substr($good, 0, 8192 * int($pages / 2)) }, 1);
srand(5);
for my $round (1 .. 6)
{
	damaged("bits flipped, $round", sub {
			my $s = $_[0];
			for (1 .. 40)
			{
				my $at = int(rand($pages)) * 8192 + (rand() < 0.5 ? int(rand(32)) : 8160 + int(rand(32)));
				substr($$s, $at, 1) ^= chr(1 << int(rand(8)));
			}
		}, 0);
}
open my $handle, '>:raw', $path or die "$path: $!";
print $handle $good;
close $handle;

done_testing();

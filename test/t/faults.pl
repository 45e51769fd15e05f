# faults: memory runs out, a cancel request arrives, or the disk is full, at each
# place of a statement in turn. Each fault is an ordinary error, and the session
# works afterwards as before.
#
# Runs in make test-all only.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Statements;
use Test::More;

# The headers of the server under test.
my ($include) = run_command([ $ENV{PG_CONFIG}, '--includedir-server' ]);

my $fault = PostgreSQL::Test::Utils::tempdir() . '/fault.so';
system_or_bail($ENV{CC} // 'cc', '-shared', '-fPIC', '-O1', '-g', '-D_GNU_SOURCE', '-Wl,-z,lazy', '-isystem', $include,
	'-o', $fault, 'test/fault/fault.c', '-ldl');

my $node = Statements::new_node('faults');
$node->append_conf('postgresql.conf', 'jit = off');
{
	local $ENV{LD_PRELOAD} = $fault;
	$node->start;
}

$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION simdup;
CREATE FUNCTION fault_arm(kind text, n bigint) RETURNS void LANGUAGE c STRICT AS '$fault';
CREATE FUNCTION fault_disarm() RETURNS boolean LANGUAGE c STRICT AS '$fault';
CREATE FUNCTION fault_limit(bytes bigint) RETURNS void LANGUAGE c AS '$fault';
SQL
$node->safe_psql('postgres', <<'SQL');
-- Let the n-th event of a statement fail, for n = 1, 2, 3 ..., in ever longer
-- steps after the first so many, until there is no n-th. What the statement
-- changes is undone each time. How it ended, and how often.
CREATE FUNCTION inject(kind text, statement text, dense bigint, expected text, OUT ending text, OUT times bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  n bigint := 1;
  result text;
  fired boolean := true;
  state text;
  message text;
  endings text[];
BEGIN
  WHILE fired LOOP
    BEGIN
      PERFORM fault_arm(kind, n);
      EXECUTE statement INTO result;
      fired := fault_disarm();
      RAISE EXCEPTION USING ERRCODE = 'ZZ000';
    EXCEPTION WHEN query_canceled OR OTHERS THEN
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
      PERFORM fault_disarm();
      IF state = 'ZZ000' THEN
        state := CASE WHEN result IS DISTINCT FROM expected THEN format('wrong at %s: %s', n, result)
                 WHEN fired THEN 'unharmed' ELSE 'untouched' END;
      ELSIF message LIKE 'failed to initialize hash table %' THEN
        state := '53200'; -- as the server says it from 18 on
      ELSIF state NOT IN ('53200', '57014', '53100') THEN
        state := format('%s at %s: %s', state, n, message);
      END IF;
      endings := endings || state;
    END;
    n := n + 1 + n / dense;
  END LOOP;
  RETURN QUERY SELECT e, count(*) FROM unnest(endings) AS e GROUP BY e ORDER BY e;
END $$;

SQL
$node->safe_psql('postgres', $Statements::setup);


my @small = @Statements::small;
my @large = @Statements::large;
my $icu = $Statements::icu;
push @small, $icu if $node->safe_psql('postgres', 'SELECT simdup_icu_version() IS NOT NULL') eq 't';

# The answer of a statement without a fault. Its changes are rolled back.
my %expected;
for my $statement (@small, @large)
{
	$expected{$statement} = $node->safe_psql('postgres', "BEGIN; $statement; ROLLBACK");
	isnt($expected{$statement}, '', "answers: $statement");
}

# --- one place after the other, all in one session

my $session = $node->background_psql('postgres', on_error_die => 1);
# the time limit is of each statement, not of the session
$session->set_query_timer_restart();
# how long a statement takes decides whether it says how far it is
$session->query_safe('SET client_min_messages = warning');
$session->query_safe("LOAD 'simdup'");
my $pid = $session->query_safe('SELECT pg_backend_pid()');

# Each place of the statement that a kind of fault can hit: how they ended.
sub endings
{
	my ($kind, $statement, $dense) = @_;

	return join ' ', sort split /\n/, $session->query_safe(
		"SELECT ending FROM inject('$kind', \$\$$statement\$\$, $dense, \$\$$expected{$statement}\$\$)");
}

# All statements under all kinds.
my %right = (
	palloc => qr/^(53200 )?(unharmed )?untouched$/,
	malloc => qr/^(53200 )?(unharmed )?untouched$/,
	cancel => qr/^(57014 )?(unharmed )?untouched$/,
	write => qr/^53100 untouched$/);
sub sweep
{
	my ($name, $dense_small, $dense_large) = @_;

	for my $statement (@small, @large)
	{
		my $is_large = grep { $_ eq $statement } @large;
		my @kinds = ('palloc', 'malloc', 'cancel', $is_large ? 'write' : ());
		my @wrong;

		for my $kind (@kinds)
		{
			my $ended = endings($kind, $statement, $is_large ? $dense_large : $dense_small);
			push @wrong, "$kind: $ended" if $ended !~ $right{$kind};
		}
		is(join("\n", @wrong), '', "$name: @kinds fail as they should, nothing else does: $statement");
	}
	is($session->query_safe('SELECT count(*) FROM pg_ls_tmpdir()'), '0', "$name: no temporary file is left");
	return;
}

# The memory that the session holds between statements.
sub memory
{
	my %bytes = split /[|\n]/, $session->query_safe(<<'SQL');
SELECT name, sum(total_bytes) FROM pg_backend_memory_contexts
WHERE name IN ('TopMemoryContext', 'CacheMemoryContext') GROUP BY name
UNION ALL SELECT 'contexts of simdup', count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'simdup%'
SQL
	return \%bytes;
}

sweep('first', 25, 3);
my $before = memory();
sweep('again', 8, 2);
my $after = memory();
cmp_ok($after->{$_} - $before->{$_}, '<=', 32768, "faults leave nothing in $_")
  for 'TopMemoryContext', 'CacheMemoryContext';
is($after->{'contexts of simdup'}, $before->{'contexts of simdup'}, 'nor memory contexts');

for my $statement (@small, @large)
{
	is($session->query_safe("BEGIN; $statement; ROLLBACK"), $expected{$statement}, "then, in that session: $statement");
}
is($session->query_safe('SELECT pg_backend_pid()'), $pid, 'the session is the same');
$session->quit;

# --- statements that are transactions

my $script = "LOAD 'simdup';\n\\set VERBOSITY sqlstate\n";
for my $statement (grep { !/arrive|attach/ } @small[ 0 .. 2 ], @large)
{
	$script .= "SELECT fault_arm('$_->[0]', $_->[1]);\n$statement;\n"
	  for [ 'palloc', 5 ], [ 'palloc', 30 ], [ 'cancel', 400 ], [ 'write', 2 ];
}
$node->psql('postgres', $script, on_error_stop => 0, stderr => \my $said);
is_deeply([ sort keys %{ { map { $_ => 1 } $said =~ /ERROR: +(\w+)/g } } ],
	[ '53100', '53200', '57014' ], 'whole transactions fail the same way');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'and leave no temporary file');

# --- ICU under a limit: from the first use in a session on

SKIP:
{
	skip 'built without ICU', 2 unless $expected{$icu};

	my %ended;
	for my $kilobytes (0, 64, 512, 2048, 4096, 4608, 5120, 6144, 16384)
	{
		$node->psql('postgres', <<"SQL", stdout => \my $stdout, stderr => \my $stderr, on_error_stop => 0);
\\set VERBOSITY sqlstate
LOAD 'simdup';
SELECT fault_limit($kilobytes * 1024);
$icu;
SELECT fault_limit(NULL);
$icu;
SQL
		$stderr =~ s/^.*ERROR: +//mg;
		$stdout =~ s/\Q$expected{$icu}\E/right/g;
		# with very little, the server may fail at lifting the limit as well
		$ended{ join ' ', grep { $_ ne '' } split /\s+/, "$stdout $stderr" } = $kilobytes;
	}
	is(join(', ', grep { !/^(right ?|53200 ?)+$/ } keys %ended), '', 'ICU without memory is an error');
	ok((grep { /53200/ } keys %ended) && exists $ended{'right right'}, 'and with it works: ' . join(', ', sort keys %ended));
}

unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|leak|still referenced/, 'the server has nothing to say');
$node->stop;
done_testing();

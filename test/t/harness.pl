# harness: a bail-out of one script stops no other, and the sum names the script. The
# search of the servers' logs finds each fault that is listed below, and nothing else. Logs
# that cannot be read are not sound.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/bails.pl", 'use Test::More; ok(1, "one"); BAIL_OUT("no server");');
append_to_file("$folder/dies.pl", 'use Test::More; ok(1, "one"); ok(1, "two"); die;');
append_to_file("$folder/ends.pl", 'use Test::More; sleep 1; ok(1, "one"); done_testing();');

for my $jobs (1, 2)
{
	my $ended = IPC::Run::run([ 'prove', '--formatter', 'Sum', '-j', $jobs, map { "$folder/$_.pl" } qw(bails dies ends) ], '>', \my $out, '2>', \my $err);
	ok(!$ended, "$jobs at a time: prove fails");
	like($out, qr/ends\.pl \.+ ok/, 'a later script has run');
	like($out, qr/^not ok: \S+bails\.pl stopped after test 1: no server$/m, 'the sum names what bailed out');
	like($out, qr/^not ok: \S+dies\.pl stopped after test 2$/m, 'the sum names what died');
	like($out, qr/^4 passed, 2 failed, 0 skipped\n\z/m, 'the sum');
}

while (<DATA>)
{
	my ($kind, $line) = /^(\w+): (.*)/;
	my $found = IPC::Run::run([ 'grep', '-qE', '-f', 'test/log_faults' ], '<', \"$line\n");
	is($found ? 'fault' : 'sound', $kind, $line);
}

my ($search) = slurp_file('test/suite.sh') =~ /^(sound_logs\(\)\n.*?^\})/ms;
mkdir "$folder/log";
for my $case ([ 'LOG:  ready', 1, 'a sound log' ], [ 'PANIC:  no', 0, 'a fault' ], [ 'LOG:  ready', 0, 'a folder that cannot be read', 0 ],
	[ 'PANIC:  no', 0, 'a fault beside it', 0 ])
{
	my ($line, $is_sound, $name, $mode) = @$case;
	append_to_file("$folder/$line.log", "$line\n");
	chmod $mode // 0755, "$folder/log";
	is(IPC::Run::run([ 'bash', '-c', qq{$search\nscratch=$folder\nsound_logs} ], '>', \my $said, '2>&1') ? 1 : 0, $is_sound, $name);
	unlink "$folder/$line.log";
}
chmod 0755, "$folder/log";

done_testing();

__DATA__
sound: LOG:  database system is ready to accept connections
sound: DETAIL:  Key (id)=(1) is still referenced from table "t".
fault: TRAP: FailedAssertion("page != NULL", File: "page.c", Line: 1, PID: 1)
fault: TRAP: failed Assert("page != NULL"), File: "page.c", Line: 1, PID: 1
fault: PANIC:  could not locate a valid checkpoint record
fault: LOG:  server process (PID 1) was terminated by signal 11: Segmentation fault
fault: LOG:  server process (PID 1) was terminated by signal 6: Aborted
fault: WARNING:  detected write past chunk end in ExprContext 0x1
fault: WARNING:  problem in alloc set ExprContext: detected write past chunk end in block 0x1, chunk 0x2
fault: WARNING:  buffer refcount leak: [001] (rel=base/1/1, blockNum=0, flags=0x1, refcount=1 1)
fault: WARNING:  relcache reference leak: relation "t" not closed
fault: WARNING:  snapshot 0x1 still active
fault: WARNING:  Snapshot reference leak: Snapshot 0x1 still referenced
fault: WARNING:  TupleDesc reference leak: TupleDesc 0x1 (1,-1) still referenced
fault: WARNING:  temporary file leak: File 1 still referenced
fault: WARNING:  dynamic shared memory leak: segment 1 still referenced
fault: WARNING:  resource was not closed: relation "t"

# harness: a bail-out of one script stops no other, and the sum names the script.

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

done_testing();

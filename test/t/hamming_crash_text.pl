# hamming_crash_text: the tests of hamming_crash.pl, with an index on texts instead of fingerprints
# (jit = off there).

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;

BEGIN
{
	$ENV{HAMMING_CLASS} = 'text';
}

require "$FindBin::RealBin/hamming_crash.pl";

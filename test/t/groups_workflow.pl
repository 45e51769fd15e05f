# groups_workflow: the clerk's afternoon of doc/simdup-groups.md with 20,000 letters
# made of real petitions. The page's statements run as they stand, but for the
# one that makes its own letters.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Petitions;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no evaluation data beside the checkout' if Petitions::missing();

my $node = PostgreSQL::Test::Cluster->new('groups_workflow');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off");
$node->start;
Petitions::load($node, $_) for 'petitions_zh', 'petitions_us';

# Petitions with their copies, some of which lack their beginning.
my $bodies = PostgreSQL::Test::Utils::tempdir() . '/bodies';
for my $set ('petitions_zh', 'petitions_us')
{
	$node->safe_psql($set, "\\copy (SELECT body FROM petition) TO '$bodies.$set'");
}
$node->safe_psql('postgres', <<SQL);
CREATE EXTENSION simdup;
CREATE TABLE source (i serial, body text);
\\copy source (body) FROM '$bodies.petitions_zh'
\\copy source (body) FROM '$bodies.petitions_us'
CREATE TABLE letter (id integer PRIMARY KEY, content text);
INSERT INTO letter SELECT row_number() OVER (ORDER BY copy, i) + 100, substr(body, 1 + copy * length(body) / 12)
FROM source, generate_series(0, 2) AS copy LIMIT 20000;
SELECT simdup_group('letter_group', 'letter');
SQL

# The fences of the section, but those that make letters.
my ($section) = slurp_file('doc/simdup-groups.md') =~ /^## A clerk's afternoon\n(.*?)^## /ms;
my @fences = $section =~ /^```sql\n(.*?)^```/msg;
is(scalar(@fences), 3, 'three steps');
$fences[0] =~ s/\AINSERT INTO letter\n.*?;\n//s;
my @answers = map { $node->safe_psql('postgres', $_) } @fences;

like($answers[0], qr/^\d+\|\d+$/, 'letters and groups');
my ($letters, $groups) = split /\|/, $answers[0];
cmp_ok($letters, '>=', 19000, 'letters have groups');
cmp_ok($groups, '<', $letters * 0.6, 'copies are in the groups of their letters');
is($node->safe_psql('postgres', 'SELECT count(*) FROM letter_group_decisions'), '50', '50 decisions');
is($node->safe_psql('postgres', <<SQL), '0|0', 'they hold');
SELECT count(*) FILTER (WHERE same AND l.id <> r.id), count(*) FILTER (WHERE NOT same AND l.id = r.id)
FROM letter_group_decisions AS d JOIN letter_group AS l ON l.key = a JOIN letter_group AS r ON r.key = b
SQL
is($answers[2], '500|0', 'the next day moves no letter');
cmp_ok($node->safe_psql('postgres', 'SELECT length(html) FROM report'), '>', 100000, 'the report');
cmp_ok($node->safe_psql('postgres', <<SQL), '>=', 450, 'the letters of the next day join the groups of those they repeat');
SELECT count(*) FROM letter_group AS new JOIN letter_group AS old ON new.key = old.key + 20000 AND new.id = old.id WHERE old.key <= 600
SQL

$node->stop;
done_testing();

# folding: minhash64 folds texts as a program does that has only the rule and Unicode's
# files. The texts are every code point, its capitals, the forms of
# NormalizationTest.txt, and random ones. Needs the package unicode-data.
#
# Runs in make test-all only.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Folding;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the files of Unicode 15.0 are not there' unless Folding::is_there();
Folding::load();

my $node = PostgreSQL::Test::Cluster->new('folding');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;
$ENV{PGCLIENTENCODING} = 'UTF8';
my $data = PostgreSQL::Test::Utils::tempdir() . '/data';

# All word characters of a folded text are one shingle, as no text here has 64 of them.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE FUNCTION folded(text) RETURNS text IMMUTABLE PARALLEL SAFE
  BEGIN ATOMIC SELECT coalesce(string_agg(s, '|'), '') FROM minhash64_shingles($1, 64) AS s; END;
SQL

# Word characters of a text that the model has folded.
sub of_words { return join '', grep { Folding::is_of_words($_) } split //, Folding::folded($_[0]) }

# Load lines of fields into a table.
sub load_table
{
	my ($name, $columns, @lines) = @_;

	open my $file, '>:utf8', $data or die $!;
	print $file map { join("\t", map { s/([\t\n\r\\])/\\$1/gr } @$_) . "\n" } @lines;
	close $file or die $!;
	$node->safe_psql('postgres', "CREATE TABLE $name ($columns)");
	$node->safe_psql('postgres', "\\copy $name FROM '$data'");
	return;
}

# --- every code point that a database holds, with its capital and its small letter

load_table('code_point', 'cp integer, upper text, lower text, expected text',
	map { [ $_, Folding::upper(chr), Folding::lower(chr), of_words(chr) ] }
	  1 .. 0xD7FF, 0xE000 .. 0xFDCF, 0xFDF0 .. 0xFFFD, 0x10000 .. 0x10FFFF);
is( $node->safe_psql('postgres', <<'SQL'),
SELECT count(*), string_agg(to_hex(cp), ' ' ORDER BY cp) FILTER (WHERE folded(chr(cp)) <> expected),
       string_agg(to_hex(cp), ' ' ORDER BY cp) FILTER (WHERE folded(upper) <> expected OR folded(lower) <> expected)
FROM code_point;
SQL
	'1112029||', 'every code point, and in the other case');

# --- the five forms of each line. Part 2 has lines whose marks stand in no canonical
# order, where the first form may differ from the others.

my ($part, @lines);
for (Folding::lines_of('NormalizationTest.txt'))
{
	$part = $1 if /^\@Part(\d)/;
	push @lines, [ $part, map { Folding::text_of($_) } (split /;/)[ 0 .. 4 ] ] if /^[0-9A-F]/;
}
load_table('form', 'part integer, c1 text, c2 text, c3 text, c4 text, c5 text', @lines);
is( $node->safe_psql('postgres', <<'SQL'),
SELECT part = 2, count(*), count(*) FILTER (WHERE (SELECT count(DISTINCT folded(c)) FROM unnest(ARRAY[c1, c2, c3, c4, c5]) AS c) > 1),
       count(*) FILTER (WHERE folded(c2) <> folded(c3) OR folded(c4) <> folded(c5))
FROM form GROUP BY 1 ORDER BY 1;
SQL
	"f|17230|0|0\nt|1844|244|0", 'the forms of NormalizationTest.txt');

# --- radicals and their ideographs, marks in either order, and what OpenCC simplifies

sub equal_texts
{
	my ($name, @pairs) = @_;

	load_table($name, 'a text, b text', @pairs);
	return $node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE folded(a) = folded(b)) FROM $name");
}
is(equal_texts('radical', Folding::radicals()), '348|348', 'radicals and strokes');
is(equal_texts('marks', map { [ "a$_->[0]$_->[1]", "a$_->[1]$_->[0]" ] } Folding::falling_pairs()),
	'390|389', 'two marks in either order');
SKIP:
{
	my $dictionary = '/usr/share/opencc/TSCharacters.ocd2';
	my $list = "$data.opencc";

	skip 'opencc is not there', 1
	  unless -e $dictionary && system('opencc_dict', '-i', $dictionary, '-f', 'ocd2', '-o', $list, '-t', 'text') == 0;
	open my $file, '<:utf8', $list or die $!;
	my @pairs = grep { $_->[0] ne $_->[1] } map { /^(\S+)\t(\S+)/ ? [ $1, $2 ] : () } <$file>;
	close $file or die $!;
	is(equal_texts('simplified', @pairs), '4105|4063', 'characters that OpenCC simplifies');
}

# --- random texts, many of characters that join others

my @joining = map { chr }
  0x200D, 0x301, 0x20, 0x61, 0x4E2D, 0x3099, 0x309A, 0x309B, 0xFF9E, 0xFF9F, 0x304B, 0x30AB, 0x30D8, 0xFF8A,
  0x1100 .. 0x1104, 0x1161 .. 0x1164, 0x11A7 .. 0x11AA, 0xAC00, 0xAC01, 0x314B, 0x3160,
  0x1037, 0x103A, 0xE38, 0xE48, 0xE4D, 0xEC8, 0xECD, 0x7EB, 0x7F2, 0xF71, 0xF72, 0x94D, 0x951, 0xD46, 0xD57,
  0x9C7, 0x9BE, 0x9D7, 0xBC6, 0xBBE, 0xCC6, 0xCC2, 0xCD5, 0xDD9, 0xDCF, 0xDCA, 0x1025, 0x102E, 0x1B05, 0x1B35;
srand 47;
load_table('random_text', 'content text, expected text',
	map { [ $_, of_words($_) ] }
	map { join '', map { $joining[ rand @joining ] } 1 .. 1 + rand 60 } 1 .. 20000);
is( $node->safe_psql('postgres', <<'SQL'),
SELECT count(*), count(*) FILTER (WHERE folded(content) <> expected) FROM random_text;
SQL
	'20000|0', 'random texts');

$node->stop;
done_testing();

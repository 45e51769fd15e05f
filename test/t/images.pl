# images: perceptual hashes of pictures are stored, indexed and found like
# fingerprints of texts, as doc/simdup-applications.md shows it.
#
# The pictures are made here, as PGM files, and hashed by dHash. It shrinks a
# picture to 9 by 8 pixels. Each bit says whether a pixel is darker than its right
# neighbour.
#
# Depends on the server's internals.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();

# --- pictures

# Scenes: the brightness, 0 to 1, at a place between 0 and 1 both ways.
my %scenes = (
	bay => sub { my ($x, $y) = @_; 0.5 + 0.3 * sin(7 * $x + 3 * $y) * cos(5 * $y) + 0.2 * $x * $y },
	pier => sub { my ($x, $y) = @_; 0.5 + 0.4 * cos(19 * $x * (1 + $y)) },
	hill => sub { my ($x, $y) = @_; 0.5 + 0.4 * sin(11 * ($x - 0.4) ** 2 + 9 * $y) });

my $seed = 1;

# Between -1 and 1, the same in each run.
sub noise
{
	$seed = ($seed * 1103515245 + 12345) % 2147483648;
	return $seed / 1073741824 - 1;
}

# Writes the scene, of each side only this part; $change turns each brightness into
# another.
sub write_pgm
{
	my ($name, $scene, $width, $height, $part, $change) = @_;
	my $pixels = '';

	for my $y (0 .. $height - 1)
	{
		for my $x (0 .. $width - 1)
		{
			my $bright = $change->($scenes{$scene}->($part * ($x + 0.5) / $width, $part * ($y + 0.5) / $height));
			$bright = $bright < 0 ? 0 : $bright > 1 ? 1 : $bright;
			$pixels .= chr int(255 * $bright + 0.5);
		}
	}
	append_to_file("$folder/$name.pgm", "P5\n$width $height\n255\n$pixels");
	return;
}

# --- dHash

# The file's hash, as 16 hex digits.
sub dhash
{
	my ($name) = @_;
	my $file = slurp_file("$folder/$name.pgm");
	my ($width, $height) = $file =~ s/\AP5\n(\d+) (\d+)\n255\n// ? ($1, $2) : die "$name is no PGM";
	my (@sum, @count);

	for my $y (0 .. $height - 1)
	{
		for my $x (0 .. $width - 1)
		{
			my $cell = 9 * int(8 * $y / $height) + int(9 * $x / $width);
			$sum[$cell] += ord substr $file, $y * $width + $x, 1;
			$count[$cell]++;
		}
	}
	my @mean = map { $sum[$_] / $count[$_] } 0 .. $#sum;
	my $bits = join '', map { my $row = 9 * $_; map { $mean[ $row + $_ ] < $mean[ $row + $_ + 1 ] ? 1 : 0 } 0 .. 7 } 0 .. 7;
	return unpack 'H*', pack 'B64', $bits;
}

my $same = sub { $_[0] };
write_pgm('bay', 'bay', 180, 160, 1, $same);
write_pgm('bay-small', 'bay', 67, 61, 0.96, $same);
write_pgm('bay-dark', 'bay', 180, 160, 1, sub { 0.6 * $_[0] });
write_pgm('bay-grainy', 'bay', 180, 160, 1, sub { $_[0] + 0.1 * noise() });
write_pgm('pier', 'pier', 180, 160, 1, $same);
write_pgm('hill', 'hill', 180, 160, 1, $same);

my @names = qw(bay bay-small bay-dark bay-grainy pier hill);
my %hash = map { $_ => dhash($_) } @names;

# As libraries give it that know no unsigned number of 64 bits.
my %number = map { $_ => unpack 'q>', pack 'H*', $hash{$_} } @names;
{
	my $page = slurp_file('doc/simdup-applications.md');

	like($page, qr/'$_', (?:'$hash{$_}'|\($number{$_}\))/, "the page has the hash of $_") for qw(bay bay-small pier);
	like($page, qr/'$hash{'bay-grainy'}'/, 'the page asks for the grainy one');
}

# --- stored and found

my $node = PostgreSQL::Test::Cluster->new('images');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE TABLE picture (name text, fp simhash64);
INSERT INTO picture SELECT 'other ' || i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 20000) AS i;
CREATE INDEX picture_fp ON picture USING hamming (fp);
SQL
$node->safe_psql('postgres', "INSERT INTO picture VALUES ('$_', ($number{$_})::bigint::simhash64)") for @names;
$node->safe_psql('postgres', 'VACUUM ANALYZE picture');

is($node->safe_psql('postgres', 'SELECT name, fp FROM picture WHERE name !~ \'^other\' ORDER BY fp::bigint, name'),
	join("\n", map { "$_|$hash{$_}" } sort { $number{$a} <=> $number{$b} || $a cmp $b } @names),
	'hex digits and signed numbers are the same hashes');

my $near = "SELECT name FROM picture WHERE simhash_within(fp, '$hash{'bay-grainy'}', 10) ORDER BY name";
is($node->safe_psql('postgres', $near), "bay\nbay-dark\nbay-grainy\nbay-small", 'the copies of a picture are found, and no other');
like($node->safe_psql('postgres', "EXPLAIN $near"), qr/picture_fp/, '... by the index');
is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT name FROM picture ORDER BY fp <~> '$hash{bay}' LIMIT 4) AS nearest WHERE name ~ '^bay'"),
	'4', 'the nearest four are its copies');

$node->stop;
done_testing();

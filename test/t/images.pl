# images: perceptual hashes of pictures are stored, indexed and found like
# fingerprints of texts, as doc/simdup-images.md shows it, and those of 256 bits by
# its four quarters.
#
# The pictures are made here, as PGM files. ImageMagick, where it is installed, makes
# copies of them, which are hashed in three ways:
#
# - dHash: of 9 by 8 pixels, whether a pixel is darker than its right neighbour.
# - aHash: of 8 by 8 pixels, whether a pixel is lighter than the mean.
# - pHash: of 32 by 32 pixels, whether a low frequency (DCT) is above the median.
#   The 64 lowest count, without the mean.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole);
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
	my $page = slurp_file('doc/simdup-images.md');

	my %bits = map { $_ => unpack 'B*', pack 'H*', $hash{$_} } @names;
	like($page, qr/'$_', (?:'$hash{$_}'|\($number{$_}\)|b'$bits{$_}')/, "the page has the hash of $_") for qw(bay bay-small pier);
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

# --- copies by ImageMagick

# Whether the program is ImageMagick.
sub is_magick
{
	my ($program) = @_;
	my ($out, $err) = ('', '');

	eval { IPC::Run::run([ $program, '-version' ], '<', '/dev/null', '>', \$out, '2>', \$err) };
	return $out =~ /ImageMagick/;
}

my ($magick) = grep { is_magick($_) } qw(magick convert);

# The picture's pixels at this size, as numbers.
sub pixels
{
	my ($file, $width, $height) = @_;
	my $out = '';

	IPC::Run::run([ $magick, $file, '-colorspace', 'gray', '-resize', "${width}x$height!", '-depth', '8', 'gray:-' ], '>', \$out)
	  or die "$magick cannot read $file";
	length $out == $width * $height or die "$file gave " . length($out) . ' bytes';
	return unpack 'C*', $out;
}

sub hex_of
{
	return unpack 'H*', pack 'B64', join '', map { $_ ? 1 : 0 } @_;
}

my @cosines = map { my $k = $_; [ map { cos(3.14159265358979 * $k * (2 * $_ + 1) / 64) } 0 .. 31 ] } 0 .. 7;

# The lowest 8 by 8 frequencies.
sub dct
{
	my @pixel = @_;
	my (@row, @frequency);

	for my $y (0 .. 31)
	{
		for my $u (0 .. 7)
		{
			$row[$y][$u] += $cosines[$u][$_] * $pixel[ 32 * $y + $_ ] for 0 .. 31;
		}
	}
	for my $v (0 .. 7)
	{
		for my $u (0 .. 7)
		{
			my $sum = 0;
			$sum += $cosines[$v][$_] * $row[$_][$u] for 0 .. 31;
			push @frequency, $sum;
		}
	}
	return @frequency;
}

my %hashes = (
	dhash => sub {
		my @p = pixels($_[0], 9, 8);
		return hex_of(map { my $row = 9 * $_; map { $p[ $row + $_ ] < $p[ $row + $_ + 1 ] } 0 .. 7 } 0 .. 7);
	},
	ahash => sub {
		my @p = pixels($_[0], 8, 8);
		my $mean = 0;
		$mean += $_ / 64 for @p;
		return hex_of(map { $_ > $mean } @p);
	},
	phash => sub {
		my @f = dct(pixels($_[0], 32, 32));
		my @sorted = sort { $a <=> $b } @f[ 1 .. 63 ];
		return hex_of(map { $_ > $sorted[31] } @f);
	});

# What is done to a picture, and whether a copy is within 10 bits by each hash.
my @copies = (
	[ scaled => 1, '-resize', '40%' ],
	[ recompressed => 1, '-quality', '30' ],
	[ lighter => 1, '-gamma', '1.3' ],
	[ blurred => 1, '-blur', '0x2' ],
	[ cropped2 => undef, '-gravity', 'center', '-crop', '98%x98%+0+0', '+repage' ],
	[ cropped10 => undef, '-gravity', 'center', '-crop', '90%x90%+0+0', '+repage' ],
	[ turned2 => undef, '-rotate', '2', '-gravity', 'center', '-crop', '94%x94%+0+0', '+repage' ],
	[ turned90 => 0, '-rotate', '90' ],
	[ mirrored => undef, '-flop' ]);

# Eight scenes with a horizon, waves, and round things.
my @photos = map { my $n = $_; "photo$n" } 1 .. 8;
for my $photo (@photos)
{
	my @wave = map { [ 20 * (noise() + 1), 20 * noise(), 3 * noise() ] } 1 .. 4;
	my @thing = map { [ (noise() + 1) / 2, (noise() + 1) / 2, 0.02 + 0.06 * (noise() + 1), 0.6 * noise() ] } 1 .. 6;
	$scenes{$photo} = sub {
		my ($x, $y) = @_;
		my $bright = 0.5 + 0.2 * ($y > 0.4 ? 1 : -1);

		$bright += 0.06 * sin($_->[0] * $x + $_->[1] * $y + $_->[2]) for @wave;
		$bright += ($x - $_->[0])**2 + ($y - $_->[1])**2 < $_->[2]**2 ? $_->[3] : 0 for @thing;
		return $bright;
	};
}

# How far copies are, by hash and copy: in each, the distances of all pictures.
sub distances
{
	my %distances;

	for my $hash (sort keys %hashes)
	{
		my (@rows, %seen);
		for my $photo (@photos)
		{
			push @rows, "('$photo', '', '" . $hashes{$hash}->("$folder/$photo.pgm") . "')";
			push @rows, map { "('$photo', '$_->[0]', '" . $hashes{$hash}->("$folder/$photo-$_->[0].jpg") . "')" } @copies;
		}
		$node->safe_psql('postgres', "CREATE TABLE $hash (photo text, copy text, hash simhash64); CREATE INDEX ON $hash USING hamming (hash)");
		$node->safe_psql('postgres', "INSERT INTO $hash VALUES " . join ', ', @rows);
		$distances{$hash}{ (split /\|/)[0] } = [ split /,/, (split /\|/)[1] ] for split /\n/, $node->safe_psql('postgres', <<"SQL");
SELECT b.copy, string_agg((a.hash <~> b.hash)::text, ',' ORDER BY a.photo)
FROM $hash AS a JOIN $hash AS b ON b.photo = a.photo AND b.copy <> '' WHERE a.copy = '' GROUP BY b.copy
SQL
		my $near = "FROM $hash AS a JOIN $hash AS b ON b.hash <~> a.hash <= 10";
		is( $node->safe_psql('postgres', "SELECT count(*), sum(a.hash <~> b.hash) $near" =~ s/b\.hash <~> a\.hash <= 10/simhash_within(b.hash, a.hash, 10)/r),
			$node->safe_psql('postgres', "SELECT count(*), sum(a.hash <~> b.hash) $near"), "$hash: the index finds what a scan finds");
		my $strangers = $node->safe_psql('postgres', "SELECT count(*) $near WHERE a.photo < b.photo");
		# a mean takes pictures of one layout for copies, as the page says
		if ($hash eq 'ahash') { cmp_ok($strangers, '>', 0, "$hash: some scenes are within 10 bits") }
		else { is($strangers, '0', "$hash: no two scenes are within 10 bits") }
	}
	return %distances;
}

SKIP:
{
	skip 'ImageMagick is not installed: no copies of pictures', 1 unless $magick;

	for my $photo (@photos)
	{
		write_pgm($photo, $photo, 480, 360, 1, $same);
		for my $copy (@copies)
		{
			my ($name, undef, @how) = @$copy;
			system_or_bail($magick, "$folder/$photo.pgm", '-quality', '85', @how, "$folder/$photo-$name.jpg");
		}
	}
	my %distances = distances();

	for my $hash (sort keys %distances)
	{
		for my $copy (@copies)
		{
			my ($name, $near) = @$copy;
			my @sorted = sort { $a <=> $b } @{ $distances{$hash}{$name} };

			is(scalar @sorted, scalar @photos, "$hash, $name: each picture has a copy");
			note("$hash, $name: @sorted");
			next unless defined $near;
			cmp_ok($sorted[-1], '<=', 10, "$hash, $name: within 10 bits") if $near;
			cmp_ok($sorted[0], '>', 10, "$hash, $name: beyond") if !$near;
		}
	}
}

# --- the sentences of the page between its examples

{
	my $page = slurp_file('doc/simdup-images.md');
	my ($pair) = $page =~ /`(\(a::bigint << .*?::simhash64)`/ or die 'the page makes no hash of two numbers';
	my ($turned) = $page =~ /`(FROM picture, unnest.*?)`/ or die 'the page does not ask with turned pictures';

	is($node->safe_psql('postgres', "SELECT $pair FROM (VALUES (1, -2), (-3, 4)) AS v (a, b)"), "00000001fffffffe\nfffffffd00000004", 'two numbers of 32 bits make a hash');
	$turned =~ s/\(hash,/(fp,/;
	is( $node->safe_psql('postgres', "SET enable_seqscan = off; PREPARE turned (text[]) AS SELECT name $turned ORDER BY name; EXECUTE turned ('{$hash{pier},$hash{hill}}')"),
		"hill\npier", 'a picture is asked for in several positions');
}

# --- 256 bits, by the page's table and statements

# brute force compares each with each
my $n = $whole ? 9918 : 4918;
my ($table, $function) = slurp_file('doc/simdup-images.md') =~ /^(CREATE TABLE photo .*?)^(CREATE FUNCTION near_pdq.*?^END;\n)/ms or die 'the page has no table of 256 bits';
my ($on) = slurp_file('doc/simdup-images.md') =~ /`(ON a\.id < b\.id AND simhash_within\(a\.q1, .*?)`/s or die 'the page has no pairs of 256 bits';
my $pairs = join ' UNION ', map { 'SELECT a.id AS a, b.id AS b FROM photo AS a JOIN photo AS b ' . $on =~ s/q1/q$_/gr } 1 .. 4;

$node->safe_psql('postgres', <<"SQL");
$table
$function
CREATE FUNCTION random_pdq(i bigint) RETURNS bit(256) LANGUAGE sql IMMUTABLE AS \$\$
  SELECT (hashint8extended(i, 1)::bit(64) || hashint8extended(i, 2)::bit(64)
    || hashint8extended(i, 3)::bit(64) || hashint8extended(i, 4)::bit(64))::bit(256) \$\$;
-- 82 centers, each with a row at two distances of 0 to 40, the bits spread or in one place
INSERT INTO photo (id, pdq) SELECT i, random_pdq(i) FROM generate_series(1, $n) AS i;
INSERT INTO photo (id, pdq)
SELECT $n + n, random_pdq(n) # coalesce(
    (SELECT bit_or(set_bit(0::bit(256), p, 1))
     FROM (SELECT p FROM generate_series(0, 255) AS p
           ORDER BY CASE n % 2 WHEN 0 THEN hashint8extended(p, n) ELSE (p + 10 * n) % 256 END LIMIT n / 2 - n / 82 * 41) AS b), 0::bit(256))
FROM generate_series(0, 81) AS n WHERE n > 0;
INSERT INTO photo (id, pdq) VALUES ($n + 82, ~random_pdq(1));
VACUUM ANALYZE photo;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM photo'), $n + 82, 'hashes of 256 bits');
is( $node->safe_psql('postgres', <<"SQL"), '41|0|40', '... with planted pairs at every distance from 0 to 40');
SELECT count(DISTINCT d), min(d), max(d) FROM (SELECT bit_count(photo.pdq # random_pdq(id - $n)) AS d FROM photo WHERE id BETWEEN $n + 1 AND $n + 81) AS planted
SQL

$node->safe_psql('postgres', 'CREATE TABLE truth AS SELECT x.id AS a, y.id AS b, bit_count(x.pdq # y.pdq) AS distance FROM photo AS x JOIN photo AS y ON x.id < y.id AND bit_count(x.pdq # y.pdq) <= 31');
my $n_true = $node->safe_psql('postgres', 'SELECT count(*) FROM truth');
cmp_ok($n_true, '>=', 60, "$n_true pairs within 31 bits");
$node->safe_psql('postgres', "CREATE TABLE pair AS $pairs");
is($node->safe_psql('postgres', 'SELECT count(*) FROM ((SELECT a, b FROM truth EXCEPT TABLE pair) UNION ALL (TABLE pair EXCEPT SELECT a, b FROM truth)) AS d'),
	'0', 'all pairs: 0 differences from brute force');
is(() = $node->safe_psql('postgres', "EXPLAIN $pairs") =~ /Custom Scan \(Hamming Join\)/g, 4, '... each quarter by a join of its own');
my $or = join ' OR ', map { "simhash_within(a.q$_, b.q$_, 7)" } 1 .. 4;
my $joined = "SELECT a.id AS a, b.id AS b, bit_count(a.pdq # b.pdq) FROM photo AS a JOIN photo AS b ON ($or) AND bit_count(a.pdq # b.pdq) <= 31 WHERE a.id < b.id AND a.id < 100";
is($node->safe_psql('postgres', "SELECT count(*) FROM ((SELECT * FROM truth WHERE a < 100 EXCEPT $joined) UNION ALL ($joined EXCEPT TABLE truth)) AS d"),
	'0', 'a few with all: 0 differences from brute force');
like($node->safe_psql('postgres', "EXPLAIN $joined"), qr/BitmapOr.*photo_q1.*photo_q2.*photo_q3.*photo_q4/s, '... by the four indexes');
is( $node->safe_psql('postgres', <<'SQL'), '0', 'searches: 0 differences from brute force');
WITH found AS (SELECT photo.id AS a, near.id AS b, near.distance FROM photo, near_pdq(photo.pdq) AS near WHERE photo.id < near.id)
SELECT count(*) FROM ((TABLE truth EXCEPT TABLE found) UNION ALL (TABLE found EXCEPT TABLE truth)) AS differences
SQL
like($node->safe_psql('postgres', "PREPARE near (bit(256)) AS SELECT * FROM near_pdq(\$1); SET plan_cache_mode = force_generic_plan; EXPLAIN EXECUTE near (0::bit(256))"),
	qr/BitmapOr.*photo_q1.*photo_q2.*photo_q3.*photo_q4/s, 'a search uses the four indexes');

$node->stop;
done_testing();

# simtool: test/demo/simtool against the course's official result, where that
# lies beside the checkout, and against a small reference below.

use strict;
use warnings;

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('simtool');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
$node->safe_psql('postgres', 'CREATE DATABASE ascii ENCODING SQL_ASCII TEMPLATE template0');
$node->safe_psql('ascii', 'CREATE EXTENSION simdup');
my $folders = 0;

sub write_file
{
	my ($name, $content) = @_;

	open my $file, '>:raw', $name or die "$name: $!";
	print $file $content;
	close $file or die "$name: $!";
}

sub read_file
{
	my ($name) = @_;

	return '(none)' unless open my $file, '<:raw', $name;
	local $/;
	return scalar <$file>;
}

# A new folder with these files, name => content.
sub folder
{
	my (%files) = @_;
	my $dir = $node->basedir . '/simtool folder ' . ++$folders;

	make_path($dir);
	write_file("$dir/$_.txt", $files{$_}) for keys %files;
	return $dir;
}

# Run it; the exit status, the screen, result.txt and its messages.
sub simtool
{
	my ($dir, $n, $m, $db) = @_;
	my ($screen, $complaints) = ('', '');

	unlink "$dir/result.txt";
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = $db // 'postgres';
	IPC::Run::run([ 'test/demo/simtool', $n, $m, $dir ], '>', \$screen, '2>', \$complaints);
	return ($? >> 8, $screen, read_file("$dir/result.txt"), $complaints);
}

# The reference: [id, {word => frequency}] of each page.
sub pages
{
	my ($content) = @_;
	my @pages;

	for my $page (split /\f/, $content, -1)
	{
		my %frequency;

		next unless $page =~ s/^[ \t\n\x0b\r]*([^ \t\n\x0b\r]+)//;
		my $id = $1;
		$frequency{lc $1}++ while $page =~ /([A-Za-z]+)/g;
		push @pages, [ $id, \%frequency ];
	}
	return @pages;
}

sub fingerprint
{
	my ($frequency, $hash, $m) = @_;
	my @sum = (0) x $m;

	for my $word (grep { exists $hash->{$_} } keys %$frequency)
	{
		for my $i (0 .. $m - 1)
		{
			$sum[$i] += (substr($hash->{$word}, $i, 1) ? 1 : -1) * $frequency->{$word};
		}
	}
	return join '', map { $_ > 0 ? 1 : 0 } @sum;
}

# The expected lines of each sample.
sub reference
{
	my ($n, $m, %files) = @_;
	my @articles = pages($files{article});
	my @lines = split ' ', $files{hashvalue};
	my %stop = map { lc($_) => 1 } split ' ', $files{stopwords};
	my (%total, %hash, @results);

	for my $article (@articles)
	{
		$total{$_} += $article->[1]{$_} for keys %{ $article->[1] };
	}
	for my $word (sort { $total{$b} <=> $total{$a} || $a cmp $b } grep { !$stop{$_} } keys %total)
	{
		last if keys(%hash) == $n || keys(%hash) == @lines;
		$hash{$word} = substr($lines[ keys %hash ], 0, $m);
	}
	$_->[2] = fingerprint($_->[1], \%hash, $m) for @articles;
	for my $sample (pages($files{sample}))
	{
		my $fp = fingerprint($sample->[1], \%hash, $m);
		my @near;

		for my $article (@articles)
		{
			my $distance = ($fp ^ $article->[2]) =~ tr/\x01//;
			$near[$distance] .= "$article->[0] " if $distance <= 3;
		}
		push @results, join('', "$sample->[0]\n", map { defined $near[$_] ? "$_:$near[$_]\n" : () } 0 .. 3);
	}
	return @results;
}

# --- the official result

SKIP:
{
	my $data = '../shared/data/simtool';
	skip "no $data beside the checkout", 9 unless -d $data;

	my %files = map { $_ => read_file("$data/$_.txt") } qw(article sample hashvalue stopwords);
	my %crlf = map { $_ => $files{$_} =~ s/\n/\r\n/gr } keys %files;
	my $official = read_file("$data/result_N1000_M16.txt");
	my @expected = reference(1000, 16, %files);

	ok(join('', @expected) eq $official, 'the reference gives the official result');
	for (['LF', \%files], ['CRLF', \%crlf])
	{
		my ($name, $given) = @$_;
		my ($status, $screen, $result) = simtool(folder(%$given), 1000, 16);

		is($status, 0, "$name: runs");
		ok($result eq $official, "$name: the official result, byte for byte");
		ok($screen eq $expected[0], "$name: the first sample on the screen");
	}
	for ([10000, 128], [37, 5])
	{
		my (undef, undef, $result) = simtool(folder(%files), @$_);

		ok($result eq join('', reference(@$_, %files)), "the reference's result for N = $_->[0], M = $_->[1]");
	}
}

# --- generated pages have few words, and therefore ties and small distances

srand(2004);
my @letters = ('a' .. 'z', 'A' .. 'Z');
my @words = map { join '', map { $letters[rand @letters] } 1 .. 1 + rand 4 } 1 .. 300;
my @between = (' ', "\n", '  ', '-', "'", '7', "\t", '\\', "\x00", "\xe4\xb8\xad", "\xff");

sub random_pages
{
	my ($id, $count, $end) = @_;

	return join("\f", map {
		join('', rand() < 0.5 ? "\n" : '', "$id-$_", rand() < 0.1 ? '' : "\n",
			map { $words[@words * rand() ** 2] . $between[rand @between] } 1 .. rand 60) } 1 .. $count) . $end;
}

my %generated = (
	article => random_pages('1', 60, "\n\f"),
	sample => random_pages('Sample', 12, ''),
	hashvalue => join('', map { join('', map { int rand 2 } 1 .. 128) . "\n" } 1 .. 400),
	stopwords => join('', map { lc "$_\n" } @words[0 .. 9]));
my %variants = (
	LF => \%generated,
	CRLF => { map { $_ => $generated{$_} =~ s/\n/\r\n/gr } keys %generated },
	'no newline at the end' => { %generated, map { $_ => $generated{$_} =~ s/\n\z//r } qw(hashvalue stopwords) },
	'no stop words' => { %generated, stopwords => '' },
	'blank pages' => { %generated, article => "\f \n\f$generated{article}\f\n", sample => "\f$generated{sample}\f\f" },
	'ids of any bytes' => { %generated, article => "\xff\\x41\x00\n$words[20]\f\xe4\xb8\xad\r\n$words[20]\fonly-id",
		sample => "\\134 $words[20] $words[20]\fno-words\n12\fonly-id" });

for my $name (sort keys %variants)
{
	my $files = $variants{$name};
	my $dir = folder(%$files);

	for ([1000, 16], [1, 1], [10000, 128], [5, 3], [50, 64], [299, 20])
	{
		my ($n, $m) = @$_;
		my @expected = reference($n, $m, %$files);
		my ($status, $screen, $result, $complaints) = simtool($dir, $n, $m, $m == 64 ? 'ascii' : 'postgres');

		ok($status == 0 && $result eq join('', @expected) && $screen eq $expected[0], "$name, N = $n, M = $m")
		  or diag($complaints);
	}
}

# --- nothing to compare, and nothing to compare with

my ($status, $screen, $result, $complaints) = simtool(folder(%generated, sample => ''), 10, 10);
is("$status $screen$result", '0 ', 'no sample: an empty result');
(undef, undef, $result) = simtool(folder(%generated, article => '', sample => 'only'), 10, 10);
is($result, "only\n", 'no article: nothing near');

# --- mistakes: a message, and no result

for ([ 0, 16, qr/n_from_1_to_10000/ ], [ 10001, 16, qr/n_from_1_to_10000/ ],
	[ 10, 0, qr/m_from_1_to_128/ ], [ 10, 129, qr/m_from_1_to_128/ ],
	[ 'ten', 16, qr/invalid input syntax for type integer: "ten"/ ],
	[ "1); DROP TABLE simtool_file; --", 16, qr/invalid input syntax for type integer/ ])
{
	my ($n, $m, $message) = @$_;
	($status, undef, $result, $complaints) = simtool(folder(%generated), $n, $m);
	isnt($status, 0, "N = $n, M = $m: an error");
	like($complaints, $message, 'that says which');
	is($result, '(none)', 'and no result');
}
($status, undef, undef, $complaints) = simtool(folder(%generated, hashvalue => "0110\n" x 400), 10, 5);
like($complaints, qr/hashvalue_lines_have_m_digits/, 'hash values too narrow for M');
isnt($status, 0, 'are an error');
my %missing = %generated;
delete $missing{sample};
($status, undef, undef, $complaints) = simtool(folder(%missing), 10, 5);
like($complaints, qr/sample\.txt.*No such file/, 'a missing file is named');
isnt($status, 0, 'and an error');

is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_largeobject_metadata'), '0', 'no large object stays');

$node->stop;
done_testing();

# campaigns: simdup_campaign beside an independent program, and its precision and recall.
#
# The model makes words, shingles of three words, partners and centers by itself. It
# takes from the extension only shingle_winnow. Random sets have campaigns of 3 to 5,000
# letters: changed, cut, quoted, copied, and rows without a text, a key or a word. Some
# are in Chinese, where words are pairs of characters.
#
# Letters of test/bench/campaigns.pl tell whose campaign they are. Those with disclaimers
# are taken both steps: simdup_boilerplate, then simdup_campaign.
#
# make test-all has larger sets, and more of them.

use strict;
use warnings;
use utf8;

use Cwd qw(abs_path);
use Encode qw(encode_utf8 decode_utf8);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $whole = ($ENV{SUITE} // '') eq 'whole';

sub one_of { return $_[ int rand @_ ]; }

# --- the model: rows in the order of the window, with content, key and values

sub words_of
{
	my ($text) = @_;

	return map { /^\p{Script=Han}{2}/ ? pairs_of($_) : $_ } lc($text) =~ /\p{Script=Han}+|[a-z]+/g;
}

sub pairs_of { return map { substr $_[0], $_, 2 } 0 .. length($_[0]) - 2; }

# The distinct shingles of three words.
sub shingles_of
{
	my @words = words_of($_[0]);
	my $w = @words < 3 ? @words : 3;

	return { map { join(' ', @words[ $_ .. $_ + $w - 1 ]) => 1 } 0 .. @words - $w };
}

# How much of the smaller set the other one has.
sub containment
{
	my ($x, $y) = @_;

	($x, $y) = ($y, $x) if keys %$x > keys %$y;
	return grep({ exists $y->{$_} } keys %$x) / keys %$x;
}

# The pairs of texts that share a value, by the rule for values of many texts.
sub candidates
{
	my (@texts) = @_;
	my (%sharers, %pair);

	for my $i (0 .. $#texts)
	{
		push @{ $sharers{$_} }, $i for @{ $texts[$i]{values} };
	}
	for my $list (values %sharers)
	{
		for my $j (1 .. $#$list)
		{
			my @before = @$list <= 100 ? 0 .. $j - 1 : grep { $_ < 10 || $_ == $j - 1 } 0 .. $j - 1;

			$pair{"$list->[$_] $list->[$j]"} = 1 for @before;
		}
	}
	return map { [ split / / ] } keys %pair;
}

# The campaign of each row: the number of its center.
sub model
{
	my ($min, @rows) = @_;
	my (%number, @texts, @of);

	for my $i (0 .. $#rows)
	{
		my $content = $rows[$i]{content};

		next if !defined $content || $content !~ /\w/;
		if (!defined $number{$content})
		{
			$number{$content} = @texts;
			push @texts, { row => $i, copies => 0, values => $rows[$i]{values}, set => shingles_of($content), partners => {} };
		}
		$of[$i] = $number{$content};
		$texts[ $of[$i] ]{copies}++;
	}
	for (candidates(@texts))
	{
		my ($i, $j) = @$_;
		my $containment = containment($texts[$i]{set}, $texts[$j]{set});

		$texts[$i]{partners}{$j} = $texts[$j]{partners}{$i} = $containment if $containment >= $min;
	}

	# which text takes most rows is kept up, and looked for among all
	my (@taken, @is_center);
	my @gain = map { my $text = $_; my $sum = $text->{copies}; $sum += $texts[$_]{copies} for keys %{ $text->{partners} }; $sum } @texts;
	while (1)
	{
		my $best;

		for my $i (grep { !$taken[$_] } 0 .. $#texts)
		{
			$best = $i if !defined $best || $gain[$i] > $gain[$best];
		}
		last unless defined $best;
		$is_center[$best] = 1;
		for my $i ($best, keys %{ $texts[$best]{partners} })
		{
			next if $taken[$i]++;
			$gain[$_] -= $texts[$i]{copies} for keys %{ $texts[$i]{partners} };
		}
		# the rest has nothing to take
		last if $gain[$best] == $texts[$best]{copies} && !grep { !$taken[$_] && %{ $texts[$_]{partners} } } 0 .. $#texts;
	}
	$is_center[$_] //= !$taken[$_] for 0 .. $#texts;
	my @center = map {
		my $partners = $texts[$_]{partners};
		my ($nearest) = $is_center[$_] ? $_ : sort { $partners->{$b} <=> $partners->{$a} || $a <=> $b } grep { $is_center[$_] } keys %$partners;
		$nearest
	} 0 .. $#texts;
	return map { defined $of[$_] ? $texts[ $center[ $of[$_] ] ]{row} : $_ } 0 .. $#rows;
}

# The key of each row's campaign: that of its center, or else of its first row with one.
sub model_keys
{
	my ($min, @rows) = @_;
	my @campaign = model($min, @rows);
	my %name;

	for my $i (0 .. $#rows)
	{
		$name{ $campaign[$i] } //= $rows[ $campaign[$i] ]{key} // $rows[$i]{key};
	}
	return map { defined $rows[$_]{key} ? $name{ $campaign[$_] } : 'none' } 0 .. $#rows;
}

# --- random letters

my @vocabulary = map { join '', map { one_of('a' .. 'z') } 1 .. 3 + rand 6 } 1 .. 3000;
my @characters;    # that have no variant

sub sentence
{
	my ($chinese) = @_;

	return join('', map { one_of(@characters) } 1 .. 12 + rand 12) . '。' if $chinese;
	return ucfirst(join ' ', map { one_of(@vocabulary) } 1 .. 6 + rand 12) . '. ';
}

sub letter_of
{
	my ($chinese, $n) = @_;

	return [ map { sentence($chinese) } 1 .. $n ];
}

# A letter as somebody sends it.
sub changed
{
	my ($chinese, @sentences) = @_;
	my $kind = int rand 6;

	splice @sentences, rand @sentences, 0, sentence($chinese) for 1 .. ($kind == 1 ? 1 + rand 4 : 0);
	splice @sentences, 0, rand(@sentences) * 0.7 if $kind == 2;
	push @sentences, splice @sentences, rand @sentences, 1 if $kind == 3;
	my $text = join '', @sentences;
	if ($kind >= 4)
	{
		my $share = one_of(0.02, 0.1, 0.25);

		$text =~ s/(\w+)/rand() < $share ? one_of(@vocabulary) : $1/ge unless $chinese;
		$text =~ s/(\p{Script=Han})/rand() < $share ? one_of(@characters) : $1/ge if $chinese;
	}
	return $text;
}

# n rows: of these campaigns, the rest letters of their own. Some quote another.
sub random_rows
{
	my ($chinese, $n, $alike, @sizes) = @_;
	my (@rows, @contents);

	for my $size (@sizes)
	{
		my $letter = letter_of($chinese, 5 + rand 5);

		push @contents, $alike ? join('', @$letter) : changed($chinese, @$letter) for 1 .. $size;
	}
	while (@contents < $n)
	{
		my $chance = $alike ? 1 : rand;

		push @contents,
		    $chance < 0.03 ? undef
		  : $chance < 0.06 ? one_of('', ' ', '...', '?!')
		  : $chance < 0.1  ? one_of(@vocabulary)
		  : $chance < 0.2  ? join '', one_of(grep { defined } @contents, 'x') x (1 + rand 2), @{ letter_of($chinese, 3) }
		  :                  join '', @{ letter_of($chinese, 1 + rand 8) };
	}
	push @rows, { content => splice @contents, rand @contents, 1 } while @contents;
	return @rows;
}

# --- the same by SQL

my $node = PostgreSQL::Test::Cluster->new('campaigns');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\njit = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');

sub lines_of
{
	my ($sql) = @_;

	return split /\n/, decode_utf8($node->safe_psql('postgres', encode_utf8("SET client_encoding = UTF8; $sql")));
}

@characters = lines_of(q{SELECT c FROM generate_series(20000, 22000) AS i, chr(i) AS c WHERE c = (SELECT minhash64_shingles(c, 1))});
my ($n_sets, $n_follow) = (0, 0);

sub compare
{
	my ($name, $min, @rows) = @_;
	my $table = 't' . ++$n_sets;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$table.tsv";

	$_->{key} = rand() < 0.05 && $name !~ /alike/ ? undef : 'k' . int rand 1e12 for @rows;
	open my $out, '>:utf8', $file or die "$file: $!";
	print $out join("\t", $_ + 1, map { defined $_ ? $_ : '\N' } @{ $rows[$_] }{qw(key content)}), "\n" for 0 .. $#rows;
	close $out;
	my @values = lines_of(<<SQL);
CREATE TABLE $table (place int PRIMARY KEY, key text, content text);
\\copy $table FROM '$file'
SELECT array_to_string(shingle_winnow(content), ' ') FROM $table ORDER BY place;
SQL
	$rows[$_]{values} = [ split / /, $values[$_] // '' ] for 0 .. $#rows;
	my @expected = model_keys($min, @rows);
	my $memory = one_of('', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;");
	my @got = lines_of("$memory SELECT coalesce(simdup_campaign(key, content, $min) OVER (ORDER BY place), 'none') FROM $table ORDER BY place");
	my @wrong = grep { $got[$_] ne $expected[$_] } 0 .. $#expected;

	$n_follow += grep { defined $rows[$_]{key} && $got[$_] ne $rows[$_]{key} } 0 .. $#rows;
	ok(@got == @expected && !@wrong, "$name, set $n_sets")
	  or diag(join "\n", map { encode_utf8("row $_: got $got[$_], expected $expected[$_]") } splice @wrong, 0, 8);
	return;
}

for my $seed (1 .. ($whole ? 60 : 6))
{
	srand $seed;
	my $min = one_of(0, 0.2, 0.35, 0.35, 0.35, 0.6, 1);

	compare("3 letters among 40, from $min", $min, random_rows(0, 40, 0, 3));
	compare("some campaigns in Chinese, from $min", $min, random_rows(1, 60, 0, 3, 9, 14));
	# a value that some more than 100 texts have
	compare("campaigns around 100 letters, from $min", $min, random_rows($seed % 2, 330, 0, 30, 98 + rand 5, 120));
}
compare('200 letters all alike', 0.35, random_rows(0, 200, 1, 200));
if ($whole)
{
	compare("$_ among 10,000", 0.35, random_rows(0, 10000, 0, $_)) for 600, 5000;
	compare('600 among 10,000 in Chinese', 0.35, random_rows(1, 10000, 0, 600));
	compare("$_ all alike among 10,000", 0.35, random_rows(0, 10000, 1, $_)) for 600, 5000, 10000;
}
cmp_ok($n_follow, '>', 100 * ($whole ? 60 : 6), "rows that follow another one: $n_follow");

# --- precision and recall

# made NAME, ARGUMENTS: letters whose campaign is known.
sub made
{
	my ($table, @arguments) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$table.tsv";
	my $program = abs_path("$FindBin::Bin/../bench/campaigns.pl");

	system("'$^X' '$program' @arguments > '$file'") == 0 or die "campaigns.pl failed";
	$node->safe_psql('postgres', "CREATE TABLE $table (id int PRIMARY KEY, campaign int, kind text, content text);\n\\copy $table FROM '$file'");
	return;
}

# Check the precision and recall of pairs. The first step may take passages out.
sub is_good
{
	my ($table, $name, $without) = @_;
	my ($precision, $recall) = split /\|/, $node->safe_psql('postgres', <<SQL);
WITH passages AS MATERIALIZED (SELECT coalesce(array_agg(passage), '{}') AS passages FROM simdup_boilerplate('$table') WHERE $without),
  found AS (SELECT campaign, simdup_campaign(id, simdup_without(content, passages)) OVER (ORDER BY id) AS c FROM $table, passages),
  pairs AS (SELECT (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY c) AS g) AS found,
    (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY campaign) AS g) AS made,
    (SELECT sum(n * (n - 1)) FROM (SELECT count(*) AS n FROM found GROUP BY campaign, c) AS g) AS "right")
SELECT round("right" / found, 3), round("right" / made, 3) FROM pairs
SQL
	cmp_ok($precision, '>=', 0.97, "$name: a precision of $precision");
	cmp_ok($recall, '>=', 0.9, "... and a recall of $recall");
	return;
}

my $rows = $whole ? 10000 : 2000;
made('plain', $rows, 20, 6, 0, 1, 'real');
is_good('plain', 'letters with the ways of real ones', 'false');
made('disclaimers', $rows, 20, 6, 0.25, 2, 'real');
is_good('disclaimers', 'a quarter of them with a disclaimer', 'true');

# --- memory, cancellation, progress

my $many = "(SELECT id * 10 + n AS id, content || ' ' || n AS content FROM plain, generate_series(0, 9) AS n) AS p";
my $campaigns = "count(DISTINCT c) FROM (SELECT simdup_campaign(id, content) OVER (ORDER BY id) AS c FROM $many) AS w";
my $little = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;";

SKIP:
{
	skip 'no /proc here', 1 unless -r '/proc/self/status';
	my ($plain, $found) = map {
		$node->safe_psql('postgres', "$little SELECT $_; SELECT pg_read_file('/proc/self/status')") =~ /^RssAnon:\s*(\d+) kB/m ? $1 : undef
	} "count(*) FROM $many", $campaigns;

	cmp_ok($found - $plain, '<', 6000 + 0.1 * 10 * $rows, "campaigns of many letters take little memory ($plain and $found kB)");
}

for my $timeout (10, 50, 150, 300)
{
	my (undef, $stdout, $stderr) = $node->psql('postgres',
		"$little SET statement_timeout = $timeout; CREATE TEMP TABLE began AS SELECT clock_timestamp() AS at;\n\\set ON_ERROR_STOP 0\nSELECT $campaigns;\nRESET statement_timeout; SELECT extract(epoch FROM clock_timestamp() - at) * 1000 FROM began; SELECT count(*) FROM pg_ls_tmpdir()");
	my ($took, $files) = $stdout =~ /([\d.]+)\n(\d+)\z/;

	like($stderr, qr/canceling statement due to statement timeout/, "campaigns are cancelled after $timeout ms");
	cmp_ok($took, '<', $timeout + 1000, '... at once');
	is($files, '0', '... without a temporary file left');
}
{
	my (undef, undef, $stderr) = $node->psql('postgres', "$little SET simdup.progress_interval = 1; SELECT $campaigns");
	my %told = map { $_ => 1 } $stderr =~ /NOTICE:  simdup_campaign: ([a-z ]+), \d/g;

	ok($told{$_}, "a message while $_") for 'reading', 'sampling texts', 'comparing texts';
	(undef, undef, $stderr) = $node->psql('postgres', "$little SET temp_file_limit = '200kB'; SELECT $campaigns");
	like($stderr, qr/temporary file size exceeds "?temp_file_limit"?/, 'temp_file_limit holds');
}

$node->stop;
done_testing();

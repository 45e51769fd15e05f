# campaigns: simdup_campaign and simdup_template beside an independent program, and their
# precision and recall.
#
# The model makes words, shingles of three words, partners, centers and templates by
# itself. It takes from the extension only simdup_hash. Random sets have campaigns of 3 to 5,000
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
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# --- the model: rows in the order of the window, with content, key and values

sub words_of
{
	my ($text) = @_;

	return map { /^\p{Script=Han}{2}/ ? pairs_of($_) : $_ } lc($text) =~ /\p{Script=Han}+|[a-z]+/g;
}

sub pairs_of { return map { substr $_[0], $_, 2 } 0 .. length($_[0]) - 2; }

# The distinct shingles of three words, in order.
sub shingles_of
{
	my @words = words_of($_[0]);
	my $w = @words < 3 ? @words : 3;
	my %seen;

	return grep { !$seen{$_}++ } map { join ' ', @words[ $_ .. $_ + $w - 1 ] } 0 .. @words - $w;
}

my %hash;    # of shingles

# What the letters before each one have of its sample, as far as they are candidates.
sub candidates
{
	my (@texts) = @_;
	my (%sharers, @common);

	for my $i (0 .. $#texts)
	{
		my $shingles = $texts[$i]{shingles};

		push @{ $sharers{$_} }, $i for @$shingles < 20 ? @$shingles : grep { $hash{$_} % 4 == 0 } @$shingles;
	}
	for my $list (values %sharers)
	{
		for my $j (1 .. $#$list)
		{
			my @before = @$list <= 20 || $j <= 10 ? 0 .. $j - 1 : (0 .. 9, $j - 1);

			$common[ $list->[$j] ]{$_}++ for @$list[@before];
		}
	}
	return @common;
}

# The pairs of texts to compare: those that have most of the sample in common.
sub pairs_to_compare
{
	my ($least, $texts) = @_;
	my @pairs;

	for my $i (0 .. $#$texts)
	{
		my $common = $texts->[$i]{common} or next;
		my $size = @{ $texts->[$i]{shingles} };
		my @near = grep { my $other = @{ $texts->[$_]{shingles} }; $common->{$_} * 8 >= $least * ($size < $other ? $size : $other) } keys %$common;

		@near = sort { $common->{$b} <=> $common->{$a} || $a <=> $b } @near;
		push @pairs, map { [ $i, $_ ] } splice @near, 0, 16;
	}
	return @pairs;
}

# What a text has in common with one before it: the share that counts, and whether they are
# relatives. Each pair is asked for by both models.
sub common
{
	my ($text, $other) = @_;

	return @{ $text->{with}{$other} //= do {
			my ($n, $counted, $passages, $before, %of_block) = (0, 0, 0, 0);

			for my $shingle (@{ $other->{shingles} })
			{
				my $block = $text->{block}{$shingle};
				my $both = defined $block;

				$passages++ if $both && !$before;
				$before = $both or next;
				$n++;
				$counted++ if !$block || ++$of_block{$block} <= 12;
			}
			my ($shorter, $longer) = sort { $a <=> $b } map { scalar @{ $_->{shingles} } } $text, $other;
			my ($most) = sort { $b <=> $a } 0, map { $_ < 12 ? $_ : 12 } values %of_block;

			$counted = $n if $n >= 0.8 * $longer;
			[ $counted / $shorter, $shorter >= 20 && $passages >= 3 && $counted - $most >= 0.06 * $shorter ]
		}
	};
}

# The block of each shingle of a text: the letters of the rarest one around it. Shingles of
# fewer than 4 letters are no blocks, and those of this text alone part others. Blocks have
# numbers, which %$number keeps by their letters, and %$block_of by the rarest shingle.
sub blocks_of
{
	my ($holders, $number, $block_of, @shingles) = @_;
	my @n = map { scalar @{ $holders->{$_} } } @shingles;
	my @rounded = map { rounded($_) } @n;
	my %block;

	for my $i (0 .. $#shingles)
	{
		my ($from, $to, $rarest) = ($i, $i, $i);

		$block{ $shingles[$i] } = 0;
		next if $n[$i] < 4;
		$from-- while $from > 0 && $i - $from < 4 && $n[ $from - 1 ] > 1;
		$to++ while $to < $#n && $to - $i < 4 && $n[ $to + 1 ] > 1;
		for ($from .. $to)
		{
			$rarest = $_ if $n[$_] >= 4 && $rounded[$_] < $rounded[$rarest];
		}
		$block{ $shingles[$i] } = $block_of->{ $shingles[$rarest] } //= do {
			my @letters = @{ $holders->{ $shingles[$rarest] } };

			$number->{ join ' ', $rounded[$rarest], grep { defined } @letters[ 0 .. 63 ] } //= 1 + keys %$number;
		};
	}
	return \%block;
}

# A number's first seven bits.
sub rounded
{
	my ($n) = @_;
	my $unit = 1;

	$unit *= 2 while $n >= 128 * $unit;
	return $n - $n % $unit;
}

# The distinct texts of rows, with the number of each row's text.
sub texts_of
{
	my (@rows) = @_;
	my (%number, @texts, @of, %holders, %blocks, %block_of);

	for my $i (0 .. $#rows)
	{
		my $content = $rows[$i]{content};

		$of[$i] = undef;
		next if !defined $content || $content !~ /\w/;
		if (!defined $number{$content})
		{
			my @shingles = shingles_of($content);

			$number{$content} = @texts;
			push @{ $holders{$_} }, scalar @texts for @shingles;
			push @texts, { row => $i, copies => 0, shingles => \@shingles, partners => {} };
		}
		$of[$i] = $number{$content};
		$texts[ $of[$i] ]{copies}++;
	}
	my @common = candidates(@texts);
	for my $i (0 .. $#texts)
	{
		$texts[$i]{common} = $common[$i];
		$texts[$i]{block} = blocks_of(\%holders, \%blocks, \%block_of, @{ $texts[$i]{shingles} });
	}
	return (\@texts, \@of, \%holders);
}

# The template of each row: the number of one of its rows, or its own.
sub model_templates
{
	my ($min, $texts, $of, $holders) = @_;
	my @template = templates_of($min, $texts, $holders);

	return map { my $text = $of->[$_]; defined $text ? $texts->[ $template[$text] // $text ]{row} : $_ } 0 .. $#$of;
}

# The template of each text: one of its texts, if it has one.
sub templates_of
{
	my ($min, $texts, $holders) = @_;
	my (@relatives, @template, %failed);

	for (pairs_to_compare(0.06, $texts))
	{
		my ($i, $j) = @$_;
		my (undef, $related) = common($texts->[$i], $texts->[$j]);

		next unless $related;
		push @{ $relatives[$i] }, $j;
		push @{ $relatives[$j] }, $i;
	}
	my @n_free = map { scalar @{ $_ // [] } } @relatives[ 0 .. $#$texts ];
	while (1)
	{
		my $seed;

		for my $i (grep { $n_free[$_] >= 7 && !defined $template[$_] && !$failed{$_} } 0 .. $#$texts)
		{
			$seed = $i if !defined $seed || $n_free[$i] > $n_free[$seed];
		}
		last unless defined $seed;
		my @members = ($seed, grep { !defined $template[$_] } @{ $relatives[$seed] });
		for my $round (1 .. 6)
		{
			my @before = @members;

			@members = covered($min, $texts, $holders, \@template, @members);
			last if @members < 8 || "@members" eq "@before";
		}
		$failed{$seed} = 1;
		next if @members < 8;
		my ($name) = ((grep { $_ == $seed } @members), $members[0]);
		for my $i (@members)
		{
			$template[$i] = $name;
			$n_free[$_]-- for @{ $relatives[$i] // [] };
		}
	}
	return @template;
}

# The free letters that the phrases of these cover.
sub covered
{
	my ($min, $texts, $holders, $template, @members) = @_;
	my (%of, %cover);

	for my $i (sort { $a <=> $b } @members)
	{
		push @{ $of{$_} }, $i for @{ $texts->[$i]{shingles} };
	}
	for my $shingle (keys %of)
	{
		my @those = @{ $of{$shingle} };

		next if @those < 3 || @those * 100 < @members || @those * 20 < @{ $holders->{$shingle} };
		my $phrase = "@those[0, 1, -2, -1]";
		$cover{$_}{$phrase}++ for grep { !defined $template->[$_] } @{ $holders->{$shingle} };
	}
	return sort { $a <=> $b } grep {
		my ($longest, @others) = sort { $b <=> $a } values %{ $cover{$_} };
		my $places = @{ $texts->[$_]{shingles} };
		my $cover = $longest <= 12 ? $longest : 0;    # a footer is no part of a letter

		$cover += $_ < 12 ? $_ : 12 for @others;
		$places >= 20 && $cover > 0 && $cover >= $min * ($places - ($longest > 12 ? $longest : 0))
	} keys %cover;
}

# The campaign of each row: the number of its center.
sub model
{
	my ($min, $texts, $of) = @_;
	my @texts = @$texts;
	my @of = @$of;

	for (pairs_to_compare($min, $texts))
	{
		my ($i, $j) = @$_;
		my ($containment) = common($texts[$i], $texts[$j]);

		$texts[$i]{partners}{$j} = $texts[$j]{partners}{$i} = $containment if $containment >= $min;
	}

	# which text takes most rows, the first of several; what it takes makes others fall
	my (@taken, @is_center, @of_gain);
	my @gain = map { my $text = $_; my $sum = $text->{copies}; $sum += $texts[$_]{copies} for keys %{ $text->{partners} }; $sum } @texts;
	push @{ $of_gain[ $gain[$_] ] }, $_ for 0 .. $#texts;
	for my $gain (reverse 1 .. $#of_gain)
	{
		for my $best (sort { $a <=> $b } @{ $of_gain[$gain] // [] })
		{
			next if $taken[$best];
			if ($gain[$best] < $gain)
			{
				push @{ $of_gain[ $gain[$best] ] }, $best;
				next;
			}
			$is_center[$best] = 1;
			for my $i ($best, keys %{ $texts[$best]{partners} })
			{
				next if $taken[$i]++;
				$gain[$_] -= $texts[$i]{copies} for keys %{ $texts[$i]{partners} };
			}
		}
	}
	my @center = map {
		my $partners = $texts[$_]{partners};
		my ($nearest) = $is_center[$_] ? $_ : sort { $partners->{$b} <=> $partners->{$a} || $a <=> $b } grep { $is_center[$_] } keys %$partners;
		$nearest
	} 0 .. $#texts;
	return map { defined $of[$_] ? $texts[ $center[ $of[$_] ] ]{row} : $_ } 0 .. $#of;
}

# The key of each row's campaign: that of its center, or else of its first row with one.
sub model_keys
{
	my ($rows, @campaign) = @_;
	my @rows = @$rows;
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

# The same, but letters of a campaign exchange the phrases of ten slots.
sub exchanged_rows
{
	my ($chinese, $n, @sizes) = @_;
	my @rows = random_rows($chinese, $n, 0);
	my @which = 0 .. $#rows;

	for my $size (@sizes)
	{
		my @slots = map { [ map { sentence($chinese) } 1 .. 4 ] } 1 .. 10;

		$rows[ splice @which, rand @which, 1 ]{content} = join '', (map { one_of(@$_) } @slots), rand() < 0.5 ? sentence($chinese) : '' for 1 .. $size;
	}
	return @rows;
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
$node->append_conf('postgresql.conf', "jit = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');

sub lines_of
{
	my ($sql) = @_;

	return split /\n/, decode_utf8($node->safe_psql('postgres', encode_utf8("SET client_encoding = UTF8; $sql")));
}

@characters = lines_of(q{SELECT c FROM generate_series(20000, 22000) AS i, chr(i) AS c WHERE c = (SELECT minhash64_shingles(c, 1))});
my $n_sets = 0;
my %follow = (simdup_campaign => 0, simdup_template => 0);    # rows that follow another one

sub compare
{
	my ($name, $min, @rows) = @_;
	my $table = 't' . ++$n_sets;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$table.tsv";

	$_->{key} = rand() < 0.05 && $name !~ /alike/ ? undef : 'k' . int rand 1e12 for @rows;
	open my $out, '>:utf8', $file or die "$file: $!";
	print $out join("\t", $_ + 1, map { defined $_ ? $_ : '\N' } @{ $rows[$_] }{qw(key content)}), "\n" for 0 .. $#rows;
	close $out;
	my @shingles = keys %{ { map { $_ => 1 } map { defined $_->{content} ? shingles_of($_->{content}) : () } @rows } };

	open $out, '>:utf8', "$file.shingles" or die "$file: $!";
	print $out "$_\n" for @shingles;
	close $out;
	my @hashes = lines_of(<<SQL);
CREATE TABLE $table (place int PRIMARY KEY, key text, content text);
\\copy $table FROM '$file'
CREATE TEMP TABLE s (n serial, shingle text);
\\copy s (shingle) FROM '$file.shingles'
SELECT simdup_hash(shingle) & 3 FROM s ORDER BY n;
SQL
	@hash{@shingles} = @hashes;
	my @texts = texts_of(@rows);
	for (([ simdup_campaign => \&model ], [ simdup_template => \&model_templates ]))
	{
		my ($function, $model) = @$_;
		my @expected = model_keys(\@rows, $model->($min, @texts));
		my $memory = one_of('', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;");
		my @got = lines_of("$memory SELECT coalesce($function(key, content, $min) OVER (ORDER BY place), 'none') FROM $table ORDER BY place");
		my @wrong = grep { $got[$_] ne $expected[$_] } 0 .. $#expected;

		$follow{$function} += grep { defined $rows[$_]{key} && $got[$_] ne $rows[$_]{key} } 0 .. $#rows;
		ok(@got == @expected && !@wrong, "$function of $name, set $n_sets")
		  or diag(join "\n", map { encode_utf8("row $_: got $got[$_], expected $expected[$_]") } splice @wrong, 0, 8);
	}
	return;
}

for my $seed (1 .. ($whole ? 60 : 3))
{
	srand $seed;
	my $min = one_of(0, 0.2, 0.35, 0.35, 0.35, 0.6, 1);

	compare("3 letters among 40, from $min", $min, random_rows(0, 40, 0, 3));
	compare("some campaigns in Chinese, from $min", $min, random_rows(1, 60, 0, 3, 9, 14));
	# a value that some more than 100 texts have
	compare("campaigns around 100 letters, from $min", $min, random_rows($seed % 2, 330, 0, 30, 98 + rand 5, 120));
	compare("exchanged phrases, from $min", $min, exchanged_rows($seed % 2, 300, 12, 30, 100));
}
compare('200 letters all alike', 0.35, random_rows(0, 200, 1, 200));
if ($whole)
{
	for my $size (3, 30, 600, 5000)
	{
		compare("$size among 10,000", 0.35, random_rows(0, 10000, 0, $size));
		compare("$size among 10,000 in Chinese", 0.35, random_rows(1, 10000, 0, $size));
		compare("exchanged phrases of $size among 10,000", 0.35, exchanged_rows($size < 100, 10000, $size));
	}
	compare("$_ all alike among 10,000", 0.35, random_rows(0, 10000, 1, $_)) for 600, 5000, 10000;
}
cmp_ok($follow{$_}, '>', 100 * ($whole ? 60 : 3), "rows that follow another one by $_: $follow{$_}") for sort keys %follow;

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
		"$little CREATE TEMP TABLE began AS SELECT clock_timestamp() AS at; SET statement_timeout = $timeout;\n\\set ON_ERROR_STOP 0\nSELECT $campaigns;\nRESET statement_timeout; SELECT extract(epoch FROM clock_timestamp() - at) * 1000 FROM began; SELECT count(*) FROM pg_ls_tmpdir()");
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

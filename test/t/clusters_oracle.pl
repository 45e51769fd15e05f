# clusters_oracle: a naive model of joins and clusters, beside those of SQL. Random
# sets of rows have families of near fingerprints, equal fingerprints with different
# contents, scopes, rows without a fingerprint and contents without a shingle.
#
# simdup_cluster over the rows and a fresh grouping of them, by the same options, give the
# partition of the model, the first row's key being the name. A join of the rows with
# themselves, and of new rows with old ones, gives the model's pairs. Sketches are for
# groups and joins alone.
#
# The model has its own distance, resemblance and clustering. It takes from the
# extension only fingerprints, shingles and sketches.
#
# 240 sets in make test-all, 30 otherwise.

use strict;
use warnings;
no warnings 'portable';    # fingerprints are numbers of 64 bits

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The items for which the code returns 0, and those for which it returns 1.
sub part(&@)
{
	my ($code, @items) = @_;
	my @parts;

	push @{ $parts[ $code->() ] }, $_ for @items;
	return @parts;
}

# --- the model: rows in the order of the query, with fp, scope, content and features. The
# features are a set of shingles, or the bits of a sketch; undef where there is none.

sub distance
{
	my ($x, $y) = @_;

	return unpack '%64b*', pack 'Q', $x->{fp} ^ $y->{fp};
}

sub resemblance
{
	my ($x, $y) = map { $_->{features} } @_;

	return undef unless defined $x && defined $y;
	if (!ref $x)
	{
		my $n_equal = grep { substr($x, $_, 1) eq substr($y, $_, 1) } 0 .. length($x) - 1;
		my $estimate = 1 - 2 * (length($x) - $n_equal) / length $x;

		return $estimate > 0 ? $estimate : 0;
	}
	my $n_common = grep { exists $y->{$_} } keys %$x;
	return $n_common / (keys(%$x) + keys(%$y) - $n_common);
}

# The distance and resemblance of two rows that count as near, else nothing.
sub nearness
{
	my ($options, $x, $y) = @_;

	return if !defined $x->{fp} || !defined $y->{fp};
	return if defined $x->{scope} ? !defined $y->{scope} || $x->{scope} ne $y->{scope} : defined $y->{scope};
	my $distance = distance($x, $y);
	return if $distance > $options->{k};
	return ($distance, undef) unless defined $options->{min};
	my $resemblance = resemblance($x, $y);
	return if !defined $resemblance || $resemblance < $options->{min};
	return ($distance, $resemblance);
}

sub shown
{
	my ($resemblance) = @_;

	return defined $resemblance ? sprintf '%.9f', $resemblance : '';
}

# "a b distance resemblance" of each pair, a before b.
sub model_pairs
{
	my ($options, @rows) = @_;
	my @pairs;

	for my $i (0 .. $#rows)
	{
		for my $j ($i + 1 .. $#rows)
		{
			my ($distance, $resemblance) = nearness($options, @rows[ $i, $j ]);

			push @pairs, join '|', $rows[$i]{key}, $rows[$j]{key}, $distance, shown($resemblance) if defined $distance;
		}
	}
	return sort @pairs;
}

# "a b distance resemblance" of each pair of a new row and an old one.
sub model_new_pairs
{
	my ($options, $new, $old) = @_;
	my @pairs;

	for my $x (@$new)
	{
		for my $y (@$old)
		{
			my ($distance, $resemblance) = nearness($options, $x, $y);

			push @pairs, join '|', $x->{key}, $y->{key}, $distance, shown($resemblance) if defined $distance;
		}
	}
	return sort @pairs;
}

# Clusters of rows, each in the order of the query.
sub model_leader
{
	my ($options, @rows) = @_;
	my @clusters;

	for my $row (@rows)
	{
		my ($nearest, $least);

		for my $cluster (@clusters)
		{
			my ($distance) = nearness($options, $cluster->[0], $row);

			($nearest, $least) = ($cluster, $distance) if defined $distance && (!defined $least || $distance < $least);
		}
		if (defined $nearest)
		{
			push @$nearest, $row;
		}
		else
		{
			push @clusters, [$row];
		}
	}
	return @clusters;
}

sub model_connected
{
	my ($options, @rows) = @_;
	my @parent = 0 .. $#rows;
	my %clusters;

	for my $i (0 .. $#rows)
	{
		for my $j ($i + 1 .. $#rows)
		{
			my ($distance) = nearness($options, @rows[ $i, $j ]);
			my ($x, $y) = ($i, $j);

			next unless defined $distance;
			$x = $parent[$x] while $parent[$x] != $x;
			$y = $parent[$y] while $parent[$y] != $y;
			($x, $y) = ($y, $x) if $x > $y;
			$parent[$y] = $x;
		}
	}
	for my $i (0 .. $#rows)
	{
		my $root = $i;

		$root = $parent[$root] while $parent[$root] != $root;
		push @{ $clusters{$root} }, $rows[$i];
	}
	return map { $clusters{$_} } sort { $a <=> $b } keys %clusters;
}

# "key cluster" of each row; a row that takes no part has its own key.
sub model_clusters
{
	my ($options, $method, @rows) = @_;
	# where contents decide, a row without one takes no part
	my ($compared, $left_out) = part { defined $_->{fp} && (!defined $options->{min} || defined $_->{content}) ? 0 : 1 } @rows;
	my @clusters = $method eq 'leader' ? model_leader($options, @{ $compared // [] }) : model_connected($options, @{ $compared // [] });

	return sort map { my $first = $_->[0]; map { "$_->{key}|$first->{key}" } @$_ } @clusters, map { [$_] } @{ $left_out // [] };
}

# --- random sets

my @words = map { chomp; $_ } grep { /\S/ } split /\s+/, <<'WORDS';
the lamp in lane has been out since monday nobody comes to mend it a tree fell on road near
station bus is late every morning and people miss their train please answer this letter soon
WORDS

# A text near the family's, or none.
sub random_content
{
	my ($family) = @_;
	my $chance = rand;
	my @text = @{ $family->{text} };

	return undef if $chance < 0.04;
	return one_of('', ' ', '!!!', '...?') if $chance < 0.1;
	return one_of('a', 'no') if $chance < 0.13;
	$text[ rand @text ] = one_of(@words) for 1 .. one_of(0, 0, 0, 1, 1, 2, 3, 6);
	push @text, one_of(@words) if rand() < 0.2;
	return join ' ', @text;
}

# A fingerprint near the family's, often one that is there already.
sub random_fp
{
	my ($family, $k) = @_;
	my $fp = rand() < 0.25 ? one_of(@{ $family->{fps} }) : $family->{fps}[0];

	$fp ^= 1 << int rand 64 for 1 .. int rand(1.3 * $k + 2);
	push @{ $family->{fps} }, $fp if rand() < 0.5;
	return $fp;
}

sub random_rows
{
	my ($k, $n) = @_;
	my @families = map {
		{
			fps => [ int(rand(1 << 32)) << 32 | int rand(1 << 32) ],
			text => [ map { one_of(@words) } 1 .. 14 ]
		}
	} 1 .. 5;
	my @scopes = (undef, 'north', 'south');

	return map {
		my $family = one_of(@families);
		{
			fp => rand() < 0.05 ? undef : random_fp($family, $k),
			scope => one_of(@scopes),
			content => random_content($family)
		}
	} 1 .. $n;
}

# --- the same by SQL

my $node = PostgreSQL::Test::Cluster->new('clusters_oracle');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off\nenable_nestloop = off\nenable_hashjoin = off\nenable_mergejoin = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup; CREATE TYPE office AS (street text, number int)');

sub lines_of
{
	my ($sql) = @_;

	return split /\n/, $node->safe_psql('postgres', $sql);
}

sub quoted
{
	my ($value) = @_;

	return defined $value ? "'" . $value =~ s/'/''/gr . "'" : 'NULL';
}

# Write the rows to a table, and read back the input of the model.
sub store
{
	my ($table, $set, @rows) = @_;
	my $place = 0;
	my $values = join ",\n", map {
		sprintf '(%d, %s, %s, %s)', ++$place, defined $_->{fp} ? sprintf "'%016x'", $_->{fp} : 'NULL', quoted($_->{scope}), quoted($_->{content})
	} @rows;

	$node->safe_psql('postgres', <<SQL);
CREATE TABLE $table (place int PRIMARY KEY, fp simhash64, scope text, content text);
INSERT INTO $table VALUES $values;
ALTER TABLE $table ADD key $set->{key_type};
UPDATE $table SET key = $set->{key};
SQL
	$node->safe_psql('postgres', "UPDATE $table SET fp = minhash64(content, $set->{w}, '$set->{unit}')") if $set->{own};
	my $features =
	  $set->{sketch}
	  ? 'minhash_bits(content)::text'
	  : "(SELECT string_agg(md5(s), ' ') FROM minhash64_shingles(content, $set->{w}, '$set->{unit}') AS s)";
	for (lines_of("SELECT place, key, fp, $features FROM $table ORDER BY place"))
	{
		my ($n, $key, $fp, $seen) = split /\|/, $_, -1;
		my $row = $rows[ $n - 1 ];

		$row->{key} = $key;
		$row->{fp} = $fp eq '' ? undef : hex $fp;
		$row->{scope} = undef unless $set->{scope};
		$row->{content} = undef if $set->{sketch} && $seen eq '';
		$row->{features} = $seen eq '' ? undef : $set->{sketch} ? $seen : { map { $_ => 1 } split / /, $seen };
	}
	return;
}

# The partition alone: the keys of each group, the first key first.
sub partition
{
	my (%group) = @_;
	my %keys;

	push @{ $keys{ $group{$_} } }, $_ for sort keys %group;
	return sort map { join ' ', @$_ } values %keys;
}

# Compare lines. The first few lines that differ are shown.
sub agree
{
	my ($got, $expected, $name) = @_;
	my %left = map { $_ => 1 } @$got;
	my %right = map { $_ => 1 } @$expected;
	my @more = grep { !$right{$_} } @$got;
	my @less = grep { !$left{$_} } @$expected;

	return ok(1, $name) if !@more && !@less && @$got == @$expected;
	diag(join "\n", 'not in the model:', splice(@more, 0, 8), 'in the model alone:', splice(@less, 0, 8));
	return ok(0, $name);
}

my ($n_together, $n_windows, $n_joins) = (0, 0, 0);
my $frame = 'ROWS BETWEEN 1 PRECEDING AND CURRENT ROW';

# "a b distance resemblance" of each pair for which the condition holds, by the join node.
sub joined
{
	my ($number, $set, $condition) = @_;
	my $content = $set->{sketch} ? 'minhash_bits(content)' : 'content';
	my $rows = "(SELECT place, key, fp, $content AS content, " . ($set->{scope} // 'NULL::text') . " AS scope FROM t$number)";
	my $resemblance = $set->{sketch} ? 'minhash_bits_resemblance(a.content, b.content)' : "shingle_resemblance(a.content, b.content, $set->{w}, '$set->{unit}')";
	my @conditions = ($condition, "simhash_within(a.fp, b.fp, $set->{k})");

	push @conditions, "$resemblance >= $set->{min}" if defined $set->{min};
	# rows are parted by it, or not; rows without a scope are one
	push @conditions, one_of(q{coalesce(a.scope::text, '') = coalesce(b.scope::text, '')}, 'a.scope IS NOT DISTINCT FROM b.scope') if $set->{scope};
	$resemblance = 'NULL' unless defined $set->{min};
	my $memory = one_of('', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;");
	my $query = "SELECT concat_ws('|', a.key, b.key, a.fp <~> b.fp, coalesce(round($resemblance\::numeric, 9)::text, '')) FROM $rows AS a JOIN $rows AS b ON " . join ' AND ', @conditions;
	my @lines = lines_of("$memory $query; EXPLAIN (COSTS OFF) $query");

	$n_joins += grep { /Custom Scan/ } @lines;
	return sort grep { /^\w+\|\w+\|/ } @lines;
}

sub compare
{
	my ($number, $set, @rows) = @_;
	my $table = "t$number";
	my $min = $set->{min} // 'NULL';
	my $content = $set->{sketch} ? 'minhash_bits(content) AS content' : 'content';
	my @named = ($set->{content} ? $content : (), $set->{scope} ? "$set->{scope} AS scope" : ());
	my $options = "max_distance => $set->{k}, min_resemblance => $min, w => $set->{w}, unit => '$set->{unit}'";
	my $name = join ', ', "set $number", map { "$_ " . ($set->{$_} // 'none') } sort keys %$set;
	my $ok = 1;

	my @pairs = joined($number, $set, 'a.place < b.place');
	$ok = 0 unless agree(\@pairs, [ model_pairs($set, @rows) ], "pairs of $name");

	my ($new, $old) = part { ($_ + 1) % 3 > 0 ? 1 : 0 } 0 .. $#rows;
	@pairs = joined($number, $set, 'a.place % 3 = 0 AND b.place % 3 > 0');
	$ok = 0 unless agree(\@pairs, [ model_new_pairs($set, [ @rows[@$new] ], [ @rows[@$old] ]) ], "new pairs of $name");

	for my $method ('leader', 'connected')
	{
		my @expected = model_clusters($set, $method, @rows);
		my %model = map { split /\|/ } @expected;
		my $arguments = $set->{content} ? "content, $set->{k}, $min, '$method', $set->{w}, '$set->{unit}'" : "$set->{k}, '$method'";
		my $window = join ' ', $set->{scope} ? "PARTITION BY $set->{scope}" : (), 'ORDER BY place', one_of('', $frame);

		if (!$set->{sketch})
		{
			my $memory = one_of('', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;");
			my @got = sort +lines_of("$memory SELECT key || '|' || simdup_cluster(key, fp, $arguments) OVER ($window) FROM $table");

			$ok = 0 unless agree(\@got, \@expected, "$method of $name");
			$n_windows++;
		}
		$n_together += grep { my ($key, $cluster) = split /\|/; $key ne $cluster } @expected;
		# a grouping has no row that takes no part
		delete $model{ $_->{key} } for grep { !defined $_->{fp} || defined $set->{min} && !defined $_->{content} } @rows;

		my %group = map { split /\|/ } lines_of(<<SQL);
CREATE VIEW v${number}_$method AS SELECT place AS key, @{[ join ', ', 'fp', @named ]} FROM $table;
DO \$\$ BEGIN
  PERFORM simdup_group('g${number}_$method', 'v${number}_$method', method => '$method', $options);
  PERFORM simdup_regroup('g${number}_$method');
END \$\$;
SELECT t.key, g.id FROM g${number}_$method AS g JOIN $table AS t ON t.place = g.key;
SQL
		$ok = 0 unless agree([ partition(%group) ], [ partition(%model) ], "groups by $method of $name");
	}
	return $ok;
}

# --- three rows: the third is nearer to the second leader than to the first

my @three = map { { fp => hex $_ } } '0000000000000000', '00000000000001ff', '000000000000007c';
my $plain = { k => 8, w => 4, unit => 'char', key_type => 'int', key => 'place' };
store('t0', $plain, @three);
is(join(' ', model_clusters($plain, 'leader', @three)), '1|1 2|2 3|2', 'the model knows the nearest leader');
compare(0, $plain, @three);

# --- random sets

my $n_sets = $whole ? 240 : 30;
for my $number (1 .. $n_sets)
{
	srand $number;
	my $kind = one_of('plain', 'text', 'text', 'text', 'sketch');
	my $text_key = rand() < 0.3;
	my $set = {
		k => one_of(0, 1, 3, 8, 8, 12, 16),
		content => $kind ne 'plain' || rand() < 0.3 ? 1 : 0,
		sketch => $kind eq 'sketch' ? 1 : 0,
		min => $kind eq 'plain' ? undef : one_of(0.1, 0.35, 0.6, 0.8, 1),
		w => $kind eq 'text' ? one_of(4, 4, 2, 1) : 4,
		unit => $kind eq 'text' ? one_of('char', 'char', 'word') : 'char',
		scope => one_of(undef, 'scope', 'scope', 'md5(scope)::uuid',
			'CASE WHEN scope IS NOT NULL THEN ROW(scope, 1)::office END'),
		own => rand() < 0.3 ? 1 : 0,
		key_type => $text_key ? 'text' : 'int',
		# not in the order of the rows
		key => $text_key ? "md5(place::text)" : 'place * 7919 % 1009'
	};
	my @rows = random_rows($set->{k}, 90);
	store("t$number", $set, @rows);
	last unless compare($number, $set, @rows);
}
cmp_ok($n_together, '>', 15 * $n_sets, "rows that follow another one: $n_together");
cmp_ok($n_windows, '>', $n_sets, "windows: $n_windows");
is($n_joins, 2 * $n_sets + 2, 'all joins are by the node');

$node->stop;
done_testing();

# groups_oracle: a naive model of a grouping, beside groupings of tables.
# Random steps go to both: rows come, go, come back and change, people decide. Six
# sessions take the steps, two in each isolation level. After each refresh both agree on
# the rows whose group changes and on the groups. The events replayed give the groups,
# and a second refresh changes nothing. A refresh in a transaction that began before the
# steps either changes nothing or fails with 40001. Function simdup_group_of leads from
# each id there ever was to the rows that the model names. With few keys, ids end and come
# back often.
#
# 2000 steps in make test-all, 240 otherwise.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use IPC::Run ();
use List::Util qw(first max sum0);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# --- the model: fingerprints are numbers, a decision is 1 (same) or 0 (not)

package Model;

use List::Util qw(first max sum0);

sub new
{
	my ($class, %options) = @_;

	return bless { %options, row => {}, decision => {}, order => [], id => {}, ended => {}, next_id => 1 }, $class;
}

sub distance
{
	my ($self, $x, $y) = @_;

	return unpack '%64b*', pack 'Q', $self->{row}{$x}{fp} ^ $self->{row}{$y}{fp};
}

sub is_near
{
	my ($self, $x, $y) = @_;
	my ($left, $right) = map { $self->{row}{$_} } $x, $y;

	return $self->distance($x, $y) <= $self->{k}
	  && (!$self->{scoped} || ($left->{scope} // '') eq ($right->{scope} // ''))
	  && (!$self->{resembles} || $self->{resembles}{"$left->{content} $right->{content}"});
}

# The rows that count, in their order.
sub keys_in_order
{
	my ($self) = @_;

	return sort { $a <=> $b } grep { defined $self->{row}{$_}{fp} } keys %{ $self->{row} };
}

# The decisions that hold: in their order, without those that contradict earlier ones.
sub settle
{
	my ($self) = @_;
	my @passed;

	$self->{holds} = {};
	for my $pair (@{ $self->{order} })
	{
		my ($x, $y) = split / /, $pair;
		my @left = $self->block_of($x);
		my @right = $self->block_of($y);
		my $one = grep { $_ eq $y } @left;

		if ($self->{decision}{$pair} ? !$one && $self->are_apart(\@left, \@right) : $one)
		{
			push @passed, $pair;
			next;
		}
		$self->{holds}{$pair} = $self->{decision}{$pair};
	}
	return @passed;
}

# Decide: a decision that takes the place of another is the latest.
sub decide
{
	my ($self, $pair, $same) = @_;
	my $old = $self->{decision}{$pair};

	return if defined $old && $old == $same;
	$self->undecide($pair);
	$self->{decision}{$pair} = $same;
	push @{ $self->{order} }, $pair;
	return;
}

sub undecide
{
	my ($self, $pair) = @_;

	delete $self->{decision}{$pair};
	$self->{order} = [ grep { $_ ne $pair } @{ $self->{order} } ];
	return;
}

# A row with those that are the same, over rows that are there or not.
sub block_of
{
	my ($self, @block) = @_;
	my %seen = map { $_ => 1 } @block;

	while (defined(my $x = shift @block))
	{
		for my $pair (grep { $self->{holds}{$_} } keys %{ $self->{holds} })
		{
			my ($a, $b) = split / /, $pair;
			push @block, grep { !$seen{$_}++ } $a eq $x ? $b : $b eq $x ? $a : ();
		}
	}
	return keys %seen;
}

# Check whether a decision keeps apart a row of these and a row of those.
sub are_apart
{
	my ($self, $these, $those) = @_;
	my %left = map { $_ => 1 } @$these;
	my %right = map { $_ => 1 } @$those;

	return first
	{
		my ($a, $b) = split / /;
		!$self->{holds}{$_} && ($left{$a} && $right{$b} || $left{$b} && $right{$a});
	}
	keys %{ $self->{holds} };
}

# Groups of rows, the first row's group first.
sub groups_by_leader
{
	my ($self) = @_;
	my (%group, @groups, @leaders);    # a row's group is its place in @groups

	for my $x ($self->keys_in_order)
	{
		my @block = $self->block_of($x);
		my $brought = first { defined } map { $group{$_} } @block;
		my @near = sort { $self->distance($x, $a) <=> $self->distance($x, $b) || $a <=> $b }
		  grep { $self->is_near($x, $_) } @leaders;
		my $leader = first
		{
			!$self->are_apart(\@block, [ map { $self->block_of($_) } @{ $groups[ $group{$_} ] } ])
		}
		@near;

		$group{$x} = $brought // (defined $leader ? $group{$leader} : scalar @groups);
		push @{ $groups[ $group{$x} ] }, $x;
		push @leaders, $x unless defined $leader;
	}
	return @groups;
}

sub groups_connected
{
	my ($self) = @_;
	my @keys = $self->keys_in_order;
	my %is_there = map { $_ => 1 } @keys;
	# with rows that are gone, which keep others apart, too
	my %block = map { $_ => [ sort { $a <=> $b } $self->block_of($_) ] } @keys;
	my %group = map { $_ => first { $is_there{$_} } @{ $block{$_} } } @keys;
	my @pairs;

	for my $x (@keys)
	{
		push @pairs, map { [ $self->distance($x, $_), $x, $_ ] } grep { $_ > $x && $self->is_near($x, $_) } @keys;
	}
	for my $pair (sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] || $a->[2] <=> $b->[2] } @pairs)
	{
		my ($low, $high) = sort { $a <=> $b } map { $group{$_} } @$pair[ 1, 2 ];
		my @low = grep { $group{$_} == $low } @keys;
		my @high = grep { $group{$_} == $high } @keys;

		next if $low == $high || $self->are_apart(map { [ map { @{ $block{$_} } } @$_ ] } \@low, \@high);
		$group{$_} = $low for @high;
	}
	return map { my $first = $_; [ grep { $group{$_} == $first } @keys ] } grep { $group{$_} == $_ } @keys;
}

# The ids of groups: [group, id] each.
sub with_ids
{
	my ($self, @groups) = @_;
	my (@shares, %taken, @id);

	for my $i (0 .. $#groups)
	{
		my %shared;

		$shared{$_}++ for grep { defined } map { $self->{id}{$_} } @{ $groups[$i] };
		push @shares, map { [ $shared{$_}, $_, $i ] } keys %shared;
	}
	for my $share (sort { $b->[0] <=> $a->[0] || $a->[1] <=> $b->[1] || $a->[2] <=> $b->[2] } @shares)
	{
		my (undef, $id, $i) = @$share;

		$id[$i] = $id if !defined $id[$i] && !$taken{$id}++;
	}
	for my $i (grep { !defined $id[$_] } 0 .. $#groups)
	{
		my $ended = $self->{ended};
		my @its = grep { $ended->{$_}{rows}[0] == $groups[$i][0] } keys %$ended;

		($id[$i]) = sort { $ended->{$b}{refresh} <=> $ended->{$a}{refresh} } @its;
		$id[$i] //= $self->{next_id}++;
		delete $ended->{ $id[$i] };
	}
	return map { [ $groups[$_], $id[$_] ] } 0 .. $#groups;
}

# Refresh: the rows whose group changes, "key was id" each.
sub refresh
{
	my ($self) = @_;

	$self->settle;
	my @groups = $self->{method} eq 'leader' ? $self->groups_by_leader : $self->groups_connected;
	my %now = map { my ($rows, $id) = @$_; map { $_ => $id } @$rows } $self->with_ids(@groups);
	my %all = (%now, %{ $self->{id} });
	my @changes;

	for my $key (sort { $a <=> $b } keys %all)
	{
		my ($was, $id) = ($self->{id}{$key} // '', $now{$key} // '');
		next if $was eq $id;
		push @changes, "$key|$was|$id";
	}
	$self->{n_refreshes}++;
	my %used = map { $_ => 1 } values %now;
	for my $id (grep { !$used{$_} } values %{ $self->{id} })
	{
		my @rows = sort { $a <=> $b } grep { $self->{id}{$_} == $id } keys %{ $self->{id} };

		$self->{ended}{$id} = { rows => \@rows, refresh => $self->{n_refreshes} };
	}
	$self->{id} = \%now;
	return @changes;
}

# Where most of the last rows of each id are now: "id group".
sub groups_of
{
	my ($self) = @_;
	my %ids = map { $_ => $_ } values %{ $self->{id} };

	for my $id (keys %{ $self->{ended} })
	{
		my %n;

		$n{$_}++ for grep { defined } map { $self->{id}{$_} } @{ $self->{ended}{$id}{rows} };
		($ids{$id}) = sort { $n{$b} <=> $n{$a} || $a <=> $b } keys %n;
	}
	return join "\n", map { "$_ " . ($ids{$_} // '') } sort { $a <=> $b } keys %ids;
}

package main;

my $node = PostgreSQL::Test::Cluster->new('groups_oracle');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off");
$node->start;

# Texts that resemble each other more or less.
my @contents = (
	'the lamp in the lane has been out since Monday and nobody comes to mend it',
	'the lamp in the lane has been out since Monday and nobody came to mend it',
	'the lamp in the lane has been out since Monday, will nobody come to mend it at last',
	'a tree has fallen on the road to the station',
	'a tree has fallen on the road to the station again');
my $min_resemblance = 0.6;

$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
-- on a few lines, n bits from their beginnings: rows n and m are |n - m| apart
CREATE FUNCTION fp(line int, n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN ((line * 1152921504606846976) # ((1::bigint << n) - 1))::simhash64;
SQL

my %resembles;
for my $i (0 .. $#contents)
{
	for my $j (0 .. $#contents)
	{
		$resembles{"$i $j"} = $i == $j
		  || $node->safe_psql('postgres', "SELECT shingle_resemblance('$contents[$i]', '$contents[$j]') >= $min_resemblance") eq 't';
	}
}
is(sum0(values %resembles), 13, 'some of the texts resemble each other');

# --- steps: on the model, and in SQL

sub random_row
{
	my ($line, $n) = (int rand 4, int rand 14);
	my $is_null = rand() < 0.04;

	return (
		{
			fp => $is_null ? undef : ($line << 60) ^ ((1 << $n) - 1),
			scope => one_of(undef, 'a', 'b'),
			content => int rand @contents
		},
		$is_null ? 'NULL' : "fp($line, $n)");
}

sub quoted { return defined $_[0] ? "'$_[0]'" : 'NULL'; }

sub random_step
{
	my ($table, $model) = @_;
	my @keys = sort { $a <=> $b } keys %{ $model->{row} };
	my $chance = rand 100;
	my ($row, $fp) = random_row();

	if (@keys < 3 || $chance < (@keys < $model->{n_keys} / 2 ? 45 : @keys < $model->{n_keys} ? 20 : 0))
	{
		my $new = first { !$model->{row}{$_} } map { 1 + int rand $model->{n_keys} } 1 .. 1000;

		$model->{row}{$new} = $row;
		return sprintf 'INSERT INTO %s VALUES (%d, %s, %s, %s)', $table, $new, $fp, quoted($row->{scope}), quoted($contents[ $row->{content} ]);
	}
	my $x = one_of(@keys);
	if ($chance < 62)
	{
		delete $model->{row}{$x};
		return "DELETE FROM $table WHERE id = $x";
	}
	if ($chance < 75)
	{
		$model->{row}{$x} = $row;
		return sprintf 'UPDATE %s SET fp = %s, scope = %s, content = %s WHERE id = %d', $table, $fp, quoted($row->{scope}),
		  quoted($contents[ $row->{content} ]), $x;
	}
	return random_decision($table, $model, @keys);
}

# One decision or several, or one taken back; at once, or at the next refresh.
sub random_decision
{
	my ($table, $model, @keys) = @_;
	my @old = sort keys %{ $model->{decision} };
	my $same = rand() < 0.5 ? 1 : 0;
	my %pairs;

	if (@old && rand() < 0.4)
	{
		my ($x, $y) = split / /, one_of(@old);

		$model->undecide("$x $y");
		return "SELECT count(*) FROM simdup_undecide('g_$table', $y, $x, refresh => false)";
	}
	for (1 .. one_of(1, 1, 3))
	{
		# about rows of one group, or any, or one that is not there
		my $x = one_of(@keys);
		my @mates = grep { $_ != $x && ($model->{id}{$_} // 0) == ($model->{id}{$x} // -1) } @keys;
		my $y = rand() < 0.5 && @mates ? one_of(@mates) : rand() < 0.1 ? 101 + int rand 3 : one_of(@keys);

		next if $x == $y;
		$pairs{ join ' ', sort { $a <=> $b } $x, $y } = 1;
	}
	my @pairs = sort keys %pairs or return 'SELECT';
	my %before = (decision => { %{ $model->{decision} } }, order => [ @{ $model->{order} } ]);
	# the order of one INSERT is that of the keys
	$model->decide($_, $same) for sort { my ($i, $j) = map { [ split / / ] } $a, $b; $i->[0] <=> $j->[0] || $i->[1] <=> $j->[1] } @pairs;
	# by hand, one may be written that contradicts others, and is passed over
	if (@pairs == 1 && !defined $before{decision}{ $pairs[0] } && rand() < 0.3)
	{
		return sprintf 'INSERT INTO g_%s_decisions (a, b, same) VALUES (%s, %s)', $table, $pairs[0] =~ s/ /, /r, $same ? 'true' : 'false';
	}
	my %passed = map { $_ => 1 } $model->settle;
	my $refused = grep { $passed{$_} } @pairs;
	@$model{ 'decision', 'order' } = @before{ 'decision', 'order' } if $refused;
	my $truth = $same ? 'true' : 'false';
	my ($x, $y) = map { my $i = $_; join ', ', map { (split / /)[$i] } @pairs } 0, 1;
	my $sql = @pairs > 1 ? "ARRAY[$x], ARRAY[$y]" : one_of("$x, $y", "$y, $x", "'$x', '$y'");
	my $call = "SELECT count(*) FROM simdup_decide('g_$table', $sql, $truth, refresh => false)";

	return $call unless $refused;
	return "DO \$\$ BEGIN PERFORM simdup_decide('g_$table', $sql, $truth, refresh => false); RAISE 'accepted';"
	  . " EXCEPTION WHEN integrity_constraint_violation THEN NULL; END \$\$";
}

# --- runs

my @sessions = map {
	my $session = { in => '', out => '', err => '', isolation => $_ };
	local $ENV{PGOPTIONS} = "-c client_min_messages=error -c default_transaction_isolation=" . s/ /\\ /r;

	$session->{handle} = IPC::Run::start([ 'psql', '-XqAt', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres') ],
		'<', \$session->{in}, '>', \$session->{out}, '2>', \$session->{err}, IPC::Run::timeout(600));
	$session;
} map { ($_, $_) } 'read committed', 'repeatable read', 'serializable';

# The errors and the rows of statements in a session.
sub answer
{
	my ($session, $sql) = @_;

	@$session{ 'out', 'err' } = ('', '');
	$session->{in} .= "$sql;\n\\echo ==end\n\\warn ==end\n";
	$session->{handle}->pump until $session->{out} =~ /^==end\n/m && $session->{err} =~ /^==end\n/m;
	my ($out, $err) = map { s/^==end\n\z//mr } @$session{ 'out', 'err' };
	return ($err, split /\n/, $out);
}

# Several steps, a refresh by the model and by SQL, and all that must hold.
my ($n_late, $n_refused) = (0, 0);
sub agree
{
	my ($table, $model, @steps) = @_;
	my @expected = $model->refresh;
	my $late = one_of(@sessions);
	my @others = grep { $_ != $late } @sessions;
	my @errors = (answer($late, "BEGIN; SELECT count(*) FROM $table"))[0];

	push @errors, (answer(one_of(@others), $_))[0] for @steps;
	my ($error, @got) = answer(one_of(@others), <<SQL);
SELECT '=';
SELECT concat_ws('|', key, coalesce(was::text, ''), coalesce(id::text, '')) FROM simdup_regroup('g_$table', true) ORDER BY key::int;
SELECT '=';
SELECT concat_ws('|', key, coalesce(was::text, ''), coalesce(id::text, '')) FROM simdup_regroup('g_$table') ORDER BY key::int;
SELECT '=';
SELECT key || ' ' || id FROM g_$table ORDER BY key;
SELECT '=';
SELECT key || ' ' || id FROM (SELECT DISTINCT ON (key) key, id FROM g_${table}_events ORDER BY key, refresh DESC) AS e WHERE id IS NOT NULL ORDER BY key;
SELECT '=';
SELECT count(*) FROM simdup_regroup('g_$table');
SELECT '=';
SELECT concat(id, ' ', simdup_group_of('g_$table', id)) FROM g_${table}_settings, generate_series(1, next_id - 1) AS id
SQL
	$error = join '', @errors, $error;
	my $members = join "\n", map { "$_ $model->{id}{$_}" } sort { $a <=> $b } keys %{ $model->{id} };
	my (undef, $dry, $changes, $now, $replayed, $again, $of) = map { s/\A\n|\n\z//gr } split /^=$/m, join("\n", @got) . "\n";
	my $wanted = join "\n", @expected;
	my ($refused, $changed) = answer($late, "SELECT count(*) FROM simdup_regroup('g_$table'); COMMIT");

	$n_late++;
	$n_refused++ if $refused eq "ERROR:  40001\n" && $late->{isolation} ne 'read committed';
	my $is_late_right = $refused eq '' ? $changed eq '0' : $refused eq "ERROR:  40001\n" && $late->{isolation} ne 'read committed';
	return 1
	  if $is_late_right && $error eq '' && $dry eq $wanted && $changes eq $wanted && $now eq $members && $replayed eq $members && $again eq '0' && $of eq $model->groups_of;
	diag join ";\n", @steps;
	diag $node->safe_psql('postgres', "SELECT id, fp, scope, left(content, 60) FROM $table ORDER BY id; TABLE g_${table}_decisions; TABLE g_${table}_events") if $ENV{DEBUG};
	is($error, '', 'no error');
	is($dry, $wanted, 'a dry run');
	is($changes, $wanted, 'the rows whose group changes');
	is($now, $members, 'the groups');
	is($replayed, $members, 'the events replayed');
	is($again, '0', 'a refresh with nothing new');
	is($of, $model->groups_of, 'where the rows of each id are');
	ok($is_late_right, "a late refresh, $late->{isolation}: " . $refused . ($changed // ''));
	return 0;
}

sub run_sequence
{
	my ($method, $scoped, $verified, $seed, $n_steps) = @_;
	my $table = "t$seed";
	my $name = join ', ', $method, $scoped ? 'scope' : (), $verified ? 'min_resemblance' : (), "seed $seed";
	my $model = Model->new(method => $method, k => 3, n_keys => $scoped ? 100 : 12, scoped => $scoped, resembles => $verified ? \%resembles : undef);
	my $columns = join ', ', 'id AS key', 'fp', $scoped ? 'scope' : (), $verified ? 'content' : ();
	my $n_done = 0;

	srand $seed;
	$node->safe_psql('postgres', sprintf <<'SQL', $table, $table, $columns, $table, $table, $table, $method, $verified ? $min_resemblance : 'NULL');
CREATE TABLE %s (id int PRIMARY KEY, fp simhash64, scope text, content text);
CREATE VIEW v_%s AS SELECT %s FROM %s;
SELECT simdup_group('g_%s', 'v_%s', 3, '%s', %s);
SQL
	while ($n_done < $n_steps)
	{
		my @steps = map { random_step($table, $model) } 1 .. 1 + int rand 4;

		last unless agree($table, $model, @steps);
		$n_done += @steps;
	}
	cmp_ok($n_done, '>=', $n_steps, "$name: $n_steps steps");
	return;
}

my $steps = $whole ? 2000 : 240;
my $seed = 0;
for my $method ('leader', 'connected')
{
	for my $verified (0, 1)
	{
		run_sequence($method, $_, $verified, ++$seed, $steps / 8) for 0, 1;
	}
}

cmp_ok($n_refused, '>', $n_late / 4, "many late refreshes are refused: $n_refused of $n_late");

$_->{handle}->finish for @sessions;
$node->stop;
done_testing();

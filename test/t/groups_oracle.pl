# groups_oracle: a naive model of what groups are, beside the groups of a table.
# Random sequences of changes go to both. After each step both have the same
# groups, ids, representatives and redirects, and the events replayed give them.
# Then eight sessions at once, and three data sets that chain.
#
# The model draws an id for each new group, as the sequence does. The sequence
# may skip numbers and nothing else. So each id of the model belongs to one id of
# the table, for ever, and a later id to a greater one.

use strict;
use warnings;

use IPC::Run ();
use List::Util qw(max first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Storable ();
use Test::More;

# --- the model: fingerprints are numbers, a decision is 1 (same) or 0 (not)

package Model;

use List::Util qw(first);

sub new
{
	my ($class, %options) = @_;

	return bless { %options, row => {}, leader => {}, into => {}, decision => {}, last => {}, age => 0, id => 0 }, $class;
}

sub distance { return unpack '%64b*', pack 'Q', $_[0] ^ $_[1]; }

sub is_near
{
	my ($self, $x, $y) = @_;

	return distance($self->{row}{$x}{fp}, $self->{row}{$y}{fp}) <= $self->{k};
}

# The rows of a group, the oldest first.
sub rows_of
{
	my ($self, @ids) = @_;
	my $row = $self->{row};
	my %wanted = map { $_ => 1 } @ids;

	return sort { $row->{$a}{age} <=> $row->{$b}{age} } grep { $wanted{ $row->{$_}{id} // '' } } keys %$row;
}

# A row with those that people tied to it.
sub tied
{
	my ($self, @tied) = @_;
	my %seen = map { $_ => 1 } @tied;

	while (defined(my $x = shift @tied))
	{
		for my $pair (grep { $self->{decision}{$_} } keys %{ $self->{decision} })
		{
			my ($a, $b) = split / /, $pair;
			push @tied, grep { $self->{row}{$_} && !$seen{$_}++ } $a eq $x ? $b : $b eq $x ? $a : ();
		}
	}
	return keys %seen;
}

# Do people keep two sets of rows apart?
sub apart
{
	my ($self, $left, $right) = @_;
	my %left = map { $_ => 1 } $self->tied(@$left);
	my %right = map { $_ => 1 } $self->tied(@$right);

	for my $pair (grep { !$self->{decision}{$_} } keys %{ $self->{decision} })
	{
		my ($a, $b) = split / /, $pair;
		return 1 if ($left{$a} && $right{$b}) || ($left{$b} && $right{$a});
	}
	return 0;
}

sub open_group
{
	my ($self, $x) = @_;
	my $old = $self->{row}{$x}{brought};
	my $id = defined $old && !$self->{leader}{$old} ? $old : ++$self->{id};

	delete $self->{into}{$id};
	$self->{leader}{$id} = $x;
	$self->join_group($x, $id);
	return;
}

sub join_group
{
	my ($self, $x, $id) = @_;

	@{ $self->{row}{$x} }{qw(id brought)} = ($id, undef);
	return;
}

sub merge
{
	my ($self, $x, $y) = @_;
	my ($into, $from) = sort { $a <=> $b } $x, $y;

	for my $key ($self->rows_of($from))
	{
		$self->{row}{$key}{brought} //= $from;
		$self->{row}{$key}{id} = $into;
	}
	delete $self->{leader}{$from};
	$self->{into}{$from} = $into;
	return $into;
}

# The group that an id leads to, if it is there.
sub way_of
{
	my ($self, $id) = @_;

	$id = $self->{into}{$id} while defined $self->{into}{$id};
	return $id;
}

# A row came out of a group into this one. An ended id that led to that group
# follows the last of its rows.
sub follow
{
	my ($self, $x, $from, $brought) = @_;
	my $id = $self->{row}{$x}{id};

	return unless defined $brought && defined $self->{into}{$brought} && $self->way_of($brought) == $from;
	$self->{into}{$brought} = $id unless first { ($self->{row}{$_}{brought} // 0) == $brought } $self->rows_of($from);
	return;
}

# Rows that are out of a group come again.
sub arrive_from
{
	my ($self, $from, @keys) = @_;

	for my $key (@keys)
	{
		my $brought = $self->{row}{$key}{brought};

		$self->arrive($key);
		$self->follow($key, $from, $brought);
	}
	return;
}

# The groups that a row would come into, the best one first.
sub candidates
{
	my ($self, $x, @ids) = @_;
	my %distance;

	return grep { my $id = $_; first { $_ ne $x && $self->is_near($x, $_) } $self->rows_of($id) } sort { $a <=> $b } @ids
	  if $self->{method} eq 'connected';
	%distance = map { $_ => distance($self->{row}{$x}{fp}, $self->{row}{ $self->{leader}{$_} }{fp}) } @ids;
	return sort { $distance{$a} <=> $distance{$b} || $a <=> $b } grep { $distance{$_} <= $self->{k} } @ids;
}

# A row comes. If it is tied to several groups, they become one. Of rows told
# apart that have met by that, the younger one goes.
sub arrive
{
	my ($self, $x) = @_;
	my %tied = map { $_ => 1 } grep { defined } map { $self->{row}{$_}{id} } grep { $_ ne $x } $self->tied($x);
	my @tied = sort { $a <=> $b } keys %tied;
	my $id = shift @tied;

	$id = $self->merge($id, $_) for @tied;
	if (defined $id)
	{
		$self->join_group($x, $id);
		# a regroup comes to the rows told apart one decision after the other
		$self->separate($id) unless $self->{regroups};
		$id = $self->{row}{$x}{id};
	}
	for my $other ($self->candidates($x, keys %{ $self->{leader} }))
	{
		last if defined $id && $self->{method} eq 'leader';
		next if defined $id && $other == $id;
		next if $self->apart([ $x, defined $id ? $self->rows_of($id) : () ], [ $self->rows_of($other) ]);
		if (defined $id) { $id = $self->merge($id, $other); }
		else { $self->join_group($x, $id = $other); }
	}
	$self->open_group($x) unless defined $id;
	return;
}

# Rows leave, and their group has what it needs before they come elsewhere.
sub leave
{
	my ($self, $id, @keys) = @_;
	my %goes = map { $_ => 1 } @keys;
	my $led = $goes{ $self->{leader}{$id} };

	$self->{row}{$_}{id} = undef for @keys;
	my @stay = $self->rows_of($id);
	if (!@stay)
	{
		delete $self->{leader}{$id};
		return;
	}
	$self->{leader}{$id} = $stay[0] if $led;
	return $self->recompute($id) if $self->{method} eq 'connected';
	return unless $led;
	my %tied = map { $_ => 1 } $self->tied($stay[0]);
	my @stray = grep { !$tied{$_} && !$self->is_near($_, $stay[0]) } @stay;
	$self->{row}{$_}{id} = undef for @stray;
	$self->arrive_from($id, @stray);
	return;
}

# All rows of these groups come again, among themselves.
sub recompute
{
	my ($self, @old) = @_;
	my @rows = $self->rows_of(@old);
	my %before = map { $_ => { %{ $self->{row}{$_} } } } @rows;
	my $scope = Model->new(%$self{qw(k method)});

	$scope->{decision} = $self->{decision};
	$scope->{row}{$_} = { %{ $before{$_} }, id => undef, brought => undef } for @rows;
	$scope->arrive($_) for @rows;
	my %id;    # of each part
	for my $old (sort { $a <=> $b } @old)
	{
		my $oldest = first { $before{$_}{id} == $old } @rows;
		my $part = $scope->{row}{$oldest}{id};

		delete $self->{leader}{$old};
		$self->{into}{$old} = $id{$part} if defined $id{$part};
		$id{$part} //= $old;
	}
	my %kept = map { $_ => 1 } values %id;
	for my $key (@rows)
	{
		my $part = $scope->{row}{$key}{id};
		next if defined $id{$part};
		my $old = first { !$self->{leader}{$_} && !$kept{$_} } grep { defined } map { $before{$_}{brought} } $scope->rows_of($part);
		$id{$part} = $old // ++$self->{id};
		$kept{ $id{$part} } = 1;
		delete $self->{into}{ $id{$part} };
	}
	for my $key (@rows)
	{
		my $row = $self->{row}{$key};

		$row->{id} = $id{ $scope->{row}{$key}{id} };
		$self->{leader}{ $row->{id} } //= ($scope->rows_of($scope->{row}{$key}{id}))[0];
		$row->{brought} //= $before{$key}{id} if !$kept{ $before{$key}{id} };
		$row->{brought} = undef if defined $row->{brought} && $row->{brought} == $row->{id};
	}
	# an id that ended before leads to where its oldest row is
	my %here = map { $_ => 1 } values %id;
	my (%oldest, %to);
	$oldest{ $self->{row}{$_}{brought} } //= $self->{row}{$_}{id} for grep { defined $self->{row}{$_}{brought} } @rows;
	$to{$_} = $oldest{$_} for grep { defined $self->{into}{$_} && $here{ $self->way_of($_) } } keys %oldest;
	$self->{into}{$_} = $to{$_} for keys %to;
	return;
}

# All rows come, then decisions count, in this order.
sub regroup
{
	my ($self, @decisions) = @_;
	my $row = $self->{row};

	@$self{qw(leader into decision regroups)} = ({}, {}, {}, 1);
	@$_{qw(id brought)} = () for values %$row;
	$self->arrive($_) for sort { $row->{$a}{age} <=> $row->{$b}{age} } keys %$row;
	$self->{decision}{"$_->[0] $_->[1]"} = $_->[2] for @decisions;
	for my $decision (sort { $b->[2] <=> $a->[2] } grep { $row->{ $_->[0] } && $row->{ $_->[1] } } @decisions)
	{
		my ($x, $y) = sort { $row->{$a}{age} <=> $row->{$b}{age} } @$decision[ 0, 1 ];
		my $together = $row->{$x}{id} == $row->{$y}{id};

		$self->merge($row->{$x}{id}, $row->{$y}{id}) if $decision->[2] && !$together;
		$self->send_away($y) if !$decision->[2] && $together;
	}
	return;
}

# --- what users do

sub insert
{
	my ($self, $x, $fp) = @_;

	$self->{row}{$x} = { fp => $fp, age => ++$self->{age} };
	$self->arrive($x);
	return;
}

sub remove
{
	my ($self, $x) = @_;

	$self->{last}{$x} = $self->{row}{$x}{id};
	$self->leave($self->{row}{$x}{id}, $x);
	delete $self->{row}{$x};
	return;
}

sub change
{
	my ($self, $x, $fp) = @_;
	my $row = $self->{row}{$x};
	my $id = $row->{id};
	my @others = grep { $_ ne $x } $self->rows_of($id);
	my %tied = map { $_ => 1 } $self->tied($x);

	return if $row->{fp} == $fp;
	$row->{fp} = $fp;
	return unless @others || $self->{method} eq 'connected';
	return if $self->{method} eq 'leader'
	  && (first { $tied{$_} } @others or $self->{leader}{$id} ne $x && $self->is_near($x, $self->{leader}{$id}));
	$self->leave($id, $x);
	$row->{brought} = $id unless @others;
	$self->arrive($x);
	return;
}

sub rename_key
{
	my ($self, $x, $y) = @_;

	$self->{row}{$y} = delete $self->{row}{$x};
	$self->{last}{$x} = $self->{row}{$y}{id};
	$_ = $_ eq $x ? $y : $_ for values %{ $self->{leader} };
	for my $pair (keys %{ $self->{decision} })
	{
		my @pair = map { $_ eq $x ? $y : $_ } split / /, $pair;
		my $verdict = delete $self->{decision}{$pair};
		$self->{decision}{ join ' ', sort { $a <=> $b } @pair } = $verdict;
	}
	return;
}

# All keys that decisions tie to this one, whether their rows are there or not.
sub meant
{
	my ($self, $x) = @_;
	my $all = Model->new(decision => $self->{decision});

	$all->{decision} = $self->{decision};
	$all->{row}{$_} = {} for map { split / / } keys %{ $self->{decision} };
	return $all->tied($x);
}

# False if the decision contradicts others.
sub decide
{
	my ($self, $x, $y, $same) = @_;
	my $pair = join ' ', sort { $a <=> $b } $x, $y;
	my $old = $self->{decision}{$pair};
	my %decision = %{ $self->{decision} };

	return 1 if defined $old && $old == $same;
	delete $self->{decision}{$pair};
	my %left = map { $_ => 1 } $self->meant($x);
	my %right = map { $_ => 1 } $self->meant($y);
	my $against = $same
	  ? first { my ($a, $b) = split / /; !$self->{decision}{$_} && ($left{$a} && $right{$b} || $left{$b} && $right{$a}) } keys %{ $self->{decision} }
	  : $left{$y};
	$self->{decision} = \%decision;
	return 0 if $against;
	$self->undecide($x, $y) if defined $old;
	$self->{decision}{$pair} = $same;
	return 1 unless $self->{row}{$x} && $self->{row}{$y};

	my ($id, $other) = map { $self->{row}{$_}{id} } $x, $y;
	return 1 if $same ? $id == $other : $id != $other;
	$id = $self->merge($id, $other) if $same;
	$self->separate($id);
	return 1;
}

# Of rows in one group that were told apart, the younger one goes.
sub separate
{
	my ($self, $id) = @_;

	for my $key ($self->rows_of($id))
	{
		next if $self->{row}{$key}{id} != $id;
		my @older = grep { $self->{row}{$_}{age} < $self->{row}{$key}{age} } $self->rows_of($id);
		$self->send_away($key) if first { !($self->{decision}{ join ' ', sort { $a <=> $b } $key, $_ } // 1) } @older;
	}
	return;
}

# A row leaves with those tied to it, and they come again.
sub send_away
{
	my ($self, $x) = @_;
	my $row = $self->{row};
	my @keys = sort { $row->{$a}{age} <=> $row->{$b}{age} } $self->tied($x);

	my $id = $row->{$x}{id};

	$self->leave($id, @keys);
	$self->arrive_from($id, @keys);
	return;
}

sub undecide
{
	my ($self, $x, $y) = @_;
	# a row that is gone was in a group before
	my @last = map { $self->way_of($_) } grep { defined } map { $self->{last}{$_} } grep { !$self->{row}{$_} } $x, $y;
	my %id = map { $_ => 1 } grep({ $self->{leader}{$_} } @last), map { $self->{row}{$_}{id} } grep { $self->{row}{$_} } $x, $y;

	delete $self->{decision}{ join ' ', sort { $a <=> $b } $x, $y };
	$self->recompute(keys %id) if %id;
	return;
}

sub truncate
{
	my ($self) = @_;

	@$self{qw(row leader into decision last)} = ({}, {}, {}, {}, {});
	return;
}

package main;

my $node = PostgreSQL::Test::Cluster->new('groups_oracle');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "deadlock_timeout = '10ms'\nautovacuum = off\nfsync = off\njit = off");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
-- on a few lines, n bits from their beginnings: rows n and m are |n - m| apart
CREATE FUNCTION fp(line int, n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN ((line * 1152921504606846976) # ((1::bigint << n) - 1))::simhash64;
SQL

my $k = 3;

# A grouped table whose fingerprints the test writes.
sub make_table
{
	my ($table, $method, $key, $rest) = (@_, 'PRIMARY KEY', '');

	$node->safe_psql('postgres', <<SQL);
CREATE TABLE $table (id int $key, body text)$rest;
SELECT simdup_attach('$table', 'body', action => 'group', max_distance => $k, method => '$method', key => 'id');
DROP TRIGGER simdup_1_fingerprint ON $table;
SQL
	return;
}

# --- steps: SQL, and what it does to the model

sub random_fp
{
	my ($line, $n) = map { int rand $_ } 4, 14;

	return ("fp($line, $n)", ($line << 60) ^ ((1 << $n) - 1));
}

sub one_of { return $_[ int rand @_ ]; }

sub random_step
{
	my ($table, $fps, $model, $decides) = @_;
	my @keys = sort { $a <=> $b } keys %$fps;
	my ($x, $y) = (one_of(@keys), one_of(@keys));
	my ($sql, $fp) = random_fp();
	my $chance = rand 100;

	if (@keys < 2 || $chance < (@keys < 40 ? 40 : 20))
	{
		my $new = first { !exists $fps->{$_} } map { 1 + int rand 90 } 1 .. 1000;
		my $is_null = rand() < 0.05;

		$fps->{$new} = $is_null ? undef : $fp;
		$model->insert($new, $fp) unless $is_null;
		return sprintf 'INSERT INTO %s (id, simdup_fp) VALUES (%d, %s)', $table, $new, $is_null ? 'NULL' : $sql;
	}
	if ($chance < 60)
	{
		$model->remove($x) if defined $fps->{$x};
		delete $fps->{$x};
		return "DELETE FROM $table WHERE id = $x";
	}
	if ($chance < 62)
	{
		my $new = first { !exists $fps->{$_} } map { 1 + int rand 90 } 1 .. 1000;

		$model->rename_key($x, $new) if defined $fps->{$x};
		$fps->{$new} = delete $fps->{$x};
		return "UPDATE $table SET id = $new WHERE id = $x";
	}
	if ($chance < 65)
	{
		$model->remove($x) if defined $fps->{$x};
		$fps->{$x} = undef;
		return "UPDATE $table SET simdup_fp = NULL, body = 'none' WHERE id = $x";
	}
	if ($chance < 65.3)
	{
		$model->truncate;
		%$fps = ();
		return "TRUNCATE $table";
	}
	if ($chance < 85 || !$decides)
	{
		defined $fps->{$x} ? $model->change($x, $fp) : $model->insert($x, $fp);
		$fps->{$x} = $fp;
		return "UPDATE $table SET simdup_fp = $sql WHERE id = $x";
	}
	return random_decision($table, $model, $x, $y);
}

sub random_decision
{
	my ($table, $model, $x, $y) = @_;
	my $pair = one_of(sort keys %{ $model->{decision} });

	$y = one_of(grep { $_ ne $x } $model->rows_of($model->{row}{$x}{id})) // $y if $model->{row}{$x} && rand() < 0.5;
	if ($pair && rand() < 0.4)
	{
		($x, $y) = split / /, $pair;
		$model->undecide($x, $y);
		return "SELECT simdup_undecide('$table', $x, $y)";
	}
	my $same = int rand 2;
	my $fits = $x != $y && $model->decide($x, $y, $same);
	return ($fits ? '' : '/* refused */ ') . "SELECT simdup_decide('$table', $x, $y, ${same}::boolean)";
}

# --- the state, as one line for each of its parts

sub state_queries
{
	my ($table) = @_;

	return <<SQL;
SELECT 'column ' || coalesce(string_agg(id || ':' || simdup_group, ' ' ORDER BY id), '') FROM $table WHERE simdup_group IS NOT NULL;
SELECT 'members ' || coalesce(string_agg(key || ':' || id, ' ' ORDER BY key), '') FROM ${table}_simdup_members;
SELECT 'leaders ' || coalesce(string_agg(representative || ':' || id, ' ' ORDER BY id), '') FROM ${table}_simdup_groups;
SELECT 'redirects ' || coalesce(string_agg(into_id || ':' || id, ' ' ORDER BY id), '') FROM ${table}_simdup_redirects;
SELECT 'decisions ' || coalesce(string_agg(concat_ws(' ', a, b, same::int), ',' ORDER BY a, b), '') FROM ${table}_simdup_decisions;
SELECT concat_ws(' ', 'event', kind, coalesce(id, 0), coalesce(key, 0), coalesce(other, 0)) FROM ${table}_simdup_events WHERE event > :last ORDER BY event;
SELECT coalesce(max(event), :last) AS last FROM ${table}_simdup_events \\gset
SQL
}

# Apply an event to a map of keys to ids.
sub replay
{
	my ($map, $kind, $id, $key, $other) = @_;

	if ($kind =~ /^(opened|joined|split|returned)$/) { $map->{$key} = $id; }
	elsif ($kind eq 'left') { delete $map->{$key}; }
	elsif ($kind eq 'merged') { $_ = $_ == $id ? $other : $_ for values %$map; }
	elsif ($kind eq 'truncated') { %$map = (); }
	return;
}

# What the model has, with the table's ids. known maps the model's ids to them.
sub expected
{
	my ($model, $known) = @_;
	my $row = $model->{row};
	my $id = sub { $known->{ $_[0] } // "new$_[0]" };
	my $members = join ' ', map { "$_:" . $id->($row->{$_}{id}) } sort { $a <=> $b } keys %$row;
	my @leaders = map { [ $model->{leader}{$_}, $id->($_) ] } keys %{ $model->{leader} };
	my @redirects = map { [ $id->($model->{into}{$_}), $id->($_) ] } grep { $known->{$_} } keys %{ $model->{into} };
	my %expected = (column => $members, members => $members);

	$expected{leaders} = join ' ', map { join ':', @$_ } sort { $a->[1] <=> $b->[1] } @leaders if $members !~ /new/;
	$expected{redirects} = join ' ', map { join ':', @$_ } sort { $a->[1] <=> $b->[1] } @redirects;
	$expected{decisions} = join ',', map { join ' ', @$_ }
	  sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } map { [ split(/ /, $_), $model->{decision}{$_} ] } keys %{ $model->{decision} };
	return \%expected;
}

# Match the new ids of the model with the new ids of the table, in the order in
# which they were given. Some have ended already.
sub learn_ids
{
	my ($model, $known, $got) = @_;
	my ($last, $newest) = map { max(0, $_->($known)) } sub { keys %{ $_[0] } }, sub { values %{ $_[0] } };
	my %given = map { $_ => 1 } grep { $_ > $last } map({ $_->{id} } values %{ $model->{row} }), keys %{ $model->{into} };
	my %seen = map { $_ => 1 } grep { $_ > $newest } ($got->{members} // '') =~ /:(\d+)/g, ($got->{redirects} // '') =~ /:(\d+)/g;
	my @given = sort { $a <=> $b } keys %given;
	my @seen = sort { $a <=> $b } keys %seen;

	@$known{@given} = @seen if @given == @seen;
	return;
}

sub run_sequence
{
	my ($method, $seed, $n, $decides) = @_;
	my $table = "t_${method}_$seed";
	my $model = Model->new(k => $k, method => $method);
	my (%fps, @steps, @models, $stdout, $stderr);

	srand $seed;
	make_table($table, $method);
	my $script = "\\set last 0\n";
	for my $step (1 .. $n)
	{
		my $sql = random_step($table, \%fps, $model, $decides);

		push @steps, $sql;
		push @models, Storable::dclone($model);
		$script .= "$sql;\n\\echo step :ERROR\n" . state_queries($table) . "\\echo end\n";
	}
	$node->psql('postgres', $script, stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	my @answers = $stdout =~ /^step (.*?)^end$/msg;
	is(scalar @answers, $n, "$method, seed $seed: all steps are answered") or diag($stderr);

	my (%known, %replayed);
	for my $step (0 .. $#answers)
	{
		my %got = $answers[$step] =~ /^(column|members|leaders|redirects|decisions) (.*)$/mg;
		my ($failed) = $answers[$step] =~ /\A(\w+)/;

		replay(\%replayed, split / /) for $answers[$step] =~ /^event (.*)$/mg;
		$got{replayed} = join ' ', map { "$_:$replayed{$_}" } sort { $a <=> $b } keys %replayed;
		learn_ids($models[$step], \%known, \%got);
		my $expected = expected($models[$step], \%known);
		$got{failed} = $failed;
		$expected->{failed} = $steps[$step] =~ /refused/ ? 'true' : 'false';
		$expected->{replayed} = $got{members};
		my @wrong = grep { ($got{$_} // '') ne $expected->{$_} } sort keys %$expected;
		next unless @wrong;
		fail("$method, seed $seed, step $step: $steps[$step]");
		diag(map { "$_\n  is      " . ($got{$_} // '') . "\n  not     $expected->{$_}\n" } @wrong);
		diag("before: @{[ $step ? ($answers[$step - 1] =~ /^members (.*)$/m)[0] : '' ]}");
		diag(join "\n", 'the last steps:', @steps[ max(0, $step - 5) .. $step ]);
		diag(join "\n", $answers[$step] =~ /^(event .*)$/mg);
		return;
	}
	pass("$method, seed $seed: $n steps, the same groups, ids and events after each");
	check_regroup($table, $model, "$method, seed $seed") if $decides;
	return;
}

# All groups anew, with what people have decided by now.
sub check_regroup
{
	my ($table, $model, $name) = @_;
	my @decisions = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', <<SQL);
SELECT a, b, same::int FROM ${table}_simdup_decisions AS d LEFT JOIN ${table}_simdup_members AS x ON x.key = a LEFT JOIN ${table}_simdup_members AS y ON y.key = b
ORDER BY decided_at, x.age, y.age
SQL

	$model->regroup(@decisions);
	my $leader = $model->{leader};
	my @groups = map { "$leader->{$_}: " . join ' ', sort { $a <=> $b } $model->rows_of($_) } sort { $leader->{$a} <=> $leader->{$b} } keys %$leader;
	is($node->safe_psql('postgres', <<SQL), join("\n", @groups), "$name: regrouped, with @{[ scalar @decisions ]} decisions");
SELECT FROM simdup_regroup('$table') WHERE key IS NULL;
SELECT representative || ': ' || string_agg(key::text, ' ' ORDER BY key) FROM ${table}_simdup_groups JOIN ${table}_simdup_members USING (id) GROUP BY representative ORDER BY representative
SQL
	return;
}

# --- eight sessions at once

# Every table must pass these checks. Events replayed give the members. The
# members are the rows with a fingerprint. Each is near the representative of its
# group, and a representative is a row of its group.
sub check_table
{
	my ($table, $method, $name) = @_;
	my %replayed;

	replay(\%replayed, split /\|/) for split /\n/, $node->safe_psql('postgres', <<SQL);
SELECT kind, coalesce(id, 0), coalesce(key, 0), coalesce(other, 0) FROM ${table}_simdup_events ORDER BY event
SQL
	is(join(' ', map { "$_:$replayed{$_}" } sort { $a <=> $b } keys %replayed),
		$node->safe_psql('postgres', "SELECT string_agg(key || ':' || id, ' ' ORDER BY key) FROM ${table}_simdup_members"),
		"$name: the events replayed give the members");
	is($node->safe_psql('postgres', <<SQL), '', "$name: members are the rows with a fingerprint");
SELECT t.id, t.simdup_group, m.key, m.id FROM $table AS t FULL JOIN ${table}_simdup_members AS m ON m.key = t.id
WHERE t.simdup_group IS DISTINCT FROM m.id OR (t.simdup_fp IS NULL) <> (m.key IS NULL)
SQL
	is($node->safe_psql('postgres', <<SQL), '', "$name: a representative is a row of its group");
SELECT g.id, g.representative, t.simdup_group FROM ${table}_simdup_groups AS g LEFT JOIN $table AS t ON t.id = g.representative
WHERE t.simdup_group IS DISTINCT FROM g.id OR t.simdup_fp <> g.simdup_fp
SQL
	is($node->safe_psql('postgres', <<SQL), '', "$name: every row is near its representative") if $method eq 'leader';
SELECT t.id, t.simdup_group FROM $table AS t LEFT JOIN ${table}_simdup_groups AS g ON g.id = t.simdup_group
WHERE t.simdup_fp IS NOT NULL AND (t.simdup_fp <~> g.simdup_fp <= $k) IS NOT TRUE
SQL
	is($node->safe_psql('postgres', <<SQL), '', "$name: the groups are the components") if $method eq 'connected';
SELECT key, cluster FROM simdup_clusters('SELECT id, simdup_fp FROM $table ORDER BY id', $k, 'connected', 1) AS c
JOIN $table AS t ON t.id = c.key JOIN $table AS f ON f.id = c.cluster WHERE t.simdup_group <> f.simdup_group
UNION ALL
SELECT min(cluster), count(DISTINCT cluster) FROM simdup_clusters('SELECT id, simdup_fp FROM $table ORDER BY id', $k, 'connected', 1) AS c
JOIN $table AS t ON t.id = c.key GROUP BY t.simdup_group HAVING count(DISTINCT cluster) > 1
SQL
	return;
}

my $row = '(:id, fp(:line, :n))';
my %scripts = (
	insert => "INSERT INTO TABLE (id, simdup_fp) VALUES $row ON CONFLICT DO NOTHING;",
	several => "INSERT INTO TABLE (id, simdup_fp) SELECT i, fp(i % 4, i % 14) FROM generate_series(:id, :id + 3) AS i ON CONFLICT DO NOTHING;",
	upsert => "INSERT INTO TABLE (id, simdup_fp) VALUES $row ON CONFLICT (id) DO UPDATE SET simdup_fp = excluded.simdup_fp;",
	update => 'UPDATE TABLE SET simdup_fp = fp(:line, :n) WHERE id = :id;',
	null => 'UPDATE TABLE SET simdup_fp = NULL WHERE id = :id;',
	key => "UPDATE TABLE SET id = 1000 + nextval('fresh') WHERE id = :id;",
	delete => 'DELETE FROM TABLE WHERE id = :id;',
	deletes => 'DELETE FROM TABLE WHERE id BETWEEN :id AND :id + 3;',
	updates => 'UPDATE TABLE SET simdup_fp = fp(:line, (:n + id) % 14) WHERE id BETWEEN :id AND :id + 3;',
	two => "BEGIN; INSERT INTO TABLE (id, simdup_fp) VALUES $row ON CONFLICT DO NOTHING; DELETE FROM TABLE WHERE id = :id + 1; COMMIT;",
	undo => "BEGIN; INSERT INTO TABLE (id, simdup_fp) VALUES $row ON CONFLICT DO NOTHING; SAVEPOINT s; DELETE FROM TABLE WHERE id = :id + 1;"
	  . ' ROLLBACK TO s; UPDATE TABLE SET simdup_fp = fp(:line, 0) WHERE id = :id + 2; ROLLBACK;');

# Deadlocks are retried. Any other error ends a client, and so pgbench.
sub storm
{
	my ($table, $transactions, %weights) = @_;
	my @files;

	for my $name (sort keys %weights)
	{
		my $file = PostgreSQL::Test::Utils::tempdir() . "/$table.$name.sql";

		append_to_file($file, "\\set id random(1, 120)\n\\set line random(0, 3)\n\\set n random(0, 13)\n"
			  . ($scripts{$name} =~ s/TABLE/$table/gr =~ s/; /;\n/gr) . "\n");
		push @files, '-f', "$file\@$weights{$name}";
	}
	IPC::Run::run(
		[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, @files, '-c', 8, '-j', 2, '-t', $transactions,
		  '--max-tries=1000', '--random-seed=16', 'postgres' ],
		'>', \my $stdout, '2>', \my $stderr);
	is($? ? $stderr : '', '', "$table: eight sessions");
	return;
}

sub run_storms
{
	my ($method) = @_;
	my $table = "storm_$method";

	make_table($table, $method);
	# rows that only come: of two near ones, one sees the other
	storm($table, 40, insert => 3, several => 1, undo => 1);
	check_table($table, $method, "$table, rows come");
	is($node->safe_psql('postgres', <<SQL), '', "$table: no two representatives are near");
SELECT a.id, b.id FROM ${table}_simdup_groups AS a JOIN ${table}_simdup_groups AS b ON a.id < b.id AND a.simdup_fp <~> b.simdup_fp <= $k
SQL
	storm($table, 100, insert => 4, several => 1, upsert => 2, update => 3, null => 1, key => 1, delete => 3, deletes => 1, updates => 1, two => 2, undo => 1);
	check_table($table, $method, $table);
	return;
}

# --- statements of many rows, whose order is the server's; one session

my @bulk = (
	'INSERT INTO TABLE (id, simdup_fp) SELECT i, fp(i % 4, i * 5 % 14) FROM generate_series(ID, ID + 9) AS i WHERE NOT EXISTS (SELECT FROM TABLE WHERE id = i)',
	'DELETE FROM TABLE WHERE id % 7 = ID % 7',
	'DELETE FROM TABLE WHERE simdup_group = (SELECT simdup_group FROM TABLE ORDER BY id % (ID + 2), id LIMIT 1)',
	'DELETE FROM TABLE WHERE id IN (SELECT representative FROM TABLE_simdup_groups WHERE id % 3 = ID % 3)',
	'UPDATE TABLE SET simdup_fp = fp(id % 4, (id + ID) % 14) WHERE id % 5 = ID % 5',
	'UPDATE TABLE SET simdup_fp = NULL WHERE id % 11 = ID % 11',
	'UPDATE TABLE SET simdup_fp = fp(1, ID % 14) WHERE simdup_fp IS NULL',
	'UPDATE TABLE SET id = id + 1 WHERE id > ID',
	'UPDATE TABLE SET id = CASE id WHEN ID THEN ID + 1 ELSE ID END WHERE id IN (ID, ID + 1)',
	'UPDATE TABLE SET id = id + 1000, simdup_fp = fp(2, id % 14) WHERE id BETWEEN ID AND ID + 3 AND id < 900',
	'UPDATE TABLE SET simdup_group = ID',
	'MERGE INTO TABLE AS t USING generate_series(ID, ID + 5) AS i ON t.id = i WHEN MATCHED AND i % 2 = 0 THEN DELETE'
	  . ' WHEN MATCHED THEN UPDATE SET simdup_fp = fp(3, i % 14) WHEN NOT MATCHED THEN INSERT (id, simdup_fp) VALUES (i, fp(0, i % 14))',
	'WITH gone AS (DELETE FROM TABLE WHERE id % 13 = ID % 13 RETURNING id, simdup_fp) INSERT INTO TABLE (id, simdup_fp) SELECT id + 3000, simdup_fp FROM gone'
	  . ' WHERE NOT EXISTS (SELECT FROM TABLE AS t WHERE t.id = gone.id + 3000)',
	'BEGIN; SAVEPOINT s; DELETE FROM TABLE WHERE id % 2 = 0; ROLLBACK TO s; DELETE FROM TABLE WHERE id % 9 = ID % 9; COMMIT');

# Whole groups have neither key while the first of their rows goes.
my $last_bulk =
	'UPDATE TABLE SET id = id + 2000, simdup_fp = CASE WHEN id IN (SELECT representative FROM TABLE_simdup_groups)'
	  . ' THEN NULL ELSE simdup_fp END WHERE id < 900';

sub random_bulk
{
	my ($table, $statement) = @_;
	my $id = int rand 60;

	return $statement =~ s/TABLE/$table/gr =~ s/\bID\b/$id/gr;
}

sub run_bulk
{
	my ($name, $table, $method, $seed, @make) = @_;

	srand $seed;
	make_table($table, $method, @make);
	$node->safe_psql('postgres', $make[2]) if $make[2];
	for my $round (1 .. 3)
	{
		my @statements = map { random_bulk($table, $_) } @bulk[ 0, 0 ], map({ one_of(@bulk) } 1 .. 9), $last_bulk;
		my ($stdout, $stderr);

		$node->psql('postgres', join(";\n", @statements), stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
		unlike($stderr, qr/ERROR:  (?!duplicate key value)/, "$name, round $round: no error but of a key that is there") or diag(join "\n", @statements);
		my $failed = grep { !$_ } Test::More->builder->summary;
		check_table($table, $method, "$name, round $round");
		if ($failed != grep { !$_ } Test::More->builder->summary)
		{
			diag(join "\n", @statements);
			return;
		}
	}
	return;
}

# --- data sets that chain: clusters of connected rows swallow them

my %monsters = (
	# each row is near the one before
	walk => 'SELECT i, fp(i / 60 % 8, i % 60) FROM generate_series(1, 1000) AS i',
	# rows all around a few centers, up to twice as far apart as from them
	stars => 'SELECT i, (((i % 5) * 1152921504606846976) # (1::bigint << (i % 47)) # (1::bigint << (i % 53)) # (1::bigint << (i % 59)))::simhash64 FROM generate_series(1, 1000) AS i',
	# a dense cube: most of the bits are the same in all rows
	cube => 'SELECT i, (hashint8extended(i, 16) & 16383)::simhash64 FROM generate_series(1, 1000) AS i');

sub run_monsters
{
	for my $name (sort keys %monsters)
	{
		my $table = "monster_$name";

		make_table($table, 'leader');
		$node->safe_psql('postgres', "INSERT INTO $table (id, simdup_fp) $monsters{$name}; DELETE FROM $table WHERE id % 3 = 1");
		check_table($table, 'leader', $table);
		cmp_ok($node->safe_psql('postgres', <<SQL), '>', 1, "$table: connected clusters reach beyond, several groups to the largest");
SET client_min_messages = error;
SELECT count(DISTINCT t.simdup_group) FROM $table AS t JOIN (
  SELECT key, rank() OVER (ORDER BY size DESC, cluster) FROM simdup_clusters('SELECT id, simdup_fp FROM $table ORDER BY id', $k, 'connected')) AS c
  ON c.key = t.id AND rank = 1
SQL
	}
	return;
}

$node->safe_psql('postgres', 'CREATE SEQUENCE fresh');
my $decides = $node->safe_psql('postgres', "SELECT count(*) > 0 FROM pg_proc WHERE proname = 'simdup_decide'") eq 't';
run_sequence('leader', $_, 250, 0) for 1 .. ($decides ? 2 : 8);
if ($decides)
{
	run_sequence('connected', $_, 250, 0) for 11, 12;
	run_sequence('leader', $_, 250, 1) for 21, 22;
	run_sequence('connected', $_, 250, 1) for 31, 34;
	run_storms('connected');
}
run_storms('leader');
my $parted = <<'SQL';
CREATE TABLE parted_a PARTITION OF parted FOR VALUES FROM (0) TO (25);
CREATE TABLE parted_b PARTITION OF parted FOR VALUES FROM (25) TO (1000);
CREATE TABLE parted_rest PARTITION OF parted DEFAULT;
SQL
for my $method ('leader', 'connected')
{
	run_bulk("many rows, $method", "bulk_$method", $method, 1, 'NOT NULL UNIQUE DEFERRABLE', '', '');
	run_bulk("partitions, $method", "parted_$method", $method, 2, 'NOT NULL UNIQUE DEFERRABLE', ' PARTITION BY RANGE (id)', $parted =~ s/parted/parted_$method/gr);
}
run_monsters();

$node->stop;
done_testing();

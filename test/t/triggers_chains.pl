# triggers_chains: flags by random histories of statements, against a model that
# shares no code with the triggers. Flags make no loops, and each family of repeats
# keeps its original. Keys rise or are random, rows move between partitions, and two
# triggers flag, one of them by a condition.

use strict;
use warnings;
no warnings qw(portable);

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $histories = $whole ? 2000 : 200;
my $statements = 25;
my $distance = 3;

my $node = PostgreSQL::Test::Cluster->new('triggers_chains');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off\n");
$node->start;

# The server chooses the order in which a statement writes its rows. A trigger that
# fires first notes it.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION simdup;
CREATE TABLE whole (id int, region text, place text, fp simhash64, near int, same int, PRIMARY KEY (id));
CREATE TABLE parted (id int, region text, place text, fp simhash64, near int, same int, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
CREATE TABLE parted_n PARTITION OF parted FOR VALUES IN ('n');
CREATE TABLE parted_s (same int, near int, fp simhash64, place text, region text NOT NULL, id int NOT NULL);
ALTER TABLE parted ATTACH PARTITION parted_s FOR VALUES IN ('s');
CREATE TABLE events (n serial, event text, id int);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN INSERT INTO events (event, id) VALUES (TG_OP, NEW.id); RETURN NEW; END \$\$;
CREATE PROCEDURE set_up(t regclass) LANGUAGE plpgsql AS \$\$
BEGIN
  EXECUTE format('CREATE INDEX ON %s USING hamming (fp)', t);
  EXECUTE format('CREATE FUNCTION same_place(a %s, b %1\$s) RETURNS boolean LANGUAGE sql AS ''SELECT a.place = b.place''', t);
  EXECUTE format('CREATE TRIGGER a BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION note()', t);
  EXECUTE format('CREATE TRIGGER b BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION
    simdup_flag_trigger(''near'', ''key => id'', ''max_distance => $distance'')', t);
  EXECUTE format('CREATE TRIGGER c BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION
    simdup_flag_trigger(''same'', ''key => id'', ''max_distance => $distance'', ''condition => same_place'', ''columns => place'')', t);
END \$\$;
CALL set_up('whole');
CALL set_up('parted');
SQL

# --- the model: a hash of rows by key

sub bits
{
	my ($x) = @_;

	return unpack '%32b*', pack 'Q', $x;
}

# Whether the chain of flags from a row leads to one of these keys.
sub leads_to
{
	my ($rows, $flag, $key, @to) = @_;
	my %seen;

	while (defined $key && !$seen{$key}++)
	{
		return 1 if grep { $_ == $key } @to;
		$key = $rows->{$key} && $rows->{$key}{$flag};
	}
	return 0;
}

# The flag of a row: the key of the nearest other one, unless its chain leads here.
sub flag_of
{
	my ($rows, $flag, $row, @self) = @_;

	return undef if !defined $row->{fp};
	my @near = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] }
	  grep { $_->[0] <= $distance }
	  map { [ bits($rows->{$_}{fp} ^ $row->{fp}), $_ ] }
	  grep { my $key = $_; defined $rows->{$key}{fp} && !grep { $_ == $key } @self }
	  keys %$rows;
	for (@near)
	{
		my $key = $_->[1];
		next if $flag eq 'same' && $rows->{$key}{place} ne $row->{place};
		next if leads_to($rows, $flag, $key, @self);
		return $key;
	}
	return undef;
}

sub arrive
{
	my ($rows, $row) = @_;

	# one after the other: the second trigger sees the flag of the first, but does not read it
	$row->{$_} = flag_of($rows, $_, $row, $row->{id}) for 'near', 'same';
	return;
}

sub differs
{
	my ($x, $y) = @_;

	return defined $x ? !defined $y || $x ne $y : defined $y;
}

# An event of a statement: `change` makes a new row of an old one.
sub replay
{
	my ($rows, $statement, $events) = @_;
	my $pending;

	if ($statement->{delete})
	{
		delete $rows->{$_} for @{ $statement->{delete} };
		return;
	}
	while (my $event = shift @$events)
	{
		my ($kind, $id) = @$event;

		if ($kind eq 'INSERT')
		{
			my $row = { %{ $statement->{rows}{$id} } };

			arrive($rows, $row);
			if ($rows->{$id}) { $pending = $row; }    # an upsert's UPDATE follows
			else { $rows->{$id} = $row; }
			next;
		}
		my $old = $rows->{ $statement->{old_key} // $id };
		my $new = $pending ? { %$pending, region => $old->{region} } : { %$old, $statement->{change}->($old) };

		undef $pending;
		my $moves = $statement->{sql} =~ /^UPDATE parted/ && $new->{region} ne $old->{region};
		my @flags = differs($new->{fp}, $old->{fp}) ? ('near', 'same') : $new->{place} ne $old->{place} ? ('same') : ();
		$new->{$_} = flag_of($rows, $_, $new, $old->{id}, $new->{id}) for @flags;
		delete $rows->{ $old->{id} };
		if ($moves)
		{
			# the INSERT is that UPDATE
			shift @$events;
			$new->{$_} = flag_of($rows, $_, $new, $new->{id}) for @flags;
		}
		$rows->{ $new->{id} } = $new;
	}
	return;
}

# --- histories

# one of two centers, with some of six bits changed; seldom none
sub fp
{
	my $fp = one_of(0, 0x00ff00ff00ff00ff);

	return undef if rand() < 0.04;
	$fp ^= 1 << int(rand(6)) for 1 .. int(rand(3));
	return $fp;
}

sub literal
{
	my ($fp) = @_;

	return defined $fp ? sprintf "'%016x'", $fp : 'NULL::simhash64';
}

# A statement, as SQL and for the model; `keys` are those in the table.
sub statement
{
	my ($table, $keys, $rising) = @_;
	my @there = keys %$keys;
	my $any = sub { one_of(@there) };
	my $new_key = sub {
		my $key;
		return ++$$rising if defined $$rising;
		do { $key = 1 + int(rand(200)) } while exists $keys->{$key};
		return $key;
	};
	my $insert = sub {
		my ($suffix, @keys) = @_;
		my %rows = map { $_ => { id => $_, region => $keys->{$_} // one_of('n', 's'), place => one_of('x', 'y'), fp => fp() } } @keys;
		my @values = map { my $r = $rows{$_}; "($_, '$r->{region}', '$r->{place}', " . literal($r->{fp}) . ')' } @keys;

		$keys->{$_} = $rows{$_}{region} for @keys;
		return { sql => "INSERT INTO $table (id, region, place, fp) VALUES " . join(', ', @values) . $suffix, rows => \%rows };
	};
	my $update = sub {
		my ($set, $where, $change, %more) = @_;

		return { sql => "UPDATE $table SET $set WHERE $where", change => $change, %more };
	};
	my $bit = 1 << int(rand(6));
	my $flip = "fp = (fp::bigint # $bit)::simhash64";
	my $flipped = sub { my ($old) = @_; return fp => defined $old->{fp} ? $old->{fp} ^ $bit : undef };

	return $insert->('', map { my $key = $new_key->(); $keys->{$key} = undef; $key } 1 .. 1 + int(rand(4))) if @there < 5 || rand() < 0.3;
	return one_of(
		sub { my ($id, $fp) = ($any->(), fp()); $update->('fp = ' . literal($fp), "id = $id", sub { fp => $fp }) },
		sub { $update->($flip, 'true', $flipped) },
		sub { $update->($flip, 'id % 2 = 0', $flipped) },
		sub { my $id = $any->(); $update->($flip, "id = $id", $flipped) },
		sub { my ($id, $place) = ($any->(), one_of('x', 'y')); $update->("place = '$place'", "id = $id", sub { place => $place }) },
		sub { my $id = $any->(); $update->('near = NULL, same = NULL', "id = $id", sub { near => undef, same => undef }) },
		sub {
			my ($id, $region) = ($any->(), one_of('n', 's'));
			$keys->{$id} = $region;
			$update->("region = '$region', $flip", "id = $id", sub { region => $region, $flipped->(@_) });
		},
		sub {
			my $region = one_of('n', 's');
			for (@there) { $keys->{$_} = $region if $_ % 3 == 0 }
			$update->("region = '$region'", 'id % 3 = 0', sub { region => $region });
		},
		sub {
			my ($id, $key) = ($any->(), $new_key->());
			$keys->{$key} = delete $keys->{$id};
			$update->("id = $key, $flip", "id = $id", sub { id => $key, $flipped->(@_) }, old_key => $id);
		},
		sub { my $id = $any->(); delete $keys->{$id}; { sql => "DELETE FROM $table WHERE id = $id", delete => [$id] } },
		sub {
			my $target = $table eq 'whole' ? 'id' : 'region, id';
			$insert->(" ON CONFLICT ($target) DO UPDATE SET place = EXCLUDED.place, fp = EXCLUDED.fp, near = EXCLUDED.near, same = EXCLUDED.same", $any->());
		})->();
}

sub as_text
{
	my ($rows) = @_;

	return join ' ', map { my $r = $rows->{$_}; join ':', $_, map { $_ // '' } $r->{near}, $r->{same} } sort { $a <=> $b } keys %$rows;
}

my $seed = 20261125;
my @histories;
my $script = "\\set QUIET on\n";
srand($seed);
for my $n (0 .. $histories - 1)
{
	my $table = $n % 2 ? 'parted' : 'whole';
	my $rising = $n % 4 < 2 ? 0 : undef;
	my %keys;
	my @done;

	# some are one transaction each
	$script .= "TRUNCATE $table, events;\n" . ($n % 8 < 4 ? "BEGIN;\n" : '');
	for (1 .. $statements)
	{
		my $statement = statement($table, \%keys, \$rising);

		push @done, $statement;
		$script .= "DELETE FROM events;\n$statement->{sql};\nSELECT coalesce(string_agg(event || ':' || id, ' ' ORDER BY n), '') FROM events;\n"
		  . "SELECT coalesce(string_agg(concat_ws(':', id, coalesce(near::text, ''), coalesce(same::text, '')), ' ' ORDER BY id), '') FROM $table;\n";
	}
	$script .= "COMMIT;\n" if $n % 8 < 4;
	push @histories, \@done;
}
my $file = PostgreSQL::Test::Utils::tempdir() . '/histories.sql';
append_to_file($file, $script);
my (undef, $out, $err) = $node->psql('postgres', "\\i $file", on_error_stop => 1);
is($err, '', 'the statements run');
my @said = split /\n/, $out, -1;
my ($wrong, $loops, $orphans, $flags, $kept) = (0) x 5;
for my $n (0 .. $#histories)
{
	my %rows;
	my %gone;

	for my $statement (@{ $histories[$n] })
	{
		my @events = map { [ split /:/ ] } split / /, shift @said;
		my $there = shift @said;
		my %before = %rows;

		replay(\%rows, $statement, \@events);
		$gone{$_} = 1 for grep { !$rows{$_} } keys %before;
		if (as_text(\%rows) ne $there)
		{
			$wrong++;
			diag("history $n: $statement->{sql}\nmodel:  " . as_text(\%rows) . "\nserver: $there") if $wrong < 4;
			last;
		}
	}
	# what holds of the rows without the model
	for my $flag ('near', 'same')
	{
		for my $key (keys %rows)
		{
			my ($at, $steps) = ($key, 0);

			$flags++ if defined $rows{$key}{$flag};
			$at = $rows{$at}{$flag} while $rows{$at} && defined $rows{$at}{$flag} && $steps++ < 1000;
			if ($steps > 999) { $loops++ }
			elsif ($rows{$at}) { $kept++ }
			elsif (!$gone{$at}) { $orphans++ }
		}
	}
	last if $wrong;
}
is($wrong, 0, "$histories histories: the flags are the model's");
is($loops, 0, 'no flags in a loop');
is($orphans, 0, 'each flag leads to an original, or to a row that was deleted');
cmp_ok($flags, '>', 5 * $histories, "$flags flags, and $kept rows lead to an original");

$node->stop;
done_testing();

# removal: tables of random schemas, from which the statements of simdup_removal
# remove random rows. Afterwards each table has the rows that a model in memory says,
# and so have the archives.
#
# Keys have types of all kinds, names hold quotes and words of the statements. Others
# refer to the key, to another unique column, and to two columns. Partitions, link tables
# with a unique key, and the table itself refer to it. References are deferred, and have
# each action.
#
# 170 schemas in make test-all, 34 otherwise.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Helpers qw($whole one_of);
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('removal');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE SCHEMA kinds;
CREATE DOMAIN kinds.code AS char(5) CHECK (value <> 'nope');
CREATE TYPE kinds.pair AS (a int, b text);
CREATE TYPE kinds.size AS ENUM ('v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9', 'v10', 'v11', 'v12');
SQL
my $has_citext = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'});
$node->safe_psql('postgres', 'CREATE EXTENSION citext SCHEMA kinds') if $has_citext;

# The SQL of key number n: as the table has it, and as the map may give it.
my %types = (
	'int' => sub { $_[0] },
	'bigint' => sub { $_[0] + 5_000_000_000 },
	'smallint' => sub { $_[0] },
	'numeric(8,2)' => sub { "$_[0].25" },
	'uuid' => sub { sprintf "'00000000-0000-0000-0000-%012d'", $_[0] },
	'text' => sub { "'it''s \$\$ \"$_[0]\" %s'" },
	'varchar(9)' => sub { "'v$_[0]'" },
	'char(5)' => sub { "'c$_[0]'" },
	'kinds.code' => sub { "'d$_[0]'" },
	'kinds.size' => sub { "'v$_[0]'" },
	'kinds.pair' => sub { "'($_[0],\"x y\")'" },
	'int[]' => sub { "'{$_[0],2}'" },
	'text COLLATE "C"' => sub { "'c$_[0]'" },
	'timestamptz' => sub { "'2026-01-01 12:00+05:30'::timestamptz + $_[0] * interval '3.5 hours'" },
	'float8' => sub { "$_[0] + 0.1::float8 + 1e-16" },
	'bytea' => sub { sprintf "'\\x%04x'", $_[0] },
	$has_citext ? ('kinds.citext' => sub { "'Ci$_[0]'" }) : ());
my @names = ('letter', 'r', 'm', 'gone', 'kept', 'removed', 'map', 'key', 'upper Case', 'two "quotes"', q{it's}, 'x$s$ y', '%I %s', 'select',
	'n' x 63, "\xc3\xa9" x 31, 'deleted', 'same', 'semi;colon --');

sub quoted { return '"' . $_[0] =~ s/"/""/gr . '"'; }

# Compare the rows of pairs of queries, in any order, in one session.
sub compare
{
	my @pairs = @_;
	my $output = $node->safe_psql('postgres', join "; SELECT '--';\n", "SET TimeZone = 'UTC'", map { @$_[ 0, 1 ] } @pairs);
	my (undef, @rows) = map { join "\n", sort split /\n/ } split /^--(?:\n|\z)/m, $output, -1;

	is($rows[ 2 * $_ ], $rows[ 2 * $_ + 1 ], $pairs[$_][2]) for 0 .. $#pairs;
	return;
}

# One schema: make it, remove, and compare.
sub check_schema
{
	my ($seed) = @_;
	srand $seed;
	my $schema = quoted(one_of('public s', "s$seed", 'S"x') . $seed);
	my @unused = shuffle(@names);
	my $name = sub { quoted(pop @unused) };
	my $type = (sort keys %types)[ $seed % keys %types ];
	my $value = $types{$type};
	my ($target, $id, $code, $tenant, $parent) = map { $name->() } 1 .. 5;
	my $full = "$schema.$target";
	my $n = 12;
	my @schema = ("CREATE SCHEMA $schema; SET search_path = $schema, public");

	# the target: a key, a unique code that may be absent, a tenant, a parent
	my $is_parted = $type =~ /^(?:int|bigint|uuid|text)$/ && rand() < 0.3;
	my $unique_parent = !$is_parted && rand() < 0.5;
	push @schema, "CREATE TABLE $target ($id $type PRIMARY KEY, $code text, $tenant int NOT NULL, $parent $type"
	  . ($is_parted ? '' : ", UNIQUE ($code), UNIQUE ($tenant, $id)") . ')' . ($is_parted ? " PARTITION BY HASH ($id)" : '');
	push @schema, map { "CREATE TABLE $schema.part$_ PARTITION OF $target FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1 if $is_parted;
	my %parent;
	my %code = map { $_ => rand() < 0.8 ? "k$_" : undef } 1 .. $n;
	for my $i (1 .. $n)
	{
		$parent{$i} = $unique_parent ? ($i > 1 && rand() < 0.5 ? $i - 1 : undef) : rand() < 0.6 ? 1 + int rand $n : undef;
		push @schema, sprintf 'INSERT INTO %s VALUES (%s, %s, %d, %s)', $target, $value->($i), defined $code{$i} ? "'$code{$i}'" : 'NULL',
		  $i % 2, defined $parent{$i} ? $value->($parent{$i}) : 'NULL';
	}
	my $self_action = one_of('', 'ON DELETE CASCADE', 'ON DELETE SET NULL', 'ON DELETE RESTRICT', 'DEFERRABLE INITIALLY DEFERRED');
	push @schema, "ALTER TABLE $target ADD FOREIGN KEY ($parent) REFERENCES $target $self_action";
	push @schema, "CREATE UNIQUE INDEX ON $target ($parent)" if $unique_parent;

	# the map: rows of one tenant to a row that has a code, no row twice, and some to themselves
	my (%map, %is_kept);
	for my $i (shuffle(1 .. $n))
	{
		my @kept = grep { $_ != $i && !$map{$_} && $_ % 2 == $i % 2 && defined $code{$_} } 1 .. $n;
		next if $is_kept{$i} || rand() < 0.4 || !@kept;
		# a unique parent cannot be that of two
		my $kept = one_of(@kept);
		next if $unique_parent && grep { defined && ($_ == $kept || $map{$_}) } values %parent;
		$map{$i} = $kept;
		$is_kept{$kept} = 1;
	}
	my $moved = sub { defined $_[0] ? $map{ $_[0] } // $_[0] : undef };

	# those that refer to it
	my @referrers;
	my @kinds = $is_parted ? ('key', 'link', 'parted') : ('key', 'code', 'two', 'link', 'parted', 'both');
	for my $kind (map { one_of(@kinds) } 1 .. 3)
	{
		last if @unused < 6;
		my ($table, $ref, $other, $note) = map { $name->() } 1 .. 4;
		my $action = one_of('', 'ON DELETE CASCADE', 'ON DELETE SET NULL', 'ON UPDATE CASCADE ON DELETE CASCADE',
			'DEFERRABLE INITIALLY DEFERRED', 'ON DELETE RESTRICT');
		my %r = (table => $table, columns => "$ref, $other, $note", kind => $kind);
		$action =~ s/SET NULL/CASCADE/ if $kind =~ /^(?:link|parted|both)$/;
		push @schema,
		    $kind eq 'key' ? "CREATE TABLE $table ($note int PRIMARY KEY, $ref $type REFERENCES $target $action, $other text)"
		  : $kind eq 'code' ? "CREATE TABLE $table ($note int, $ref text REFERENCES $target ($code) $action, $other text)"
		  : $kind eq 'two' ? "CREATE TABLE $table ($note int PRIMARY KEY, $other int, $ref $type,"
		  . " FOREIGN KEY ($other, $ref) REFERENCES $target ($tenant, $id) $action)"
		  : $kind eq 'link' ? "CREATE TABLE $table ($ref $type REFERENCES $target $action, $other text, $note int, UNIQUE ($ref, $other))"
		  : $kind eq 'both' ? "CREATE TABLE $table ($ref $type REFERENCES $target $action, $other $type REFERENCES $target $action, $note int, PRIMARY KEY ($ref, $other))"
		  : "CREATE TABLE $table ($ref $type REFERENCES $target $action, $other text, $note int) PARTITION BY LIST ($other);"
		  . " CREATE TABLE $schema.q" . @referrers . " PARTITION OF $table FOR VALUES IN ('a');"
		  . " CREATE TABLE $schema.w" . @referrers . " PARTITION OF $table DEFAULT";
		push @schema, "CREATE INDEX ON $table ($ref)" if rand() < 0.5;
		my %seen;
		for my $k (1 .. 14)
		{
			my $x = 1 + int rand $n;
			my @row = ($x, one_of('a', 'b', 'c'), $k);
			@row = (defined $code{$x} ? $x : undef, @row[ 1, 2 ]) if $kind eq 'code';
			@row = ($x, $x % 2, $k) if $kind eq 'two';
			@row = ($x, 1 + int rand $n, $k) if $kind eq 'both';
			$row[1] = undef if $kind eq 'link' && rand() < 0.2;
			next if $kind =~ /^(?:link|both)$/ && defined $row[1] && $seen{"$row[0] $row[1]"}++;
			push @{ $r{rows} }, \@row;
			push @schema, sprintf 'INSERT INTO %s (%s) VALUES (%s, %s, %d)', $table, $r{columns},
			  !defined $row[0] ? 'NULL' : $kind eq 'code' ? "'k$row[0]'" : $value->($row[0]),
			  !defined $row[1] ? 'NULL' : $kind eq 'both' ? $value->($row[1]) : $kind eq 'two' ? $row[1] : "'$row[1]'", $row[2];
		}
		push @referrers, \%r;
	}
	$node->safe_psql('postgres', join ";\n", @schema);

	# the model
	my @expected = map {
		my $i = $_;
		my $up = $moved->($parent{$i});
		# a kept row that referred to its duplicate refers to nothing
		$up = undef if defined $up && $up == $i && $parent{$i} != $i;
		[ $i, $code{$i}, $i % 2, $up ]
	} grep { !$map{$_} } 1 .. $n;
	for my $r (@referrers)
	{
		my (@after, %has);
		my @column = $r->{kind} eq 'both' ? (0, 1) : (0);

		for my $row (@{ $r->{rows} })
		{
			my @now = @$row;

			$now[$_] = $moved->($now[$_]) for @column;
			push @after, \@now;
		}
		if ($r->{kind} =~ /^(?:link|both)$/)
		{
			# which of several equal rows stays is not the model's to say
			$_->[2] = '' for @after;
			@after = grep { !defined $_->[1] || !$has{"$_->[0] $_->[1]"}++ } @after;
		}
		$r->{after} = \@after;
	}

	# remove: keys as their type, or as text
	my $as = one_of('', '::text');
	my $map = join ' UNION ALL ', map { sprintf 'SELECT (%s)::%s%s, (%s)::%2$s%3$s', $value->($_), $type =~ s/ COLLATE.*//r, $as, $value->($map{$_} // $_) }
	  shuffle(1 .. $n);
	my $script = "SET search_path = $schema, public; SET client_min_messages = warning;\n"
	  . "CREATE VIEW public.map (removed, kept) AS $map;\n"
	  . 'SELECT statement FROM simdup_removal(' . "'" . $full =~ s/'/''/gr . "', 'public.map') ORDER BY step \\gexec\n"
	  . "DROP VIEW public.map;\n";
	my ($out, $err);
	my $failed = $node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 1);
	my $what = "seed $seed, $type: " . join ', ', map { $_->{kind} } @referrers;
	is($err, '', "$what: no error") or do { diag $script; return };

	# compare: each value of the model, as the server writes it
	my $sql = sub {
		my ($kinds, @rows) = @_;
		return "SELECT '' WHERE false" unless @rows;
		return join ' UNION ALL ', map {
			my $row = $_;
			'SELECT ' . join ', ', map { defined $row->[$_] ? sprintf '%s', $kinds->[$_]->($row->[$_]) : 'NULL' } 0 .. $#$row
		} @rows;
	};
	my $key = sub { '((' . $value->($_[0]) . ')::' . ($type =~ s/ COLLATE.*//r) . ')::text' };
	my $text = sub { "'$_[0]'" };
	my $number = sub { "'$_[0]'" };
	my @pairs = [
		"SELECT $id\::text, $code, $tenant\::text, $parent\::text FROM $full",
		$sql->([ $key, $text, $number, $key ], @expected), "$what: the rows that stay" ];
	for my $r (@referrers)
	{
		my $kind = $r->{kind};
		my ($ref, $other, $note) = split /, /, $r->{columns};
		my $is_set = $kind =~ /^(?:link|both)$/;

		push @pairs, [
			"SELECT $ref\::text, $other\::text, " . ($is_set ? "''" : "$note\::text") . " FROM $schema.$r->{table}",
			$sql->([ $kind eq 'code' ? sub { "'k$_[0]'" } : $key, $kind eq 'both' ? $key : $text, $text ], @{ $r->{after} }),
			"$what: $kind" ];
	}
	my ($removed) = $node->safe_psql('postgres', "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
		  . " WHERE n.oid = '" . $schema =~ s/'/''/gr . "'::regnamespace AND relname ~ '_removed(_[0-9]+)?\$'");
	push @pairs, [
		"SELECT $id\::text, $code, $parent\::text FROM $removed",
		$sql->([ $key, $text, $key ], map { [ $_, $code{$_}, $parent{$_} ] } sort keys %map), "$what: the archive" ]
	  if $removed;
	compare(@pairs);
	return;
}

# A flag is compared by the equality of the key that it takes, not by that of the primary key.
my @kinds = ([ 'kinds.citext', "'A', 'B', 'C'", "'a'" ], [ 'integer', '1, 2, 3', '1' ]);
for my $case ($has_citext ? ([@kinds], [ reverse @kinds ]) : ())
{
	my ($type, $keys) = @{ $case->[0] };
	my ($other, $others, $flag) = @{ $case->[1] };

	$node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
SET search_path = public, kinds;
CREATE TABLE flagged (id $type PRIMARY KEY, other $other NOT NULL UNIQUE, fp simhash64, repeats $other);
CREATE INDEX ON flagged USING hamming (fp);
INSERT INTO flagged SELECT u.*, '0000000000000000' FROM unnest(ARRAY[$keys]::$type\[], ARRAY[$others]::$other\[]) AS u;
UPDATE flagged SET repeats = $flag WHERE id = (SELECT max(id) FROM flagged);
CREATE TRIGGER flag BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => other');
CREATE VIEW flagged_map AS SELECT min(id) AS removed, max(id) AS kept FROM flagged WHERE id < (SELECT max(id) FROM flagged);
SELECT statement FROM simdup_removal('flagged', 'flagged_map') ORDER BY step \\gexec
SQL
	is($node->safe_psql('postgres', 'SET search_path = public, kinds; SELECT count(*), count(*) FILTER (WHERE repeats = (SELECT min(other) FROM flagged)) FROM flagged'),
		'2|1', "flags of $other, where the primary key is $type");
	$node->safe_psql('postgres', 'DROP TABLE flagged, flagged_removed CASCADE; DROP TABLE IF EXISTS flagged_moved');
}

# Strategy 3 of a key WITHOUT OVERLAPS is &&.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 180000)
{
	$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = warning;
CREATE TABLE flagged (id int PRIMARY KEY, site int4range, days daterange NOT NULL, fp simhash64, repeats daterange, UNIQUE (site, days WITHOUT OVERLAPS), UNIQUE (days));
CREATE INDEX ON flagged USING hamming (fp);
INSERT INTO flagged VALUES (1, '[1,2)', '[2020-01-01,2020-02-01)'), (2, '[2,3)', '[2020-01-15,2020-03-01)'), (3, '[3,4)', '[2021-01-01,2021-02-01)');
INSERT INTO flagged SELECT id + 3, int4range(id + 3, id + 4), daterange(date '2022-01-01' + id, date '2022-01-02' + id), NULL, days FROM flagged WHERE id < 3;
CREATE TRIGGER flag BEFORE INSERT ON flagged FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => days');
CREATE VIEW flagged_map AS SELECT 1 AS removed, 3 AS kept;
SELECT statement FROM simdup_removal('flagged', 'flagged_map') ORDER BY step \gexec
SQL
	is( $node->safe_psql('postgres', 'SELECT f.id, k.id FROM flagged AS f JOIN flagged AS k ON k.days = f.repeats ORDER BY 1'),
		"4|3\n5|2", 'flags that overlap a removed one stay');
	$node->safe_psql('postgres', 'DROP TABLE flagged, flagged_removed CASCADE; DROP TABLE IF EXISTS flagged_moved');
}

my $schemas = $whole ? 170 : 34;
my $only = $ENV{SEED};
check_schema($_) for defined $only ? $only : 1 .. $schemas;

$node->stop;
done_testing();

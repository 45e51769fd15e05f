# readme: what README.md shows is what happens.
#
# Every fence is run, all in their order, on one server:
#
# - ```sql in one session on one new database. Where a ```text fence follows,
#   it is what psql answers (without command tags; blanks at line ends do not
#   count); where none does, psql answers nothing.
# - ```console is what several people at psql see: A=> is what A enters, what
#   follows is the answer, command tags included. (waits) says that it has to
#   wait, and B: begins a line that B gets later.
# - ```sh line by line, by the rule that its command has below.
#
# A ```pgsql fence needs more than one server: shards.pl runs those. A fence of
# another kind is an error, and so is a line of shell without a rule.
#
# And every link within the page leads somewhere.

use strict;
use warnings;

use Encode qw(decode_utf8);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Text::ParseWords qw(shellwords);

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE city');

# The plans are those of a server with the planner's own settings; where the
# tests are run with every query in a worker, it is so here, but not shown.
my %planner = (
	parallel_setup_cost => 1000,
	parallel_tuple_cost => 0.1,
	min_parallel_table_scan_size => '8MB',
	min_parallel_index_scan_size => '512kB');
my $forced = $node->safe_psql('postgres',
	"SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') AND setting = 'on'");
$planner{$forced} = 'regress' if $forced;
$node->safe_psql('postgres', "ALTER DATABASE city SET $_ = '$planner{$_}'") for keys %planner;

# --- fences

# The fences of a page. The answer of a ```sql fence is the ```text fence that
# follows it.
sub fences
{
	my ($page) = @_;
	my ($heading, $line, $follows) = ('', 0, 0);
	my (@fences, $open);

	for (split /\n/, $page)
	{
		$line++;
		if ($open && !/^```\s*$/)
		{
			$open->{body} .= "$_\n";
		}
		elsif ($open && $open->{kind} eq 'text')
		{
			die "what is the answer in line $open->{line} of README.md to?" unless $follows;
			$fences[-1]{text} = $open->{body};
			($follows, $open) = (0, undef);
		}
		elsif ($open)
		{
			push @fences, $open;
			($follows, $open) = ($open->{kind} =~ /sql/, undef);
		}
		elsif (/^\s*```(.*?)\s*$/)
		{
			$open = { kind => $1, line => $line, heading => $heading, body => '' };
		}
		elsif (/\S/)
		{
			$heading = $1 if /^#+\s+(.*)/;
			$follows = 0;
		}
	}
	die "a fence opened in line $open->{line} of README.md is not closed" if $open;
	return @fences;
}

sub trimmed
{
	my ($text) = @_;

	$text =~ s/[ \t]+$//mg;
	$text =~ s/\A\n+|\n+\z//g;
	return $text;
}

# Times are never the same twice, nor how wide they make a table. And from 18 on
# EXPLAIN counts rows in hundredths.
sub timeless
{
	my ($text) = @_;

	return $text unless $text =~ /^ Execution Time: /m;
	$text =~ s/\b(time=|Time: )\d+\.\d{3}(\.\.\d+\.\d{3})?/$1#/g;
	$text =~ s/^ +(?=QUERY PLAN$)|^--+$//mg;
	$text =~ s/\brows=\d+\K\.00\b//g if $node->pg_version >= 18;
	return $text;
}

sub same_output
{
	my ($got, $expected, $name) = @_;

	is(timeless(trimmed($got)), timeless(trimmed($expected)), $name);
	return;
}

# --- psql: as pg_regress does it, both streams into one, errors in place

my $mark = '=== mark ===';

sub open_psql
{
	my ($name, @options) = @_;
	my $session = { in => '', out => '' };

	local $ENV{PGCLIENTENCODING} = 'UTF8';
	$session->{timer} = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
	$session->{run} = IPC::Run::start(
		[ 'psql', '-X', @options, '-d', $node->connstr('city') . " application_name=$name" ],
		'<', \$session->{in}, '>', \$session->{out}, '2>&1', $session->{timer});
	return $session;
}

sub enter
{
	my ($session, $sql) = @_;

	$session->{in} .= "$sql\n\\echo $mark\n";
	return;
}

# What it answers to what was entered last.
sub answer
{
	my ($session) = @_;

	$session->{timer}->start;
	$session->{run}->pump until $session->{out} =~ s/\A(.*?)^\Q$mark\E\n//ms;
	return $1;
}

# --- ```sql

my $psql = open_psql('reader', '-q');

sub run_sql
{
	my ($fence) = @_;

	enter($psql, "$fence->{body}\n;");
	same_output(answer($psql), $fence->{text} // '', "$fence->{heading}, line $fence->{line}");
	return;
}

# --- ```console

sub run_console
{
	my ($fence) = @_;
	my (%psql, %waits, @steps);

	# each step: who enters what, or gets what later, and what is shown of it
	for (split /\n/, $fence->{body})
	{
		if (/^(\s*)(\w+)=> (.*)/)
		{
			push @steps, { who => $2, sql => $3, indent => $1, shown => '' };
		}
		elsif (/^\s*(\w+): (.*)/ && $waits{$1})
		{
			push @steps, { who => $1, indent => '', shown => '' } if $steps[-1]{who} ne $1 || defined $steps[-1]{sql};
			$steps[-1]{shown} .= "$2\n";
		}
		elsif (/^\s*\(waits\)$/)
		{
			$waits{ $steps[-1]{who} } = $steps[-1]{waits} = 1;
		}
		else
		{
			$steps[-1]{shown} .= s/^$steps[-1]{indent}//r . "\n";
		}
	}
	for my $step (@steps)
	{
		my $who = $step->{who};
		my $what = "$fence->{heading}, line $fence->{line}: $who " . ($step->{sql} // 'later');

		$psql{$who} //= open_psql($who);
		enter($psql{$who}, $step->{sql}) if defined $step->{sql};
		if ($step->{waits})
		{
			$psql{$who}{run}->pump_nb while length $psql{$who}{in};
			ok($node->poll_query_until('city',
				"SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE application_name = '$who'"), "$what waits");
			next;
		}
		same_output(answer($psql{$who}), $step->{shown}, $what);
	}
	close_psql($_) for values %psql;
	return;
}

sub close_psql
{
	my ($session) = @_;

	$session->{in} .= "\\q\n";
	$session->{run}->finish;
	return;
}

# --- ```sh

# The folders that the page names, here.
my $base = PostgreSQL::Test::Utils::tempdir();
my %folders = ('/var/reports' => "$base/reports", '/folder' => "$base/folder");
mkdir $_ for values %folders;

# simtool's four files.
my %files = (
	article => "1\nthe lamp in the lane is dark\n\f2\nthe bus was late again\n\f",
	sample => "s1\nthe lamp in the lane is out\n",
	stopwords => "the\n",
	hashvalue => join('', map { sprintf("%016b\n", $_ * 40503 % 65536) } 1 .. 1000));
append_to_file("$folders{'/folder'}/$_.txt", $files{$_}) for keys %files;

# For real, on this server.
sub run_here
{
	my ($line) = @_;
	my ($out, $err) = ('', '');

	$line =~ s/$_\b/$folders{$_}/g for keys %folders;
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	IPC::Run::run([ 'sh', '-c', $line ], '<', '/dev/null', '>', \$out, '2>', \$err);
	is("$? $err", '0 ', $line);
	return $out;
}

# Installed packages are what test/server.sh, and test/package, install.
sub is_needed
{
	my ($line) = @_;
	my $known = slurp_file('test/server.sh') . slurp_file('test/package');

	for my $package ($line =~ s/.*install //r =~ /\S+/g)
	{
		my $name = $package =~ s/-\d+$/-MAJOR/r;
		like($known, qr/(?<![\w-])\Q$name\E(?![\w-])/, "$package is needed");
	}
	return;
}

# What make would do; doing it is the matter of the tests of each.
sub make_knows
{
	my ($line) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ shellwords($line =~ s/^sudo //r), '-n' ], '>', \$out, '2>', \$err);
	is("$? $err", '0 ', $line);
	isnt($out, '', '... which does something');
	return;
}

# test/package does this, in a place of its own.
sub package_does
{
	my ($line) = @_;

	my $command = $line =~ s/^sudo | \.\S*$//gr;

	like(slurp_file('test/package'), qr/\b\Q$command\E /, $line);
	return;
}

my @rules = (
	[ qr/^git clone <this repository> simdup$|^cd simdup$/, sub { } ],
	[ qr/^sudo apt-get install /, \&is_needed ],
	[ qr/^(sudo )?make\b/, \&make_knows ],
	[ qr/^(sudo )?(dpkg-buildpackage|dpkg|apt-get build-dep) /, \&package_does ],
	[ qr/^(PGDATABASE=\w+ )?(psql|test\/demo\/\w+|printf) /, \&run_here ]);

sub run_shell
{
	my ($fence) = @_;

	for my $line (grep { /\S/ } split /\n/, $fence->{body} =~ s/\s*\\\n\s*/ /gr =~ s/(^|[ \t]+)#.*//mgr)
	{
		my ($rule) = grep { $line =~ $_->[0] } @rules;
		die "nothing runs a line of the fence in line $fence->{line} of README.md: $line" unless $rule;
		$rule->[1]->($line);
	}
	return;
}

# --- all of them

my %runs = (
	sql => \&run_sql,
	console => \&run_console,
	sh => \&run_shell,
	map { $_ => sub { } } 'pgsql shard', 'pgsql coordinator', 'pgsql shard pairs', 'pgsql coordinator pairs');

for my $fence (fences(slurp_file('README.md')))
{
	my $run = $runs{ $fence->{kind} } or die "nothing runs the fence in line $fence->{line} of README.md: $fence->{kind}";
	$run->($fence);
}
close_psql($psql);

ok(-s "$base/$_", "$_ is written") for 'reports/letter.txt', 'reports/letter.html', 'folder/result.txt';

# Links by heading, as GitHub and others make them.
my $page = decode_utf8(slurp_file('README.md')) =~ s/^```.*?^```$//msgr;
my %anchors = map { lc s/[^\w -]//gr =~ tr/ /-/r => 1 } $page =~ /^#+\s+(.*)$/mg;
my @links = $page =~ /\]\(#([^)]*)\)/g;
cmp_ok(scalar(@links), '>', 0, 'there are links');
is(join(' ', grep { !$anchors{$_} } @links), '', 'each leads to a heading');

$node->stop;
done_testing();

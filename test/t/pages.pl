# pages: the examples of README.md, of its translation and of the pages in doc/ have the results shown.
#
# Each page has a database of its own, called city. Its fences run in order:
#
# - ```sql runs in one psql session, where file.csv is a file of ours. The ```text fence that follows is psql's
#   answer, without command tags and blanks at line ends. A fence without an
#   answer must get none.
# - ```sh runs line by line, by the rule below that fits its command.
# - ```js, java, ruby and php are lines of a program in test/clients, which clients.pl runs.
# - ```sql citus is run by citus.pl.
#
# Another kind of fence is an error, and so is a shell line without a rule.
# Each page begins with a fence that runs. Links must lead to a file and a heading, and
# pages must be short.

use strict;
use warnings;

use Encode qw(decode_utf8);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Text::ParseWords qw(shellwords);

my $node = PostgreSQL::Test::Cluster->new('pages');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# for users, and for others
my @doors = ('README.md', 'README.zh-CN.md');
my @manual = (@doors, sort(glob 'doc/*.md'), 'clients/python/README.md');
my @pages = (@manual, 'CONTRIBUTING.md', 'SECURITY.md', 'test/bench/RESULTS.md');
my ($page, $psql);

# The plans shown are those of the planner's default settings. If all tests run in
# parallel workers, force_parallel_mode = regress hides the worker.
my %planner = (
	parallel_setup_cost => 1000,
	parallel_tuple_cost => 0.1,
	min_parallel_table_scan_size => '8MB',
	min_parallel_index_scan_size => '512kB');
my $forced = $node->safe_psql('postgres',
	"SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') AND setting = 'on'");
$planner{$forced} = 'regress' if $forced;

# The database of a page. A README creates the extension itself.
sub new_database
{
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS city');
	$node->safe_psql('postgres', 'CREATE DATABASE city');
	$node->safe_psql('postgres', "ALTER DATABASE city SET $_ = '$planner{$_}'") for keys %planner;
	$node->safe_psql('city', 'CREATE EXTENSION simdup') unless $page =~ /^README/;
	return;
}

# --- fences

# The fences of a page's text. A ```text fence is the answer to the fence above it.
sub fences
{
	my ($text) = @_;
	my ($heading, $line, $follows) = ('', 0, 0);
	my (@fences, $open);

	for (split /\n/, $text)
	{
		$line++;
		if ($open && !/^```\s*$/)
		{
			$open->{body} .= "$_\n";
		}
		elsif ($open && $open->{kind} eq 'text')
		{
			die "the answer in line $open->{line} of $page follows no fence" unless $follows;
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
	die "a fence opened in line $open->{line} of $page is not closed" if $open;
	return @fences;
}

sub trimmed
{
	my ($text) = @_;

	$text =~ s/[ \t]+$//mg;
	$text =~ s/\A\n+|\n+\z//g;
	return $text;
}

sub same_output
{
	my ($got, $expected, $name) = @_;

	is(trimmed($got), trimmed($expected), $name);
	return;
}

# --- psql: as pg_regress does it, both streams into one, errors in place, without
# the lines of the functions they come from

my $mark = '=== mark ===';

sub open_psql
{
	my ($name, @options) = @_;
	my $session = { in => '', out => '' };

	local $ENV{PGCLIENTENCODING} = 'UTF8';
	$session->{timer} = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
	$session->{run} = IPC::Run::start(
		[ 'psql', '-X', '-v', 'SHOW_CONTEXT=never', @options, '-d', $node->connstr('city') . " application_name=$name" ],
		'<', \$session->{in}, '>', \$session->{out}, '2>&1', $session->{timer});
	return $session;
}

sub enter
{
	my ($session, $sql) = @_;

	$session->{in} .= "$sql\n\\echo $mark\n";
	return;
}

# The session's answer to the last entry.
sub answer
{
	my ($session) = @_;

	$session->{timer}->start;
	$session->{run}->pump until $session->{out} =~ s/\A(.*?)^\Q$mark\E\n//ms;
	return $1;
}

# --- ```sql

sub run_sql
{
	my ($fence) = @_;

	enter($psql, placed($fence->{body}) . "\n;");
	same_output(answer($psql), $fence->{text} // '', "$page, line $fence->{line}: $fence->{heading}");
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

# Folders and files that pages name, and their places here.
my $base = PostgreSQL::Test::Utils::tempdir();
my %folders = ('/var/reports' => "$base/reports", '/folder' => "$base/folder");
my %places = (%folders, ' letter.html' => " $base/letter.html", "'file.csv" => "'$base/file.csv");
append_to_file("$base/file.csv", "number,sender,sent_at,body\n101,Ames,2026-01-05,Water stands on the bridge.\n");
mkdir $_ for values %folders;

# The four files that simtool reads.
my %files = (
	article => "1\nthe lamp in the lane is dark\n\f2\nthe bus was late again\n\f",
	sample => "s1\nthe lamp in the lane is out\n",
	stopwords => "the\n",
	hashvalue => join('', map { sprintf("%016b\n", $_ * 40503 % 65536) } 1 .. 1000));
append_to_file("$folders{'/folder'}/$_.txt", $files{$_}) for keys %files;
append_to_file("$folders{'/folder'}/letter.txt", "The lamps in Mill Lane have been dark\nsince\0 12 March. \xff\n");

sub placed
{
	my ($line) = @_;

	$line =~ s/\Q$_\E\b/$places{$_}/g for keys %places;
	return $line;
}

# Runs the line on this server.
sub run_here
{
	my ($line) = @_;
	my ($out, $err) = ('', '');

	$line = placed($line);
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	IPC::Run::run([ 'sh', '-c', $line ], '<', '/dev/null', '>', \$out, '2>', \$err);
	is("$? $err", '0 ', $line);
	return $out;
}

# The packages that a page installs are those that test/server.sh and
# test/package install.
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

# Make has the targets. Other tests run them.
sub make_knows
{
	my ($line) = @_;

	for my $call (split / && /, $line)
	{
		my ($out, $err) = ('', '');

		IPC::Run::run([ shellwords($call =~ s/^sudo //r), '-n' ], '>', \$out, '2>', \$err);
		is("$? $err", '0 ', $call);
		isnt($out, '', '... which does something');
	}
	return;
}

# test/package runs the command, in a folder of its own.
sub package_does
{
	my ($line) = @_;

	my $command = $line =~ s/^sudo | \.\S*$//gr;

	like(slurp_file('test/package'), qr/\b\Q$command\E /, $line);
	return;
}

# test/package builds the image, with options that keep it to itself.
sub image_does
{
	my ($line) = @_;

	like(slurp_file('test/package'), qr/"\$\{buildah\[\@\]\}" build /, $line);
	return;
}

my @rules = (
	[ qr/^git clone <this repository> simdup$|^cd simdup$/, sub { } ],
	[ qr/^sudo apt-get install /, \&is_needed ],
	[ qr/^(sudo )?make\b/, \&make_knows ],
	[ qr/^(sudo )?(dpkg-buildpackage|dpkg|apt-get build-dep) /, \&package_does ],
	[ qr/^buildah build -t \S+ \.$/, \&image_does ],
	[ qr/^(PGDATABASE=\w+ )?(psql|test\/demo\/\w+|printf) /, \&run_here ]);

sub run_shell
{
	my ($fence) = @_;

	for my $line (grep { /\S/ } split /\n/, $fence->{body} =~ s/\s*\\\n\s*/ /gr =~ s/(^|[ \t]+)#.*//mgr)
	{
		my ($rule) = grep { $line =~ $_->[0] } @rules;
		die "nothing runs a line of the fence in line $fence->{line} of $page: $line" unless $rule;
		$rule->[1]->($line);
	}
	return;
}

# --- other languages

my %programs = (js => 'app.mjs', java => 'App.java', ruby => 'app.rb', php => 'app.php');

# The fence is a part of the program, but for the indentation.
sub is_part
{
	my ($fence) = @_;
	my ($part, $program) = map { s/^[ \t]+//mgr } $fence->{body}, slurp_file("test/clients/$programs{ $fence->{kind} }");

	ok(index($program, $part) >= 0, "$page, line $fence->{line}: lines of $programs{ $fence->{kind} }");
	return;
}

# --- all pages

my %runs = (sql => \&run_sql, sh => \&run_shell, 'sql citus' => sub { }, map { $_ => \&is_part } keys %programs);

# that of clients/ is run by python.pl
for (grep { !/^clients/ } @pages)
{
	$page = $_;
	new_database();
	$psql = open_psql('reader', '-q');
	for my $fence (fences(slurp_file($page)))
	{
		my $run = $runs{ $fence->{kind} } or die "nothing runs the fence in line $fence->{line} of $page: $fence->{kind}";
		$run->($fence);
	}
	close_psql($psql);
}

ok(-s "$base/$_", "$_ is written") for 'letter.html', 'reports/letter.txt', 'reports/letter.html', 'folder/result.txt';

# --- links and lengths

sub prose
{
	my ($file) = @_;

	return decode_utf8(slurp_file($file)) =~ s/^```.*?^```$//msgr;
}

# The anchors of a page: those of its headings, as GitHub makes them, and its own.
sub anchors
{
	my ($file) = @_;
	my $prose = prose($file);
	my %anchors;

	$anchors{$_}++ for map { lc s/[^\w -]//gr =~ tr/ /-/r } $prose =~ /^#+\s+(.*)$/mg;
	$anchors{$_}++ for $prose =~ /<a id="([^"]*)">/g;
	return %anchors;
}

# The links of a page that lead nowhere.
sub broken_links
{
	my ($file) = @_;
	my ($folder) = $file =~ m{^(.*/)?};
	my @broken;

	for my $link (prose($file) =~ /\]\(([^)]*)\)/g)
	{
		my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my $target = $path eq '' ? $file : ($folder // '') . $path;

		1 while $target =~ s{[^/]+/\.\./}{};
		my %known = -f $target ? anchors($target) : ();
		push @broken, $link if !-f $target || ($anchor ne '' && !$known{$anchor});
	}
	return @broken;
}

# Something to copy stands before the second heading below the title.
for my $file (@manual)
{
	my ($start) = slurp_file($file) =~ /\A(.*?^## .*?)(?:^## |\z)/ms;

	like($start, qr/^```(sql|sh)\n/m, "$file begins with something that runs");
}

for my $file (@pages)
{
	my %anchors = anchors($file);

	is(join(' ', grep { $anchors{$_} > 1 } sort keys %anchors), '', "$file: an anchor leads to one place");
	is(join(' ', broken_links($file)), '', '... and each link to an anchor');
}

my $door = slurp_file('README.md');
like($door, qr/\]\(\Q$_\E[)#]/, "README.md leads to $_") for grep { $_ ne 'README.md' } @pages;

for my $file (grep { !/RESULTS/ } @pages)
{
	cmp_ok(() = slurp_file($file) =~ /\n/g, '<=', $file =~ /^README/ ? 200 : 430, "$file is short");
}

my @doc = grep { m{^doc/} } @manual;
my $n_words = () = join(' ', map { decode_utf8(slurp_file($_)) } @doors, @doc) =~ /\S+/g;
cmp_ok(@doc, '<=', 15, scalar(@doc) . ' pages in doc');
cmp_ok($n_words, '<=', 21_000, "... of $n_words words with both READMEs");

$node->stop;
done_testing();

# readme: what README.md shows is what happens.
#
# Every ```sql fence is run, all in order in one session on one new database.
# Where a ```text fence follows, it is what psql answers (without command tags;
# blanks at line ends do not count); where none does, psql answers nothing.
# And every link within the page leads somewhere. (A ```pgsql fence needs more
# than one server: shards.pl runs those, with their answers.)

use strict;
use warnings;

use Encode qw(decode_utf8);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The fences of a page: [line, heading, SQL, text or undef].
sub fences
{
	my ($page) = @_;
	my @fences;
	my $heading = '';
	my $line = 0;
	my ($open, $body, $start, $follows);

	for (split /\n/, $page)
	{
		$line++;
		if (defined $open)
		{
			if (!/^```\s*$/)
			{
				$body .= "$_\n";
				next;
			}
			if ($open eq 'sql')
			{
				push @fences, [ $start, $heading, $body, undef ];
			}
			elsif ($open eq 'text')
			{
				die "what is the answer in line $start of README.md to?" unless $follows;
				$fences[-1][3] = $body if $follows eq 'sql';
			}
			elsif ($open !~ /^(sh|console|pgsql)$/)
			{
				die "a fence in line $start of README.md is of kind \"$open\"";
			}
			$follows = $open =~ /sql$/ ? $open : '';
			undef $open;
		}
		elsif (/^```(\w*)/)
		{
			($open, $body, $start) = ($1, '', $line);
		}
		elsif (/\S/)
		{
			$heading = $1 if /^#+\s+(.*)/;
			$follows = '';
		}
	}
	die "a fence opened in line $start of README.md is not closed" if defined $open;
	return @fences;
}

sub trimmed
{
	my ($text) = @_;

	$text =~ s/[ \t]+$//mg;
	$text =~ s/\A\n+|\n+\z//g;
	return $text;
}

my @fences = fences(slurp_file('README.md'));
cmp_ok(scalar(@fences), '>', 0, 'there is SQL in README.md');

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE readme');

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
$node->safe_psql('postgres', "ALTER DATABASE readme SET $_ = '$planner{$_}'") for keys %planner;

# As pg_regress does it: from stdin, both streams into one, errors in place.
my $mark = '=== fence ===';
my $script = join('', map { "$_->[2]\n;\n\\echo $mark\n" } @fences);
my $output = '';
{
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	IPC::Run::run([ 'psql', '-qX', '-d', $node->connstr('readme') ],
		'<', \$script, '>', \$output, '2>&1');
}
my @answers = split /^\Q$mark\E\n/m, $output, -1;

for my $i (0 .. $#fences)
{
	my ($line, $heading, undef, $text) = @{ $fences[$i] };
	my $answer = $answers[$i] // '(not reached)';

	if (defined $text)
	{
		is(trimmed($answer), trimmed($text), "$heading, line $line");
	}
	else
	{
		is(trimmed($answer), '', "$heading, line $line");
	}
}

# Links by heading, as GitHub and others make them.
my $page = decode_utf8(slurp_file('README.md')) =~ s/^```.*?^```$//msgr;
my %anchors = map { lc s/[^\w -]//gr =~ tr/ /-/r => 1 } $page =~ /^#+\s+(.*)$/mg;
my @links = $page =~ /\]\(#([^)]*)\)/g;
cmp_ok(scalar(@links), '>', 0, 'there are links');
is(join(' ', grep { !$anchors{$_} } @links), '', 'each leads to a heading');

$node->stop;
done_testing();

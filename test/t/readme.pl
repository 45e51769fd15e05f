# readme: what README.md shows is what happens.
#
# Every ```sql fence is run, all in order in one session on one new database.
# Where a ```text fence follows, it is what psql answers (without command tags;
# blanks at line ends do not count); where none does, there must be no error.

use strict;
use warnings;

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
			elsif ($open eq 'text' && $follows)
			{
				$fences[-1][3] = $body;
			}
			$follows = $open eq 'sql';
			undef $open;
		}
		elsif (/^```(\w*)/)
		{
			($open, $body, $start) = ($1, '', $line);
		}
		elsif (/\S/)
		{
			$heading = $1 if /^#+\s+(.*)/;
			$follows = 0;
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
		unlike($answer, qr/^(ERROR|FATAL|PANIC|\\|invalid command|\(not reached\))/m, "$heading, line $line")
		  or diag($answer);
	}
}

$node->stop;
done_testing();
